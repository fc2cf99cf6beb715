/* gfx10: 10.1 and 10.3 differ in where a few blocks' registers lie and in fields of the trace. */
#include "gpu/family.h"
#include "gpu_gfx101_regs.h"
#include "gpu_gfx103_regs.h"

/* All shader stages (PS VS GS ES HS LS CS) count; the bits above would switch pipes off. */
#define SQ_CONTROL_ALL 0x7fu

/* Tokens are named by what is left out, as on gfx11, with compute registers (8 << 16); instructions
 * (3 << 24) are left out where said. gfx10.1 has one kind more, of counters, which nobody wants. */
enum {
    TOKENS_ALL = 8 << 16 | 0x683,
    TOKENS_OCCUPANCY = 3 << 24 | 8 << 16 | 0x7cf,
    TOKENS_NONE = 3 << 24 | 0x7ff,
    TOKEN_COUNTERS_GFX101 = 1 << 11
};
/* High water 5, stalls of registers, SPI and SQ, registers dropped on stall, utilisation timer,
 * time every 4096 cycles, draw events. */
#define CONTROL_GFX101                                                                             \
    (5u << 6 | 1u << 9 | 1u << 10 | 1u << 11 | 1u << 12 | 1u << 13 | 2u << 16 | 1u << 31)
/* gfx10.3 also has low water 4, and flushes by itself. */
#define CONTROL_GFX103 (CONTROL_GFX101 | 4u << 20 | 1u << 29)

#define TRACE(release, control_bits, token_bits)                                                   \
    {                                                                                              \
        GPU_TRACE_GFX10(release), .mask_bits = 1 << 6 << 10, /* compute waves */                   \
            .tokens_all = TOKENS_ALL | (token_bits),                                               \
                                  .tokens_occupancy = TOKENS_OCCUPANCY | (token_bits),             \
                                  .tokens_none = TOKENS_NONE | (token_bits),                       \
                                  .control_on = (control_bits) | 1, .control_off = (control_bits), \
                                  .part_bytes_shift = 34, .by_copy = 1                             \
    }

static const struct gpu_trace gfx101_trace = TRACE(GFX101, CONTROL_GFX101, TOKEN_COUNTERS_GFX101);
static const struct gpu_trace gfx103_trace = TRACE(GFX103, CONTROL_GFX103, 0);

#define GENERATION(release, trace_of)                                                              \
    {                                                                                              \
        GPU_GENERATION_GFX10(release), .sq_control_all = SQ_CONTROL_ALL,                           \
                                       .settle_select = REG_##release##_GRBM_PERFCOUNTER0_SELECT,  \
                                       .settle_low = REG_##release##_GRBM_PERFCOUNTER0_LO,         \
                                       .settle_high = REG_##release##_GRBM_PERFCOUNTER0_HI,        \
                                       .trace = &(trace_of)                                        \
    }

static const struct gpu_generation gfx101_generation = GENERATION(GFX101, gfx101_trace),
                                   gfx103_generation = GENERATION(GFX103, gfx103_trace);

#include "gpu_gfx10_blocks.h"
