/*
 * Random runs of instructions, translated and interpreted: registers, masks, counts and turns must
 * be the same. The instructions are random words that the decoder takes; their registers are folded
 * into a few, so that results become sources, and pairs overlap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/decode.h"
#include "isa/text.h"
#include "isa_ops.h"
#include "translate/emit.h"
#include "translate/run.h"
#include "translate/translate.h"
#include "valu/valu.h"
#include "wave/wave.h"

enum {
    REGISTERS = 12,
    SCALARS = 12,
    ROWS = 48,
    RUNS = 6000,
    TRIES = 20,
    CHOSEN_ROUNDS = 20,
    LEFT = 1000
};

static uint64_t random_state = 0x9e3779b97f4a7c15;
static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * UINT64_C(0x2545f4914f6cdd1d);
}
static uint32_t below(uint32_t n)
{
    return (uint32_t)((random_bits() >> 32) % n);
}

/* ---- random instructions ---- */

static uint32_t random_word(void)
{
    /* VOP2 and VOPC and VOP1; VOP3; VOP3P; scalar ones, for s_nop and s_waitcnt. */
    static const struct {
        uint32_t bits, mask;
    } formats[] = {{0, 0x80000000},          {0, 0x80000000},          {0x7e000000, 0xfe000000},
                   {0x7c000000, 0xfe000000}, {0xd0000000, 0xfc000000}, {0xd0000000, 0xfc000000},
                   {0xd3800000, 0xff800000}};
    uint32_t n = below(sizeof formats / sizeof *formats);
    return ((uint32_t)random_bits() & ~formats[n].mask) | formats[n].bits;
}

static void operand_fold(struct operand *operand)
{
    if (operand->kind == OPND_VGPR || operand->kind == OPND_AGPR)
        operand->index %= REGISTERS;
    else if (operand->kind == OPND_SREG && operand->index < SREG_VCC - 1)
        operand->index = (uint16_t)(operand->index % SCALARS & ~(operand->dwords > 1 ? 1u : 0u));
}

static void transparent(struct inst *inst)
{
    static const uint32_t words[] = {0xbf800000 /* s_nop */, 0xbf8c0000 /* s_waitcnt */};
    isa_decode(GPU_GFX90A, &words[below(2)], 1, inst);
}

/* Stands for the scalar instructions that are called (the others are wave/run_test.c's): what it
 * writes depends on all that it reads. */
static const struct inst *scalar_stub(struct wave *w, const struct inst *i)
{
    uint32_t r = i->op * 0x9e3779b9u + w->scc;
    for (int n = 0; n < 3; n++)
        for (int k = 0; i->src[n].kind == OPND_SREG && k < i->src[n].dwords; k++)
            r = (r << 5 | r >> 27) ^ w->s[i->src[n].index + k];
    r += w->s64[SREG_VCC / 2] == 0 && i->src[0].kind == OPND_VCCZ;
    for (int k = 0; i->dst.kind == OPND_SREG && k < i->dst.dwords; k++)
        w->s[i->dst.index + k] = r * (2 * (unsigned)k + 1);
    w->scc = r >> 7 & 1;
    return i + i->dwords;
}

static bool scalar_instruction(enum gpu_gen gen, struct inst *inst)
{
    uint32_t words[2] = {0x80000000 | ((uint32_t)random_bits() & 0x3fffffff), 0};
    if (!isa_decode(gen, words, 1, inst) || inst->klass != CLASS_SALU || !translate_knows(inst) ||
        inst->op == OP_S_NOP || scalar_code_exists(inst))
        return false;
    operand_fold(&inst->dst);
    for (int n = 0; n < 3; n++)
        operand_fold(&inst->src[n]);
    inst->exec = scalar_stub;
    return true;
}

