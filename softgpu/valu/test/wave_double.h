/* Test helper: one wave with registers of its own, instructions run on it directly. */
#ifndef VALU_TEST_WAVE_DOUBLE_H
#define VALU_TEST_WAVE_DOUBLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "valu/valu.h"
#include "wave/wave.h"

static lane_row registers[256], accumulators[256];
static struct wave wave;

static inline void wave_reset(uint32_t mode)
{
    memset(&wave, 0, sizeof wave);
    wave.v = registers;
    wave.a = accumulators;
    wave.vgpr_count = wave.agpr_count = 256;
    wave.s64[SREG_EXEC / 2] = ~UINT64_C(0);
    valu_mode_set(&wave, mode);
}

static inline struct operand vgpr_typed(uint16_t index, uint8_t type, uint8_t dwords)
{
    return (struct operand){.kind = OPND_VGPR, .type = type, .dwords = dwords, .index = index};
}
static inline struct operand vgpr(uint16_t index)
{
    return vgpr_typed(index, TYPE_B32, 1);
}
static inline struct operand sgpr(uint16_t index)
{
    return (struct operand){.kind = OPND_SREG, .type = TYPE_B32, .dwords = 1, .index = index};
}
static inline struct operand constant(uint64_t value)
{
    return (struct operand){.kind = OPND_CONST, .type = TYPE_B32, .dwords = 1, .value = value};
}

static inline void run(struct inst *i)
{
    i->dwords = 1;
    inst_exec_fn *handler = valu_handler(i);
    assert_non_null(handler);
    valu_enter(&wave);
    assert_ptr_equal(handler(&wave, i), i + 1);
    valu_leave();
}

/* dst = op(sources); registers only. */
static inline void run_vop3(uint16_t op, uint16_t dst, int sources, uint16_t a, uint16_t b,
                            uint16_t c)
{
    struct inst i = {.op = op, .format = FMT_VOP3, .dst = vgpr(dst), .src_count = (uint8_t)sources};
    i.src[0] = vgpr(a);
    if (sources > 1)
        i.src[1] = vgpr(b);
    if (sources > 2)
        i.src[2] = vgpr(c);
    i.sdst =
        (struct operand){.kind = OPND_SREG, .type = TYPE_MASK64, .dwords = 2, .index = SREG_VCC};
    run(&i);
}

static const char *const build_names[] = {"avx512", "avx2", "portable"};
static inline void each_build(void (*test)(void))
{
    for (size_t n = 0; n < 3; n++) {
        if (valu_build_select(build_names[n]) != 0)
            continue;
        assert_string_equal(valu_isa_name(), build_names[n]);
        wave_reset(0x2f0);
        test();
    }
}

static uint64_t random_state = 0x9e3779b97f4a7c15;
static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * UINT64_C(0x2545f4914f6cdd1d);
}
static inline uint32_t random_below(uint32_t n)
{
    return (uint32_t)((random_bits() >> 32) % n);
}

static inline void lane64_set(uint16_t reg, int lane, uint64_t x)
{
    registers[reg][lane] = (uint32_t)x;
    registers[reg + 1][lane] = (uint32_t)(x >> 32);
}
static inline uint64_t lane64(uint16_t reg, int lane)
{
    return registers[reg][lane] | (uint64_t)registers[reg + 1][lane] << 32;
}
static inline float float_of(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static inline double double_of(uint64_t u)
{
    double d;
    memcpy(&d, &u, 8);
    return d;
}
static inline uint32_t float_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static inline uint64_t double_bits(double d)
{
    uint64_t u;
    memcpy(&u, &d, 8);
    return u;
}

#endif
