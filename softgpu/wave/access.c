#include "wave/access.h"

#include "wave/time_note.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/float_bits.h"
#include "isa_ops.h"

static const struct {
    const char *stem;
    uint8_t kind, type;
} atomic_stems[] = {
    {"swap", ATOMIC_SWAP, ATOMIC_UINT},     {"cmpswap", ATOMIC_CMPSWAP, ATOMIC_UINT},
    {"add", ATOMIC_ADD, ATOMIC_UINT},       {"sub", ATOMIC_SUB, ATOMIC_UINT},
    {"rsub", ATOMIC_RSUB, ATOMIC_UINT},     {"smin", ATOMIC_MIN, ATOMIC_INT},
    {"umin", ATOMIC_MIN, ATOMIC_UINT},      {"smax", ATOMIC_MAX, ATOMIC_INT},
    {"umax", ATOMIC_MAX, ATOMIC_UINT},      {"and", ATOMIC_AND, ATOMIC_UINT},
    {"or", ATOMIC_OR, ATOMIC_UINT},         {"xor", ATOMIC_XOR, ATOMIC_UINT},
    {"inc", ATOMIC_INC, ATOMIC_UINT},       {"dec", ATOMIC_DEC, ATOMIC_UINT},
    {"min", ATOMIC_MIN, ATOMIC_UINT},       {"max", ATOMIC_MAX, ATOMIC_UINT},
    {"pk_add", ATOMIC_ADD, ATOMIC_UINT},    {"wrxchg", ATOMIC_SWAP, ATOMIC_UINT},
    {"cmpst", ATOMIC_CMPSWAP, ATOMIC_UINT}, {"mskor", ATOMIC_MSKOR, ATOMIC_UINT},
    {"wrap", ATOMIC_WRAP, ATOMIC_UINT},
};

/* Type suffixes: "" is what global atomics use for 32-bit integers, "_x2" for 64-bit ones. */
static const struct {
    const char *suffix;
    uint8_t bytes;
    int8_t type; /* -1: the stem's */
} atomic_suffixes[] = {
    {"", 4, -1},
    {"_x2", 8, -1},
    {"_u32", 4, ATOMIC_UINT},
    {"_b32", 4, ATOMIC_UINT},
    {"_i32", 4, ATOMIC_INT},
    {"_u64", 8, ATOMIC_UINT},
    {"_b64", 8, ATOMIC_UINT},
    {"_i64", 8, ATOMIC_INT},
    {"_f32", 4, ATOMIC_FLOAT},
    {"_f64", 8, ATOMIC_FLOAT},
    {"_f16", 4, ATOMIC_PK_F16},
    {"_bf16", 4, ATOMIC_PK_BF16},
};

static bool parse_suffix(const char *text, struct atomic_op *op)
{
    if (strncmp(text, "_rtn", 4) == 0)
        text += 4;
    for (size_t i = 0; i < sizeof atomic_suffixes / sizeof atomic_suffixes[0]; i++) {
        if (strcmp(text, atomic_suffixes[i].suffix) != 0)
            continue;
        op->bytes = atomic_suffixes[i].bytes;
        if (atomic_suffixes[i].type >= 0)
            op->type = (uint8_t)atomic_suffixes[i].type;
        return true;
    }
    return false;
}

bool atomic_op_find(const struct inst *inst, struct atomic_op *op)
{
    const char *name = isa_op_names[inst->op], *at = strstr(name, "atomic_");
    at = at ? at + 7 : strncmp(name, "ds_", 3) == 0 ? name + 3 : NULL;
    for (size_t i = 0; at && i < sizeof atomic_stems / sizeof atomic_stems[0]; i++) {
        size_t length = strlen(atomic_stems[i].stem);
        op->kind = atomic_stems[i].kind;
        op->type = atomic_stems[i].type;
        if (strncmp(at, atomic_stems[i].stem, length) == 0 && parse_suffix(at + length, op))
            return true;
    }
    return false;
}

