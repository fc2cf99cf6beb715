/* gfx11: the sequencers count in each work-group processor, 32 bits wide. */
#include "gpu/family.h"
#include "gpu_gfx115_regs.h"
#include "gpu_gfx11_regs.h"

/* Shader stages PS GS HS CS; all VMIDs, whether or not their state asks to be counted. */
enum { SQ_CONTROL_ALL = 0x55, SQ_CONTROL2_ALL = 0xffff << 1 | 1 };

/* Tokens are named by what is left out (0..10), with compute registers (8 << 16); reads of
 * registers (3 << 26) and instructions (3 << 24) are left out where said. */
enum {
    TOKENS_ALL = 3 << 26 | 8 << 16 | 0x683,
    TOKENS_OCCUPANCY = 3 << 24 | 8 << 16 | 0x7cf,
    TOKENS_NONE = 3 << 26 | 3 << 24 | 0x7ff
};
/* High water 5, stalls of SPI and SQ, utilisation timer, time every 4096 cycles, low water 4,
 * flushes by itself, draw events. */
#define CONTROL_OFF                                                                                \
    (5u << 6 | 1u << 11 | 1u << 12 | 1u << 13 | 2u << 16 | 4u << 20 | 1u << 29 | 1u << 31)

#define TRACE(release, ...)                                                                        \
    {                                                                                              \
        GPU_TRACE_GFX10(release),                                                                  \
            .mask_bits = 1 << 17 | 1 << 6 << 10, /* no data of other waves; compute waves */       \
            .tokens_all = TOKENS_ALL, .tokens_occupancy = TOKENS_OCCUPANCY,                        \
            .tokens_none = TOKENS_NONE, .control_on = CONTROL_OFF | 1, .control_off = CONTROL_OFF, \
            __VA_ARGS__                                                                            \
    }

/* The write pointer begins at the buffer's address on gfx11.0, at 0 on gfx11.5. */
static const struct gpu_trace gfx11_trace =
    TRACE(GFX11, .part_bytes_shift = 29, .pointer_is_address = 1);
static const struct gpu_trace gfx115_trace = TRACE(GFX115, .part_bytes_shift = 34);

#define GENERATION(release, trace_of)                                                              \
    {                                                                                              \
        GPU_GENERATION_GFX10(release), .sq_control_all = SQ_CONTROL_ALL,                           \
                                       .sq_control2 = REG_##release##_SQ_PERFCOUNTER_CTRL2,        \
                                       .sq_control2_all = SQ_CONTROL2_ALL, .trace = &(trace_of)    \
    }

static const struct gpu_generation gfx11_generation = GENERATION(GFX11, gfx11_trace),
                                   gfx115_generation = GENERATION(GFX115, gfx115_trace);

#include "gpu_gfx11_blocks.h"
