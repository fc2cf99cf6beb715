/* Configurations: checked when created, immutable afterwards, alive while anything uses them. */
#include "session/counting/config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork_lock.h"
#include "base/log.h"

/* Handles are position + 1 in the low bits and a generation above, so that a stale one is unknown
 * rather than somebody else's. */
enum { POSITION_BITS = 20, CONFIGS_MAX = (1 << POSITION_BITS) - 1 };

static struct {
    pthread_mutex_t lock; /* a leaf */
    struct counting_config **items;
    uint32_t count, capacity;
    uint64_t generation;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(table_kept, table.lock)

static void config_free(struct counting_config *config)
{
    if (!config)
        return;
    counting_slots_free(config);
    pthread_mutex_destroy(&config->lock);
    free(config->counters);
    free(config->plan);
    free(config->events);
    free(config->result_index);
    free(config);
}

/* Under table.lock. False: there is no room. */
static bool table_place(struct counting_config *config)
{
    uint32_t position = 0;
    while (position < table.count && table.items[position])
        position++;
    if (position == table.capacity)
        return false;
    table.items[position] = config;
    if (position == table.count)
        table.count++;
    config->handle = ++table.generation << POSITION_BITS | (position + 1);
    return true;
}

/* Under table.lock: takes the array if it is larger. Returns the one that is to be freed. */
static struct counting_config **table_move(struct counting_config **items, uint32_t capacity)
{
    struct counting_config **old = table.items;
    if (capacity <= table.capacity)
        return items; /* another thread was first */
    if (table.count)
        memcpy(items, old, table.count * sizeof *items);
    table.items = items;
    table.capacity = capacity;
    return old;
}

/* Memory comes and goes outside of the lock. */
static int table_insert(struct counting_config *config)
{
    struct counting_config **items = NULL;
    uint32_t capacity = 0;
    for (;;) {
        pthread_mutex_lock(&table.lock);
        items = table_move(items, capacity);
        bool placed = table_place(config);
        capacity = table.capacity ? table.capacity * 2 : 64;
        pthread_mutex_unlock(&table.lock);
        free(items);
        if (placed)
            return 0;
        items = capacity <= CONFIGS_MAX ? malloc(capacity * sizeof *items) : NULL;
        if (!items)
            return -1;
    }
}

/* Under table.lock. */
static struct counting_config *table_find(uint64_t handle)
{
    uint64_t position = (handle & CONFIGS_MAX) - 1;
    if (position >= table.count || !table.items[position] ||
        table.items[position]->handle != handle)
        return NULL;
    return table.items[position];
}

struct counting_config *counting_config_acquire(rocprofiler_counter_config_id_t id)
{
    pthread_mutex_lock(&table.lock);
    struct counting_config *config = table_find(id.handle);
    if (config)
        atomic_fetch_add_explicit(&config->references, 1, memory_order_relaxed);
    pthread_mutex_unlock(&table.lock);
    return config;
}

void counting_config_release(struct counting_config *config)
{
    /* Pairs with the releases of all other users: the last one sees their writes. */
    if (atomic_fetch_sub_explicit(&config->references, 1, memory_order_acq_rel) == 1)
        config_free(config);
}

rocprofiler_status_t counting_config_destroy(rocprofiler_counter_config_id_t id)
{
    pthread_mutex_lock(&table.lock);
    struct counting_config *config = table_find(id.handle);
    if (config)
        table.items[(id.handle & CONFIGS_MAX) - 1] = NULL;
    pthread_mutex_unlock(&table.lock);
    if (config)
        counting_config_release(config);
    return ROCPROFILER_STATUS_SUCCESS; /* promised never to fail */
}

static void counter_add(struct counting_config *config, const struct counter *counter)
{
    for (uint32_t i = 0; i < config->counter_count; i++) {
        if (config->counters[i]->id == counter->id)
            return;
    }
    config->counters[config->counter_count++] = counter;
}

/* A catalog may have been replaced by one that knows more; ids are the same in both. */
static rocprofiler_status_t counters_take(struct counting_config *config,
                                          const struct counting_config *base,
                                          const rocprofiler_counter_id_t *ids, size_t count)
{
    for (uint32_t i = 0; base && i < base->counter_count; i++)
        counter_add(config, catalog_find_id(config->catalog, base->counters[i]->id));
    for (size_t i = 0; i < count; i++) {
        const struct counter *counter;
        rocprofiler_status_t status = counting_counter_of(config->catalog, ids[i], &counter);
        if (status != ROCPROFILER_STATUS_SUCCESS)
            return status;
        counter_add(config, counter);
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t plan_make(struct counting_config *config)
{
    struct plan_event events[PLAN_EVENTS_MAX];
    const char *full = "";
    uint32_t total;
    const struct counter *all = catalog_counters(config->catalog, &total);
    for (uint32_t i = 0; i < config->counter_count; i++) {
        const struct counter *counter = config->counters[i];
        const struct expr_program *program = counter_program(counter);
        uint32_t workspace = program ? expr_workspace_size(program) : 0;
        if (plan_events_add(config->catalog, counter, events, &config->plan_count, PLAN_EVENTS_MAX))
            return ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT;
        config->record_count += shape_count(counter_shape(counter));
        if (workspace > config->workspace_count)
            config->workspace_count = workspace;
    }
    if (!plan_fits(config->catalog, events, config->plan_count, &full)) {
        char text[800];
        plan_describe(config->catalog, events, config->plan_count, text, sizeof text);
        log_warning("counting", "%s cannot count all that was asked for at once: %s",
                    config->agent->info->name, text);
        return ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT;
    }
    for (uint32_t i = 0; i < config->plan_count; i++)
        config->value_count += shape_count(counter_shape(&all[events[i].counter]));
    config->plan = malloc((config->plan_count + 1) * sizeof *config->plan);
    if (!config->plan)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    memcpy(config->plan, events, config->plan_count * sizeof *config->plan);
    return ROCPROFILER_STATUS_SUCCESS;
}

static void trace_take(struct counting_config *config, const struct counting_trace_options *trace)
{
    config->has_trace = trace != NULL;
    if (trace)
        config->trace = *trace;
}

static rocprofiler_status_t config_make(const struct counting_agent *agent,
                                        const struct counting_config *base,
                                        const rocprofiler_counter_id_t *ids, size_t count,
                                        const struct counting_trace_options *trace,
                                        struct counting_config **made)
{
    struct counting_config *config = calloc(1, sizeof *config);
    rocprofiler_status_t status;
    if (!config)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    pthread_mutex_init(&config->lock, NULL);
    config->agent = agent;
    config->catalog = counting_catalog(agent);
    atomic_init(&config->references, 1);
    trace_take(config, trace);
    config->counters =
        calloc(count + (base ? base->counter_count : 0) + 1, sizeof *config->counters);
    status = config->counters ? counters_take(config, base, ids, count)
                              : ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    if (status == ROCPROFILER_STATUS_SUCCESS)
        status = plan_make(config);
    if (status == ROCPROFILER_STATUS_SUCCESS && table_insert(config))
        status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    if (status != ROCPROFILER_STATUS_SUCCESS) {
        config_free(config);
        return status;
    }
    *made = config;
    return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t config_create(rocprofiler_agent_id_t agent_id,
                                          const rocprofiler_counter_id_t *counters, size_t count,
                                          const struct counting_trace_options *trace,
                                          rocprofiler_counter_config_id_t *id)
{
    const struct counting_agent *agent = counting_agent_find(agent_id);
    struct counting_config *made = NULL;
    if (!id || (!counters && count) || count > UINT16_MAX)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (!agent)
        return ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
    if (!agent->is_supported || !counting_catalog(agent))
        return ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED;
    /* Tools leave rubbish in *id: only a live configuration of the same agent is extended. */
    struct counting_config *base = counting_config_acquire(*id);
    rocprofiler_status_t status = config_make(agent, base && base->agent == agent ? base : NULL,
                                              counters, count, trace, &made);
    if (base)
        counting_config_release(base);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        id->handle = made->handle;
    return status;
}

rocprofiler_status_t counting_config_create(rocprofiler_agent_id_t agent,
                                            const rocprofiler_counter_id_t *counters, size_t count,
                                            rocprofiler_counter_config_id_t *id)
{
    return config_create(agent, counters, count, NULL, id);
}

rocprofiler_status_t counting_config_create_traced(rocprofiler_agent_id_t agent,
                                                   const rocprofiler_counter_id_t *counters,
                                                   size_t count,
                                                   const struct counting_trace_options *options,
                                                   rocprofiler_counter_config_id_t *id)
{
    /* Both program the sequencers' counters. */
    if (!options || (options->sqtt.counter_count && count))
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return config_create(agent, counters, count, options, id);
}
