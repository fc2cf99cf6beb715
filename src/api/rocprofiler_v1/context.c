/* Contexts: life, groups, data. */
#include "api/rocprofiler_v1/internal.h"
#include "base/fork_lock.h"
#include "base/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK_CONTEXTS = 64, BLOCK_CONTEXTS_MAX = 1 << 16 };

/* Each block is twice as large as the one before it, so that there are few to look through. */
struct context_block {
    struct context_block *next;
    uint32_t count;
    struct v1_context contexts[];
};

static struct {
    pthread_mutex_t lock; /* of the free ones, and of those who add blocks */
    /* Writers: those who add one (release); readers: whoever has a handle (acquire). */
    _Atomic(struct context_block *) blocks;
    struct v1_context *free;
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(contexts_kept, contexts.lock)

__thread struct recent recent;

/* Under the lock. */
static void block_add(void)
{
    struct context_block *former = atomic_load_explicit(&contexts.blocks, memory_order_relaxed);
    uint32_t count = former ? 2 * former->count : BLOCK_CONTEXTS;
    if (count > BLOCK_CONTEXTS_MAX)
        count = BLOCK_CONTEXTS_MAX;
    struct context_block *block = NULL;
    size_t bytes = sizeof *block + count * sizeof block->contexts[0];
    block = aligned_alloc(_Alignof(struct context_block), bytes);
    if (!block)
        return;
    memset(block, 0, bytes);
    block->next = former;
    block->count = count;
    for (uint32_t i = 0; i < count; i++) {
        block->contexts[i].next_free = contexts.free;
        contexts.free = &block->contexts[i];
    }
    atomic_store_explicit(&contexts.blocks, block, memory_order_release);
}

static struct v1_context *context_take(void)
{
    pthread_mutex_lock(&contexts.lock);
    if (!contexts.free)
        block_add();
    struct v1_context *context = contexts.free;
    if (context)
        contexts.free = context->next_free;
    pthread_mutex_unlock(&contexts.lock);
    return context;
}

/* Others may look at its life, which says that it is not open, and at what lies before `plan`. */
static void context_give(struct v1_context *context)
{
    size_t kept = offsetof(struct v1_context, plan);
    memset((char *)context + kept, 0, sizeof *context - kept);
    pthread_mutex_lock(&contexts.lock);
    context->next_free = contexts.free;
    contexts.free = context;
    pthread_mutex_unlock(&contexts.lock);
}

/* Whether the handle is an address of ours. Blocks come at the front and never go. */
static bool context_is_ours(const void *handle)
{
    if (handle && handle == recent.context)
        return true;
    struct context_block *block = atomic_load_explicit(&contexts.blocks, memory_order_acquire);
    for (; block; block = block->next) {
        size_t offset = (size_t)((const char *)handle - (const char *)block->contexts);
        if (offset < block->count * sizeof block->contexts[0])
            return offset % sizeof block->contexts[0] == 0;
    }
    return false;
}

void contexts_visit(void (*visit)(struct v1_context *context))
{
    struct context_block *block = atomic_load_explicit(&contexts.blocks, memory_order_acquire);
    for (; block; block = block->next) {
        for (uint32_t i = 0; i < block->count; i++) {
            if (!life_enter(&block->contexts[i].life))
                continue;
            visit(&block->contexts[i]);
            context_release(&block->contexts[i]);
        }
    }
}

struct v1_context *context_acquire(const void *handle)
{
    struct v1_context *context = (struct v1_context *)handle;
    if (context_is_ours(handle) && life_enter(&context->life))
        return context;
    fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no context, or one that was closed");
    return NULL;
}

static void context_free(struct v1_context *context)
{
    for (uint32_t i = 0; context->groups && i < context->plan->group_count; i++) {
        struct group *group = &context->groups[i];
        record_release(group->record);
        group_trace_drop(group);
        engine->counting_collector_destroy(group->collector);
        free(group->values);
    }
    if (context->groups != &context->first)
        free(context->groups);
    if (context->standalone)
        standalone_destroy(context->standalone);
    if (context->locked)
        machine_unlock(&context->plan->gpu);
    plan_release(context->plan);
    pthread_mutex_destroy(&context->lock);
    pthread_mutex_destroy(&context->bytes_lock);
    pthread_cond_destroy(&context->changed);
    context_give(context);
}

void context_release(struct v1_context *context)
{
    if (life_leave(&context->life))
        context_free(context);
}

static bool groups_make(struct v1_context *context)
{
    const struct plan *plan = context->plan;
    context->groups = plan->group_count == 1 ? &context->first
                                             : calloc(plan->group_count, sizeof *context->groups);
    for (uint32_t i = 0; context->groups && i < plan->group_count; i++) {
        struct group *group = &context->groups[i];
        group->context = context;
        group->index = i;
        group->values = calloc(plan->groups[i].input_count + 1u, sizeof *group->values);
        if (!group->values)
            return false;
    }
    return context->groups != NULL;
}

static void only_group_show(struct v1_context *context)
{
    bool is_only = context->plan->group_count == 1;
    const struct plan_group *group = context->plan->groups;
    atomic_store_explicit(&context->only_features, is_only ? group->features : NULL,
                          memory_order_release);
    atomic_store_explicit(&context->only_feature_count, is_only ? group->feature_count : 0,
                          memory_order_release);
}

struct v1_context *context_new_of(struct plan *plan, hsa_status_t *status)
{
    struct v1_context *context = context_take();
    if (!context) {
        plan_release(plan);
        *status = fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for a context");
        return NULL;
    }
    context->plan = plan;
    pthread_mutex_init(&context->lock, NULL);
    pthread_mutex_init(&context->bytes_lock, NULL);
    pthread_cond_init(&context->changed, NULL);
    if (!groups_make(context)) {
        *status = fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for a context");
        context_free(context);
        return NULL;
    }
    only_group_show(context);
    life_open(&context->life);
    *status = HSA_STATUS_SUCCESS;
    return context;
}

void context_end(struct v1_context *context)
{
    if (life_close(&context->life))
        context_release(context);
}

bool context_is_closed(const struct v1_context *context)
{
    return !life_is_open(&context->life);
}

bool group_clear(struct group *group)
{
    uint32_t state = atomic_load_explicit(&group->state, memory_order_relaxed);
    while (state != GROUP_IDLE && state != GROUP_FLYING)
        if (atomic_compare_exchange_weak_explicit(&group->state, &state, GROUP_IDLE,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    return state != GROUP_FLYING;
}

rocprofiler_group_t group_public(const struct group *group)
{
    const struct plan_group *plan = &group->context->plan->groups[group->index];
    return (rocprofiler_group_t){.index = group->index,
                                 .features = plan->features,
                                 .feature_count = plan->feature_count,
                                 .context = group->context};
}

/* ---- open and close */

static hsa_status_t mode_check(uint32_t mode)
{
    const uint32_t known =
        ROCPROFILER_MODE_STANDALONE | ROCPROFILER_MODE_CREATEQUEUE | ROCPROFILER_MODE_SINGLEGROUP;
    if (mode & ~known)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "mode 0x%x: unknown bits", mode);
    if ((mode & ROCPROFILER_MODE_CREATEQUEUE) && !(mode & ROCPROFILER_MODE_STANDALONE))
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "CREATEQUEUE needs STANDALONE");
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t context_arm(struct v1_context *context, uint32_t mode,
                                rocprofiler_properties_t *properties)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    context->mode = mode;
    context->handler = properties ? properties->handler : NULL;
    context->handler_arg = properties ? properties->handler_arg : NULL;
    context->locked = machine_lock(&context->plan->gpu);
    if (!context->locked)
        return HSA_STATUS_ERROR;
    if (mode & ROCPROFILER_MODE_STANDALONE) {
        context->standalone = standalone_create(&context->plan->gpu, mode, properties, &status);
    }
    return status;
}

static hsa_status_t open_features(hsa_agent_t agent, rocprofiler_feature_t *features,
                                  rocprofiler_feature_t *own, uint32_t feature_count,
                                  rocprofiler_t **handle, uint32_t mode,
                                  rocprofiler_properties_t *properties)
{
    struct gpu gpu;
    hsa_status_t status = mode_check(mode);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    library_begin();
    if (!gpu_find(agent, &gpu))
        return HSA_STATUS_ERROR;
    struct plan *plan =
        plan_create(&gpu, features, feature_count, mode & ROCPROFILER_MODE_SINGLEGROUP, &status);
    if (!plan)
        return status;
    struct v1_context *context = context_new_of(plan, &status);
    if (!context)
        return status;
    status = context_arm(context, mode, properties);
    if (status != HSA_STATUS_SUCCESS) {
        context_end(context);
        return status;
    }
    plan->own = own;
    *handle = context;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_open(hsa_agent_t agent, rocprofiler_feature_t *features,
                              uint32_t feature_count, rocprofiler_t **context, uint32_t mode,
                              rocprofiler_properties_t *properties)
{
    if (!context || (!features && feature_count))
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "open: a pointer is NULL");
    *context = NULL;
    return open_features(agent, features, NULL, feature_count, context, mode, properties);
}

hsa_status_t rocprofiler_close(rocprofiler_t *handle)
{
    struct v1_context *context = context_acquire(handle);
    if (!context)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = HSA_STATUS_SUCCESS;
    if (context->pool)
        status = fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "close: the context belongs to a pool");
    else
        context_end(context);
    context_release(context);
    return status;
}

