/* Addresses of buffer instructions: what their descriptor says. */
#include "core/flag_bits.h"
#include "isa_ops.h"
#include "wave/address.h"
#include "wave/contiguous.h"
#include "wave/group.h"
#include "wave/host_levels.h"
#include "wave/pieces.h"
#include "wave/scattered.h"
#include "wave/time_note.h"

/* What num_records limits. */
enum buffer_range { RANGE_BYTES, RANGE_RECORDS, RANGE_NONE };

struct buffer {
    uint64_t base;
    uint32_t stride, records, index_stride;
    bool swizzle, add_lane;
    enum buffer_range range;
};

/* Swizzled buffers interleave elements of 4 bytes; gfx9 has no other size. */
enum { SWIZZLE_ELEMENT_BYTES = 4 };

/* Lanes' elements are where their offsets or indices say. Asked of the descriptor itself: of struct
 * buffer the compiler loads both flags at once, which waits until the host has written all that it
 * was to write before (90 cycles of a load of a tile's, 7 % of rocBLAS' sgemm). */
static bool is_straight(const struct wave *w, const struct inst *i)
{
    const uint32_t *words = &w->s[i->src[2].index];
    const uint32_t add_lane = i->flags & IF_IDXEN ? 0 : words[3] >> 23 & 1;
    return (words[1] >> 31 | add_lane) == 0;
}

/* By an offset for each lane, and no index. */
static bool is_by_offset(const struct wave *w, const struct inst *i)
{
    return (i->flags & (IF_OFFEN | IF_IDXEN)) == IF_OFFEN && is_straight(w, i);
}

/* What is left of such a buffer. */
static uint64_t base_of(const uint32_t *words)
{
    return words[0] | (uint64_t)(words[1] & 0xffff) << 32;
}
static uint32_t records_of(const uint32_t *words)
{
    return words[2];
}

/* By the documents but for one thing, which gfx950 was seen to do: with an index of its own, a lane
 * of a buffer that is not swizzled adds no number. */
static struct buffer buffer_read(const struct wave *w, const struct inst *i)
{
    const uint32_t *words = &w->s[i->src[2].index];
    const bool indexed = i->flags & IF_IDXEN, add_lane = words[3] >> 23 & 1;
    struct buffer buffer = {.base = base_of(words),
                            .stride = words[1] >> 16 & 0x3fff,
                            .records = records_of(words),
                            .index_stride = 8u << (words[3] >> 21 & 3),
                            .swizzle = words[1] >> 31};
    if (indexed && buffer.stride != 0)
        buffer.range = RANGE_RECORDS;
    else if (add_lane && !indexed)
        buffer.range = RANGE_NONE;
    buffer.add_lane = add_lane && (buffer.swizzle || !indexed);
    /* There the data format is more of the stride, unless the instruction wants one. */
    if (buffer.add_lane && !strstr(isa_op_names[i->op], "_format_"))
        buffer.stride |= (words[3] >> 15 & 15) << 14;
    return buffer;
}

static uint32_t scalar_offset(const struct wave *w, const struct inst *i)
{
    return i->soffset.kind == OPND_SREG ? w->s[i->soffset.index] : i->soffset.value;
}

/* The per-lane index and byte offset that the instruction's address registers give. */
static void lane_index_offset(const struct wave *w, const struct inst *i, unsigned lane,
                              uint32_t *index, uint32_t *offset)
{
    const lane_row *rows = w->v + i->src[0].index;
    *index = *offset = 0;
    if (i->flags & IF_IDXEN)
        *index = rows[0][lane];
    if (i->flags & IF_OFFEN)
        *offset = rows[i->flags & IF_IDXEN ? 1 : 0][lane];
    *offset += (uint32_t)i->offset;
}

