#include "driver/process_memory.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096, MANY = 3000, ROUNDS = 300 };

static struct process_memory memory;

static int setup(void **state)
{
    (void)state;
    process_memory_init(&memory);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    process_memory_free(&memory);
    return 0;
}

static uint8_t *map(size_t pages, int rights)
{
    void *at = mmap(NULL, pages * PAGE, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    return at;
}

static bool find(const void *at, struct process_area *area)
{
    return process_memory_find(&memory, (uintptr_t)at, 0, UINT64_MAX, area);
}

/* As it changes: each page is asked for while the last list is of another time. */
static void what_is_mapped_is_found(void **state)
{
    (void)state;
    struct process_area area;
    uint8_t *at = map(8, PROT_READ | PROT_WRITE);
    assert_true(find(at + 5 * PAGE, &area));
    assert_true(area.writable && area.start <= (uintptr_t)at);
    assert_true(area.end >= (uintptr_t)at + 8 * PAGE);
    munmap(at + 2 * PAGE, PAGE);
    errno = 77;
    assert_false(find(at + 2 * PAGE, &area));
    assert_int_equal(errno, 77);
    assert_true(find(at + PAGE, &area));
    assert_int_equal(area.end, (uintptr_t)at + 2 * PAGE);
    mprotect(at + 3 * PAGE, PAGE, PROT_READ);
    mprotect(at + 4 * PAGE, PAGE, PROT_NONE);
    munmap(at + 7 * PAGE, PAGE);
    assert_false(find(at + 4 * PAGE, &area));
    assert_true(find(at + 3 * PAGE, &area));
    assert_false(area.writable);
    assert_int_equal(area.start, (uintptr_t)at + 3 * PAGE);
    assert_int_equal(area.end, (uintptr_t)at + 4 * PAGE);
    munmap(at, 8 * PAGE);
    assert_false(find(at + 5 * PAGE, &area));
}

static void no_more_than_the_gap_is_found(void **state)
{
    (void)state;
    struct process_area area;
    uint8_t *at = map(8, PROT_READ | PROT_WRITE);
    const uint64_t va = (uintptr_t)at;
    assert_true(process_memory_find(&memory, va + 3 * PAGE, va + PAGE, va + 5 * PAGE, &area));
    assert_int_equal(area.start, va + PAGE);
    assert_int_equal(area.end, va + 5 * PAGE);
    munmap(at, 8 * PAGE);
}

/* More areas than there is room for at first, with and without rights in turns, and paths. */
static void thousands_of_areas_are_told_apart(void **state)
{
    (void)state;
    struct process_area area;
    uint8_t *at = map(MANY, PROT_READ);
    for (size_t page = 0; page < MANY; page += 2)
        assert_int_equal(mprotect(at + page * PAGE, PAGE, PROT_READ | PROT_WRITE), 0);
    for (size_t page = 0; page < MANY; page++) {
        assert_true(find(at + page * PAGE + page, &area));
        assert_int_equal(area.writable, page % 2 == 0);
        assert_int_equal(area.end - area.start, PAGE);
    }
    assert_true(memory.room >= MANY);
    munmap(at, MANY * PAGE);
}

static void files_are_memory_and_devices_are_not(void **state)
{
    (void)state;
    struct process_area area;
    char name[250];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const char *const names[] = {name, "a name with  blanks", "crocgpu", "crocgpu-not"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const int file = memfd_create(names[i], MFD_CLOEXEC);
        assert_int_equal(ftruncate(file, PAGE), 0);
        void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        assert_ptr_not_equal(at, MAP_FAILED);
        assert_false(find((void *)0x123456789000, &area)); /* the list is read anew */
        assert_int_equal(find(at, &area), i != 2);
        munmap(at, PAGE);
        close(file);
    }
}

struct churn {
    _Atomic bool stop; /* written by the test, read by the thread; relaxed: join orders the rest */
    uint8_t *kept;
};
static void *others_come_and_go(void *argument)
{
    struct churn *churn = argument;
    while (!atomic_load_explicit(&churn->stop, memory_order_relaxed)) {
        void *at =
            mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        free(malloc(1 << 20));
        if (at != MAP_FAILED)
            munmap(at, 16 * PAGE);
    }
    return NULL;
}
static void *kept_is_found(void *argument)
{
    struct churn *churn = argument;
    struct process_area area;
    uintptr_t lost = 0;
    for (int round = 0; round < ROUNDS; round++) {
        lost += !find(churn->kept + round % 8 * PAGE, &area);
        find(churn->kept - PAGE + 64 * PAGE * round, &area); /* whatever is there */
    }
    return (void *)lost;
}

/* The kernel's list is read in parts, while mappings before and behind change. */
static void what_stays_is_found_while_others_change(void **state)
{
    (void)state;
    struct churn churn = {.kept = map(8, PROT_READ | PROT_WRITE)};
    pthread_t changing[2], finding[2];
    void *lost[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&changing[i], NULL, others_come_and_go, &churn), 0);
        assert_int_equal(pthread_create(&finding[i], NULL, kept_is_found, &churn), 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(finding[i], &lost[i]);
    atomic_store_explicit(&churn.stop, true, memory_order_relaxed);
    for (int i = 0; i < 2; i++)
        pthread_join(changing[i], NULL);
    munmap(churn.kept, 8 * PAGE);
    assert_null(lost[0]);
    assert_null(lost[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_mapped_is_found),
        cmocka_unit_test(no_more_than_the_gap_is_found),
        cmocka_unit_test(thousands_of_areas_are_told_apart),
        cmocka_unit_test(files_are_memory_and_devices_are_not),
        cmocka_unit_test(what_stays_is_found_while_others_change),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
