/*
 * The counters that somebody asked for on one GPU, and the runs that collect them. The text is that
 * of ROCPROF_COUNTERS: lines "pmc: A B", each of which is counted in runs of its own.
 */
#ifndef COUNTING_CHOICE_H
#define COUNTING_CHOICE_H

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <stdbool.h>

#include "launch/settings.h"

enum { CHOICE_NAME_BYTES = 256, CHOICE_AGENTS_MAX = 64 };

/* The GPUs stand in the order of the library's list. */
struct choice_gpus {
    const rocprofiler_agent_v0_t *gpu[CHOICE_AGENTS_MAX];
    unsigned count;
};

struct choice {
    const rocprofiler_agent_v0_t *gpu;
    rocprofiler_counter_id_t *ids;
    uint32_t *pass_of; /* from 0 */
    size_t count;
    uint32_t pass_count; /* at least 1 */
};

rocprofiler_status_t choice_gpus_find(struct choice_gpus *gpus);

/* Definitions that --extra-counters brought, before anything else is asked. */
rocprofiler_status_t choice_definitions_load(const struct settings *settings);

/* Called once for each name that the GPU does not count, and that is not for another GPU
 * ("NAME:device=2"). */
typedef void (*choice_unknown_t)(const char *name, void *data);

/* `number`: of the GPU among the GPUs. A failure of the plan leaves at `*failed` the counter that
 * does not fit alone. */
rocprofiler_status_t choice_make(struct choice *choice, const rocprofiler_agent_v0_t *gpu,
                                 unsigned number, const char *text, choice_unknown_t unknown,
                                 void *data, rocprofiler_counter_id_t *failed);
void choice_free(struct choice *choice);

/* Copies the next name of the text to `name`; `*line` goes up where a line "pmc:" begins. False at
 * the end. */
bool choice_name_next(const char **text, unsigned *line, char name[CHOICE_NAME_BYTES]);

/* Cuts ":device=N" off the name; false if N is not this number. */
bool choice_is_for(char name[CHOICE_NAME_BYTES], unsigned number);

#endif
