/* LDS: reads, writes, atomics, lane permutes, swizzle, append and consume. */
#include "isa_ops.h"
#include "wave/contiguous.h"
#include "wave/group.h"
#include "wave/lane_vectors.h"
#include "wave/lanes.h"
#include "wave/lanes_pull.h"
#include "wave/lds_atomics.h"
#include "wave/lds_rows.h"
#include "wave/time_note.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

/* The lanes' accesses, where somebody wants to see them; before registers change. */
static inline void lds_look(struct wave *w, const struct inst *i, uint32_t at, uint32_t size_bytes)
{
    if (lds_watched(w, i))
        lds_note(w, i, w->v[i->src[0].index], at, wave_exec(w), size_bytes);
}

/* Pointers of the active lanes; beyond the group's LDS there is none. */
static void lds_pointers(const struct wave *w, const struct inst *i, uint32_t at,
                         uint32_t size_bytes, struct lane_pointers *out)
{
    const uint32_t *address = w->v[i->src[0].index];
    const struct workgroup *group = w->group;
    out->lanes = wave_exec(w);
    out->some_outside = false;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        uint32_t offset = address[lane] + at;
        bool inside = (uint64_t)offset + size_bytes <= group->lds_bytes;
        out->host[lane] = inside ? group->lds + offset : NULL;
        out->some_outside |= !inside;
    }
}

/* The active lanes' elements, for those who work on rows. */
static struct lds_span span_of(const struct wave *w, const struct inst *i, uint32_t at)
{
    const struct workgroup *group = w->group;
    return (struct lds_span){.lds = group->lds,
                             .lds_bytes = group->lds_bytes,
                             .at = at,
                             .address = w->v[i->src[0].index],
                             .lanes = wave_exec(w)};
}

/* The same as above of whole dwords. Returns where they lie if all of a full wave's follow each
 * other, inside: then there is no need to look at each lane, here and elsewhere. Else NULL. */
static inline uint8_t *span_look(struct wave *w, const struct inst *i, struct lds_span *span,
                                 uint32_t dwords)
{
    const uint32_t start = span->address[0] + span->at;
    if (!lds_watched(w, i))
        return NULL;
    span->follows = lds_rows_follow(span, dwords) ? FOLLOWS : FOLLOWS_NOT;
    if (span->follows == FOLLOWS && lds_note_row(w, i, start, 4 * dwords))
        return span->lds + start;
    lds_note(w, i, span->address, span->at, span->lanes, 4 * dwords);
    return NULL;
}

static void lanes_read(struct wave *w, const struct inst *i, const struct element *element)
{
    struct lane_pointers pointers;
    lds_pointers(w, i, (uint32_t)i->offset, element->bytes, &pointers);
    lanes_load(&pointers, data_rows(w, &i->dst), element);
}

EXEC_FN(READ)
{
    struct element element = inst_element(i);
    lds_look(w, i, (uint32_t)i->offset, element.bytes);
    lanes_read(w, i, &element);
    return inst_next(i);
}

EXEC_FN(READ_DWORDS)
{
    struct element element = inst_element(i);
    struct lds_span span = span_of(w, i, (uint32_t)i->offset);
    const uint8_t *row = span_look(w, i, &span, element.dwords);
    if (row)
        rows_load(data_rows(w, &i->dst), row, element.dwords);
    else if (!lds_rows_load(&span, data_rows(w, &i->dst), element.dwords))
        lanes_read(w, i, &element);
    return inst_next(i);
}

/* Other than in memory (lanes.h), whose order others see: where lanes write to one place, the
 * highest one's value stays, whichever way addresses go. */
static void lanes_put(const struct lane_pointers *pointers, const lane_row *rows,
                      const struct element *element)
{
    for (uint64_t left = pointers->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint8_t *host = pointers->host[lane];
        uint16_t low = (uint16_t)(rows[0][lane] >> (element->high ? 16 : 0));
        if (!host)
            continue;
        if (element->bytes == 1)
            *host = (uint8_t)low;
        else if (element->bytes == 2)
            memcpy(host, &low, sizeof low);
        for (unsigned n = 0; n < element->bytes / 4u; n++)
            memcpy(host + 4 * n, &rows[n][lane], 4);
    }
}