/* SDWA or DPP. Most of their fields' values are rare, or mean the same as none. */
static void modifiers(uint32_t words[2])
{
    enum { SRC0_SDWA = 0xf9, SRC0_DPP = 0xfa, DPP_CONTROL_SHIFT = 8 };
    static const uint16_t controls[] = {0x1b,  0xb1,  0x4e,  0x101, 0x10f, 0x111,
                                        0x112, 0x114, 0x118, 0x121, 0x12f, 0x140,
                                        0x141, 0x142, 0x143, 0x130, 0x155};
    if (below(2)) {
        words[0] = (words[0] & ~0x1ffu) | SRC0_SDWA;
        words[1] &= below(2) ? 0x0e0e1f07u : ~0x0000c000u; /* no omod */
        return;
    }
    words[0] = (words[0] & ~0x1ffu) | SRC0_DPP;
    words[1] = (words[1] & 0x0f0800ff) | 0xf0000000u;
    words[1] |= below(3) ? (uint32_t)controls[below(17)] << DPP_CONTROL_SHIFT
                         : below(256) << DPP_CONTROL_SHIFT;
    words[1] |= below(2) ? 0x0f000000 : 0;
}

static void random_instruction(enum gpu_gen gen, struct inst *inst)
{
    if (below(12) == 0) {
        transparent(inst);
        return;
    }
    if (below(10) == 0) {
        while (!scalar_instruction(gen, inst))
            ;
        return;
    }
    do {
        uint32_t words[4] = {random_word(), (uint32_t)random_bits(), (uint32_t)random_bits(), 0};
        if (!(words[0] >> 31) && below(8) == 0)
            modifiers(words);
        if ((words[0] >> 26) == 0x34) /* VOP3: mostly without clamp, op_sel, omod and signs */
            words[0] &= below(4) ? ~0xff00u : ~0xf800u;
        if ((words[0] >> 26) == 0x34 && below(4))
            words[1] &= 0x07ffffff;
        if (!isa_decode(gen, words, 3, inst))
            continue;
        operand_fold(&inst->dst);
        operand_fold(&inst->sdst);
        for (int n = 0; n < 3; n++)
            operand_fold(&inst->src[n]);
    } while (!translate_knows(inst));
}

/* ---- a wave twice ---- */

struct state {
    struct wave wave;
    lane_row v[ROWS], a[ROWS];
};
static struct state interpreted, translated;

static uint32_t random_dword(void)
{
    static const uint32_t borders[] = {0,          1,          31,         32,         0x7fffffff,
                                       0x80000000, 0xffffffff, 0x3f800000, 0xbf800000, 0x00000001,
                                       0x007fffff, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00001,
                                       0x7f800001, 0x4f000000, 0x4f800000, 0x7ff00000, 0x3ff00000};
    uint32_t dword;
    switch (below(8)) {
    case 0:
        return borders[below(sizeof borders / sizeof *borders)];
    case 1:
        return (uint32_t)random_bits() >> below(32);
    case 2:
        return (uint32_t)random_bits();
    default: /* floats near one, whose neighbours as doubles are ordinary, too */
        dword = ((uint32_t)random_bits() & 0x807fffff) | (124 + below(8)) << 23;
        return (dword & 0x7c00) == 0x7c00 ? dword ^ 0x4000 : dword; /* as halves, likewise */
    }
}

static uint64_t random_exec(void)
{
    switch (below(6)) {
    case 0:
        return random_bits();
    case 1:
        return random_bits() & random_bits() & random_bits() & random_bits() & random_bits();
    case 2:
        return below(4) ? UINT64_C(0xffff) << 16 * below(4) : 0;
    default:
        return ~UINT64_C(0);
    }
}

static void state_fill(struct state *s, bool usual_mode)
{
    static const uint32_t modes[] = {0x2f0, 0x2c0, 0x0f0, 0x2ff, 0x200, 0x8002f0};
    memset(&s->wave, 0, sizeof s->wave);
    for (int r = 0; r < ROWS; r++)
        for (int l = 0; l < WAVE_LANES; l++) {
            s->v[r][l] = random_dword();
            s->a[r][l] = random_dword();
        }
    for (int n = 0; n < SREG_COUNT; n++)
        s->wave.s[n] = random_dword();
    s->wave.s64[SREG_VCC / 2] = random_bits();
    s->wave.s64[SREG_EXEC / 2] = random_exec();
    valu_mode_set(&s->wave, usual_mode ? 0x2f0 : modes[below(6)]);
    s->wave.slice_left = LEFT;
    s->wave.stores_pending = below(2);
}