static uint64_t buffer_offset(const struct buffer *b, uint32_t index, uint32_t offset)
{
    if (!b->swizzle)
        return (uint64_t)index * b->stride + offset;
    uint64_t index_high = index / b->index_stride, index_low = index % b->index_stride;
    uint64_t offset_high = offset / SWIZZLE_ELEMENT_BYTES,
             offset_low = offset % SWIZZLE_ELEMENT_BYTES;
    return (index_high * b->stride + offset_high * SWIZZLE_ELEMENT_BYTES) * b->index_stride +
           index_low * SWIZZLE_ELEMENT_BYTES + offset_low;
}

/* Of the offset's sum the scalar one alone does not wrap around. */
static bool out_of_range(const struct buffer *b, uint32_t index, uint32_t offset, uint32_t soffset,
                         uint32_t size_bytes)
{
    if (b->range == RANGE_NONE)
        return false;
    if (b->range == RANGE_RECORDS)
        return index >= b->records;
    return (uint64_t)offset + soffset + size_bytes > b->records;
}

/* Where a lane's element begins but for the scalar offset, and what is asked of the range. */
static uint64_t lane_va(const struct wave *w, const struct inst *i, const struct buffer *b,
                        unsigned lane, uint32_t *index, uint32_t *offset)
{
    lane_index_offset(w, i, lane, index, offset);
    return b->base + buffer_offset(b, *index + (b->add_lane ? lane : 0), *offset);
}

static bool is_private(const struct buffer *b)
{
    return b->base >> 47 && b->swizzle;
}

/*
 * Private memory: clang's code keeps the wave's part of the scratch in soffset, counted for all 64
 * lanes together, and the lane's own part in the other offsets.
 */
static bool private_pointers(struct wave *w, const struct inst *i, uint32_t size_bytes,
                             struct lane_pointers *out)
{
    uint32_t offset[WAVE_LANES], index;
    uint32_t uniform = scalar_offset(w, i) / WAVE_LANES;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        lane_index_offset(w, i, lane, &index, &offset[lane]);
        offset[lane] += uniform;
    }
    return scratch_pointers(w, i, offset, wave_exec(w), size_bytes, out);
}

/* Every lane's address, and which lanes are inside. */
static uint64_t all_lanes(const struct wave *w, const struct inst *i, const struct buffer *b,
                          uint32_t size_bytes, uint64_t *va)
{
    const uint32_t soffset = scalar_offset(w, i);
    uint64_t inside = 0;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        uint32_t index, offset;
        va[lane] = soffset + lane_va(w, i, b, lane, &index, &offset);
        inside |= (uint64_t)!out_of_range(b, index, offset, soffset, size_bytes) << lane;
    }
    return inside;
}

/* The same where offsets alone make the address, as they nearly always do. */
static uint64_t raw_lanes(const struct wave *w, const struct inst *i, const struct buffer *b,
                          uint32_t size_bytes, uint64_t *va)
{
    const uint32_t *offsets = w->v[i->src[0].index];
    const uint32_t mask = i->flags & IF_OFFEN ? ~0u : 0, more = (uint32_t)i->offset;
    const uint64_t soffset = scalar_offset(w, i), base = b->base + soffset;
    uint64_t inside = 0;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        const uint32_t offset = (offsets[lane] & mask) + more;
        va[lane] = base + offset;
        inside |= (uint64_t)(offset + soffset + size_bytes <= b->records) << lane;
    }
    return inside;
}

bool buffer_pointers(struct wave *w, const struct inst *i, uint32_t size_bytes,
                     struct lane_pointers *out)
{
    struct buffer buffer = buffer_read(w, i);
    if (is_private(&buffer))
        return private_pointers(w, i, size_bytes, out);
    uint64_t va[WAVE_LANES], exec = wave_exec(w);
    const bool raw = !buffer.swizzle && !buffer.add_lane && !(i->flags & IF_IDXEN);
    const uint64_t inside =
        raw ? raw_lanes(w, i, &buffer, size_bytes, va) : all_lanes(w, i, &buffer, size_bytes, va);
    if (!global_pointers(w, i, va, exec & inside, size_bytes, out))
        return false;
    for (uint64_t left = exec & ~inside; left; left &= left - 1)
        out->host[__builtin_ctzll(left)] = NULL;
    out->lanes = exec;
    out->some_outside = (exec & ~inside) != 0;
    return true;
}

