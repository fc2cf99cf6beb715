/* Numbers of streams against a list that this test keeps: places are shared by handles that fall on
 * one, and streams come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/test/children.h"

#include "intercept/hip/streams.h"
#include "intercept/hsa/test/trace_double.h"

#define CALL(function) ROCPROFILER_HIP_RUNTIME_API_ID_##function

enum { PLACES = 4096, LIVE = 3500, HANDLES = 5000, STEPS = 40000 };

static struct {
    uint64_t number; /* 0: no such stream */
} known[HANDLES];
static uint64_t newest;

/* As malloc gives them: some 16 bytes apart and some far. */
static hipStream_t handle_of(unsigned i)
{
    return (hipStream_t)(uintptr_t)(0x7f0000001000u + (uint64_t)i * (i % 2 ? 16 : 0x10010));
}

static int32_t listened = -1; /* the operation, -1: all */

static bool call(struct hip_stream_scope *scope, int32_t operation,
                 const rocprofiler_hip_api_args_t *args)
{
    double_reset();
    double_listen(TRACE_HIP_STREAM, listened);
    memset(scope, 0, sizeof *scope);
    hip_stream_enter(scope, operation, args);
    bool found = scope->wanted;
    hip_stream_exit(scope, operation, args, true);
    return found;
}

static uint64_t create(unsigned i)
{
    struct hip_stream_scope scope;
    hipStream_t made = handle_of(i);
    rocprofiler_hip_api_args_t args = {.hipStreamCreate.stream = &made};
    assert_true(call(&scope, CALL(hipStreamCreate), &args));
    return scope.data.stream_id.handle;
}

static uint64_t use(unsigned i)
{
    struct hip_stream_scope scope;
    rocprofiler_hip_api_args_t args = {.hipStreamSynchronize.stream = handle_of(i)};
    return call(&scope, CALL(hipStreamSynchronize), &args) ? scope.data.stream_id.handle
                                                           : UINT64_MAX;
}

static uint64_t destroy(unsigned i)
{
    struct hip_stream_scope scope;
    rocprofiler_hip_api_args_t args = {.hipStreamDestroy.stream = handle_of(i)};
    assert_true(call(&scope, CALL(hipStreamDestroy), &args));
    return scope.data.stream_id.handle;
}

static void create_checked(unsigned i)
{
    known[i].number = create(i);
    assert_int_equal(known[i].number, ++newest);
}

static void a_number_for_each_while_it_lives(void **state)
{
    uint64_t random = 88172645463325252u;
    unsigned live = 0;
    (void)state;
    for (unsigned step = 0; step < STEPS; step++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        unsigned i = (unsigned)(random % HANDLES);
        if (known[i].number) {
            assert_int_equal(use(i), known[i].number);
            if (random >> 60 == 0) {
                assert_int_equal(destroy(i), known[i].number);
                known[i].number = 0;
                live--;
            }
        } else if (live < LIVE) {
            create_checked(i);
            live++;
        }
    }
    for (unsigned i = 0; i < HANDLES; i++)
        if (known[i].number)
            assert_int_equal(use(i), known[i].number);
}

static void the_null_stream_is_zero(void **state)
{
    struct hip_stream_scope scope;
    rocprofiler_hip_api_args_t args = {.hipStreamSynchronize.stream = NULL};
    (void)state;
    assert_true(call(&scope, CALL(hipStreamSynchronize), &args));
    assert_int_equal(scope.data.stream_id.handle, 0);
}

/* One that nobody saw made gets a number with its first call. */
static void one_too_many_has_none(void **state)
{
    unsigned live = 0, i = 0;
    (void)state;
    for (i = 0; i < HANDLES; i++)
        live += known[i].number != 0;
    for (i = 0; live < PLACES; i++)
        if (!known[i].number) {
            known[i].number = use(i);
            assert_int_equal(known[i].number, ++newest);
            live++;
        }
    while (known[i].number)
        i++;
    assert_int_equal(use(i), UINT64_MAX);
    destroy(0);
    assert_int_equal(use(i), ++newest);
    assert_int_equal(use(1), known[1].number);
}

/* Who hears of uses only hears of the right stream, too, where HIP puts one in another's place. */
static void ends_count_while_nobody_hears_of_them(void **state)
{
    struct hip_stream_scope scope;
    hipStream_t made = handle_of(1);
    rocprofiler_hip_api_args_t make = {.hipStreamCreate.stream = &made},
                               end = {.hipStreamDestroy.stream = made};
    (void)state;
    listened = ROCPROFILER_HIP_STREAM_SET;
    uint64_t first = use(1);
    call(&scope, CALL(hipStreamDestroy), &end);
    call(&scope, CALL(hipStreamCreate), &make);
    assert_int_not_equal(use(1), first);
    assert_true(hip_stream_is_configured(CALL(hipStreamCreate)));
    assert_true(hip_stream_is_configured(CALL(hipStreamDestroy)));
    double_reset();
    assert_false(hip_stream_is_wanted(CALL(hipStreamDestroy)));
    listened = -1;
}

static void stream_come_and_go(void *unused)
{
    enum { STREAM = 1 };
    (void)unused;
    use(STREAM);
    destroy(STREAM);
}

static void children_have_streams(void **state)
{
    (void)state;
    children_take_turns(stream_come_and_go, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_for_each_while_it_lives),
        cmocka_unit_test(the_null_stream_is_zero),
        cmocka_unit_test(one_too_many_has_none),
        cmocka_unit_test(ends_count_while_nobody_hears_of_them),
        cmocka_unit_test(children_have_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
