/*
 * Runs with registers that are linear in the lane (translate/linear.h), as kernels compute
 * addresses of elements: random ones, against the interpreter (run_twice.h). Their accesses begin
 * at the borders of a mapping, or behind them, aligned or not; numbers wrap around within a wave;
 * some lanes are off, or one goes its own way.
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
#include "perf/sampling.h"
#include "translate/translate.h"
#include "valu/valu.h"
#include "wave/flat_rows.h"
#include "wave/host_levels.h"
#include "wave/run_twice.h"

enum { RUNS = 4000, STATES = 4, GAP_MAX = 4 };
enum { SLOTS = (3 + GAP_MAX) * TRANSLATE_RUN_MAX };
/* Items, each with the upper half of its number behind it; the others are anybody's. */
enum { ITEM = 0, OTHER_ITEM = 6, NUMBERS = 12, DATA = 12, DATA_ROWS = 8 };
enum { BASE_A = 4, BASE_B = 6, LIMIT = 14, SMALL = 12, SAVED = 24 };

/* ---- instructions ---- */

static struct inst pool[OP_COUNT]; /* one of each, to be given other operands */

/* Without modifiers. */
static void pool_fill(void)
{
    static const uint32_t formats[] = {0x7e000000, 0x7c000000, 0xd0000000, 0xbe800000,
                                       0x80000000, 0xbf800000, 0};
    static const uint32_t masks[] = {0xfe000000, 0xfe000000, 0xfc00ff00, 0xff800000,
                                     0xc0000000, 0xff800000, 0x80000000};
    memset(pool, 0, sizeof pool);
    for (unsigned n = 0; n < 400000; n++) {
        const unsigned k = n % (sizeof formats / sizeof *formats);
        const uint32_t words[4] = {((uint32_t)random_bits() & ~masks[k]) | formats[k],
                                   (uint32_t)random_bits() & 0x07ffffff, (uint32_t)random_bits()};
        struct inst inst;
        if (isa_decode(GPU_GFX90A, words, 3, &inst) && inst.modifier == MOD_NONE && !inst.omod &&
            !(inst.flags & IF_CLAMP) && !(inst.neg | inst.abs | inst.op_sel))
            pool[inst.op] = inst;
    }
}

static struct inst *slot; /* where the next one goes */
static const struct inst *insts[TRANSLATE_RUN_MAX];
static unsigned count;

static struct inst *put(uint16_t op)
{
    assert_int_not_equal(pool[op].dwords, 0);
    *slot = pool[op];
    return slot;
}
static void done(void)
{
    slot->exec = wave_handlers.find(slot);
    if (count < TRANSLATE_RUN_MAX && translate_knows(slot)) {
        insts[count++] = slot;
        slot += slot->dwords;
    }
}

static void vgpr(struct operand *operand, unsigned index)
{
    operand->kind = OPND_VGPR;
    operand->index = (uint16_t)index;
}
static void sreg(struct operand *operand, unsigned index)
{
    operand->kind = OPND_SREG;
    operand->index = (uint16_t)index;
}
static void number(struct operand *operand, uint64_t value)
{
    operand->kind = OPND_CONST;
    operand->value = value;
}

static uint64_t some_number(void)
{
    static const uint64_t numbers[] = {0, 1, 2, 4, 31, 63, 64, 0x3ff, 0xffff, 0xffffffff};
    return numbers[below(sizeof numbers / sizeof *numbers)];
}

/* What the encoding has for it: only the first source of a short one may be anything. */
static void source(struct inst *inst, int n)
{
    static const uint8_t scalars[] = {SMALL, LIMIT, BASE_A, BASE_B, SREG_VCC};
    struct operand *operand = &inst->src[n];
    if (operand->kind == OPND_NONE || operand->type == TYPE_MASK64)
        return;
    const uint32_t kind = n == 0 || inst->format == FMT_VOP3 ? below(6) : 0;
    if (kind == 4)
        sreg(operand, scalars[below(sizeof scalars)]);
    else if (kind == 5)
        number(operand, some_number());
    else
        vgpr(operand, below(3) ? below(NUMBERS - 1) : below(2));
}

