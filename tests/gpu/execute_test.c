/*
 * Command buffers executed on the software GPU's counter registers, around work whose size is
 * known: start, work, then read and stop in either order, on every gfx9 GPU that it has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/device.h"
#include "gfx90a_regs.h" /* generated */
#include "gpu/pmc.h"
#include "perf/perf.h"

static const char *const gpus[] = {"gfx906", "gfx908", "gfx90a", "gfx942"};
enum { GPUS = sizeof gpus / sizeof gpus[0], SALU_PER_GROUP = 11, ITEMS_PER_WAVE = 64 };

/* Where results go; the builder is told another address, so a forgotten one is seen. */
struct machine {
    struct perf *perf;
    const struct gpu_model *model;
    struct gpu_target target;
    uint64_t result[1 << 15];
    uint32_t result_bytes;
};
static const uint64_t RESULT_VA = 0x7f1200000000;

static void write_register(struct machine *m, uint32_t dies, uint32_t reg, uint32_t value)
{
    if (!perf_reg_write(m->perf, dies, reg, value))
        fail_msg("%s has no register %05x", m->model->name, reg);
}

static void copy(struct machine *m, uint32_t dies, const uint32_t *body)
{
    uint32_t from = body[0] & 15, to = body[0] >> 8 & 15, value = body[1];
    if (from != PM4_COPY_IMMEDIATE)
        assert_true(perf_reg_read(m->perf, (uint32_t)__builtin_ctz(dies), body[1], &value));
    if (to != PM4_COPY_MEMORY) {
        write_register(m, dies, body[3], value);
        return;
    }
    uint64_t va = (uint64_t)body[4] << 32 | body[3];
    assert_true(va >= RESULT_VA && va + 4 <= RESULT_VA + m->result_bytes);
    memcpy((char *)m->result + (va - RESULT_VA), &value, sizeof value);
}

/* What the command processor does with the packets that builders write. */
static void execute(struct machine *m, const struct pm4_stream *stream)
{
    uint32_t all = (1u << m->model->xcc_count) - 1, dies = all, predicated_end = 0;
    for (uint32_t at = 0; at < stream->count;) {
        const uint32_t *body = stream->dwords + at + 1;
        uint32_t opcode = stream->dwords[at] >> 8 & 0xff;
        if (at >= predicated_end)
            dies = all;
        at += (stream->dwords[at] >> 16 & 0x3fff) + 2;
        if (opcode == PM4_SET_UCONFIG_REG)
            write_register(m, dies, PM4_UCONFIG_START + body[0], body[1]);
        else if (opcode == PM4_SET_SH_REG)
            write_register(m, dies, PM4_SH_START + body[0], body[1]);
        else if (opcode == PM4_COPY_DATA)
            copy(m, dies, body);
        else if (opcode == PM4_PRED_EXEC) {
            dies = body[0] >> 24;
            predicated_end = at + (body[0] & 0x3fff);
        }
    }
}

/* Waves of the group that runs in an engine: another number in each. */
static uint32_t waves_in(uint32_t die, uint32_t engine)
{
    return 1 + die * 3 + engine;
}

static void work(struct machine *m)
{
    static uint64_t sequence;
    perf_dispatch_begin(m->perf, ++sequence, true);
    for (uint32_t die = 0; die < m->model->xcc_count; die++)
        for (uint32_t engine = 0; engine < m->model->se_count; engine++) {
            struct perf_group group = {.dispatch_seq = sequence,
                                       .xcc = die,
                                       .se = engine,
                                       .waves = waves_in(die, engine),
                                       .work_items = waves_in(die, engine) * ITEMS_PER_WAVE};
            perf_group_count(&group, TALLY_SALU, SALU_PER_GROUP);
            perf_group_retire(m->perf, &group);
        }
    perf_dispatch_end(m->perf, sequence);
}

enum stage { START, READ, STOP };

