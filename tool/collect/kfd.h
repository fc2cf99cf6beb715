/* Events of the kernel driver as rows. */
#ifndef COLLECT_KFD_H
#define COLLECT_KFD_H

#include <stdbool.h>

#include <rocprofiler-sdk/rocprofiler.h>

#include "out/rows.h"

/* False: the record is of another kind. Agents are left out of `row` but for their ids. */
bool kfd_row(const rocprofiler_record_header_t *header, struct out_kfd_row *row,
             rocprofiler_agent_id_t agents[OUT_KFD_AGENTS]);

#endif
