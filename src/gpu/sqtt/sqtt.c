#include "gpu/sqtt/sqtt.h"

#include <stddef.h>

#include "gpu/family.h"

enum { PAGE_SHIFT = 12, POINTER_UNIT_BYTES = 32, TOKEN_PERF = 1 << 14, HIGH_WATER = 6 };

/* First words of a trace: a NUL and "ROC", then the version of what follows. */
enum { HEADER_MAGIC = 0x434f5200, HEADER_VERSION = 0x00080201 };
enum { MARKER_CODE_OBJECT = 4, MARKER_TIMESTAMP = 5, MARKER_AGENT = 6, MARKER_CHANNEL_SHIFT = 8 };

/* What a reader is told of the GPU, behind the version: the clock's kHz, and how many cycles lie
 * between two samples of a counter. */
enum { AGENT_CLOCK_KHZ = 0, AGENT_COUNTER_CYCLES = 1, AGENT_VALUE_SHIFT = 12 };

enum { PERFMON_OFF = 0 };

struct build {
    struct pm4_stream *stream;
    const struct gpu_target *target;
    const struct gpu_generation *generation;
    const struct pm4_dialect *dialect;
    const struct gpu_trace *trace;
    const struct sqtt_config *config;
};

static struct build build_of(struct pm4_stream *stream, const struct gpu_target *target,
                             const struct sqtt_config *config)
{
    const struct gpu_generation *g = target->family->generation;
    return (struct build){stream, target, g, &g->dialect, g->trace, config};
}

/* ---- layout */

static int is_traced(const struct sqtt_config *config, uint32_t engine)
{
    return engine < SQTT_ENGINES_MAX && config->engine_mask >> engine & 1;
}

static uint32_t traced_count(const struct gpu_target *target, const struct sqtt_config *config)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < target->geometry.se_count; i++)
        count += (uint32_t)is_traced(config, i);
    return count;
}

/* An engine that is not traced, or does not exist, has one page of the buffer all the same; the
 * traced ones share the rest evenly. */
static uint64_t part_bytes(const struct gpu_target *target, const struct sqtt_config *config)
{
    uint32_t traced = traced_count(target, config);
    uint64_t others = (uint64_t)(SQTT_ENGINES_MAX - traced) * SQTT_PAGE_BYTES;
    if (!traced || config->buffer_bytes < others)
        return 0;
    return (config->buffer_bytes - others) / traced & ~(uint64_t)(SQTT_PAGE_BYTES - 1);
}

const char *sqtt_config_check(const struct gpu_target *target, const struct sqtt_config *config)
{
    const struct gpu_trace *trace = target->family->generation->trace;
    if (target->geometry.se_count > SQTT_ENGINES_MAX)
        return "too many shader engines";
    if (target->geometry.se_count < target->geometry.xcc_count)
        return "there are dies without a shader engine";
    if (!traced_count(target, config))
        return "no shader engine is chosen";
    if (config->target > SQTT_TARGET_MAX)
        return "the compute unit is beyond 15";
    if (config->counter_count > SQTT_COUNTERS_MAX)
        return "more than 8 counters";
    if (config->counter_count && !trace->mode)
        return "counters are traced on gfx9 only";
    if (part_bytes(target, config) < SQTT_PART_BYTES_MIN)
        return "the buffer is too small";
    if (part_bytes(target, config) >> trace->part_bytes_shift)
        return "the buffer is too large";
    return NULL;
}

uint64_t sqtt_buffer_bytes_min(const struct gpu_target *target, const struct sqtt_config *config)
{
    uint64_t traced = traced_count(target, config);
    return (SQTT_ENGINES_MAX - traced) * SQTT_PAGE_BYTES + traced * SQTT_PART_BYTES_MIN;
}

