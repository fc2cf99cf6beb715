/* The stack, calls and returns. Registers are of the lower eight. */
#include "translate/x86.h"

#define PUT(x, ...)                                                                                \
    x86_put(x, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void stack_add(struct x86 *x, int32_t bytes)
{
    const uint32_t imm = (uint32_t)bytes;
    PUT(x, 0x48, 0x81, 0xc0 | RSP, (uint8_t)imm, (uint8_t)(imm >> 8), (uint8_t)(imm >> 16),
        (uint8_t)(imm >> 24));
}
void x86_frame_enter(struct x86 *x, int32_t bytes)
{
    x86_push(x, RBX);
    x86_push(x, RBP);
    stack_add(x, -bytes);
    x86_gpr_move(x, RBX, RDI);
    x86_gpr_move(x, RBP, RSI);
}
void x86_frame_leave(struct x86 *x, int32_t bytes)
{
    stack_add(x, bytes);
    x86_pop(x, RBP);
    x86_pop(x, RBX);
}
void x86_push(struct x86 *x, enum x86_gpr gpr)
{
    PUT(x, (uint8_t)(0x50 | gpr));
}
void x86_pop(struct x86 *x, enum x86_gpr gpr)
{
    PUT(x, (uint8_t)(0x58 | gpr));
}
void x86_call(struct x86 *x, enum x86_gpr target)
{
    PUT(x, 0xff, (uint8_t)(0xd0 | target));
}
void x86_jump_to(struct x86 *x, enum x86_gpr target)
{
    PUT(x, 0xff, (uint8_t)(0xe0 | target));
}
void x86_return(struct x86 *x)
{
    PUT(x, 0xc3);
}
void x86_vzeroupper(struct x86 *x)
{
    PUT(x, 0xc5, 0xf8, 0x77);
}

/* A locked access of the stack's top orders like mfence, and is faster on most processors. */
void x86_fence(struct x86 *x)
{
    PUT(x, 0xf0, 0x83, 0x0c, 0x24, 0x00);
}
