/*
 * Handlers of FLAT and GLOBAL loads and stores for the common case (flat_rows.h), one for each
 * number of dwords and each way to say the address. Each looks first whether all is as it expects,
 * has done nothing until then, and leaves everything else to
 * flat_elements.c. What counters want of it is logged here.
 *
 * Compiled for each level of the host.
 */
#include "wave/flat_rows.h"

#include "mem/vm.h"
#include "perf/cache.h"
#include "wave/access.h"
#include "wave/chunk_vectors.h"
#include "wave/flat_elements.h"
#include "wave/group.h"
#include "wave/span_sampled.h"
#include "wave/time_note.h"

#define NAME_OF(stem, level)    stem##_##level
#define LEVEL_NAME(stem, level) NAME_OF(stem, level)

enum { FLAT_DWORDS = 2 }; /* of the encoding */

/* What the log says of these flags of an instruction are the same bits, one after another. */
enum { CACHE_POLICY = ACCESS_GLC | ACCESS_SLC | ACCESS_SCC };
_Static_assert(IF_GLC / IF_GLC == (int)ACCESS_GLC && IF_SLC / IF_GLC == (int)ACCESS_SLC &&
                   IF_DLC_SCC / IF_GLC == (int)ACCESS_SCC,
               "shifted");

/* Bits that differ between the lanes' addresses and those of elements that follow each other;
 * `high` NULL: 32-bit offsets. */
#ifdef __AVX512F__

CONSTANT_DWORDS bool rows_follow(const uint32_t *low, const uint32_t *high, uint32_t step)
{
    enum { LANES = 16, OR_DIFFERENCE = 0xf6 /* a | (b ^ c) */ };
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    __m512i expected = _mm512_add_epi32(_mm512_set1_epi32((int)low[0]),
                                        _mm512_mullo_epi32(lane, _mm512_set1_epi32((int)step)));
    __m512i differs = _mm512_xor_si512(_mm512_load_si512(low), expected);
#pragma GCC unroll 4
    for (unsigned at = LANES; at < WAVE_LANES; at += LANES) {
        expected = _mm512_add_epi32(expected, _mm512_set1_epi32((int)(LANES * step)));
        differs = _mm512_ternarylogic_epi32(differs, _mm512_load_si512(low + at), expected,
                                            OR_DIFFERENCE);
    }
    if (high) {
        const __m512i same = _mm512_set1_epi32((int)high[0]);
#pragma GCC unroll 4
        for (unsigned at = 0; at < WAVE_LANES; at += LANES)
            differs = _mm512_ternarylogic_epi32(differs, _mm512_load_si512(high + at), same,
                                                OR_DIFFERENCE);
    }
    return _mm512_test_epi32_mask(differs, differs) == 0;
}

#else

CONSTANT_DWORDS bool rows_follow(const uint32_t *low, const uint32_t *high, uint32_t step)
{
    enum { LANES = sizeof(vector) / 4 };
    vector expected, differs = {0};
    for (unsigned lane = 0; lane < LANES; lane++)
        expected[lane] = lane;
    expected = expected * step + low[0];
#pragma GCC unroll 16
    for (unsigned at = 0; at < WAVE_LANES; at += LANES) {
        differs |= *(const row_vector *)(low + at) ^ expected;
        expected += LANES * step;
    }
    if (high) {
#pragma GCC unroll 16
        for (unsigned at = 0; at < WAVE_LANES; at += LANES)
            differs |= *(const row_vector *)(high + at) ^ high[0];
    }
    return vector_is_zero(differs);
}

#endif

/* Asks for a line of memory. Wide elements' are to be in the second cache: the first one's line
 * buffers are too few for as many. */
CONSTANT_DWORDS void line_fetch(const uint8_t *line, bool narrow)
{
    if (narrow)
        __builtin_prefetch(line, 0, 3);
    else
        __builtin_prefetch(line, 0, 2);
}

/*
 * Waves mostly go on as far behind the one before as that one did, and so do rounds of a loop: what
 * comes after the next one is asked for now. The host does not foresee it by itself, where each
 * access goes from its last chunk down. Nothing but time depends on it: what is not mapped there is
 * not fetched.
 */
CONSTANT_DWORDS void span_foresee(struct workgroup *group, const struct inst *i, uint64_t va,
                                  const uint8_t *host, uint32_t size)
{
    enum { LINE = 64, NARROW = 256, INST_SHIFT = 4, STEPS = 2 };
    struct span_step *last = &group->spans[((uintptr_t)i >> INST_SHIFT) % SPANS_KNOWN];
    const uint64_t step = va - last->va;
    last->va = va;
    if (__builtin_expect(step != last->step, 0)) {
        last->step = step;
        return;
    }
    const uint8_t *next = host + STEPS * step;
#pragma GCC unroll 16
    for (uint32_t at = 0; at < size; at += LINE)
        line_fetch(next + at, size <= NARROW);
}

/* The lines of what follows each other from `va` on, which counters want. Mostly they are whole
 * blocks, as access_log_span_lines() has them. */
