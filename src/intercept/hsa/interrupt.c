#include "intercept/hsa/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"
#include "base/wait.h"
#include "intercept/hsa/completion.h"
#include "intercept/hsa/instance.h"

/* Of the kernel's uAPI; its header cannot be included without libdrm's. */
struct event_data {
    uint64_t of_type[4]; /* of a signal's event the first is an age; 0: it has none */
    uint64_t extension;
    uint32_t event_id, padding;
};
struct wait_args {
    uint64_t events; /* the address of event_data */
    uint32_t count, wait_for_all;
    uint32_t timeout_ms;
    uint32_t result; /* from the driver */
};
struct set_args {
    uint32_t event_id, padding;
};
#define IOCTL_SET_EVENT   _IOW('K', 0x0a, struct set_args)
#define IOCTL_WAIT_EVENTS _IOWR('K', 0x0c, struct wait_args)

_Static_assert(sizeof(struct event_data) == 48 && sizeof(struct wait_args) == 24, "the uAPI's");

/* Out of the way of programs that close or count low descriptors; those that may have only few
 * keep them all. */
enum { DESCRIPTOR_MIN = 900 };

/* CHANGING: somebody opens or closes, and owns what is not atomic below. */
enum { FREE, CHANGING, OPEN };

static struct {
    /* Writers: who opens, closes or forks (seq_cst, exchanged from what it must be). */
    _Atomic uint32_t state;
    int device;
    dev_t device_dev;
    ino_t device_ino;
    hsa_signal_t signal; /* whose event it is */
    uint64_t mailbox;
    /* NULL: there is no interrupt. Writers: opening (release, after what is above), closing, the
     * fork handler. Readers: submitting threads (acquire). */
    _Atomic(const struct hsa_instance *) runtime;
    /* 0: none. Writers: those of `runtime`, and the thread where waiting fails. Closing stores 0
     * and then reads `waiting`; the thread stores 1 there and then reads this (all seq_cst): one of
     * the two sees the other. */
    _Atomic uint32_t event_id;
    _Atomic uint32_t waiting;
} source;

/* ---- the completion thread's alarm */

static bool event_wait(uint32_t event_id, uint32_t limit_ms)
{
    struct event_data event = {.event_id = event_id};
    struct wait_args args = {
        .events = (uint64_t)(uintptr_t)&event, .count = 1, .timeout_ms = limit_ms};
    return ioctl(source.device, IOCTL_WAIT_EVENTS, &args) == 0 || errno == EINTR;
}

static bool alarm_wait(uint32_t limit_ms)
{
    atomic_store_explicit(&source.waiting, 1, memory_order_seq_cst);
    uint32_t event_id = atomic_load_explicit(&source.event_id, memory_order_seq_cst);
    bool waited = event_id != 0 && event_wait(event_id, limit_ms);
    if (event_id != 0 && !waited) { /* a program that closes all descriptors closes ours */
        atomic_store_explicit(&source.event_id, 0, memory_order_seq_cst);
        log_info("intercept", "the driver's event is not there any more: device work is looked at "
                              "by time");
    }
    atomic_store_explicit(&source.waiting, 0, memory_order_seq_cst);
    return waited;
}

static void alarm_ring(void)
{
    struct set_args args = {.event_id =
                                atomic_load_explicit(&source.event_id, memory_order_seq_cst)};
    int saved = errno;
    if (args.event_id != 0)
        ioctl(source.device, IOCTL_SET_EVENT, &args);
    errno = saved;
}

static const struct completion_alarm driver_alarm = {alarm_wait, alarm_ring};

/* ---- opening and closing */

