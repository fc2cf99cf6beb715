/*
 * The log of cache-line requests, while counters want them or the instruction is sampled: what the
 * address unit makes of an instruction's lanes.
 */
#include <stddef.h>
#include <string.h>

#include "perf/cache.h"
#include "wave/access.h"
#include "wave/host_levels.h"
#include "wave/line_log.h"
#include "wave/time_note.h"

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

/* A mapping, and where it has its place. */
struct placed {
    uint64_t start, size, place;
};

/* The mapping that holds the address. Nobody's: the address is its own place, as it is in private
 * memory, and in accesses of nothing. */
static __attribute__((noinline)) struct placed placed_find(struct workgroup *group, uint64_t va)
{
    if (!va || va >= SCRATCH_VA)
        return (struct placed){va, 1, va};
    const uint64_t place = vm_place(group->reader, va);
    const struct vm_range *way = vm_way(group->reader, va);
    if (va - way->start >= way->end - way->start)
        return (struct placed){va, 1, place};
    return (struct placed){way->start, way->end - way->start, place - (va - way->start)};
}

/* Not while an instruction looks its own lines up by their addresses. Kernels mostly read one
 * mapping and write another. */
void access_log_place(struct workgroup *group)
{
    struct access_log *log = &group->accesses;
    struct perf_line_access *access = log->items + log->placed, *end = log->items + log->count;
    struct placed last = {0}, before = {0};
    for (; access != end; access++) {
        const uint64_t va = access->line_va;
        if (__builtin_expect(va - last.start >= last.size, 0)) {
            const struct placed other = last;
            last = va - before.start < before.size ? before : placed_find(group, va);
            before = other;
        }
        access->line_va = last.place + (va - last.start);
    }
    log->placed = log->count;
    memset(log->scalar_lines, 0, sizeof log->scalar_lines); /* mappings may be others from now on */
}

void access_log_scalar_lines(struct wave *wave, const struct inst *inst, uint64_t va,
                             uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    const uint64_t mapping = vm_way(group->reader, va)->start;
    for (uint64_t at = va; at < va + size_bytes; at = (at | 63) + 1) {
        uint64_t end = (at | 63) + 1 < va + size_bytes ? (at | 63) + 1 : va + size_bytes;
        if (line_log_scalar_has(&group->accesses, at & ~63ull, mapping))
            continue;
        fetch_note_before(wave, inst);
        line_log_scalar_note(&group->accesses, at & ~63ull, mapping);
        line_log_add(group, at & ~63ull, line_bytes(at, end), ACCESS_SCALAR_READ,
                     access_flags(inst));
    }
}

void access_log_scalar(struct wave *wave, const struct inst *inst, uint64_t va, uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    time_note_span(group, inst, va, time_origin_scalar(group, va), size_bytes);
    if (group->wants & PERF_WANT_MEMORY)
        access_log_scalar_lines(wave, inst, va, size_bytes);
}

void access_log_invalidate(struct wave *wave, const struct inst *inst)
{
    const struct workgroup *group = wave->group;
    if (!(group->wants & PERF_WANT_MEMORY) && !group->is_sampled)
        return;
    fetch_note_before(wave, inst);
    line_log_add(wave->group, 0, 0, ACCESS_INVALIDATE, group->is_sampled ? ACCESS_SAMPLED : 0);
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
};

static inline uint32_t window_lanes(uint32_t size_bytes)
{
    return size_bytes <= 4 ? WINDOW_DWORD : WINDOW_WIDE;
}

/* The entries of an instruction whose lanes lie anywhere, of which each may cross a line: 64, or in
 * private memory four dwords of as many. At most half of the slots are used. */
