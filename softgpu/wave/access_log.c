/*
 * The log of cache-line requests, while counters want them or the instruction is sampled: what the
 * address unit makes of an instruction's lanes.
 */
#include <stdlib.h>
#include <string.h>

#include "wave/access.h"
#include "wave/time_note.h"

/* Room for so many more. False: out of memory, and counters lose the request; the program does not.
 */
static inline bool log_reserve(struct access_log *log, uint32_t more)
{
    enum { ENTRIES_INITIAL = 256 };
    if (__builtin_expect(log->capacity - log->count >= more, 1))
        return true;
    uint64_t capacity = log->capacity ? log->capacity * 2 : ENTRIES_INITIAL;
    void *items = realloc(log->items, capacity * sizeof *log->items);
    if (!items)
        return false;
    log->items = items;
    log->capacity = capacity;
    return true;
}

static uint8_t access_flags(const struct inst *inst)
{
    return (uint8_t)((inst->flags & IF_GLC ? ACCESS_GLC : 0) |
                     (inst->flags & IF_SLC ? ACCESS_SLC : 0) |
                     (inst->flags & IF_DLC_SCC ? ACCESS_SCC : 0) |
                     (inst->format == FMT_MUBUF || inst->format == FMT_MTBUF ? ACCESS_BUFFER : 0));
}

static uint64_t line_bytes(uint64_t first, uint64_t end)
{
    uint64_t count = end - first;
    return (count >= 64 ? ~0ull : (1ull << count) - 1) << (first & 63);
}

static void log_line(struct workgroup *group, uint64_t line_va, uint64_t bytes,
                     enum perf_access_kind kind, uint8_t flags)
{
    struct access_log *log = &group->accesses;
    if (log_reserve(log, 1))
        log->items[log->count++] =
            (struct perf_line_access){.line_va = line_va,
                                      .bytes_mask_lo = (uint32_t)bytes,
                                      .bytes_mask_hi = (uint32_t)(bytes >> 32),
                                      .kind = kind,
                                      .flags = flags};
}

/* Not while an instruction looks its own lines up by their addresses. Private memory and accesses
 * of nothing have no mapping. */
void access_log_place(struct workgroup *group)
{
    struct access_log *log = &group->accesses;
    for (; log->placed < log->count; log->placed++) {
        struct perf_line_access *access = &log->items[log->placed];
        if (access->line_va && access->line_va < SCRATCH_VA)
            access->line_va = vm_place(group->reader, access->line_va);
    }
}

void access_log_scalar(struct wave *wave, const struct inst *inst, uint64_t va, uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    time_note_span(group, inst, va, time_origin_scalar(group, va), size_bytes);
    if (!(group->wants & PERF_WANT_MEMORY))
        return;
    for (uint64_t at = va; at < va + size_bytes; at = (at | 63) + 1) {
        uint64_t end = (at | 63) + 1 < va + size_bytes ? (at | 63) + 1 : va + size_bytes;
        log_line(group, at & ~63ull, line_bytes(at, end), ACCESS_SCALAR_READ, access_flags(inst));
    }
}

void access_log_fetch(struct workgroup *group, uint64_t line_va)
{
    log_line(group, line_va, UINT64_MAX, ACCESS_FETCH, 0);
}

void access_log_invalidate(struct wave *wave)
{
    const struct workgroup *group = wave->group;
    if (group->wants & PERF_WANT_MEMORY || group->is_sampled)
        log_line(wave->group, 0, 0, ACCESS_INVALIDATE, group->is_sampled ? ACCESS_SAMPLED : 0);
}

/*
 * The address unit takes the lanes of a vector instruction in windows: quads, or for elements of
 * up to a dword sixteen lanes. A window looks each of its lines up once. Sixteen lanes within one
 * line have coalesced, and are handed on as quads instead of lanes.
 */
enum { WINDOW_WIDE = 4, WINDOW_DWORD = 16, LANES_PER_QUAD = 4 };

struct window {
    struct workgroup *group;
    const uint64_t *va;
    uint32_t size_bytes;
    enum perf_access_kind kind;
    uint8_t flags, tally;
    uint64_t first; /* the instruction's first entry in the log */
};

static inline uint32_t window_lanes(uint32_t size_bytes)
{
    return size_bytes <= 4 ? WINDOW_DWORD : WINDOW_WIDE;
}

