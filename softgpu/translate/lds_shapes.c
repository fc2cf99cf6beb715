/* Which transfers of LDS are part of strips, and what they move. */
#include "isa_ops.h"
#include "translate/lds_code.h"

bool lds_shape_find(const struct inst *inst, struct lds_shape *shape)
{
    enum { LOW = LDS_HALF_LOW, HIGH = LDS_HALF_HIGH };
    static const struct {
        uint16_t op;
        struct lds_shape shape;
    } shapes[] = {
        {OP_DS_READ_B32, {1, 0, 0, 0, 0, 0, 1}},
        {OP_DS_READ_B64, {2, 0, 0, 0, 0, 0, 1}},
        {OP_DS_READ_B96, {3, 0, 0, 0, 0, 0, 1}},
        {OP_DS_READ_B128, {4, 0, 0, 0, 0, 0, 1}},
        {OP_DS_READ2_B32, {1, true, 0, 0, 0, 0, 4}},
        {OP_DS_READ2ST64_B32, {1, true, 0, 0, 0, 0, 256}},
        {OP_DS_READ2_B64, {2, true, 0, 0, 0, 0, 8}},
        {OP_DS_READ2ST64_B64, {2, true, 0, 0, 0, 0, 512}},
        {OP_DS_WRITE_B32, {1, 0, true, 0, 0, 0, 1}},
        {OP_DS_WRITE_B64, {2, 0, true, 0, 0, 0, 1}},
        {OP_DS_WRITE_B96, {3, 0, true, 0, 0, 0, 1}},
        {OP_DS_WRITE_B128, {4, 0, true, 0, 0, 0, 1}},
        {OP_DS_WRITE2_B32, {1, true, true, 0, 0, 0, 4}},
        {OP_DS_WRITE2ST64_B32, {1, true, true, 0, 0, 0, 256}},
        {OP_DS_WRITE2_B64, {2, true, true, 0, 0, 0, 8}},
        {OP_DS_WRITE2ST64_B64, {2, true, true, 0, 0, 0, 512}},
        {OP_DS_READ_U8, {1, 0, 0, 1, false, 0, 1}},
        {OP_DS_READ_I8, {1, 0, 0, 1, true, 0, 1}},
        {OP_DS_READ_U16, {1, 0, 0, 2, false, 0, 1}},
        {OP_DS_READ_I16, {1, 0, 0, 2, true, 0, 1}},
        {OP_DS_READ_U8_D16, {1, 0, 0, 1, false, LOW, 1}},
        {OP_DS_READ_U8_D16_HI, {1, 0, 0, 1, false, HIGH, 1}},
        {OP_DS_READ_I8_D16, {1, 0, 0, 1, true, LOW, 1}},
        {OP_DS_READ_I8_D16_HI, {1, 0, 0, 1, true, HIGH, 1}},
        {OP_DS_READ_U16_D16, {1, 0, 0, 2, false, LOW, 1}},
        {OP_DS_READ_U16_D16_HI, {1, 0, 0, 2, false, HIGH, 1}},
    };
    for (unsigned n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        *shape = shapes[n].shape;
        if (inst->op == shapes[n].op)
            return true;
    }
    return false;
}

static bool is_row(const struct operand *operand)
{
    return operand->kind == OPND_VGPR || operand->kind == OPND_AGPR;
}

bool lds_is_known(const struct inst *inst)
{
    struct lds_shape shape;
    if (inst->format != FMT_DS || inst->flags & IF_GDS || !lds_shape_find(inst, &shape) ||
        inst->src[0].kind != OPND_VGPR)
        return false;
    if (!shape.store)
        return is_row(&inst->dst);
    return is_row(&inst->src[1]) && (!shape.two || is_row(&inst->src[2]));
}

bool lds_is_store(const struct inst *inst)
{
    struct lds_shape shape;
    return lds_shape_find(inst, &shape) && shape.store;
}

unsigned lds_parts(const struct inst *inst)
{
    struct lds_shape shape;
    return lds_shape_find(inst, &shape) && shape.store && shape.two ? 2 : 1;
}
