#include "avail/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool matches(const char *pattern, const char *name)
{
    char message[128];
    struct match *match = match_create(pattern, message, sizeof message);
    assert_non_null(match);
    bool is = match_is(match, name);
    match_destroy(match);
    return is;
}

static void three_ways_to_write_a_pattern(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool is;
    } cases[] = {
        {"WAVES", "SQ_WAVES", true},
        {"waves", "SQ_WAVES_EQ_64", true},
        {"TCC", "SQ_WAVES", false},
        {"SQ_*", "SQ_WAVES", true},
        {"sq_wave?", "SQ_WAVES", true},
        {"SQ_*", "TCC_SQ_", false},
        {"*WAVES", "SQ_WAVES", true},
        {"*WAVES", "SQ_WAVES_EQ_64", false},
        {"^TCC_(HIT|MISS)$", "TCC_MISS", true},
        {"tcc_(hit|miss)", "TCC_HIT_sum", true},
        {"^TCC_(HIT|MISS)$", "TCC_MISS_sum", false},
        {"", "SQ_WAVES", true},
        {"[ST]Q_*", "SQ_WAVES", true},
        {"[TR]Q_*", "SQ_WAVES", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (matches(cases[i].pattern, cases[i].name) != cases[i].is)
            fail_msg("%s against %s", cases[i].pattern, cases[i].name);
}

static void what_is_no_pattern(void **state)
{
    char message[128] = "";
    (void)state;
    assert_null(match_create("a(b", message, sizeof message));
    assert_non_null(strstr(message, "at character"));
    match_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_ways_to_write_a_pattern),
        cmocka_unit_test(what_is_no_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
