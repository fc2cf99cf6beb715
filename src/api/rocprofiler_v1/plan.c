/* Which runs collect what a list of features needs. */
#include "api/rocprofiler_v1/internal.h"

#include <stdlib.h>
#include <string.h>

enum { COUNTERS_MAX = COUNTING_EVENTS_MAX };

/* A group while it is filled. */
struct draft {
    rocprofiler_counter_id_t counters[COUNTERS_MAX];
    uint32_t counter_count;
    struct input *inputs;
    uint32_t input_count, input_capacity;
    uint32_t *features; /* positions */
    uint32_t feature_count;
};

struct drafting {
    struct plan *plan;
    struct draft *drafts;
    uint32_t count;
};

/* ---- what fits */

static bool counter_add(struct draft *draft, rocprofiler_counter_id_t id)
{
    for (uint32_t i = 0; i < draft->counter_count; i++)
        if (draft->counters[i].handle == id.handle)
            return true;
    if (draft->counter_count == COUNTERS_MAX)
        return false;
    draft->counters[draft->counter_count++] = id;
    return true;
}

/* Adds the inputs' counters to the draft; if they do not fit, it stays as it is. */
static bool inputs_fit(const struct plan *plan, struct draft *draft, const struct input *inputs,
                       uint32_t count)
{
    uint32_t pass_of[COUNTERS_MAX], passes = 0, before = draft->counter_count;
    bool fits = true;
    for (uint32_t i = 0; i < count && fits; i++)
        fits = counter_add(draft, inputs[i].counter);
    if (fits && draft->counter_count > before)
        fits =
            engine->counting_plan_passes(plan->gpu.agent->id, draft->counters, draft->counter_count,
                                         pass_of, &passes) == ROCPROFILER_STATUS_SUCCESS &&
            passes == 1;
    if (!fits)
        draft->counter_count = before;
    return fits;
}

/* ---- where a value goes */

static bool input_place(struct draft *draft, uint32_t group, struct input *input)
{
    uint32_t i = 0;
    while (i < draft->input_count && (draft->inputs[i].counter.handle != input->counter.handle ||
                                      draft->inputs[i].instance != input->instance ||
                                      draft->inputs[i].reduction != input->reduction))
        i++;
    if (i == draft->input_capacity) {
        uint32_t capacity = i ? 2 * i : 16;
        struct input *larger = realloc(draft->inputs, capacity * sizeof *larger);
        if (!larger)
            return false;
        draft->inputs = larger;
        draft->input_capacity = capacity;
    }
    input->group = group;
    input->value = i;
    if (i == draft->input_count)
        draft->inputs[draft->input_count++] = *input;
    return true;
}

static void feature_note(struct draft *draft, uint32_t feature)
{
    if (draft->feature_count == 0 || draft->features[draft->feature_count - 1] != feature)
        draft->features[draft->feature_count++] = feature;
}

static struct draft *draft_new(struct drafting *drafting)
{
    struct draft *larger =
        realloc(drafting->drafts, (drafting->count + 1) * sizeof *drafting->drafts);
    if (!larger)
        return NULL;
    drafting->drafts = larger;
    struct draft *draft = &larger[drafting->count];
    memset(draft, 0, sizeof *draft);
    draft->features = calloc(drafting->plan->feature_count + 1, sizeof *draft->features);
    if (!draft->features)
        return NULL;
    drafting->count++;
    return draft;
}

static bool inputs_place(struct drafting *drafting, uint32_t group, uint32_t feature,
                         struct input *inputs, uint32_t count)
{
    struct draft *draft = &drafting->drafts[group];
    for (uint32_t i = 0; i < count; i++)
        if (!input_place(draft, group, &inputs[i]))
            return false;
    feature_note(draft, feature);
    return true;
}

enum placing { PLACED, TOO_LARGE, NO_MEMORY };

