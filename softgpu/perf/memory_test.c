/*
 * The counters of caches against a second model (memory_oracle.h): random streams of instructions,
 * all sources that need memory or fetches observed, of each compute unit and each L2 channel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/internal.h"
#include "perf/memory_oracle.h"

#define REG(name) REG_GFX90A_##name

/* Random streams */

static uint32_t random32(uint32_t below)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

static bool chance(uint32_t percent)
{
    return random32(100) < percent;
}

enum { INSTRUCTION_LINES = 64, GROUP_LINES = 4096 };

/* What a dispatch's instructions are like, in percent; and where they go. */
struct style {
    uint32_t whole, partial, scattered, scalar, atomics, writes, glc, invalidates;
    uint64_t region_bytes; /* 0: a few columns of one set each */
    uint32_t typed;        /* blocks of memory that is elsewhere, or not RW */
};

static const struct style styles[] = {
    {.whole = 100, .writes = 50, .region_bytes = 1 << 20},     /* copies */
    {.whole = 100, .writes = 30, .region_bytes = 24 << 10},    /* of what an L1 may hold */
    {.whole = 98, .writes = 50, .glc = 10, .region_bytes = 0}, /* more than L2's sets do */
    {.whole = 60, .partial = 30, .writes = 40, .region_bytes = 0},
    {.scattered = 100, .region_bytes = 256 << 20}, /* and more translations */
    {.scattered = 90, .writes = 40, .atomics = 20, .region_bytes = 1 << 20},
    {.whole = 30,
     .partial = 30,
     .scattered = 20,
     .scalar = 15,
     .atomics = 10,
     .writes = 40,
     .glc = 20,
     .invalidates = 2,
     .region_bytes = 64 << 10,
     .typed = 60},
    {.whole = 80,
     .partial = 5,
     .scalar = 10,
     .atomics = 1,
     .writes = 30,
     .invalidates = 1,
     .region_bytes = 16 << 20},
    {.whole = 70, .scattered = 30, .writes = 50, .atomics = 10, .region_bytes = 0, .typed = 90},
};
enum { STYLES = sizeof styles / sizeof styles[0] };

struct stream {
    const struct style *style;
    const struct gpu_model *model;
    struct perf_line_access lines[GROUP_LINES], entries[GROUP_LINES];
    uint32_t count, entry_count;
};

/* A block's memory is always the same: of one of four types, in one of three places. */
static uint64_t memory_choose(const struct stream *stream, uint64_t va)
{
    uint64_t hash = va / CHANNEL_BLOCK * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    if (hash % 100 >= stream->style->typed)
        return va;
    return va | (hash / 128 & 3) << VM_PLACE_TYPE_SHIFT | hash / 512 % 3 << VM_PLACE_HOME_SHIFT;
}

/* The first byte of a 256-byte block. */
static uint64_t place_choose(const struct stream *stream)
{
    const struct gpu_model *model = stream->model;
    uint64_t blocks = stream->style->region_bytes / CHANNEL_BLOCK, base = 5 * (uint64_t)PAGE;
    uint64_t way_blocks = model->tcc_bytes / model->tcc_ways / CHANNEL_BLOCK;
    if (blocks)
        return base + random32((uint32_t)blocks) * (uint64_t)CHANNEL_BLOCK;
    /* Where higher bits choose sets, too, eight times as many come to the same ones. */
    uint32_t places = (2 * model->tcc_ways + 2) * (model->tcc_mixes ? 8 : 1);
    return base + (random32(3) + random32(places) * way_blocks) * CHANNEL_BLOCK;
}

static uint64_t block_choose(const struct stream *stream)
{
    return memory_choose(stream, place_choose(stream));
}

static uint8_t kind_choose(const struct style *style)
{
    return chance(style->atomics)  ? ACCESS_ATOMIC
           : chance(style->writes) ? ACCESS_WRITE
                                   : ACCESS_READ;
}

static void line_add(struct stream *stream, struct perf_line_access line)
{
    if (stream->count < GROUP_LINES)
        stream->lines[stream->count++] = line;
}

static uint32_t mask_choose(void)
{
    return chance(30) ? 0 : chance(40) ? UINT32_MAX : 0xffu << random32(25);
}

/* Whole lines that follow each other, some perhaps not from a block's first one on. */
static void run_add(struct stream *stream, struct perf_line_access line, bool is_partial)
{
    static const uint8_t counts[] = {4, 4, 8, 16, 1, 2};
    uint32_t count = counts[random32(is_partial ? 6 : 4)];
    uint64_t va = block_choose(stream) + (is_partial ? LINE * random32(4) : 0);
    for (uint32_t i = 0; i < count; i++) {
        line.line_va = va + LINE * (uint64_t)i;
        line.bytes_mask_lo = is_partial && chance(10) ? 0xff00 : UINT32_MAX;
        line.bytes_mask_hi = UINT32_MAX;
        line_add(stream, line);
        line.flags &= (uint8_t)~ACCESS_FIRST;
        line.lanes = 0;
    }
}

