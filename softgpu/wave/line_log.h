/* The entries of a group's log of cache-line requests: what access_log.c and fetch.c share. */
#ifndef WAVE_LINE_LOG_H
#define WAVE_LINE_LOG_H

#include "wave/group.h"

/* Room for so many more. False: out of memory, and counters lose the request; the program does not.
 */
bool line_log_grow(struct access_log *log, uint64_t more);
static inline bool line_log_reserve(struct access_log *log, uint64_t more)
{
    return __builtin_expect(log->capacity - log->count >= more, 1) || line_log_grow(log, more);
}

/* One line, of which the instruction touches these bytes. */
void line_log_add(struct workgroup *group, uint64_t line_va, uint64_t bytes,
                  enum perf_access_kind kind, uint8_t flags);

#endif
