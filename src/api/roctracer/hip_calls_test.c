/* HIP_API callbacks of calls that were seen in tables: a function that no known release lays out is
 * told of once, and its callback is not called with arguments that nobody knows. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hip_calls.c" /* its fail() is another one than cmocka's */

#include <cmocka.h>

/* The engine, as far as it is asked. */
enum { WORD_AT = 64, FUNCTION = 33 };
static bool is_known;

static uint32_t data_write(enum trace_domain domain, int32_t operation,
                           const rocprofiler_hip_api_args_t *args, void *data)
{
    (void)domain, (void)operation, (void)args;
    memset(data, 0, WORD_AT + sizeof(uint64_t));
    return is_known ? WORD_AT : 0;
}

static const char *name_of(enum trace_domain domain, int32_t operation)
{
    (void)domain;
    return operation == FUNCTION ? "hipNewer" : "hipOther";
}

const struct crocprof_engine *crocprof_engine(void)
{
    static const struct hip_facts facts = {.data_write = data_write};
    static const struct crocprof_engine functions = {
        .size = sizeof functions, .operation_name = name_of, .hip_facts = &facts};
    return &functions;
}

bool registration_is_current(uint32_t domain, uint32_t op, const struct registration *registration)
{
    (void)registration;
    return domain == ACTIVITY_DOMAIN_HIP_API && op == FUNCTION;
}

uint32_t hip_function_of(enum trace_domain domain, int32_t operation)
{
    (void)domain;
    return (uint32_t)operation;
}

static int called;
static void callback(uint32_t domain, uint32_t id, const void *data, void *arg)
{
    const struct hip_data *call = data;
    uint64_t *word;
    memcpy(&word, (const char *)data + WORD_AT, sizeof word);
    assert_int_equal(domain, ACTIVITY_DOMAIN_HIP_API);
    assert_int_equal(id, FUNCTION);
    assert_int_equal(call->correlation_id, 7);
    *word = 5;
    ++*(int *)arg;
}

/* One call of a function; what was written to stderr meanwhile, in `said`. */
static void call_made(int32_t operation, char said[400])
{
    static const struct trace_set set;
    const struct registration registration = {.callback = callback, .arg = &called};
    rocprofiler_callback_tracing_hip_api_data_t payload = {.size = sizeof payload};
    struct trace_frame frame = {.set = &set, .payload = &payload, .internal = 7};
    rocprofiler_user_data_t user_data = {.value = 0};
    int ends[2], before = dup(STDERR_FILENO);
    frame.operation = operation;
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    dup2(ends[1], STDERR_FILENO);
    hip_table_call_listener(&frame, &user_data, ROCPROFILER_CALLBACK_PHASE_ENTER,
                            (void *)(uintptr_t)&registration);
    dup2(before, STDERR_FILENO);
    ssize_t bytes = read(ends[0], said, 399);
    said[bytes > 0 ? bytes : 0] = '\0';
    close(before);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(user_data.value, is_known && operation == FUNCTION ? 5 : 0);
}

static void what_no_release_lays_out_is_said_once(void **state)
{
    char said[400];
    (void)state;
    is_known = true;
    call_made(FUNCTION, said);
    assert_int_equal(called, 1);
    assert_string_equal(said, "");
    is_known = false;
    call_made(FUNCTION + 1, said); /* nobody listens to it */
    assert_string_equal(said, "");
    call_made(FUNCTION, said);
    assert_int_equal(called, 1);
    assert_non_null(strstr(said, "how hipNewer hands its arguments"));
    call_made(FUNCTION, said);
    assert_int_equal(called, 1);
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_no_release_lays_out_is_said_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