static void lanes_write(struct wave *w, const struct inst *i, uint32_t at,
                        const struct operand *data, const struct element *element)
{
    struct lane_pointers pointers;
    lds_pointers(w, i, at, element->bytes, &pointers);
    lanes_put(&pointers, data_rows(w, data), element);
}

/* Elements of whole dwords. */
static void dwords_write(struct wave *w, const struct inst *i, uint32_t at,
                         const struct operand *data, const struct element *element)
{
    struct lds_span span = span_of(w, i, at);
    uint8_t *row = span_look(w, i, &span, element->dwords);
    if (row)
        rows_store(data_rows(w, data), row, element->dwords);
    else if (!lds_rows_store(&span, data_rows(w, data), element->dwords))
        lanes_write(w, i, at, data, element);
}

EXEC_FN(WRITE)
{
    struct element element = inst_element(i);
    const struct lds_span span = span_of(w, i, (uint32_t)i->offset);
    const lane_row *rows = data_rows(w, &i->src[1]);
    lds_look(w, i, (uint32_t)i->offset, element.bytes);
    if (!lds_rows_store_small(&span, rows[0], element.bytes, element.high ? 16 : 0))
        lanes_write(w, i, (uint32_t)i->offset, &i->src[1], &element);
    return inst_next(i);
}

EXEC_FN(WRITE_DWORDS)
{
    struct element element = inst_element(i);
    dwords_write(w, i, (uint32_t)i->offset, &i->src[1], &element);
    return inst_next(i);
}

/* Two-address forms: aux[5] holds the unit of the 8-bit offsets. */
static uint32_t pair_unit(const struct inst *i)
{
    uint16_t unit;
    memcpy(&unit, i->aux + sizeof(struct element), sizeof unit);
    return unit;
}

static void pair_look(struct wave *w, const struct inst *i, const struct element *element)
{
    lds_look(w, i, (uint32_t)i->offset * pair_unit(i), element->bytes);
    lds_look(w, i, i->ds.offset1 * pair_unit(i), element->bytes);
}

EXEC_FN(READ2)
{
    struct element element = inst_element(i);
    struct lane_pointers first, second;
    lane_row *rows = data_rows(w, &i->dst);
    struct lds_span span = span_of(w, i, (uint32_t)i->offset * pair_unit(i)), other = span;
    span_look(w, i, &span, element.dwords);
    other.at = i->ds.offset1 * pair_unit(i);
    other.follows = span.follows;
    span_look(w, i, &other, element.dwords);
    if (lds_rows_load_two(&span, i->ds.offset1 * pair_unit(i), rows, element.dwords))
        return inst_next(i);
    lds_pointers(w, i, (uint32_t)i->offset * pair_unit(i), element.bytes, &first);
    lds_pointers(w, i, i->ds.offset1 * pair_unit(i), element.bytes, &second);
    /* The first result may overwrite the address register: both pointers are taken before. */
    lanes_load(&first, rows, &element);
    lanes_load(&second, rows + element.dwords, &element);
    return inst_next(i);
}

EXEC_FN(WRITE2)
{
    struct element element = inst_element(i);
    dwords_write(w, i, (uint32_t)i->offset * pair_unit(i), &i->src[1], &element);
    dwords_write(w, i, i->ds.offset1 * pair_unit(i), &i->src[2], &element);
    return inst_next(i);
}

static const lane_row *source_rows(struct wave *w, const struct operand *o)
{
    return o->kind == OPND_NONE ? NULL : data_rows(w, o);
}

EXEC_FN(ATOMIC)
{
    const struct atomic_op op = inst_atomic(i);
    const struct lds_span span = span_of(w, i, (uint32_t)i->offset);
    const struct lds_operands operands = {source_rows(w, &i->src[1]), source_rows(w, &i->src[2]),
                                          i->dst.kind == OPND_NONE ? NULL : data_rows(w, &i->dst)};
    lds_look(w, i, (uint32_t)i->offset, op.bytes);
    atomic_float_begin(w, &op, true);
    lds_atomic(&span, &operands, &op);
    atomic_float_end(w, &op, true);
    return inst_next(i);
}

