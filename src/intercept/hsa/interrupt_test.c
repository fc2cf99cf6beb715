/* What is asked of the kernel driver and of the runtime; both are played here. The numbers and
 * structures of the driver's are those of the kernel's own header. */
#include "intercept/hsa/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/wait.h"
#include "intercept/hsa/completion.h"
#include "intercept/hsa/instance.h"

enum { EVENT = 77, LIMIT_NS = 2000000000 };

static amd_signal_t signal_made;
static uint64_t slot; /* the event's mailbox */
static int signals_alive;
static const struct completion_alarm *the_alarm;

void completion_alarm_set(const struct completion_alarm *alarm)
{
    the_alarm = alarm;
}

/* ---- the driver */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_set, is_broken;
    int waiting;
    uint32_t timeout_ms; /* of the last wait */
} event = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int event_await(struct kfd_ioctl_wait_events_args *args)
{
    const struct kfd_event_data *data = (const struct kfd_event_data *)(uintptr_t)args->events_ptr;
    if (args->num_events != 1 || data->event_id != EVENT || event.is_broken) {
        errno = EINVAL;
        return -1;
    }
    pthread_mutex_lock(&event.lock);
    event.timeout_ms = args->timeout;
    event.waiting++;
    while (!event.is_set)
        pthread_cond_wait(&event.changed, &event.lock);
    event.is_set = false;
    event.waiting--;
    pthread_mutex_unlock(&event.lock);
    args->wait_result = KFD_IOC_WAIT_RESULT_COMPLETE;
    return 0;
}

static int event_raise(const struct kfd_ioctl_set_event_args *args)
{
    if (args->event_id != EVENT) {
        errno = EINVAL;
        return -1;
    }
    pthread_mutex_lock(&event.lock);
    event.is_set = true;
    pthread_cond_broadcast(&event.changed);
    pthread_mutex_unlock(&event.lock);
    return 0;
}

int ioctl(int file, unsigned long request, ...)
{
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    (void)file;
    if (request == AMDKFD_IOC_WAIT_EVENTS)
        return event_await(argument);
    if (request == AMDKFD_IOC_SET_EVENT)
        return event_raise(argument);
    errno = ENOTTY;
    return -1;
}

static bool has_driver = true;

int open(const char *path, int flags, ...)
{
    if (strcmp(path, "/dev/kfd") != 0)
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
    errno = ENOENT;
    return has_driver ? memfd_create("kfd", MFD_CLOEXEC) : -1;
}

static int kfd_descriptors(void)
{
    int count = 0;
    for (int file = 3; file < 1024; file++) {
        char path[64], name[64] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        ssize_t length = readlink(path, name, sizeof name - 1);
        count += length > 0 && strstr(name, "memfd:kfd") != NULL;
    }
    return count;
}

/* ---- the runtime */

static hsa_status_t signal_create(hsa_signal_value_t value, uint32_t count,
                                  const hsa_agent_t *agents, hsa_signal_t *signal)
{
    (void)value;
    (void)agents;
    assert_int_equal(count, 0); /* else the runtime's may be one that nobody can sleep for */
    signals_alive++;
    signal->handle = (uint64_t)(uintptr_t)&signal_made;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t signal_destroy(hsa_signal_t signal)
{
    assert_ptr_equal((void *)(uintptr_t)signal.handle, &signal_made);
    assert_int_equal(event.waiting, 0); /* the event may be another's from now on */
    signals_alive--;
    return HSA_STATUS_SUCCESS;
}

static struct hsa_instance runtime = {
    .real = {.hsa_signal_create = signal_create, .hsa_signal_destroy = signal_destroy}};
static struct hsa_instance other = {
    .real = {.hsa_signal_create = signal_create, .hsa_signal_destroy = signal_destroy}};

static int setup(void **state)
{
    (void)state;
    signal_made = (amd_signal_t){.kind = AMD_SIGNAL_KIND_USER,
                                 .event_mailbox_ptr = (uint64_t)(uintptr_t)&slot,
                                 .event_id = EVENT};
    event.is_set = event.is_broken = false;
    has_driver = true;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    interrupt_close(&runtime);
    assert_int_equal(signals_alive, 0);
    assert_int_equal(kfd_descriptors(), 0);
    return 0;
}

static void a_wanted_one_is_in_the_signal(void **state)
{
    amd_signal_t signal = {0};
    (void)state;
    assert_false(interrupt_request(&runtime, &signal, true));
    interrupt_open(&runtime);
    interrupt_open(&other); /* has come too late */
    assert_true(interrupt_request(&runtime, &signal, true));
    assert_int_equal(signal.event_id, EVENT);
    assert_int_equal(signal.event_mailbox_ptr, (uint64_t)(uintptr_t)&slot);
    assert_false(interrupt_request(&runtime, &signal, false)); /* used again for another end */
    assert_int_equal(signal.event_id, 0);
    assert_int_equal(signal.event_mailbox_ptr, 0);
    assert_false(interrupt_request(&other, &signal, true));
    assert_int_equal(signals_alive, 1);
}

static void a_ring_before_the_wait_counts(void **state)
{
    (void)state;
    interrupt_open(&runtime);
    the_alarm->ring();
    assert_true(the_alarm->wait(3));
    assert_int_equal(event.timeout_ms, 3);
}

static void *wait_once(void *result)
{
    *(bool *)result = the_alarm->wait(1000);
    return NULL;
}

static bool somebody_waits(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&event.lock);
    bool waits = event.waiting > 0;
    pthread_mutex_unlock(&event.lock);
    return waits;
}