/* Lines anywhere, each once. */
static void scatter_add(struct stream *stream, struct perf_line_access line)
{
    uint32_t count = 1 + random32(INSTRUCTION_LINES), first = stream->count;
    for (uint32_t i = 0; i < count; i++) {
        bool is_new = true;
        line.line_va = block_choose(stream) + LINE * (uint64_t)random32(4);
        for (uint32_t n = first; n < stream->count; n++)
            is_new &= stream->lines[n].line_va != line.line_va;
        if (!is_new)
            continue;
        line.tags = (uint8_t)(1 + random32(4));
        line.conflicts = (uint8_t)(line.kind == ACCESS_ATOMIC ? random32(9) : 0);
        line.bytes_mask_lo = mask_choose();
        line.bytes_mask_hi = mask_choose() | (line.bytes_mask_lo ? 0 : 1);
        line_add(stream, line);
        line.flags &= (uint8_t)~ACCESS_FIRST;
        line.lanes = 0;
    }
}

static void other_add(struct stream *stream)
{
    uint64_t va = (chance(50) ? 0 : block_choose(stream)) + LINE * (uint64_t)random32(1 << 10);
    uint8_t kind = chance(50) ? ACCESS_FETCH : ACCESS_SCALAR_READ;
    line_add(stream, (struct perf_line_access){.line_va = va, .kind = kind, .bytes_mask_lo = 0xff});
}

static void instruction_add(struct stream *stream)
{
    const struct style *style = stream->style;
    uint32_t what = random32(100);
    struct perf_line_access line = {.kind = kind_choose(style),
                                    .tags = (uint8_t)(1 + random32(4)),
                                    .lanes = (uint16_t)(1 + random32(64)),
                                    .flags = ACCESS_FIRST};
    line.flags |= chance(style->glc) ? ACCESS_GLC : 0;
    line.flags |= chance(20) ? ACCESS_BUFFER : 0;
    line.flags |= chance(50) ? ACCESS_COALESCED : 0;
    line.flags |= chance(20) ? ACCESS_SAMPLED : 0;
    if (what < style->whole) {
        run_add(stream, line, false);
    } else if (what < style->whole + style->partial) {
        run_add(stream, line, true);
    } else if (what < style->whole + style->partial + style->scattered) {
        scatter_add(stream, line);
    } else if (chance(10)) {
        line.flags |= ACCESS_NOWHERE;
        line_add(stream, line);
    }
    if (chance(style->scalar))
        other_add(stream);
    if (chance(style->invalidates))
        line_add(stream, (struct perf_line_access){.kind = ACCESS_INVALIDATE});
}

/* Both models side by side */

struct models {
    const struct gpu_model *model;
    struct perf *perf;
    struct oracle oracle;
    struct stream stream;
};

static void registers_write(struct models *models, uint32_t state)
{
    uint32_t all = (1u << models->model->xcc_count) - 1;
    uint32_t hit = models->model->gen == GPU_GFX906 ? 20 : 17;
    assert_true(perf_reg_write(models->perf, all, REG(GRBM_GFX_INDEX), 0xe0000000u));
    assert_true(perf_reg_write(models->perf, all, REG(TCC_PERFCOUNTER0_SELECT), hit));
    assert_true(perf_reg_write(models->perf, all, REG(CP_PERFMON_CNTL), state));
}

/* Whether an entry of the log may stand for a line, too: behind its own, whole and like them. */
static bool line_joins(const struct perf_line_access *entry, const struct perf_line_access *line)
{
    uint64_t next = entry->line_va + LINE * (entry->more + 1u);
    bool is_like_it = entry->kind == line->kind && entry->tags == line->tags && !line->lanes &&
                      (entry->flags & ~ACCESS_FIRST) == line->flags;
    return line->kind <= ACCESS_WRITE && is_like_it && next == line->line_va &&
           next % CHANNEL_BLOCK && entry->bytes_mask_lo == UINT32_MAX &&
           entry->bytes_mask_hi == UINT32_MAX && line->bytes_mask_lo == UINT32_MAX &&
           line->bytes_mask_hi == UINT32_MAX;
}

/* The log as the address unit writes it, or now and then with a line for each entry. */
static void entries_make(struct stream *stream)
{
    bool joins = chance(90);
    stream->entry_count = 0;
    for (uint32_t i = 0; i < stream->count; i++) {
        struct perf_line_access *last = stream->entries + stream->entry_count - 1;
        if (stream->entry_count && joins && line_joins(last, &stream->lines[i]))
            last->more++;
        else
            stream->entries[stream->entry_count++] = stream->lines[i];
    }
}

