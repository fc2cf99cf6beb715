/*
 * The device's interrupt at the end of a packet that somebody waits for, as the completion thread's
 * alarm (completion.h).
 *
 * A runtime's signal has an event of the kernel driver's: whose number and mailbox stand in a
 * signal, that signal's end raises it. One signal of the runtime's is made for its event; signals
 * of ours get the same number and mailbox, and the thread waits in the driver for that event. The
 * runtime's own waits are not used: they look for 200 us before they sleep.
 */
#ifndef INTERCEPT_HSA_INTERRUPT_H
#define INTERCEPT_HSA_INTERRUPT_H

#include <hsa/amd_hsa_signal.h>
#include <stdbool.h>

struct hsa_instance;

/* Of the first runtime that asks, until it leaves. Does nothing where there is one, and where the
 * runtime or the process has no event or no descriptor to give: then the thread looks by time. */
void interrupt_open(const struct hsa_instance *runtime);
/* While the runtime still answers. Then nobody waits for the event, which may be another's. */
void interrupt_close(const struct hsa_instance *runtime);

/* Before the signal is armed. `wanted`: its end shall wake the completion thread. Returns whether
 * it will. */
bool interrupt_request(const struct hsa_instance *runtime, amd_signal_t *signal, bool wanted);

#endif