struct sqtt_part sqtt_part(const struct gpu_target *target, const struct sqtt_config *config,
                           uint32_t engine)
{
    struct sqtt_part part = {.size_bytes = SQTT_PAGE_BYTES};
    uint64_t bytes = part_bytes(target, config);
    for (uint32_t i = 0; i < engine; i++)
        part.offset_bytes += is_traced(config, i) ? bytes : SQTT_PAGE_BYTES;
    part.is_traced = is_traced(config, engine);
    if (part.is_traced)
        part.size_bytes = bytes;
    return part;
}

/* ---- registers */

static void write(const struct build *b, uint32_t reg, uint32_t value)
{
    if (reg)
        pm4_register_write(b->stream, b->dialect, reg, value);
}

static void trace_write(const struct build *b, uint32_t reg, uint32_t value)
{
    if (b->trace->by_copy)
        pm4_register_copy_in(b->stream, b->dialect, reg, value, pm4_is_config(reg));
    else
        write(b, reg, value);
}

static void index_all(const struct build *b)
{
    write(b, b->generation->grbm_gfx_index, GRBM_BROADCAST_ALL);
}

static uint32_t engines_per_die(const struct gpu_target *target)
{
    return target->geometry.se_count / target->geometry.xcc_count;
}

/* The first shader array of an engine on its die; what follows is for that die only. */
static uint32_t engine_begin(const struct build *b, uint32_t engine)
{
    uint32_t per_die = engines_per_die(b->target), begin = 0;
    if (b->target->geometry.xcc_count > 1)
        begin = pm4_predicate_begin(b->stream, 1u << engine / per_die);
    write(b, b->generation->grbm_gfx_index,
          GRBM_INSTANCE_BROADCAST | engine % per_die << GRBM_SE_SHIFT);
    return begin;
}

static void engine_end(const struct build *b, uint32_t begin)
{
    if (b->target->geometry.xcc_count > 1)
        pm4_predicate_end(b->stream, begin);
}

static int is_raw(const struct build *b)
{
    const struct sqtt_config *c = b->config;
    return b->trace->mode && c->raw_mask && c->raw_token_mask && c->raw_token_mask2;
}

static uint32_t mask_value(const struct build *b)
{
    const struct gpu_trace *t = b->trace;
    if (is_raw(b))
        return b->config->raw_mask;
    return t->mask_bits | b->config->target << t->target_shift |
           (b->config->simd_mask & t->simd_field) << t->simd_shift |
           (b->config->vm_id_mask & t->vm_id_field) << t->vm_id_shift;
}

static uint32_t token_value(const struct build *b, uint32_t engine)
{
    if (is_raw(b))
        return b->config->raw_token_mask;
    if (b->trace->tokens_none && !is_traced(b->config, engine))
        return b->trace->tokens_none;
    uint32_t tokens = b->config->is_occupancy ? b->trace->tokens_occupancy : b->trace->tokens_all;
    return b->config->counter_count ? tokens | TOKEN_PERF : tokens;
}

static uint64_t page_of(const struct build *b, uint32_t engine)
{
    struct sqtt_part part = sqtt_part(b->target, b->config, engine);
    return (b->config->buffer_va + part.offset_bytes) >> PAGE_SHIFT;
}

/* Work before the trace stays out of it, unless kernels are to overlap. */
static void start_wait(const struct build *b)
{
    if (!b->config->is_concurrent)
        pm4_wait_idle(b->stream);
}

/* ---- gfx9 */

static void counters_start(const struct build *b)
{
    const struct gpu_block *sq = gpu_block_by_name(b->target, "SQ");
    write(b, b->generation->clock_gating, 1);
    write(b, b->generation->perfcount_enable, 1);
    write(b, b->generation->perfmon, PERFMON_OFF);
    for (uint32_t i = 0; sq && i < SQTT_COUNTERS_MAX; i++)
        write(b, gpu_block_registers(b->target, sq)[i].select,
              i < b->config->counter_count ? b->config->counters[i] : 0);
    write(b, b->trace->perf_mask, b->config->counter_units);
    write(b, b->generation->sq_mask, b->config->counter_units);
    write(b, b->generation->sq_control, b->config->counter_control);
    write(b, b->generation->perfmon, PERFMON_START);
    pm4_wait_idle(b->stream);
}