/* The first group that has room for all of them, or a new one. */
static enum placing together_place(struct drafting *drafting, uint32_t feature,
                                   struct input *inputs, uint32_t count)
{
    uint32_t group = 0;
    while (group < drafting->count &&
           !inputs_fit(drafting->plan, &drafting->drafts[group], inputs, count))
        group++;
    if (group == drafting->count) {
        struct draft *draft = draft_new(drafting);
        if (!draft)
            return NO_MEMORY;
        if (!inputs_fit(drafting->plan, draft, inputs, count)) {
            free(draft->features);
            drafting->count--;
            return TOO_LARGE;
        }
    }
    return inputs_place(drafting, group, feature, inputs, count) ? PLACED : NO_MEMORY;
}

/* Counters of one metric stay in one run, so that ratios are consistent, where one run can hold
 * them. */
static hsa_status_t feature_place(struct drafting *drafting, uint32_t feature)
{
    struct formula *formula = &drafting->plan->formulas[feature];
    const char *name = drafting->plan->features[feature].name;
    enum placing placing = together_place(drafting, feature, formula->inputs, formula->input_count);
    if (placing == TOO_LARGE) {
        placing = PLACED;
        for (uint32_t i = 0; i < formula->input_count && placing == PLACED; i++)
            placing = together_place(drafting, feature, &formula->inputs[i], 1);
    }
    if (placing == PLACED)
        return HSA_STATUS_SUCCESS;
    return placing == NO_MEMORY
               ? fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for feature %s", name)
               : fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "%s cannot count %s",
                      drafting->plan->gpu.agent->info->name, name);
}

/* ---- finishing */

static uint32_t records_of(const struct draft *draft, const struct counting_agent *agent)
{
    const struct catalog *catalog = engine->counting_catalog(agent);
    uint32_t total = 0;
    for (uint32_t i = 0; i < draft->counter_count; i++) {
        const struct counter *counter =
            engine->catalog_find_id(catalog, (uint32_t)draft->counters[i].handle);
        uint32_t values = 1;
        for (int d = 0; counter && d < DIMENSION_COUNT; d++)
            values *= engine->counter_shape(counter)->extent[d]
                          ? engine->counter_shape(counter)->extent[d]
                          : 1;
        total += values;
    }
    return total;
}

static hsa_status_t group_finish(struct plan *plan, struct plan_group *group, struct draft *draft)
{
    group->features = calloc(draft->feature_count + 1, sizeof(rocprofiler_feature_t *));
    if (!group->features)
        return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for a group");
    for (uint32_t i = 0; i < draft->feature_count; i++)
        group->features[group->feature_count++] = &plan->features[draft->features[i]];
    group->inputs = draft->inputs;
    group->input_count = draft->input_count;
    group->record_count = records_of(draft, plan->gpu.agent);
    draft->inputs = NULL;
    rocprofiler_status_t status =
        plan->has_trace && group == plan->groups
            ? engine->counting_config_create_traced(plan->gpu.agent->id, draft->counters,
                                                    draft->counter_count, &plan->trace,
                                                    &group->config)
            : engine->counting_config_create(plan->gpu.agent->id, draft->counters,
                                             draft->counter_count, &group->config);
    return status == ROCPROFILER_STATUS_SUCCESS
               ? HSA_STATUS_SUCCESS
               : fail(HSA_STATUS_ERROR, "%s refuses the counters of a group (status %d)",
                      plan->gpu.agent->info->name, (int)status);
}

static hsa_status_t groups_finish(struct plan *plan, struct drafting *drafting)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    if (drafting->count == 0 && !draft_new(drafting)) /* no counters: a group for times only */
        return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for a group");
    plan->groups = calloc(drafting->count, sizeof *plan->groups);
    if (!plan->groups)
        return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for the groups");
    plan->group_count = drafting->count;
    for (uint32_t i = 0; i < drafting->count && status == HSA_STATUS_SUCCESS; i++)
        status = group_finish(plan, &plan->groups[i], &drafting->drafts[i]);
    return status;
}

