#include <hsa/amd_hsa_signal.h>
#include <stddef.h>

#include "cp/internal.h"

_Static_assert(SIGNAL_CYCLES_OFFSET == offsetof(amd_signal_t, reserved3) &&
                   sizeof(((amd_signal_t *)0)->reserved3) == sizeof(uint64_t),
               "nobody else uses it");

static uint64_t field(hsa_signal_t signal, size_t offset_bytes)
{
    return signal.handle + offset_bytes;
}

/* What changing a signal needs, read before: the mailbox belongs to the signal, and the host may
 * free that as soon as its value changes. */
struct opened {
    amd_signal_t *host;
    uint64_t mailbox_va;
    uint32_t event_id;
};

/* The host mostly looks at the signal just now. Its cache line is asked for once, to be written. */
static bool signal_open(struct access *access, hsa_signal_t signal, struct opened *opened)
{
    const uint32_t kind = VM_READ | VM_WRITE;
    opened->host = signal.handle % sizeof(uint64_t) == 0
                       ? access_pointer(access, signal.handle, sizeof *opened->host, kind)
                       : access_word(access, signal.handle, sizeof(uint64_t), kind);
    if (!opened->host)
        return false;
    __builtin_prefetch(opened->host, 1);
    opened->mailbox_va = __atomic_load_n(&opened->host->event_mailbox_ptr, __ATOMIC_ACQUIRE);
    opened->event_id = __atomic_load_n(&opened->host->event_id, __ATOMIC_ACQUIRE);
    return true;
}

static bool mailbox_post(struct access *access, const struct opened *opened,
                         struct signal_event *event)
{
    if (!opened->mailbox_va)
        return true;
    if (!access_store64(access, opened->mailbox_va, opened->event_id))
        return false;
    event->event_id = opened->event_id;
    return true;
}

/* The end comes last: who polls it finds the others. */
static void times_write(amd_signal_t *signal, const struct signal_times *times)
{
    uint64_t *cycles = (uint64_t *)(void *)((char *)signal + SIGNAL_CYCLES_OFFSET);
    __atomic_store_n(cycles, times->model_cycles, __ATOMIC_RELEASE);
    __atomic_store_n(&signal->start_ts, times->begin_ticks, __ATOMIC_RELEASE);
    __atomic_store_n(&signal->end_ts, times->end_ticks, __ATOMIC_RELEASE);
}

bool signal_complete(struct access *access, hsa_signal_t signal, const struct signal_times *times,
                     struct signal_event *event)
{
    struct opened opened;
    event->event_id = 0;
    if (!signal.handle)
        return true;
    if (!signal_open(access, signal, &opened))
        return false;
    if (times)
        times_write(opened.host, times);
    /* release: the kernel's results and the time stamps come first. */
    __atomic_fetch_sub(&opened.host->value, 1, __ATOMIC_RELEASE);
    return mailbox_post(access, &opened, event);
}

bool signal_load(struct access *access, hsa_signal_t signal, int64_t *value)
{
    return access_load64(access, field(signal, offsetof(amd_signal_t, value)), (uint64_t *)value);
}

bool signal_end_load(struct access *access, hsa_signal_t signal, uint64_t *end_ticks)
{
    return access_load64(access, field(signal, offsetof(amd_signal_t, end_ts)), end_ticks);
}

bool signal_set_bits(struct access *access, hsa_signal_t signal, uint64_t bits,
                     struct signal_event *event)
{
    struct opened opened;
    event->event_id = 0;
    if (!signal.handle)
        return true;
    if (!signal_open(access, signal, &opened))
        return false;
    __atomic_fetch_or(&opened.host->value, (int64_t)bits, __ATOMIC_RELEASE);
    return mailbox_post(access, &opened, event);
}