/* IEEE minNum and maxNum with -0 below +0; a NaN loses against a number. */
static bool float_less(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

static double float_select(enum atomic_kind kind, double old, double data)
{
    if (isnan(old))
        return data;
    if (isnan(data))
        return old;
    bool take = kind == ATOMIC_MIN ? float_less(data, old) : float_less(old, data);
    return take ? data : old;
}

static uint64_t compute_float(const struct atomic_op *op, uint64_t old, uint64_t data,
                              uint64_t compare)
{
    bool wide = op->bytes == 8;
    double a = wide ? f64_of(old) : f32_of((uint32_t)old),
           b = wide ? f64_of(data) : f32_of((uint32_t)data);
    switch (op->kind) {
    case ATOMIC_ADD:
        return wide ? f64_bits(a + b) : f32_bits(f32_of((uint32_t)old) + f32_of((uint32_t)data));
    case ATOMIC_MIN:
    case ATOMIC_MAX: {
        double r = float_select(op->kind, a, b);
        return wide ? f64_bits(r) : f32_bits((float)r);
    }
    case ATOMIC_CMPSWAP: /* floating-point equality, so -0 matches +0 */
        return (wide ? a == f64_of(compare) : a == (double)f32_of((uint32_t)compare)) ? data : old;
    default:
        return data;
    }
}

static float f16_to_f32(uint16_t h)
{
    _Float16 value;
    memcpy(&value, &h, sizeof value);
    return (float)value;
}

static uint16_t f32_to_f16(float f)
{
    _Float16 value = (_Float16)f; /* the sum of two halves is exact in f32 up to this rounding */
    uint16_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint16_t f32_to_bf16(float f)
{
    uint32_t bits = f32_bits(f);
    if (isnan(f))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint64_t compute_packed(const struct atomic_op *op, uint64_t old, uint64_t data)
{
    uint64_t result = 0;
    for (int half = 0; half < 2; half++) {
        uint16_t a = (uint16_t)(old >> 16 * half), b = (uint16_t)(data >> 16 * half), sum;
        if (op->type == ATOMIC_PK_F16)
            sum = f32_to_f16(f16_to_f32(a) + f16_to_f32(b));
        else
            sum = f32_to_bf16(f32_of((uint32_t)a << 16) + f32_of((uint32_t)b << 16));
        result |= (uint64_t)sum << 16 * half;
    }
    return result;
}

static int64_t as_signed(const struct atomic_op *op, uint64_t value)
{
    return op->bytes == 8 ? (int64_t)value : (int32_t)value;
}

static uint64_t compute_minmax(const struct atomic_op *op, uint64_t old, uint64_t data)
{
    bool less = op->type == ATOMIC_INT ? as_signed(op, data) < as_signed(op, old) : data < old;
    bool more = op->type == ATOMIC_INT ? as_signed(op, data) > as_signed(op, old) : data > old;
    return (op->kind == ATOMIC_MIN ? less : more) ? data : old;
}

uint64_t atomic_compute(const struct atomic_op *op, uint64_t old, uint64_t data, uint64_t compare)
{
    if (op->type == ATOMIC_FLOAT)
        return compute_float(op, old, data, compare);
    if (op->type == ATOMIC_PK_F16 || op->type == ATOMIC_PK_BF16)
        return compute_packed(op, old, data);
    switch (op->kind) {
    case ATOMIC_SWAP:
        return data;
    case ATOMIC_CMPSWAP:
        return old == compare ? data : old;
    case ATOMIC_ADD:
        return old + data;
    case ATOMIC_SUB:
        return old - data;
    case ATOMIC_RSUB:
        return data - old;
    case ATOMIC_MIN:
    case ATOMIC_MAX:
        return compute_minmax(op, old, data);
    case ATOMIC_AND:
        return old & data;
    case ATOMIC_OR:
        return old | data;
    case ATOMIC_XOR:
        return old ^ data;
    case ATOMIC_INC:
        return old >= data ? 0 : old + 1;
    case ATOMIC_DEC:
        return old == 0 || old > data ? data : old - 1;
    case ATOMIC_MSKOR: /* data: bits to clear, compare: bits to set */
        return (old & ~data) | compare;
    case ATOMIC_WRAP:
        return old >= data ? old - data : old + compare;
    default:
        return old;
    }
}

static uint64_t apply32(const struct atomic_op *op, uint32_t *host, uint64_t data, uint64_t compare)
{
    if (op->kind == ATOMIC_ADD && op->type == ATOMIC_UINT)
        return __atomic_fetch_add(host, (uint32_t)data, __ATOMIC_ACQ_REL);
    uint32_t old = __atomic_load_n(host, __ATOMIC_RELAXED), new;
    do {
        new = (uint32_t)atomic_compute(op, old, data, compare);
    } while (
        !__atomic_compare_exchange_n(host, &old, new, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return old;
}

static uint64_t apply64(const struct atomic_op *op, uint64_t *host, uint64_t data, uint64_t compare)
{
    if (op->kind == ATOMIC_ADD && op->type == ATOMIC_UINT)
        return __atomic_fetch_add(host, data, __ATOMIC_ACQ_REL);
    uint64_t old = __atomic_load_n(host, __ATOMIC_RELAXED), new;
    do {
        new = atomic_compute(op, old, data, compare);
    } while (
        !__atomic_compare_exchange_n(host, &old, new, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return old;
}

uint64_t atomic_apply(const struct atomic_op *op, void *host, uint64_t data, uint64_t compare)
{
    /* Shared with other waves, other devices and the host: acquire-release, like the host's own. */
    return op->bytes == 8 ? apply64(op, host, data, compare)
                          : apply32(op, host, (uint32_t)data, (uint32_t)compare);
}

void atomic_split_compare(const struct atomic_op *op, uint64_t data[2])
{
    if (op->kind == ATOMIC_CMPSWAP && op->bytes == 4) {
        data[1] = data[0] >> 32;
        data[0] = (uint32_t)data[0];
    }
}

/* Element by the mnemonic's last words. */
static const struct {
    const char *suffix;
    struct element element;
} elements[] = {
    {"_ubyte", {1, 1, false, false, false}},    {"_sbyte", {1, 1, true, false, false}},
    {"_ushort", {2, 1, false, false, false}},   {"_sshort", {2, 1, true, false, false}},
    {"_ubyte_d16", {1, 1, false, true, false}}, {"_ubyte_d16_hi", {1, 1, false, true, true}},
    {"_sbyte_d16", {1, 1, true, true, false}},  {"_sbyte_d16_hi", {1, 1, true, true, true}},
    {"_short_d16", {2, 1, false, true, false}}, {"_short_d16_hi", {2, 1, false, true, true}},
    {"_byte", {1, 1, false, false, false}},     {"_byte_d16_hi", {1, 1, false, true, true}},
    {"_short", {2, 1, false, false, false}},    {"_dword", {4, 1, false, false, false}},
    {"_dwordx2", {8, 2, false, false, false}},  {"_dwordx3", {12, 3, false, false, false}},
    {"_dwordx4", {16, 4, false, false, false}}, {"_b8", {1, 1, false, false, false}},
    {"_b16", {2, 1, false, false, false}},      {"_b8_d16_hi", {1, 1, false, true, true}},
    {"_b16_d16_hi", {2, 1, false, true, true}}, {"_b32", {4, 1, false, false, false}},
    {"_b64", {8, 2, false, false, false}},      {"_b96", {12, 3, false, false, false}},
    {"_b128", {16, 4, false, false, false}},    {"_u8", {1, 1, false, false, false}},
    {"_i8", {1, 1, true, false, false}},        {"_u16", {2, 1, false, false, false}},
    {"_i16", {2, 1, true, false, false}},       {"_u8_d16", {1, 1, false, true, false}},
    {"_u8_d16_hi", {1, 1, false, true, true}},  {"_i8_d16", {1, 1, true, true, false}},
    {"_i8_d16_hi", {1, 1, true, true, true}},   {"_u16_d16", {2, 1, false, true, false}},
    {"_u16_d16_hi", {2, 1, false, true, true}},
};

bool element_find(const struct inst *inst, struct element *element)
{
    const char *name = isa_op_names[inst->op];
    size_t length = strlen(name), best = 0;
    if (strstr(name, "_src2"))
        return false; /* memory to memory: no data register */
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        size_t n = strlen(elements[i].suffix);
        if (n > best && n < length && strcmp(name + length - n, elements[i].suffix) == 0) {
            best = n;
            *element = elements[i].element;
        }
    }
    return best > 0;
}

bool inst_keep_element(struct inst *inst)
{
    struct element element;
    _Static_assert(sizeof element <= sizeof inst->aux, "kept in aux");
    if (!element_find(inst, &element))
        return false;
    memcpy(inst->aux, &element, sizeof element);
    return true;
}

bool inst_keep_atomic(struct inst *inst)
{
    struct atomic_op op;
    _Static_assert(sizeof op <= sizeof inst->aux, "kept in aux");
    if (!atomic_op_find(inst, &op))
        return false;
    memcpy(inst->aux, &op, sizeof op);
    return true;
}

static struct perf_line_access *log_slot(struct access_log *log)
{
    if (log->count == log->capacity) {
        uint64_t capacity = log->capacity ? log->capacity * 2 : 256;
        void *items = realloc(log->items, capacity * sizeof *log->items);
        if (!items)
            return NULL; /* the counters lose this request; the program does not */
        log->items = items;
        log->capacity = capacity;
    }
    return &log->items[log->count++];
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
    struct perf_line_access *slot = log_slot(&group->accesses);
    if (slot)
        *slot = (struct perf_line_access){.line_va = line_va,
                                          .bytes_mask_lo = (uint32_t)bytes,
                                          .bytes_mask_hi = (uint32_t)(bytes >> 32),
                                          .kind = kind,
                                          .flags = flags};
}

void access_log_scalar(struct wave *wave, const struct inst *inst, uint64_t va, uint32_t size_bytes)
{
    time_note_span(wave->group, inst, va, size_bytes);
    if (!(wave->group->wants & PERF_WANT_MEMORY))
        return;
    for (uint64_t at = va; at < va + size_bytes; at = (at | 63) + 1) {
        uint64_t end = (at | 63) + 1 < va + size_bytes ? (at | 63) + 1 : va + size_bytes;
        log_line(wave->group, at & ~63ull, line_bytes(at, end), ACCESS_SCALAR_READ,
                 access_flags(inst));
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

/* The log's entry for a line of this instruction; NULL: out of memory. */
static struct perf_line_access *line_find(const struct window *window, uint64_t line)
{
    struct access_log *log = &window->group->accesses;
    uint64_t n = log->count;
    while (n > window->first && log->items[n - 1].line_va != line)
        n--;
    if (n > window->first)
        return &log->items[n - 1];
    log_line(window->group, line, 0, window->kind, window->flags);
    return log->count == n ? NULL : &log->items[log->count - 1];
}

/* Whether another lane of the instruction has some of these bytes. */
static bool lane_collides(const struct perf_line_access *entry, uint64_t bytes)
{
    return entry->bytes_mask_lo & (uint32_t)bytes || entry->bytes_mask_hi & (uint32_t)(bytes >> 32);
}

/* Look-ups of the lines that these lanes touch; `seen` holds those of this window. */
static uint32_t window_look_up(const struct window *window, uint64_t lanes)
{
    uint64_t seen[2 * WINDOW_DWORD + 2];
    uint32_t count = 0;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t start = window->va[__builtin_ctzll(lanes)], last = start + window->size_bytes;
        for (uint64_t at = start; at < last; at = (at | 63) + 1) {
            uint64_t end = (at | 63) + 1 < last ? (at | 63) + 1 : last;
            uint64_t line = at & ~63ull, bytes = line_bytes(at, end);
            struct perf_line_access *entry = line_find(window, line);
            uint32_t n = 0;
            if (!entry)
                continue;
            entry->conflicts += window->kind == ACCESS_ATOMIC && lane_collides(entry, bytes);
            entry->bytes_mask_lo |= (uint32_t)bytes;
            entry->bytes_mask_hi |= (uint32_t)(bytes >> 32);
            while (n < count && seen[n] != line)
                n++;
            if (n < count)
                continue;
            seen[count++] = line;
            entry->tags++;
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
static bool wave_look_up(const struct window *window, uint64_t lanes, uint32_t *handed_on)
{
    uint32_t width = window->size_bytes <= 4 ? WINDOW_DWORD : WINDOW_WIDE;
    bool all_coalesced = true;
    for (uint32_t at = 0; at < WAVE_LANES; at += width) {
        uint64_t part = lanes & ((1ull << width) - 1) << at;
        bool coalesced = window_look_up(window, part) <= 1 && width == WINDOW_DWORD;
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

/* Look-ups of a window of the span, which begins where the window before ended. */
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

/* wave_look_up() of what is_span(). */
static bool span_look_ups(const struct window *window, uint32_t *handed_on)
{
    uint32_t width = window->size_bytes <= 4 ? WINDOW_DWORD : WINDOW_WIDE;
    bool all_coalesced = true;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane += width) {
        uint64_t start = window->va[lane], last = start + (uint64_t)width * window->size_bytes;
        bool coalesced = span_look_up(window, start, last) <= 1 && width == WINDOW_DWORD;
        *handed_on += coalesced ? width / LANES_PER_QUAD : width;
        all_coalesced &= coalesced;
    }
    return all_coalesced;
}

static void lines_look_up(struct wave *wave, const struct inst *inst, const uint64_t *va,
                          uint64_t lanes, uint32_t size_bytes, bool span)
{
    uint32_t handed_on = 0;
    struct window window = window_of(wave, inst);
    window.va = va;
    window.size_bytes = size_bytes;
    if (!lanes)
        log_line(wave->group, 0, 0, window.kind, window.flags | ACCESS_NOWHERE);
    bool coalesced =
        span ? span_look_ups(&window, &handed_on) : wave_look_up(&window, lanes, &handed_on);
    window_end(&window, coalesced, handed_on);
}

void access_log_vector(struct wave *wave, const struct inst *inst, const uint64_t *va,
                       uint64_t lanes, uint32_t size_bytes)
{
    struct workgroup *group = wave->group;
    bool span = is_span(va, lanes, size_bytes);
    if (span)
        time_note_span(group, inst, va[0], WAVE_LANES * size_bytes);
    else
        time_note_lanes(group, inst, va, lanes,
                        lanes ? time_origin(group, va[__builtin_ctzll(lanes)]) : 0, size_bytes);
    if (memory_watched(wave, inst))
        lines_look_up(wave, inst, va, lanes, size_bytes, span);
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
    window.va = va;
    window.size_bytes = size_bytes < 4 ? size_bytes : 4;
    for (uint32_t row = 0; row < (size_bytes + 3) / 4; row++) {
        private_row(base, offset, row, va);
        time_note_lanes(group, inst, va, lanes, SCRATCH_VA, window.size_bytes);
        if (watched)
            coalesced &= wave_look_up(&window, lanes, &handed_on);
    }
    if (watched)
        window_end(&window, coalesced, handed_on);
}
