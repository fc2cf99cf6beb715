/* The counters of this run: configurations for every GPU, and the choice at each launch. */
#ifndef COLLECT_COUNTING_H
#define COLLECT_COUNTING_H

#include <rocprofiler-sdk/rocprofiler.h>

#include "launch/settings.h"

/* Before anybody asks what the GPUs count: the library takes definitions only until then. Messages
 * go to stderr. */
void counting_definitions_load(const struct settings *settings);

/* Configures dispatch counting when the settings ask for counters. Messages go to stderr. */
void counting_configure(const struct settings *settings, rocprofiler_context_id_t context,
                        rocprofiler_buffer_id_t buffer);

/* Tells crocprof whether the filters have left anything to be counted. */
void counting_tell(void);

/* The child's thread has another id. */
void counting_fork_child(void);

#endif
