/* What the test programs of this folder share. */
#ifndef CONFORMANCE_ROCTRACER_COMMON_H
#define CONFORMANCE_ROCTRACER_COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>
#include <hsa/hsa.h>
#include <roctracer/roctracer.h>
#include <roctracer/roctracer_ext.h>
#include <roctracer/roctracer_hsa.h>
#include <roctracer/roctracer_roctx.h>

#define OK(call)         assert_int_equal((call), ROCTRACER_STATUS_SUCCESS)
#define FAILS(how, call) assert_int_equal((call), ROCTRACER_STATUS_ERROR_##how)

#define ROCTRACER_FUNCTIONS(X)                                                                     \
    X(OnLoad)                                                                                      \
    X(OnUnload)                                                                                    \
    X(roctracer_activity_pop_external_correlation_id)                                              \
    X(roctracer_activity_push_external_correlation_id)                                             \
    X(roctracer_close_pool)                                                                        \
    X(roctracer_close_pool_expl)                                                                   \
    X(roctracer_default_pool)                                                                      \
    X(roctracer_default_pool_expl)                                                                 \
    X(roctracer_disable_activity)                                                                  \
    X(roctracer_disable_callback)                                                                  \
    X(roctracer_disable_domain_activity)                                                           \
    X(roctracer_disable_domain_callback)                                                           \
    X(roctracer_disable_op_activity)                                                               \
    X(roctracer_disable_op_callback)                                                               \
    X(roctracer_enable_activity)                                                                   \
    X(roctracer_enable_activity_expl)                                                              \
    X(roctracer_enable_callback)                                                                   \
    X(roctracer_enable_domain_activity)                                                            \
    X(roctracer_enable_domain_activity_expl)                                                       \
    X(roctracer_enable_domain_callback)                                                            \
    X(roctracer_enable_op_activity)                                                                \
    X(roctracer_enable_op_activity_expl)                                                           \
    X(roctracer_enable_op_callback)                                                                \
    X(roctracer_error_string)                                                                      \
    X(roctracer_flush_activity)                                                                    \
    X(roctracer_flush_activity_expl)                                                               \
    X(roctracer_flush_buf)                                                                         \
    X(roctracer_get_timestamp)                                                                     \
    X(roctracer_load)                                                                              \
    X(roctracer_mark)                                                                              \
    X(roctracer_next_record)                                                                       \
    X(roctracer_op_code)                                                                           \
    X(roctracer_op_string)                                                                         \
    X(roctracer_open_pool)                                                                         \
    X(roctracer_open_pool_expl)                                                                    \
    X(roctracer_set_properties)                                                                    \
    X(roctracer_start)                                                                             \
    X(roctracer_stop)                                                                              \
    X(roctracer_unload)                                                                            \
    X(roctracer_version_major)                                                                     \
    X(roctracer_version_minor)

/* A pool that keeps what it is given. */
enum { CATCH_MAX = 4096 };
struct catch
{
    roctracer_pool_t *pool;
    roctracer_record_t records[CATCH_MAX];
    _Atomic unsigned count; /* all, also beyond CATCH_MAX */
    _Atomic unsigned calls;
    _Atomic long thread; /* that the callback ran on */
    const char *begin, *end;
};

static inline void catch_records(const char *begin, const char *end, void *arg)
{
    struct catch *c = arg;
    const roctracer_record_t *record = (const roctracer_record_t *)(const void *)begin;
    c->begin = begin;
    c->end = end;
    c->thread = syscall(SYS_gettid);
    while (record != (const roctracer_record_t *)(const void *)end) {
        if (c->count < CATCH_MAX)
            c->records[c->count] = *record;
        c->count++;
        OK(roctracer_next_record(record, &record));
    }
    c->calls++;
}

static inline void catch_open(struct catch *c, size_t buffer_size)
{
    memset(c, 0, sizeof *c);
    roctracer_properties_t properties = {
        .buffer_size = buffer_size, .buffer_callback_fun = catch_records, .buffer_callback_arg = c};
    OK(roctracer_open_pool_expl(&properties, &c->pool));
    assert_non_null(c->pool);
}

static inline int with_runtime(const struct CMUnitTest *tests, size_t count)
{
    if (hsa_init() != HSA_STATUS_SUCCESS)
        return 1;
    int failed = _cmocka_run_group_tests("roctracer", tests, count, NULL, NULL);
    hsa_shut_down();
    return failed;
}

#endif
