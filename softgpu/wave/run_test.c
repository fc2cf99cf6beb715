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
#include "isa/text.h"
#include "isa_ops.h"
#include "mem/vm.h"
#include "translate/emit.h"
#include "translate/translate.h"
#include "valu/valu.h"
#include "wave/access.h"
#include "wave/engine.h"
#include "wave/host_levels.h"
#include "wave/step.h"
#include "wave/time_note.h"

enum {
    RUNS = 4000,
    STATES = 4,       /* that each run is tried with */
    ROWS = VGPR_ROWS, /* whatever a number names is there */
    FILLED = 64,
    MEMORY_BYTES = 16384,
    LDS_BYTES = 4096,
    SLACK = 64,
    LEFT = 1000
};
/* Registers with addresses, which few instructions write. */
enum { LDS_ROWS = 2, GLOBAL_ROW = 2, OFFSET_ROW = 4, DATA_ROW = 5, DATA_ROWS = 11, BASE_SREG = 8 };
#define MEMORY_VA UINT64_C(0x7000100000)
enum { SHARED_BASE_HI = 0x10000, PRIVATE_BASE_HI = 0x20000 };

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

static bool lds_instruction(struct inst *inst)
{
    static const uint16_t usual[] = {OP_DS_READ_B32,   OP_DS_READ_B64,   OP_DS_READ2_B32,
                                     OP_DS_READ2_B64,  OP_DS_WRITE_B32,  OP_DS_WRITE_B64,
                                     OP_DS_WRITE2_B32, OP_DS_WRITE2_B64, OP_DS_READ2ST64_B32};
    const uint32_t word = 0xd8000000 | below(256) << 17 | (below(8) ? below(64) : below(65536)) |
                          (below(8) ? below(64) : 0) << 8;
    uint32_t words[4] = {word, (uint32_t)random_bits()};
    if (!isa_decode(GPU_GFX90A, words, 2, inst) || inst->flags & IF_GDS || !folded(inst))
        return false;
    inst->src[0].index = (uint16_t)below(LDS_ROWS);
    if (below(16) == 0 && inst->dst.kind == OPND_VGPR)
        inst->dst.index = (uint16_t)below(LDS_ROWS);
    bool is_usual = false;
    for (unsigned n = 0; n < sizeof usual / sizeof *usual; n++)
        is_usual |= inst->op == usual[n];
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

static void random_instruction(struct inst *inst)
{
    struct inst invalid = {.op = OP_INVALID};
    inst_exec_fn *illegal = wave_handlers.find(&invalid);
    bool good = false;
    while (!good) {
        const uint32_t kind = below(16);
        good = kind < 5    ? lds_instruction(inst)
               : kind < 8  ? flat_instruction(inst)
               : kind < 9  ? scalar_load(inst)
               : kind < 11 ? scalar_instruction(inst)
                           : vector_instruction(inst);
        if (!good)
            continue;
        inst->exec = wave_handlers.find(inst);
        good = translate_knows(inst) && (inst->exec != illegal || below(64) == 0);
    }
}

/* ---- a wave twice ---- */

struct state {
    struct wave wave;
    lane_row v[ROWS], a[ROWS];
    uint8_t memory[MEMORY_BYTES] __attribute__((aligned(4096)));
    uint8_t lds[LDS_BYTES + SLACK] __attribute__((aligned(64)));
    struct workgroup group;
    struct launch launch;
    struct engine engine;
    struct vm *vm;
    struct vm_reader reader;
};
static struct state interpreted, translated;

static void state_create(struct state *s)
{
    memset(s, 0, sizeof *s);
    assert_int_equal(vm_create(&s->vm), 0);
    assert_int_equal(vm_map(s->vm, MEMORY_VA, MEMORY_BYTES, s->memory, VM_READ | VM_WRITE), 0);
    vm_reader_register(s->vm, &s->reader);
    vm_reader_enter(&s->reader);
    s->engine.model = gpu_model_find("gfx90a");
    s->launch.units = s->engine.model->cu_active;
    s->launch.shared_base_hi = SHARED_BASE_HI;
    s->launch.private_base_hi = PRIVATE_BASE_HI;
}

static void state_destroy(struct state *s)
{
    vm_reader_leave(&s->reader);
    vm_reader_unregister(&s->reader);
    vm_destroy(s->vm);
    free(s->group.accesses.items);
    free(s->group.blocks.items);
    free(s->group.lds_patterns);
}

enum pattern { FOLLOW, ONE_PLACE, TILE, STRIDE, ANYWHERE, PATTERNS };

/* Offsets below `bytes`, mostly; seldom a lane that goes its own way. */
static void offsets_fill(uint32_t *row, uint32_t bytes)
{
    const enum pattern pattern = (enum pattern)below(PATTERNS);
    const uint32_t step = 4u << below(3), first = below(bytes / 8) * 4 + (below(8) ? 0 : below(4));
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++) {
        row[lane] = first;
        if (pattern == FOLLOW)
            row[lane] += lane * step;
        if (pattern == TILE)
            row[lane] += below(2) ? (lane / 8) * 64 : (lane & 7) * 4;
        if (pattern == STRIDE)
            row[lane] += lane * 36;
        if (pattern == ANYWHERE)
            row[lane] = below(bytes - 16);
    }
    if (below(4) == 0)
        row[below(WAVE_LANES)] = below(2) ? below(bytes - 16) : (uint32_t)random_bits();
}

