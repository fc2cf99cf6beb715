/* Runtimes' side of the session. Private to session and its engine table. */
#ifndef SESSION_RUNTIMES_H
#define SESSION_RUNTIMES_H

#include "model/runtime.h"
#include "session/session.h"

/* A runtime's tables, by the names of rocprofiler-register: "hsa", "hip", "hip_compiler", "roctx"
 * ... Returns a rocprofiler_status_t. May change the tables. */
int runtime_offer(const char *name, uint64_t version, uint64_t number, void **tables,
                  uint64_t table_count);

/* The same of a row, with as many tables as that has, none NULL. `number`: RUNTIME_UNNUMBERED when
 * the runtime does not say which of its copies it is. */
void runtime_offer_row(const struct runtime_row *row, uint64_t version, uint64_t number,
                       void *const *tables);

/* Never NULL. */
const struct runtime_ops *runtime_ops_of(const struct runtime_row *row);

/* Runtimes that started while nobody wanted their tables left them with librocprofiler-register:
 * takes those that are there. No lock held. */
void runtime_registered_collect(void);

/* Takes up what was offered before tools were ready. */
void runtime_offers_replay(void);

/* Makes an HSA runtime that starts later load this library, and hooks a HIP library that is there.
 * Idempotent. */
void runtime_arm(void);

/* Hooks a HIP library that was loaded meanwhile. Any thread; no environment. */
void runtimes_hook(void);
bool runtimes_hooking_here(void); /* this thread is inside of that */
void runtime_hook_ready(void);    /* the first call of a library that was hooked */
void runtimes_kept_decide(void);

/* A client asks for agents from the program's own code. HIP of ROCm 6.2 and later has announced
 * itself by then (it registers the program's kernels, before main), and clients such as Caliper
 * rely on tools being set up; an older HIP has not: if one is hooked, tools are set up now. */
void runtime_first_use(void);

/* What an OpenMP runtime is answered when it asks for a tool; NULL: nobody configured OMPT. */
struct ompt_start_tool_result_t *runtime_ompt_start(void);
int runtime_ompt_initialized(void); /* 0, 1, -1 as the SDK reports them */
int runtime_ompt_finalized(void);

/* An HSA runtime has loaded us as its tool, and lets us go; it does not say which one. `caller`:
 * the address that its call returns to. */
void runtime_hsa_load(void *table, uint64_t runtime_version);
void runtime_hsa_unload(const void *caller);

/* Who wants TRACE_HIP_OPERATION has changed. */
void runtimes_follow_operations(void);

/* Somebody wants more than was known when runtimes were met: wraps that too. */
void runtimes_catch_up(void);

/* The same for tools that came late; runtimes that start later still are armed for them. */
void runtimes_meet_newcomers(void);

/* Says what these tools will not see. `kernels_were_wanted`: of all queues, before they came. */
void runtimes_missed_report(bool kernels_were_wanted);

rocprofiler_status_t runtime_tables_watch(rocprofiler_intercept_library_cb_t callback, int tables,
                                          void *data);

#endif
