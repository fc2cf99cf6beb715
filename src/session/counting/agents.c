/* Agents, their catalogs and the definitions behind them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork_lock.h"
#include "base/log.h"
#include "session/counting/counting.h"
#include "topology/topology.h"

enum { CATALOGS_MAX = 64, CREATED_MAX = 512, COUNTER_ID_LIMIT = 65536 };

/* Agents that are alike share a catalog, so their counter ids are the same. */
struct catalog_entry {
    /* Written under `lock` (release) at creation and when a counter is created; read anywhere
     * (acquire). Superseded catalogs stay: configurations point into them. */
    _Atomic(struct catalog *) catalog;
    const struct counting_agent *example;
    struct definition_set *own; /* with what was created for its agents; NULL: nothing yet */
    uint32_t first_id, id_count;
};

struct retired_catalog {
    struct retired_catalog *next;
    struct catalog *catalog;
};

static struct {
    pthread_mutex_t lock; /* building; nobody is called under it but the log */
    _Atomic int is_ready; /* release after everything below is built; acquire by readers */
    struct definition_set *definitions;
    char *custom_text; /* load_counter_definition(), until the catalogs are built */
    size_t custom_bytes;
    int custom_appends;
    struct counting_agent agents[COUNTING_AGENTS_MAX];
    struct gpu_target targets[COUNTING_AGENTS_MAX]; /* of the agents, one each */
    struct catalog_entry *entry_of[COUNTING_AGENTS_MAX];
    uint32_t agent_count;
    struct catalog_entry entries[CATALOGS_MAX];
    struct retired_catalog *retired;
    uint32_t entry_count;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(state_kept, state.lock)

/* Properties that expressions may name, as the kernel driver calls them. */
#define PROPERTIES(X)                                                                              \
    X(simd_count)                                                                                  \
    X(mem_banks_count)                                                                             \
    X(caches_count)                                                                                \
    X(io_links_count)                                                                              \
    X(max_waves_per_simd)                                                                          \
    X(lds_size_in_kb)                                                                              \
    X(gds_size_in_kb)                                                                              \
    X(num_gws)                                                                                     \
    X(wave_front_size)                                                                             \
    X(num_xcc)                                                                                     \
    X(cu_count)                                                                                    \
    X(array_count)                                                                                 \
    X(num_shader_banks)                                                                            \
    X(simd_arrays_per_engine)                                                                      \
    X(cu_per_simd_array)                                                                           \
    X(simd_per_cu)                                                                                 \
    X(max_slots_scratch_cu)                                                                        \
    X(gfx_target_version)                                                                          \
    X(num_sdma_engines)                                                                            \
    X(num_sdma_xgmi_engines)                                                                       \
    X(num_sdma_queues_per_engine)                                                                  \
    X(num_cp_queues)                                                                               \
    X(max_engine_clk_fcompute)                                                                     \
    X(cu_per_engine)                                                                               \
    X(max_waves_per_cu)                                                                            \
    X(workgroup_max_size)                                                                          \
    X(local_mem_size)

enum {
#define X(name) PROPERTY_##name,
    PROPERTIES(X)
#undef X
        PROPERTY_COUNT
};

static void properties_fill(const rocprofiler_agent_v0_t *a,
                            struct counter_property properties[PROPERTY_COUNT])
{
#define X(name) properties[PROPERTY_##name] = (struct counter_property){#name, (double)a->name};
    PROPERTIES(X)
#undef X
}

bool counting_property(const struct counting_agent *agent, const char *name, double *value)
{
    struct counter_property properties[PROPERTY_COUNT];
    properties_fill(agent->info, properties);
    for (int i = 0; i < PROPERTY_COUNT; i++) {
        if (strcmp(properties[i].name, name) == 0) {
            *value = properties[i].value;
            return true;
        }
    }
    return false;
}

/* The block's dimensions on this GPU: dies, where it is sampled on one, instances. */
static struct counter_shape shape_of(const struct gpu_target *target, const struct gpu_block *block)
{
    struct counter_shape shape = {{0}};
    uint32_t dies = gpu_block_dies(target, block);
    if (dies > 1)
        shape.extent[DIMENSION_XCC] = (uint8_t)dies;
    struct gpu_grid grid = gpu_block_grid(target, block);
    shape.extent[DIMENSION_SHADER_ENGINE] = (uint8_t)grid.engines;
    shape.extent[DIMENSION_SHADER_ARRAY] = (uint8_t)grid.arrays;
    shape.extent[DIMENSION_WGP] = (uint8_t)grid.processors;
    shape.extent[DIMENSION_INSTANCE] = (uint8_t)gpu_block_instances(target, block);
    return shape;
}

static struct catalog *catalog_build(const struct counting_agent *agent,
                                     const struct definition_set *definitions, uint32_t first_id)
{
    struct counter_property properties[PROPERTY_COUNT];
    uint32_t count;
    const struct gpu_block *blocks = gpu_blocks(agent->target, &count);
    struct counter_block *known = calloc(count, sizeof *known);
    if (!known)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        known[i] = (struct counter_block){.name = blocks[i].name,
                                          .registers = blocks[i].counters,
                                          .register_file = blocks[i].register_file,
                                          .event_max = blocks[i].event_max,
                                          .may_accumulate = blocks[i].flags & BLOCK_ACCUMULATES,
                                          .shape = shape_of(agent->target, &blocks[i])};
    }
    properties_fill(agent->info, properties);
    struct counter_agent description = {.architecture = agent->info->name,
                                        .blocks = known,
                                        .block_count = count,
                                        .properties = properties,
                                        .property_count = PROPERTY_COUNT};
    struct catalog *catalog = catalog_create(definitions, &description, first_id);
    free(known);
    return catalog;
}

