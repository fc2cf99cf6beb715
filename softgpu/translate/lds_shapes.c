/* Which transfers of LDS are part of strips, and what they move. */
#include "isa_ops.h"
#include "translate/lds_code.h"

#define ONE         .unit = 1
#define STORE       .store = true
#define TWO(STRIDE) .two = true, .unit = STRIDE
#define SMALL(BYTES, IS_SIGNED, HALF)                                                              \
    .dwords = 1, ONE, .small = BYTES, .sign = IS_SIGNED, .half = LDS_HALF_##HALF
static const struct {
    uint16_t op;
    struct lds_shape shape;
} shapes[] = {
    {OP_DS_READ_B32, {.dwords = 1, ONE}},
    {OP_DS_READ_B64, {.dwords = 2, ONE}},
    {OP_DS_READ_B96, {.dwords = 3, ONE}},
    {OP_DS_READ_B128, {.dwords = 4, ONE}},
    {OP_DS_WRITE_B32, {.dwords = 1, ONE, STORE}},
    {OP_DS_WRITE_B64, {.dwords = 2, ONE, STORE}},
    {OP_DS_WRITE_B96, {.dwords = 3, ONE, STORE}},
    {OP_DS_WRITE_B128, {.dwords = 4, ONE, STORE}},
    {OP_DS_READ2_B32, {.dwords = 1, TWO(4)}},
    {OP_DS_READ2ST64_B32, {.dwords = 1, TWO(256)}},
    {OP_DS_READ2_B64, {.dwords = 2, TWO(8)}},
    {OP_DS_READ2ST64_B64, {.dwords = 2, TWO(512)}},
    {OP_DS_WRITE2_B32, {.dwords = 1, TWO(4), STORE}},
    {OP_DS_WRITE2ST64_B32, {.dwords = 1, TWO(256), STORE}},
    {OP_DS_WRITE2_B64, {.dwords = 2, TWO(8), STORE}},
    {OP_DS_WRITE2ST64_B64, {.dwords = 2, TWO(512), STORE}},
    {OP_DS_READ_U8, {SMALL(1, false, NONE)}},
    {OP_DS_READ_I8, {SMALL(1, true, NONE)}},
    {OP_DS_READ_U16, {SMALL(2, false, NONE)}},
    {OP_DS_READ_I16, {SMALL(2, true, NONE)}},
    {OP_DS_READ_U8_D16, {SMALL(1, false, LOW)}},
    {OP_DS_READ_U8_D16_HI, {SMALL(1, false, HIGH)}},
    {OP_DS_READ_I8_D16, {SMALL(1, true, LOW)}},
    {OP_DS_READ_I8_D16_HI, {SMALL(1, true, HIGH)}},
    {OP_DS_READ_U16_D16, {SMALL(2, false, LOW)}},
    {OP_DS_READ_U16_D16_HI, {SMALL(2, false, HIGH)}},
};

bool lds_shape_find(const struct inst *inst, struct lds_shape *shape)
{
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
