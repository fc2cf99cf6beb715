/* The event file of the driver, as rocm-smi and profilers use it. */
#include "driver/smi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver/driver.h"
#include "driver/kfd.h"
#include "driver/kfd_abi.h"
#include "driver/svm.h"

enum { PAGE = 4096, PAGES = 16 };
#define BIT(event) KFD_SMI_EVENT_MASK_FROM_INDEX(KFD_SMI_EVENT_##event)

static struct driver *driver;
static uint8_t *memory;

static int setup(void **state)
{
    (void)state;
    int device = driver_open(O_RDWR);
    driver = device >= 0 ? driver_of_fd(device) : NULL;
    memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return driver && memory != MAP_FAILED ? 0 : -1;
}

static int events_open(uint64_t mask)
{
    struct kfd_ioctl_smi_events_args args = {.gpuid = driver->gpu[0].gpu_id};
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_SMI_EVENTS, (uintptr_t)&args), 0);
    assert_int_equal(write((int)args.anon_fd, &mask, sizeof mask), sizeof mask);
    return (int)args.anon_fd;
}

static int attribute_set(int page, int pages, uint32_t type, uint32_t value)
{
    struct {
        struct kfd_ioctl_svm_args args;
        struct kfd_ioctl_svm_attribute list[1];
    } call = {{.start_addr = (uintptr_t)memory + (uint64_t)page * PAGE,
               .size = (uint64_t)pages * PAGE,
               .op = KFD_IOCTL_SVM_OP_SET_ATTR,
               .nattr = 1},
              {{type, value}}};
    return kfd_svm(driver, (uintptr_t)&call);
}

/* All that is there, with a NUL behind. */
static const char *text_of(int file)
{
    static char text[65536];
    ssize_t got = read(file, text, sizeof text - 1);
    if (got < 0)
        assert_int_equal(errno, EAGAIN);
    text[got < 0 ? 0 : got] = 0;
    return text;
}

static uint64_t boot_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void prefetches_are_told_as_migrations(void **state)
{
    (void)state;
    uint32_t gpu = driver->gpu[0].gpu_id;
    int file = events_open(BIT(MIGRATE_START) | BIT(MIGRATE_END));
    struct pollfd ready = {.fd = file, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 0), 0);
    uint64_t before = boot_ns();
    assert_int_equal(attribute_set(2, 3, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, gpu), 0);
    assert_int_equal(poll(&ready, 1, 0), 1);
    unsigned event, from, to, prefetch, preferred;
    long long ns;
    int pid, trigger, used;
    unsigned long first, count;
    const char *text = text_of(file);
    assert_int_equal(sscanf(text, "%x %lld -%d @%lx(%lx) %x->%x %x:%x %d\n%n", &event, &ns, &pid,
                            &first, &count, &from, &to, &prefetch, &preferred, &trigger, &used),
                     10);
    assert_int_equal(event, KFD_SMI_EVENT_MIGRATE_START);
    assert_true((uint64_t)ns >= before && (uint64_t)ns <= boot_ns());
    assert_int_equal(pid, getpid());
    assert_int_equal(first, ((uintptr_t)memory >> 12) + 2);
    assert_int_equal(count, 3);
    assert_int_equal(from, 0);
    assert_int_equal(to, gpu);
    assert_int_equal(prefetch, gpu);
    assert_int_equal(trigger, KFD_MIGRATE_TRIGGER_PREFETCH);
    assert_int_equal(sscanf(text + used, "%x", &event), 1);
    assert_int_equal(event, KFD_SMI_EVENT_MIGRATE_END);
    assert_int_equal(attribute_set(2, 3, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, gpu), 0);
    assert_string_equal(text_of(file), ""); /* it is there already */
    assert_int_equal(attribute_set(2, 3, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, 0), 0);
    assert_int_equal(sscanf(text_of(file), "%x %*d -%*d @%*x(%*x) %x->%x", &event, &from, &to), 3);
    assert_int_equal(from, gpu);
    assert_int_equal(to, 0);
    close(file);
}