/* signal_destroy() looks whether somebody still does. */
static void closing_ends_the_wait_first(void **state)
{
    amd_signal_t signal = {0};
    pthread_t thread;
    bool waited = false;
    (void)state;
    interrupt_open(&runtime);
    assert_int_equal(pthread_create(&thread, NULL, wait_once, &waited), 0);
    assert_true(wait_until(somebody_waits, NULL, LIMIT_NS, WAIT_NS_PER_MS));
    interrupt_close(&other); /* not its */
    assert_int_equal(signals_alive, 1);
    interrupt_close(&runtime);
    assert_int_equal(signals_alive, 0);
    pthread_join(thread, NULL);
    assert_true(waited);
    assert_false(the_alarm->wait(1000));
    assert_false(interrupt_request(&runtime, &signal, true));
    interrupt_open(&other); /* the next one */
    assert_true(interrupt_request(&other, &signal, true));
    interrupt_close(&other);
}

static void an_event_that_is_gone_is_not_waited_for_again(void **state)
{
    amd_signal_t signal = {0};
    (void)state;
    interrupt_open(&runtime);
    event.is_broken = true;
    assert_false(the_alarm->wait(1000));
    event.is_broken = false;
    assert_false(the_alarm->wait(1000));
    assert_false(interrupt_request(&runtime, &signal, true));
}

static void nothing_is_kept_where_something_is_missing(void **state)
{
    amd_signal_t signal = {0};
    struct rlimit before, few = {64, 64};
    (void)state;
    has_driver = false;
    interrupt_open(&runtime);
    assert_false(interrupt_request(&runtime, &signal, true));
    has_driver = true;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    interrupt_open(&runtime); /* the program needs its few descriptors */
    assert_false(interrupt_request(&runtime, &signal, true));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    signal_made.event_mailbox_ptr = 0; /* HSA_ENABLE_INTERRUPT=0 */
    interrupt_open(&runtime);
    assert_false(interrupt_request(&runtime, &signal, true));
    assert_int_equal(signals_alive, 0);
    assert_int_equal(kfd_descriptors(), 0);
}

static void a_child_has_none_of_its_parent(void **state)
{
    amd_signal_t signal = {0};
    int status = -1;
    (void)state;
    interrupt_open(&runtime);
    pid_t child = fork();
    if (child == 0) {
        bool good = !interrupt_request(&runtime, &signal, true) && !the_alarm->wait(1000) &&
                    kfd_descriptors() == 0;
        interrupt_open(&runtime);
        good &= interrupt_request(&runtime, &signal, true);
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(interrupt_request(&runtime, &signal, true));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_wanted_one_is_in_the_signal),
        TEST(a_ring_before_the_wait_counts),
        TEST(closing_ends_the_wait_first),
        TEST(an_event_that_is_gone_is_not_waited_for_again),
        TEST(nothing_is_kept_where_something_is_missing),
        TEST(a_child_has_none_of_its_parent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
