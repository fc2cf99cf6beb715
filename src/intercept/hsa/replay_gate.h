/*
 * Who may give a device work while a replay has it for itself (decision 0024).
 *
 * A replay closes its device's gate: it waits until what entered before has left, and whoever
 * enters then waits until it opens. Work enters before it is handed over, and leaves when no replay
 * can be disturbed by it any more: a launch when it stands in its queue, where the line of counted
 * kernels orders it, a copy when it has ended.
 *
 * Work that is entered inside of other work, while a gate closes, waits for that closing's limit.
 *
 * Knows nothing of HSA. Internal to this folder.
 */
#ifndef INTERCEPT_HSA_REPLAY_GATE_H
#define INTERCEPT_HSA_REPLAY_GATE_H

#include <stdbool.h>
#include <stdint.h>

enum { REPLAY_GATES = 256 }; /* devices; others have none, and everybody passes */

/* Any thread. Waits while another thread has closed the gate. What the closing thread enters
 * itself, in a tool's callback, does not wait. */
void replay_gate_enter(uint32_t device);
/* Once for each enter, on any thread. */
void replay_gate_leave(uint32_t device);

/* Waits while another thread has closed the gate, as whoever enters. False: what entered before,
 * which may wait for the very kernel that is to be replayed, has not left within that time, or this
 * thread has the gate already. Then it is as before. */
bool replay_gate_close(uint32_t device, uint64_t limit_ns);
/* The thread that closed it. */
void replay_gate_open(uint32_t device);

#endif