static void run(struct machine *m, enum stage stage, const struct gpu_event *events, uint32_t count)
{
    struct pm4_stream stream = {0};
    if (stage == START)
        gpu_pmc_start(&stream, &m->target, events, count);
    else if (stage == READ)
        gpu_pmc_read(&stream, &m->target, events, count, RESULT_VA);
    else
        gpu_pmc_stop(&stream, &m->target, events, count);
    assert_false(stream.out_of_memory);
    execute(m, &stream);
    pm4_stream_free(&stream);
}

static uint32_t salu_event(const char *gpu)
{
    struct perf_event event;
    size_t at = 0;
    while (perf_event_next(gpu_model_find(gpu)->gen, &at, &event)) {
        if (strcmp(event.name, "SQ_INSTS_SALU") == 0)
            return event.number;
    }
    fail_msg("%s counts no scalar instructions", gpu);
    return 0;
}

enum { WAVES, ITEMS, SALU, CLOCK, EVENTS, CROWD = 400 };

/* Every engine's counters say `times` times what one piece of work is. The events that are checked
 * are the last of `count`. */
static void check_last(const struct machine *m, const struct gpu_event *events, uint32_t count,
                       uint32_t times)
{
    const uint32_t first = count - EVENTS;
    for (uint32_t die = 0; die < m->model->xcc_count; die++) {
        for (uint32_t engine = 0; engine < m->model->se_count; engine++) {
            const uint32_t waves = waves_in(die, engine) * times;
            const uint64_t expected[] = {waves, waves * ITEMS_PER_WAVE, SALU_PER_GROUP * times};
            for (uint32_t i = WAVES; i <= SALU; i++) {
                uint32_t at =
                    gpu_pmc_result_index(&m->target, events, count, first + i, die, engine);
                if (m->result[at] != expected[i])
                    fail_msg("%s event %u die %u engine %u: %llu, not %llu", m->model->name, i, die,
                             engine, (unsigned long long)m->result[at],
                             (unsigned long long)expected[i]);
            }
        }
        uint32_t at = gpu_pmc_result_index(&m->target, events, count, first + CLOCK, die, 0);
        assert_true(m->result[at] > 0);
    }
}

static void check(const struct machine *m, const struct gpu_event *events, uint32_t times)
{
    check_last(m, events, EVENTS, times);
}

static void target_setup(struct machine *m, const char *gpu)
{
    memset(m, 0, sizeof *m);
    m->model = gpu_model_find(gpu);
    assert_non_null(m->model);
    assert_int_equal(perf_create(m->model, &m->perf), 0);
    const struct gpu_geometry geometry = {
        .xcc_count = m->model->xcc_count,
        .se_count = m->model->se_count * m->model->xcc_count,
        .sa_per_se = m->model->sh_per_se,
        .cu_count = m->model->cu_active,
        .cu_per_sa = m->model->cu_per_sh,
    };
    assert_int_equal(gpu_target_find(gpu, &geometry, &m->target), 0);
}

static void events_setup(struct machine *m, struct gpu_event *events, uint32_t count)
{
    struct gpu_event *last = events + count - EVENTS;
    const struct gpu_block *sq = gpu_block_by_name(&m->target, "SQ");
    const struct gpu_block *grbm = gpu_block_by_name(&m->target, "GRBM");
    last[WAVES] = (struct gpu_event){.block = sq, .event = 4};
    last[ITEMS] = (struct gpu_event){.block = sq, .event = 14};
    last[SALU] = (struct gpu_event){.block = sq, .event = salu_event(m->model->name)};
    last[CLOCK] = (struct gpu_event){.block = grbm, .event = 0};
    assert_int_equal(gpu_pmc_assign(&m->target, events, count), GPU_PMC_OK);
    m->result_bytes = gpu_pmc_result_bytes(&m->target, events, count);
    assert_true(m->result_bytes <= sizeof m->result);
}

static void setup(struct machine *m, const char *gpu, struct gpu_event events[EVENTS])
{
    target_setup(m, gpu);
    events_setup(m, events, EVENTS);
}

