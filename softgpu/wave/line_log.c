#include "wave/line_log.h"

#include <stdlib.h>
#include <string.h>

bool line_log_grow(struct access_log *log, uint64_t more)
{
    enum { SPARE_LEAST = 32, SPARE_PART = 8 };
    uint64_t spare = log->expected / SPARE_PART; /* for what instructions ask for in advance */
    spare = spare > SPARE_LEAST ? spare : SPARE_LEAST;
    uint64_t capacity = log->capacity ? log->capacity * 2 : log->expected + spare;
    while (capacity - log->count < more)
        capacity *= 2;
    void *items = realloc(log->items, capacity * sizeof *log->items);
    if (!items)
        return false;
    log->items = items;
    log->capacity = capacity;
    return true;
}

void line_log_add(struct workgroup *group, uint64_t line_va, uint64_t bytes,
                  enum perf_access_kind kind, uint8_t flags)
{
    struct access_log *log = &group->accesses;
    if (line_log_reserve(log, 1))
        log->items[log->count++] =
            (struct perf_line_access){.line_va = line_va,
                                      .bytes_mask_lo = (uint32_t)bytes,
                                      .bytes_mask_hi = (uint32_t)(bytes >> 32),
                                      .kind = kind,
                                      .flags = flags};
}

void line_log_clear(struct access_log *log)
{
    log->count = log->placed = 0;
    log->scalar_repeats = 0;
    memset(log->scalar_lines, 0, sizeof log->scalar_lines);
}