/* One of its own, or, as compilers like it, what the instruction reads as a number. */
static unsigned mask_pair(const struct inst *inst)
{
    for (int n = 0; n < 2; n++)
        if (inst->src[n].kind == OPND_SREG && inst->src[n].index == SMALL)
            return SMALL;
    return 30;
}

/* As compilers begin with an item's number: the mask takes the place of what is read. */
static void number_and_mask(void)
{
    const bool compares = below(3) == 0;
    struct inst *inst = put(compares ? OP_V_CMP_GT_U32 : OP_V_MAD_U64_U32);
    if (compares && inst->format != FMT_VOP3)
        return;
    sreg(&inst->src[0], SMALL);
    sreg(compares ? &inst->dst : &inst->sdst, SMALL);
    if (compares) {
        vgpr(&inst->src[1], below(2) ? ITEM : OTHER_ITEM);
    } else {
        number(&inst->src[1], below(4));
        vgpr(&inst->src[2], below(2) ? ITEM : OTHER_ITEM);
        vgpr(&inst->dst, below(2) ? ITEM : 2 + 2 * below(3));
    }
    done();
}

static void numbers_instruction(void)
{
    static const uint16_t ops[] = {
        OP_V_MOV_B32,        OP_V_MOV_B32,       OP_V_ADD_U32,     OP_V_ADD_CO_U32,
        OP_V_ADDC_CO_U32,    OP_V_SUB_U32,       OP_V_SUBREV_U32,  OP_V_SUB_CO_U32,
        OP_V_SUBB_CO_U32,    OP_V_SUBREV_CO_U32, OP_V_LSHLREV_B32, OP_V_LSHL_ADD_U32,
        OP_V_ADD_LSHL_U32,   OP_V_ADD3_U32,      OP_V_MUL_LO_U32,  OP_V_AND_B32,
        OP_V_ASHRREV_I32,    OP_V_LSHLREV_B64,   OP_V_MAD_U64_U32, OP_V_CMP_LT_U32,
        OP_V_CMP_GE_U32,     OP_V_CMP_GT_I32,    OP_V_CMP_LE_U64,  OP_V_CMP_GT_U64,
        OP_V_CMP_LT_I64,     OP_V_CMP_EQ_U32,    OP_V_CNDMASK_B32, OP_V_XOR_B32,
        OP_V_SUBBREV_CO_U32, OP_V_BFE_U32,
    };
    struct inst *inst = put(ops[below(sizeof ops / sizeof *ops)]);
    for (int n = 0; n < 3; n++)
        source(inst, n);
    if (inst->op == OP_V_ASHRREV_I32)
        number(&inst->src[0], below(4) ? 31 : below(32));
    if (inst->op == OP_V_LSHLREV_B32 || inst->op == OP_V_LSHLREV_B64)
        number(&inst->src[0], below(5));
    if (inst->op == OP_V_LSHL_ADD_U32)
        number(&inst->src[1], below(5));
    if (inst->op == OP_V_ADD_LSHL_U32)
        number(&inst->src[2], below(5));
    if (inst->op == OP_V_BFE_U32) {
        number(&inst->src[1], 0);
        number(&inst->src[2], 10);
    }
    if (inst->dst.kind == OPND_VGPR)
        inst->dst.index = (uint16_t)(below(8) ? 2 + below(NUMBERS - 4) : below(NUMBERS));
    else
        sreg(&inst->dst, SREG_VCC);
    if (inst->sdst.kind == OPND_SREG)
        sreg(&inst->sdst, inst->format == FMT_VOP3 && below(3) == 0 ? mask_pair(inst) : SREG_VCC);
    if (inst->src[2].type == TYPE_MASK64)
        sreg(&inst->src[2], SREG_VCC);
    done();
}

/* What another lane of the row has of a number, which few lanes or none do for themselves. */
static void moved_number(void)
{
    static const uint16_t controls[] = {0x0b1, 0x101, 0x108, 0x111, 0x118, 0x124, 0x140, 0x141};
    static const uint8_t banks[] = {0xf, 0xf, 0xe, 0x3};
    struct inst *inst = put(OP_V_MOV_B32);
    inst->format = FMT_VOP1;
    inst->modifier = MOD_DPP;
    inst->dpp.ctrl = controls[below(sizeof controls / sizeof *controls)];
    inst->dpp.row_mask = 0xf;
    inst->dpp.bank_mask = banks[below(sizeof banks)] & 0xf;
    inst->flags |= below(2) ? IF_DPP_BOUND_CTRL : 0;
    vgpr(&inst->src[0], below(NUMBERS));
    vgpr(&inst->dst, below(3) ? DATA + below(DATA_ROWS) : below(NUMBERS));
    done();
}