static void state_copy(struct state *to, const struct state *from)
{
    *to = *from;
    to->wave.v = to->v;
    to->wave.a = to->a;
}

/* ---- what the interpreter does with the run ---- */

static bool is_nan(uint32_t dword)
{
    return (dword & 0x7fffffff) > 0x7f800000;
}
static bool is_nan16(uint32_t dword)
{
    return (dword & 0x7fff) > 0x7c00;
}
/* Of a double's high dword; of infinities, too, whose low dword may make them one. */
static bool may_be_nan64(uint32_t dword)
{
    return (dword & 0x7fffffff) >= 0x7ff00000;
}

static uint32_t source_dword(const struct wave *w, const struct operand *o, int dword, int lane)
{
    switch (o->kind) {
    case OPND_VGPR:
        return w->v[o->index + dword][lane];
    case OPND_AGPR:
        return w->a[o->index + dword][lane];
    case OPND_SREG:
        return w->s[o->index + dword];
    default:
        return (uint32_t)(o->value >> 32 * dword);
    }
}

/* A byte or word that is extended by its sign has all bits set that a NaN has. */
static uint32_t selected_dword(const struct inst *i, int n, uint32_t dword)
{
    const uint8_t select = n ? i->sdwa.src1_sel : i->sdwa.src0_sel;
    const bool extend = i->flags & (n ? IF_SRC1_SEXT : IF_SRC0_SEXT);
    if (i->modifier != MOD_SDWA || n == 2 || select == 6)
        return dword;
    const uint32_t shift = select < 4 ? 8 * select : 16 * (select - 4u);
    if (select < 4)
        return extend ? (uint32_t)(int8_t)(dword >> shift) : (uint8_t)(dword >> shift);
    return extend ? (uint32_t)(int16_t)(dword >> shift) : (uint16_t)(dword >> shift);
}
static bool is_infinite16(uint32_t dword)
{
    return (dword & 0x7fff) == 0x7c00;
}
/* By DPP, a lane has what another one has: any of its neighbours. `infinite`: is it an infinite
 * half that is asked for? */
static bool source_may_be(const struct wave *w, const struct inst *i, int n, int lane,
                          bool infinite)
{
    const struct operation *op = operation_find(i);
    const bool accumulator = n == 2 && op->flags & ACCUMULATES;
    const struct operand *o = accumulator ? &i->dst : &i->src[n];
    const int dwords = accumulator ? op->dwords : op->sources[n];
    const bool row = i->modifier == MOD_DPP && n == 0;
    bool some = false;
    for (int l = row ? lane & ~15 : lane; l <= (row ? lane | 15 : lane); l++)
        for (int k = 0; k < dwords; k++) {
            uint32_t dword = selected_dword(i, n, source_dword(w, o, k, l));
            if (infinite) {
                some |= is_infinite16(dword) || is_infinite16(dword >> 16);
                continue;
            }
            some |= is_nan(dword) || may_be_nan64(dword);
            if (op->flags & (HALVES | PAIRS | MIXED | DOT))
                some |= is_nan16(dword) || is_nan16(dword >> 16);
        }
    return some;
}

/* Two products and an addend: a NaN among them may meet one that infinities make. */
static bool dot_is_ambiguous(const struct wave *w, const struct inst *i, int lane)
{
    const bool accumulates = operation_find(i)->flags & ACCUMULATES;
    const uint32_t c = source_dword(w, accumulates ? &i->dst : &i->src[2], 0, lane);
    unsigned special = (c & 0x7f800000) == 0x7f800000, nans = is_nan(c);
    for (int n = 0; n < 2; n++)
        for (int half = 0; half < 2; half++) {
            uint32_t x = source_dword(w, &i->src[n], 0, lane) >> 16 * half;
            special += (x & 0x7c00) == 0x7c00;
            nans += is_nan16(x);
        }
    const bool twice = i->format == FMT_VOP3P && (i->op_sel & 3 || (i->op_sel_hi & 3) != 3);
    return nans && (special > 1 || twice);
}