static void orders_test(void **state)
{
    (void)state;
    for (size_t i = 0; i < GPUS; i++) {
        struct machine *m = malloc(sizeof *m);
        struct gpu_event events[EVENTS];
        setup(m, gpus[i], events);
        work(m);                                  /* before the start: counts nowhere */
        for (int round = 0; round < 2; round++) { /* a start counts from 0 again */
            run(m, START, events, EVENTS);
            work(m);
            run(m, READ, events, EVENTS);
            check(m, events, 1);
            run(m, STOP, events, EVENTS);

            run(m, START, events, EVENTS);
            work(m);
            run(m, STOP, events, EVENTS);
            work(m); /* after the stop: counts nowhere */
            run(m, READ, events, EVENTS);
            check(m, events, 1);
        }
        perf_destroy(m->perf);
        free(m);
    }
}

static uint32_t random_next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 32);
}

/* As a process leaves the registers that was killed while it counted: every counter of a block that
 * the driver does not clear selects something, shows something, and runs. */
static void leave_behind(struct machine *m, uint64_t seed)
{
    uint32_t count, dies = (1u << m->model->xcc_count) - 1;
    const struct gpu_block *blocks = gpu_blocks(&m->target, &count);
    write_register(m, dies, REG_GFX90A_GRBM_GFX_INDEX, 0xe0000000);
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t i = 0; i < blocks[k].counters; i++) {
            const struct gpu_counter_registers *r = &gpu_block_registers(&m->target, &blocks[k])[i];
            write_register(m, dies, r->select, random_next(&seed) & 0x1ff);
            write_register(m, dies, r->low, random_next(&seed));
            if (r->high)
                write_register(m, dies, r->high, random_next(&seed));
        }
        uint32_t control = gpu_block_registers(&m->target, &blocks[k])->control;
        if (control)
            write_register(m, dies, control, random_next(&seed));
    }
    write_register(m, dies, REG_GFX90A_SQ_PERFCOUNTER_MASK, random_next(&seed));
    write_register(m, dies, REG_GFX90A_SQ_PERFCOUNTER_CTRL, random_next(&seed));
    write_register(m, dies, REG_GFX90A_CP_PERFMON_CNTL, seed & 3);
    write_register(m, dies, REG_GFX90A_GRBM_GFX_INDEX, random_next(&seed));
    work(m);
}

/* The registers outlive the process that wrote them, whatever it was doing: the next one counts
 * right without knowing. */
static void killed_half_way_test(void **state)
{
    enum { KILLS = 8 };
    (void)state;
    for (size_t i = 0; i < GPUS * KILLS; i++) {
        struct machine *m = malloc(sizeof *m);
        struct gpu_event events[EVENTS];
        setup(m, gpus[i / KILLS], events);
        leave_behind(m, i);
        run(m, START, events, EVENTS);
        work(m);
        run(m, READ, events, EVENTS);
        check(m, events, 1);
        run(m, START, events, EVENTS); /* this one was killed before it stopped */
        work(m);
        run(m, START, events, EVENTS);
        work(m);
        run(m, STOP, events, EVENTS);
        run(m, READ, events, EVENTS);
        check(m, events, 1);
        perf_destroy(m->perf);
        free(m);
    }
}

/* Every counter of these blocks: a die's reads are more than one predicated section holds. */
static uint32_t crowd_fill(const struct machine *m, struct gpu_event *events)
{
    static const char *const names[] = {"TA", "TCA", "TCC", "TCP", "TD"};
    uint32_t count = 0;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        const struct gpu_block *block = gpu_block_by_name(&m->target, names[k]);
        uint32_t instances = gpu_block_instances(&m->target, block);
        for (uint32_t i = 0; i < instances * block->counters && count < CROWD; i++)
            events[count++] = (struct gpu_event){.block = block, .instance = i % instances};
    }
    return count;
}

static void crowd_test(void **state)
{
    (void)state;
    for (size_t i = 0; i < GPUS; i++) {
        struct machine *m = malloc(sizeof *m);
        struct gpu_event *events = calloc(CROWD + EVENTS, sizeof *events);
        target_setup(m, gpus[i]);
        uint32_t count = crowd_fill(m, events) + EVENTS;
        assert_true(count > 200);
        events_setup(m, events, count);
        run(m, START, events, count);
        work(m);
        run(m, READ, events, count);
        check_last(m, events, count, 1);
        run(m, STOP, events, count);
        perf_destroy(m->perf);
        free(events);
        free(m);
    }
}

