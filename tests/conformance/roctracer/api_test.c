/* The functions' promises, on calls of a real HSA runtime. */
#include "common.h"

#include <dlfcn.h>
#include <pthread.h>

static hsa_status_t call(void)
{
    uint16_t major;
    return hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
}

static const uint32_t OP = HSA_API_ID_hsa_system_get_info;

/* ---- versions, errors, time (3.1, 3.2, 3.3, 3.7) */

static void every_function_has_both_versions(void **state)
{
    (void)state;
    static const char *const names[] = {
#define X(name) #name,
        ROCTRACER_FUNCTIONS(X)
#undef X
    };
    void *library = dlopen("libroctracer64.so.4", RTLD_NOLOAD | RTLD_LAZY);
    assert_non_null(library);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *older = dlvsym(library, names[i], "ROCTRACER_4.0");
        assert_non_null(older);
        assert_ptr_equal(older, dlvsym(library, names[i], "ROCTRACER_4.1"));
        assert_ptr_equal(older, dlsym(library, names[i]));
    }
    assert_int_equal(*(const uint32_t *)dlvsym(library, "HSA_AMD_TOOL_PRIORITY", "ROCTRACER_4.1"),
                     50);
    assert_int_equal(roctracer_version_major(), 4);
    assert_int_equal(roctracer_version_minor(), 1);
}

static void *error_of_thread(void *arg)
{
    (void)arg;
    char *none = (char *)(uintptr_t)roctracer_error_string();
    bool empty = none && *none == 0;
    free(none);
    return (void *)(uintptr_t)empty;
}

static void errors_are_kept_per_thread_until_the_next(void **state)
{
    (void)state;
    FAILS(INVALID_ARGUMENT, roctracer_get_timestamp(NULL));
    char *first = (char *)(uintptr_t)roctracer_error_string();
    roctracer_timestamp_t now;
    OK(roctracer_get_timestamp(&now)); /* a success does not clear it */
    char *again = (char *)(uintptr_t)roctracer_error_string();
    assert_true(*first != 0);
    assert_string_equal(first, again);
    assert_ptr_not_equal(first, again);
    FAILS(INVALID_DOMAIN_ID, roctracer_disable_domain_callback((activity_domain_t)77));
    char *other = (char *)(uintptr_t)roctracer_error_string();
    assert_string_not_equal(first, other);
    free(first), free(again), free(other);
    pthread_t thread;
    void *empty;
    assert_int_equal(pthread_create(&thread, NULL, error_of_thread, NULL), 0);
    pthread_join(thread, &empty);
    assert_non_null(empty);
}

static void time_goes_on_in_the_runtimes_domain(void **state)
{
    (void)state;
    roctracer_timestamp_t before, after;
    uint64_t hsa, frequency;
    OK(roctracer_get_timestamp(&before));
    hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &hsa);
    OK(roctracer_get_timestamp(&after));
    hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
    hsa = (uint64_t)((double)hsa * 1e9 / (double)frequency);
    assert_true(before <= after);
    assert_in_range(hsa, before - 1000, after + 1000);
}

/* ---- domains (3.4) */

static void names_and_codes_are_inverse(void **state)
{
    (void)state;
    static const uint32_t counts[] = {[ACTIVITY_DOMAIN_HSA_API] = HSA_API_ID_DISPATCH,
                                      [ACTIVITY_DOMAIN_HSA_OPS] = 4,
                                      [ACTIVITY_DOMAIN_ROCTX] = ROCTX_API_ID_NUMBER,
                                      [ACTIVITY_DOMAIN_HSA_EVT] = 6};
    for (uint32_t domain = 0; domain < sizeof counts / sizeof counts[0]; domain++)
        for (uint32_t op = 0; op < counts[domain]; op++) {
            uint32_t code = 999, kind = 999;
            const char *name = roctracer_op_string(domain, op, 0);
            assert_non_null(name);
            OK(roctracer_op_code(domain, name, &code, &kind));
            assert_int_equal(code, op);
            assert_int_equal(kind, 0);
        }
    assert_string_equal(roctracer_op_string(ACTIVITY_DOMAIN_HSA_API, OP, 0), "hsa_system_get_info");
    assert_string_equal(
        roctracer_op_string(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_hsa_amd_memory_async_copy, 0),
        "hsa_amd_memory_async_copy");
    assert_string_equal(roctracer_op_string(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_COPY, 0), "COPY");
}

