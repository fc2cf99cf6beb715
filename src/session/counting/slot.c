/*
 * Slots: the memory of one collection. Command buffers carry the address of their result buffer, so
 * they are built once per slot and the slots of a configuration are used again and again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "model/trace.h"
#include "session/counting/config.h"
#include "session/counting/runtime.h"

/* Written when the runtime's table comes or goes (release), read per slot (acquire). */
static _Atomic(const struct counting_memory_ops *) memory_ops;
/* Grows with each such change (release, before the pointer), read with it (acquire): memory of a
 * runtime that has gone is neither used nor given back. */
static _Atomic uint32_t memory_generation;

enum { ALIGNMENT = 256 };

void counting_memory_register(const struct counting_memory_ops *ops)
{
    atomic_fetch_add_explicit(&memory_generation, 1, memory_order_release);
    atomic_store_explicit(&memory_ops, ops, memory_order_release);
}

uint32_t counting_memory_generation(void)
{
    return atomic_load_explicit(&memory_generation, memory_order_acquire);
}

void *counting_memory_take(uint64_t hsa_agent, size_t bytes, uint32_t *generation)
{
    *generation = counting_memory_generation();
    const struct counting_memory_ops *ops = atomic_load_explicit(&memory_ops, memory_order_acquire);
    return ops ? ops->allocate(hsa_agent, bytes) : NULL;
}

bool counting_buffer_read(const struct counting_slot *slot, size_t offset, void *to, size_t bytes)
{
    const struct counting_memory_ops *ops = atomic_load_explicit(&memory_ops, memory_order_acquire);
    return ops && ops->buffer_read && slot->generation == counting_memory_generation() &&
           ops->buffer_read(&slot->trace_buffer, offset, to, bytes);
}