hsa_status_t rocprofiler_get_agent(rocprofiler_t *handle, hsa_agent_t *agent)
{
    struct v1_context *context = agent ? context_acquire(handle) : NULL;
    if (!agent)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_agent: no place for it");
    if (!context)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *agent = context->plan->gpu.hsa;
    context_release(context);
    return HSA_STATUS_SUCCESS;
}

struct group *context_group_checked(const struct v1_context *context, uint32_t index)
{
    struct group *group = context_group(context, index);
    if (!group)
        fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "group %u: the context has %u", index,
             context->plan->group_count);
    return group;
}

hsa_status_t rocprofiler_reset(rocprofiler_t *handle, uint32_t group_index)
{
    struct v1_context *context = context_acquire(handle);
    if (!context)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    struct group *group = context_group_checked(context, group_index);
    hsa_status_t status = group ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (group && context->standalone)
        standalone_reset(group, &status);
    bool flies = status == HSA_STATUS_SUCCESS && !group_clear(group);
    if (status == HSA_STATUS_SUCCESS && !flies)
        group_trace_drop(group);
    context_release(context);
    return flies ? fail(HSA_STATUS_ERROR, "group %u: its kernel has not ended", group_index)
                 : status;
}

/* ---- sets of features */

struct feature_set {
    rocprofiler_feature_t *features;
    uint32_t count;
};