/* A wild lane is a fault: rare, so that most runs come to their end. */
static void addresses_fill(struct state *s)
{
    uint32_t *low = s->v[GLOBAL_ROW], *high = s->v[GLOBAL_ROW + 1];
    offsets_fill(s->v[0], LDS_BYTES);
    offsets_fill(s->v[1], LDS_BYTES);
    offsets_fill(s->v[OFFSET_ROW], MEMORY_BYTES / 2);
    offsets_fill(low, MEMORY_BYTES / 2);
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++) {
        const bool shared = below(64) == 0 && low[lane] < LDS_BYTES - 256;
        if (below(16) && s->v[OFFSET_ROW][lane] > MEMORY_BYTES)
            s->v[OFFSET_ROW][lane] = 4 * lane;
        if (below(16) && low[lane] > MEMORY_BYTES)
            low[lane] = 4 * lane;
        high[lane] = shared ? SHARED_BASE_HI : (uint32_t)(MEMORY_VA >> 32);
        low[lane] += shared ? 0 : (uint32_t)MEMORY_VA;
    }
    memcpy(&s->wave.s[BASE_SREG], &(uint64_t){MEMORY_VA}, sizeof(uint64_t));
}

static uint64_t random_exec(void)
{
    switch (below(6)) {
    case 0:
        return random_bits();
    case 1:
        return random_bits() & random_bits() & random_bits() & random_bits();
    case 2:
        return UINT64_C(0xffff) << 16 * below(4);
    default:
        return ~UINT64_C(0);
    }
}

static void group_fill(struct state *s)
{
    static const uint32_t wants[] = {0, 0, 0, 0, PERF_WANT_MEMORY, PERF_WANT_LDS};
    struct workgroup *group = &s->group;
    group->wants = wants[below(6)];
    group->is_sampled = below(4) == 0;
    group->samples_all = below(4) == 0;
    group->sample_limit = below(2) ? SAMPLE_POSITIONS_LEAST : SAMPLE_POSITIONS;
    group->lds_bytes = below(8) ? LDS_BYTES : below(3) * 128 + 4 * below(8);
    group->wave_count = 1 + below(2);
    group->index = below(1000);
}

static void state_fill(struct state *s, const struct inst *code)
{
    memset(&s->wave, 0, sizeof s->wave);
    for (int r = 0; r < FILLED; r++)
        for (int l = 0; l < WAVE_LANES; l++) {
            s->v[r][l] = (uint32_t)random_bits();
            s->a[r][l] = (uint32_t)random_bits();
        }
    for (int n = 0; n < SREG_COUNT; n++)
        s->wave.s[n] = (uint32_t)random_bits();
    for (unsigned n = 0; n < MEMORY_BYTES; n++)
        s->memory[n] = (uint8_t)random_bits();
    for (unsigned n = 0; n < sizeof s->lds; n++)
        s->lds[n] = (uint8_t)random_bits();
    addresses_fill(s);
    s->wave.s64[SREG_EXEC / 2] = random_exec();
    valu_mode_set(&s->wave, 0x2f0);
    for (int t = 0; t < TALLY_SLOTS; t++)
        s->wave.counts[t] = below(400);
    s->wave.slice_left = LEFT;
    s->wave.in_step = below(4) == 0;
    s->wave.has_read = below(2) ? 0 : (uint8_t)below(4);
    s->wave.stores_pending = below(2);
    s->wave.wave_in_group = below(4);
    s->wave.code = code;
    s->wave.code_va = UINT64_C(0x5000);
    group_fill(s);
}

/* What the two have of their own stays. */
static void state_join(struct state *s)
{
    struct workgroup *group = &s->group;
    group->accesses.count = group->accesses.placed = 0;
    group->blocks.count = group->blocks.noted = group->blocks.run_block = 0;
    group->blocks.run_sectors = 0;
    memset(group->lds_samples, 0, sizeof group->lds_samples);
    memset(&group->lds_counts, 0, sizeof group->lds_counts);
    group->lds_noted = (struct lds_noted){0};
    group->flat_lds_insts = group->flat_lds_only = 0;
    group->lds = s->lds;
    group->reader = &s->reader;
    group->launch = &s->launch;
    group->engine = &s->engine;
    s->wave.group = group;
    s->wave.v = s->v;
    s->wave.a = s->a;
}

