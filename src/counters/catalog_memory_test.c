/* A catalog for which there is no memory: nothing, at whatever place it ran out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters/test/agent_double.h"

/* How many allocations are left; the catalog's own code, compiled once more, asks here. */
static int allocations_left;

static void *calloc_or_not(size_t count, size_t size)
{
    return allocations_left-- > 0 ? calloc(count, size) : NULL;
}

static char *strdup_or_not(const char *text)
{
    return allocations_left-- > 0 ? strdup(text) : NULL;
}

#define calloc calloc_or_not
#define strdup strdup_or_not
#include "counters/catalog.c"
#undef calloc
#undef strdup

static void each_allocation_may_fail(void **state)
{
    struct definition_set *set = definitions_create();
    struct catalog *catalog = NULL;
    int failures = -1;
    (void)state;
    assert_int_equal(definitions_add_builtin(set), 0);
    while (!catalog) {
        allocations_left = ++failures;
        catalog = catalog_create(set, &test_agent, 1);
    }
    assert_true(failures > 10);
    assert_non_null(catalog_find(catalog, "SQ_WAVES"));
    assert_int_equal(catalog_problem_count(catalog), 0);
    catalog_destroy(catalog);
    definitions_destroy(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
