/*
 * Instruction fetch, as the counters see it: a wave's code arrives in windows of 32 bytes, and
 * each time it leaves its window it fetches the next one. A group reports a line of code to the
 * instruction cache when it touches it first; what it fetches again is taken for a hit.
 */
#include <stdlib.h>
#include <string.h>

#include "wave/access.h"
#include "wave/group.h"

enum { LINE_BYTES = 64, LINES_INITIAL = 64 };

void fetch_log_clear(struct fetch_log *log)
{
    log->last_window = 0;
    log->window = NULL;
    if (!log->count && !log->used)
        return; /* as long as fetches are not counted */
    if (log->used)
        memset(log->lines, 0, log->capacity * sizeof log->lines[0]);
    log->used = 0;
    log->count = 0;
    memset(log->recent, 0, sizeof log->recent);
}

/* Whether the line is new to the set. The set is at most half full. */
static bool set_insert(uint64_t *lines, uint32_t capacity, uint64_t line)
{
    uint32_t at = (uint32_t)(line * 0x9e3779b97f4a7c15ull >> 40) & (capacity - 1);
    while (lines[at] && lines[at] != line)
        at = (at + 1) & (capacity - 1);
    bool is_new = !lines[at];
    lines[at] = line;
    return is_new;
}

static bool log_grow(struct fetch_log *log)
{
    uint32_t capacity = log->capacity ? log->capacity * 2 : LINES_INITIAL;
    uint64_t *lines = calloc(capacity, sizeof *lines);
    if (!lines)
        return false; /* the counters lose misses; the program does not notice */
    for (uint32_t i = 0; i < log->capacity; i++)
        if (log->lines[i])
            set_insert(lines, capacity, log->lines[i]);
    free(log->lines);
    log->lines = lines;
    log->capacity = capacity;
    return true;
}

static void window_fetch(struct workgroup *group, uint64_t window)
{
    struct fetch_log *log = &group->fetches;
    uint64_t line = window * FETCH_WINDOW_BYTES / LINE_BYTES;
    log->count++;
    log->last_window = window;
    if (log->recent[line % FETCH_RECENT] == line + 1)
        return;
    log->recent[line % FETCH_RECENT] = line + 1;
    if (log->used >= log->capacity / 2 && !log_grow(log))
        return;
    if (!set_insert(log->lines, log->capacity, line + 1))
        return;
    log->used++;
    access_log_fetch(group, line * LINE_BYTES);
}

void fetch_note(struct wave *wave, const struct inst *inst)
{
    struct fetch_log *log = &wave->group->fetches;
    uint64_t va = wave_pc_va(wave, inst), last = va + 4u * inst->dwords - 1;
    if (va / FETCH_WINDOW_BYTES != log->last_window)
        window_fetch(wave->group, va / FETCH_WINDOW_BYTES);
    if (last / FETCH_WINDOW_BYTES != log->last_window)
        window_fetch(wave->group, last / FETCH_WINDOW_BYTES);
    log->window = inst - (int64_t)(va - last / FETCH_WINDOW_BYTES * FETCH_WINDOW_BYTES) / 4;
}
