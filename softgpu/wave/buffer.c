/* MUBUF without conversion: raw and structured buffers, and private memory through the scratch
 * descriptor. */
#include "isa_ops.h"
#include "wave/element.h"
#include "wave/group.h"
#include "wave/lds_direct.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

/* False after wave_fault(). A store is done here, and the lane left out of what follows. */
static bool cut_lane(struct wave *w, const struct inst *i, unsigned lane, struct lane_pointers *out)
{
    uint64_t va;
    uint32_t dwords = buffer_dwords_inside(w, i, lane, &va);
    if (!dwords)
        return true;
    uint8_t *host = vm_translate(w->group->reader, va, 4 * dwords, inst_access(i));
    if (!host) {
        wave_fault(w, i, i->flags & IF_STORE ? FAULT_MEMORY_WRITE : FAULT_MEMORY_READ, va);
        return false;
    }
    if (i->flags & IF_STORE) {
        const lane_row *rows = data_rows(w, &i->src[1]);
        for (uint32_t n = 0; n < dwords; n++)
            single_store_32(host + 4 * n, rows[n][lane]);
        return true;
    }
    memset(out->cut[lane], 0, sizeof out->cut[lane]);
    for (uint32_t n = 0; n < dwords; n++) {
        uint32_t value = single_load_32(host + 4 * n);
        memcpy(out->cut[lane] + 4 * n, &value, 4);
    }
    out->host[lane] = out->cut[lane];
    return true;
}

/*
 * Loads and stores of several dwords look at each dword's range; atomics and typed accesses are
 * inside or outside as a whole. Who counts accesses does not see those of such lanes.
 */
static bool dwords_pointers(struct wave *w, const struct inst *i, uint32_t size_bytes,
                            struct lane_pointers *out)
{
    if (!buffer_pointers(w, i, size_bytes, out))
        return false;
    if (!out->some_outside || size_bytes <= 4 || i->flags & IF_ATOMIC)
        return true;
    for (uint64_t left = out->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        if (!out->host[lane] && !cut_lane(w, i, lane, out))
            return false;
    }
    return true;
}

ELEMENT_EXECS(dwords_pointers, buffer_contiguous);

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
        return inst->flags & IF_LOAD && lds_direct_keep_element(inst) ? execs.load_lds : NULL;
    return element_handler(inst, true, &execs);
}