/* The entries of an instruction whose lanes lie anywhere: private memory has most, four dwords of
 * 64 lanes that may cross a line each. At most half of the slots are used. */
enum { LINES_MAX = 4 * 2 * WAVE_LANES, LINE_SLOTS = 2 * LINES_MAX };
struct line_index {
    uint16_t slots[LINE_SLOTS]; /* number of the entry + 1; 0: free. Open addressing */
    uint8_t windows[LINES_MAX]; /* [entry]: the last window that has looked it up */
    uint32_t count;
    uint8_t window;
};

static void index_begin(struct line_index *index)
{
    memset(index->slots, 0, sizeof index->slots);
    index->count = 0;
    index->window = 0;
}

/* The number of the instruction's entry for a line; LINES_MAX: out of memory. */
static inline uint32_t line_find(const struct window *window, struct line_index *index,
                                 uint64_t line)
{
    struct access_log *log = &window->group->accesses;
    uint32_t at = (uint32_t)(line >> 6) * 0x9e3779b1u >> 22;
    _Static_assert(LINE_SLOTS == 1 << 10, "the hash has ten bits");
    for (; index->slots[at]; at = (at + 1) % LINE_SLOTS)
        if (log->items[window->first + index->slots[at] - 1].line_va == line)
            return index->slots[at] - 1u;
    if (index->count == LINES_MAX)
        return LINES_MAX;
    log_line(window->group, line, 0, window->kind, window->flags);
    if (log->count == window->first + index->count)
        return LINES_MAX;
    index->slots[at] = (uint16_t)(index->count + 1);
    index->windows[index->count] = 0;
    return index->count++;
}

/* Whether another lane of the instruction has some of these bytes. */
static bool lane_collides(const struct perf_line_access *entry, uint64_t bytes)
{
    return entry->bytes_mask_lo & (uint32_t)bytes || entry->bytes_mask_hi & (uint32_t)(bytes >> 32);
}

/* A lane of the window that is looked up touches these bytes of a line. True: the first one. */
static inline bool line_touch(const struct window *window, struct line_index *index, uint64_t line,
                              uint64_t bytes)
{
    uint32_t n = line_find(window, index, line);
    if (n == LINES_MAX)
        return false;
    struct perf_line_access *entry = &window->group->accesses.items[window->first + n];
    entry->conflicts += window->kind == ACCESS_ATOMIC && lane_collides(entry, bytes);
    entry->bytes_mask_lo |= (uint32_t)bytes;
    entry->bytes_mask_hi |= (uint32_t)(bytes >> 32);
    bool is_new = index->windows[n] != index->window;
    index->windows[n] = index->window;
    entry->tags += is_new;
    return is_new;
}

/* Look-ups of the lines that these lanes touch. */
static uint32_t window_look_up(const struct window *window, struct line_index *index,
                               uint64_t lanes)
{
    uint32_t count = 0, size_bytes = window->size_bytes;
    uint64_t element = line_bytes(0, size_bytes);
    index->window++;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t start = window->va[__builtin_ctzll(lanes)], last = start + size_bytes;
        if (__builtin_expect((start & 63) + size_bytes <= 64, 1)) {
            count += line_touch(window, index, start & ~63ull, element << (start & 63));
            continue;
        }
        for (uint64_t at = start; at < last; at = (at | 63) + 1) {
            uint64_t end = (at | 63) + 1 < last ? (at | 63) + 1 : last;
            count += line_touch(window, index, at & ~63ull, line_bytes(at, end));
        }
    }
    return count;
}

/* Quads without lanes are handed on like those that have coalesced. */
static uint32_t quads_handed_on(uint64_t lanes, uint32_t width, bool coalesced)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < width; at += LANES_PER_QUAD, lanes >>= LANES_PER_QUAD) {
        uint32_t active = (uint32_t)__builtin_popcountll(lanes & ((1 << LANES_PER_QUAD) - 1));
        count += coalesced || !active ? 1 : active;
    }
    return count;
}