static void names_stay(void **state)
{
    (void)state;
    const char *name = roctracer_op_string(ACTIVITY_DOMAIN_HSA_API, OP, 0);
    for (uint32_t op = 0; op < HSA_API_ID_DISPATCH; op++)
        roctracer_op_string(ACTIVITY_DOMAIN_HSA_API, op, 0);
    assert_ptr_equal(roctracer_op_string(ACTIVITY_DOMAIN_HSA_API, OP, 0), name);
    assert_string_equal(name, "hsa_system_get_info");
}

static void what_does_not_exist_has_no_name(void **state)
{
    (void)state;
    uint32_t op = 5;
    assert_null(roctracer_op_string(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_DISPATCH, 0));
    assert_null(roctracer_op_string(ACTIVITY_DOMAIN_HSA_API, UINT32_MAX, 0));
    assert_null(roctracer_op_string(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_NUMBER, 0));
    assert_null(roctracer_op_string(ACTIVITY_DOMAIN_HIP_API, 1, 0)); /* no HIP in the process */
    assert_null(roctracer_op_string(ACTIVITY_DOMAIN_HIP_OPS, 0, 0x11f0));
    assert_null(roctracer_op_string(99, 0, 0));
    FAILS(INVALID_ARGUMENT, roctracer_op_code(ACTIVITY_DOMAIN_HSA_API, "hsa_nothing", &op, NULL));
    FAILS(INVALID_ARGUMENT, roctracer_op_code(ACTIVITY_DOMAIN_HSA_API, NULL, &op, NULL));
    FAILS(INVALID_ARGUMENT, roctracer_op_code(ACTIVITY_DOMAIN_HSA_API, "hsa_init", NULL, NULL));
    FAILS(INVALID_ARGUMENT, roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "hipNothing", &op, NULL));
    FAILS(INVALID_ARGUMENT, roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "", &op, NULL));
    FAILS(INVALID_DOMAIN_ID, roctracer_op_code(99, "hsa_init", &op, NULL));
    FAILS(INVALID_DOMAIN_ID,
          roctracer_op_code(ACTIVITY_DOMAIN_HIP_OPS, "CopyHostToDevice", &op, NULL));
    FAILS(INVALID_DOMAIN_ID, roctracer_op_code(ACTIVITY_DOMAIN_EXT_API, "EXT_API", &op, NULL));
    assert_int_equal(op, 5);
}

static void properties_are_of_some_domains(void **state)
{
    (void)state;
    hsa_ops_properties_t properties = {{0}};
    OK(roctracer_set_properties(ACTIVITY_DOMAIN_HSA_OPS, &properties));
    OK(roctracer_set_properties(ACTIVITY_DOMAIN_HIP_API, NULL));
    OK(roctracer_set_properties(ACTIVITY_DOMAIN_EXT_API, NULL));
    FAILS(INVALID_DOMAIN_ID, roctracer_set_properties(ACTIVITY_DOMAIN_ROCTX, NULL));
    FAILS(INVALID_DOMAIN_ID, roctracer_set_properties((roctracer_domain_t)99, NULL));
}

/* ---- callbacks (3.5) */

static struct {
    unsigned enters, exits;
    uint64_t enter_id, exit_id, phase_word;
    hsa_api_data_t at_exit;
    uint32_t op;
    void *arg;
} seen;

static void on_call(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const hsa_api_data_t *call_data = data;
    assert_int_equal(domain, ACTIVITY_DOMAIN_HSA_API);
    seen.op = op;
    seen.arg = arg;
    if (call_data->phase == ACTIVITY_API_PHASE_ENTER) {
        assert_int_equal(*call_data->phase_data, 0);
        *call_data->phase_data = 4711;
        seen.enters++;
        seen.enter_id = call_data->correlation_id;
    } else {
        seen.exits++;
        seen.exit_id = call_data->correlation_id;
        seen.phase_word = *call_data->phase_data;
        seen.at_exit = *call_data;
    }
}

