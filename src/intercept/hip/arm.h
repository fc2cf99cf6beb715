/* The HIP library of this process. Internal to this folder. */
#ifndef INTERCEPT_HIP_ARM_H
#define INTERCEPT_HIP_ARM_H

#include <stdbool.h>
#include <stdint.h>

#include "model/hip_facts.h"

/*
 * Hooks the HIP library of this process, if it is mapped and offers callbacks (HIP up to 5.2; later
 * ones announce themselves or are hooked elsewhere). Costs nothing further until HIP is used: at
 * the first HIP call `ready` runs, once, on that thread and before the call is traced; it must let
 * tools configure. Call as early as possible, and again when HIP may have been loaded since:
 * repeated calls are harmless. True when hooked.
 */
bool intercept_hip_arm(void (*ready)(void));

/* Tools are configured, or one more is: what is hooked follows. True: hooks went, and `ready` will
 * not run. */
bool intercept_hip_calls_want(void);

/* The library offers its tables; `runtime_table` has no wrappers of ours yet. Its own function is
 * asked for names from now on: the exported one goes by the table, so that the question would be
 * traced, and while the table is being offered the library would wait for itself. */
void intercept_hip_tables_offered(const void *runtime_table);

/* The library has offered its tables, where calls are seen from now on: its tracer callback, if it
 * is hooked, must not report them a second time. `version` as it registered them. */
void intercept_hip_tables_arrived(uint64_t version);

/* What model/hip_facts.h promises. */
void intercept_hip_on_armed(void (*hook)(void));
bool intercept_hip_in_tables(void);
uint32_t intercept_hip_data_write(enum trace_domain domain, int32_t operation,
                                  const rocprofiler_hip_api_args_t *args, void *data);
uint32_t intercept_hip_function_end(void);
bool intercept_hip_function(uint32_t id, struct hip_function *function);
const char *intercept_hip_listed_function(const char *name, uint32_t *id);
uint32_t intercept_hip_listed_end(void);
const char *intercept_hip_command_name(uint32_t kind);
void intercept_hip_operations_settle(void);

/* Who wants TRACE_HIP_OPERATION has changed. */
void intercept_hip_operations_refresh(void);

#endif
