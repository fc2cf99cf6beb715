/* MUBUF without conversion: raw and structured buffers, and private memory through the scratch
 * descriptor. */
#include "isa_ops.h"
#include "wave/element.h"
#include "wave/group.h"
#include "wave/lds_direct.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

static uint8_t *dword_host(struct wave *w, const struct inst *i, uint64_t va)
{
    uint8_t *host = vm_translate_element(w->group->reader, va, 4, inst_access(i));
    if (!host)
        wave_fault(w, i, i->flags & IF_STORE ? FAULT_MEMORY_WRITE : FAULT_MEMORY_READ, va);
    return host;
}

/* Dword by dword. False after wave_fault(). A store is done here, and the lane left out of what
 * follows. */
static bool cut_lane(struct wave *w, const struct inst *i, unsigned lane, uint32_t size_bytes,
                     struct lane_pointers *out)
{
    struct buffer_dwords at;
    const uint32_t dwords = buffer_dwords_inside(w, i, lane, size_bytes / 4, &at);
    out->host[lane] = NULL;
    if (!dwords)
        return true;
    const lane_row *rows = i->flags & IF_STORE ? data_rows(w, &i->src[1]) : NULL;
    memset(out->cut[lane], 0, sizeof out->cut[lane]);
    for (uint32_t n = 0; n < dwords; n++) {
        uint8_t *host = dword_host(w, i, at.va + (uint64_t)n * at.step_bytes);
        if (!host)
            return false;
        if (rows) {
            single_store_32(host, rows[n][lane]);
            continue;
        }
        uint32_t value = single_load_32(host);
        memcpy(out->cut[lane] + 4 * n, &value, 4);
    }
    if (!rows)
        out->host[lane] = out->cut[lane];
    return true;
}

/*
 * Loads and stores of several dwords look at each dword's range, and in swizzled buffers at its
 * place; atomics and typed accesses are inside or outside as a whole. Who counts accesses does not
 * see those of lanes that end outside, and of swizzled ones the first dwords'.
 */
static bool dwords_pointers(struct wave *w, const struct inst *i, uint32_t size_bytes,
                            struct lane_pointers *out)
{
    const bool cut = size_bytes > 4 && !(i->flags & IF_ATOMIC);
    const bool apart = cut && buffer_dwords_apart(w, i);
    if (!buffer_pointers(w, i, apart ? 4 : size_bytes, out))
        return false;
    if (!cut || (!apart && !out->some_outside))
        return true;
    out->some_outside = true;
    for (uint64_t left = out->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if ((apart || !out->host[lane]) && !cut_lane(w, i, lane, size_bytes, out))
            return false;
    }
    return true;
}

ELEMENT_EXECS(dwords_pointers, buffer_contiguous, buffer_pieces, buffer_scattered);

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

/* Caches are modelled by the counters; memory itself is coherent. */
EXEC_FN(NOTHING)
{
    (void)w;
    return inst_next(i);
}

EXEC_FN(INVALIDATE)
{
    access_log_invalidate(w, i);
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
        return inst->flags & IF_LOAD && lds_direct_keep_element(inst) ? execs.load_lds : NULL;
    return element_handler(inst, true, &execs);
}
