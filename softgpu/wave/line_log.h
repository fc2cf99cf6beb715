/* The entries of a group's log of cache-line requests: what access_log.c and fetch.c share. */
#ifndef WAVE_LINE_LOG_H
#define WAVE_LINE_LOG_H

#include "mem/vm.h"
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

/* A scalar read of a line in the mapping that begins there. True: it is counted, for it repeats the
 * last one of those with its place's low bits, and so of its set. */
static inline bool line_log_scalar_has(struct access_log *log, uint64_t line_va, uint64_t mapping)
{
    enum { LINE_BYTES = 64 };
    _Static_assert(SCALAR_RECENT <= VM_PLACE_BYTES / LINE_BYTES, "low bits of places");
    const uint64_t at = (line_va - mapping) / LINE_BYTES % SCALAR_RECENT;
    const bool repeats = log->scalar_lines[at] == line_va + 1;
    log->scalar_repeats += repeats;
    return repeats;
}
static inline void line_log_scalar_note(struct access_log *log, uint64_t line_va, uint64_t mapping)
{
    log->scalar_lines[(line_va - mapping) / 64 % SCALAR_RECENT] = line_va + 1;
}

/* A group begins. */
void line_log_clear(struct access_log *log);

#endif