/* A work-group on one of a few units, neighbours among them. */
static void group_run(struct models *models, uint64_t seq, uint32_t instructions)
{
    static const uint8_t places[] = {0, 1, 1, 2, 5};
    const struct gpu_model *model = models->model;
    struct stream *stream = &models->stream;
    struct perf_group group = {.dispatch_seq = seq, .waves = 1, .wants = PERF_WANT_L2};
    group.xcc = random32(model->xcc_count > 2 ? 2 : model->xcc_count);
    group.se = random32(2);
    group.cu = places[random32(sizeof places)];
    uint32_t unit = group.se * model->sh_per_se * model->cu_per_sh + group.cu;
    stream->count = 0;
    group.round = chance(30);
    for (uint32_t i = 0; i < instructions; i++)
        instruction_add(stream);
    const struct oracle *oracle = &models->oracle;
    uint64_t before[4];
    shared_counts_take(&oracle->units[(size_t)group.xcc * oracle->unit_count + unit], before);
    for (uint32_t i = 0; i < stream->count; i++) {
        oracle_line(&models->oracle, group.xcc, unit, &stream->lines[i]);
        group.fetches += stream->lines[i].kind == ACCESS_FETCH ? 3 : 0;
    }
    oracle_fetches(&models->oracle, group.xcc, unit, group.fetches);
    oracle_group_end(&models->oracle, group.xcc, unit, !group.round, before);
    entries_make(stream);
    group.accesses = stream->entries;
    group.access_count = stream->entry_count;
    perf_group_retire(models->perf, &group);
}

/* Compares every source that says it needs memory or fetches observed. */
#define IS_COMPARED(name, want) (PERF_WANT_##want & PERF_WANT_L2) != 0,
static const bool unit_compared[] = {PERF_CU_SOURCES(IS_COMPARED)};
static const bool channel_compared[] = {PERF_CHANNEL_SOURCES(IS_COMPARED)};
#define NAME_OF(name, want) #name,
static const char *const unit_names[] = {PERF_CU_SOURCES(NAME_OF)};
static const char *const channel_names[] = {PERF_CHANNEL_SOURCES(NAME_OF)};
enum {
    UNIT_SOURCES = sizeof unit_compared,
    CHANNEL_SOURCES = sizeof channel_compared,
    UNIT_FIRST = SRC_CU_COUNT - UNIT_SOURCES /* behind tallies and classes */
};

static void source_compare(const char *name, uint32_t at, uint64_t is, uint64_t expected)
{
    if (is != expected)
        fail_msg("%s of %u: %llu instead of %llu", name, at, (unsigned long long)is,
                 (unsigned long long)expected);
}

static void models_compare(const struct models *models, uint64_t sums[CHANNEL_SOURCES])
{
    const struct oracle *oracle = &models->oracle;
    for (uint32_t at = 0; at < models->model->xcc_count * oracle->unit_count; at++)
        for (uint32_t i = 0; i < UNIT_SOURCES; i++)
            if (unit_compared[i])
                source_compare(unit_names[i], at, models->perf->cu[at][UNIT_FIRST + i],
                               oracle->units[at].sources[UNIT_FIRST + i]);
    for (uint32_t at = 0; at < channel_count(oracle); at++)
        for (uint32_t i = 0; i < CHANNEL_SOURCES; i++) {
            if (channel_compared[i])
                source_compare(channel_names[i], at, models->perf->channel[at][i],
                               oracle->channels[at].sources[i]);
            sums[i] += oracle->channels[at].sources[i];
        }
}

static void dispatch_run(struct models *models, uint64_t seq)
{
    uint32_t groups = 1 + random32(60);
    models->stream.style = &styles[random32(STYLES)];
    perf_dispatch_begin(models->perf, seq, true);
    oracle_dispatch_begin(&models->oracle);
    for (uint32_t i = 0; i < groups; i++) {
        if (chance(2)) /* another kernel beside it */
            models->stream.style = &styles[random32(STYLES)];
        group_run(models, seq, 1 + random32(40));
    }
    perf_dispatch_end(models->perf, seq);
    oracle_dispatch_end(&models->oracle);
}

