/*
 * Instruction fetch, as the counters see it: a wave's code arrives in windows of 32 bytes, and
 * each time it leaves its window it fetches the next one. A group reports a line of code to the
 * instruction cache when it touches it first; what it fetches again is taken for a hit. Runs that
 * are executed as one are noted when they end, or before accesses are logged, which stand among
 * lines in the order of instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "wave/fetch_path.h"
#include "wave/group.h"
#include "wave/line_log.h"

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
    memset(log->complete, 0, sizeof log->complete);
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

static void line_touch(struct workgroup *group, uint64_t line)
{
    struct fetch_log *log = &group->fetches;
    if (log->recent[line % FETCH_RECENT] == line + 1)
        return;
    log->recent[line % FETCH_RECENT] = line + 1;
    if (log->used >= log->capacity / 2 && !log_grow(log))
        return;
    if (!set_insert(log->lines, log->capacity, line + 1))
        return;
    log->used++;
    line_log_add(group, line * LINE_BYTES, UINT64_MAX, ACCESS_FETCH, 0);
}

static void window_fetch(struct workgroup *group, uint64_t window)
{
    group->fetches.count++;
    group->fetches.last_window = window;
    line_touch(group, window * FETCH_WINDOW_BYTES / LINE_BYTES);
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

static const struct fetch_path **complete_of(struct fetch_log *log, const struct fetch_path *path)
{
    return &log->complete[path->va / LINE_BYTES % FETCH_PATHS];
}

void fetch_run_begin(struct wave *wave, const struct inst *first, const struct fetch_path *path)
{
    struct fetch_log *log = &wave->group->fetches;
    log->path = path;
    log->first = first;
    log->lines_left = *complete_of(log, path) != path;
    log->lines_noted = log->lines_left ? 0 : path->line_count;
    wave->rounds = 0;
}

/* The lines that instructions before the slot have touched. */
static void lines_note(struct workgroup *group, uint32_t slot)
{
    struct fetch_log *log = &group->fetches;
    const struct fetch_path *path = log->path;
    for (; log->lines_noted < path->line_count && path->lines[log->lines_noted].slot < slot;
         log->lines_noted++)
        line_touch(group, path->va / LINE_BYTES + path->lines[log->lines_noted].line);
}

static void executed_note(struct wave *wave, uint32_t slot)
{
    struct fetch_log *log = &wave->group->fetches;
    if (!log->lines_left)
        return;
    if (wave->rounds)
        lines_note(wave->group, log->path->round_slots);
    lines_note(wave->group, slot);
    log->lines_left = log->lines_noted < log->path->line_count;
}

void fetch_run_note(struct wave *wave, const struct inst *inst)
{
    executed_note(wave, (uint32_t)(inst - wave->group->fetches.first));
}

void fetch_run_end(struct wave *wave, uint32_t executed)
{
    struct fetch_log *log = &wave->group->fetches;
    const struct fetch_path *path = log->path;
    const struct fetch_step *last = &path->steps[executed - wave->rounds * path->round - 1];
    const uint64_t window = path->va / FETCH_WINDOW_BYTES;
    executed_note(wave, last->slot + 1u);
    if (!log->lines_left)
        *complete_of(log, path) = path;
    log->lines_left = false;
    log->count +=
        (log->last_window != window) + (uint64_t)wave->rounds * path->round_fetches + last->fetches;
    log->last_window = window + last->window;
    log->window = NULL;
    log->path = NULL;
}
