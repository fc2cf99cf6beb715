/* MUBUF without conversion: raw and structured buffers, and private memory through the scratch
 * descriptor. */
#include "isa_ops.h"
#include "wave/address.h"
#include "wave/contiguous.h"
#include "wave/group.h"
#include "wave/lds_direct.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

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

/* Where a full wave's elements lie when they follow each other in a buffer without stride, all of
 * them inside; NULL: elsewhere. */
static uint8_t *contiguous_elements(struct wave *w, const struct inst *i, uint32_t bytes,
                                    uint32_t access)
{
    struct buffer buffer = buffer_read(w, &i->src[2]);
    const uint32_t *offsets = w->v[i->src[0].index];
    bool plain = !buffer.swizzle && !buffer.stride && !buffer.add_lane;
    if (wave_exec(w) != ~0ull || !plain || w->group->wants & PERF_WANT_MEMORY)
        return NULL;
    if ((i->flags & (IF_OFFEN | IF_IDXEN)) != IF_OFFEN || !lanes_contiguous(offsets, NULL, bytes))
        return NULL;
    uint32_t soffset = scalar_offset(w, i);
    uint64_t first = (uint64_t)offsets[0] + (uint32_t)i->offset + soffset;
    if (first + WAVE_LANES * bytes > buffer.records)
        return NULL;
    return vm_translate(w->group->reader, buffer.base + first, WAVE_LANES * bytes, access);
}

EXEC_FN(LOAD)
{
    struct element element = inst_element(i);
    struct lane_pointers pointers;
    if (!buffer_pointers(w, i, element.bytes, &pointers))
        return NULL;
    lanes_load(&pointers, data_rows(w, &i->dst), &element);
    return inst_next(i);
}

EXEC_FN(LOAD_DWORDS)
{
    struct element element = inst_element(i);
    const uint8_t *host = contiguous_elements(w, i, element.bytes, VM_READ);
    if (!host)
        return exec_LOAD(w, i);
    rows_load(data_rows(w, &i->dst), host, element.dwords);
    return inst_next(i);
}

EXEC_FN(STORE)
{
    struct element element = inst_element(i);
    struct lane_pointers pointers;
    if (!buffer_pointers(w, i, element.bytes, &pointers))
        return NULL;
    lanes_store(&pointers, data_rows(w, &i->src[1]), &element);
    w->stores_pending = true;
    return inst_next(i);
}

EXEC_FN(STORE_DWORDS)
{
    struct element element = inst_element(i);
    uint8_t *host = contiguous_elements(w, i, element.bytes, VM_WRITE);
    if (!host)
        return exec_STORE(w, i);
    rows_store(data_rows(w, &i->src[1]), host, element.dwords);
    w->stores_pending = true;
    return inst_next(i);
}

EXEC_FN(LOAD_LDS)
{
    struct lane_pointers pointers;
    if (!buffer_pointers(w, i, inst_element(i).bytes, &pointers))
        return NULL;
    lds_direct_load(w, i, &pointers);
    return inst_next(i);
}

EXEC_FN(STORE_LDS)
{
    struct lane_pointers pointers;
    lane_row values[1];
    if (!buffer_pointers(w, i, 4, &pointers))
        return NULL;
    lds_direct_read(w, i, values[0]);
    store_rows(&pointers, values, 1);
    w->stores_pending = true;
    return inst_next(i);
}

EXEC_FN(ATOMIC)
{
    struct atomic_op op = inst_atomic(i);
    struct lane_pointers pointers;
    if (!buffer_pointers(w, i, op.bytes, &pointers))
        return NULL;
    lane_row *old = i->dst.kind == OPND_NONE ? NULL : data_rows(w, &i->dst);
    lanes_atomic(&pointers, data_rows(w, &i->src[1]), old, &op);
    return inst_next(i);
}

/* Caches are modelled by the counters; memory itself is coherent. */
EXEC_FN(NOTHING)
{
    (void)w;
    return inst_next(i);
}

EXEC_FN(INVALIDATE)
{
    access_log_invalidate(w);
    return inst_next(i);
}

inst_exec_fn *buffer_handler(struct inst *inst)
{
    switch (inst->op) {
    case OP_BUFFER_WBL2:
    case OP_BUFFER_INVL2:
        return exec_NOTHING;
    case OP_BUFFER_INV:
    case OP_BUFFER_WBINVL1:
    case OP_BUFFER_WBINVL1_VOL:
        return exec_INVALIDATE;
    default:
        break;
    }
    if (strstr(isa_op_names[inst->op], "_format_"))
        return typed_handler(inst);
    if (inst->flags & IF_LDS && inst->op == OP_BUFFER_STORE_LDS_DWORD)
        return exec_STORE_LDS;
    if (inst->flags & IF_LDS)
        return inst->flags & IF_LOAD && lds_direct_keep_element(inst) ? exec_LOAD_LDS : NULL;
    if (inst->flags & IF_ATOMIC)
        return inst_keep_atomic(inst) ? exec_ATOMIC : NULL;
    if (!inst_keep_element(inst))
        return NULL;
    bool dwords = inst_element(inst).bytes >= 4;
    if (inst->flags & IF_LOAD)
        return dwords ? exec_LOAD_DWORDS : exec_LOAD;
    return dwords ? exec_STORE_DWORDS : exec_STORE;
}
