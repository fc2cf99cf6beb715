/* Features of kind TRACE in every mode. What a trace says is compared with what was launched and
 * with the sequencers' counters of the same kernels. */
#include "common.h"
#include "tokens.h"

enum { ENGINES = 8, UNITS_MAX = 16, STANDALONE = ROCPROFILER_MODE_STANDALONE };

static rocprofiler_parameter_t parameter(uint32_t name, uint32_t value)
{
    rocprofiler_parameter_t made = {.value = value};
    made.parameter_name = (hsa_ven_amd_aqlprofile_parameter_name_t)name;
    return made;
}

/* All engines, instructions of one unit. */
struct wanted {
    rocprofiler_parameter_t parameters[2];
};

static rocprofiler_feature_t trace_feature(struct wanted *wanted, uint32_t engines, uint32_t unit)
{
    rocprofiler_feature_t made = {.kind = ROCPROFILER_FEATURE_KIND_TRACE};
    wanted->parameters[0] = parameter(HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK, engines);
    wanted->parameters[1] =
        parameter(HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET, unit);
    made.name = "TT";
    made.parameters = wanted->parameters;
    made.parameter_count = 2;
    return made;
}

/* ---- reading */

struct seen {
    uint32_t engines, calls, stop_after;
    uint64_t bytes;
    struct tokens tokens;
};