static void a_callback_runs_at_entry_and_exit(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    uint64_t value;
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP, on_call, &seen));
    assert_int_equal(hsa_system_get_info((hsa_system_info_t)12345, &value),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(seen.enters, 1);
    assert_int_equal(seen.exits, 1);
    assert_int_equal(seen.op, OP);
    assert_ptr_equal(seen.arg, &seen);
    assert_int_not_equal(seen.enter_id, 0);
    assert_int_equal(seen.enter_id, seen.exit_id);
    assert_int_equal(seen.phase_word, 4711);
    assert_int_equal(seen.at_exit.args.hsa_system_get_info.attribute, 12345);
    assert_ptr_equal(seen.at_exit.args.hsa_system_get_info.value, &value);
    assert_int_equal(seen.at_exit.hsa_status_t_retval, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    uint64_t first = seen.enter_id;
    call();
    assert_int_not_equal(seen.enter_id, first);
    OK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP));
    call();
    assert_int_equal(seen.enters, 2);
    assert_int_equal(seen.exits, 2);
}

static void a_domain_callback_is_for_every_operation(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    OK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HSA_API, on_call, NULL));
    call();
    hsa_signal_t signal;
    hsa_signal_create(1, 0, NULL, &signal);
    hsa_signal_destroy(signal);
    assert_int_equal(seen.op, HSA_API_ID_hsa_signal_destroy);
    assert_int_equal(seen.exits, 3);
    OK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP));
    call();
    assert_int_equal(seen.exits, 3);
    OK(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HSA_API));
    hsa_signal_create(1, 0, NULL, &signal);
    hsa_signal_destroy(signal);
    assert_int_equal(seen.exits, 3);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    const activity_domain_t bad = (activity_domain_t)99;
    FAILS(INVALID_DOMAIN_ID, roctracer_enable_op_callback(bad, 0, on_call, NULL));
    FAILS(INVALID_DOMAIN_ID, roctracer_enable_domain_callback(bad, on_call, NULL));
    FAILS(INVALID_DOMAIN_ID, roctracer_disable_op_callback(bad, 0));
    FAILS(INVALID_DOMAIN_ID, roctracer_disable_domain_callback(bad));
    FAILS(INVALID_DOMAIN_ID, roctracer_enable_domain_activity(bad));
    FAILS(INVALID_DOMAIN_ID, roctracer_disable_domain_activity(bad));
    FAILS(INVALID_ARGUMENT, roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP, NULL, NULL));
    FAILS(INVALID_ARGUMENT,
          roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_NUMBER, on_call, NULL));
    FAILS(INVALID_ARGUMENT,
          roctracer_enable_op_callback(ACTIVITY_DOMAIN_ROCTX, ROCTX_API_ID_NUMBER, on_call, NULL));
    FAILS(INVALID_ARGUMENT,
          roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_NUMBER));
    OK(roctracer_disable_op_activity(ACTIVITY_DOMAIN_HIP_API, 0)); /* HIP's own "none" */
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_COPY, on_call, NULL));
    OK(roctracer_enable_callback(on_call, NULL)); /* every domain that can be */
    OK(roctracer_disable_callback());
}

