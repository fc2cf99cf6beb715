#include "cli/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct cli_options options;
static char message[200];

static int parse(char **argv)
{
    int argc = 0;
    while (argv[argc])
        argc++;
    return cli_options_parse(&options, argc, argv, message, sizeof message);
}
#define PARSE(...) parse((char *[]){"crocprof", __VA_ARGS__, NULL})

static void the_program_keeps_its_own_options(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-e", "SQ_WAVES,TCC_HIT", "./app", "-o", "x", "--help"), 0);
    assert_int_equal(options.command, CLI_RUN);
    assert_string_equal(options.settings.counters, "SQ_WAVES,TCC_HIT");
    assert_null(options.settings.directory);
    assert_string_equal(options.program[0], "./app");
    assert_string_equal(options.program[3], "--help");
}

static void every_spelling_of_a_value(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-eA", "--output-directory=out", "--format", "csv", "--", "list"), 0);
    assert_string_equal(options.settings.counters, "A");
    assert_string_equal(options.settings.directory, "out");
    assert_string_equal(options.settings.formats, "csv");
    assert_string_equal(options.program[0], "list"); /* after --, a program */
}

static void switches(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--hsa-trace", "--no-hip-trace", "true"), 0);
    assert_true(options.settings.hsa_trace);
    assert_false(options.settings.hip_trace);
    assert_true(options.settings.kernel_trace);
    assert_int_equal(PARSE("list"), 0);
    assert_int_equal(options.command, CLI_LIST);
    assert_int_equal(PARSE("list", "gfx90a"), -EINVAL);
}

static void wrong_lines_say_what_is_wrong(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--nonsense", "true"), -EINVAL);
    assert_string_equal(message, "unknown option --nonsense (see crocprof --help)");
    assert_int_equal(PARSE("-e"), -EINVAL);
    assert_string_equal(message, "--pmc needs a value");
    assert_int_equal(PARSE("--pmc=", "true"), -EINVAL);
    assert_int_equal(PARSE("--hsa-trace"), -EINVAL);
    assert_string_equal(message, "which program? (see crocprof --help)");
}

static void settings_travel_through_the_environment(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-e", "A,B", "--hsa-trace", "--no-summary", "true"), 0);
    assert_int_equal(settings_to_environment(&options.settings), 0);
    struct settings arrived;
    settings_from_environment(&arrived);
    assert_string_equal(arrived.counters, "A,B");
    assert_true(arrived.hsa_trace);
    assert_false(arrived.summary);
    assert_null(arrived.directory);
}

static void lists(void **state)
{
    (void)state;
    const char *list = " A,,BB C,";
    char item[3];
    assert_true(settings_list_next(&list, item, sizeof item));
    assert_string_equal(item, "A");
    assert_true(settings_list_next(&list, item, sizeof item));
    assert_string_equal(item, "BB");
    assert_true(settings_list_next(&list, item, sizeof item));
    assert_string_equal(item, "C");
    assert_false(settings_list_next(&list, item, sizeof item));
    list = "toolong";
    assert_true(settings_list_next(&list, item, sizeof item));
    assert_string_equal(item, "to");
    assert_false(settings_list_next(&list, item, sizeof item));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_keeps_its_own_options),
        cmocka_unit_test(every_spelling_of_a_value),
        cmocka_unit_test(switches),
        cmocka_unit_test(wrong_lines_say_what_is_wrong),
        cmocka_unit_test(settings_travel_through_the_environment),
        cmocka_unit_test(lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