static hsa_status_t too_many_groups(const struct drafting *drafting)
{
    char text[700] = "";
    rocprofiler_counter_id_t all[COUNTERS_MAX];
    uint32_t count = 0;
    for (uint32_t g = 0; g < drafting->count; g++)
        for (uint32_t i = 0; i < drafting->drafts[g].counter_count && count < COUNTERS_MAX; i++)
            all[count++] = drafting->drafts[g].counters[i];
    engine->counting_plan_explain(drafting->plan->gpu.agent->id, all, count, text, sizeof text);
    return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
                "the features need %u groups, and one is allowed (SINGLEGROUP): %s",
                drafting->count, text);
}

static hsa_status_t metric_compile(struct plan *plan, uint32_t i)
{
    const struct metric_set *set = metrics_of(plan->gpu.agent);
    const char *name = plan->features[i].name;
    if (!set)
        return HSA_STATUS_ERROR;
    if (!name || !*name)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "feature %u has no name", i);
    return formula_compile(&plan->formulas[i], set, plan->gpu.agent, name)
               ? HSA_STATUS_SUCCESS
               : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t features_compile(struct plan *plan)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (uint32_t i = 0; i < plan->feature_count && status == HSA_STATUS_SUCCESS; i++) {
        switch ((uint32_t)plan->features[i].kind) {
        case ROCPROFILER_FEATURE_KIND_METRIC:
            status = metric_compile(plan, i);
            break;
        case ROCPROFILER_FEATURE_KIND_TRACE:
            status = plan_trace_take(plan, i);
            break;
        default:
            status = fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
                          "feature %u: kind %u (neither streamed counters nor PC samples are "
                          "collected)",
                          i, (unsigned)plan->features[i].kind);
        }
    }
    return status;
}

static void drafting_free(struct drafting *drafting)
{
    for (uint32_t i = 0; i < drafting->count; i++) {
        free(drafting->drafts[i].inputs);
        free(drafting->drafts[i].features);
    }
    free(drafting->drafts);
}

static hsa_status_t plan_fill(struct plan *plan, bool single)
{
    struct drafting drafting = {plan, NULL, 0};
    hsa_status_t status = features_compile(plan);
    for (uint32_t i = 0; i < plan->feature_count && status == HSA_STATUS_SUCCESS; i++)
        status = feature_place(&drafting, i);
    if (status == HSA_STATUS_SUCCESS && plan->trace.sqtt.counter_count &&
        drafting.drafts[0].counter_count)
        status = fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
                      "a trace with counters in it leaves no registers for metrics");
    if (status == HSA_STATUS_SUCCESS && single && drafting.count > 1)
        status = too_many_groups(&drafting);
    if (status == HSA_STATUS_SUCCESS)
        status = groups_finish(plan, &drafting);
    drafting_free(&drafting);
    return status;
}

struct plan *plan_create(const struct gpu *gpu, rocprofiler_feature_t *features, uint32_t count,
                         bool single, hsa_status_t *status)
{
    struct plan *plan = calloc(1, sizeof *plan);
    if (plan)
        plan->formulas = calloc(count + 1u, sizeof *plan->formulas);
    if (!plan || !plan->formulas) {
        free(plan);
        *status = fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for %u features", count);
        return NULL;
    }
    atomic_init(&plan->references, 1);
    plan->gpu = *gpu;
    plan->features = features;
    plan->feature_count = count;
    *status = plan_fill(plan, single);
    if (*status == HSA_STATUS_SUCCESS)
        return plan;
    plan_release(plan);
    return NULL;
}

struct plan *plan_reference(struct plan *plan)
{
    atomic_fetch_add_explicit(&plan->references, 1, memory_order_relaxed);
    return plan;
}

void plan_release(struct plan *plan)
{
    if (atomic_fetch_sub_explicit(&plan->references, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < plan->feature_count; i++)
        formula_free(&plan->formulas[i]);
    for (uint32_t i = 0; i < plan->group_count; i++) {
        if (plan->groups[i].config.handle)
            engine->counting_config_destroy(plan->groups[i].config);
        free(plan->groups[i].features);
        free(plan->groups[i].inputs);
    }
    free(plan->groups);
    free(plan->formulas);
    free(plan->own);
    free(plan);
}
