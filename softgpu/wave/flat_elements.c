/* FLAT, GLOBAL and SCRATCH instructions, wherever their elements lie. */
#include "wave/flat_elements.h"
#include "isa_ops.h"
#include "wave/address.h"
#include "wave/contiguous.h"
#include "wave/element.h"
#include "wave/group.h"
#include "wave/lds_direct.h"
#include "wave/time_note.h"

/* 64-bit addresses of all lanes; those of inactive lanes mean nothing. */
static void global_addresses(const struct wave *w, const struct inst *i, uint64_t *va)
{
    const lane_row *rows = w->v + i->src[0].index;
    uint64_t offset = (uint64_t)(int64_t)i->offset;
    if (i->flags & IF_SADDR)
        lanes_add(va, rows[0], wave_source_scalar(w, &i->src[2]) + offset);
    else
        lanes_join(va, rows[0], rows[1], offset);
}

static void scratch_offsets(const struct wave *w, const struct inst *i, uint32_t *offset)
{
    uint32_t base = (uint32_t)i->offset;
    if (i->flags & IF_SADDR)
        base += w->s[i->src[2].index];
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        offset[lane] = base + (i->src[0].kind == OPND_VGPR ? w->v[i->src[0].index][lane] : 0);
}

/* Lanes whose address lies in the aperture. */
static uint64_t lanes_in_aperture(const uint64_t *va, uint64_t lanes, uint32_t base_hi)
{
    uint64_t inside = 0;
    for (uint64_t left = lanes; left && base_hi; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        inside |= (uint64_t)(va[lane] >> 32 == base_hi) << lane;
    }
    return inside;
}

static bool lds_pointers(struct wave *w, const struct inst *i, const uint64_t *va, uint64_t lanes,
                         uint32_t size_bytes, struct lane_pointers *out)
{
    for (uint64_t left = lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint32_t offset = (uint32_t)va[lane];
        if ((uint64_t)offset + size_bytes > w->group->lds_bytes) {
            wave_fault(w, i, FAULT_APERTURE, va[lane]);
            return false;
        }
        out->host[lane] = w->group->lds + offset;
    }
    return true;
}

/* Of these lanes alone: the others' are there already. */
static bool private_pointers(struct wave *w, const struct inst *i, const uint32_t *offset,
                             uint64_t lanes, uint32_t size_bytes, struct lane_pointers *out)
{
    struct lane_pointers own;
    if (!scratch_pointers(w, i, offset, lanes, size_bytes, &own))
        return false;
    for (uint64_t left = lanes; left; left &= left - 1)
        out->host[__builtin_ctzll(left)] = own.host[__builtin_ctzll(left)];
    return true;
}

/* A generic address names LDS or private memory when its upper half is that aperture's. */
static bool generic_pointers(struct wave *w, const struct inst *i, const uint64_t *va,
                             uint32_t size_bytes, struct lane_pointers *out)
{
    const struct launch *launch = w->group->launch;
    uint64_t exec = wave_exec(w);
    uint64_t shared = lanes_in_aperture(va, exec, launch->shared_base_hi);
    uint64_t private = lanes_in_aperture(va, exec, launch->private_base_hi);
    uint64_t global = exec & ~shared & ~private;
    uint32_t offset[WAVE_LANES];
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        offset[lane] = (uint32_t)va[lane];
    w->group->flat_lds_insts += shared != 0;
    w->group->flat_lds_only += shared && shared == exec;
    if (global && !global_pointers(w, i, va, global, size_bytes, out))
        return false;
    if (!lds_pointers(w, i, va, shared, size_bytes, out))
        return false;
    if (!global && !private)
        access_log_vector(w, i, va, 0, size_bytes);
    if (shared && lds_watched(w, i))
        lds_note(w, i, offset, 0, shared, size_bytes);
    if (private && !private_pointers(w, i, offset, private, size_bytes, out))
        return false;
    out->lanes = exec;
    out->some_outside = false;
    return true;
}

static bool flat_pointers(struct wave *w, const struct inst *i, uint32_t size_bytes,
                          struct lane_pointers *out)
{
    uint64_t va[WAVE_LANES];
    if (i->flags & IF_SEG_SCRATCH) {
        uint32_t offset[WAVE_LANES];
        scratch_offsets(w, i, offset);
        return scratch_pointers(w, i, offset, wave_exec(w), size_bytes, out);
    }
    global_addresses(w, i, va);
    if (i->flags & IF_SEG_GLOBAL)
        return global_pointers(w, i, va, wave_exec(w), size_bytes, out);
    return generic_pointers(w, i, va, size_bytes, out);
}

/* The same of a full wave's elements that follow each other; NULL: they do not lie in one mapping,
 * or perhaps in an aperture. */