enum {
    LINES = 2 * WAVE_LANES,
    LINE_SLOT_BITS = 8,
    LINES_PRIVATE = 4 * LINES,
    LINE_SLOT_BITS_PRIVATE = 10,
};
_Static_assert(1 << LINE_SLOT_BITS == 2 * LINES, "the hash has eight bits");
_Static_assert(1 << LINE_SLOT_BITS_PRIVATE == 2 * LINES_PRIVATE, "the hash has ten bits");
struct line_index {
    struct perf_line_access *items; /* the instruction's */
    uint64_t blank;                 /* what they say at first, from `kind` on */
    uint32_t count;
    uint8_t window;
    uint64_t of_rams; /* lines of this window in each tag RAM, sixteen bits each; if asked for */
};
struct line_slots {
    uint8_t windows[LINES_PRIVATE]; /* [entry]: the last one that has looked it up */
    uint16_t
        of[1 << LINE_SLOT_BITS_PRIVATE]; /* number of the entry + 1; 0: free. Open addressing */
};

/* False: there is no memory for the entries. */
static bool index_begin(struct line_index *index, struct line_slots *slots,
                        const struct window *window, uint32_t slot_bits)
{
    struct access_log *log = &window->group->accesses;
    if (!line_log_reserve(log, (uint64_t)1 << (slot_bits - 1)))
        return false;
    const struct perf_line_access blank = {.kind = window->kind, .flags = window->flags, .tags = 1};
    _Static_assert(sizeof blank - offsetof(struct perf_line_access, kind) == sizeof index->blank &&
                       offsetof(struct perf_line_access, bytes_mask_hi) ==
                           offsetof(struct perf_line_access, bytes_mask_lo) + sizeof(uint32_t),
                   "an entry is three words");
    *index = (struct line_index){.items = log->items + log->count};
    memcpy(&index->blank, &blank.kind, sizeof index->blank);
    memset(slots->of, 0, sizeof slots->of[0] << slot_bits);
    return true;
}

/* Whether another lane of the instruction has some of these bytes. */
static bool lane_collides(const struct perf_line_access *entry, uint64_t bytes)
{
    return entry->bytes_mask_lo & (uint32_t)bytes || entry->bytes_mask_hi & (uint32_t)(bytes >> 32);
}

/* A line that has its entry. True: this window has not looked it up. */
static inline bool line_again(struct perf_line_access *entry, uint8_t *last, uint8_t window,
                              uint64_t bytes)
{
    const bool is_new = *last != window;
    entry->conflicts += entry->kind == ACCESS_ATOMIC && lane_collides(entry, bytes);
    entry->bytes_mask_lo |= (uint32_t)bytes;
    entry->bytes_mask_hi |= (uint32_t)(bytes >> 32);
    entry->tags += is_new;
    *last = window;
    return is_new;
}

/* A lane of the window that is looked up touches these bytes of a line. True: the first one. */
ALWAYS_INLINE bool line_touch(struct line_index *index, struct line_slots *slots,
                              uint32_t slot_bits, uint64_t line, uint64_t bytes)
{
    uint32_t at = (uint32_t)(line >> 6) * 0x9e3779b1u >> (32 - slot_bits), n;
    while (__builtin_expect((n = slots->of[at]) != 0, 0)) {
        struct perf_line_access *entry = &index->items[n - 1];
        if (entry->line_va == line)
            return line_again(entry, &slots->windows[n - 1], index->window, bytes);
        at = (at + 1) & ((1u << slot_bits) - 1);
    }
    if (__builtin_expect(index->count == 1u << (slot_bits - 1), 0))
        return false; /* more than elements of four dwords have */
    struct perf_line_access *entry = &index->items[index->count];
    entry->line_va = line;
    memcpy(&entry->bytes_mask_lo, &bytes, sizeof bytes);
    memcpy(&entry->kind, &index->blank, sizeof index->blank);
    slots->windows[index->count] = index->window;
    slots->of[at] = (uint16_t)++index->count;
    return true;
}

/*
 * Four tag RAMs look lines up at once, each those whose numbers have its own low bits (assumed:
 * nothing is published of how lines fall to them).
 */
enum { TAG_RAMS = 4, RAM_BITS = 16 };
ALWAYS_INLINE uint32_t line_note(struct line_index *index, struct line_slots *slots,
                                 uint32_t slot_bits, bool rams, uint64_t line, uint64_t bytes)
{
    const bool is_new = line_touch(index, slots, slot_bits, line, bytes);
    if (rams)
        index->of_rams += (uint64_t)is_new << (line >> 6) % TAG_RAMS * RAM_BITS;
    return is_new;
}

