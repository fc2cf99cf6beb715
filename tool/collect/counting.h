/* The counters of this run: configurations for every GPU, and the choice at each launch. */
#ifndef COLLECT_COUNTING_H
#define COLLECT_COUNTING_H

#include <rocprofiler-sdk/rocprofiler.h>

#include "launch/settings.h"

/* Configures dispatch counting when the settings ask for counters. Messages go to stderr. */
void counting_configure(const struct settings *settings, rocprofiler_context_id_t context,
                        rocprofiler_buffer_id_t buffer);

#endif
