#include "base/environment.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static bool change(const char *name, const char *value)
{
    return environment_change(&(struct environment_variable){name, value}, 1);
}

static void variables_come_change_and_go(void **state)
{
    (void)state;
    assert_true(change("CROC_ONE", "1"));
    assert_string_equal(getenv("CROC_ONE"), "1");
    assert_true(change("CROC_ONE", "=2="));
    assert_string_equal(getenv("CROC_ONE"), "=2=");
    assert_true(change("CROC_ON", ""));
    assert_string_equal(getenv("CROC_ON"), "");
    assert_string_equal(getenv("CROC_ONE"), "=2=");
    assert_true(change("CROC_ONE", NULL));
    assert_null(getenv("CROC_ONE"));
    assert_non_null(getenv("CROC_ON"));
    assert_true(change("CROC_ONE", NULL));
}

static void the_last_of_a_name_wins(void **state)
{
    (void)state;
    const struct environment_variable both[] = {{"CROC_A", "1"}, {"CROC_B", "b"}, {"CROC_A", "2"}};
    assert_true(environment_change(both, 3));
    assert_string_equal(getenv("CROC_A"), "2");
    assert_string_equal(getenv("CROC_B"), "b");
}

static void what_is_so_already_costs_nothing(void **state)
{
    (void)state;
    assert_true(change("CROC_SAME", "x"));
    char **before = environ;
    assert_true(change("CROC_SAME", "x"));
    assert_ptr_equal(environ, before);
}

static void the_program_goes_on_setting_its_own(void **state)
{
    (void)state;
    assert_int_equal(setenv("CROC_PROGRAM", "before", 1), 0);
    assert_true(change("CROC_OURS", "1"));
    assert_int_equal(setenv("CROC_PROGRAM", "after", 1), 0);
    assert_string_equal(getenv("CROC_OURS"), "1");
    assert_true(change("CROC_OURS", "2"));
    assert_string_equal(getenv("CROC_PROGRAM"), "after");
    assert_int_equal(unsetenv("CROC_OURS"), 0);
    assert_null(getenv("CROC_OURS"));
}

static void an_empty_environment_is_one(void **state)
{
    (void)state;
    char **before = environ;
    environ = NULL;
    assert_true(change("CROC_FIRST", "1"));
    assert_string_equal(getenv("CROC_FIRST"), "1");
    environ = before;
}

static void switches_have_many_names(void **state)
{
    (void)state;
    static const char *const off[] = {"0", "off", "FALSE", "No"};
    static const char *const on[] = {"1", "yes", "00", "-1", "offline"};
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        assert_true(change("CROC_SWITCH", off[i]));
        assert_false(environment_flag("CROC_SWITCH", true));
    }
    for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
        assert_true(change("CROC_SWITCH", on[i]));
        assert_true(environment_flag("CROC_SWITCH", false));
    }
    for (int otherwise = 0; otherwise < 2; otherwise++) {
        assert_true(change("CROC_SWITCH", ""));
        assert_int_equal(environment_flag("CROC_SWITCH", otherwise), otherwise);
        assert_true(change("CROC_SWITCH", NULL));
        assert_int_equal(environment_flag("CROC_SWITCH", otherwise), otherwise);
    }
}

static atomic_bool stop;
static atomic_uint bad;

static void *reader(void *arg)
{
    (void)arg;
    while (!stop) {
        const char *value = getenv("CROC_RACE");
        bad += !value || strspn(value, "0123456789") != strlen(value);
        bad += !getenv("CROC_LAST");
    }
    return NULL;
}

static void readers_never_see_a_hole(void **state)
{
    (void)state;
    pthread_t threads[3];
    char text[32];
    const struct environment_variable both[] = {{"CROC_RACE", "0"}, {"CROC_LAST", "x"}};
    assert_true(environment_change(both, 2));
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, reader, NULL);
    for (int i = 1; i < 2000; i++) {
        snprintf(text, sizeof text, "%d", i * 12345);
        assert_true(change("CROC_RACE", text));
    }
    stop = true;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_come_change_and_go),
        cmocka_unit_test(the_last_of_a_name_wins),
        cmocka_unit_test(what_is_so_already_costs_nothing),
        cmocka_unit_test(the_program_goes_on_setting_its_own),
        cmocka_unit_test(an_empty_environment_is_one),
        cmocka_unit_test(switches_have_many_names),
        cmocka_unit_test(readers_never_see_a_hole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
