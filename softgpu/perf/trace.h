/* Thread trace of a device; what registers.c and perf.c call, all under the lock of struct perf. */
#ifndef PERF_TRACE_H
#define PERF_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct perf;
struct perf_group;

bool trace_allocate(struct perf *perf);
void trace_free(struct perf *perf);

/* A register of the trace was written, in one shader array of one die. */
void trace_register_written(struct perf *perf, uint32_t reg, uint32_t xcc, uint32_t unit,
                            uint32_t value);

/* Whether any engine is traced. */
bool trace_is_on(const struct perf *perf);
/* A group retired that belongs to a dispatch which began at `begin_cycles`. */
void trace_group(struct perf *perf, const struct perf_group *group, uint64_t begin_cycles);
/* What the groups so far did is put in order and written. */
void trace_settle(struct perf *perf);

#endif
