/* How runtimes come to the engine. */
#ifndef SESSION_FRONT_RUNTIMES_H
#define SESSION_FRONT_RUNTIMES_H

#include <rocprofiler-sdk/intercept_table.h>
#include <stdint.h>

/* A runtime's tables, by the names of rocprofiler-register: "hsa", "hip", "hip_compiler", "roctx"
 * ... Returns a rocprofiler_status_t. May change the tables. */
int runtime_offer(const char *name, uint64_t version, uint64_t number, void **tables,
                  uint64_t table_count);

/* Runtimes that started while nobody wanted their tables left them with librocprofiler-register:
 * takes those that are there. No lock held. */
void runtime_registered_collect(void);

/* Makes an HSA runtime that starts later load this library, and hooks a HIP library that is there.
 * Idempotent. */
void runtime_arm(void);

/* Hooks a HIP library that was loaded meanwhile. Any thread; no environment. */
void runtimes_hook(void);

/* What is wanted just now is rerouted in libraries that are loaded just now: calls of the kernel
 * driver's library. To be called after anything of either has changed, on any thread, with no lock
 * held: it takes the dynamic linker's. */
void runtimes_follow_libraries(void);

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
/* Calls `told` before an HSA runtime is left, while it still answers; once for each OnUnload of any
 * library of ours. A runtime of 6.0 and later finds the engine as a tool by itself and may unload
 * it before the front end. One at a time. */
void runtime_hsa_leaving_watch(void (*told)(void));

/* For tools that wrap tables themselves. `tables`: bits of rocprofiler_intercept_table_t. */
rocprofiler_status_t runtime_tables_watch(rocprofiler_intercept_library_cb_t callback, int tables,
                                          void *data);

#endif
