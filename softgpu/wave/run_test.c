/*
 * Random runs of instructions that access memory, LDS and EXEC among others, as one translated
 * function and one by one: registers, memory, LDS, counts, what was noted for counters and modelled
 * time, faults, and where the wave goes on must be the same. What single vector instructions
 * compute is translate_test.c's: here they only make registers change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/decode.h"
#include "isa_ops.h"
#include "translate/emit.h"
#include "translate/translate.h"
#include "valu/valu.h"
#include "wave/flat_rows.h"
#include "wave/group.h"
#include "wave/host_levels.h"
#include "wave/run_twice.h"

enum {
    RUNS = 4000,
    STATES = 4, /* that each run is tried with */
    LDS_PROGRAMS = 8,
    LDS_STATES = 32
};
/* Registers with addresses, which few instructions write. */
enum { LDS_ROWS = 2, DATA_ROW = 5, DATA_ROWS = 11 };

/* ---- random instructions ---- */

static void data_fold(struct operand *operand)
{
    if (operand->kind == OPND_VGPR || operand->kind == OPND_AGPR)
        operand->index = (uint16_t)(DATA_ROW + operand->index % DATA_ROWS);
}

static bool scalar_fold(struct operand *operand)
{
    if (operand->kind != OPND_SREG || operand->index >= SREG_EXEC)
        return true;
    operand->index = (uint16_t)((10 + operand->index % 14) & ~1u);
    return operand->dwords <= 8;
}

static bool folded(struct inst *inst)
{
    bool fits = scalar_fold(&inst->dst) && scalar_fold(&inst->sdst);
    data_fold(&inst->dst);
    for (int n = 0; n < 3; n++) {
        fits = fits && scalar_fold(&inst->src[n]);
        data_fold(&inst->src[n]);
    }
    return fits;
}

static const uint16_t lds_usual[] = {
    OP_DS_READ_B32,  OP_DS_READ_B64,   OP_DS_READ2_B32,     OP_DS_READ2_B64,      OP_DS_WRITE_B32,
    OP_DS_WRITE_B64, OP_DS_WRITE2_B32, OP_DS_WRITE2_B64,    OP_DS_READ_B96,       OP_DS_READ_B128,
    OP_DS_WRITE_B96, OP_DS_WRITE_B128, OP_DS_READ2ST64_B32, OP_DS_READ_U8,        OP_DS_READ_I8,
    OP_DS_READ_U16,  OP_DS_READ_I16,   OP_DS_READ_I8_D16,   OP_DS_READ_U16_D16_HI};
enum { LDS_USUAL = sizeof lds_usual / sizeof *lds_usual };

static bool lds_instruction(struct inst *inst)
{
    const uint32_t word = 0xd8000000 | below(256) << 17 | (below(8) ? below(64) : below(65536)) |
                          (below(8) ? below(64) : 0) << 8;
    uint32_t words[4] = {word, (uint32_t)random_bits()};
    if (!isa_decode(GPU_GFX90A, words, 2, inst) || inst->flags & IF_GDS || !folded(inst))
        return false;
    inst->src[0].index = (uint16_t)below(LDS_ROWS);
    if (below(16) == 0 && inst->dst.kind == OPND_VGPR)
        inst->dst.index = (uint16_t)below(LDS_ROWS);
    bool is_usual = false;
    for (unsigned n = 0; n < LDS_USUAL; n++)
        is_usual |= inst->op == lds_usual[n];
    return is_usual || below(16) == 0;
}

static bool flat_instruction(struct inst *inst)
{
    enum { NO_SADDR = 0x7f, SCALAR_BASE = 10 };
    bool scalar = below(2), generic = !scalar && below(2);
    uint32_t words[4] = {0xdc000000 | below(128) << 18 | (generic ? 0u : 2u << 14) | below(128),
                         ((uint32_t)random_bits() & 0xff00ffff) | (scalar ? SCALAR_BASE : NO_SADDR)
                                                                      << 16};
    if (!isa_decode(GPU_GFX90A, words, 2, inst) || inst->flags & IF_LDS || !folded(inst))
        return false;
    inst->src[0].index = scalar ? OFFSET_ROW : GLOBAL_ROW;
    if (scalar)
        inst->src[2].index = BASE_SREG;
    if (below(16) == 0 && inst->dst.kind == OPND_VGPR)
        inst->dst.index = (uint16_t)below(LDS_ROWS);
    return !(inst->flags & IF_ATOMIC) || below(8) == 0;
}

static bool scalar_load(struct inst *inst)
{
    uint32_t words[4] = {0xc0000000 | 1u << 17 | below(5) << 18 | below(64) << 6 | BASE_SREG / 2,
                         below(32) ? 4 * below(256) : 4 * below(8192)};
    return isa_decode(GPU_GFX90A, words, 2, inst) && inst->flags & IF_LOAD &&
           inst->src[0].dwords == 2 && scalar_fold(&inst->dst);
}