/* Would two NaNs meet, of which either may come out? */
static bool is_ambiguous(const struct wave *w, const struct inst *i)
{
    const struct operation *op = operation_find(i);
    if (!op || op->flags & COMPARES || i->tally > TALLY_VALU_TRANS_F64)
        return false;
    for (int lane = 0; lane < WAVE_LANES; lane++) {
        int nans = 0, infinite = 0;
        for (int n = 0; n < 3; n++) {
            nans += source_may_be(w, i, n, lane, false);
            infinite += source_may_be(w, i, n, lane, true);
        }
        /* Of halves the product comes before the sum, and may be a NaN itself. */
        if (op->flags & (HALVES | PAIRS) && nans)
            nans += infinite;
        const bool dot = op->flags & DOT && op->needs & NEED_FLUSH;
        if (dot ? dot_is_ambiguous(w, i, lane) : nans > 1)
            return true;
    }
    return false;
}

/* What wave_run() does, up to an instruction whose result is ambiguous. Returns how many were
 * executed. */
static unsigned interpret(struct wave *w, const struct inst *const *insts, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        const struct inst *i = insts[n];
        uint64_t exec = w->s64[SREG_EXEC / 2];
        if (is_ambiguous(w, i))
            return n;
        if (i->op == OP_S_WAITCNT)
            w->stores_pending = false;
        if (i->klass == CLASS_VALU)
            assert_ptr_equal(valu_handler(i)(w, i), i + i->dwords);
        if (i->exec == scalar_stub)
            scalar_stub(w, i);
        if (n == 0)
            continue; /* counted by who called */
        w->counts[i->tally]++;
        w->slice_left--;
        w->idle_lanes += i->klass == CLASS_VALU ? 64 - (uint64_t)__builtin_popcountll(exec) : 0;
    }
    return count;
}

static void print_run(const struct inst *const *insts, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        char text[160];
        isa_text(insts[n], text, sizeof text);
        fprintf(stderr, "    %s\n", text);
    }
}

static void states_compare(const struct inst *const *insts, unsigned count)
{
    bool same = true;
    for (int r = 0; r < ROWS; r++)
        for (int l = 0; l < WAVE_LANES; l++) {
            uint32_t v = interpreted.v[r][l] ^ translated.v[r][l];
            uint32_t a = interpreted.a[r][l] ^ translated.a[r][l];
            if (same && (v || a))
                fprintf(stderr, "%c%d lane %d: %08x instead of %08x, EXEC %016llx\n", v ? 'v' : 'a',
                        r, l, v ? translated.v[r][l] : translated.a[r][l],
                        v ? interpreted.v[r][l] : interpreted.a[r][l],
                        (unsigned long long)interpreted.wave.s64[SREG_EXEC / 2]);
            same &= !(v || a);
        }
    for (int n = 0; n < SREG_COUNT; n++) {
        if (interpreted.wave.s[n] != translated.wave.s[n])
            fprintf(stderr, "s%d: %08x instead of %08x\n", n, translated.wave.s[n],
                    interpreted.wave.s[n]);
        same &= interpreted.wave.s[n] == translated.wave.s[n];
    }
    same &=
        !memcmp(interpreted.wave.counts, translated.wave.counts, sizeof interpreted.wave.counts);
    same &= interpreted.wave.idle_lanes == translated.wave.idle_lanes &&
            interpreted.wave.slice_left == translated.wave.slice_left &&
            interpreted.wave.stores_pending == translated.wave.stores_pending &&
            interpreted.wave.scc == translated.wave.scc;
    if (!same)
        print_run(insts, count);
    assert_true(same);
}

static const struct inst *plain_stub(struct wave *w, const struct inst *i)
{
    (void)w;
    return i; /* nobody else returns this */
}