static int alike(const struct counting_agent *a, const struct counting_agent *b)
{
    struct counter_property left[PROPERTY_COUNT], right[PROPERTY_COUNT];
    if (strcmp(a->info->name, b->info->name) != 0)
        return 0;
    properties_fill(a->info, left);
    properties_fill(b->info, right);
    for (int i = 0; i < PROPERTY_COUNT; i++) {
        if (left[i].value != right[i].value)
            return 0;
    }
    return 1;
}

/* A file of the user's replaces the shipped set; text from load_counter_definition() replaces or
 * extends what there is. */
static void definitions_build(void)
{
    const char *directory = secure_getenv("ROCPROFILER_METRICS_PATH");
    int from_user = 0;
    state.definitions = definitions_create();
    if (!state.definitions)
        return;
    if (state.custom_text && !state.custom_appends) {
        from_user = 1;
    } else if (directory && *directory) {
        char path[4096];
        snprintf(path, sizeof path, "%s/counter_defs.yaml", directory);
        from_user = definitions_load_file(state.definitions, path) >= 0;
    }
    if (!from_user)
        definitions_add_builtin(state.definitions);
    if (state.custom_text)
        definitions_load_yaml(state.definitions, "load_counter_definition", state.custom_text,
                              state.custom_bytes);
}

static void agent_add(const rocprofiler_agent_v0_t *info, uint32_t *next_id)
{
    struct counting_agent *agent = &state.agents[state.agent_count];
    struct gpu_geometry geometry = {.xcc_count = info->num_xcc,
                                    .se_count = info->num_shader_banks,
                                    .sa_per_se = info->simd_arrays_per_engine,
                                    .cu_count = info->cu_count,
                                    .cu_per_sa = info->cu_per_simd_array};
    struct gpu_target *target = &state.targets[state.agent_count];
    *agent = (struct counting_agent){.id = info->id, .info = info, .target = target};
    agent->is_supported = info->type == ROCPROFILER_AGENT_TYPE_GPU && info->name &&
                          gpu_target_find(info->name, &geometry, target) == 0;
    state.entry_of[state.agent_count++] = NULL;
    if (!agent->is_supported)
        return;
    for (uint32_t i = 0; i < state.entry_count; i++) {
        if (alike(agent, state.entries[i].example)) {
            state.entry_of[state.agent_count - 1] = &state.entries[i];
            return;
        }
    }
    struct catalog_entry *entry = &state.entries[state.entry_count];
    struct catalog *catalog =
        state.entry_count < CATALOGS_MAX ? catalog_build(agent, state.definitions, *next_id) : NULL;
    uint32_t count = 0;
    if (catalog)
        catalog_counters(catalog, &count);
    if (!catalog || *next_id + count + CREATED_MAX > COUNTER_ID_LIMIT) {
        log_error("counting", "no counter ids left for %s", info->name);
        catalog_destroy(catalog);
        return;
    }
    atomic_store_explicit(&entry->catalog, catalog, memory_order_release);
    entry->example = agent;
    entry->first_id = *next_id;
    entry->id_count = count + CREATED_MAX;
    *next_id += entry->id_count;
    state.entry_of[state.agent_count - 1] = entry;
    state.entry_count++;
}

