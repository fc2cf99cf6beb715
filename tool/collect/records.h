/* Which part of the report a record belongs to. */
#ifndef COLLECT_RECORDS_H
#define COLLECT_RECORDS_H

#include <rocprofiler-sdk/rocprofiler.h>

/* Whose turn it is (turn.h). */
void record_report(const rocprofiler_record_header_t *header);

#endif
