/* MUBUF without conversion: raw and structured buffers, and private memory through the scratch
 * descriptor. */
#include "isa_ops.h"
#include "wave/element.h"
#include "wave/group.h"
#include "wave/lds_direct.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

ELEMENT_EXECS(buffer_pointers, buffer_contiguous);

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