ALWAYS_INLINE uint32_t lane_look_up(uint64_t start, uint32_t size_bytes, struct line_index *index,
                                    struct line_slots *slots, uint32_t slot_bits, bool rams)
{
    const uint64_t element = line_bytes(0, size_bytes), last = start + size_bytes;
    uint32_t count = 0;
    if (__builtin_expect((start & 63) + size_bytes <= 64, 1))
        return line_note(index, slots, slot_bits, rams, start & ~63ull, element << (start & 63));
    for (uint64_t at = start; at < last; at = (at | 63) + 1) {
        uint64_t end = (at | 63) + 1 < last ? (at | 63) + 1 : last;
        count += line_note(index, slots, slot_bits, rams, at & ~63ull, line_bytes(at, end));
    }
    return count;
}

/* Look-ups of the lines that lanes of a window touch, whose elements these are. */
ALWAYS_INLINE uint32_t window_look_up(const uint64_t *va, uint32_t width, uint64_t lanes,
                                      uint32_t size_bytes, struct line_index *index,
                                      struct line_slots *slots, uint32_t slot_bits, bool rams)
{
    uint32_t count = 0;
    index->window++;
    index->of_rams = 0;
    if (lanes == (1ull << width) - 1)
        for (const uint64_t *const end = va + width; va < end; va++)
            count += lane_look_up(*va, size_bytes, index, slots, slot_bits, rams);
    else
        for (; lanes; lanes &= lanes - 1)
            count +=
                lane_look_up(va[__builtin_ctzll(lanes)], size_bytes, index, slots, slot_bits, rams);
    return count;
}

/* Quads without lanes are handed on like those that have coalesced. */
static uint32_t quads_handed_on(uint64_t lanes, uint32_t width, bool coalesced)
{
    uint32_t quads = width / LANES_PER_QUAD;
    uint64_t busy = lanes | lanes >> 1;
    if (coalesced)
        return quads;
    busy = (busy | busy >> 2) & 0x1111111111111111ull;
    return (uint32_t)__builtin_popcountll(lanes) + quads - (uint32_t)__builtin_popcountll(busy);
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
        .tally = inst->tally};
}

/* Cycles that a window's lines take longer than if they were spread over all RAMs. */
static inline uint32_t rams_conflicts(uint64_t of_rams)
{
    uint32_t most = 0, count = 0;
    for (uint32_t ram = 0; ram < TAG_RAMS; ram++) {
        const uint32_t lines = of_rams >> ram * RAM_BITS & ((1u << RAM_BITS) - 1);
        most = lines > most ? lines : most;
        count += lines;
    }
    return most - (count + TAG_RAMS - 1) / TAG_RAMS;
}

/* The first line of an instruction has what its windows take longer. */
static void conflicts_add(const struct line_index *index, uint32_t conflicts)
{
    if (!index->count)
        return;
    conflicts += index->items[0].conflicts;
    index->items[0].conflicts = (uint8_t)(conflicts < UINT8_MAX ? conflicts : UINT8_MAX);
}

/* All windows of a wave; true: all of them have coalesced. The index is here meanwhile: what is
 * written might be it. */
ALWAYS_INLINE bool windows_look_up(const struct window *window, struct line_index *index,
                                   struct line_slots *slots, uint32_t slot_bits, uint64_t lanes,
                                   bool rams, uint32_t *handed_on)
{
    const uint32_t width = window_lanes(window->size_bytes);
    struct line_index own = *index;
    bool all_coalesced = true;
    uint32_t handed = 0, conflicts = 0;
    for (uint32_t at = 0; at < WAVE_LANES; at += width) {
        const uint64_t part = lanes >> at & ((1ull << width) - 1);
        const uint32_t count = window_look_up(window->va + at, width, part, window->size_bytes,
                                              &own, slots, slot_bits, rams);
        const bool coalesced = count <= 1 && width == WINDOW_DWORD;
        handed += quads_handed_on(part, width, coalesced);
        if (rams)
            conflicts += rams_conflicts(own.of_rams);
        all_coalesced &= coalesced || !part;
    }
    *index = own;
    *handed_on += handed;
    if (rams)
        conflicts_add(index, conflicts);
    return all_coalesced;
}

