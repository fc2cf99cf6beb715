#include "wave/run_twice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/text.h"
#include "perf/sampling.h"
#include "valu/valu.h"
#include "wave/access.h"
#include "wave/fetch_path.h"
#include "wave/flat_elements.h"
#include "wave/step.h"
#include "wave/time_note.h"

enum { LEFT = 1000 };
enum { SHARED_BASE_HI = 0x10000, PRIVATE_BASE_HI = 0x20000 };

static uint64_t random_state = 0x9e3779b97f4a7c15;
uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * UINT64_C(0x2545f4914f6cdd1d);
}
uint32_t below(uint32_t n)
{
    return (uint32_t)((random_bits() >> 32) % n);
}

static struct state interpreted, translated;
static struct {
    lane_row v[ROWS], a[ROWS];
} before; /* of both */

static void state_create(struct state *s)
{
    memset(s, 0, sizeof *s);
    assert_int_equal(vm_create(&s->vm), 0);
    assert_int_equal(vm_map(s->vm, MEMORY_VA, MEMORY_BYTES, s->memory, VM_READ | VM_WRITE), 0);
    vm_reader_register(s->vm, &s->reader);
    vm_reader_enter(&s->reader);
    s->engine.model = gpu_model_find("gfx90a");
    s->launch.units = s->engine.model->cu_active;
    s->launch.capacity = s->launch.waves_per_group =
        1; /* where private memory lies goes by these */
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
    free(s->group.fetches.lines);
}

enum pattern { FOLLOW, ONE_PLACE, TILE, STRIDE, ANYWHERE, PATTERNS };

