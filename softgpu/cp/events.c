#include "cp/events.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/wait.h"

void cp_events_wake(struct cp_events *events)
{
    atomic_fetch_add_explicit(&events->kicks, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&events->asleep, memory_order_seq_cst))
        syscall(SYS_futex, &events->kicks, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void cp_events_raise(struct cp_events *events, uint32_t event_id)
{
    events->ops.event_raise(events->driver, event_id);
}

void cp_events_memory_fault(struct cp_events *events, uint32_t gpu_id, uint64_t va, uint32_t kind)
{
    events->ops.memory_fault(events->driver, gpu_id, va, kind);
}

bool cp_events_queue_exceptions(struct cp_events *events, uint64_t area_va, uint64_t exceptions)
{
    return events->ops.queue_exceptions(events->driver, area_va, exceptions);
}

void cp_events_post(struct cp_events *events, uint32_t event_id)
{
    if (event_id >= EVENTS_MAX)
        return;
    atomic_fetch_or_explicit(&events->posted[event_id / 64], 1ull << event_id % 64,
                             memory_order_release);
    atomic_store_explicit(&events->any_posted, true, memory_order_release);
    cp_events_wake(events);
}

void cp_events_posted_raise(struct cp_events *events)
{
    if (!atomic_load_explicit(&events->any_posted, memory_order_relaxed) ||
        !atomic_exchange_explicit(&events->any_posted, false, memory_order_acquire))
        return;
    for (uint32_t word = 0; word < EVENTS_MAX / 64; word++) {
        uint64_t bits = atomic_exchange_explicit(&events->posted[word], 0, memory_order_acquire);
        for (; bits; bits &= bits - 1)
            cp_events_raise(events, word * 64 + (uint32_t)__builtin_ctzll(bits));
    }
}

uint32_t cp_events_kicks(struct cp_events *events)
{
    /* acquire, pairs with cp_events_wake() */
    return atomic_load_explicit(&events->kicks, memory_order_acquire);
}

void cp_events_sleep(struct cp_events *events, uint32_t seen, uint64_t sleep_ns)
{
    struct timespec limit = wait_timespec(sleep_ns);
    struct timespec *timeout = sleep_ns == UINT64_MAX ? NULL : &limit;
    atomic_store_explicit(&events->asleep, 1, memory_order_seq_cst);
    syscall(SYS_futex, &events->kicks, FUTEX_WAIT_PRIVATE, seen, timeout, NULL, 0);
    atomic_store_explicit(&events->asleep, 0, memory_order_seq_cst);
}

void cp_events_after_fork_child(struct cp_events *events)
{
    atomic_store_explicit(&events->asleep, 0, memory_order_relaxed);
}