/* A scalar format that is rare among random words, or the word itself. */
static uint32_t scalar_word(uint32_t word)
{
    const uint32_t source = below(4) ? 2 * below(64) : below(256), other = below(128);
    switch (below(8)) {
    case 0:
    case 1: /* branches and their like; none to the next one */
        return 0xbf800000 | below(0x24) << 16 | (1 + below(16));
    case 2: /* of one source, EXEC's among them */
        return 0xbe800000 | other << 16 | below(64) << 8 | source;
    case 3: /* comparisons */
        return 0xbf000000 | below(20) << 16 | other << 8 | source;
    default:
        return word;
    }
}

/* Neither dispatches nor jumps to anywhere, and mostly leaves EXEC alone. */
static bool scalar_instruction(struct inst *inst)
{
    uint32_t words[4] = {0x80000000 | ((uint32_t)random_bits() & 0x3fffffff),
                         (uint32_t)random_bits()};
    words[0] = scalar_word(words[0]);
    if (!isa_decode(GPU_GFX90A, words, 2, inst) || !folded(inst))
        return false;
    switch (inst->op) {
    case OP_S_SETPC_B64:
    case OP_S_SWAPPC_B64:
    case OP_S_CALL_B64:
    case OP_S_TRAP:
    case OP_S_RFE_B64:
        return false;
    case OP_S_ENDPGM:
    case OP_S_BARRIER:
    case OP_S_SLEEP:
    case OP_S_BRANCH:
        return below(32) == 0;
    default:
        return inst->dst.kind != OPND_SREG || inst->dst.index < SREG_EXEC || below(4) == 0;
    }
}

/* Of those that are translated, what computes no numbers that may be one of two NaNs. */
static bool vector_instruction(struct inst *inst)
{
    static const uint32_t formats[] = {0, 0, 0x7e000000, 0xd0000000, 0xd0000000};
    static const uint32_t masks[] = {0x80000000, 0x80000000, 0xfe000000, 0xfc000000, 0xfc000000};
    const uint32_t n = below(5);
    uint32_t words[4] = {((uint32_t)random_bits() & ~masks[n]) | formats[n],
                         (uint32_t)random_bits() & 0x07ffffff, (uint32_t)random_bits()};
    if (n > 2)
        words[0] &= ~0xff00u;
    if (!isa_decode(GPU_GFX90A, words, 3, inst) || inst->klass != CLASS_VALU || !folded(inst))
        return false;
    if (below(20) == 0 && inst->dst.kind == OPND_VGPR)
        inst->dst.index = (uint16_t)below(DATA_ROW);
    const struct operation *operation = operation_find(inst);
    if (!operation)
        return below(4) == 0;
    return operation->flags & COMPARES || inst->tally > TALLY_VALU_TRANS_F64 ||
           inst->op == OP_V_MOV_B32 || inst->op == OP_V_CNDMASK_B32;
}

/* Those of integers with four registers of results, which handlers execute. */
static bool matrix_instruction(struct inst *inst)
{
    enum { I32_16X16X16I8 = 0x55, I32_4X4X4I8 = 0x52 };
    const uint32_t opcode = below(2) ? I32_16X16X16I8 : I32_4X4X4I8;
    uint32_t words[2] = {0xd3800000 | opcode << 16 | below(256),
                         (uint32_t)random_bits() & 0x1fffffff};
    if (!isa_decode(GPU_GFX90A, words, 2, inst) || inst->klass != CLASS_MFMA || !folded(inst))
        return false;
    if (below(16) == 0 && inst->dst.kind == OPND_VGPR)
        inst->dst.index = (uint16_t)below(LDS_ROWS);
    return true;
}

/*
 * Those of floating point that chains are made of (valu/chain.h), of one type in a program: sums in
 * few places, which their factors are rarely among. The registers, LDS and memory that such
 * programs begin with have no NaN wherever an element begins, nothing but matrices computes, and
 * no number's half becomes another half: there is one NaN at most.
 */
static const uint8_t sums_opcodes[][2] = {{0x45, 0x44}, {0x6e, 0x6f}}; /* f32: 16, 32; f64: 16, 4 */
enum { SUMS_TYPES = sizeof sums_opcodes / sizeof *sums_opcodes };