CONSTANT_DWORDS void lines_log(struct wave *w, const struct inst *i, uint64_t va, unsigned dwords,
                               uint32_t access)
{
    struct access_log *log = &w->group->accesses;
    fetch_note_before(w, i);
    if (va % CACHE_BLOCK_BYTES || dwords == 3 || log->capacity - log->count < dwords) {
        access_log_span_lines(w, i, va, 4 * dwords);
        return;
    }
    const unsigned coalesced = dwords == 1 ? ACCESS_COALESCED : 0;
    const struct perf_line_access block = {
        .line_va = va,
        .bytes_mask_lo = UINT32_MAX,
        .bytes_mask_hi = UINT32_MAX,
        .kind = access == VM_READ ? ACCESS_READ : ACCESS_WRITE,
        .flags = (uint8_t)(coalesced | (i->flags / IF_GLC & CACHE_POLICY)),
        .tags = dwords == 2 ? 2 : 1, /* windows of a line */
        .more = CACHE_BLOCK_BYTES / 64 - 1};
    struct perf_line_access *items = log->items + log->count;
    for (unsigned n = 0; n < dwords; n++) {
        items[n] = block;
        items[n].line_va += n * CACHE_BLOCK_BYTES;
    }
    items->flags |= ACCESS_FIRST;
    items->tally = i->tally;
    items->lanes = dwords == 1 ? WAVE_LANES / 4 /* quads */ : WAVE_LANES;
    log->count += dwords;
}

/* Where the elements lie that follow each other from `va` on, if all is as expected; else NULL. */
CONSTANT_DWORDS uint8_t *span_at(const struct wave *w, const struct inst *i, uint64_t va,
                                 unsigned dwords, uint32_t access)
{
    struct workgroup *group = w->group;
    const struct vm_range *way = vm_way(group->reader, va);
    const uint32_t size = WAVE_LANES * 4 * dwords;
    uint64_t at = va - way->start, length = way->end - way->start;
    if (va >> 48 /* perhaps an aperture */ || at >= length || size > length - at ||
        (way->flags & access) != access)
        return NULL;
    if (time_sampled(w, i) || span_sampled(va, size, way->start, group->sample_limit))
        return NULL;
    uint8_t *host = way->host + at;
    if ((uintptr_t)host % CHUNK_BYTES != 0)
        return NULL;
    span_foresee(group, i, va, host, size);
    return host;
}

/* The same by the lanes' addresses. */
CONSTANT_DWORDS uint8_t *elements_at(const struct wave *w, const struct inst *i, unsigned dwords,
                                     bool scalar_base, uint32_t access, uint64_t *va)
{
    const lane_row *rows = w->v + i->src[0].index;
    const uint32_t *low = rows[0], *high = scalar_base ? NULL : rows[1];
    /* Most waves that are not contiguous say so at once; the low halves must not wrap around. */
    if (wave_exec(w) != ~0ull || low[1] - low[0] != 4 * dwords || low[WAVE_LANES - 1] < low[0] ||
        !rows_follow(low, high, 4 * dwords))
        return NULL;
    uint64_t base = scalar_base ? w->s[i->src[2].index] | (uint64_t)w->s[i->src[2].index + 1] << 32
                                : (uint64_t)high[0] << 32;
    *va = base + low[0] + (uint64_t)(int64_t)i->offset;
    return span_at(w, i, *va, dwords, access);
}

CONSTANT_DWORDS const struct inst *load_from(struct wave *w, const struct inst *i,
                                             const uint8_t *host, unsigned dwords)
{
    lane_row *rows = data_rows(w, &i->dst);
#pragma GCC unroll 8
    for (size_t lane = WAVE_LANES; lane > 0;) {
        lane -= VECTOR_LANES;
        vector_load(rows, lane, host, dwords);
    }
    return i + FLAT_DWORDS;
}

CONSTANT_DWORDS const struct inst *store_to(struct wave *w, const struct inst *i, uint8_t *host,
                                            unsigned dwords)
{
    const lane_row *rows = data_rows(w, &i->src[1]);
#pragma GCC unroll 8
    for (size_t lane = 0; lane < WAVE_LANES; lane += VECTOR_LANES)
        vector_store(rows, lane, host, dwords);
    w->stores_pending = true;
    return i + FLAT_DWORDS;
}

/* The same while accesses are counted. Calls that most do not need would cost those their
 * registers. */
#define DEFINE_COUNTED(dwords)                                                                     \
    static __attribute__((noinline)) const struct inst *load_counted_##dwords(                     \
        struct wave *w, const struct inst *i, const uint8_t *host, uint64_t va)                    \
    {                                                                                              \
        lines_log(w, i, va, dwords, VM_READ);                                                      \
        return load_from(w, i, host, dwords);                                                      \
    }                                                                                              \
    static __attribute__((noinline)) const struct inst *store_counted_##dwords(                    \
        struct wave *w, const struct inst *i, uint8_t *host, uint64_t va)                          \
    {                                                                                              \
        lines_log(w, i, va, dwords, VM_WRITE);                                                     \
        return store_to(w, i, host, dwords);                                                       \
    }
