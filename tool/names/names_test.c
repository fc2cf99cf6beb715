#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "names/demangle.h"

static void texts_have_one_number_each(void **state)
{
    (void)state;
    struct texts texts = {0};
    bool is_new;
    char text[16];
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "t%u", i);
        assert_int_equal(texts_id(&texts, text, &is_new), i + 1);
        assert_true(is_new);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "t%u", i);
        assert_int_equal(texts_id(&texts, text, &is_new), i + 1);
        assert_false(is_new);
    }
    const char *kept = texts_keep(&texts, "t7");
    assert_string_equal(kept, "t7");
    assert_ptr_equal(texts_keep(&texts, "t7"), kept);
    assert_string_equal(texts_keep(&texts, "new"), "new");
    assert_int_equal(texts_id(&texts, "new", &is_new), 5001);
    texts_free(&texts);
}

static void demangles_to(const char *symbol, const char *expected)
{
    char *name = name_demangle(symbol);
    assert_string_equal(name, expected);
    free(name);
}

static void symbols_of_cxx_become_readable(void **state)
{
    (void)state;
    assert_non_null(dlopen("libstdc++.so.6", RTLD_NOW)); /* as in a HIP program */
    demangles_to("_Z6vectorPfi", "vector(float*, int)");
    demangles_to("_Z6vectorPfi.kd", "vector(float*, int)");
    demangles_to("plain_c.kd", "plain_c");
    demangles_to(".kd", ".kd");
    demangles_to("_Zgarbage", "_Zgarbage");
    demangles_to("f", "f"); /* a symbol, not the type that this mangles */
}

static void short_is(const char *pretty, const char *expected)
{
    size_t length;
    const char *name = name_short(pretty, &length);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(name, expected, length);
}

static void the_bare_name_is_found(void **state)
{
    (void)state;
    short_is("vector(float*, int)", "vector");
    short_is("void a::b::f<int, g(3)>(float*, int (*)(char [4]))", "f");
    short_is("f(int) [clone .kd]", "f");
    short_is("plain_c", "plain_c");
    short_is("f(unbalanced", "f(unbalanced");
    short_is("unbalanced)", "unbalanced)");
    short_is("", "");
    short_is("()", "");
    short_is("  ", "");
}

static void demangled_names_are_remembered(void **state)
{
    (void)state;
    struct demangled names = {0};
    const char *first = demangled_name(&names, "_Z1fv");
    assert_string_equal(first, "f()");
    char symbol[32];
    for (int i = 0; i < 1000; i++) {
        snprintf(symbol, sizeof symbol, "kernel%d", i);
        assert_string_equal(demangled_name(&names, symbol), symbol);
    }
    assert_ptr_equal(demangled_name(&names, "_Z1fv"), first);
    demangled_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_have_one_number_each),
        cmocka_unit_test(symbols_of_cxx_become_readable),
        cmocka_unit_test(the_bare_name_is_found),
        cmocka_unit_test(demangled_names_are_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
