#include <hsa/amd_hsa_signal.h>
#include <stddef.h>

#include "cp/internal.h"

static uint64_t field(hsa_signal_t signal, size_t offset_bytes)
{
    return signal.handle + offset_bytes;
}

/* The mailbox belongs to the signal, and the host may free the signal as soon as its value
 * changes: both words are read before. */
static bool mailbox_read(struct access *access, hsa_signal_t signal, uint64_t *mailbox_va,
                         uint32_t *event_id)
{
    return access_load64(access, field(signal, offsetof(amd_signal_t, event_mailbox_ptr)),
                         mailbox_va) &&
           access_load32(access, field(signal, offsetof(amd_signal_t, event_id)), event_id);
}

static bool mailbox_post(struct access *access, uint64_t mailbox_va, uint32_t event_id,
                         struct signal_event *event)
{
    event->event_id = 0;
    if (!mailbox_va)
        return true;
    if (!access_store64(access, mailbox_va, event_id))
        return false;
    event->event_id = event_id;
    return true;
}

static bool times_write(struct access *access, hsa_signal_t signal, uint64_t begin_ticks,
                        uint64_t end_ticks)
{
    return access_store64(access, field(signal, offsetof(amd_signal_t, start_ts)), begin_ticks) &&
           access_store64(access, field(signal, offsetof(amd_signal_t, end_ts)), end_ticks);
}

/* The word that everybody waits for; NULL: not mapped. */
static _Atomic uint64_t *value_word(struct access *access, hsa_signal_t signal)
{
    return access_word(access, field(signal, offsetof(amd_signal_t, value)), 8, VM_READ | VM_WRITE);
}

bool signal_complete(struct access *access, hsa_signal_t signal, bool profiled,
                     uint64_t begin_ticks, uint64_t end_ticks, struct signal_event *event)
{
    uint64_t mailbox_va;
    uint32_t event_id;
    event->event_id = 0;
    if (!signal.handle)
        return true;
    if (!mailbox_read(access, signal, &mailbox_va, &event_id))
        return false;
    if (profiled && !times_write(access, signal, begin_ticks, end_ticks))
        return false;
    _Atomic uint64_t *value = value_word(access, signal);
    if (!value)
        return false;
    /* release: the kernel's results and the time stamps come first. */
    atomic_fetch_sub_explicit(value, 1, memory_order_release);
    return mailbox_post(access, mailbox_va, event_id, event);
}

bool signal_load(struct access *access, hsa_signal_t signal, int64_t *value)
{
    return access_load64(access, field(signal, offsetof(amd_signal_t, value)), (uint64_t *)value);
}

bool signal_set_bits(struct access *access, hsa_signal_t signal, uint64_t bits,
                     struct signal_event *event)
{
    uint64_t mailbox_va;
    uint32_t event_id;
    event->event_id = 0;
    if (!signal.handle)
        return true;
    if (!mailbox_read(access, signal, &mailbox_va, &event_id))
        return false;
    _Atomic uint64_t *value = value_word(access, signal);
    if (!value)
        return false;
    atomic_fetch_or_explicit(value, bits, memory_order_release);
    return mailbox_post(access, mailbox_va, event_id, event);
}