static const struct inst *call(void *code, struct wave *w, const struct inst *first)
{
    inst_exec_fn *exec;
    memcpy(&exec, &code, sizeof exec);
    valu_enter(w);
    const struct inst *next = exec(w, first);
    valu_leave();
    return next;
}

struct program {
    struct inst slots[3 * TRANSLATE_RUN_MAX];
    const struct inst *insts[TRANSLATE_RUN_MAX];
    unsigned count;
};

/* `first`: the operation to begin with; OP_COUNT: any. */
static void program_fill(struct program *p, enum gpu_gen gen, unsigned first)
{
    struct inst *slot = p->slots;
    p->count = TRANSLATE_RUN_MIN + below(TRANSLATE_RUN_MAX - TRANSLATE_RUN_MIN + 1);
    for (unsigned n = 0; n < p->count; n++) {
        do
            random_instruction(gen, slot);
        while (n == 0 && (!operation_find(slot) || (first < OP_COUNT && slot->op != first)));
        p->insts[n] = slot;
        slot += slot->dwords;
    }
}

struct tally {
    unsigned runs, instructions, alone;
    bool seen[OP_COUNT];
    unsigned modified[MOD_DPP + 1]; /* by enum inst_modifier */
};

static void compare_run(const struct inst *const *insts, unsigned count, bool usual_mode,
                        struct tally *tally)
{
    struct x86 x = {0};
    static struct state before;
    unsigned length = translate_run(&x, insts, count, plain_stub, NULL);
    if (x.failed)
        print_run(insts, count);
    assert_false(x.failed);
    void *code = length ? translated_map(&x) : NULL;
    state_copy(&before, &interpreted);
    state_copy(&translated, &interpreted);
    const struct inst *next = code ? call(code, &translated.wave, insts[0]) : NULL;
    valu_enter(&interpreted.wave);
    unsigned executed = interpret(&interpreted.wave, insts, length);
    valu_leave();
    if (next == insts[0]) { /* another mode than it was made for */
        tally->alone++;
        assert_false(usual_mode);
    } else if (code && executed == length) {
        assert_ptr_equal(next, insts[length - 1] + insts[length - 1]->dwords);
        states_compare(insts, length);
        tally->runs++;
        tally->instructions += length;
        for (unsigned n = 0; n < length; n++) {
            tally->seen[insts[n]->op] = true;
            tally->modified[insts[n]->modifier] += operation_find(insts[n]) != NULL;
        }
    } else if (code) { /* what comes before the ambiguous one can be compared */
        state_copy(&interpreted, &before);
        compare_run(insts, executed, usual_mode, tally);
    }
    if (code)
        translated_unmap(code, x.count);
    x86_free(&x);
}

static void try_program(enum gpu_gen gen, unsigned first, struct tally *tally)
{
    static struct program p;
    program_fill(&p, gen, first);
    for (int round = 0; round < 3; round++) {
        state_fill(&interpreted, round < 2);
        interpreted.wave.v = interpreted.v;
        interpreted.wave.a = interpreted.a;
        compare_run(p.insts, p.count, round < 2, tally);
    }
}