static void build(void)
{
    if (atomic_load_explicit(&state.is_ready, memory_order_acquire))
        return;
    pthread_mutex_lock(&state.lock);
    if (!atomic_load_explicit(&state.is_ready, memory_order_relaxed)) {
        const struct topology *topology = topology_system();
        uint32_t next_id = 1; /* 0 is nobody's id */
        definitions_build();
        for (uint32_t i = 0;
             i < topology->agent_count && i < COUNTING_AGENTS_MAX && state.definitions; i++)
            agent_add(topology->agents[i], &next_id);
        atomic_store_explicit(&state.is_ready, 1, memory_order_release);
    }
    pthread_mutex_unlock(&state.lock);
}

const struct counting_agent *counting_agent_find(rocprofiler_agent_id_t id)
{
    build();
    for (uint32_t i = 0; i < state.agent_count; i++) {
        if (state.agents[i].id.handle == id.handle)
            return &state.agents[i];
    }
    return NULL;
}

const struct catalog *counting_catalog(const struct counting_agent *agent)
{
    struct catalog_entry *entry = state.entry_of[agent - state.agents];
    return entry ? atomic_load_explicit(&entry->catalog, memory_order_acquire) : NULL;
}

const struct counter *counting_counter_find(rocprofiler_counter_id_t id,
                                            const struct catalog **catalog)
{
    build();
    for (uint32_t i = 0; i < state.entry_count; i++) {
        const struct catalog *c =
            atomic_load_explicit(&state.entries[i].catalog, memory_order_acquire);
        const struct counter *counter =
            id.handle < COUNTER_ID_LIMIT ? catalog_find_id(c, (uint32_t)id.handle) : NULL;
        if (!counter)
            continue;
        if (catalog)
            *catalog = c;
        return counter;
    }
    return NULL;
}

rocprofiler_status_t counting_definition_load(const char *yaml, size_t size,
                                              rocprofiler_counter_flag_t flags)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;
    if ((!yaml && size) || (flags != ROCPROFILER_COUNTER_FLAG_NONE &&
                            flags != ROCPROFILER_COUNTER_FLAG_APPEND_DEFINITION))
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    char *copy = malloc(size + 1);
    if (!copy)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    if (size)
        memcpy(copy, yaml, size);
    pthread_mutex_lock(&state.lock);
    if (atomic_load_explicit(&state.is_ready, memory_order_relaxed)) {
        status = ROCPROFILER_STATUS_ERROR;
    } else {
        char *old = state.custom_text;
        state.custom_text = copy;
        state.custom_bytes = size;
        state.custom_appends = flags == ROCPROFILER_COUNTER_FLAG_APPEND_DEFINITION;
        copy = old;
    }
    pthread_mutex_unlock(&state.lock);
    free(copy);
    return status;
}

/* Under the lock. Other agents of the architecture that are not alike number their counters
 * themselves, so what is created for these does not come into the set of all. */
static bool definition_add(struct catalog_entry *entry, const struct counter_definition *definition)
{
    if (!entry->own)
        entry->own = definitions_clone(state.definitions);
    return entry->own && definitions_add(entry->own, definition) == 0;
}