/* Lines of 128 bytes in tag RAMs: their halves stand in entries of their own. */
enum { WINDOW_LINES = 2 * WINDOW_DWORD };
static uint32_t window_conflicts(const uint64_t *va, uint64_t lanes, uint32_t size_bytes,
                                 uint32_t line_shift)
{
    uint64_t lines[TAG_RAMS][WINDOW_LINES], of_rams = 0;
    uint32_t of_ram[TAG_RAMS] = {0};
    for (; lanes; lanes &= lanes - 1) {
        const uint64_t at = va[__builtin_ctzll(lanes)];
        for (uint64_t n = at >> line_shift; n <= (at + size_bytes - 1) >> line_shift; n++) {
            uint64_t *own = lines[n % TAG_RAMS];
            uint32_t *end = &of_ram[n % TAG_RAMS], known = 0;
            while (known < *end && own[known] != n)
                known++;
            if (known < *end || known == WINDOW_LINES)
                continue;
            own[(*end)++] = n;
            of_rams += UINT64_C(1) << n % TAG_RAMS * RAM_BITS;
        }
    }
    return rams_conflicts(of_rams);
}

static void wide_conflicts(const struct window *window, const struct line_index *index,
                           uint64_t lanes)
{
    const uint32_t width = window_lanes(window->size_bytes);
    uint32_t conflicts = 0;
    for (uint32_t at = 0; at < WAVE_LANES; at += width)
        conflicts += window_conflicts(window->va + at, lanes >> at & ((1ull << width) - 1),
                                      window->size_bytes, window->group->launch->l1_line_shift);
    conflicts_add(index, conflicts);
}

/* The same, with tag RAMs' conflicts of instructions that are sampled. */
ALWAYS_INLINE bool wave_look_up(const struct window *window, struct line_index *index,
                                struct line_slots *slots, uint32_t slot_bits, uint64_t lanes,
                                uint32_t *handed_on)
{
    enum { LINE_SHIFT = 6 }; /* of entries */
    const bool conflicts = window->flags & ACCESS_SAMPLED && window->kind != ACCESS_ATOMIC && lanes;
    if (conflicts && window->group->launch->l1_line_shift == LINE_SHIFT)
        return windows_look_up(window, index, slots, slot_bits, lanes, true, handed_on);
    const bool all = windows_look_up(window, index, slots, slot_bits, lanes, false, handed_on);
    if (conflicts)
        wide_conflicts(window, index, lanes);
    return all;
}

static void window_end(const struct window *window, const struct line_index *index,
                       bool all_coalesced, uint32_t handed_on)
{
    if (!index->count)
        return;
    for (uint32_t i = 0; all_coalesced && i < index->count; i++)
        index->items[i].flags |= ACCESS_COALESCED;
    index->items[0].lanes = (uint16_t)handed_on;
    index->items[0].tally = window->tally;
    index->items[0].flags |= ACCESS_FIRST;
    window->group->accesses.count += index->count;
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

/* What is handed on of a full wave whose elements follow each other; *all: all have coalesced. */
static uint32_t span_handed_on(uint64_t va, uint32_t size_bytes, bool *all)
{
    uint32_t window_bytes = WINDOW_DWORD * size_bytes, handed_on = 0;
    *all = window_lanes(size_bytes) == WINDOW_DWORD && (size_bytes < 4 || va % 64 == 0);
    if (!*all && size_bytes >= 4) /* sixteen dwords fill a line */
        return WAVE_LANES;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane += WINDOW_DWORD, va += window_bytes) {
        bool coalesced = !((va ^ (va + window_bytes - 1)) >> 6);
        handed_on += coalesced ? WINDOW_DWORD / LANES_PER_QUAD : WINDOW_DWORD;
        *all &= coalesced;
    }
    return handed_on;
}

