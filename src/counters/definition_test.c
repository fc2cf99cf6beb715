#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters/definition.h"

static int load(struct definition_set *set, const char *text)
{
    return definitions_load_yaml(set, "test.yaml", text, strlen(text));
}

static void spec_schema_test(void **state)
{
    struct definition_set *set = definitions_create();
    (void)state;
    assert_int_equal(load(set, "SQ_WAVES:\n"
                               "  architectures:\n"
                               "    gfx90a/gfx942:\n"
                               "      block: SQ\n"
                               "      event: 4\n"
                               "      description: only here\n"
                               "    gfx10:\n"
                               "      expression: 2*OTHER\n"
                               "  description: Waves.\n"),
                     0);
    const struct counter_definition *d = definition_find(set, "SQ_WAVES", "gfx942");
    assert_non_null(d);
    assert_string_equal(d->block, "SQ");
    assert_int_equal(d->event, 4);
    assert_string_equal(d->description, "only here");
    assert_null(d->expression);
    d = definition_find(set, "SQ_WAVES", "gfx10");
    assert_non_null(d);
    assert_string_equal(d->expression, "2*OTHER");
    assert_string_equal(d->description, "Waves.");
    assert_null(definition_find(set, "SQ_WAVES", "gfx9"));
    assert_null(definition_find(set, "SQ_WAVES", "gfx90a/gfx942"));
    definitions_destroy(set);
}

static void schema_1_test(void **state)
{
    struct definition_set *set = definitions_create();
    (void)state;
    assert_int_equal(load(set, "rocprofiler-sdk:\n"
                               "  counters-schema-version: 1\n"
                               "  counters:\n"
                               "  - name: TCC_HIT\n"
                               "    description: Hits.\n"
                               "    properties: []\n"
                               "    definitions:\n"
                               "    - architectures: [gfx90a, gfx908]\n"
                               "      block: TCC\n"
                               "      event: 17\n"
                               "    - architectures: [gfx906]\n"
                               "      expression: reduce(X,sum)\n"),
                     0);
    assert_int_equal(definition_find(set, "TCC_HIT", "gfx908")->event, 17);
    assert_string_equal(definition_find(set, "TCC_HIT", "gfx906")->expression, "reduce(X,sum)");
    definitions_destroy(set);
}

/* Names with an instance's number, as rocprof-compute writes them. */
static void instance_name_test(void **state)
{
    struct definition_set *set = definitions_create();
    (void)state;
    assert_int_equal(load(set, "TCC_EA0_RDREQ[100]:\n"
                               "  architectures:\n"
                               "    gfx950:\n"
                               "      expression: select(TCC_EA0_RDREQ,[DIMENSION_XCC=[6], "
                               "DIMENSION_INSTANCE=[4]])\n"
                               "  description: TCC_EA0_RDREQ on 6th XCC and 4th channel\n"),
                     0);
    assert_string_equal(definition_find(set, "TCC_EA0_RDREQ[100]", "gfx950")->expression,
                        "select(TCC_EA0_RDREQ,[DIMENSION_XCC=[6], DIMENSION_INSTANCE=[4]])");
    static const char *const bad[] = {"A[]", "A[1", "A[x]", "A[1]B", "A[1][2]", "[1]", "A]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[120];
        snprintf(text, sizeof text, "\"%s\": {architectures: {gfx950: {block: TCC, event: 1}}}\n",
                 bad[i]);
        assert_int_equal(load(set, text), 1);
    }
    definitions_destroy(set);
}

/* As many architectures as 1023 letters take; a letter more is told of. */
static void long_list_test(void **state)
{
    enum { LETTERS = 1023 };
    char list[LETTERS + 2], text[LETTERS + 200];
    (void)state;
    for (int more = 0; more <= 1; more++) {
        struct definition_set *set = definitions_create();
        memset(list, 'x', LETTERS + 1);
        memcpy(list, "gfx90a/", 7);
        list[LETTERS + more] = 0;
        snprintf(text, sizeof text, "A: {architectures: {? \"%s\" : {block: SQ, event: 1}}}\n",
                 list);
        assert_int_equal(load(set, text), more);
        if (more)
            assert_non_null(strstr(definitions_problem(set), "too long"));
        else
            assert_int_equal(definition_find(set, "A", "gfx90a")->event, 1);
        definitions_destroy(set);
    }
}

