/* Metrics by name: the engine's own counters, or what the file of ROCP_METRICS defines. */
#include "api/rocprofiler_v1/internal.h"
#include "base/fork_lock.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock; /* building */
    bool is_read;         /* the file, if there is one */
    bool is_bad;          /* there should be one, and cannot be read */
    struct xml_file file;
    struct metric_set *sets;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(state_kept, state.lock) /* what is asked of the engine under it takes no lock */

const struct counter_block *metric_block(const struct counting_agent *agent, const char *name,
                                         size_t length)
{
    uint32_t count = 0;
    const struct catalog *catalog = engine->counting_catalog(agent);
    const struct counter_block *blocks = catalog ? engine->catalog_blocks(catalog, &count) : NULL;
    for (uint32_t i = 0; i < count; i++)
        if (strlen(blocks[i].name) == length && !strncmp(blocks[i].name, name, length))
            return &blocks[i];
    return NULL;
}

/* ---- looking up */

static int name_compare(const char *name, size_t length, const char *other)
{
    int order = strncmp(name, other, length);
    return order ? order : other[length] ? -1 : 0;
}

const struct metric *metric_find(const struct metric_set *set, const char *name, size_t length)
{
    uint32_t first = 0, end = set->count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        const struct metric *metric = &set->metrics[set->by_name[middle]];
        int order = name_compare(name, length, metric->name);
        if (order == 0)
            return metric;
        if (order < 0)
            end = middle;
        else
            first = middle + 1;
    }
    return NULL;
}

static int positions_compare(const void *a, const void *b, void *set)
{
    const struct metric *metrics = ((const struct metric_set *)set)->metrics;
    return strcmp(metrics[*(const uint32_t *)a].name, metrics[*(const uint32_t *)b].name);
}

static bool set_sort(struct metric_set *set)
{
    set->by_name = malloc((set->count + 1) * sizeof *set->by_name);
    if (!set->by_name)
        return false;
    for (uint32_t i = 0; i < set->count; i++)
        set->by_name[i] = i;
    qsort_r(set->by_name, set->count, sizeof *set->by_name, positions_compare, set);
    return true;
}

/* ---- building */

/* `block` NULL: the metric is computed. */
static void metric_put(struct metric_set *set, struct metric metric,
                       const struct counter_block *block)
{
    metric.instances = 1;
    if (block) {
        metric.block = block->name;
        metric.registers = block->registers;
        if (block->shape.extent[DIMENSION_INSTANCE])
            metric.instances = block->shape.extent[DIMENSION_INSTANCE];
    }
    set->metrics[set->count++] = metric;
}

/* Counters that were made while the process runs are left out; their names have a colon. */
static bool set_from_catalog(struct metric_set *set)
{
    uint32_t count = 0, block_count;
    const struct catalog *catalog = engine->counting_catalog(set->agent);
    const struct counter *all = engine->catalog_counters(catalog, &count);
    const struct counter_block *blocks = engine->catalog_blocks(catalog, &block_count);
    set->from_catalog = true;
    set->metrics = calloc(count + 1, sizeof *set->metrics);
    for (uint32_t i = 0; set->metrics && i < count; i++) {
        bool basic = all[i].kind == COUNTER_BASIC;
        if (all[i].kind == COUNTER_CONSTANT || strchr(all[i].name, ':'))
            continue;
        metric_put(set,
                   (struct metric){.name = all[i].name,
                                   .description = all[i].description,
                                   .expr = basic ? NULL : all[i].expression,
                                   .block = basic ? all[i].block_name : NULL,
                                   .event = all[i].event},
                   basic ? &blocks[all[i].block] : NULL);
    }
    return set->metrics != NULL;
}

static const struct xml_scope *scope_find(const char *name, size_t length)
{
    for (uint32_t i = 0; i < state.file.scope_count; i++)
        if (!name_compare(name, length, state.file.scopes[i].name))
            return &state.file.scopes[i];
    return NULL;
}

/* Finds the GPU's own part of the file ("gfx90a", "gfx1030") or its family's ("gfx9", "gfx10"). */
static const struct xml_scope *scope_of(const char *architecture)
{
    size_t length = strlen(architecture);
    const struct xml_scope *scope = scope_find(architecture, length);
    return scope || length < 6 ? scope : scope_find(architecture, length - 2);
}

