/* Addresses of buffer instructions: what their descriptor says. */
#include "wave/address.h"
#include "wave/contiguous.h"
#include "wave/group.h"
#include "wave/time_note.h"

struct buffer {
    uint64_t base;
    uint32_t stride, records, index_stride;
    bool swizzle, add_lane;
};

/* Swizzled buffers interleave elements of 4 bytes; gfx9 has no other size. */
enum { SWIZZLE_ELEMENT_BYTES = 4 };

static struct buffer buffer_read(const struct wave *w, const struct operand *srsrc)
{
    const uint32_t *words = &w->s[srsrc->index];
    return (struct buffer){.base = words[0] | (uint64_t)(words[1] & 0xffff) << 32,
                           .stride = words[1] >> 16 & 0x3fff,
                           .records = words[2],
                           .index_stride = 8u << (words[3] >> 21 & 3),
                           .swizzle = words[1] >> 31,
                           .add_lane = words[3] >> 23 & 1};
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

static bool out_of_range(const struct buffer *b, uint32_t index, uint64_t offset, uint32_t soffset,
                         uint32_t size_bytes)
{
    if (b->stride != 0)
        return index >= b->records;
    return offset + soffset + size_bytes > b->records;
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

bool buffer_pointers(struct wave *w, const struct inst *i, uint32_t size_bytes,
                     struct lane_pointers *out)
{
    struct buffer buffer = buffer_read(w, &i->src[2]);
    if (buffer.base >> 47 && buffer.swizzle)
        return private_pointers(w, i, size_bytes, out);
    uint32_t soffset = scalar_offset(w, i);
    uint64_t va[WAVE_LANES], inside = 0, exec = wave_exec(w);
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        uint32_t index, offset;
        lane_index_offset(w, i, lane, &index, &offset);
        index += buffer.add_lane ? lane : 0;
        uint64_t at = buffer_offset(&buffer, index, offset);
        va[lane] = buffer.base + soffset + at;
        inside |= (uint64_t)!out_of_range(&buffer, index, at, soffset, size_bytes) << lane;
    }
    if (!global_pointers(w, i, va, exec & inside, size_bytes, out))
        return false;
    for (uint64_t left = exec & ~inside; left; left &= left - 1)
        out->host[__builtin_ctzll(left)] = NULL;
    out->lanes = exec;
    out->some_outside = (exec & ~inside) != 0;
    return true;
}

uint32_t buffer_dwords_inside(const struct wave *w, const struct inst *i, unsigned lane,
                              uint64_t *va)
{
    struct buffer buffer = buffer_read(w, &i->src[2]);
    uint32_t soffset = scalar_offset(w, i), index, offset;
    lane_index_offset(w, i, lane, &index, &offset);
    index += buffer.add_lane ? lane : 0;
    uint64_t at = buffer_offset(&buffer, index, offset);
    *va = buffer.base + soffset + at;
    if (buffer.stride != 0 || buffer.swizzle || at + soffset > buffer.records)
        return 0;
    return (uint32_t)(buffer.records - at - soffset) / 4;
}

uint8_t *buffer_contiguous(struct wave *w, const struct inst *i, uint32_t bytes, uint32_t access)
{
    struct buffer buffer = buffer_read(w, &i->src[2]);
    const uint32_t *offsets = w->v[i->src[0].index];
    bool plain = !buffer.swizzle && !buffer.stride && !buffer.add_lane;
    if (wave_exec(w) != ~0ull || !plain)
        return NULL;
    if ((i->flags & (IF_OFFEN | IF_IDXEN)) != IF_OFFEN || !lanes_contiguous(offsets, NULL, bytes))
        return NULL;
    uint32_t soffset = scalar_offset(w, i);
    uint64_t first = (uint64_t)offsets[0] + (uint32_t)i->offset + soffset;
    if (first + WAVE_LANES * bytes > buffer.records)
        return NULL;
    uint64_t va = buffer.base + first;
    uint8_t *host = vm_translate(w->group->reader, va, WAVE_LANES * bytes, access);
    if (host)
        access_log_span(w, i, va, bytes);
    return host;
}
