/* What roctracer.h and roctracer_plugin.h declare (chapters 3 to 5), written down from the text: it
 * compiles only when functions, types and members are as documented. Built as C and as C++. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif

#include <roctracer/roctracer.h>
#include <roctracer/roctracer_plugin.h>

#ifdef __cplusplus
#define SAME_TYPE(a, b) static_assert(__is_same(a, b), #a)
#else
#define SAME_TYPE(a, b) _Static_assert(__builtin_types_compatible_p(a, b), #a)
#endif

#define STATUSES(X)                                                                                \
    X(SUCCESS, 0)                                                                                  \
    X(ERROR, -1)                                                                                   \
    X(ERROR_INVALID_DOMAIN_ID, -2)                                                                 \
    X(ERROR_INVALID_ARGUMENT, -3)                                                                  \
    X(ERROR_DEFAULT_POOL_UNDEFINED, -4)                                                            \
    X(ERROR_DEFAULT_POOL_ALREADY_DEFINED, -5)                                                      \
    X(ERROR_MEMORY_ALLOCATION, -6)                                                                 \
    X(ERROR_MISMATCHED_EXTERNAL_CORRELATION_ID, -7)                                                \
    X(ERROR_NOT_IMPLEMENTED, -8)                                                                   \
    X(UNINIT, 2)                                                                                   \
    X(BREAK, 3)                                                                                    \
    X(BAD_DOMAIN, -2)                                                                              \
    X(BAD_PARAMETER, -3)                                                                           \
    X(HIP_API_ERR, 6)                                                                              \
    X(HIP_OPS_ERR, 7)                                                                              \
    X(HCC_OPS_ERR, 7)                                                                              \
    X(HSA_ERR, 7)                                                                                  \
    X(ROCTX_ERR, 8)

static void statuses_have_their_values(void **state)
{
    (void)state;
#define X(name, value) assert_int_equal(ROCTRACER_STATUS_##name, value);
    STATUSES(X)
#undef X
}

#define TEXT_(...) #__VA_ARGS__
#define TEXT(...)  TEXT_(__VA_ARGS__)

/* Nothing that is expanded to their own names. */
static void macros_are_there(void **state)
{
    (void)state;
    assert_string_equal(TEXT(ROCTRACER_CALL), "");
    assert_string_equal(TEXT(ROCTRACER_VERSION_4_1), "");
    assert_string_equal(TEXT(ROCTRACER_API), TEXT(ROCTRACER_IMPORT));
    assert_non_null(strstr(TEXT(ROCTRACER_EXPORT), "visibility"));
    assert_int_equal(ROCTRACER_VERSION_MAJOR, 4);
    assert_int_equal(ROCTRACER_VERSION_MINOR, 1);
}

typedef void allocator_function(char **ptr, size_t size, void *arg);
typedef void buffer_function(const char *begin, const char *end, void *arg);
SAME_TYPE(roctracer_domain_t, activity_domain_t);
SAME_TYPE(roctracer_rtapi_callback_t, activity_rtapi_callback_t);
SAME_TYPE(roctracer_record_t, activity_record_t);
SAME_TYPE(roctracer_allocator_t, allocator_function *);
SAME_TYPE(roctracer_buffer_callback_t, buffer_function *);
SAME_TYPE(roctracer_pool_t, void);

static void types_are_those_of_the_protocol(void **state)
{
    (void)state;
    assert_int_equal(sizeof(roctracer_record_t), 64);
    assert_int_equal(sizeof(roctracer_timestamp_t), sizeof(uint64_t));
}

static void properties_have_their_members(void **state)
{
    roctracer_properties_t properties;
    uint32_t *mode = &properties.mode;
    size_t *buffer_size = &properties.buffer_size;
    roctracer_allocator_t *alloc_fun = &properties.alloc_fun;
    void **alloc_arg = &properties.alloc_arg;
    roctracer_buffer_callback_t *buffer_callback_fun = &properties.buffer_callback_fun;
    void **buffer_callback_arg = &properties.buffer_callback_arg;
    const void *members[] = {mode,      buffer_size,         alloc_fun,
                             alloc_arg, buffer_callback_fun, buffer_callback_arg};
    (void)state;
    assert_ptr_equal(members[0], &properties);
    for (size_t i = 1; i < sizeof members / sizeof members[0]; i++)
        assert_true((const char *)members[i] > (const char *)members[i - 1]); /* in that order */
}