static void data_instruction(void)
{
    static const uint16_t ops[] = {OP_V_XOR_B32, OP_V_MUL_LO_U32,  OP_V_ADD_U32,
                                   OP_V_MOV_B32, OP_V_CNDMASK_B32, OP_V_READFIRSTLANE_B32};
    if (below(6) == 0) {
        moved_number();
        return;
    }
    struct inst *inst = put(ops[below(sizeof ops / sizeof *ops)]);
    if (inst->op == OP_V_READFIRSTLANE_B32) {
        if (below(8))
            return;
        sreg(&inst->dst, 28);
        vgpr(&inst->src[0], below(DATA + DATA_ROWS));
        done();
        return;
    }
    for (int n = 0; n < 2; n++)
        if (inst->src[n].kind != OPND_NONE)
            vgpr(&inst->src[n], below(3) ? DATA + below(DATA_ROWS) : below(NUMBERS));
    if (inst->src[2].type == TYPE_MASK64)
        sreg(&inst->src[2], SREG_VCC);
    vgpr(&inst->dst, DATA + below(DATA_ROWS));
    done();
}

/* ---- accesses ---- */

static bool flat_put(bool load, unsigned dwords, bool scalar_base, bool generic)
{
    enum { LOAD_DWORD = 0x14, STORE_DWORD = 0x1c, NO_SADDR = 0x7f };
    static const uint8_t codes[] = {0, 0, 1, 2, 3}; /* one, two, three, four dwords */
    const uint32_t op = (load ? LOAD_DWORD : STORE_DWORD) + codes[dwords];
    const uint32_t words[2] = {0xdc000000 | op << 18 | (generic ? 0u : 2u << 14),
                               (scalar_base ? BASE_A : (uint32_t)NO_SADDR) << 16};
    return isa_decode(GPU_GFX90A, words, 2, slot);
}

static void access_put(unsigned address, unsigned dwords, bool scalar_base)
{
    static const int32_t offsets[] = {0, 0, 0, 16, 1024, -16, -1024, 4, 1};
    const bool load = below(2), generic = !scalar_base && below(4) == 0;
    assert_true(flat_put(load, dwords, scalar_base, generic));
    vgpr(&slot->src[0], address);
    slot->offset = generic ? 0 : offsets[below(sizeof offsets / sizeof *offsets)];
    vgpr(load ? &slot->dst : &slot->src[1],
         below(6) ? DATA + below(DATA_ROWS - 3) : below(NUMBERS - 4));
    done();
}

/* base + (item << shift), as compilers do it. */
static void element_access(void)
{
    static const uint8_t dwords_of[] = {1, 1, 1, 2, 4};
    const unsigned shift = 2 + below(3), low = 2 + below(4) * 2, upper = 10 + below(2);
    const unsigned base = below(2) ? BASE_A : BASE_B;
    struct inst *inst = put(OP_V_LSHLREV_B64);
    number(&inst->src[0], shift);
    vgpr(&inst->src[1], below(4) ? ITEM : OTHER_ITEM);
    vgpr(&inst->dst, low);
    done();
    inst = put(OP_V_MOV_B32);
    sreg(&inst->src[0], base + 1);
    vgpr(&inst->dst, upper);
    done();
    for (unsigned n = 0; n < 2; n++) {
        inst = put(n ? OP_V_ADDC_CO_U32 : OP_V_ADD_CO_U32);
        sreg(&inst->src[0], base);
        if (n) {
            vgpr(&inst->src[0], upper);
            sreg(&inst->src[2], SREG_VCC);
        }
        vgpr(&inst->src[1], low + n);
        vgpr(&inst->dst, low + n);
        sreg(&inst->sdst, SREG_VCC);
        done();
    }
    access_put(low, below(8) ? dwords_of[shift] : 1 + below(4), false);
}

