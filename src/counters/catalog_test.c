#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <pthread.h>

#include "counters/test/agent_double.h"

static struct catalog *shipped_catalog(void)
{
    struct definition_set *set = definitions_create();
    assert_int_equal(definitions_add_builtin(set), 0);
    struct catalog *catalog = catalog_create(set, &test_agent, 1);
    definitions_destroy(set);
    assert_non_null(catalog);
    return catalog;
}

static void shipped_definitions_test(void **state)
{
    struct catalog *catalog = shipped_catalog();
    uint32_t count, kinds[3] = {0};
    (void)state;
    const struct counter *all = catalog_counters(catalog, &count);
    assert_int_equal(catalog_problem_count(catalog), 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(all[i].id, i + 1);
        assert_ptr_equal(catalog_find(catalog, all[i].name), &all[i]);
        assert_ptr_equal(catalog_find_id(catalog, all[i].id), &all[i]);
        kinds[all[i].kind]++;
    }
    assert_int_equal(kinds[COUNTER_CONSTANT], 5);
    /* What ROCprofiler-SDK 1.0 ships for gfx90a, and what rocprofiler-compute adds. */
    assert_int_equal(kinds[COUNTER_BASIC], 261 + 6);
    assert_int_equal(kinds[COUNTER_DERIVED], 212 + 8);
    assert_null(catalog_find_id(catalog, 0));
    assert_null(catalog_find_id(catalog, count + 1));
    assert_null(catalog_find(catalog, "NOT_A_COUNTER"));
    assert_int_equal(shape_count(counter_shape(catalog_find(catalog, "SQ_WAVES"))), 8);
    assert_int_equal(shape_count(counter_shape(catalog_find(catalog, "TCC_HIT"))), 32);
    assert_int_equal(shape_count(counter_shape(catalog_find(catalog, "TCC_HIT_sum"))), 1);
    catalog_destroy(catalog);
}

static uint32_t compiled_count(const struct catalog *catalog)
{
    uint32_t count, compiled = 0;
    const struct counter *all = catalog_counters(catalog, &count);
    for (uint32_t i = 0; i < count; i++)
        compiled += atomic_load_explicit(&all[i].compiled, memory_order_acquire) != NULL;
    return compiled;
}

enum { ASKING = 8 };
struct asking {
    pthread_barrier_t together;
    const struct catalog *catalog;
};

static void *ask(void *data)
{
    struct asking *asking = data;
    pthread_barrier_wait(&asking->together);
    return (void *)counter_program(catalog_find(asking->catalog, "TCC_HIT_sum"));
}

/* Once for all threads, when it is asked for, and nothing else with it. */
static void compiled_when_asked_test(void **state)
{
    struct asking asking = {.catalog = shipped_catalog()};
    pthread_t threads[ASKING];
    void *programs[ASKING];
    (void)state;
    assert_int_equal(compiled_count(asking.catalog), 0);
    pthread_barrier_init(&asking.together, NULL, ASKING);
    for (int i = 0; i < ASKING; i++)
        pthread_create(&threads[i], NULL, ask, &asking);
    for (int i = 0; i < ASKING; i++) {
        pthread_join(threads[i], &programs[i]);
        assert_ptr_equal(programs[i], programs[0]);
    }
    assert_non_null(programs[0]);
    assert_int_equal(compiled_count(asking.catalog), 1);
    assert_null(counter_program(catalog_find(asking.catalog, "TCC_HIT")));
    pthread_barrier_destroy(&asking.together);
    catalog_destroy((struct catalog *)asking.catalog);
}

/* What refers to a shipped counter that means something else now is looked at before it is listed.
 * A counter that is added beside the shipped ones changes none of them. */
static void overridden_test(void **state)
{
    static const char other[] = "TCC_HIT: {architectures: {gfx90a: {expression: NOBODY}}}\n",
                      further[] = "MINE: {architectures: {gfx90a: {expression: SQ_WAVES*2}}}\n";
    struct definition_set *set = definitions_create();
    (void)state;
    assert_int_equal(definitions_add_builtin(set), 0);
    assert_int_equal(definitions_load_yaml(set, "mine.yaml", further, strlen(further)), 0);
    struct catalog *catalog = catalog_create(set, &test_agent, 1);
    assert_int_equal(compiled_count(catalog), 1);
    assert_non_null(catalog_find(catalog, "TCC_HIT_sum"));
    catalog_destroy(catalog);
    assert_int_equal(definitions_load_yaml(set, "other.yaml", other, strlen(other)), 0);
    catalog = catalog_create(set, &test_agent, 1);
    assert_true(compiled_count(catalog) > 200);
    assert_null(catalog_find(catalog, "TCC_HIT_sum"));
    assert_null(catalog_find(catalog, "TCC_HIT"));
    assert_non_null(catalog_find(catalog, "TCC_MISS_sum"));
    definitions_destroy(set);
    catalog_destroy(catalog);
}

static double evaluate(const struct catalog *catalog, const char *name,
                       double (*value)(const char *counter, uint32_t element))
{
    const struct counter *counter = catalog_find(catalog, name);
    uint32_t inputs, count;
    const struct counter *all = catalog_counters(catalog, &count);
    const struct expr_input *input = expr_inputs(counter_program(counter), &inputs);
    double *workspace =
        calloc(expr_workspace_size(counter_program(counter)) + 1, sizeof *workspace);
    expr_workspace_init(counter_program(counter), workspace);
    for (uint32_t i = 0; i < inputs; i++) {
        for (uint32_t k = 0; k < shape_count(&input[i].shape); k++)
            workspace[input[i].slot + k] = value(all[input[i].input].name, k);
    }
    double result = *expr_evaluate(counter_program(counter), workspace);
    free(workspace);
    return result;
}