static void level_agrees(const char *gpu)
{
    enum { RESET, START, DISPATCHES = 40 };
    struct models *models = calloc(1, sizeof *models);
    models->model = models->stream.model = gpu_model_find(gpu);
    oracle_make(&models->oracle, models->model);
    assert_int_equal(perf_create(models->model, &models->perf), 0);
    for (uint64_t seq = 1; seq <= DISPATCHES; seq++) {
        uint64_t sums[CHANNEL_SOURCES] = {0};
        if (seq == 1 || chance(20)) {
            registers_write(models, RESET);
            registers_write(models, START);
            oracle_session_begin(&models->oracle);
        }
        dispatch_run(models, seq);
        models_compare(models, sums);
        for (uint32_t i = 0; seq == DISPATCHES && i < CHANNEL_SOURCES; i++)
            if (channel_compared[i] && !sums[i] && /* L1s of 64-byte lines ask for one */
                (models->model->tcp_line_bytes > LINE || strcmp(channel_names[i], "EA_READ_128")))
                fail_msg("%s never counted", channel_names[i]);
    }
    perf_destroy(models->perf);
    oracle_free(&models->oracle);
    free(models);
}

/* On each level that the host has. */
static void models_agree(const char *gpu)
{
    static const char *const levels[] = {"portable", "avx2", "avx512"};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        setenv("CROCGPU_HOST_ISA", levels[i], 1);
        level_agrees(gpu);
    }
}

static void caches_of_64_byte_lines_agree(void **state)
{
    (void)state;
    models_agree("gfx906");
    models_agree("gfx908");
}

static void caches_of_sectors_agree(void **state)
{
    (void)state;
    models_agree("gfx90a");
}

static void caches_of_128_byte_lines_agree(void **state)
{
    (void)state;
    models_agree("gfx942");
}

/* So many blocks that are read, one after another. */
static void blocks_read(struct perf *perf, uint64_t seq, uint64_t first, uint32_t count)
{
    struct perf_line_access lines[GROUP_LINES];
    struct perf_group group = {
        .dispatch_seq = seq, .waves = 1, .wants = PERF_WANT_L2 | PERF_WANT_MEMORY};
    for (uint32_t n = 0; n < count; n++)
        lines[n] = (struct perf_line_access){.line_va = (first + n) * CHANNEL_BLOCK,
                                             .bytes_mask_lo = UINT32_MAX,
                                             .bytes_mask_hi = UINT32_MAX,
                                             .flags = ACCESS_FIRST,
                                             .tags = 1,
                                             .more = CHANNEL_BLOCK / LINE - 1};
    group.accesses = lines;
    group.access_count = count;
    perf_group_retire(perf, &group);
}

static uint64_t reads_of(struct perf *perf, uint64_t seq)
{
    const struct running_dispatch *dispatch = *dispatch_find(perf, seq);
    uint64_t reads = 0;
    memory_settle(&perf->memory);
    for (uint32_t i = 0; i < perf->model->tcc_channels; i++)
        reads += dispatch->work[i].reads;
    return reads;
}

/* Places begin with 0, behind which nothing is joined. */
static void a_second_half_alone_is_a_request(void **state)
{
    const struct perf_line_access line = {.line_va = LINE,
                                          .bytes_mask_lo = UINT32_MAX,
                                          .bytes_mask_hi = UINT32_MAX,
                                          .flags = ACCESS_FIRST,
                                          .tags = 1};
    struct perf *perf;
    (void)state;
    assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
    perf_dispatch_begin(perf, 1, true);
    perf_group_retire(perf, &(struct perf_group){.dispatch_seq = 1,
                                                 .waves = 1,
                                                 .wants = PERF_WANT_L2 | PERF_WANT_MEMORY,
                                                 .accesses = &line,
                                                 .access_count = 1});
    perf_dispatch_end(perf, 1);
    assert_int_equal(perf->channel[0][SRC_TCC_READ - SRC_CHANNEL_FIRST], 1);
    assert_int_equal(perf->channel[0][SRC_TCC_MISS - SRC_CHANNEL_FIRST], 1);
    perf_destroy(perf);
}

/* What channels have seen of one dispatch is not the next one's. */
static void dispatches_side_by_side_have_their_own_work(void **state)
{
    enum { FIRST = 40, SECOND = 7, LINES_OF_BLOCK = CHANNEL_BLOCK / LINE };
    struct perf *perf;
    (void)state;
    assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
    perf_dispatch_begin(perf, 1, true);
    perf_dispatch_begin(perf, 2, true);
    blocks_read(perf, 1, 1000, FIRST);
    blocks_read(perf, 2, 2000, SECOND);
    blocks_read(perf, 1, 3000, FIRST);
    assert_int_equal(reads_of(perf, 1), 2 * FIRST * LINES_OF_BLOCK);
    assert_int_equal(reads_of(perf, 2), SECOND * LINES_OF_BLOCK);
    perf_dispatch_end(perf, 1);
    perf_dispatch_end(perf, 2);
    perf_destroy(perf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_of_64_byte_lines_agree),
        cmocka_unit_test(caches_of_sectors_agree),
        cmocka_unit_test(caches_of_128_byte_lines_agree),
        cmocka_unit_test(a_second_half_alone_is_a_request),
        cmocka_unit_test(dispatches_side_by_side_have_their_own_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