hsa_status_t rocprofiler_add_feature(const rocprofiler_feature_t *feature,
                                     rocprofiler_feature_set_t *features_set)
{
    struct feature_set **place = features_set;
    if (!feature || !place)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "add_feature: a pointer is NULL");
    struct feature_set *set = *place ? *place : calloc(1, sizeof *set);
    rocprofiler_feature_t *larger =
        set ? realloc(set->features, (set->count + 1) * sizeof *larger) : NULL;
    if (!larger) {
        if (set && !*place)
            free(set);
        return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for a feature");
    }
    set->features = larger;
    set->features[set->count++] = *feature;
    *place = set;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_features_set_open(hsa_agent_t agent,
                                           rocprofiler_feature_set_t *features_set,
                                           rocprofiler_t **context, uint32_t mode,
                                           rocprofiler_properties_t *properties)
{
    struct feature_set **place = features_set;
    if (!context || !place || !*place)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "features_set_open: a pointer is NULL");
    struct feature_set *set = *place;
    *context = NULL;
    hsa_status_t status =
        open_features(agent, set->features, set->features, set->count, context, mode, properties);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    free(set);
    *place = NULL;
    return status;
}

/* ---- groups */

hsa_status_t rocprofiler_group_count(const rocprofiler_t *handle, uint32_t *group_count)
{
    struct v1_context *context = group_count ? context_acquire(handle) : NULL;
    if (!group_count)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "group_count: no place for it");
    if (!context)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    *group_count = context->plan->group_count;
    context_release(context);
    return HSA_STATUS_SUCCESS;
}

