/* Runtimes' side of the session, besides what front ends call. Private to session. */
#ifndef SESSION_RUNTIMES_H
#define SESSION_RUNTIMES_H

#include "model/runtime.h"
#include "session/front/runtimes.h"
#include "session/session.h"

/* As runtime_offer, for a row: it has as many tables as the row says, none of them NULL. `number`:
 * RUNTIME_UNNUMBERED when the runtime does not say which of its copies it is. */
void runtime_offer_row(const struct runtime_row *row, uint64_t version, uint64_t number,
                       void *const *tables);

/* Never NULL. */
const struct runtime_ops *runtime_ops_of(const struct runtime_row *row);

/* Takes up what was offered before tools were ready. */
void runtime_offers_replay(void);

bool runtimes_hooking_here(void); /* this thread is inside of that */
void runtime_hook_ready(void);    /* the first call of a library that was hooked */
void runtimes_kept_decide(void);

/* Who wants TRACE_HIP_OPERATION has changed. */
void runtimes_follow_operations(void);

/* Tools are configured, or somebody who may want calls came: before that nothing happens. */
void runtimes_follow_calls(void);

/* Wraps what somebody wants beyond what was known when runtimes were met. */
void runtimes_catch_up(void);

/* Does the same for tools that came late, and arms for them the runtimes that start even later. */
void runtimes_meet_newcomers(void);

/* Says what these tools will not see. `kernels_were_wanted`: of all queues, before they came. */
void runtimes_missed_report(bool kernels_were_wanted);

#endif
