#include "translate/rare.h"

/* The frame, behind the red zone: vector registers, masks, what of the others is in use. */
enum {
    RED_ZONE = 128,
    VECTORS = 32,
    VECTOR_BYTES = 64,
    MASKS_AT = VECTORS * VECTOR_BYTES,
    MASKS = 8,
    OTHERS_AT = MASKS_AT + 64,
    FRAME = OTHERS_AT + 64,
    ALIGNMENT = 64
};
static const uint8_t others[] = {RDI, RSI, RDX, RCX, R8, R9, R10, R11};

static void vectors_move(struct x86 *x, enum x86_form form)
{
    const unsigned count = x->level->vector_masks ? VECTORS / 2 : VECTORS;
    for (unsigned n = 0; n < count; n++)
        x86_vector(x, form, n, 0,
                   x86_memory(RSP, (int32_t)(n * sizeof(uint32_t) * x->level->lanes), false),
                   (struct x86_option){0});
}
static void masks_move(struct x86 *x, void move(struct x86 *, unsigned, enum x86_gpr, int32_t))
{
    if (x->level->vector_masks)
        return;
    for (unsigned k = 1; k < MASKS; k++)
        move(x, k, RSP, (int32_t)(MASKS_AT + k * sizeof(uint16_t)));
}

void rare_call(struct emitter *e, rare_fn *fn, const unsigned *hosts, unsigned count)
{
    struct x86 *x = e->x;
    uint32_t packed = 0;
    for (unsigned n = 0; n < count; n++)
        packed |= hosts[n] << RARE_HOST_BITS * n;
    x86_lea(x, RSP, RSP, -RED_ZONE);
    x86_push(x, RBP);
    x86_gpr_move(x, RBP, RSP);
    x86_lea(x, RSP, RSP, -FRAME);
    x86_gpr_and_imm(x, RSP, -ALIGNMENT);
    for (unsigned n = 0; n < sizeof others; n++)
        x86_store64(x, RSP, (int32_t)(OTHERS_AT + n * sizeof(uint64_t)), others[n]);
    vectors_move(x, X86_VMOVDQA32_STORE);
    masks_move(x, x86_mask_store);
    x86_vzeroupper(x);
    x86_gpr_move(x, RDI, RSP);
    x86_gpr_imm32(x, RSI, packed);
    x86_gpr_imm32(x, RDX, x->level->lanes);
    x86_gpr_imm64(x, RAX, (uint64_t)(uintptr_t)fn);
    x86_call(x, RAX);
    vectors_move(x, X86_VMOVDQA32_LOAD);
    masks_move(x, x86_mask_load);
    for (unsigned n = 0; n < sizeof others; n++)
        x86_load64(x, others[n], RSP, (int32_t)(OTHERS_AT + n * sizeof(uint64_t)));
    x86_gpr_move(x, RSP, RBP);
    x86_pop(x, RBP);
    x86_lea(x, RSP, RSP, RED_ZONE);
}