/* Under the lock: adds the definition for the agent and those like it and replaces their catalog,
 * keeping the ids of everything known before. */
static rocprofiler_status_t counter_add(const struct counting_agent *agent,
                                        const struct counter_definition *definition,
                                        rocprofiler_counter_id_t *id)
{
    struct catalog_entry *own = state.entry_of[agent - state.agents];
    struct catalog *old = atomic_load_explicit(&own->catalog, memory_order_relaxed);
    uint32_t before, after;
    if (catalog_find(old, definition->name))
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    catalog_counters(old, &before);
    if (before + 1 > own->id_count)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    struct retired_catalog *retired = malloc(sizeof *retired);
    if (!retired || !definition_add(own, definition)) {
        free(retired);
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    struct catalog *built = catalog_build(own->example, own->own, own->first_id);
    const struct counter *counter = built ? catalog_find(built, definition->name) : NULL;
    if (built)
        catalog_counters(built, &after);
    if (!counter || after != before + 1) {
        rocprofiler_status_t status = built ? ROCPROFILER_STATUS_ERROR_AST_GENERATION_FAILED
                                            : ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
        catalog_destroy(built);
        definitions_remove_last(own->own);
        free(retired);
        return status;
    }
    *retired = (struct retired_catalog){state.retired, old};
    state.retired = retired;
    id->handle = counter->id;
    atomic_store_explicit(&own->catalog, built, memory_order_release);
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t counting_counter_create(const char *name, size_t name_length,
                                             const char *expression, size_t expression_length,
                                             const char *description, size_t description_length,
                                             rocprofiler_agent_id_t agent_id,
                                             rocprofiler_counter_id_t *id)
{
    const struct counting_agent *agent = counting_agent_find(agent_id);
    if (!agent)
        return ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
    if (!agent->is_supported || !counting_catalog(agent))
        return ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED;
    if (!name || !name_length || !expression || !expression_length || !id)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    struct counter_definition definition = {
        .name = strndup(name, name_length),
        .architectures = agent->info->name,
        .expression = strndup(expression, expression_length),
        .description = strndup(description ? description : "", description_length),
    };
    rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    if (definition.name && definition.expression && definition.description) {
        pthread_mutex_lock(&state.lock);
        status = counter_add(agent, &definition, id);
        pthread_mutex_unlock(&state.lock);
    }
    free((char *)definition.name);
    free((char *)definition.expression);
    free((char *)definition.description);
    return status;
}

static const struct counter *event_find(const struct catalog *catalog, const char *block,
                                        uint32_t event)
{
    uint32_t count;
    const struct counter *all = catalog_counters(catalog, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].kind == COUNTER_BASIC && all[i].event == event &&
            strcmp(all[i].block_name, block) == 0)
            return &all[i];
    }
    return NULL;
}

static int block_has(const struct catalog *catalog, const char *name, uint32_t event)
{
    uint32_t count;
    const struct counter_block *blocks = catalog_blocks(catalog, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(blocks[i].name, name) == 0)
            return event <= blocks[i].event_max;
    }
    return 0;
}

rocprofiler_status_t counting_event_counter(rocprofiler_agent_id_t agent_id, const char *block,
                                            uint32_t event, rocprofiler_counter_id_t *id)
{
    const struct counting_agent *agent = counting_agent_find(agent_id);
    char name[64];
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;
    if (!agent)
        return ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
    if (!agent->is_supported || !counting_catalog(agent))
        return ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED;
    if (!block_has(counting_catalog(agent), block, event))
        return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
    snprintf(name, sizeof name, "%s:%u", block, event);
    struct counter_definition definition = {.name = name,
                                            .architectures = agent->info->name,
                                            .block = block,
                                            .event = event,
                                            .description = ""};
    pthread_mutex_lock(&state.lock);
    const struct counter *counter = event_find(counting_catalog(agent), block, event);
    if (counter)
        id->handle = counter->id;
    else
        status = counter_add(agent, &definition, id);
    pthread_mutex_unlock(&state.lock);
    return status;
}