/* The rest of a file stays usable, and the message says where and what. */
static void problem_test(void **state)
{
    static const struct {
        const char *text, *message;
        int problems;
    } bad[] = {
        {"A: {architectures: {gfx90a: {block: SQ}}}\n",
         "test.yaml:1:29: A: has a block but no event", 1},
        {"A: {architectures: {gfx90a: {block: SQ, event: many}}}\n",
         "test.yaml:1:48: A: event 'many' is not a number", 1},
        {"A: {architectures: {gfx90a: {block: SQ, event: -4}}}\n", "event '-4' is not a number", 1},
        {"A: {architectures: {gfx90a: {block: SQ, event: 1, expression: B}}}\n",
         "has an expression and a block", 1},
        {"A: {architectures: {gfx90a: {description: x}}}\n", "has neither", 1},
        {"A: {architectures: {gfx90a: {block: SQ, event: 1, colour: red}}}\n",
         "unknown key 'colour'", 1},
        {"A: {architectures: {gfx90a: {block: SQ, event: 1}}, colour: red}\n",
         "test.yaml:1:53: A: unknown key 'colour'", 1},
        {"A: 3\n", "test.yaml:1:4: A: architectures expected", 1},
        {"A: {description: x}\n", "architectures expected", 1},
        {"'A B': {architectures: {gfx90a: {block: SQ, event: 1}}}\n", "letters, digits", 1},
        {"- a\n- b\n", "counter names expected", -1},
        {"A: [unclosed\n", "test.yaml:", -1},
        {"rocprofiler-sdk: {counters-schema-version: 7, counters: []}\n", "version 1 expected", 1},
        {"rocprofiler-sdk: {counters-schema-version: 1, counters: [{name: A}]}\n",
         "A: a list of definitions expected", 1},
        {"rocprofiler-sdk: {counters-schema-version: 1, counters: [3]}\n", "expected", 1},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct definition_set *set = definitions_create();
        int problems = load(set, bad[i].text);
        if (problems != bad[i].problems || !strstr(definitions_problem(set), bad[i].message))
            fail_msg("%s: %d, '%s'", bad[i].text, problems, definitions_problem(set));
        assert_int_equal(load(set, "GOOD: {architectures: {gfx90a: {block: SQ, event: 1}}}\n"), 0);
        assert_non_null(definition_find(set, "GOOD", "gfx90a"));
        definitions_destroy(set);
    }
    struct definition_set *set = definitions_create();
    assert_int_equal(definitions_load_file(set, "/nonexistent/counters.yaml"), -1);
    assert_non_null(strstr(definitions_problem(set), "/nonexistent/counters.yaml: cannot be read"));
    definitions_destroy(set);
}

static void replacement_test(void **state)
{
    struct definition_set *set = definitions_create();
    (void)state;
    assert_int_equal(
        load(set, "A: {architectures: {gfx906/gfx90a/gfx942: {block: SQ, event: 1}}}\n"), 0);
    assert_int_equal(load(set, "A: {architectures: {gfx90a: {block: SQ, event: 2}}}\n"), 0);
    assert_int_equal(definition_find(set, "A", "gfx90a")->event, 2);
    assert_int_equal(definition_find(set, "A", "gfx906")->event, 1);
    assert_int_equal(definition_find(set, "A", "gfx942")->event, 1);
    definitions_destroy(set);
}

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The compiled-in set is the YAML, row by row. */
static void builtin_test(void **state)
{
    struct definition_set *builtin = definitions_create(), *yaml = definitions_create();
    uint32_t builtin_count, yaml_count;
    (void)state;
    assert_int_equal(definitions_add_builtin(builtin), 0);
    assert_int_equal(definitions_load_file(yaml, CROC_DEFINITIONS "/basic.yaml"), 0);
    assert_int_equal(definitions_load_file(yaml, CROC_DEFINITIONS "/derived.yaml"), 0);
    const struct counter_definition *a = definitions_all(builtin, &builtin_count);
    const struct counter_definition *b = definitions_all(yaml, &yaml_count);
    assert_int_equal(builtin_count, yaml_count);
    assert_true(builtin_count > 700);
    for (uint32_t i = 0; i < builtin_count; i++) {
        assert_string_equal(a[i].name, b[i].name);
        assert_string_equal(a[i].architectures, b[i].architectures);
        assert_true(same_text(a[i].block, b[i].block));
        assert_true(same_text(a[i].expression, b[i].expression));
        assert_string_equal(a[i].description, b[i].description);
        assert_int_equal(a[i].event, b[i].event);
        assert_true(b[i].description[0] != '\0');
    }
    definitions_destroy(builtin);
    definitions_destroy(yaml);
}

int main(void)
{
    setenv("CROC_LOG_LEVEL", "error", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spec_schema_test),   cmocka_unit_test(schema_1_test),
        cmocka_unit_test(instance_name_test), cmocka_unit_test(long_list_test),
        cmocka_unit_test(problem_test),       cmocka_unit_test(replacement_test),
        cmocka_unit_test(builtin_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