static void unmapping_names_pages_and_gpu(void **state)
{
    (void)state;
    uint32_t gpu = driver->gpu[0].gpu_id;
    int file = events_open(BIT(UNMAP_FROM_GPU));
    assert_int_equal(attribute_set(5, 4, KFD_IOCTL_SVM_ATTR_ACCESS, gpu), 0);
    assert_string_equal(text_of(file), "");
    svm_forget(driver, (uintptr_t)memory + 6 * PAGE, (uintptr_t)memory + 8 * PAGE);
    unsigned event, node;
    int trigger;
    unsigned long first, count;
    assert_int_equal(sscanf(text_of(file), "%x %*d -%*d @%lx(%lx) %x %d", &event, &first, &count,
                            &node, &trigger),
                     5);
    assert_int_equal(event, KFD_SMI_EVENT_UNMAP_FROM_GPU);
    assert_int_equal(first, ((uintptr_t)memory >> 12) + 6);
    assert_int_equal(count, 2);
    assert_int_equal(node, gpu);
    assert_int_equal(trigger, KFD_SVM_UNMAP_TRIGGER_UNMAP_FROM_CPU);
    svm_forget(driver, 0, UINT64_MAX);
    close(file);
}

static void only_wanted_events_come(void **state)
{
    (void)state;
    uint32_t gpu = driver->gpu[0].gpu_id;
    int none = events_open(0), other = events_open(BIT(QUEUE_EVICTION)), one = events_open(0);
    uint64_t mask = BIT(MIGRATE_END);
    assert_int_equal(write(one, &mask, sizeof mask), sizeof mask); /* the last mask counts */
    assert_int_equal(attribute_set(0, 1, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, gpu), 0);
    assert_string_equal(text_of(none), "");
    assert_string_equal(text_of(other), "");
    unsigned event = 0;
    assert_int_equal(sscanf(text_of(one), "%x", &event), 1);
    assert_int_equal(event, KFD_SMI_EVENT_MIGRATE_END);
    close(none);
    close(other);
    close(one);
    svm_forget(driver, 0, UINT64_MAX);
}

static void lost_lines_are_counted(void **state)
{
    (void)state;
    uint32_t gpu = driver->gpu[0].gpu_id;
    int file = events_open(BIT(MIGRATE_START));
    enum { ROUNDS = 5000 };
    for (int i = 0; i < ROUNDS; i++) /* far more than the kernel's own queue takes */
        attribute_set(0, 1, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, i % 2 ? 0 : gpu);
    unsigned lines = 0, lost = 0;
    for (const char *text; *(text = text_of(file));)
        for (const char *at = text; (at = strchr(at, '\n')); at++)
            lines++;
    attribute_set(0, 1, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, gpu);
    assert_int_equal(sscanf(text_of(file), "e %*d -%*d %u\n", &lost), 1);
    assert_true(lost > 0);
    assert_int_equal(lines + lost, ROUNDS);
    close(file);
    svm_forget(driver, 0, UINT64_MAX);
}

static void closed_files_make_room(void **state)
{
    (void)state;
    uint32_t gpu = driver->gpu[0].gpu_id;
    struct kfd_ioctl_smi_events_args args = {.gpuid = 12345};
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_SMI_EVENTS, (uintptr_t)&args), -EINVAL);
    for (int round = 0; round < 3; round++) {
        int files[SMI_CLIENTS_MAX];
        for (int i = 0; i < SMI_CLIENTS_MAX; i++)
            files[i] = events_open(BIT(MIGRATE_START));
        args.gpuid = gpu;
        assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_SMI_EVENTS, (uintptr_t)&args), -ENFILE);
        for (int i = 0; i < SMI_CLIENTS_MAX; i++)
            close(files[i]);
    }
}

int main(void)
{
    setenv("CROCGPU_DEVICES", "gfx90a", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefetches_are_told_as_migrations),
        cmocka_unit_test(unmapping_names_pages_and_gpu),
        cmocka_unit_test(only_wanted_events_come),
        cmocka_unit_test(lost_lines_are_counted),
        cmocka_unit_test(closed_files_make_room),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