/* Tools ask for each kernel, so the only group of a context is told without entering it: who
 * closes the context meanwhile might as well have done so right after the answer. False: the answer
 * is not known that way. */
static bool group_peek(rocprofiler_t *handle, rocprofiler_group_t *group)
{
    const struct v1_context *context = handle;
    if (!context_is_ours(handle) || !life_is_open(&context->life))
        return false;
    rocprofiler_feature_t **features =
        atomic_load_explicit(&context->only_features, memory_order_acquire);
    uint32_t count = atomic_load_explicit(&context->only_feature_count, memory_order_acquire);
    if (!features || !life_is_open(&context->life))
        return false;
    *group = (rocprofiler_group_t){
        .index = 0, .features = features, .feature_count = count, .context = handle};
    return true;
}

hsa_status_t rocprofiler_get_group(rocprofiler_t *handle, uint32_t group_index,
                                   rocprofiler_group_t *group)
{
    if (!group)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_group: no place for it");
    if (group_index == 0 && group_peek(handle, group))
        return HSA_STATUS_SUCCESS;
    struct v1_context *context = context_acquire(handle);
    if (!context)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    const struct group *wanted = context_group_checked(context, group_index);
    if (wanted)
        *group = group_public(wanted);
    context_release(context);
    return wanted ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* ---- data */

static bool input_has(const struct input *input, uint64_t id)
{
    return engine->instance_counter_id(id) == input->counter.handle &&
           (input->instance < 0 ||
            engine->instance_position(id, DIMENSION_INSTANCE) == (uint32_t)input->instance);
}

/* Does what reduce() does, over the records of one input. */
static double input_value(const struct input *input, const rocprofiler_counter_record_t *records,
                          size_t count)
{
    double result = 0;
    uint32_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        double value = records[i].counter_value;
        if (!input_has(input, records[i].id))
            continue;
        if (seen++ == 0)
            result = value;
        else if (input->reduction == REDUCE_SUM || input->reduction == REDUCE_AVERAGE)
            result += value;
        else if (input->reduction == REDUCE_MIN ? value < result : value > result)
            result = value;
    }
    return input->reduction == REDUCE_AVERAGE && seen ? result / seen : result;
}

void group_take(struct group *group, const rocprofiler_counter_record_t *records, size_t count,
                double *values)
{
    const struct plan_group *plan = &group->context->plan->groups[group->index];
    for (uint32_t i = 0; i < plan->input_count; i++)
        values[i] = input_value(&plan->inputs[i], records, count);
}

/* Writes counters whose value is in the group; rocprofiler_get_metrics() writes metrics. Under the
 * context's lock. */
static void features_write(const struct group *group)
{
    const struct plan *plan = group->context->plan;
    for (uint32_t i = 0; i < plan->feature_count; i++) {
        const struct formula *formula = &plan->formulas[i];
        if (!formula->is_counter || formula->inputs[0].group != group->index)
            continue;
        double value = group->values[formula->inputs[0].value];
        plan->features[i].data.kind = ROCPROFILER_DATA_KIND_INT64;
        plan->features[i].data.result_int64 = value > 0 ? (uint64_t)value : 0;
    }
}