/* A read leaves the counters running: values go on from there. */
static void reads_test(void **state)
{
    (void)state;
    for (size_t i = 0; i < GPUS; i++) {
        struct machine *m = malloc(sizeof *m);
        struct gpu_event events[EVENTS];
        setup(m, gpus[i], events);
        run(m, START, events, EVENTS);
        for (uint32_t times = 1; times <= 5; times++) {
            work(m);
            run(m, READ, events, EVENTS);
            check(m, events, times);
        }
        run(m, STOP, events, EVENTS);
        perf_destroy(m->perf);
        free(m);
    }
}

/* Engines outside the dies, each with counters of its own: what one did shows nowhere else. */
static void engines_test(void **state)
{
    enum { ENGINES_MAX = 16, PACKET_EVENT = 35, INTERRUPT_EVENT = 32 };
    static const uint32_t engines[GPUS] = {2, 8, 5, 16};
    (void)state;
    for (size_t i = 0; i < GPUS; i++) {
        struct machine *m = malloc(sizeof *m);
        struct gpu_event unused[EVENTS], events[2 * ENGINES_MAX];
        setup(m, gpus[i], unused);
        const struct gpu_block *block = gpu_block_by_name(&m->target, "SDMA");
        const uint32_t instances = gpu_block_instances(&m->target, block), count = 2 * instances;
        assert_int_equal(instances, engines[i]);
        for (uint32_t n = 0; n < count; n++)
            events[n] = (struct gpu_event){
                .block = block, .instance = n / 2, .event = n % 2 ? INTERRUPT_EVENT : PACKET_EVENT};
        assert_int_equal(gpu_pmc_assign(&m->target, events, count), GPU_PMC_OK);
        m->result_bytes = gpu_pmc_result_bytes(&m->target, events, count);
        leave_behind(m, i);
        perf_engine_work(m->perf, 0, 1000, 1000, 1); /* before the start */
        run(m, START, events, count);
        for (uint32_t times = 1; times <= 3; times++) {
            for (uint32_t n = 0; n < instances; n++)
                perf_engine_work(m->perf, n, 10 + n, n, 0);
            if (times == 3)
                run(m, STOP, events, count);
            run(m, READ, events, count);
            for (uint32_t n = 0; n < count; n++)
                assert_int_equal(
                    m->result[gpu_pmc_result_index(&m->target, events, count, n, 0, 0)],
                    times * (n % 2 ? n / 2 : 10 + n / 2));
        }
        perf_destroy(m->perf);
        free(m);
    }
}

/* Whatever is selected in whatever block, the registers exist and reading them works. */
static void every_block_test(void **state)
{
    (void)state;
    for (size_t i = 0; i < GPUS; i++) {
        struct machine *m = malloc(sizeof *m);
        struct gpu_event events[EVENTS];
        uint32_t count;
        setup(m, gpus[i], events);
        const struct gpu_block *blocks = gpu_blocks(&m->target, &count);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t instances = gpu_block_instances(&m->target, &blocks[k]);
            if (blocks[k].flags & BLOCK_PER_CU)
                assert_int_equal(instances, m->model->cu_per_sh);
            struct gpu_event *all = calloc(instances, sizeof *all);
            for (uint32_t n = 0; n < instances; n++)
                all[n] = (struct gpu_event){.block = &blocks[k], .instance = n, .event = 1};
            assert_int_equal(gpu_pmc_assign(&m->target, all, instances), GPU_PMC_OK);
            m->result_bytes = gpu_pmc_result_bytes(&m->target, all, instances);
            assert_true(m->result_bytes <= sizeof m->result);
            run(m, START, all, instances);
            run(m, READ, all, instances);
            run(m, STOP, all, instances);
            free(all);
        }
        perf_destroy(m->perf);
        free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_test),  cmocka_unit_test(crowd_test),
        cmocka_unit_test(reads_test),   cmocka_unit_test(killed_half_way_test),
        cmocka_unit_test(engines_test), cmocka_unit_test(every_block_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
