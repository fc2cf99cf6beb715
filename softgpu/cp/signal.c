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
    uint64_t mailbox_va;
    uint32_t event_id;
    _Atomic uint64_t *value; /* the word that everybody waits for */
};

static bool signal_open(struct access *access, hsa_signal_t signal, struct opened *opened)
{
    if (!access_load64(access, field(signal, offsetof(amd_signal_t, event_mailbox_ptr)),
                       &opened->mailbox_va) ||
        !access_load32(access, field(signal, offsetof(amd_signal_t, event_id)), &opened->event_id))
        return false;
    opened->value =
        access_word(access, field(signal, offsetof(amd_signal_t, value)), 8, VM_READ | VM_WRITE);
    return opened->value != NULL;
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
static bool times_write(struct access *access, hsa_signal_t signal,
                        const struct signal_times *times)
{
    return access_store64(access, field(signal, SIGNAL_CYCLES_OFFSET), times->model_cycles) &&
           access_store64(access, field(signal, offsetof(amd_signal_t, start_ts)),
                          times->begin_ticks) &&
           access_store64(access, field(signal, offsetof(amd_signal_t, end_ts)), times->end_ticks);
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
    if (times && !times_write(access, signal, times))
        return false;
    /* release: the kernel's results and the time stamps come first. */
    atomic_fetch_sub_explicit(opened.value, 1, memory_order_release);
    return mailbox_post(access, &opened, event);
}

bool signal_load(struct access *access, hsa_signal_t signal, int64_t *value)
{
    return access_load64(access, field(signal, offsetof(amd_signal_t, value)), (uint64_t *)value);
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
    atomic_fetch_or_explicit(opened.value, bits, memory_order_release);
    return mailbox_post(access, &opened, event);
}