/* Offsets below `bytes`, mostly; seldom a lane that goes its own way. */
static void offsets_fill(uint32_t *row, uint32_t bytes)
{
    const enum pattern pattern = (enum pattern)below(PATTERNS);
    const uint32_t step = below(4) ? 4u * (1 + below(4)) : 1 + below(2),
                   first = below(bytes / 8) * 4 + (below(8) ? 0 : below(4));
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

/* Of LDS: seldom so that it ends within the lanes. */
static void lds_offsets_fill(uint32_t *row)
{
    offsets_fill(row, LDS_BYTES);
    if (below(4))
        return;
    const uint32_t up = LDS_BYTES - 4 * below(64) - row[below(WAVE_LANES)];
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        row[lane] += up;
}

/* A wild lane is a fault: rare, so that most runs come to their end. */
static void addresses_fill(struct state *s)
{
    uint32_t *low = s->v[GLOBAL_ROW], *high = s->v[GLOBAL_ROW + 1];
    lds_offsets_fill(s->v[0]);
    lds_offsets_fill(s->v[1]);
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
    static const uint32_t wants[] = {0, 0, 0, 0, PERF_WANT_MEMORY, PERF_WANT_LDS, PERF_WANT_L2};
    struct workgroup *group = &s->group;
    group->wants = wants[below(7)];
    group->is_sampled = below(4) == 0;
    group->samples_all = below(4) == 0;
    group->sample_limit = below(2) ? SAMPLE_POSITIONS_LEAST << below(6) : SAMPLE_POSITIONS;
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
    s->wave.slice_left = below(2) ? LEFT : WAVE_SLICE_INSTRUCTIONS - 1;
    s->wave.in_step = below(4) == 0;
    s->wave.touched = below(2) ? 0 : (uint8_t)below(16);
    s->wave.stores_pending = below(2);
    s->wave.wave_in_group = below(4);
    s->wave.code = code;
    s->wave.code_va = UINT64_C(0x5000) + 4 * below(16);
    s->wave.fetch_window = below(2);
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
    fetch_log_clear(&group->fetches);
    group->lds = s->lds;
    group->reader = &s->reader;
    group->launch = &s->launch;
    group->engine = &s->engine;
    s->wave.group = group;
    s->wave.v = s->v;
    s->wave.a = s->a;
    if (s->wave.fetch_window) /* it has been there before */
        fetch_note(&s->wave, s->wave.code);
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
/* What a run that is refused executes in the first instruction's place. */
static const struct inst *plain_stub(struct wave *w, const struct inst *i)
{
    (void)w;
    refused = true;
    return i;
}

/* What its fetches are is known from `path`; NULL: nobody wants to know. */
static const struct inst *call(void *code, struct wave *w, const struct inst *first,
                               const struct fetch_path *path)
{
    const uint64_t exec = wave_exec(w);
    const int32_t left = w->slice_left;
    inst_exec_fn *run;
    memcpy(&run, &code, sizeof run);
    refused = false;
    valu_enter(w);
    if (path)
        fetch_run_begin(w, first, path);
    const struct inst *next = run(w, first);
    valu_leave();
    if (!refused)
        wave_count(w, first, exec);
    if (path && !refused)
        fetch_run_end(w, 1 + (uint32_t)(left - w->slice_left));
    w->group->fetches.path = NULL;
    w->group->fetches.lines_left = false;
    return next;
}

/* The judge executes memory instructions without what flat_rows.c does for the usual ones. */
static const struct inst *execute(struct wave *w, const struct inst *i)
{
    if (i->format != FMT_FLAT)
        return i->exec(w, i);
    struct inst same = *i;
    inst_exec_fn *exec = flat_element_handler(&same);
    return (exec ? exec : i->exec)(w, i);
}

/* So many instructions, as the run has executed; a loop begins again. *last is the last one's
 * number.
 */
static const struct inst *interpret(struct wave *w, const struct inst *const *insts, unsigned count,
                                    unsigned executed, unsigned *last)
{
    const struct inst *next = NULL;
    unsigned at = 0;
    valu_enter(w);
    for (unsigned n = 0; n < executed && at < count; n++) {
        const struct inst *i = insts[at];
        *last = at;
        const uint64_t exec = wave_exec(w);
        assert_false(w->in_step && w->touched & step_conflicts(i));
        w->touched |= step_touches(i);
        next = execute(w, i);
        wave_count(w, i, exec);
        if (w->group->wants & PERF_WANT_FETCH)
            fetch_note(w, i);
        w->slice_left -= n > 0;
        if (at + 1 < count ? next == insts[at + 1] : next == i + i->dwords)
            at++;
        else
            at = next == insts[0] ? 0 : count;
    }
    valu_leave();
    return next;
}

static bool registers_same(void)
{
    const struct wave *a = &interpreted.wave, *b = &translated.wave;
    const bool ended = a->stop == WAVE_DONE && b->stop == WAVE_DONE;
    return (ended || !memcmp(interpreted.v, translated.v, sizeof interpreted.v)) &&
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
           a->stores_pending == b->stores_pending && a->touched == b->touched;
}
static bool group_same(void)
{
    const struct workgroup *a = &interpreted.group, *b = &translated.group;
    return a->accesses.count == b->accesses.count && a->blocks.count == b->blocks.count &&
           a->blocks.noted == b->blocks.noted && a->sample_limit == b->sample_limit &&
           a->flat_lds_insts == b->flat_lds_insts && a->flat_lds_only == b->flat_lds_only &&
           !memcmp(&a->lds_counts, &b->lds_counts, sizeof a->lds_counts) &&
           !memcmp(a->lds_samples, b->lds_samples, sizeof a->lds_samples) &&
           a->fetches.count == b->fetches.count &&
           a->fetches.last_window == b->fetches.last_window &&
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

static void insts_print(const struct inst *const *insts, unsigned count)
{
    for (unsigned n = 0; n < count; n++) {
        char text[160];
        isa_text(insts[n], text, sizeof text);
        fprintf(stderr, "    %s\n", text);
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
    insts_print(insts, count);
    fail();
}

/* A wave in step may stop before the instruction, as one of these conflicts with what it has done.
 */
static bool must_wait(const struct wave *w, const struct inst *const *insts, unsigned count)
{
    for (unsigned n = 0; n < count; n++)
        if (w->in_step && w->touched & step_conflicts(insts[n]))
            return true;
    return false;
}

/* The run was left behind that instruction, before its end, though that has gone nowhere else. */
static bool has_waited(const struct inst *const *insts, unsigned count, unsigned last,
                       const struct inst *next)
{
    return last + 1 < count && next == insts[last + 1] && insts[last]->klass != CLASS_BRANCH;
}

/* Who says that the run is all that the wave has executed has executed it, from a slice's begin,
 * and no register has changed that is not said to be written. */
static void whole_check(const struct inst *const *insts, unsigned count, unsigned executed)
{
    const struct wave *w = &translated.wave;
    if (!wave_whole(w))
        return;
    bool same = !memcmp(translated.a, before.a, sizeof before.a);
    for (unsigned n = 0; n < ROWS; n++)
        same &= (n < 64 && w->whole_rows >> n & 1) ||
                !memcmp(translated.v[n], before.v[n], sizeof before.v[n]);
    if (same && w->stop == WAVE_DONE && executed == count && !w->idle_lanes &&
        w->slice_left + (int)count == WAVE_SLICE_INSTRUCTIONS)
        return;
    fprintf(stderr, "not all that it has executed, or written (%016llx):\n",
            (unsigned long long)w->whole_rows);
    insts_print(insts, count);
    fail();
}

static void try_state(void *code, const struct inst *const *insts, unsigned count,
                      void fill(struct state *state), struct tally *tally)
{
    const bool short_slice = below(16) == 0;
    state_fill(&interpreted, insts[0]);
    if (fill)
        fill(&interpreted);
    if (short_slice)
        interpreted.wave.slice_left = (int32_t)count - 2;
    const int32_t left = interpreted.wave.slice_left;
    state_copy(&translated, &interpreted);
    state_join(&interpreted);
    state_join(&translated);
    memcpy(before.v, translated.v, sizeof before.v);
    memcpy(before.a, translated.a, sizeof before.a);
    struct fetch_path *path = NULL;
    if (interpreted.group.wants & PERF_WANT_FETCH)
        path = fetch_path_create(insts, count, interpreted.wave.code_va);
    if (!path) /* or several ways back: then nobody asks */
        interpreted.group.wants = translated.group.wants &= ~(uint32_t)PERF_WANT_FETCH;
    const struct inst *next = call(code, &translated.wave, insts[0], path);
    fetch_path_free(path);
    assert_true(short_slice ? refused : !refused || must_wait(&interpreted.wave, insts, count));
    const unsigned executed = refused ? 0 : 1 + (unsigned)(left - translated.wave.slice_left);
    unsigned last = 0;
    const struct inst *expected =
        refused ? insts[0] : interpret(&interpreted.wave, insts, count, executed, &last);
    states_compare(insts, count, executed);
    whole_check(insts, count, executed);
    assert_ptr_equal(next, expected);
    if (!refused && has_waited(insts, count, last, next)) {
        assert_true(must_wait(&interpreted.wave, insts + last + 1, count - last - 1));
        tally->waits++;
    }
    tally->fetching += !refused && interpreted.group.fetches.count > 1 &&
                       interpreted.group.accesses.count > interpreted.group.fetches.used;
    tally->in_step_ends += interpreted.wave.in_step && executed >= count;
    tally->runs++;
    tally->instructions += executed;
    tally->ends += executed >= count;
    tally->loops += executed > count;
    tally->wholes += wave_whole(&translated.wave) != 0;
    tally->faults += interpreted.wave.stop == WAVE_FAULT;
}

void twice_seed(void)
{
    const char *seed = getenv("CROC_TRANSLATE_SEED");
    random_state *= seed ? strtoull(seed, NULL, 10) + 1 : 1;
}

void twice_begin(void)
{
    state_create(&interpreted);
    state_create(&translated);
}

void twice_end(void)
{
    state_destroy(&interpreted);
    state_destroy(&translated);
}

void twice_try(const struct inst *const *insts, unsigned count, span_find_fn *spans,
               unsigned states, void fill(struct state *state), struct tally *tally)
{
    struct x86 x = {0};
    const struct translate_memory memory = {.spans = spans};
    unsigned taken = translate_run(&x, insts, count, plain_stub, &memory);
    assert_false(x.failed);
    void *code = taken ? translated_map(&x) : NULL;
    assert_true(!taken || code);
    for (unsigned n = 0; code && n < states; n++)
        try_state(code, insts, taken, fill, tally);
    if (code)
        translated_unmap(code, x.count);
    x86_free(&x);
}