static bool device_open(void)
{
    struct stat file;
    int low = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    if (low < 0)
        return false;
    source.device = fcntl(low, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
    close(low);
    if (source.device < 0)
        return false;
    bool known = fstat(source.device, &file) == 0;
    source.device_dev = known ? file.st_dev : 0;
    source.device_ino = known ? file.st_ino : 0;
    return true;
}

/* Unless it is another file by now. */
static void device_close(void)
{
    struct stat file;
    if (fstat(source.device, &file) == 0 && file.st_dev == source.device_dev &&
        file.st_ino == source.device_ino)
        close(source.device);
}

static void on_fork_child(void)
{
    /* The event is the parent's, and so is what the descriptor stands for. */
    if (atomic_load_explicit(&source.state, memory_order_seq_cst) == OPEN)
        device_close();
    atomic_store_explicit(&source.state, FREE, memory_order_seq_cst);
    atomic_store_explicit(&source.runtime, NULL, memory_order_seq_cst);
    atomic_store_explicit(&source.event_id, 0, memory_order_seq_cst);
    atomic_store_explicit(&source.waiting, 0, memory_order_seq_cst);
}

static bool signal_make(const struct hsa_instance *runtime)
{
    if (runtime->real.hsa_signal_create(1, 0, NULL, &source.signal) != HSA_STATUS_SUCCESS)
        return false;
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)source.signal.handle;
    if (signal->kind == AMD_SIGNAL_KIND_USER && signal->event_mailbox_ptr != 0 &&
        signal->event_id != 0)
        return true;
    runtime->real.hsa_signal_destroy(source.signal); /* it waits without interrupts */
    return false;
}

static bool source_open(const struct hsa_instance *runtime)
{
    static bool fork_watched;
    if (!device_open())
        return false;
    if (!signal_make(runtime)) {
        device_close();
        return false;
    }
    if (!fork_watched)
        fork_watched = pthread_atfork(NULL, NULL, on_fork_child) == 0;
    return true;
}

static void source_publish(const struct hsa_instance *runtime)
{
    const amd_signal_t *signal = (const amd_signal_t *)(uintptr_t)source.signal.handle;
    source.mailbox = signal->event_mailbox_ptr;
    atomic_store_explicit(&source.event_id, signal->event_id, memory_order_seq_cst);
    atomic_store_explicit(&source.runtime, runtime, memory_order_release);
    completion_alarm_set(&driver_alarm);
}

static bool state_change(uint32_t from)
{
    return atomic_compare_exchange_strong_explicit(&source.state, &from, CHANGING,
                                                   memory_order_seq_cst, memory_order_seq_cst);
}

static void state_set(uint32_t state)
{
    atomic_store_explicit(&source.state, state, memory_order_seq_cst);
}

void interrupt_open(const struct hsa_instance *runtime)
{
    if (!state_change(FREE))
        return;
    thread_own_work_begin();
    bool is_open = source_open(runtime);
    thread_own_work_end();
    if (is_open)
        source_publish(runtime);
    state_set(is_open ? OPEN : FREE);
}

static bool nobody_waits(void *unused)
{
    (void)unused;
    return atomic_load_explicit(&source.waiting, memory_order_seq_cst) == 0;
}

/* Its wait ends by the ring, or in a millisecond. */
static void waiter_leave(void)
{
    enum { STEP_NS = 50 * WAIT_NS_PER_US };
    alarm_ring();
    atomic_store_explicit(&source.event_id, 0, memory_order_seq_cst);
    wait_until(nobody_waits, NULL, WAIT_NS_PER_S, STEP_NS);
}

void interrupt_close(const struct hsa_instance *runtime)
{
    if (atomic_load_explicit(&source.runtime, memory_order_acquire) != runtime ||
        !state_change(OPEN))
        return;
    atomic_store_explicit(&source.runtime, NULL, memory_order_seq_cst);
    waiter_leave();
    device_close();
    thread_own_work_begin();
    runtime->real.hsa_signal_destroy(source.signal);
    thread_own_work_end();
    state_set(FREE);
}

bool interrupt_request(const struct hsa_instance *runtime, amd_signal_t *signal, bool wanted)
{
    uint32_t event_id = 0;
    if (wanted && atomic_load_explicit(&source.runtime, memory_order_acquire) == runtime)
        event_id = atomic_load_explicit(&source.event_id, memory_order_acquire);
    signal->event_mailbox_ptr = event_id != 0 ? source.mailbox : 0;
    signal->event_id = event_id;
    return event_id != 0;
}