static void state_copy(struct state *to, const struct state *from)
{
    to->wave = from->wave;
    memcpy(to->v, from->v, sizeof to->v);
    memcpy(to->a, from->a, sizeof to->a);
    memcpy(to->memory, from->memory, sizeof to->memory);
    memcpy(to->lds, from->lds, sizeof to->lds);
    to->group.wants = from->group.wants;
    to->group.is_sampled = from->group.is_sampled;
    to->group.samples_all = from->group.samples_all;
    to->group.sample_limit = from->group.sample_limit;
    to->group.lds_bytes = from->group.lds_bytes;
    to->group.wave_count = from->group.wave_count;
    to->group.index = from->group.index;
}

/* ---- at once, and one by one ---- */

static bool refused;
static const struct inst *plain_stub(struct wave *w, const struct inst *i)
{
    (void)w;
    refused = true;
    return i;
}

static const struct inst *call(void *code, struct wave *w, const struct inst *first)
{
    const uint64_t exec = wave_exec(w);
    inst_exec_fn *run;
    memcpy(&run, &code, sizeof run);
    refused = false;
    valu_enter(w);
    const struct inst *next = run(w, first);
    valu_leave();
    if (!refused)
        wave_count(w, first, exec);
    return next;
}

/* So many instructions, as the run has executed; a loop begins again. */
static const struct inst *interpret(struct wave *w, const struct inst *const *insts, unsigned count,
                                    unsigned executed)
{
    const struct inst *next = NULL;
    unsigned at = 0;
    valu_enter(w);
    for (unsigned n = 0; n < executed && at < count; n++) {
        const struct inst *i = insts[at];
        const uint64_t exec = wave_exec(w);
        assert_false(w->in_step && w->has_read & step_writes(i));
        w->has_read |= step_reads(i);
        next = i->exec(w, i);
        wave_count(w, i, exec);
        w->slice_left -= n > 0;
        at = next == i + i->dwords ? at + 1 : next == insts[0] ? 0 : count;
    }
    valu_leave();
    return next;
}

static bool registers_same(void)
{
    const struct wave *a = &interpreted.wave, *b = &translated.wave;
    return !memcmp(interpreted.v, translated.v, sizeof interpreted.v) &&
           !memcmp(interpreted.a, translated.a, sizeof interpreted.a) &&
           !memcmp(a->s, b->s, sizeof a->s) && a->scc == b->scc && a->mode == b->mode;
}
static bool wave_same(void)
{
    const struct wave *a = &interpreted.wave, *b = &translated.wave;
    return !memcmp(a->counts, b->counts, sizeof a->counts) && a->idle_lanes == b->idle_lanes &&
           a->slice_left == b->slice_left && a->stop == b->stop && a->pc == b->pc &&
           a->fault.kind == b->fault.kind && a->fault.va == b->fault.va &&
           a->fault.pc_va == b->fault.pc_va && a->fault.inst == b->fault.inst &&
           a->stores_pending == b->stores_pending && a->has_read == b->has_read;
}
static bool group_same(void)
{
    const struct workgroup *a = &interpreted.group, *b = &translated.group;
    return a->accesses.count == b->accesses.count && a->blocks.count == b->blocks.count &&
           a->blocks.noted == b->blocks.noted && a->sample_limit == b->sample_limit &&
           a->flat_lds_insts == b->flat_lds_insts && a->flat_lds_only == b->flat_lds_only &&
           !memcmp(&a->lds_counts, &b->lds_counts, sizeof a->lds_counts) &&
           !memcmp(a->lds_samples, b->lds_samples, sizeof a->lds_samples) &&
           (!a->accesses.count || !memcmp(a->accesses.items, b->accesses.items,
                                          a->accesses.count * sizeof *a->accesses.items));
}

static void first_difference(void)
{
    for (int r = 0; r < ROWS; r++)
        for (int l = 0; l < WAVE_LANES; l++)
            if (interpreted.v[r][l] != translated.v[r][l]) {
                fprintf(stderr, "v%d lane %d: %08x instead of %08x\n", r, l, translated.v[r][l],
                        interpreted.v[r][l]);
                return;
            }
    for (unsigned n = 0; n < LDS_BYTES; n++)
        if (interpreted.lds[n] != translated.lds[n]) {
            fprintf(stderr, "LDS at %u\n", n);
            return;
        }
}