bool buffer_dwords_apart(const struct wave *w, const struct inst *i)
{
    struct buffer buffer = buffer_read(w, i);
    return buffer.swizzle && !is_private(&buffer);
}

uint32_t buffer_dwords_inside(const struct wave *w, const struct inst *i, unsigned lane,
                              uint32_t dwords, struct buffer_dwords *out)
{
    struct buffer buffer = buffer_read(w, i);
    uint32_t soffset = scalar_offset(w, i), index, offset;
    out->va = soffset + lane_va(w, i, &buffer, lane, &index, &offset);
    out->step_bytes = 4 * (buffer.swizzle ? buffer.index_stride : 1);
    while (dwords && out_of_range(&buffer, index, offset, soffset, 4 * dwords))
        dwords--;
    return dwords;
}

uint8_t *buffer_contiguous(struct wave *w, const struct inst *i, uint32_t bytes, uint32_t access)
{
    const uint32_t *words = &w->s[i->src[2].index], *offsets = w->v[i->src[0].index];
    if (wave_exec(w) != ~0ull || !is_by_offset(w, i) || !lanes_contiguous(offsets, NULL, bytes))
        return NULL;
    uint32_t soffset = scalar_offset(w, i);
    uint64_t first = (uint64_t)offsets[0] + (uint32_t)i->offset + soffset;
    if (first + WAVE_LANES * bytes > records_of(words))
        return NULL;
    uint64_t va = base_of(words) + first;
    uint8_t *host = vm_translate(w->group->reader, va, WAVE_LANES * bytes, access);
    if (host)
        access_log_span(w, i, va, bytes);
    return host;
}

bool buffer_pieces(struct wave *w, const struct inst *i, uint32_t element_bytes,
                   struct piece_place *out)
{
    const uint32_t *words = &w->s[i->src[2].index], *offsets = w->v[i->src[0].index];
    struct piece_extent extent;
    if (!is_by_offset(w, i) || !pieces_find(offsets, wave_exec(w), element_bytes, out, &extent))
        return false;
    const uint64_t more = (uint32_t)i->offset, soffset = scalar_offset(w, i);
    /* No offset within wraps around then, either: records are 32 bits. */
    if (extent.high + more + PIECE_LANES * element_bytes + soffset > records_of(words))
        return false;
    out->va = base_of(words) + soffset + more;
    return pieces_translate(w, i, &extent, element_bytes, out);
}

/* Lanes whose number is below `end`. */
ALWAYS_INLINE uint64_t find_below(const uint32_t *row, uint32_t end)
{
    uint8_t flags[WAVE_LANES];
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        flags[lane] = row[lane] < end;
    return flags_to_bits(flags);
}

/* Sums of multiplied indices and offsets, as 32 bits, and what neither exceeds, of indices below
 * `end`. */
struct extremes {
    uint32_t index, offset;
};
ALWAYS_INLINE struct extremes multiply_indices(const lane_row *restrict rows, bool has_offsets,
                                               uint32_t more, uint32_t stride, uint32_t end,
                                               uint32_t *restrict at)
{
    struct extremes most = {0, has_offsets ? 0 : more};
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        const uint32_t inside = rows[0][lane] & -(uint32_t)(rows[0][lane] < end);
        at[lane] = inside * stride + more;
        most.index = inside > most.index ? inside : most.index;
    }
    for (unsigned lane = 0; has_offsets && lane < WAVE_LANES; lane++) {
        const uint32_t offset = rows[1][lane] + more;
        at[lane] += rows[1][lane];
        most.offset = offset > most.offset ? offset : most.offset;
    }
    return most;
}