static void offset_access(void)
{
    const unsigned dwords = 1 + below(4), offset = 2 + below(8);
    struct inst *inst = put(dwords == 3 ? OP_V_MUL_LO_U32 : OP_V_LSHLREV_B32);
    if (dwords == 3) {
        vgpr(&inst->src[0], 0);
        number(&inst->src[1], 12);
    } else {
        number(&inst->src[0], dwords == 4 ? 4 : dwords == 2 ? 3 : 2);
        vgpr(&inst->src[1], 0);
    }
    vgpr(&inst->dst, offset);
    done();
    access_put(offset, dwords, true);
}

/* Items below a limit go on; mostly that is all of them. */
static void guard(void)
{
    static const uint16_t ops[] = {OP_V_CMP_GT_U64, OP_V_CMP_GT_U32, OP_V_CMP_GT_I32};
    struct inst *inst = put(OP_V_ASHRREV_I32);
    if (below(2)) { /* the upper half of a signed number */
        number(&inst->src[0], 31);
        vgpr(&inst->src[1], 0);
        vgpr(&inst->dst, 1);
        done();
    }
    inst = put(ops[below(3)]);
    sreg(&inst->src[0], LIMIT);
    vgpr(&inst->src[1], 0);
    sreg(inst->sdst.kind == OPND_SREG ? &inst->sdst : &inst->dst, SREG_VCC);
    done();
    inst = put(OP_S_AND_SAVEEXEC_B64);
    sreg(&inst->dst, SAVED);
    sreg(&inst->src[0], SREG_VCC);
    done();
    static const uint16_t branches[] = {OP_S_CBRANCH_EXECZ, OP_S_CBRANCH_VCCZ, OP_S_CBRANCH_SCC1};
    inst = put(branches[below(8) ? 0 : below(3)]);
    inst->offset = 1 + (int32_t)below(16);
    done();
    if (below(2))
        return;
    inst = put(OP_S_OR_B64);
    sreg(&inst->dst, SREG_EXEC);
    sreg(&inst->src[0], SREG_EXEC);
    sreg(&inst->src[1], SAVED);
    done();
}

/* The run goes on at a branch's target, which is taken or not. */
static void jump(void)
{
    static const uint16_t branches[] = {OP_S_CBRANCH_EXECNZ, OP_S_CBRANCH_EXECZ, OP_S_CBRANCH_VCCNZ,
                                        OP_S_CBRANCH_SCC0};
    struct inst *inst = put(branches[below(4) ? 0 : below(4)]);
    inst->offset = 1 + (int32_t)below(GAP_MAX);
    done();
    slot = inst + inst->dwords + inst->offset;
}

static void move(unsigned to, unsigned from)
{
    struct inst *inst = put(OP_V_MOV_B32);
    vgpr(&inst->src[0], from);
    vgpr(&inst->dst, to);
    done();
}

/* What loops end with otherwise than they began: steps that grow, registers that change places. */
static void turn(void)
{
    const unsigned a = below(3) ? ITEM : 2 + below(4), b = below(3) ? OTHER_ITEM : 7 + below(4);
    if (below(2)) {
        move(11, a);
        move(a, b);
        move(b, 11);
        return;
    }
    struct inst *inst = put(OP_V_ADD_U32);
    vgpr(&inst->src[0], a);
    vgpr(&inst->src[1], below(2) ? a : b);
    vgpr(&inst->dst, a);
    done();
}

static void scalar_instruction(void)
{
    const bool base = below(2);
    struct inst *inst = put(OP_S_ADD_U32);
    sreg(&inst->dst, base ? BASE_A : SMALL);
    sreg(&inst->src[0], base ? BASE_A : SMALL);
    number(&inst->src[1], base ? 16 * below(8) : below(64));
    done();
    if (!base) { /* one half of which was written alone */
        inst = put(OP_V_LSHLREV_B64);
        number(&inst->src[0], below(5));
        sreg(&inst->src[1], SMALL);
        vgpr(&inst->dst, 2 + 2 * below(4));
        done();
    }
    if (below(2))
        return;
    inst = put(OP_S_WAITCNT);
    done();
}