/* Of equal names the lower rank comes first, and duplicates_drop() keeps the first. */
static int metrics_compare(const void *a, const void *b)
{
    const struct metric *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : left->rank < right->rank ? -1 : 1;
}

static void duplicates_drop(struct metric_set *set)
{
    uint32_t kept = 0;
    qsort(set->metrics, set->count, sizeof *set->metrics, metrics_compare);
    for (uint32_t i = 0; i < set->count; i++)
        if (kept == 0 || strcmp(set->metrics[kept - 1].name, set->metrics[i].name) != 0)
            set->metrics[kept++] = set->metrics[i];
    set->count = kept;
}

/* A name that a part defines hides its base's; the later of two in one part counts. */
static void scope_put(struct metric_set *set, const char *scope)
{
    for (uint32_t i = state.file.metric_count; i-- > 0;) {
        const struct xml_metric *from = &state.file.metrics[i];
        if (strcmp(from->scope, scope) != 0)
            continue;
        const struct counter_block *block =
            from->block ? metric_block(set->agent, from->block, strlen(from->block)) : NULL;
        if (from->block && !block) {
            log_info("metrics", "line %u: %s has no block %s", from->line, set->agent->info->name,
                     from->block);
            continue;
        }
        metric_put(set,
                   (struct metric){.name = from->name,
                                   .description = from->description,
                                   .expr = from->expr,
                                   .block = from->block,
                                   .event = from->event,
                                   .rank = set->count},
                   block);
    }
}

static bool set_from_file(struct metric_set *set)
{
    enum { BASES_MAX = 8 };
    const struct xml_scope *scope = scope_of(set->agent->info->name);
    const struct xml_scope *chain[BASES_MAX];
    int depth = 0;
    xml_scope_read(&state.file, "const");
    xml_scope_read(&state.file, "global");
    for (; scope && depth < BASES_MAX; depth++) {
        chain[depth] = scope;
        xml_scope_read(&state.file, scope->name);
        scope = scope->base ? scope_find(scope->base, strlen(scope->base)) : NULL;
    }
    set->metrics =
        calloc((size_t)state.file.metric_count * (unsigned)(depth + 2) + 1, sizeof *set->metrics);
    if (!set->metrics)
        return false;
    for (int i = 0; i < depth; i++)
        scope_put(set, chain[i]->name);
    scope_put(set, "const");
    scope_put(set, "global");
    duplicates_drop(set);
    return true;
}

/* Under the lock. */
static bool file_is_there(void)
{
    const char *path = getenv("ROCP_METRICS");
    if (!state.is_read && path && *path) {
        state.is_bad = !xml_open(&state.file, path);
        if (state.file.scope_count == 0 && !state.is_bad)
            log_warning("metrics", "%s defines no metric", path);
    }
    state.is_read = true;
    return path && *path && !state.is_bad;
}

static bool set_fill(struct metric_set *set)
{
    bool from_file = file_is_there();
    if (state.is_bad) {
        fail(HSA_STATUS_ERROR, "the metrics file of ROCP_METRICS (%s) cannot be read",
             getenv("ROCP_METRICS"));
        return false;
    }
    if ((from_file ? set_from_file(set) : set_from_catalog(set)) && set_sort(set))
        return true;
    fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for the metrics");
    return false;
}

static struct metric_set *set_make(const struct counting_agent *agent)
{
    struct metric_set *set = calloc(1, sizeof *set);
    if (!set) {
        fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for the metrics");
        return NULL;
    }
    set->agent = agent;
    if (set_fill(set))
        return set;
    free(set->metrics);
    free(set->by_name);
    free(set);
    return NULL;
}

const struct metric_set *metrics_of(const struct counting_agent *agent)
{
    if (!agent->is_supported || !engine->counting_catalog(agent)) {
        fail(HSA_STATUS_ERROR_INVALID_AGENT, "%s has no counters that are known here",
             agent->info->name);
        return NULL;
    }
    pthread_mutex_lock(&state.lock);
    struct metric_set *set = state.sets;
    while (set && set->agent != agent)
        set = set->next;
    if (!set && (set = set_make(agent))) {
        set->next = state.sets;
        state.sets = set;
    }
    pthread_mutex_unlock(&state.lock);
    return set;
}