DEFINE_COUNTED(1)
DEFINE_COUNTED(2)
DEFINE_COUNTED(3)
DEFINE_COUNTED(4)
#define CALL_COUNTED(verb, dwords, ...)                                                            \
    ((dwords) == 1   ? verb##_counted_1(__VA_ARGS__)                                               \
     : (dwords) == 2 ? verb##_counted_2(__VA_ARGS__)                                               \
     : (dwords) == 3 ? verb##_counted_3(__VA_ARGS__)                                               \
                     : verb##_counted_4(__VA_ARGS__))

static inline bool is_counted(const struct wave *w)
{
    return __builtin_expect(w->group->wants & PERF_WANT_MEMORY, 0);
}

CONSTANT_DWORDS const struct inst *load(struct wave *w, const struct inst *i, unsigned dwords,
                                        bool scalar_base)
{
    uint64_t va;
    const uint8_t *host = elements_at(w, i, dwords, scalar_base, VM_READ, &va);
    if (__builtin_expect(!host, 0))
        return flat_load_dwords(w, i);
    return is_counted(w) ? CALL_COUNTED(load, dwords, w, i, host, va)
                         : load_from(w, i, host, dwords);
}

CONSTANT_DWORDS const struct inst *load_span(struct wave *w, const struct inst *i, uint64_t va,
                                             unsigned dwords)
{
    const uint8_t *host = span_at(w, i, va, dwords, VM_READ);
    if (__builtin_expect(!host, 0))
        return flat_load_span(w, i, va);
    return is_counted(w) ? CALL_COUNTED(load, dwords, w, i, host, va)
                         : load_from(w, i, host, dwords);
}

CONSTANT_DWORDS const struct inst *store(struct wave *w, const struct inst *i, unsigned dwords,
                                         bool scalar_base)
{
    uint64_t va;
    uint8_t *host = elements_at(w, i, dwords, scalar_base, VM_WRITE, &va);
    if (__builtin_expect(!host, 0))
        return flat_store_dwords(w, i);
    return is_counted(w) ? CALL_COUNTED(store, dwords, w, i, host, va)
                         : store_to(w, i, host, dwords);
}

CONSTANT_DWORDS const struct inst *store_span(struct wave *w, const struct inst *i, uint64_t va,
                                              unsigned dwords)
{
    uint8_t *host = span_at(w, i, va, dwords, VM_WRITE);
    if (__builtin_expect(!host, 0))
        return flat_store_span(w, i, va);
    return is_counted(w) ? CALL_COUNTED(store, dwords, w, i, host, va)
                         : store_to(w, i, host, dwords);
}

#define HANDLERS(X)                                                                                \
    X(load, 1) X(load, 2) X(load, 3) X(load, 4) X(store, 1) X(store, 2) X(store, 3) X(store, 4)
#define DEFINE_HANDLERS(verb, dwords)                                                              \
    static const struct inst *exec_##verb##_##dwords(struct wave *w, const struct inst *i)         \
    {                                                                                              \
        return verb(w, i, dwords, false);                                                          \
    }                                                                                              \
    static const struct inst *exec_##verb##_##dwords##_scalar(struct wave *w,                      \
                                                              const struct inst *i)                \
    {                                                                                              \
        return verb(w, i, dwords, true);                                                           \
    }                                                                                              \
    static const struct inst *span_##verb##_##dwords(struct wave *w, const struct inst *i,         \
                                                     uint64_t va)                                  \
    {                                                                                              \
        return verb##_span(w, i, va, dwords);                                                      \
    }
HANDLERS(DEFINE_HANDLERS)

#define ENTRY(verb, dwords)                                                                        \
    {{exec_##verb##_##dwords, exec_##verb##_##dwords##_scalar}, span_##verb##_##dwords},
static const struct {
    inst_exec_fn *exec[2]; /* with vector registers, with a scalar base */
    span_fn *span;
} handlers[2 * 4] = {HANDLERS(ENTRY)};

span_fn *LEVEL_NAME(flat_rows_span, ROWS_LEVEL)(inst_exec_fn *exec)
{
    for (size_t n = 0; n < sizeof handlers / sizeof *handlers; n++)
        if (exec == handlers[n].exec[0] || exec == handlers[n].exec[1])
            return handlers[n].span;
    return NULL;
}

inst_exec_fn *LEVEL_NAME(flat_rows_handler, ROWS_LEVEL)(const struct inst *inst, unsigned dwords)
{
    enum { LOADS, STORES };
    bool scalar_base = inst->flags & IF_SADDR;
    if (inst->dwords != FLAT_DWORDS || dwords < 1 || dwords > 4 ||
        (scalar_base && inst->src[2].kind != OPND_SREG))
        return NULL;
    unsigned verb = inst->flags & IF_LOAD ? LOADS : STORES;
    return handlers[verb * 4 + dwords - 1].exec[scalar_base];
}