static bool sums_instruction(struct inst *inst, const uint8_t opcodes[2])
{
    static const uint8_t places[] = {16, 16, 24, 40, DATA_ROW + 1};
    enum { ACCUMULATION = 1 << 15, REGISTERS = 1 << 8 | 1 << 17 | 1 << 26 };
    uint32_t words[2] = {0xd3800000 | (uint32_t)opcodes[below(4) == 0] << 16 |
                             (below(2) ? ACCUMULATION : 0),
                         ((uint32_t)random_bits() & 0x1fffffff) | REGISTERS};
    if (!isa_decode(GPU_GFX90A, words, 2, inst) || inst->klass != CLASS_MFMA || !folded(inst))
        return false;
    for (unsigned n = 0; n < 3; n++)
        inst->src[n].index = (uint16_t)((inst->src[n].index + 1) & ~1u);
    inst->dst.index = places[below(sizeof places)];
    if (below(8))
        inst->src[2] = inst->dst;
    return true;
}

/* Moves alone, of one register to others or to itself. */
static bool move_instruction(struct inst *inst)
{
    enum {
        V_MOV_B32 = 0x7e000300,
        V_SWAP_B32 = 0x7e00a300,
        ACC_READ = 0xd3d84000,
        ACC_WRITE = 0xd3d94000
    };
    static const uint32_t moves[] = {V_MOV_B32, V_SWAP_B32, ACC_READ, ACC_WRITE};
    const uint32_t kind = below(4), row = DATA_ROW + below(below(8) ? DATA_ROWS : 40);
    const uint32_t from = ((DATA_ROW + below(below(8) ? DATA_ROWS : 40)) & ~1u) | (row & 1);
    uint32_t words[2] = {moves[kind] | (kind < 2 ? row << 17 | from : row), 0};
    if (kind == 2)
        words[1] = 0x08000100 | from;
    else if (kind == 3)
        words[1] = 0x100 | from;
    return isa_decode(GPU_GFX90A, words, 2, inst) && inst->klass == CLASS_VALU;
}

/* Moves all lanes' addresses of LDS on, in the same run as who uses them. */
static bool address_instruction(struct inst *inst)
{
    enum { V_ADD_U32 = 0x68000000, INLINE_ZERO = 128 };
    const uint32_t row = below(LDS_ROWS);
    uint32_t words[1] = {V_ADD_U32 | row << 17 | row << 9 | (INLINE_ZERO + 4 * below(17))};
    return isa_decode(GPU_GFX90A, words, 1, inst) && inst->op == OP_V_ADD_U32;
}

static bool exec_instruction(struct inst *inst)
{
    enum { S_MOV_B64_EXEC = 0xbefe0100 };
    uint32_t words[1] = {S_MOV_B64_EXEC | (10 + 2 * below(7))};
    return isa_decode(GPU_GFX90A, words, 1, inst) && inst->op == OP_S_MOV_B64;
}

/* Of one or two dwords. */
static void lds_read(struct inst *inst)
{
    do
        while (!lds_instruction(inst))
            ;
    while (inst->op != OP_DS_READ_B32 && inst->op != OP_DS_READ_B64 &&
           inst->op != OP_DS_READ2_B32 && inst->op != OP_DS_READ2_B64);
}

static bool reads_instruction(struct inst *inst)
{
    const uint32_t kind = below(16);
    if (kind == 0)
        return exec_instruction(inst);
    if (kind < 6)
        return matrix_instruction(inst);
    lds_read(inst);
    return true;
}

/* `reads`: mostly of LDS, and what handlers execute between them, as in products of matrices. */
static void random_instruction(struct inst *inst, bool reads)
{
    struct inst invalid = {.op = OP_INVALID};
    inst_exec_fn *illegal = wave_handlers.find(&invalid);
    bool good = false;
    while (!good) {
        const uint32_t kind = below(17);
        good = reads && kind < 15 ? reads_instruction(inst)
               : kind < 5         ? lds_instruction(inst)
               : kind < 8         ? flat_instruction(inst)
               : kind < 9         ? scalar_load(inst)
               : kind < 10        ? address_instruction(inst)
               : kind < 12        ? scalar_instruction(inst)
               : kind < 13        ? matrix_instruction(inst)
                                  : vector_instruction(inst);
        if (!good)
            continue;
        inst->exec = wave_handlers.find(inst);
        good = translate_knows(inst) && (inst->exec != illegal || below(64) == 0);
    }
}

static void try_program(struct tally *tally)
{
    static struct inst slots[3 * TRANSLATE_RUN_MAX];
    const struct inst *insts[TRANSLATE_RUN_MAX];
    const unsigned wanted = TRANSLATE_RUN_MIN + below(below(2) ? 12 : TRANSLATE_RUN_MAX - 1);
    const bool reads = below(4) == 0;
    struct inst *slot = slots;
    for (unsigned n = 0; n < wanted; n++) {
        random_instruction(slot, reads);
        if (slot->klass == CLASS_BRANCH && slot->format == FMT_SOPP && below(8) == 0)
            slot->offset = -(int32_t)(slot - slots) - 1; /* a loop */
        insts[n] = slot;
        slot += slot->dwords;
    }
    twice_try(insts, wanted, flat_span, STATES, NULL, tally);
}