static uint8_t *span_elements(struct wave *w, const struct inst *i, uint64_t va, uint32_t bytes,
                              uint32_t access)
{
    if (va >> 48)
        return NULL;
    uint8_t *host = vm_translate(w->group->reader, va, WAVE_LANES * bytes, access);
    if (host)
        access_log_span(w, i, va, bytes);
    return host;
}

/* Where a full wave's elements lie when they follow each other in one mapping; NULL: elsewhere. */
static uint8_t *contiguous_elements(struct wave *w, const struct inst *i, uint32_t bytes,
                                    uint32_t access)
{
    const lane_row *rows = w->v + i->src[0].index;
    bool scalar_base = i->flags & IF_SADDR;
    if (wave_exec(w) != ~0ull)
        return NULL;
    if (!lanes_contiguous(rows[0], scalar_base ? NULL : rows[1], bytes))
        return NULL;
    uint64_t base = scalar_base ? wave_source_scalar(w, &i->src[2]) : (uint64_t)rows[1][0] << 32;
    uint64_t va = base + rows[0][0] + (uint64_t)(int64_t)i->offset;
    return span_elements(w, i, va, bytes, access);
}

/* The same where they lie in pieces (pieces.h). False: elsewhere. */
static bool piece_elements(struct wave *w, const struct inst *i, uint32_t bytes,
                           struct piece_place *out)
{
    const lane_row *rows = w->v + i->src[0].index;
    const bool scalar_base = i->flags & IF_SADDR;
    const uint64_t lanes = wave_exec(w);
    struct piece_extent extent;
    if (!pieces_find(rows[0], lanes, bytes, out, &extent) ||
        (!scalar_base && !lanes_same(rows[1], lanes)))
        return false;
    const uint64_t base = scalar_base ? wave_source_scalar(w, &i->src[2])
                                      : (uint64_t)rows[1][__builtin_ctzll(lanes)] << 32;
    out->va = base + (uint64_t)(int64_t)i->offset;
    return (out->va + extent.low) >> 48 == 0 && pieces_translate(w, i, &extent, bytes, out);
}

/* Anywhere in a mapping (scattered.h), of global memory. False: elsewhere. */
static bool scattered_elements(struct wave *w, const struct inst *i, uint32_t bytes,
                               struct scattered_place *out)
{
    const lane_row *rows = w->v + i->src[0].index;
    const bool scalar_base = i->flags & IF_SADDR;
    const uint64_t lanes = wave_exec(w);
    if (!lanes || i->flags & IF_SEG_SCRATCH || (!scalar_base && !lanes_same(rows[1], lanes)))
        return false;
    const uint64_t base = scalar_base ? wave_source_scalar(w, &i->src[2])
                                      : (uint64_t)rows[1][__builtin_ctzll(lanes)] << 32;
    out->va = base + (uint64_t)(int64_t)i->offset;
    out->offsets = rows[0];
    out->lanes = lanes;
    out->outside = 0;
    scattered_find(out);
    return (out->va + out->extent.low) >> 48 == 0 && scattered_translate(w, i, bytes, out);
}

ELEMENT_EXECS(flat_pointers, contiguous_elements, piece_elements, scattered_elements);

const struct inst *flat_load_dwords(struct wave *w, const struct inst *i)
{
    return exec_LOAD_DWORDS(w, i);
}

const struct inst *flat_store_dwords(struct wave *w, const struct inst *i)
{
    return exec_STORE_DWORDS(w, i);
}

const struct inst *flat_load_span(struct wave *w, const struct inst *i, uint64_t va)
{
    const struct element element = inst_element(i);
    const uint8_t *host = span_elements(w, i, va, element.bytes, VM_READ);
    if (!host)
        return NULL;
    rows_load(data_rows(w, &i->dst), host, element.dwords);
    return inst_next(i);
}

const struct inst *flat_store_span(struct wave *w, const struct inst *i, uint64_t va)
{
    const struct element element = inst_element(i);
    uint8_t *host = span_elements(w, i, va, element.bytes, VM_WRITE);
    if (!host)
        return NULL;
    rows_store(data_rows(w, &i->src[1]), host, element.dwords);
    w->stores_pending = true;
    return inst_next(i);
}

inst_exec_fn *flat_element_handler(struct inst *inst)
{
    if (inst->flags & IF_LDS) {
        bool exists = inst->flags & IF_LOAD && inst->flags & (IF_SEG_GLOBAL | IF_SEG_SCRATCH);
        return exists && lds_direct_keep_element(inst) ? execs.load_lds : NULL;
    }
    inst_exec_fn *exec = element_handler(inst, !(inst->flags & IF_SEG_SCRATCH), &execs);
    if (exec == exec_LOAD_DWORDS)
        return flat_load_dwords;
    return exec == exec_STORE_DWORDS ? flat_store_dwords : exec;
}