/* X(result, name, parameters) */
#define FUNCTIONS(X)                                                                               \
    X(uint32_t, roctracer_version_major, (void))                                                   \
    X(uint32_t, roctracer_version_minor, (void))                                                   \
    X(const char *, roctracer_error_string, (void))                                                \
    X(const char *, roctracer_op_string, (uint32_t, uint32_t, uint32_t))                           \
    X(roctracer_status_t, roctracer_op_code, (uint32_t, const char *, uint32_t *, uint32_t *))     \
    X(roctracer_status_t, roctracer_set_properties, (roctracer_domain_t, void *))                  \
    X(roctracer_status_t, roctracer_enable_op_callback,                                            \
      (activity_domain_t, uint32_t, activity_rtapi_callback_t, void *))                            \
    X(roctracer_status_t, roctracer_enable_domain_callback,                                        \
      (activity_domain_t, activity_rtapi_callback_t, void *))                                      \
    X(roctracer_status_t, roctracer_disable_op_callback, (activity_domain_t, uint32_t))            \
    X(roctracer_status_t, roctracer_disable_domain_callback, (activity_domain_t))                  \
    X(roctracer_status_t, roctracer_next_record,                                                   \
      (const activity_record_t *, const activity_record_t **))                                     \
    X(roctracer_status_t, roctracer_open_pool_expl,                                                \
      (const roctracer_properties_t *, roctracer_pool_t **))                                       \
    X(roctracer_status_t, roctracer_open_pool, (const roctracer_properties_t *))                   \
    X(roctracer_status_t, roctracer_close_pool_expl, (roctracer_pool_t *))                         \
    X(roctracer_status_t, roctracer_close_pool, (void))                                            \
    X(roctracer_pool_t *, roctracer_default_pool_expl, (roctracer_pool_t *))                       \
    X(roctracer_pool_t *, roctracer_default_pool, (void))                                          \
    X(roctracer_status_t, roctracer_enable_op_activity_expl,                                       \
      (activity_domain_t, uint32_t, roctracer_pool_t *))                                           \
    X(roctracer_status_t, roctracer_enable_op_activity, (activity_domain_t, uint32_t))             \
    X(roctracer_status_t, roctracer_enable_domain_activity_expl,                                   \
      (activity_domain_t, roctracer_pool_t *))                                                     \
    X(roctracer_status_t, roctracer_enable_domain_activity, (activity_domain_t))                   \
    X(roctracer_status_t, roctracer_disable_op_activity, (activity_domain_t, uint32_t))            \
    X(roctracer_status_t, roctracer_disable_domain_activity, (activity_domain_t))                  \
    X(roctracer_status_t, roctracer_flush_activity_expl, (roctracer_pool_t *))                     \
    X(roctracer_status_t, roctracer_flush_activity, (void))                                        \
    X(roctracer_status_t, roctracer_get_timestamp, (roctracer_timestamp_t *))

static void functions_have_their_prototypes(void **state)
{
    (void)state;
#define X(result, name, parameters)                                                                \
    {                                                                                              \
        result(*pointer) parameters = name;                                                        \
        assert_non_null((const void *)(size_t)pointer);                                            \
    }
    FUNCTIONS(X)
#undef X
}

/* A plugin's four functions; they are exported, and called as the tool does. */
static unsigned called;
int roctracer_plugin_initialize(uint32_t major, uint32_t minor)
{
    called += major == 4 && minor == 1;
    return 0;
}
void roctracer_plugin_finalize(void)
{
    called++;
}
int roctracer_plugin_write_callback_record(const roctracer_record_t *record, const void *data)
{
    called += record && data;
    return 0;
}
int roctracer_plugin_write_activity_records(const roctracer_record_t *begin,
                                            const roctracer_record_t *end)
{
    called += begin && end;
    return 0;
}

static void plugins_have_their_prototypes(void **state)
{
    roctracer_record_t record;
    (void)state;
    memset(&record, 0, sizeof record);
    assert_int_equal(roctracer_plugin_initialize(ROCTRACER_VERSION_MAJOR, ROCTRACER_VERSION_MINOR),
                     0);
    assert_int_equal(roctracer_plugin_write_callback_record(&record, &record), 0);
    assert_int_equal(roctracer_plugin_write_activity_records(&record, &record + 1), 0);
    roctracer_plugin_finalize();
    assert_int_equal(called, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statuses_have_their_values),
        cmocka_unit_test(macros_are_there),
        cmocka_unit_test(types_are_those_of_the_protocol),
        cmocka_unit_test(properties_have_their_members),
        cmocka_unit_test(functions_have_their_prototypes),
        cmocka_unit_test(plugins_have_their_prototypes),
    };
    return cmocka_run_group_tests_name("roctracer/declarations", tests, NULL, NULL);
}