/* Numbers beyond the last, the largest among them, which is no word for "all". */
static void numbers_that_do_not_exist_are_refused(void **state)
{
    static const activity_domain_t domains[] = {ACTIVITY_DOMAIN_HSA_API, ACTIVITY_DOMAIN_HSA_OPS,
                                                ACTIVITY_DOMAIN_HIP_OPS, ACTIVITY_DOMAIN_HIP_API,
                                                ACTIVITY_DOMAIN_KFD_API, ACTIVITY_DOMAIN_ROCTX,
                                                ACTIVITY_DOMAIN_HSA_EVT};
    static const uint32_t numbers[] = {1000, 1 << 20, UINT32_MAX - 1, UINT32_MAX};
    static struct catch c;
    (void)state;
    seen.enters = 0;
    catch_open(&c, 4096);
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++)
        for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
            uint32_t op = numbers[n];
            FAILS(INVALID_ARGUMENT, roctracer_enable_op_callback(domains[i], op, on_call, NULL));
            FAILS(INVALID_ARGUMENT, roctracer_disable_op_callback(domains[i], op));
            FAILS(INVALID_ARGUMENT, roctracer_enable_op_activity_expl(domains[i], op, c.pool));
            FAILS(INVALID_ARGUMENT, roctracer_disable_op_activity(domains[i], op));
            FAILS(DEFAULT_POOL_UNDEFINED, roctracer_enable_op_activity(domains[i], op));
        }
    call();
    assert_int_equal(seen.enters, 0);
    OK(roctracer_close_pool_expl(c.pool));
    assert_int_equal(c.count, 0);
}

/* It has records and nothing that one could enable: single operations are refused, all of them are
 * none. As roctracer answers. */
static void ext_api_has_nothing_to_enable(void **state)
{
    static const activity_domain_t ext = ACTIVITY_DOMAIN_EXT_API;
    static struct catch c;
    (void)state;
    catch_open(&c, 4096);
    for (uint32_t op = 0; op < 3; op++) {
        FAILS(INVALID_ARGUMENT, roctracer_enable_op_callback(ext, op, on_call, NULL));
        FAILS(INVALID_ARGUMENT, roctracer_disable_op_callback(ext, op));
        FAILS(INVALID_ARGUMENT, roctracer_enable_op_activity_expl(ext, op, c.pool));
        FAILS(DEFAULT_POOL_UNDEFINED, roctracer_enable_op_activity(ext, op));
        FAILS(INVALID_ARGUMENT, roctracer_disable_op_activity(ext, op));
    }
    OK(roctracer_enable_domain_callback(ext, on_call, NULL));
    OK(roctracer_enable_domain_callback(ext, NULL, NULL));
    OK(roctracer_disable_domain_callback(ext));
    OK(roctracer_enable_domain_activity(ext));
    OK(roctracer_enable_domain_activity_expl(ext, c.pool));
    OK(roctracer_disable_domain_activity(ext));
    OK(roctracer_close_pool_expl(c.pool));
}

static int inner_calls;

static void on_call_that_calls(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    (void)domain, (void)op, (void)arg;
    const hsa_api_data_t *call_data = data;
    inner_calls++;
    if (call_data->phase != ACTIVITY_API_PHASE_ENTER || inner_calls > 1)
        return;
    call();                                                         /* traced itself */
    OK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP)); /* does not wait for itself */
}

static void callbacks_may_call_the_runtime_and_us(void **state)
{
    (void)state;
    inner_calls = 0;
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP, on_call_that_calls, NULL));
    call();
    assert_int_equal(inner_calls, 3); /* enter, inner enter and exit; disabled before its exit */
    call();
    assert_int_equal(inner_calls, 3);
}

/* A callback that is under way when it is disabled; it ends a while after that has begun. */
static struct {
    _Atomic bool inside, disabling;
} lingering;

static void on_call_that_lingers(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    (void)domain, (void)op, (void)data, (void)arg;
    lingering.inside = true;
    while (!lingering.disabling)
        sched_yield();
    for (int i = 0; i < 50; i++)
        sched_yield();
    lingering.inside = false;
}

static void *one_call(void *arg)
{
    call();
    return arg;
}

static void disabling_waits_for_callbacks_under_way(void **state)
{
    enum { ROUNDS = 10, LIMIT_NS = 100000000 }; /* it does not wait longer than that */
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        roctracer_timestamp_t begin, end;
        lingering.inside = lingering.disabling = false;
        OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP, on_call_that_lingers, NULL));
        assert_int_equal(pthread_create(&thread, NULL, one_call, NULL), 0);
        while (!lingering.inside)
            sched_yield();
        OK(roctracer_get_timestamp(&begin));
        lingering.disabling = true;
        OK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP));
        bool inside = lingering.inside;
        OK(roctracer_get_timestamp(&end));
        assert_true(!inside || end - begin >= LIMIT_NS);
        pthread_join(thread, NULL);
    }
}

