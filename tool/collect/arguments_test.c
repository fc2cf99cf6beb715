#include "arguments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What the SDK says of the call, in its place. */
static const char *values[32];
static unsigned value_count;

rocprofiler_status_t rocprofiler_iterate_buffer_tracing_record_args(
    rocprofiler_record_header_t header, rocprofiler_buffer_tracing_operation_args_cb_t callback,
    void *user_data)
{
    (void)header;
    for (uint32_t i = 0; i < value_count; i++)
        if (callback(ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT, 0, i, NULL, 1, "const char *",
                     "text", values[i], user_data))
            break;
    return ROCPROFILER_STATUS_SUCCESS;
}

static struct arguments arguments;

static struct out_api_row taken(void)
{
    static rocprofiler_buffer_tracing_hip_api_ext_record_t call = {.retval.uint64_t_retval = 7};
    const rocprofiler_record_header_t header = {.category = ROCPROFILER_BUFFER_CATEGORY_TRACING,
                                                .kind =
                                                    ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT,
                                                .payload = &call};
    struct out_api_row row = {.domain = "HIP"};
    arguments_take(&header, &arguments, &row);
    return row;
}

static char *text_of(const char *character, size_t times)
{
    char *text = calloc(times, strlen(character) + 1);
    assert_non_null(text);
    for (size_t i = 0; i < times; i++)
        strcat(text, character);
    return text;
}

static void a_long_text_is_cut_between_characters(void **state)
{
    (void)state;
    /* 512 bytes fit; 171 of three bytes are 513, and 170 of them 510 */
    char *whole = text_of("x", 512), *wide = text_of("\xe2\x82\xac", 171);
    values[0] = whole;
    values[1] = wide;
    value_count = 2;
    struct out_api_row row = taken();
    struct out_argument argument;
    uint32_t at = 0;
    assert_true(out_argument_next(&row, &at, &argument));
    assert_string_equal(argument.type, "const char *");
    assert_string_equal(argument.name, "text");
    assert_string_equal(argument.value, whole);
    assert_true(out_argument_next(&row, &at, &argument));
    assert_int_equal(strlen(argument.value), 510 + 3);
    assert_memory_equal(argument.value, wide, 510);
    assert_string_equal(argument.value + 510, "...");
    assert_false(out_argument_next(&row, &at, &argument));
    assert_true(row.has_result);
    assert_int_equal(row.result, 7);
    free(whole);
    free(wide);
}

/* Each takes 13 and 5 bytes for type and name, and 513 for the value: 7 of them fit into 4096. */
static void what_does_not_fit_is_counted(void **state)
{
    (void)state;
    char *whole = text_of("y", 512);
    for (unsigned i = 0; i < 32; i++)
        values[i] = whole;
    const uint64_t before = arguments.calls_cut;
    for (value_count = 6; value_count <= 9; value_count++) {
        struct out_api_row row = taken();
        struct out_argument argument;
        uint32_t at = 0, count = 0;
        while (out_argument_next(&row, &at, &argument))
            count++;
        assert_int_equal(count, value_count < 7 ? value_count : 7);
    }
    assert_int_equal(arguments.calls_cut - before, 2);
    value_count = 1;
    taken();
    assert_int_equal(arguments.calls_cut - before, 2);
    free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_long_text_is_cut_between_characters),
                                       cmocka_unit_test(what_does_not_fit_is_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