static void counters_stop(const struct build *b)
{
    write(b, b->generation->perfmon, PERFMON_STOP);
    write(b, b->generation->perfmon, PERFMON_OFF);
    write(b, b->generation->clock_gating, 0);
    pm4_wait_idle(b->stream);
}

static void engine_start_gfx9(const struct build *b, uint32_t engine)
{
    const struct gpu_trace *t = b->trace;
    uint64_t page = page_of(b, engine);
    uint32_t begin = engine_begin(b, engine);
    write(b, t->token_mask2, is_raw(b) ? b->config->raw_token_mask2 : 0xffffffff);
    pm4_register_copy_in(b->stream, b->dialect, t->status, 0, 0);
    write(b, t->base, (uint32_t)page);
    write(b, t->base_high, (uint32_t)(page >> 32));
    write(b, t->size, (uint32_t)(part_bytes(b->target, b->config) >> PAGE_SHIFT));
    write(b, t->control, t->control_on);
    start_wait(b);
    write(b, t->mode, t->mode_on);
    engine_end(b, begin);
}

/* The clock, when the packet runs, to memory and into the trace. */
static void timestamp(const struct build *b, uint32_t die, uint64_t va)
{
    uint32_t begin = 0;
    if (b->target->geometry.xcc_count > 1)
        begin = pm4_predicate_begin(b->stream, 1u << die);
    index_all(b);
    write(b, b->trace->userdata3, MARKER_TIMESTAMP);
    pm4_clock_copy(b->stream, b->trace->userdata3, va);
    engine_end(b, begin);
}

static void timestamps(const struct build *b, uint64_t member_offset)
{
    uint32_t per_die = engines_per_die(b->target);
    for (uint32_t die = 0; die < b->target->geometry.xcc_count; die++) {
        uint64_t engines = b->config->engine_mask >> die * per_die & ((1ull << per_die) - 1);
        if (engines)
            timestamp(b, die,
                      b->config->control_va + die * sizeof(struct sqtt_control) + member_offset);
    }
}

static void start_gfx9(const struct build *b)
{
    index_all(b);
    start_wait(b);
    write(b, b->trace->mask, mask_value(b));
    if (b->config->counter_count)
        counters_start(b);
    write(b, b->trace->token_mask, token_value(b, 0));
    write(b, b->trace->mode, b->trace->mode_off);
    write(b, b->trace->high_water, HIGH_WATER);
    for (uint32_t i = 0; i < b->target->geometry.se_count; i++) {
        if (is_traced(b->config, i))
            engine_start_gfx9(b, i);
    }
}

/* Confirmed: the flush behind them must not overtake what the host reads first. */
static void results_read(const struct build *b, uint32_t engine)
{
    struct pm4_dialect confirmed = *b->dialect;
    uint64_t va = b->config->control_va + engine * sizeof(struct sqtt_control);
    const uint32_t registers[] = {b->trace->status, b->trace->dropped, b->trace->write_pointer};
    confirmed.copy_out |= PM4_COPY_CONFIRM;
    for (uint32_t i = 0; i < sizeof registers / sizeof registers[0]; i++)
        pm4_register_copy_out(b->stream, &confirmed, registers[i], va + i * sizeof registers[i],
                              pm4_is_config(registers[i]));
}

static void stop_gfx9(const struct build *b)
{
    const struct gpu_trace *t = b->trace;
    if (b->config->has_timestamps) {
        timestamps(b, offsetof(struct sqtt_control, clock_end));
        pm4_wait_idle(b->stream);
    }
    write(b, t->mode, t->mode_off);
    pm4_wait_idle(b->stream);
    if (b->config->counter_count)
        counters_stop(b);
    for (uint32_t i = 0; i < b->target->geometry.se_count; i++) {
        if (!is_traced(b->config, i))
            continue;
        uint32_t begin = engine_begin(b, i);
        pm4_register_wait_zero(b->stream, t->status, t->busy_mask);
        results_read(b, i);
        engine_end(b, begin);
    }
    index_all(b);
    pm4_acquire(b->stream, b->dialect, b->config->buffer_va, b->config->buffer_bytes);
    write(b, t->size, 0);
    write(b, t->control, t->control_off);
    pm4_wait_idle(b->stream);
}

