/*
 * Completion signals of our own for dispatches.
 *
 * A completion signal in an AQL packet is the address of an amd_signal_t, which is all that a
 * packet processor looks at: kind, value, event, timestamps. Ours live in blocks of host memory
 * that every device may write, are never seen by the runtime, have no event, and so cost no
 * interrupt, no event slot and no entry in the runtime's list of handlers (upstream's cost beyond
 * 16 in flight).
 */
#ifndef INTERCEPT_HSA_SIGNALS_H
#define INTERCEPT_HSA_SIGNALS_H

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <stdint.h>

struct hsa_instance;

/* `count` signals, kind and value set up; NULL when the runtime gives no memory. */
amd_signal_t *signals_block_make(const struct hsa_instance *runtime, uint32_t count);
/* While that runtime is up, and when no packet refers to the signals any more. NULL is fine. */
void signals_block_free(const struct hsa_instance *runtime, amd_signal_t *signals);

static inline void signal_arm(amd_signal_t *signal)
{
    signal->start_ts = 0;
    signal->end_ts = 0;
    signal->value = 1;
}

static inline hsa_signal_t signal_handle(amd_signal_t *signal)
{
    return (hsa_signal_t){.handle = (uint64_t)(uintptr_t)signal};
}

#endif