static void states_compare(const struct inst *const *insts, unsigned count, unsigned executed)
{
    const bool registers = registers_same(), wave = wave_same(), group = group_same();
    const bool memory = !memcmp(interpreted.memory, translated.memory, MEMORY_BYTES) &&
                        !memcmp(interpreted.lds, translated.lds, sizeof interpreted.lds);
    if (registers && wave && group && memory)
        return;
    fprintf(stderr, "registers %d, wave %d, group %d, memory %d; EXEC %016llx, %u executed:\n",
            registers, wave, group, memory, (unsigned long long)wave_exec(&interpreted.wave),
            executed);
    first_difference();
    for (unsigned n = 0; n < count; n++) {
        char text[160];
        isa_text(insts[n], text, sizeof text);
        fprintf(stderr, "    %s\n", text);
    }
    fail();
}

/* A wave in step may stop before the instruction, as one of these writes what it has read. */
static bool must_wait(const struct wave *w, const struct inst *const *insts, unsigned count)
{
    for (unsigned n = 0; n < count; n++)
        if (w->in_step && w->has_read & step_writes(insts[n]))
            return true;
    return false;
}

/* So many have been executed, not to the end, though none has gone elsewhere. */
static bool has_waited(const struct inst *const *insts, unsigned executed, const struct inst *next)
{
    return next == insts[executed] && insts[executed - 1]->klass != CLASS_BRANCH;
}

struct tally {
    unsigned runs, instructions, ends, loops, faults, waits, in_step_ends;
};
static void try_state(void *code, const struct inst *const *insts, unsigned count,
                      struct tally *tally)
{
    const bool short_slice = below(16) == 0;
    state_fill(&interpreted, insts[0]);
    if (short_slice)
        interpreted.wave.slice_left = (int32_t)count - 2;
    const int32_t left = interpreted.wave.slice_left;
    state_copy(&translated, &interpreted);
    state_join(&interpreted);
    state_join(&translated);
    const struct inst *next = call(code, &translated.wave, insts[0]);
    assert_true(short_slice ? refused : !refused || must_wait(&interpreted.wave, insts, count));
    const unsigned executed = refused ? 0 : 1 + (unsigned)(left - translated.wave.slice_left);
    const struct inst *expected =
        refused ? insts[0] : interpret(&interpreted.wave, insts, count, executed);
    states_compare(insts, count, executed);
    assert_ptr_equal(next, expected);
    if (!refused && executed < count && has_waited(insts, executed, next)) {
        assert_true(must_wait(&interpreted.wave, insts + executed, count - executed));
        tally->waits++;
    }
    tally->in_step_ends += interpreted.wave.in_step && executed >= count;
    tally->runs++;
    tally->instructions += executed;
    tally->ends += executed >= count;
    tally->loops += executed > count;
    tally->faults += interpreted.wave.stop == WAVE_FAULT;
}

static void try_program(struct tally *tally)
{
    static struct inst slots[3 * TRANSLATE_RUN_MAX];
    const struct inst *insts[TRANSLATE_RUN_MAX];
    const unsigned wanted = TRANSLATE_RUN_MIN + below(below(2) ? 12 : TRANSLATE_RUN_MAX - 1);
    struct inst *slot = slots;
    struct x86 x = {0};
    for (unsigned n = 0; n < wanted; n++) {
        random_instruction(slot);
        if (slot->klass == CLASS_BRANCH && slot->format == FMT_SOPP && below(8) == 0)
            slot->offset = -(int32_t)(slot - slots) - 1; /* a loop */
        insts[n] = slot;
        slot += slot->dwords;
    }
    unsigned count = translate_run(&x, insts, wanted, plain_stub);
    assert_false(x.failed);
    void *code = count ? translated_map(&x) : NULL;
    assert_true(!count || code);
    for (int n = 0; code && n < STATES; n++)
        try_state(code, insts, count, tally);
    if (code)
        translated_unmap(code, x.count);
    x86_free(&x);
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
    state_create(&interpreted);
    state_create(&translated);
    for (unsigned n = 0; n < runs; n++)
        try_program(&tally);
    state_destroy(&interpreted);
    state_destroy(&translated);
    host_level = before;
    printf("%s: %u runs of %u instructions, %u to the end (%u in step), %u again, %u faults, %u "
           "waits\n",
           name, tally.runs, tally.instructions, tally.ends, tally.in_step_ends, tally.loops,
           tally.faults, tally.waits);
    assert_true(tally.ends > tally.runs / 8 && tally.in_step_ends > tally.runs / 100 &&
                tally.faults > tally.runs / 100 && tally.waits > tally.runs / 100 &&
                tally.loops > tally.runs / 1000);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_avx512),
        cmocka_unit_test(test_avx2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