/* What the full wave's elements cover, in windows of so many bytes, of which the shift is log2 if
 * there is one. */
struct span {
    uint64_t va, last;
    uint32_t window_bytes, window_shift;
};

/* The lines of a span of any kind. */
static uint32_t span_lines(struct perf_line_access *items, struct perf_line_access blank,
                           const struct span *span)
{
    uint32_t count = 0;
    for (uint64_t at = span->va, end; at < span->last; at = end, count++) {
        end = (at | 63) + 1 < span->last ? (at | 63) + 1 : span->last;
        uint64_t bytes = line_bytes(at, end);
        uint32_t from = (uint32_t)(at - span->va), to = (uint32_t)(end - 1 - span->va);
        blank.line_va = at & ~63ull;
        blank.bytes_mask_lo = (uint32_t)bytes;
        blank.bytes_mask_hi = (uint32_t)(bytes >> 32);
        blank.tags = (uint8_t)(to / span->window_bytes - from / span->window_bytes + 1);
        items[count] = blank;
    }
    return count;
}

/* One line of a span, or a part of it. */
static inline void span_part(struct perf_line_access *item, struct perf_line_access blank,
                             const struct span *span, uint64_t at, uint64_t end)
{
    uint64_t bytes = line_bytes(at, end);
    blank.line_va = at & ~63ull;
    blank.bytes_mask_lo = (uint32_t)bytes;
    blank.bytes_mask_hi = (uint32_t)(bytes >> 32);
    blank.tags = (uint8_t)(((end - 1 - span->va) >> span->window_shift) -
                           ((at - span->va) >> span->window_shift) + 1);
    *item = blank;
}

/* The same where windows have powers of two of bytes: its whole lines are all looked up as often,
 * and stand in one entry for each block. */
static uint32_t span_runs(struct perf_line_access *items, struct perf_line_access blank,
                          const struct span *span)
{
    uint64_t at = (span->va + 63) & ~63ull, end = span->last & ~63ull;
    uint32_t count = 0;
    if (at != span->va)
        span_part(&items[count++], blank, span, span->va, at);
    if (at < end)
        span_part(&blank, blank, span, at, at + 64);
    for (uint64_t next; at < end; at = next) {
        next = (at | (CACHE_BLOCK_BYTES - 1)) + 1 < end ? (at | (CACHE_BLOCK_BYTES - 1)) + 1 : end;
        blank.line_va = at;
        blank.more = (uint8_t)((next - at) / 64 - 1);
        items[count++] = blank;
    }
    blank.more = 0;
    if (end != span->last)
        span_part(&items[count++], blank, span, end, span->last);
    return count;
}

/* The same of whole blocks. */
static uint32_t span_blocks(struct perf_line_access *items, struct perf_line_access blank,
                            const struct span *span)
{
    uint32_t blocks = (uint32_t)(span->last - span->va) / CACHE_BLOCK_BYTES;
    blank.bytes_mask_lo = blank.bytes_mask_hi = UINT32_MAX;
    blank.tags = (uint8_t)(64 >> span->window_shift);
    blank.more = CACHE_BLOCK_BYTES / 64 - 1;
    for (uint32_t n = 0; n < blocks; n++) {
        blank.line_va = span->va + CACHE_BLOCK_BYTES * (uint64_t)n;
        items[n] = blank;
    }
    return blocks;
}