/* ---- start, stop, external ids */

static int starts, stops;
static void on_start(void)
{
    starts++;
}
static void on_stop(void)
{
    stops++;
}

static void stopping_suspends_what_is_enabled(void **state)
{
    (void)state;
    roctracer_ext_properties_t properties = {on_start, on_stop};
    memset(&seen, 0, sizeof seen);
    OK(roctracer_set_properties(ACTIVITY_DOMAIN_EXT_API, &properties));
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP, on_call, NULL));
    roctracer_start(); /* is on already */
    assert_int_equal(starts, 0);
    roctracer_stop();
    roctracer_stop();
    assert_int_equal(stops, 1);
    call();
    assert_int_equal(seen.enters, 0);
    roctracer_start();
    assert_int_equal(starts, 1);
    call();
    assert_int_equal(seen.exits, 1);
    OK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP));
    OK(roctracer_set_properties(ACTIVITY_DOMAIN_EXT_API, NULL));
}

static void an_external_id_stands_before_its_call(void **state)
{
    (void)state;
    struct catch c;
    catch_open(&c, 4096);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, c.pool));
    OK(roctracer_activity_push_external_correlation_id(0)); /* an id like others */
    call();
    OK(roctracer_activity_push_external_correlation_id(17));
    call();
    activity_correlation_id_t last;
    OK(roctracer_activity_pop_external_correlation_id(&last));
    assert_int_equal(last, 17);
    OK(roctracer_activity_pop_external_correlation_id(NULL));
    call();
    last = 5;
    FAILS(MISMATCHED_EXTERNAL_CORRELATION_ID,
          roctracer_activity_pop_external_correlation_id(&last));
    assert_int_equal(last, 0);
    OK(roctracer_close_pool_expl(c.pool));
    assert_int_equal(c.count, 5);
    static const uint64_t ids[] = {0, 17};
    for (int i = 0; i < 2; i++) {
        const roctracer_record_t *external = &c.records[2 * i], *record = external + 1;
        assert_int_equal(external->domain, ACTIVITY_DOMAIN_EXT_API);
        assert_int_equal(external->op, ACTIVITY_EXT_OP_EXTERN_ID);
        assert_int_equal(external->external_id, ids[i]);
        assert_int_equal(external->correlation_id, record->correlation_id);
        assert_int_equal(record->domain, ACTIVITY_DOMAIN_HSA_API);
    }
    assert_int_equal(c.records[4].domain, ACTIVITY_DOMAIN_HSA_API);
}

static void old_functions_do_no_harm(void **state)
{
    (void)state;
    assert_int_equal(roctracer_load(), 1);
    roctracer_unload();
    roctracer_flush_buf();
    roctracer_mark("text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_has_both_versions),
        cmocka_unit_test(errors_are_kept_per_thread_until_the_next),
        cmocka_unit_test(time_goes_on_in_the_runtimes_domain),
        cmocka_unit_test(names_and_codes_are_inverse),
        cmocka_unit_test(names_stay),
        cmocka_unit_test(what_does_not_exist_has_no_name),
        cmocka_unit_test(properties_are_of_some_domains),
        cmocka_unit_test(a_callback_runs_at_entry_and_exit),
        cmocka_unit_test(a_domain_callback_is_for_every_operation),
        cmocka_unit_test(numbers_that_do_not_exist_are_refused),
        cmocka_unit_test(ext_api_has_nothing_to_enable),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(callbacks_may_call_the_runtime_and_us),
        cmocka_unit_test(disabling_waits_for_callbacks_under_way),
        cmocka_unit_test(stopping_suspends_what_is_enabled),
        cmocka_unit_test(an_external_id_stands_before_its_call),
        cmocka_unit_test(old_functions_do_no_harm),
    };
    return with_runtime(tests, sizeof tests / sizeof tests[0]);
}