/* ---- gfx10 and later */

static void engine_start_gfx10(const struct build *b, uint32_t engine)
{
    const struct gpu_trace *t = b->trace;
    uint64_t page = page_of(b, engine);
    uint64_t pages = sqtt_part(b->target, b->config, engine).size_bytes >> PAGE_SHIFT;
    uint32_t high = (uint32_t)(page >> 32);
    uint32_t begin = engine_begin(b, engine);
    trace_write(b, t->size,
                (uint32_t)(pages << t->size_shift) | (t->size_has_base_high ? high : 0));
    trace_write(b, t->base, (uint32_t)page);
    if (t->base_high)
        trace_write(b, t->base_high, high);
    if (t->clears_pointer)
        trace_write(b, t->write_pointer, 0);
    trace_write(b, t->mask, mask_value(b));
    trace_write(b, t->token_mask, token_value(b, engine));
    trace_write(b, t->control, t->control_on);
    engine_end(b, begin);
}

static void start_gfx10(const struct build *b)
{
    index_all(b);
    pm4_register_copy_in(b->stream, b->dialect, b->trace->status, 0,
                         pm4_is_config(b->trace->status));
    if (b->trace->event_control)
        trace_write(b, b->trace->event_control, 3); /* at top and at bottom of the pipe */
    for (uint32_t i = 0; i < b->target->geometry.se_count; i++)
        engine_start_gfx10(b, i);
    index_all(b);
    write(b, b->trace->enable, 1);
}

static void stop_gfx10(const struct build *b)
{
    const struct gpu_trace *t = b->trace;
    write(b, t->enable, 0);
    if (t->ends_by_event)
        pm4_event(b->stream, PM4_EVENT_THREAD_TRACE_FINISH, 0);
    pm4_register_wait_zero(b->stream, t->status, t->pending_mask);
    trace_write(b, t->control, t->control_off);
    pm4_register_wait_zero(b->stream, t->status, t->busy_mask);
    for (uint32_t i = 0; i < b->target->geometry.se_count; i++) {
        if (!is_traced(b->config, i))
            continue;
        uint32_t begin = engine_begin(b, i);
        results_read(b, i);
        engine_end(b, begin);
    }
    index_all(b);
}

/* ---- both */

static void agent_write(const struct build *b, uint32_t what, uint32_t value)
{
    write(b, b->trace->userdata2,
          MARKER_AGENT | what << MARKER_CHANNEL_SHIFT | value << AGENT_VALUE_SHIFT);
}

/* Each unit of an engine, and one turn more, takes its time for every four counters. */
static uint32_t counter_cycles(const struct build *b)
{
    enum { PER_TURN = 4, RATE_SHIFT = 8, RATE_MASK = 0x1f };
    const struct gpu_geometry *g = &b->target->geometry;
    uint32_t turns = (b->config->counter_count + PER_TURN - 1) / PER_TURN;
    uint32_t rate = b->config->counter_control >> RATE_SHIFT & RATE_MASK;
    return (1 + g->cu_count / g->se_count) * turns * PER_TURN * (rate + 1);
}

static void header_write(const struct build *b)
{
    write(b, b->trace->userdata2, HEADER_MAGIC);
    write(b, b->trace->userdata2, HEADER_VERSION);
    if (b->config->has_timestamps && b->config->clock_khz)
        agent_write(b, AGENT_CLOCK_KHZ, b->config->clock_khz);
    if (b->config->counter_count)
        agent_write(b, AGENT_COUNTER_CYCLES, counter_cycles(b));
}