/* What needs most registers of the host, and what random operands seldom are. */
static void chosen_instructions(enum gpu_gen gen)
{
    static const uint32_t words[][2] = {
        {0xd3b04700, 0xfc1a0902}, /* v_pk_fma_f32 v[0:1], -v[2:3], -v[4:5], -v[6:7] */
        {0xd1cc0000, 0xe41a0902}, /* v_fma_f64 v[0:1], -v[2:3], -v[4:5], -v[6:7] */
        {0xd1e80200, 0x04120702}, /* v_mad_u64_u32 v[0:1], s[2:3], v2, v3, v[4:5] */
        {0xd1e86a00, 0x04100000}, /* v_mad_u64_u32 v[0:1], vcc, s0, s0, v[4:5] */
        {0xd0610204, 0x60020902}, /* v_cmp_lt_f64 s[4:5], -v[2:3], -|v[4:5]| */
        {0xd1ce0000, 0x021e0301}, /* v_alignbit_b32 v0, v1, v1, 7 */
        {0xd2080000, 0x041a0902}, /* v_lshl_add_u64 v[0:1], v[2:3], v4, v[6:7]; gfx942 */
    };
    enum { ALL = sizeof words / sizeof *words };
    static struct program p;
    static struct tally tally;
    struct inst *slot = p.slots;
    p.count = gen == GPU_GFX942 ? ALL : ALL - 1;
    for (unsigned n = 0; n < p.count; n++) {
        assert_true(isa_decode(gen, words[n], 2, slot));
        assert_true(translate_knows(slot));
        p.insts[n] = slot;
        slot += slot->dwords;
    }
    for (unsigned first = 0; first + 1 < p.count; first++) {
        state_fill(&interpreted, true);
        interpreted.wave.v = interpreted.v;
        interpreted.wave.a = interpreted.a;
        compare_run(p.insts + first, p.count - first, true, &tally);
    }
}

/* The interpreter is the level's, too. */
static void same_as_interpreter(const char *level)
{
    static struct tally tally;
    memset(&tally, 0, sizeof tally);
    const char *rounds = getenv("CROC_TRANSLATE_RUNS");
    unsigned runs = rounds ? (unsigned)strtoul(rounds, NULL, 10) : RUNS, known = 0, seen = 0;
    if (valu_build_select(level) != 0)
        skip(); /* this host has it not */
    for (unsigned n = 0; n < CHOSEN_ROUNDS; n++)
        chosen_instructions(n % 2 ? GPU_GFX942 : GPU_GFX90A);
    for (unsigned n = 0; n < runs; n++)
        try_program(n % 4 == 3 ? GPU_GFX942 : GPU_GFX90A, OP_COUNT, &tally);
    /* What is rare among random words is asked for; gfx942 has all operations. */
    for (unsigned op = 0; op < OP_COUNT; op++) {
        for (int tries = 0; operation_exists(op) && !tally.seen[op] && tries < TRIES; tries++)
            try_program(GPU_GFX942, op, &tally);
        known += operation_exists(op);
        seen += tally.seen[op] && operation_exists(op);
        if (operation_exists(op) && !tally.seen[op])
            fprintf(stderr, "never in a run: %u\n", op);
    }
    printf("%s: %u runs of %u instructions, %u of %u operations and others, %u alone\n", level,
           tally.runs, tally.instructions, seen, known, tally.alone);
    printf("%s: %u times SDWA, %u times DPP\n", level, tally.modified[MOD_SDWA],
           tally.modified[MOD_DPP]);
    assert_true(seen >= known);
    assert_true(tally.modified[MOD_SDWA] > runs / 20 && tally.modified[MOD_DPP] > runs / 50);
    assert_true(tally.runs > runs && tally.instructions > 4 * tally.runs);
}

static void test_avx512(void **state)
{
    (void)state;
    same_as_interpreter("avx512");
}
static void test_avx2(void **state)
{
    (void)state;
    same_as_interpreter("avx2");
}

/* Where memory that was written cannot become code there is none, and no harm is done. Linux before
 * 6.3 cannot be asked for that. */
static void test_no_executable_memory(void **state)
{
    (void)state;
    enum { SET_MDWE = 65, REFUSE_EXEC_GAIN = 1, CANNOT_ASK = 2 };
    struct x86 x = {0};
    x86_return(&x);
    void *allowed = translated_map(&x);
    assert_non_null(allowed);
    translated_unmap(allowed, x.count);
    pid_t child = fork();
    if (child == 0) {
        if (prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) < 0)
            _exit(CANNOT_ASK);
        _exit(translated_map(&x) != NULL);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 1);
    x86_free(&x);
}

int main(void)
{
    const char *seed = getenv("CROC_TRANSLATE_SEED");
    random_state *= seed ? strtoull(seed, NULL, 10) + 1 : 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_avx512),
        cmocka_unit_test(test_avx2),
        cmocka_unit_test(test_no_executable_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