static void without_nan(void *memory, size_t bytes)
{
    for (size_t n = 0; n < bytes; n++)
        ((uint8_t *)memory)[n] &= 0xbf; /* below 2, whichever byte is the last one */
}

static void sums_fill(struct state *state)
{
    for (unsigned row = DATA_ROW; row < FILLED; row++)
        without_nan(state->v[row], sizeof state->v[row]);
    without_nan(state->a[0], sizeof(lane_row) * FILLED);
    without_nan(state->memory, sizeof state->memory);
    without_nan(state->lds, sizeof state->lds);
}

/* Bytes that get signs might become a NaN. */
static bool dwords_load(struct inst *inst)
{
    return flat_instruction(inst) && strstr(isa_op_names[inst->op], "_load_dword");
}

static void sums_random(struct inst *inst, const uint8_t opcodes[2])
{
    bool good = false;
    while (!good) {
        const uint32_t kind = below(16);
        good = kind < 8    ? sums_instruction(inst, opcodes)
               : kind < 10 ? move_instruction(inst)
               : kind < 11 ? exec_instruction(inst)
               : kind < 12 ? scalar_instruction(inst)
               : kind < 14 ? dwords_load(inst)
                           : true;
        if (kind >= 14)
            lds_read(inst);
        inst->exec = good ? wave_handlers.find(inst) : NULL;
        good = good && translate_knows(inst);
    }
}

static void try_sums(struct tally *tally)
{
    static struct inst slots[3 * TRANSLATE_RUN_MAX];
    const struct inst *insts[TRANSLATE_RUN_MAX];
    const unsigned wanted = TRANSLATE_RUN_MIN + below(TRANSLATE_RUN_MAX - 1);
    const uint8_t *opcodes = sums_opcodes[below(SUMS_TYPES)];
    struct inst *slot = slots;
    for (unsigned n = 0; n < wanted; n++) {
        sums_random(slot, opcodes);
        insts[n] = slot;
        slot += slot->dwords;
    }
    twice_try(insts, wanted, flat_span, STATES, sums_fill, tally);
}

/* Each way that lanes may lie is rare for each of these. */
static void try_lds(uint16_t op, struct tally *tally)
{
    static struct inst slots[3 * TRANSLATE_RUN_MIN];
    const struct inst *insts[TRANSLATE_RUN_MIN];
    struct inst *slot = slots;
    for (unsigned n = 0; n < TRANSLATE_RUN_MIN; n++) {
        do
            while (!lds_instruction(slot))
                ;
        while (slot->op != op);
        slot->exec = wave_handlers.find(slot);
        insts[n] = slot;
        slot += slot->dwords;
    }
    twice_try(insts, TRANSLATE_RUN_MIN, flat_span, LDS_STATES, NULL, tally);
}

static void same_as_interpreter(const char *name, enum host_level level)
{
    const char *rounds = getenv("CROC_TRANSLATE_RUNS");
    const unsigned runs = rounds ? (unsigned)strtoul(rounds, NULL, 10) : RUNS;
    const enum host_level before = host_level;
    struct tally tally = {0};
    if (valu_build_select(name) != 0)
        skip(); /* this host has it not */
    host_level = level;
    twice_begin();
    for (unsigned n = 0; n < runs; n++)
        try_program(&tally);
    for (unsigned n = 0; n < runs / 4; n++)
        try_sums(&tally);
    for (unsigned n = 0; n < LDS_USUAL * LDS_PROGRAMS; n++)
        try_lds(lds_usual[n % LDS_USUAL], &tally);
    twice_end();
    host_level = before;
    printf("%s: %u runs of %u instructions, %u to the end (%u in step), %u again, %u faults, %u "
           "waits, %u with fetches\n",
           name, tally.runs, tally.instructions, tally.ends, tally.in_step_ends, tally.loops,
           tally.faults, tally.waits, tally.fetching);
    assert_true(tally.ends > tally.runs / 8 && tally.in_step_ends > tally.runs / 100 &&
                tally.faults > tally.runs / 100 && tally.waits > tally.runs / 100 &&
                tally.loops > tally.runs / 1000 && tally.fetching > tally.runs / 100);
}

static void test_avx512(void **state)
{
    (void)state;
    same_as_interpreter("avx512", LEVEL_AVX512);
}
static void test_avx2(void **state)
{
    (void)state;
    same_as_interpreter("avx2", LEVEL_AVX2);
}

int main(void)
{
    twice_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_avx512),
        cmocka_unit_test(test_avx2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
