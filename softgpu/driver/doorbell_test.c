#include "driver/doorbell.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 8192 };

/* Writer: the watch's thread, release. Reader: the test, acquire. */
static atomic_int rings;

static void rung(void *arg)
{
    (void)arg;
    atomic_fetch_add_explicit(&rings, 1, memory_order_release);
}

static volatile uint64_t *page_new(void)
{
    int fd = memfd_create("doorbell-test", MFD_CLOEXEC);
    assert_true(fd >= 0 && ftruncate(fd, PAGE) == 0);
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(page != MAP_FAILED);
    close(fd);
    return page;
}

/* Whether this kernel and sandbox write-protect pages of shared memory for us, by asking itself. */
static bool pages_can_be_watched(volatile uint64_t *page)
{
    struct uffdio_api api = {.api = UFFD_API,
                             .features =
                                 UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM};
    struct uffdio_register range = {.range = {(uintptr_t)page, PAGE},
                                    .mode = UFFDIO_REGISTER_MODE_WP};
    long fd = syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    bool can = fd >= 0 && ioctl((int)fd, UFFDIO_API, &api) == 0 &&
               ioctl((int)fd, UFFDIO_REGISTER, &range) == 0;
    if (fd >= 0)
        close((int)fd);
    return can;
}

static bool rang_within_ms(int want, int ms)
{
    for (int i = 0; i < ms * 10; i++) {
        if (atomic_load_explicit(&rings, memory_order_acquire) >= want)
            return true;
        usleep(100);
    }
    return false;
}

static void a_store_rings_once_and_the_page_stays_open_for_a_while(void **state)
{
    (void)state;
    volatile uint64_t *page = page_new();
    if (!pages_can_be_watched(page))
        skip(); /* the command processor polls */
    struct doorbell_watch *watch = doorbell_watch_create(rung, NULL);
    assert_non_null(watch);
    doorbell_watch_add(watch, (void *)page, PAGE);
    assert_true(doorbell_watch_arm(watch) == UINT64_MAX);
    atomic_store(&rings, 0);
    page[3] = 42;
    assert_true(rang_within_ms(1, 2000));
    assert_int_equal(page[3], 42);
    uint64_t again_ns = doorbell_watch_arm(watch);
    for (int i = 0; i < 100 && again_ns != UINT64_MAX; i++) {
        assert_true(again_ns > 0 && again_ns <= 100000);
        page[4] = (uint64_t)i; /* open: no fault, no ring */
        usleep(1000);
        again_ns = doorbell_watch_arm(watch);
    }
    assert_true(again_ns == UINT64_MAX);
    assert_int_equal(atomic_load(&rings), 1);
    page[5] = 1;
    assert_true(rang_within_ms(2, 2000));
    usleep(3000);
    assert_true(doorbell_watch_arm(watch) == UINT64_MAX);
    doorbell_watch_remove(watch, (void *)page);
    page[5] = 2;
    usleep(2000);
    assert_int_equal(atomic_load(&rings), 2);
}

static void without_userfaultfd_arming_says_so(void **state)
{
    (void)state;
    setenv("CROCGPU_DOORBELL", "poll", 1);
    static struct doorbell_watch *watch; /* a watch lives as long as the process */
    watch = doorbell_watch_create(rung, NULL);
    volatile uint64_t *page = page_new();
    doorbell_watch_add(watch, (void *)page, PAGE);
    assert_int_equal(doorbell_watch_arm(watch), 0);
    page[0] = 1;
    doorbell_watch_remove(watch, (void *)page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_rings_once_and_the_page_stays_open_for_a_while),
        cmocka_unit_test(without_userfaultfd_arming_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