static double known_value(const char *counter, uint32_t element)
{
    if (strcmp(counter, "GRBM_GUI_ACTIVE") == 0)
        return 750;
    if (strcmp(counter, "GRBM_COUNT") == 0)
        return 1000;
    if (strcmp(counter, "TCC_HIT") == 0)
        return element; /* 496 over 32 channels */
    if (strcmp(counter, "TCC_MISS") == 0)
        return 31 - element % 2 * 31; /* 496 over 32 channels */
    if (strcmp(counter, "TCC_EA_RDREQ") == 0)
        return 10;
    if (strcmp(counter, "TCC_EA_RDREQ_32B") == 0)
        return 4;
    return 0;
}

static void derived_test(void **state)
{
    struct catalog *catalog = shipped_catalog();
    (void)state;
    assert_true(evaluate(catalog, "GPU_UTIL", known_value) == 75);
    assert_true(evaluate(catalog, "L2CacheHit", known_value) == 50);
    assert_true(evaluate(catalog, "FetchSize", known_value) ==
                (32 * 4 * 32 + 32 * 6 * 64) / 1024.0);
    assert_true(evaluate(catalog, "CU_NUM", known_value) == 104);
    assert_true(evaluate(catalog, "SE_NUM", known_value) == 8);
    catalog_destroy(catalog);
}

static void bad_definitions_test(void **state)
{
    static const char text[] =
        "LOOP: {architectures: {gfx90a: {expression: POOL+1}}}\n"
        "POOL: {architectures: {gfx90a: {expression: LOOP*2}}}\n"
        "LOST: {architectures: {gfx90a: {expression: NOBODY/2}}}\n"
        "FAR: {architectures: {gfx90a: {block: SQ, event: 99999}}}\n"
        "AWAY: {architectures: {gfx90a: {block: UMC, event: 1}}}\n"
        "FINE: {architectures: {gfx90a: {expression: \"reduce(SQ_W,sum)\"}}}\n"
        "SQ_W: {architectures: {gfx90a: {block: SQ, event: 4}}}\n";
    struct definition_set *set = definitions_create();
    (void)state;
    assert_int_equal(definitions_load_yaml(set, "bad.yaml", text, strlen(text)), 0);
    struct catalog *catalog = catalog_create(set, &test_agent, 100);
    definitions_destroy(set);
    assert_non_null(catalog);
    assert_int_equal(catalog_problem_count(catalog), 3);
    assert_null(catalog_find(catalog, "LOOP"));
    assert_null(catalog_find(catalog, "LOST"));
    assert_null(catalog_find(catalog, "FAR"));
    assert_null(catalog_find(catalog, "AWAY"));
    const struct counter *fine = catalog_find(catalog, "FINE");
    assert_non_null(fine);
    uint32_t inputs, count;
    const struct counter *all = catalog_counters(catalog, &count);
    /* Positions move when bad counters are taken out; the programs must follow. */
    assert_string_equal(all[expr_inputs(counter_program(fine), &inputs)->input].name, "SQ_W");
    catalog_destroy(catalog);
}

static void instance_id_test(void **state)
{
    struct counter_shape shape = {
        .extent = {[DIMENSION_XCC] = 8, [DIMENSION_SHADER_ENGINE] = 4, [DIMENSION_INSTANCE] = 16}};
    uint32_t position[DIMENSION_COUNT] = {
        [DIMENSION_XCC] = 5, [DIMENSION_SHADER_ENGINE] = 3, [DIMENSION_INSTANCE] = 9};
    (void)state;
    assert_int_equal(shape_count(&shape), 512);
    uint32_t flat = shape_flat_index(&shape, position);
    uint64_t id = shape_instance_id(&shape, 777, flat);
    /* The bit layout of SDK records: 6 bits a dimension from bit 0, counter id from bit 48. */
    assert_true(id == (777ull << 48 | 5ull << 0 | 3ull << 12 | 9ull << 36));
    assert_int_equal(instance_counter_id(id), 777);
    assert_int_equal(instance_position(id, DIMENSION_XCC), 5);
    assert_int_equal(instance_position(id, DIMENSION_SHADER_ENGINE), 3);
    assert_int_equal(instance_position(id, DIMENSION_INSTANCE), 9);
    assert_int_equal(instance_position(id, DIMENSION_WGP), 0);
    for (uint32_t i = 0; i < 512; i++) {
        uint64_t each = shape_instance_id(&shape, 1, i);
        for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++)
            position[d] = instance_position(each, d);
        assert_int_equal(shape_flat_index(&shape, position), i);
    }
}

/* Budget of the design: all definitions of one GPU ready for queries within 2 ms. The bound here
 * is wider, because tests share the machine; the benchmark measures the budget. */
static void startup_time_test(void **state)
{
    struct timespec from, to;
    long best = 1000000000;
    (void)state;
    for (int i = 0; i < 5; i++) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        catalog_destroy(shipped_catalog());
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        long ns = (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
        best = ns < best ? ns : best;
    }
    print_message("catalog of gfx90a in %ld us\n", best / 1000);
    assert_true(best < 20000000);
}

int main(void)
{
    setenv("CROC_LOG_LEVEL", "error", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_definitions_test), cmocka_unit_test(compiled_when_asked_test),
        cmocka_unit_test(overridden_test),          cmocka_unit_test(derived_test),
        cmocka_unit_test(bad_definitions_test),     cmocka_unit_test(instance_id_test),
        cmocka_unit_test(startup_time_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