/* ds_wrxchg2: two exchanges with two offsets. */
EXEC_FN(EXCHANGE2)
{
    struct element element = inst_element(i);
    struct lane_pointers first, second;
    lane_row *old = data_rows(w, &i->dst), before[4];
    pair_look(w, i, &element);
    lds_pointers(w, i, (uint32_t)i->offset * pair_unit(i), element.bytes, &first);
    lds_pointers(w, i, i->ds.offset1 * pair_unit(i), element.bytes, &second);
    lanes_load(&first, before, &element);
    lanes_put(&first, data_rows(w, &i->src[1]), &element);
    lanes_load(&second, before + element.dwords, &element);
    lanes_put(&second, data_rows(w, &i->src[2]), &element);
    for (uint64_t left = wave_exec(w); left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        for (unsigned n = 0; n < 2u * element.dwords; n++)
            old[n][lane] = before[n][lane];
    }
    return inst_next(i);
}

static const struct inst *active_lanes_put(struct wave *w, const struct inst *i,
                                           const uint32_t *result)
{
    row_put(data_rows(w, &i->dst)[0], wave_exec(w), result);
    return inst_next(i);
}

static uint32_t permute_place(uint32_t address, const struct inst *i)
{
    return (address + (uint32_t)i->offset) / 4 % WAVE_LANES;
}

/* Forward permute: active lanes push; the highest lane wins. Lanes nobody wrote to get 0. */
EXEC_FN(PERMUTE)
{
    lane_row result = {0};
    const uint32_t *address = w->v[i->src[0].index];
    const uint32_t *data = data_rows(w, &i->src[1])[0];
    if (!~wave_exec(w))
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            result[permute_place(address[lane], i)] = data[lane];
    else
        for (uint64_t left = wave_exec(w); left; left &= left - 1) {
            const unsigned lane = (unsigned)__builtin_ctzll(left);
            result[permute_place(address[lane], i)] = data[lane];
        }
    return active_lanes_put(w, i, result);
}

/* Backward permute: active lanes pull; an inactive source lane gives 0. */
EXEC_FN(BPERMUTE)
{
    lanes_pull(data_rows(w, &i->dst)[0], data_rows(w, &i->src[1])[0], w->v[i->src[0].index],
               (uint32_t)i->offset, wave_exec(w));
    return inst_next(i);
}

/* The order of a Fourier transform's butterflies: lanes of a half by their bits reversed, above the
 * bits that are kept. */
static unsigned swizzle_fourier(unsigned lane, unsigned keep)
{
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < 5; bit++)
        reversed |= (lane >> bit & 1) << (4 - bit);
    return (lane & 32) | reversed >> __builtin_popcount(keep) | (lane & keep);
}

static void swizzle_rotate(uint32_t pattern, uint32_t *source)
{
    const uint32_t by = pattern >> 5 & 31, keep = pattern & 31, right = pattern >> 10 & 1;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++) {
        const uint32_t moved = right ? lane - by : lane + by;
        source[lane] = (lane & 32) | (((moved & ~keep) | (lane & keep)) & 31);
    }
}

static void swizzle_bits(uint32_t pattern, uint32_t *source)
{
    const uint32_t and = pattern & 31, or = pattern >> 5 & 31, xor = pattern >> 10 & 31;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        source[lane] = (lane & 32) | ((((lane & and) | or) ^ xor) & 31);
}

/* Source lanes of ds_swizzle: 16-bit pattern; bit 15 quad permute, 0xc000 and up rotate, 0xe000 and
 * up for Fourier transforms. */
static void swizzle_sources(uint32_t pattern, uint32_t *source)
{
    if (pattern >= 0xe000)
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            source[lane] = swizzle_fourier(lane, pattern & 31);
    else if (pattern >= 0xc000)
        swizzle_rotate(pattern, source);
    else if (pattern & 0x8000)
        for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
            source[lane] = (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);
    else
        swizzle_bits(pattern, source);
}

EXEC_FN(SWIZZLE)
{
    lane_row places;
    swizzle_sources((uint32_t)i->offset, places);
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        places[lane] *= 4;
    lanes_pull(data_rows(w, &i->dst)[0], w->v[i->src[0].index], places, 0, wave_exec(w));
    return inst_next(i);
}

