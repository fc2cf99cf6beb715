/*
 * Tokens of gfx9's thread trace: the SQ_THREAD_TRACE_WORD_* registers of AMD's headers describe
 * their fields; which events write which was seen in traces of a gfx950.
 */
#ifndef PERF_TOKEN_H
#define PERF_TOKEN_H

#include <stdint.h>

/* name, number (bits 0..3, and the bit of SQ_THREAD_TRACE_TOKEN_MASK), bytes */
#define TRACE_TOKENS(X)                                                                            \
    X(MISC, 0, 2)                                                                                  \
    X(TIMESTAMP, 1, 8)                                                                             \
    X(REG, 2, 8)                                                                                   \
    X(WAVE_START, 3, 4)                                                                            \
    X(WAVE_ALLOC, 4, 2)                                                                            \
    X(REG_CSPRIV, 5, 6)                                                                            \
    X(WAVE_END, 6, 2)                                                                              \
    X(EVENT, 7, 2)                                                                                 \
    X(EVENT_CS, 8, 2)                                                                              \
    X(EVENT_GFX1, 9, 2)                                                                            \
    X(INST, 10, 2)                                                                                 \
    X(INST_PC, 11, 8)                                                                              \
    X(INST_USERDATA, 12, 6)                                                                        \
    X(ISSUE, 13, 4)                                                                                \
    X(PERF, 14, 8)                                                                                 \
    X(REG_CS, 15, 6)

enum trace_token {
#define X(name, number, bytes) TOKEN_##name = number,
    TRACE_TOKENS(X)
#undef X
};

enum { TOKEN_TYPE_MASK = 0xf, TOKEN_DELTA = 1 << 4, TOKEN_CYCLES_PER_TICK = 4 };
enum { MISC_DELTA_SHIFT = 4, MISC_DELTA_MAX = 255, MISC_TIME_RESET = 1 << 13 };
enum { ISSUE_STALL = 1, ISSUE_INST = 2, ISSUE_IMMEDIATE = 3 };

/* Where a wave runs, as WAVE_START, WAVE_END and INST_USERDATA say it. */
struct token_wave {
    uint32_t sh, cu, wave, simd;
};

static inline uint64_t token_of_wave(enum trace_token type, const struct token_wave *w)
{
    return (uint64_t)type | w->sh << 5 | w->cu << 6 | w->wave << 10 | w->simd << 14;
}

static inline uint64_t token_wave_start(const struct token_wave *w, uint32_t lanes)
{
    return token_of_wave(TOKEN_WAVE_START, w) | (uint64_t)lanes << 22;
}

static inline uint64_t token_inst(const struct token_wave *w, uint32_t type)
{
    return TOKEN_INST | w->wave << 5 | w->simd << 9 | type << 11;
}

/* The address's low 40 bits. */
static inline uint64_t token_inst_pc(const struct token_wave *w, uint64_t pc_va)
{
    return TOKEN_INST_PC | w->wave << 5 | w->simd << 9 | (pc_va & 0xffffffffff) << 16;
}

static inline uint64_t token_userdata(const struct token_wave *w, uint32_t data)
{
    return token_of_wave(TOKEN_INST_USERDATA, w) | (uint64_t)data << 16;
}

static inline uint64_t token_issue(const struct token_wave *w, uint32_t state)
{
    return TOKEN_ISSUE | w->simd << 5 | (uint64_t)state << (8 + 2 * w->wave);
}

/* The compute micro engine wrote a register of the user-config space. */
static inline uint64_t token_register(uint32_t reg, uint32_t value)
{
    enum { ME = 1 << 7, USERDATA = 3 << 10, WRITE = 1 << 15 };
    return TOKEN_REG | ME | USERDATA | WRITE | (uint64_t)reg << 16 | (uint64_t)value << 32;
}

/* And one of the compute state, counted from its first. */
static inline uint64_t token_compute_register(uint32_t index, uint32_t value)
{
    enum { ME = 1 << 7 };
    return TOKEN_REG_CS | ME | index << 9 | (uint64_t)value << 16;
}

#endif
