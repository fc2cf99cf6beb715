/*
 * What the library tells once and records refer to later: kernels and agents. Kernels are added by
 * code-object callbacks and looked up, both on any thread.
 */
#ifndef COLLECT_NAMES_H
#define COLLECT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/callback_tracing.h>

#include "out/rows.h"

/* Called around a fork, so that nothing is half done in the child. */
void names_fork_prepare(void);
void names_fork_done(void); /* in both */

struct launch_counts;

struct kernel_info {
    uint64_t id;
    struct launch_counts *launches; /* shared by kernels of one name; under names.c's lock */
    char *name;                     /* demangled, without ".kd"; lives until the process ends */
    struct out_kernel details;      /* for writers; `name` NULL: nothing more is known */
    int8_t wanted; /* names_kernel_wanted: 1, -1, 0 not asked yet; under names.c's lock */
};

/* Before its kernels. */
void names_code_object_add(const rocprofiler_callback_tracing_code_object_load_data_t *object);
void names_kernel_add(
    const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *symbol);
/* Never NULL: an unknown id gives a kernel named "kernel N". */
const struct kernel_info *names_kernel_find(uint64_t id);

/* How many launches of kernels with this one's name came before on the agent; counts this one. Any
 * thread. */
uint32_t names_kernel_launch(uint64_t id, rocprofiler_agent_id_t agent);

/* What `wants` says of the kernel's name, asked once. Any thread. */
bool names_kernel_wanted(uint64_t id, bool (*wants)(const char *name));

/* How names are shown from then on: as the compiler made them, or without arguments. */
void names_style_set(bool demangle, bool truncate);

void names_agents_load(void);
/* NULL for an unknown id. */
const rocprofiler_agent_v0_t *names_agent_find(rocprofiler_agent_id_t id);
const rocprofiler_agent_v0_t *names_agent_at(unsigned index);

#endif