void sqtt_start(struct pm4_stream *stream, const struct gpu_target *target,
                const struct sqtt_config *config)
{
    const struct build b = build_of(stream, target, config);
    if (b.trace->mode)
        start_gfx9(&b);
    else
        start_gfx10(&b);
    pm4_wait_idle(stream);
    index_all(&b);
    header_write(&b);
    if (b.trace->mode && config->has_timestamps)
        timestamps(&b, offsetof(struct sqtt_control, clock_start));
}

void sqtt_stop(struct pm4_stream *stream, const struct gpu_target *target,
               const struct sqtt_config *config)
{
    const struct build b = build_of(stream, target, config);
    index_all(&b);
    pm4_wait_idle(stream);
    if (b.trace->mode)
        stop_gfx9(&b);
    else
        stop_gfx10(&b);
    pm4_acquire(stream, b.dialect, config->control_va,
                target->geometry.se_count * sizeof(struct sqtt_control));
    pm4_wait_idle(stream);
}

void sqtt_read(struct pm4_stream *stream, const struct gpu_target *target,
               const struct sqtt_config *config)
{
    const struct build b = build_of(stream, target, config);
    index_all(&b);
    pm4_wait_idle(stream);
    for (uint32_t i = 0; i < target->geometry.se_count; i++) {
        if (!is_traced(config, i))
            continue;
        uint32_t begin = engine_begin(&b, i);
        results_read(&b, i);
        engine_end(&b, begin);
    }
    index_all(&b);
    pm4_acquire(stream, b.dialect, config->buffer_va, config->buffer_bytes);
    pm4_acquire(stream, b.dialect, config->control_va,
                target->geometry.se_count * sizeof(struct sqtt_control));
    pm4_wait_idle(stream);
}

void sqtt_marker(struct pm4_stream *stream, const struct gpu_target *target,
                 enum sqtt_channel channel, uint32_t value)
{
    const struct build b = build_of(stream, target, NULL);
    index_all(&b);
    write(&b, b.trace->userdata2, MARKER_CODE_OBJECT | channel << MARKER_CHANNEL_SHIFT);
    write(&b, b.trace->userdata2, value);
}

uint64_t sqtt_written_bytes(const struct gpu_target *target, const struct sqtt_config *config,
                            uint32_t engine, const struct sqtt_control *control,
                            enum sqtt_outcome *outcome)
{
    const struct gpu_trace *t = target->family->generation->trace;
    struct sqtt_part part = sqtt_part(target, config, engine);
    uint64_t bytes = (uint64_t)(control->write_pointer & t->pointer_mask) * POINTER_UNIT_BYTES;
    if (t->pointer_is_address) {
        bytes -= config->buffer_va + part.offset_bytes;
        bytes &= (1ull << t->part_bytes_shift) - 1;
    }
    *outcome = SQTT_COMPLETE;
    if (bytes >= part.size_bytes) {
        bytes = part.size_bytes;
        *outcome = SQTT_FULL;
    }
    if (control->status & t->full_mask)
        *outcome = SQTT_FULL;
    if (control->status & t->error_mask)
        *outcome = SQTT_MEMORY_ERROR;
    return bytes;
}

uint32_t sqtt_prefix(const struct gpu_target *target, const struct sqtt_config *config,
                     uint32_t engine, uint64_t *prefix)
{
    enum { VERSION = 0x11, TOKENS_SHIFT = 13, SIMD_SHIFT = 16, UNIT_SHIFT = 20 };
    enum { ENGINE_SHIFT = 26, ENGINE_MASK = 0x3f };
    if (!target->family->trace_tokens)
        return 0;
    *prefix = VERSION | target->family->trace_tokens << TOKENS_SHIFT |
              (config->simd_mask & 0xf) << SIMD_SHIFT | config->target << UNIT_SHIFT |
              (uint64_t)(engine & ENGINE_MASK) << ENGINE_SHIFT;
    return sizeof *prefix;
}