static hsa_status_t see(hsa_ven_amd_aqlprofile_info_type_t type,
                        hsa_ven_amd_aqlprofile_info_data_t *info, void *data)
{
    struct seen *seen = data;
    assert_int_equal(type, HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA);
    assert_true(info->sample_id < ENGINES);
    assert_int_equal(seen->engines >> info->sample_id & 1, 0);
    seen->engines |= 1u << info->sample_id;
    seen->bytes += info->trace_data.size;
    tokens_read(&seen->tokens, info->trace_data.ptr, info->trace_data.size);
    return ++seen->calls == seen->stop_after ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

static struct seen trace_of(rocprofiler_t *context)
{
    struct seen seen = {0};
    OK(rocprofiler_iterate_trace_data(context, see, &seen));
    assert_int_equal(seen.tokens.broken, 0);
    return seen;
}

static uint64_t counted(const rocprofiler_feature_t *f)
{
    assert_int_equal(f->data.kind, ROCPROFILER_DATA_KIND_INT64);
    return f->data.result_int64;
}

/* ---- the same kernels by both */

static const char *const counters[] = {"SQ_WAVES",         "SQ_INSTS_VALU",  "SQ_INSTS_SALU",
                                       "SQ_INSTS_SMEM",    "SQ_INSTS_LDS",   "SQ_INSTS_VMEM_RD",
                                       "SQ_INSTS_VMEM_WR", "SQ_INSTS_BRANCH"};
enum { COUNTERS = sizeof counters / sizeof counters[0] };

static void features_fill(rocprofiler_feature_t f[COUNTERS + 1], struct wanted *wanted,
                          uint32_t unit)
{
    for (int i = 0; i < COUNTERS; i++)
        f[i] = feature(counters[i]);
    f[COUNTERS] = trace_feature(wanted, (1u << ENGINES) - 1, unit);
}

static void tokens_add(struct tokens *sum, const struct tokens *t)
{
    sum->valu += t->valu, sum->salu += t->salu, sum->smem += t->smem, sum->lds += t->lds;
    sum->vmem_read += t->vmem_read, sum->vmem_write += t->vmem_write, sum->branch += t->branch;
}

static void sums_are_the_counters(const struct tokens *sum, const rocprofiler_feature_t *f)
{
    const uint64_t by_trace[COUNTERS] = {0,        sum->valu,      sum->salu,       sum->smem,
                                         sum->lds, sum->vmem_read, sum->vmem_write, sum->branch};
    assert_true(sum->valu > 0 && sum->smem > 0 && sum->vmem_write > 0);
    for (int i = 1; i < COUNTERS; i++)
        if (by_trace[i] != counted(&f[i]))
            fail_msg("%s: %llu, the traces say %llu", counters[i],
                     (unsigned long long)counted(&f[i]), (unsigned long long)by_trace[i]);
}

static rocprofiler_group_t answer_group;
static hsa_status_t answer(const rocprofiler_callback_data_t *data, void *arg,
                           rocprofiler_group_t *group)
{
    (void)data, (void)arg;
    *group = answer_group;
    return HSA_STATUS_SUCCESS;
}

static void callbacks_set(rocprofiler_callback_t dispatch)
{
    OK(rocprofiler_set_queue_callbacks((rocprofiler_queue_callbacks_t){.dispatch = dispatch},
                                       NULL));
}

/* Every compute unit in turn: together their instructions are those that the counters have of one
 * launch, and each trace has all waves. */
static void instructions_are_those_of_the_counters(void **state)
{
    enum { GROUPS = 230 };
    rocprofiler_feature_t f[COUNTERS + 1];
    struct tokens sum = {0};
    struct wanted wanted;
    (void)state;
    for (uint32_t unit = 0; unit < UNITS_MAX; unit++) {
        rocprofiler_t *context;
        features_fill(f, &wanted, unit);
        OK(rocprofiler_open(gpus[0].agent, f, COUNTERS + 1, &context, ROCPROFILER_MODE_SINGLEGROUP,
                            NULL));
        OK(rocprofiler_get_group(context, 0, &answer_group));
        assert_int_equal(answer_group.feature_count, COUNTERS + 1);
        callbacks_set(answer);
        gpu_run(&gpus[0], GROUPS);
        OK(rocprofiler_get_data(context, 0));
        OK(rocprofiler_get_metrics(context));
        struct seen seen = trace_of(context);
        assert_int_equal(seen.engines, (1u << ENGINES) - 1);
        assert_int_equal(seen.tokens.begun, waves_of(GROUPS));
        assert_int_equal(seen.tokens.ended, waves_of(GROUPS));
        assert_int_equal(seen.tokens.lanes, GROUPS * GROUP_ITEMS);
        assert_int_equal(counted(&f[0]), waves_of(GROUPS));
        tokens_add(&sum, &seen.tokens);
        OK(rocprofiler_remove_queue_callbacks());
        if (unit + 1 == UNITS_MAX)
            sums_are_the_counters(&sum, f);
        OK(rocprofiler_close(context));
    }
}

/* ---- data of the feature */

static void the_feature_has_the_bytes(void **state)
{
    struct wanted wanted;
    rocprofiler_feature_t f = trace_feature(&wanted, 0x15, 2);
    rocprofiler_t *context;
    (void)state;
    f.data.result_bytes.copy = true;
    OK(rocprofiler_open(gpus[0].agent, &f, 1, &context, 0, NULL));
    OK(rocprofiler_get_group(context, 0, &answer_group));
    callbacks_set(answer);
    REFUSED(rocprofiler_iterate_trace_data(context, see, NULL), "nothing was collected");
    gpu_run(&gpus[0], 100);
    OK(rocprofiler_get_data(context, 0));
    struct seen seen = trace_of(context);
    assert_int_equal(seen.engines, 0x15);
    assert_int_equal(f.data.kind, ROCPROFILER_DATA_KIND_BYTES);
    assert_int_equal(f.data.result_bytes.instance_count, 3);
    /* A size in front of each. */
    struct tokens copied = {0};
    const char *at = f.data.result_bytes.ptr;
    for (int i = 0; i < 3; i++) {
        uint32_t size;
        memcpy(&size, at, sizeof size);
        tokens_read(&copied, at + sizeof size, size);
        at += sizeof size + (size + 3) / 4 * 4;
    }
    assert_ptr_equal(at, (char *)f.data.result_bytes.ptr + f.data.result_bytes.size);
    assert_memory_equal(&copied, &seen.tokens, sizeof copied);
    assert_true(copied.begun > 0 && copied.begun < waves_of(100));
    /* The next kernel's replaces it. */
    f.data.result_bytes.copy = false;
    gpu_run(&gpus[0], 1);
    OK(rocprofiler_get_data(context, 0));
    assert_int_equal(f.data.kind, ROCPROFILER_DATA_KIND_BYTES);
    assert_int_equal(f.data.result_bytes.instance_count, 3);
    assert_int_equal(f.data.result_bytes.size, 32u << 20);
    assert_true(trace_of(context).tokens.begun <= WAVES_OF_GROUP);
    seen = (struct seen){.stop_after = 2};
    OK(rocprofiler_iterate_trace_data(context, see, &seen));
    assert_int_equal(seen.calls, 2);
    OK(rocprofiler_reset(context, 0));
    REFUSED(rocprofiler_iterate_trace_data(context, see, NULL), "nothing was collected");
    OK(rocprofiler_remove_queue_callbacks());
    OK(rocprofiler_close(context));
}

/* ---- started and read */

static void standalone_with(rocprofiler_properties_t *properties, uint32_t mode)
{
    struct wanted wanted;
    rocprofiler_feature_t f[] = {feature("SQ_WAVES"), trace_feature(&wanted, 0xff, 0)};
    rocprofiler_t *context;
    OK(rocprofiler_open(gpus[0].agent, f, 2, &context, mode, properties));
    for (int round = 0; round < 2; round++) {
        gpu_run(&gpus[0], 7); /* before the start */
        OK(rocprofiler_start(context, 0));
        gpu_run(&gpus[0], 20);
        OK(rocprofiler_read(context, 0));
        OK(rocprofiler_get_data(context, 0));
        assert_int_equal(counted(&f[0]), waves_of(20));
        assert_int_equal(trace_of(context).tokens.begun, waves_of(20));
        gpu_run(&gpus[0], 30);
        assert_int_equal(trace_of(context).tokens.begun, waves_of(20)); /* as it was read */
        OK(rocprofiler_stop(context, 0));
        gpu_run(&gpus[0], 5);
        OK(rocprofiler_get_data(context, 0));
        assert_int_equal(counted(&f[0]), waves_of(50));
        struct seen seen = trace_of(context);
        assert_int_equal(seen.tokens.begun, waves_of(50));
        assert_int_equal(seen.tokens.ended, waves_of(50));
        assert_true(seen.tokens.markers > 0); /* what the start writes for readers */
    }
    OK(rocprofiler_close(context));
}

static void standalone_traces(void **state)
{
    (void)state;
    standalone_with(NULL, STANDALONE);
}

static void traces_with_a_queue(void **state)
{
    rocprofiler_properties_t properties = {.queue_depth = 128};
    (void)state;
    standalone_with(&properties, STANDALONE | ROCPROFILER_MODE_CREATEQUEUE);
    OK(hsa_queue_destroy(properties.queue));
    properties.queue = gpu_queue(&gpus[0]);
    standalone_with(&properties, STANDALONE);
    OK(hsa_queue_destroy(properties.queue));
}

/* A trace without counters, in the groups of several runs: it is in the first. */
static void a_trace_alone_and_in_groups(void **state)
{
    enum { MANY = 10 };
    static const char *const many[MANY] = {
        "SQ_WAVES",         "SQ_BUSY_CYCLES",   "SQ_INSTS_VALU",  "SQ_INSTS_SALU", "SQ_INSTS_SMEM",
        "SQ_INSTS_VMEM_WR", "SQ_INSTS_VMEM_RD", "SQ_WAVE_CYCLES", "SQ_INSTS_LDS",  "VALUInsts"};
    struct wanted wanted;
    rocprofiler_feature_t f[MANY + 1] = {trace_feature(&wanted, 0xff, 0)};
    rocprofiler_t *context;
    uint32_t count;
    (void)state;
    OK(rocprofiler_open(gpus[0].agent, f, 1, &context, STANDALONE, NULL));
    OK(rocprofiler_start(context, 0));
    gpu_run(&gpus[0], 9);
    OK(rocprofiler_stop(context, 0));
    OK(rocprofiler_get_data(context, 0));
    OK(rocprofiler_get_metrics(context));
    assert_int_equal(f[0].data.kind, ROCPROFILER_DATA_KIND_BYTES);
    assert_int_equal(trace_of(context).tokens.begun, waves_of(9));
    OK(rocprofiler_close(context));
    for (int i = 0; i < MANY; i++)
        f[i + 1] = feature(many[i]);
    OK(rocprofiler_open(gpus[0].agent, f, MANY + 1, &context, STANDALONE, NULL));
    OK(rocprofiler_group_count(context, &count));
    assert_true(count > 1);
    for (uint32_t g = count; g-- > 0;) {
        OK(rocprofiler_start(context, g));
        gpu_run(&gpus[0], 10 + g);
        OK(rocprofiler_stop(context, g));
        OK(rocprofiler_get_data(context, g));
    }
    OK(rocprofiler_get_metrics(context));
    assert_int_equal(f[0].data.kind, ROCPROFILER_DATA_KIND_BYTES);
    assert_int_equal(trace_of(context).tokens.begun, waves_of(10));
    OK(rocprofiler_close(context));
}

/* ---- pools */

enum { ENTRIES = 3, LAUNCHES = 12 };
struct payload {
    uint32_t groups;
    rocprofiler_group_t group;
};
static struct {
    rocprofiler_pool_t *pool;
    uint32_t handled;
} pooled;

static bool pool_handler(const rocprofiler_pool_entry_t *entry, void *arg)
{
    struct payload *payload = entry->payload;
    (void)arg;
    OK(rocprofiler_group_get_data(&payload->group));
    assert_int_equal(trace_of(entry->context).tokens.begun, waves_of(payload->groups));
    __atomic_add_fetch(&pooled.handled, 1, __ATOMIC_RELEASE);
    return false;
}

static hsa_status_t entry_for_each(const rocprofiler_callback_data_t *data, void *arg,
                                   rocprofiler_group_t *group)
{
    rocprofiler_pool_entry_t entry;
    (void)arg;
    OK(rocprofiler_pool_fetch(pooled.pool, &entry));
    struct payload *payload = entry.payload;
    OK(rocprofiler_get_group(entry.context, 0, group));
    payload->groups = data->packet->grid_size_x / GROUP_ITEMS;
    payload->group = *group;
    return HSA_STATUS_SUCCESS;
}

static void pools_have_traces(void **state)
{
    struct wanted wanted;
    rocprofiler_feature_t f = trace_feature(&wanted, 0xff, 1);
    rocprofiler_pool_properties_t properties = {
        .num_entries = ENTRIES, .payload_bytes = sizeof(struct payload), .handler = pool_handler};
    (void)state;
    OK(rocprofiler_pool_open(gpus[0].agent, &f, 1, &pooled.pool, 0, &properties));
    callbacks_set(entry_for_each);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        gpu_run(&gpus[0], 1 + i);
    OK(rocprofiler_pool_flush(pooled.pool));
    assert_int_equal(pooled.handled, LAUNCHES);
    OK(rocprofiler_remove_queue_callbacks());
    OK(rocprofiler_pool_close(pooled.pool));
}

/* ---- what there is, and mistakes */

static hsa_status_t trace_info(const rocprofiler_info_data_t info, void *data)
{
    assert_int_equal(info.kind, ROCPROFILER_INFO_KIND_TRACE);
    assert_string_equal(info.trace.name, "TT");
    assert_true(strlen(info.trace.description) > 0);
    *(uint32_t *)data += info.trace.parameter_count;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t parameter_info(const rocprofiler_info_data_t info, void *data)
{
    assert_int_equal(info.kind, ROCPROFILER_INFO_KIND_TRACE_PARAMETER);
    assert_string_equal(info.trace_parameter.trace_name, "TT");
    assert_true(strlen(info.trace_parameter.parameter_name) > 0);
    assert_true(strlen(info.trace_parameter.description) > 0);
    ++*(uint32_t *)data;
    return HSA_STATUS_SUCCESS;
}

static void traces_are_listed(void **state)
{
    uint32_t promised = 0, listed = 0, queried = 0, count = 0;
    rocprofiler_info_query_t query = {.trace_parameter = {.trace_name = "TT"}};
    const hsa_agent_t *agent = &gpus[0].agent;
    (void)state;
    OK(rocprofiler_get_info(agent, ROCPROFILER_INFO_KIND_TRACE_COUNT, &count));
    assert_int_equal(count, 1);
    OK(rocprofiler_get_info(agent, ROCPROFILER_INFO_KIND_TRACE_PARAMETER_COUNT, &count));
    OK(rocprofiler_iterate_info(agent, ROCPROFILER_INFO_KIND_TRACE, trace_info, &promised));
    OK(rocprofiler_iterate_info(agent, ROCPROFILER_INFO_KIND_TRACE_PARAMETER, parameter_info,
                                &listed));
    OK(rocprofiler_query_info(agent, query, parameter_info, &queried));
    assert_true(count >= 5);
    assert_int_equal(promised, count);
    assert_int_equal(listed, count);
    assert_int_equal(queried, count);
    query.trace_parameter.trace_name = "no such trace";
    REFUSED(rocprofiler_query_info(agent, query, parameter_info, &queried), "no such trace");
    query.trace_parameter.trace_name = NULL;
    query.info_kind = ROCPROFILER_INFO_KIND_TRACE;
    promised = 0;
    OK(rocprofiler_query_info(agent, query, trace_info, &promised));
    assert_int_equal(promised, count);
}

static void refused(uint32_t name, uint32_t value, const char *word)
{
    rocprofiler_parameter_t p = parameter(name, value);
    rocprofiler_feature_t f = {.kind = ROCPROFILER_FEATURE_KIND_TRACE};
    rocprofiler_t *context = NULL;
    f.name = "TT";
    f.parameters = &p;
    f.parameter_count = 1;
    REFUSED(rocprofiler_open(gpus[0].agent, &f, 1, &context, STANDALONE, NULL), word);
    assert_null(context);
}

static void mistakes_are_told(void **state)
{
    struct wanted wanted;
    rocprofiler_feature_t f[] = {trace_feature(&wanted, 1, 0), trace_feature(&wanted, 1, 0)};
    rocprofiler_feature_t metric = feature("SQ_WAVES");
    rocprofiler_t *context = NULL;
    (void)state;
    refused(HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET, 16, "beyond 15");
    refused(HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK, 0, "no shader engine");
    refused(HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_MASK, 0x10, "reserved");
    refused(99, 0, "unknown parameter");
    REFUSED(rocprofiler_open(gpus[0].agent, f, 2, &context, STANDALONE, NULL), "one trace");
    f[0].kind = ROCPROFILER_FEATURE_KIND_TRACE | ROCPROFILER_FEATURE_KIND_SPM_MOD;
    REFUSED(rocprofiler_open(gpus[0].agent, f, 1, &context, STANDALONE, NULL), "kind 3");
    f[0].kind = (rocprofiler_feature_kind_t)77;
    REFUSED(rocprofiler_open(gpus[0].agent, f, 1, &context, STANDALONE, NULL), "kind 77");
    OK(rocprofiler_open(gpus[0].agent, &metric, 1, &context, STANDALONE, NULL));
    REFUSED(rocprofiler_iterate_trace_data(context, see, NULL), "no trace");
    REFUSED(rocprofiler_iterate_trace_data(context, NULL, NULL), "no callback");
    OK(rocprofiler_close(context));
    REFUSED(rocprofiler_iterate_trace_data(context, see, NULL), "no context");
    /* Without parameters there are defaults: engines 0 and 4. */
    f[0] = (rocprofiler_feature_t){.kind = ROCPROFILER_FEATURE_KIND_TRACE};
    OK(rocprofiler_open(gpus[0].agent, f, 1, &context, STANDALONE, NULL));
    OK(rocprofiler_start(context, 0));
    gpu_run(&gpus[0], 100);
    OK(rocprofiler_stop(context, 0));
    assert_int_equal(trace_of(context).engines, 0x11);
    OK(rocprofiler_close(context));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_are_those_of_the_counters),
        cmocka_unit_test(the_feature_has_the_bytes),
        cmocka_unit_test(standalone_traces),
        cmocka_unit_test(traces_with_a_queue),
        cmocka_unit_test(a_trace_alone_and_in_groups),
        cmocka_unit_test(pools_have_traces),
        cmocka_unit_test(traces_are_listed),
        cmocka_unit_test(mistakes_are_told),
    };
    if (argc != 2)
        return 2;
    gpus_open(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gpus_close();
    return failed;
}