static void program_end(const struct inst *first)
{
    struct inst *inst;
    switch (below(5)) {
    case 0:
        inst = put(OP_S_ENDPGM);
        break;
    case 1:
    case 3:
        inst = put(below(2) ? OP_S_CBRANCH_EXECNZ : OP_S_CBRANCH_SCC1);
        inst->offset = -(int32_t)(slot - first) - 1;
        break;
    case 2:
        inst = put(OP_S_BRANCH);
        inst->offset = 5;
        break;
    default:
        return;
    }
    done();
}

static void program_make(struct inst *slots)
{
    const unsigned blocks = 1 + below(12);
    slot = slots;
    count = 0;
    for (unsigned n = 0; n < blocks; n++)
        switch (below(9)) {
        case 0:
        case 1:
            element_access();
            break;
        case 2:
            offset_access();
            break;
        case 3:
            guard();
            break;
        case 4:
            data_instruction();
            break;
        case 5:
            if (below(2))
                scalar_instruction();
            else
                jump();
            break;
        case 6:
            number_and_mask();
            break;
        default:
            numbers_instruction();
            break;
        }
    if (below(4) == 0)
        turn();
    program_end(slots);
}

/* ---- states ---- */

static void pair_set(struct state *s, unsigned first, uint64_t value)
{
    memcpy(&s->wave.s[first], &value, sizeof value);
}

/* A place in memory: mostly good for a quarter of it. */
static uint64_t some_base(void)
{
    static const uint32_t steps[] = {16, 16, 16, 16, 4, 1};
    const uint64_t base = MEMORY_VA + below(64) * steps[below(6)];
    return below(16) ? base : base + MEMORY_BYTES - 4096 + 16 * below(256);
}

static void items_set(struct state *s)
{
    uint32_t first = below(4) ? 64 * below(8) : below(512);
    if (below(16) == 0)
        first = (below(2) ? UINT32_MAX : INT32_MAX) - below(128);
    const uint32_t other = first + below(64);
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++) {
        s->v[ITEM][lane] = first + lane;
        s->v[OTHER_ITEM][lane] = other + lane;
        s->v[ITEM + 1][lane] = s->v[OTHER_ITEM + 1][lane] = 0;
    }
    if (below(16) == 0)
        s->v[below(2)][below(WAVE_LANES)] ^= 1u << below(32);
}

static void numbers_set(struct state *s)
{
    if (below(4))
        s->wave.s64[SREG_EXEC / 2] = ~UINT64_C(0);
    items_set(s);
    pair_set(s, BASE_A, some_base());
    pair_set(s, BASE_B, some_base());
    pair_set(s, LIMIT, below(4) ? 1000 : below(2) ? below(600) : s->v[0][below(WAVE_LANES)]);
    s->wave.s[SMALL] = below(200);
    if (below(4) == 0)
        return;
    s->group.wants = 0;
    s->group.is_sampled = false;
    s->group.sample_limit = SAMPLE_POSITIONS_LEAST << below(4);
}

/* ---- both ways ---- */

static unsigned spans, spans_done;
static const struct inst *counted_span(struct wave *w, const struct inst *i, uint64_t va)
{
    /* Some are left to the handler, as where mappings follow each other. */
    const struct inst *next = below(16) ? flat_span(i)(w, i, va) : NULL;
    spans++;
    spans_done += next != NULL;
    return next;
}
static span_fn *counted_spans(const struct inst *inst)
{
    return flat_span(inst) ? counted_span : NULL;
}

static void try_program(struct tally *tally)
{
    static struct inst slots[SLOTS];
    program_make(slots);
    twice_try(insts, count, counted_spans, STATES, numbers_set, tally);
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
    spans = spans_done = 0;
    pool_fill();
    twice_begin();
    for (unsigned n = 0; n < runs; n++)
        try_program(&tally);
    twice_end();
    host_level = before;
    printf("%s: %u runs of %u instructions, %u to the end, %u again, %u faults, %u waits; %u "
           "accesses by an address, %u of them done; %u whole waves\n",
           name, tally.runs, tally.instructions, tally.ends, tally.loops, tally.faults, tally.waits,
           spans, spans_done, tally.wholes);
    assert_true(tally.ends > tally.runs / 8 && tally.faults > tally.runs / 100);
    assert_true(tally.wholes > tally.runs / 100);
    assert_true(spans_done > tally.runs / 4 && spans - spans_done > tally.runs / 100);
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