#define DEFINE_LEVEL(level, options)                                                               \
    options static uint64_t below_##level(const uint32_t *row, uint32_t end)                       \
    {                                                                                              \
        return find_below(row, end);                                                               \
    }                                                                                              \
    options static struct extremes indices_##level(const lane_row *rows, bool has_offsets,         \
                                                   uint32_t more, uint32_t stride, uint32_t end,   \
                                                   uint32_t *at)                                   \
    {                                                                                              \
        return has_offsets ? multiply_indices(rows, true, more, stride, end, at)                   \
                           : multiply_indices(rows, false, more, stride, end, at);                 \
    }
DEFINE_LEVELS(DEFINE_LEVEL)

/* Lanes whose elements of so many bytes, all with `common` added to their offset, end within. */
static uint64_t lanes_within(const struct buffer *b, const uint32_t *offsets, uint64_t common,
                             uint32_t bytes)
{
    if (common + bytes > b->records)
        return 0;
    return CALL_LEVEL(below, offsets, (uint32_t)(b->records - common - bytes + 1));
}

/* Some lanes lie outside the buffer. `more` is added to all offsets, and to `common` the scalar
 * offset, too. False: sums wrap around, or the buffer holds an element's first dwords. */
static bool lanes_part(const struct buffer *b, uint64_t more, uint64_t common, uint32_t bytes,
                       struct scattered_place *out)
{
    const uint32_t first = bytes < 4 ? bytes : 4;
    if (out->extent.high + more > UINT32_MAX)
        return false;
    const uint64_t inside = lanes_within(b, out->offsets, common, bytes);
    const uint64_t begins = lanes_within(b, out->offsets, common, first);
    if (out->lanes & begins & ~inside)
        return false;
    out->outside = out->lanes & ~inside;
    out->lanes &= inside;
    if (out->lanes)
        scattered_find(out);
    return true;
}

/* By offsets in a register alone. */
static bool offsets_scattered(struct wave *w, const struct inst *i, const struct buffer *b,
                              uint32_t bytes, struct scattered_place *out)
{
    const uint64_t more = (uint32_t)i->offset, common = more + scalar_offset(w, i);
    out->offsets = w->v[i->src[0].index];
    scattered_find(out);
    out->va = b->base + common;
    return out->extent.high + common + bytes <= b->records ||
           lanes_part(b, more, common, bytes, out);
}

/* By indices, and perhaps offsets beside them. False: they reach too far. */
static bool indices_scattered(struct wave *w, const struct inst *i, const struct buffer *b,
                              struct scattered_place *out)
{
    const lane_row *rows = w->v + i->src[0].index;
    const uint64_t inside = CALL_LEVEL(below, rows[0], b->records);
    const struct extremes most = CALL_LEVEL(indices, rows, i->flags & IF_OFFEN, (uint32_t)i->offset,
                                            b->stride, b->records, out->kept);
    out->va = b->base + scalar_offset(w, i);
    out->offsets = out->kept;
    out->outside = out->lanes & ~inside;
    out->lanes &= inside;
    if (out->lanes)
        scattered_find(out);
    return (uint64_t)most.index * b->stride + most.offset <= UINT32_MAX;
}

bool buffer_scattered(struct wave *w, const struct inst *i, uint32_t element_bytes,
                      struct scattered_place *out)
{
    const struct buffer buffer = buffer_read(w, i);
    out->lanes = wave_exec(w);
    out->outside = 0;
    if (!out->lanes || !is_straight(w, i))
        return false;
    const bool found = buffer.range == RANGE_RECORDS ? indices_scattered(w, i, &buffer, out)
                       : (i->flags & (IF_OFFEN | IF_IDXEN)) == IF_OFFEN
                           ? offsets_scattered(w, i, &buffer, element_bytes, out)
                           : false;
    return found && (!out->lanes || scattered_translate(w, i, element_bytes, out));
}
