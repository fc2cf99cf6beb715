#include "launch/keys.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char expanded[PATH_MAX];

static const char *expand(const char *name)
{
    assert_int_equal(keys_expand(name, expanded, sizeof expanded), 0);
    return expanded;
}

static void every_spelling_of_a_key(void **state)
{
    char pid[32], host[256];
    (void)state;
    snprintf(pid, sizeof pid, "a%ldb", (long)getpid());
    assert_string_equal(expand("a%pid%b"), pid);
    assert_string_equal(expand("a{pid}b"), pid);
    snprintf(pid, sizeof pid, "a%ld_b", (long)getpid());
    assert_string_equal(expand("a%p_b"), pid);
    gethostname(host, sizeof host);
    assert_string_equal(expand("%hostname%"), host);
    assert_string_equal(expand("%h"), host);
    assert_string_equal(expand("%tag%"), "tool_keys_test");
    assert_string_equal(expand("%args%"), "");
    assert_string_equal(expand("%arg1%"), "");
    assert_string_equal(expand("%rank%/%size%"), "0/1");
    getcwd(host, sizeof host);
    assert_string_equal(expand("%cwd%"), host);
}

static void what_is_no_key_stays(void **state)
{
    static const char *const names[] = {"",          "%",    "%%", "100%",   "%pidx%", "{pid",
                                        "%nothing%", "$ENV", "%q", "%env{X", "%argx%"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_string_equal(expand(names[i]), names[i]);
}

static void variables(void **state)
{
    (void)state;
    setenv("KEYS_TEST", "v%pid%", 1); /* a value is not looked into */
    assert_string_equal(expand("%env{KEYS_TEST}%.$ENV{KEYS_TEST}.%q{KEYS_TEST}"),
                        "v%pid%.v%pid%.v%pid%");
    assert_string_equal(expand("a%q{KEYS_TEST_NONE}b"), "ab");
    setenv("OMPI_COMM_WORLD_RANK", "3", 1); /* without its size it says nothing */
    assert_string_equal(expand("%rank%"), "0");
    setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
    assert_string_equal(expand("%r.%s"), "3.8");
    assert_string_equal(expand("%nid%"), "3");
}

static void bounds(void **state)
{
    char small[4];
    (void)state;
    assert_int_equal(keys_expand("abc", small, sizeof small), 0);
    assert_int_equal(keys_expand("abcd", small, sizeof small), -ENAMETOOLONG);
    assert_int_equal(keys_expand("", small, 0), -EINVAL);
    assert_int_equal(keys_fixed_length("/a/b"), 4);
    assert_int_equal(keys_fixed_length("/a/%pid%/b"), 3);
    assert_int_equal(keys_fixed_length("100%/x"), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_of_a_key),
        cmocka_unit_test(what_is_no_key_stays),
        cmocka_unit_test(variables),
        cmocka_unit_test(bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