void access_log_span_lines(struct wave *wave, const struct inst *inst, uint64_t va,
                           uint32_t size_bytes)
{
    struct window window = window_of(wave, inst);
    struct access_log *log = &wave->group->accesses;
    uint32_t window_bytes = window_lanes(size_bytes) * size_bytes, bytes = WAVE_LANES * size_bytes;
    bool coalesced = window_lanes(size_bytes) == WINDOW_DWORD;
    bool is_power = !(window_bytes & (window_bytes - 1)); /* but for elements of three dwords */
    struct span span = {va, va + bytes, window_bytes, (uint32_t)__builtin_ctz(window_bytes)};
    if (!bytes || !line_log_reserve(log, bytes / 64 + 2))
        return;
    struct perf_line_access *items = log->items + log->count, blank = {.kind = window.kind};
    uint32_t handed_on = coalesced ? WAVE_LANES / LANES_PER_QUAD : WAVE_LANES;
    if (va % 64 || !is_power) /* else windows lie within lines */
        handed_on = span_handed_on(va, size_bytes, &coalesced);
    blank.flags = (uint8_t)(window.flags | (coalesced ? ACCESS_COALESCED : 0));
    if (!is_power || window.kind == ACCESS_ATOMIC)
        log->count += span_lines(items, blank, &span);
    else if ((va | bytes) % CACHE_BLOCK_BYTES)
        log->count += span_runs(items, blank, &span);
    else
        log->count += span_blocks(items, blank, &span);
    items->flags |= ACCESS_FIRST;
    items->tally = window.tally;
    items->lanes = (uint16_t)handed_on;
}

static void lanes_log(struct wave *wave, const struct inst *inst, const uint64_t *va,
                      uint64_t lanes, uint32_t size_bytes)
{
    uint32_t handed_on = 0;
    struct window window = window_of(wave, inst);
    struct line_index index;
    struct line_slots slots;
    window.va = va;
    window.size_bytes = size_bytes;
    if (!index_begin(&index, &slots, &window, LINE_SLOT_BITS))
        return;
    if (!lanes) {
        index.items[index.count++] = (struct perf_line_access){
            .kind = window.kind, .flags = (uint8_t)(window.flags | ACCESS_NOWHERE)};
    }
    bool coalesced = wave_look_up(&window, &index, &slots, LINE_SLOT_BITS, lanes, &handed_on);
    window_end(&window, &index, coalesced, handed_on);
}

void access_log_span(struct wave *wave, const struct inst *inst, uint64_t va, uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    if (!memory_noted(group))
        return;
    if (group->sample_limit)
        time_note_span(group, inst, va, time_origin(group, va), WAVE_LANES * size_bytes);
    if (!memory_watched(wave, inst))
        return;
    fetch_note_before(wave, inst);
    access_log_span_lines(wave, inst, va, size_bytes);
}

void access_log_vector(struct wave *wave, const struct inst *inst, const uint64_t *va,
                       uint64_t lanes, uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    if (!memory_noted(group))
        return;
    if (is_span(va, lanes, size_bytes)) {
        access_log_span(wave, inst, va[0], size_bytes);
        return;
    }
    if (group->sample_limit)
        time_note_lanes(group, inst, va, lanes,
                        lanes ? time_origin(group, va[__builtin_ctzll(lanes)]) : 0, size_bytes);
    if (!memory_watched(wave, inst))
        return;
    fetch_note_before(wave, inst);
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
    if (!memory_noted(group))
        return;
    uint64_t va[WAVE_LANES], base = private_va(wave);
    uint32_t handed_on = 0;
    bool coalesced = true, watched = memory_watched(wave, inst);
    struct window window = window_of(wave, inst);
    struct line_index index = {.items = NULL};
    struct line_slots slots;
    window.va = va;
    window.size_bytes = size_bytes < 4 ? size_bytes : 4;
    if (watched)
        fetch_note_before(wave, inst);
    watched = watched && index_begin(&index, &slots, &window, LINE_SLOT_BITS_PRIVATE);
    for (uint32_t row = 0; row < (size_bytes + 3) / 4; row++) {
        private_row(base, offset, row, va);
        if (group->sample_limit)
            time_note_lanes(group, inst, va, lanes, SCRATCH_VA, window.size_bytes);
        if (!watched)
            continue;
        coalesced &=
            wave_look_up(&window, &index, &slots, LINE_SLOT_BITS_PRIVATE, lanes, &handed_on);
    }
    if (watched)
        window_end(&window, &index, coalesced, handed_on);
}