static struct window window_of(const struct wave *wave, const struct inst *inst)
{
    struct workgroup *group = wave->group;
    return (struct window){
        .group = group,
        .kind = inst->flags & IF_ATOMIC  ? ACCESS_ATOMIC
                : inst->flags & IF_STORE ? ACCESS_WRITE
                                         : ACCESS_READ,
        .flags = (uint8_t)(access_flags(inst) | (time_sampled(wave, inst) ? ACCESS_SAMPLED : 0)),
        .tally = inst->tally,
        .first = group->accesses.count};
}

/* All windows of a wave; true: all of them have coalesced. */
static bool wave_look_up(const struct window *window, struct line_index *index, uint64_t lanes,
                         uint32_t *handed_on)
{
    uint32_t width = window_lanes(window->size_bytes);
    bool all_coalesced = true;
    for (uint32_t at = 0; at < WAVE_LANES; at += width) {
        uint64_t part = lanes & ((1ull << width) - 1) << at;
        bool coalesced = window_look_up(window, index, part) <= 1 && width == WINDOW_DWORD;
        *handed_on += quads_handed_on(part >> at, width, coalesced);
        all_coalesced &= coalesced || !part;
    }
    return all_coalesced;
}

static void window_end(const struct window *window, bool all_coalesced, uint32_t handed_on)
{
    struct access_log *log = &window->group->accesses;
    if (log->count == window->first)
        return;
    for (uint64_t i = window->first; i < log->count; i++)
        log->items[i].flags |= all_coalesced ? ACCESS_COALESCED : 0;
    log->items[window->first].lanes = (uint16_t)handed_on;
    log->items[window->first].tally = window->tally;
    log->items[window->first].flags |= ACCESS_FIRST;
}

/* All lanes' elements lie one behind the other. */
static bool is_span(const uint64_t *va, uint64_t lanes, uint32_t size_bytes)
{
    uint64_t differs = 0;
    if (lanes != ~0ull || va[WAVE_LANES - 1] - va[0] != (WAVE_LANES - 1) * (uint64_t)size_bytes)
        return false;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        differs |= va[lane] ^ (va[0] + lane * (uint64_t)size_bytes);
    return !differs;
}

/* Look-ups of a window of a span, which begins where the window before ended. */
static uint32_t span_look_up(const struct window *window, uint64_t start, uint64_t last)
{
    struct access_log *log = &window->group->accesses;
    uint32_t count = 0;
    for (uint64_t at = start; at < last; at = (at | 63) + 1, count++) {
        uint64_t end = (at | 63) + 1 < last ? (at | 63) + 1 : last, bytes = line_bytes(at, end);
        bool is_new =
            log->count == window->first || log->items[log->count - 1].line_va >> 6 != at >> 6;
        if (is_new)
            log_line(window->group, at & ~63ull, 0, window->kind, window->flags);
        if (log->count == window->first)
            return count; /* out of memory */
        struct perf_line_access *entry = &log->items[log->count - 1];
        entry->bytes_mask_lo |= (uint32_t)bytes;
        entry->bytes_mask_hi |= (uint32_t)(bytes >> 32);
        entry->tags++;
    }
    return count;
}

/* wave_look_up() of a full wave whose elements follow each other from `va` on. */
static bool span_look_ups(const struct window *window, uint64_t va, uint32_t *handed_on)
{
    uint32_t width = window_lanes(window->size_bytes);
    bool all_coalesced = true;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane += width) {
        uint64_t start = va + (uint64_t)lane * window->size_bytes;
        uint64_t last = start + (uint64_t)width * window->size_bytes;
        bool coalesced = span_look_up(window, start, last) <= 1 && width == WINDOW_DWORD;
        *handed_on += coalesced ? width / LANES_PER_QUAD : width;
        all_coalesced &= coalesced;
    }
    return all_coalesced;
}

/* The same of a span of whole lines, each of which has whole windows; false: it is none, or there
 * is no memory. */
