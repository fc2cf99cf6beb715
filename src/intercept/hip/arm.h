/* The HIP side of interception, for session. */
#ifndef INTERCEPT_HIP_ARM_H
#define INTERCEPT_HIP_ARM_H

#include <stdbool.h>
#include <stdint.h>

#include <rocprofiler-sdk/hip.h>

#include "model/trace.h"

/*
 * Hooks the HIP library of this process, if it is mapped and offers callbacks (HIP up to 5.2; later
 * ones announce themselves or are hooked elsewhere). Costs nothing further until HIP is used: at
 * the first HIP call `ready` runs, once, on that thread and before the call is traced; it must let
 * tools configure. After that only configured operations stay hooked. Call as early as possible,
 * and again when HIP may have been loaded since: repeated calls are harmless. True when hooked.
 */
bool intercept_hip_arm(void (*ready)(void));

/* The library offers its tables; `runtime_table` has no wrappers of ours yet. Its own function is
 * asked for names from now on: the exported one goes by the table, so that the question would be
 * traced, and while the table is being offered the library would wait for itself. */
void intercept_hip_tables_offered(const void *runtime_table);

/* The library has offered its tables, where calls are seen from now on: its tracer callback, if it
 * is hooked, must not report them a second time. `version` as it registered them. */
void intercept_hip_tables_arrived(uint64_t version);

/* `hook` runs with no lock held when the library was hooked, and when it has offered its tables. */
void intercept_hip_on_armed(void (*hook)(void));

/* Calls are seen in tables, so that frames carry no hip_api_data_t (trace_frame's `native`). */
bool intercept_hip_in_tables(void);

/* Makes one, as the header of the library's release lays it out: zeroes but for the arguments.
 * Returns where in it a tool's word is to be pointed to; 0: no release is known to have the
 * function, or no tables came, and nothing was written. Any thread, no lock. */
enum { INTERCEPT_HIP_DATA_BYTES_MAX = 1536 };
uint32_t intercept_hip_data_write(enum trace_domain domain, int32_t operation,
                                  const rocprofiler_hip_api_args_t *args, void *data);

/* The library's own numbers of its functions, 1 and up, known when it is hooked; those of its
 * release when it has only offered tables. */
struct hip_function {
    const char *name; /* the library's */
    enum trace_domain domain;
    int32_t operation; /* -1: nobody knows this function, it cannot be traced */
};
uint32_t intercept_hip_function_end(void); /* one more than the largest; 0: not hooked */
bool intercept_hip_function(uint32_t id, struct hip_function *function); /* false: no such */

/* What the `kind` of a TRACE_HIP_OPERATION report means; NULL: unknown, or no library. */
const char *intercept_hip_command_name(uint32_t kind);

/* Returns when every command is reported, or about 50 ms after the last report: commands may still
 * run, and HIP 6 asks about a command more than once, so that nobody can tell. */
void intercept_hip_operations_settle(void);

/* Who wants TRACE_HIP_OPERATION has changed. */
void intercept_hip_operations_refresh(void);

#endif