/* Writes to the features what this group has of them: counters and the trace. */
static hsa_status_t group_data_write(struct group *group)
{
    struct v1_context *context = group->context;
    pthread_mutex_lock(&context->bytes_lock);
    hsa_status_t status = group_trace_collect(group);
    pthread_mutex_lock(&context->lock);
    features_write(group);
    group_trace_write(group);
    pthread_mutex_unlock(&context->lock);
    pthread_mutex_unlock(&context->bytes_lock);
    return status;
}

static int flying_wait(struct v1_context *context, const struct group *group)
{
    uint64_t limit_ns = atomic_load_explicit(&wait_limit_ns, memory_order_relaxed);
    struct timespec until = wait_deadline(CLOCK_REALTIME, limit_ns);
    int error = 0;
    while (group_state(group) == GROUP_FLYING && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&context->changed, &context->lock, &until);
    return error;
}

static hsa_status_t group_data_get(struct v1_context *context, struct group *group)
{
    const uint32_t index = group->index;
    pthread_mutex_lock(&context->lock);
    flying_wait(context, group);
    enum group_state state = group_state(group);
    pthread_mutex_unlock(&context->lock);
    switch (state) {
    case GROUP_READY:
        return group_data_write(group);
    case GROUP_FLYING:
        return fail(HSA_STATUS_ERROR, "group %u: the kernel has not ended within the time limit",
                    index);
    case GROUP_LOST:
        return fail(HSA_STATUS_ERROR, "group %u: its data is lost, the kernel's queue failed",
                    index);
    default:
        return fail(HSA_STATUS_ERROR, "group %u: nothing was collected", index);
    }
}

hsa_status_t rocprofiler_get_data(rocprofiler_t *handle, uint32_t group_index)
{
    struct v1_context *context = context_acquire(handle);
    if (!context)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    struct group *group = context_group_checked(context, group_index);
    hsa_status_t status =
        group ? group_data_get(context, group) : HSA_STATUS_ERROR_INVALID_ARGUMENT;
    context_release(context);
    return status;
}

hsa_status_t rocprofiler_group_get_data(rocprofiler_group_t *group)
{
    if (!group)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "group_get_data: no group");
    return rocprofiler_get_data(group->context, group->index);
}

static double value_of(const struct input *input, const void *data)
{
    const struct v1_context *context = data;
    return context->groups[input->group].values[input->value];
}

/* Under the context's lock. The first of a feature's groups that has no data, or -1. */
static int64_t group_missing(const struct v1_context *context, const struct formula *formula)
{
    for (uint32_t i = 0; i < formula->input_count; i++)
        if (group_state(&context->groups[formula->inputs[i].group]) != GROUP_READY)
            return formula->inputs[i].group;
    return -1;
}

static int64_t metrics_write(struct v1_context *context)
{
    const struct plan *plan = context->plan;
    for (uint32_t i = 0; i < plan->feature_count; i++) {
        const struct formula *formula = &plan->formulas[i];
        int64_t missing = group_missing(context, formula);
        if (missing >= 0)
            return missing;
        if (formula->is_counter || (plan->has_trace && i == plan->trace_feature))
            continue;
        plan->features[i].data.kind = ROCPROFILER_DATA_KIND_DOUBLE;
        plan->features[i].data.result_double = formula_evaluate(formula, value_of, context);
    }
    return -1;
}

hsa_status_t rocprofiler_get_metrics(const rocprofiler_t *handle)
{
    struct v1_context *context = context_acquire(handle);
    if (!context)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&context->lock);
    int64_t missing = metrics_write(context);
    pthread_mutex_unlock(&context->lock);
    context_release(context);
    return missing < 0
               ? HSA_STATUS_SUCCESS
               : fail(HSA_STATUS_ERROR, "get_metrics: group %u has no data yet", (unsigned)missing);
}