static bool span_of_lines(const struct window *window, uint64_t va)
{
    struct access_log *log = &window->group->accesses;
    uint32_t size_bytes = window->size_bytes, width = window_lanes(size_bytes);
    uint32_t window_bytes = width * size_bytes, lines = size_bytes; /* of 64 lanes */
    bool coalesced = width == WINDOW_DWORD;
    if (va % 64 || !window_bytes || 64 % window_bytes || !log_reserve(log, lines))
        return false;
    const struct perf_line_access all = {
        .bytes_mask_lo = UINT32_MAX,
        .bytes_mask_hi = UINT32_MAX,
        .kind = (uint8_t)window->kind,
        .flags = (uint8_t)(window->flags | (coalesced ? ACCESS_COALESCED : 0)),
        .tags = (uint8_t)(64 / window_bytes)};
    struct perf_line_access *items = log->items + log->count;
    for (uint32_t n = 0; n < lines; n++) {
        items[n] = all;
        items[n].line_va = va + 64ull * n;
    }
    items[0].flags |= ACCESS_FIRST;
    items[0].tally = window->tally;
    items[0].lanes = coalesced ? WAVE_LANES / LANES_PER_QUAD : WAVE_LANES;
    log->count += lines;
    return true;
}

static void span_log(struct wave *wave, const struct inst *inst, uint64_t va, uint32_t size_bytes)
{
    uint32_t handed_on = 0;
    struct window window = window_of(wave, inst);
    window.size_bytes = size_bytes;
    if (span_of_lines(&window, va))
        return;
    bool coalesced = span_look_ups(&window, va, &handed_on);
    window_end(&window, coalesced, handed_on);
}

static void lanes_log(struct wave *wave, const struct inst *inst, const uint64_t *va,
                      uint64_t lanes, uint32_t size_bytes)
{
    uint32_t handed_on = 0;
    struct window window = window_of(wave, inst);
    struct line_index index;
    window.va = va;
    window.size_bytes = size_bytes;
    if (!lanes)
        log_line(wave->group, 0, 0, window.kind, window.flags | ACCESS_NOWHERE);
    index_begin(&index);
    bool coalesced = wave_look_up(&window, &index, lanes, &handed_on);
    window_end(&window, coalesced, handed_on);
}

void access_log_span(struct wave *wave, const struct inst *inst, uint64_t va, uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    time_note_span(group, inst, va, time_origin(group, va), WAVE_LANES * size_bytes);
    if (memory_watched(wave, inst))
        span_log(wave, inst, va, size_bytes);
}

void access_log_vector(struct wave *wave, const struct inst *inst, const uint64_t *va,
                       uint64_t lanes, uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    if (is_span(va, lanes, size_bytes)) {
        access_log_span(wave, inst, va[0], size_bytes);
        return;
    }
    time_note_lanes(group, inst, va, lanes,
                    lanes ? time_origin(group, va[__builtin_ctzll(lanes)]) : 0, size_bytes);
    if (memory_watched(wave, inst))
        lanes_log(wave, inst, va, lanes, size_bytes);
}

/* Where a wave's private memory begins: waves that run one after another in a place of a compute
 * unit have the same. */
static uint64_t private_va(const struct wave *wave)
{
    const struct workgroup *group = wave->group;
    const struct launch *launch = group->launch;
    uint64_t slot = group->index % launch->units * launch->capacity +
                    group->index / launch->units % launch->capacity;
    slot = slot * launch->waves_per_group + (uint64_t)(wave - group->waves);
    return SCRATCH_VA + slot * WAVE_LANES * launch->scratch_bytes;
}

/* Where the lanes' dwords number `row` of their elements lie. */
static void private_row(uint64_t base, const uint32_t *offset, uint32_t row, uint64_t *va)
{
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        va[lane] = base + ((uint64_t)offset[lane] / 4 + row) * (4 * WAVE_LANES) + 4 * lane;
}

/* The lanes' dwords lie side by side: each dword of an element is a row of its own. */
void access_log_private(struct wave *wave, const struct inst *inst, const uint32_t *offset,
                        uint64_t lanes, uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    uint64_t va[WAVE_LANES], base = private_va(wave);
    uint32_t handed_on = 0;
    bool coalesced = true, watched = memory_watched(wave, inst);
    struct window window = window_of(wave, inst);
    struct line_index index;
    window.va = va;
    window.size_bytes = size_bytes < 4 ? size_bytes : 4;
    if (watched)
        index_begin(&index);
    for (uint32_t row = 0; row < (size_bytes + 3) / 4; row++) {
        private_row(base, offset, row, va);
        time_note_lanes(group, inst, va, lanes, SCRATCH_VA, window.size_bytes);
        if (watched)
            coalesced &= wave_look_up(&window, &index, lanes, &handed_on);
    }
    if (watched)
        window_end(&window, coalesced, handed_on);
}