/* The counter at M0's base changes by the number of active lanes; all get the old value. */
EXEC_FN(APPEND)
{
    uint32_t at = (w->s[SREG_M0] & 0xffff) + (uint32_t)i->offset, old = 0, new;
    uint32_t count = (uint32_t)__builtin_popcountll(wave_exec(w));
    struct workgroup *group = w->group;
    if ((uint64_t)at + 4 <= group->lds_bytes) {
        memcpy(&old, group->lds + at, 4);
        new = i->op == OP_DS_APPEND ? old + count : old - count;
        memcpy(group->lds + at, &new, 4);
    }
    uint32_t *dst = data_rows(w, &i->dst)[0];
    for (uint64_t left = wave_exec(w); left; left &= left - 1)
        dst[__builtin_ctzll(left)] = old;
    return inst_next(i);
}

/* Addresses from the lane number and M0 instead of a register. */
static void addtid_pointers(struct wave *w, const struct inst *i, struct lane_pointers *out)
{
    struct workgroup *group = w->group;
    out->lanes = wave_exec(w);
    out->some_outside = true;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        uint32_t at = (w->s[SREG_M0] & 0xffff) + (uint32_t)i->offset + 4 * lane;
        out->host[lane] = (uint64_t)at + 4 <= group->lds_bytes ? group->lds + at : NULL;
    }
}

EXEC_FN(READ_ADDTID)
{
    struct element element = {4, 1, false, false, false};
    struct lane_pointers pointers;
    addtid_pointers(w, i, &pointers);
    lanes_load(&pointers, data_rows(w, &i->dst), &element);
    return inst_next(i);
}

EXEC_FN(WRITE_ADDTID)
{
    struct element element = {4, 1, false, false, false};
    struct lane_pointers pointers;
    addtid_pointers(w, i, &pointers);
    lanes_store(&pointers, data_rows(w, &i->src[1]), &element);
    return inst_next(i);
}

EXEC_FN(NOTHING)
{
    (void)w;
    return inst_next(i);
}

static inst_exec_fn *pair_handler(struct inst *inst)
{
    const char *name = isa_op_names[inst->op];
    if (!inst_keep_element(inst))
        return NULL;
    uint16_t unit = inst_element(inst).bytes * (strstr(name, "st64") ? 64 : 1);
    _Static_assert(sizeof(struct element) + sizeof unit <= sizeof inst->aux, "both kept in aux");
    memcpy(inst->aux + sizeof(struct element), &unit, sizeof unit);
    if (inst->flags & IF_LOAD)
        return exec_READ2;
    return inst->flags & IF_STORE ? exec_WRITE2 : exec_EXCHANGE2;
}

inst_exec_fn *ds_handler(struct inst *inst)
{
    if (inst->flags & IF_GDS)
        return gws_handler(inst); /* the driver gives no process memory of the GDS */
    switch (inst->op) {
    case OP_DS_PERMUTE_B32:
        return exec_PERMUTE;
    case OP_DS_BPERMUTE_B32:
        return exec_BPERMUTE;
    case OP_DS_SWIZZLE_B32:
        return exec_SWIZZLE;
    case OP_DS_APPEND:
    case OP_DS_CONSUME:
        return exec_APPEND;
    case OP_DS_NOP:
        return exec_NOTHING;
    case OP_DS_READ_ADDTID_B32:
        return exec_READ_ADDTID;
    case OP_DS_WRITE_ADDTID_B32:
        return exec_WRITE_ADDTID;
    default:
        break;
    }
    if (inst->flags & IF_PAIR)
        return pair_handler(inst);
    if (inst->flags & IF_ATOMIC)
        return inst_keep_atomic(inst) ? exec_ATOMIC : NULL;
    if (!inst_keep_element(inst))
        return NULL;
    bool dwords = inst_element(inst).bytes >= 4;
    if (inst->flags & IF_LOAD)
        return dwords ? exec_READ_DWORDS : exec_READ;
    return inst->flags & IF_STORE ? (dwords ? exec_WRITE_DWORDS : exec_WRITE) : NULL;
}
