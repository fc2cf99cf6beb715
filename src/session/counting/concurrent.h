/*
 * Kernels that are counted while others run. A device's counters then run on by themselves, and
 * each kernel is between two readings of them: its values are the difference, which has what other
 * kernels did meanwhile as well. The hardware has one set of counters for all queues and cannot
 * tell them apart.
 *
 * Kernels with other counters, or that are counted alone, wait for those on their way, and these
 * for them. Private to src/session/counting.
 */
#ifndef SESSION_COUNTING_CONCURRENT_H
#define SESSION_COUNTING_CONCURRENT_H

#include "session/counting/config.h"

/* A kernel with these counters is about to be written; NULL: one that is counted alone, which
 * starts and stops counters itself. Waits, on the submitting thread, for kernels with others.
 * False: those do not end, or the counters do not start; with a message. */
bool concurrent_enter(rocprofiler_agent_id_t agent, struct counting_config *config);
/* Whether any kernel ever entered with counters: before, none has to. */
bool concurrent_is_used(void);
/* It has ended. */
void concurrent_leave(rocprofiler_agent_id_t agent, bool is_alone);

/* What a kernel that is counted has to give back at its end. */
enum concurrent_turn { TURN_NONE, TURN_ALONE, TURN_TOGETHER };
/* The two above for a kernel with this slot. `together`: of a front end whose kernels may be
 * counted side by side. False, with a message: there is no turn. */
bool concurrent_turn_take(const struct counting_slot *slot, bool together,
                          enum concurrent_turn *turn);
void concurrent_turn_end(const struct counting_slot *slot, enum concurrent_turn *turn);

/* Nobody counts kernels any more: counters stop when the last one has ended. */
void concurrent_stop(void);
/* The runtime still answers, and is about to leave. */
void concurrent_disarm(void);
void concurrent_on_fork_child(void);

#endif