static size_t align(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static enum gpu_accumulate gpu_accumulate_of(enum expr_accumulate accumulate)
{
    static const enum gpu_accumulate of[] = {[ACCUMULATE_NONE] = GPU_ACCUMULATE_NONE,
                                             [ACCUMULATE_LOW_RES] = GPU_ACCUMULATE_LOW_RES,
                                             [ACCUMULATE_HIGH_RES] = GPU_ACCUMULATE_HIGH_RES};
    return of[accumulate];
}

/* One GPU event per instance of each planned event. */
static int events_make(struct counting_config *config)
{
    const struct gpu_target *target = config->agent->target;
    uint32_t total, used = 0;
    const struct counter *all = catalog_counters(config->catalog, &total);
    for (uint32_t i = 0; i < config->plan_count; i++) {
        const struct gpu_block *block =
            gpu_block_by_name(target, all[config->plan[i].counter].block_name);
        used += gpu_block_instances(target, block);
    }
    config->events = calloc(used + 1, sizeof *config->events);
    if (!config->events)
        return -1;
    for (uint32_t i = 0; i < config->plan_count; i++) {
        const struct counter *counter = &all[config->plan[i].counter];
        const struct gpu_block *block = gpu_block_by_name(target, counter->block_name);
        uint32_t instances = gpu_block_instances(target, block);
        for (uint32_t k = 0; k < instances; k++)
            config->events[config->event_count++] =
                (struct gpu_event){.block = block,
                                   .instance = k,
                                   .event = counter->event,
                                   .accumulate = gpu_accumulate_of(config->plan[i].accumulate)};
    }
    return gpu_pmc_assign(target, config->events, config->event_count) == GPU_PMC_OK ? 0 : -1;
}

/* Where each value of each planned event lies in the result buffer. */
static int results_map(struct counting_config *config)
{
    const struct gpu_target *target = config->agent->target;
    uint32_t total, value = 0, first_event = 0;
    const struct counter *all = catalog_counters(config->catalog, &total);
    config->result_index = calloc(config->value_count + 1, sizeof *config->result_index);
    if (!config->result_index)
        return -1;
    for (uint32_t i = 0; i < config->plan_count; i++) {
        const struct counter *counter = &all[config->plan[i].counter];
        uint32_t values = shape_count(counter_shape(counter));
        struct gpu_grid grid = gpu_block_grid(target, config->events[first_event].block);
        for (uint32_t k = 0; k < values; k++) {
            uint64_t id = shape_instance_id(counter_shape(counter), 0, k);
            uint32_t sample = gpu_grid_sample(&grid, instance_position(id, DIMENSION_SHADER_ENGINE),
                                              instance_position(id, DIMENSION_SHADER_ARRAY),
                                              instance_position(id, DIMENSION_WGP));
            config->result_index[value++] =
                gpu_pmc_result_index(target, config->events, config->event_count,
                                     first_event + instance_position(id, DIMENSION_INSTANCE),
                                     instance_position(id, DIMENSION_XCC), sample);
        }
        first_event += gpu_block_instances(target, config->events[first_event].block);
    }
    config->result_bytes = gpu_pmc_result_bytes(target, config->events, config->event_count);
    return 0;
}

static int config_build(struct counting_config *config)
{
    int status = 0;
    pthread_mutex_lock(&config->lock);
    if (!config->is_built) {
        free(config->events);
        free(config->result_index);
        config->events = NULL;
        config->result_index = NULL;
        config->event_count = 0;
        status = events_make(config) || results_map(config) ? -1 : 0;
        config->is_built = status == 0;
    }
    pthread_mutex_unlock(&config->lock);
    return status;
}

/* What a kind of slot does in its two packets. */
static const struct {
    unsigned start : 1, first : 1, read : 1, stop : 1; /* read and stop are in `after` */
} work_of[COUNTING_SLOT_KINDS] = {[COUNTING_SLOT_DISPATCH] = {1, 0, 1, 1},
                                  [COUNTING_SLOT_SAMPLE] = {0, 0, 1, 0},
                                  [COUNTING_SLOT_SWITCH] = {1, 0, 0, 1},
                                  [COUNTING_SLOT_BETWEEN] = {0, 1, 1, 0}};

static bool kind_traces(const struct counting_config *config, enum counting_slot_kind kind)
{
    return config->has_trace && work_of[kind].start;
}

bool counting_slot_kind_programs(const struct counting_config *config, enum counting_slot_kind kind)
{
    return config->plan_count > 0 || kind_traces(config, kind);
}

struct streams {
    struct pm4_stream before, after, look;
};

static void streams_free(struct streams *s)
{
    pm4_stream_free(&s->before);
    pm4_stream_free(&s->after);
    pm4_stream_free(&s->look);
}

/* From one reading to the other. */
static size_t first_offset(const struct counting_config *config)
{
    return align(config->result_bytes);
}

/* The trace lies within the counters' time: what starts and reads them is not seen in it. */
static int streams_make(const struct counting_slot *slot, uint64_t result_va, struct streams *s)
{
    const struct counting_config *config = slot->config;
    const struct gpu_target *target = config->agent->target;
    bool counts = config->plan_count > 0, traces = kind_traces(config, slot->kind);
    if (counts && work_of[slot->kind].start)
        gpu_pmc_start(&s->before, target, config->events, config->event_count);
    if (traces) {
        sqtt_start(&s->before, target, &slot->trace);
        sqtt_stop(&s->after, target, &slot->trace);
    }
    if (counts && work_of[slot->kind].first)
        gpu_pmc_read(&s->before, target, config->events, config->event_count,
                     result_va + first_offset(config));
    if (counts && work_of[slot->kind].read)
        gpu_pmc_read(&s->after, target, config->events, config->event_count, result_va);
    if (counts && work_of[slot->kind].stop)
        gpu_pmc_stop(&s->after, target, config->events, config->event_count);
    if (traces && !work_of[slot->kind].read)
        sqtt_read(&s->look, target, &slot->trace);
    return s->before.out_of_memory || s->after.out_of_memory || s->look.out_of_memory ? -1 : 0;
}

static void commands_place(const struct pm4_stream *stream, char *place,
                           struct aql_pm4_packet *packet)
{
    if (stream->count == 0)
        return;
    memcpy(place, stream->dwords, stream->count * sizeof(uint32_t));
    aql_pm4_packet_fill(packet, (uint64_t)(uintptr_t)place, stream->count);
    packet->header = aql_vendor_header();
}

static struct counting_layout layout_make(const struct counting_slot *slot, const struct streams *s)
{
    const struct counting_config *config = slot->config;
    bool traces = kind_traces(config, slot->kind);
    uint32_t engines = traces ? config->agent->target->geometry.se_count : 0;
    struct counting_layout l;
    l.after = align(s->before.count * sizeof(uint32_t));
    l.look = l.after + align(s->after.count * sizeof(uint32_t));
    l.control = l.look + align(s->look.count * sizeof(uint32_t));
    l.result = l.control + align(engines * sizeof(struct sqtt_control));
    l.bytes = l.result + (work_of[slot->kind].read ? config->result_bytes : 0);
    if (work_of[slot->kind].first)
        l.bytes += first_offset(config);
    return l;
}

static int trace_prepare(struct counting_slot *slot, uint64_t hsa_agent,
                         const struct counting_memory_ops *ops)
{
    const struct counting_trace_options *options = &slot->config->trace;
    if (!kind_traces(slot->config, slot->kind))
        return 0;
    if (!ops->buffer_allocate || !ops->buffer_allocate(hsa_agent, options->buffer_bytes,
                                                       options->is_local, &slot->trace_buffer))
        return -1;
    slot->trace = options->sqtt;
    slot->trace.buffer_va = (uint64_t)(uintptr_t)slot->trace_buffer.address;
    slot->trace.buffer_bytes = options->buffer_bytes;
    return 0;
}

/* The commands' lengths are found once, with addresses that are not known yet: all slots of a kind
 * have the same. False: no memory. */
static bool layout_find(const struct counting_slot *slot, struct counting_layout *layout)
{
    struct counting_config *config = slot->config;
    struct streams measured = {0};
    pthread_mutex_lock(&config->lock);
    *layout = config->layout[slot->kind];
    pthread_mutex_unlock(&config->lock);
    if (layout->bytes)
        return true;
    bool is_made = streams_make(slot, 0, &measured) == 0;
    *layout = layout_make(slot, &measured);
    streams_free(&measured);
    if (!is_made)
        return false;
    pthread_mutex_lock(&config->lock);
    config->layout[slot->kind] = *layout;
    pthread_mutex_unlock(&config->lock);
    return true;
}

static void slot_point(struct counting_slot *slot, const struct counting_layout *l)
{
    char *memory = slot->memory;
    slot->result = (const uint64_t *)(void *)(memory + l->result);
    if (work_of[slot->kind].first)
        slot->first = (const uint64_t *)(void *)(memory + l->result + first_offset(slot->config));
    slot->trace_control = (const struct sqtt_control *)(void *)(memory + l->control);
    slot->trace.control_va = (uint64_t)(uintptr_t)slot->trace_control;
}

static int slot_program(struct counting_slot *slot, uint64_t hsa_agent,
                        const struct counting_memory_ops *ops)
{
    struct counting_layout l;
    struct streams streams = {0};
    if (trace_prepare(slot, hsa_agent, ops) || !layout_find(slot, &l))
        return -1;
    char *memory = slot->memory = ops->allocate(hsa_agent, l.bytes);
    if (!memory)
        return -1;
    slot_point(slot, &l);
    int status = streams_make(slot, (uint64_t)(uintptr_t)slot->result, &streams);
    if (layout_make(slot, &streams).bytes != l.bytes)
        status = -1; /* never: lengths do not depend on addresses */
    if (status == 0) {
        commands_place(&streams.before, memory, &slot->before);
        commands_place(&streams.after, memory + l.after, &slot->after);
        commands_place(&streams.look, memory + l.look, &slot->look);
    }
    streams_free(&streams);
    return status;
}

bool counting_slot_is_stale(const struct counting_slot *slot)
{
    return slot->generation != atomic_load_explicit(&memory_generation, memory_order_acquire);
}

static void slot_free(struct counting_slot *slot)
{
    const struct counting_memory_ops *ops = atomic_load_explicit(&memory_ops, memory_order_acquire);
    if (slot->memory && ops && !counting_slot_is_stale(slot))
        ops->release(slot->memory);
    if (slot->trace_buffer.address && ops && !counting_slot_is_stale(slot))
        ops->buffer_release(&slot->trace_buffer);
    free(slot->values);
    free(slot->records);
    free(slot->record_ids);
    free(slot);
}

/* The id of each value, the same at every evaluation. */
static uint64_t *record_ids_make(const struct counting_config *config)
{
    uint64_t *ids = calloc(config->record_count + 1u, sizeof *ids);
    uint32_t count = 0;
    for (uint32_t i = 0; ids && i < config->counter_count; i++) {
        const struct counter_shape *shape = counter_shape(config->counters[i]);
        for (uint32_t k = 0, n = shape_count(shape); k < n; k++)
            ids[count++] = shape_instance_id(shape, config->counters[i]->id, k);
    }
    return ids;
}

static struct counting_slot *slot_create(struct counting_config *config,
                                         enum counting_slot_kind kind, uint64_t hsa_agent)
{
    uint32_t generation = atomic_load_explicit(&memory_generation, memory_order_acquire);
    const struct counting_memory_ops *ops = atomic_load_explicit(&memory_ops, memory_order_acquire);
    struct counting_slot *slot = ops ? calloc(1, sizeof *slot) : NULL;
    if (!slot)
        return NULL;
    slot->config = config;
    slot->kind = kind;
    slot->generation = generation;
    slot->values =
        calloc((size_t)config->value_count + config->workspace_count + 1, sizeof *slot->values);
    slot->records = calloc(config->record_count + 1u, sizeof *slot->records);
    slot->record_ids = record_ids_make(config);
    if (slot->values && slot->records && slot->record_ids && config_build(config) == 0 &&
        (!counting_slot_kind_programs(config, kind) || slot_program(slot, hsa_agent, ops) == 0))
        return slot;
    slot_free(slot);
    return NULL;
}

struct counting_slot *counting_slot_acquire(struct counting_config *config,
                                            enum counting_slot_kind kind, uint64_t hsa_agent)
{
    struct counting_slot *slot;
    do {
        pthread_mutex_lock(&config->lock);
        slot = config->idle[kind];
        if (slot)
            config->idle[kind] = slot->next;
        pthread_mutex_unlock(&config->lock);
        if (!slot || !counting_slot_is_stale(slot))
            break;
        slot_free(slot);
    } while (1);
    if (!slot)
        slot = slot_create(config, kind, hsa_agent);
    if (slot) {
        atomic_fetch_add_explicit(&config->references, 1, memory_order_relaxed);
        atomic_store_explicit(&slot->holders, 1, memory_order_relaxed);
    }
    return slot;
}

void counting_slot_release(struct counting_slot *slot)
{
    struct counting_config *config = slot->config;
    if (atomic_fetch_sub_explicit(&slot->holders, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_lock(&config->lock);
    slot->next = config->idle[slot->kind];
    config->idle[slot->kind] = slot;
    pthread_mutex_unlock(&config->lock);
    counting_config_release(config);
}

void counting_slot_packets(const struct counting_slot *slot, struct trace_packets *packets)
{
    if (!slot->memory) /* only constants: nothing to program */
        return;
    *packets = (struct trace_packets){.before = &slot->before,
                                      .after = &slot->after,
                                      .before_count = 1,
                                      .after_count = 1,
                                      .serialize = slot->kind == COUNTING_SLOT_DISPATCH,
                                      .in_order = true,
                                      .signal_after = true};
}

void counting_slots_free(struct counting_config *config)
{
    for (int kind = 0; kind < COUNTING_SLOT_KINDS; kind++) {
        for (struct counting_slot *slot = config->idle[kind], *next; slot; slot = next) {
            next = slot->next;
            slot_free(slot);
        }
    }
}

/* The values of a planned event; the plan has every event that a counter of the config reads. */
static const double *values_of(const struct counting_slot *slot, uint32_t counter,
                               enum expr_accumulate accumulate)
{
    const struct counting_config *config = slot->config;
    uint32_t total, offset = 0;
    const struct counter *all = catalog_counters(config->catalog, &total);
    for (uint32_t i = 0; i < config->plan_count; i++) {
        if (config->plan[i].counter == counter && config->plan[i].accumulate == accumulate)
            break;
        offset += shape_count(counter_shape(&all[config->plan[i].counter]));
    }
    return slot->values + offset;
}

static const double *counter_evaluate(struct counting_slot *slot, const struct counter *counter)
{
    const struct counting_config *config = slot->config;
    double *workspace = slot->values + config->value_count;
    uint32_t total, inputs;
    const struct counter *all = catalog_counters(config->catalog, &total);
    if (counter->kind == COUNTER_CONSTANT)
        return &counter->constant;
    if (counter->kind == COUNTER_BASIC)
        return values_of(slot, (uint32_t)(counter - all), ACCUMULATE_NONE);
    const struct expr_program *program = counter_program(counter);
    const struct expr_input *input = expr_inputs(program, &inputs);
    expr_workspace_init(program, workspace);
    for (uint32_t i = 0; i < inputs; i++)
        memcpy(workspace + input[i].slot, values_of(slot, input[i].input, input[i].accumulate),
               shape_count(&input[i].shape) * sizeof *workspace);
    return expr_evaluate(program, workspace);
}

static void values_read(struct counting_slot *slot)
{
    const uint64_t *result = slot->result, *first = slot->first;
    const uint32_t *index = slot->config->result_index, count = slot->config->value_count;
    double *values = slot->values;
    for (uint32_t i = 0; i < count; i++)
        values[i] = (double)(result[index[i]] - (first ? first[index[i]] : 0));
}

/* `like`, for each value of a counter. */
static void records_fill(rocprofiler_counter_record_t *records, const uint64_t *ids,
                         const double *values, uint32_t count, rocprofiler_counter_record_t like)
{
    for (uint32_t i = 0; i < count; i++) {
        like.id = ids[i];
        like.counter_value = values[i];
        records[i] = like;
    }
}

uint32_t counting_slot_evaluate(struct counting_slot *slot, rocprofiler_dispatch_id_t dispatch,
                                rocprofiler_user_data_t user_data)
{
    const struct counting_config *config = slot->config;
    const rocprofiler_counter_record_t like = {
        .dispatch_id = dispatch, .user_data = user_data, .agent_id = config->agent->id};
    uint32_t count = 0;
    values_read(slot);
    for (uint32_t i = 0; i < config->counter_count; i++) {
        const struct counter *counter = config->counters[i];
        const double *values = counter_evaluate(slot, counter);
        uint32_t own = shape_count(counter_shape(counter));
        records_fill(slot->records + count, slot->record_ids + count, values, own, like);
        count += own;
    }
    return count;
}
