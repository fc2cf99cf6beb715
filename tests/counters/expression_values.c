/*
 * expression_values [FILE]: every counter of the test agent, built-in definitions or FILE's, with
 * made-up values of the hardware counters. expressions_test.py computes the same by itself.
 *
 *      basic NAME DIMENSION:EXTENT ...      constant NAME VALUE
 *      derived NAME VALUE ... = EXPRESSION
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/catalog.h"
#include "counters/test/agent_double.h"

/* Zeros are among them. */
static double made_up(const char *name, enum expr_accumulate accumulate, uint32_t place)
{
    uint32_t hash = 0;
    for (uint32_t i = 0; name[i]; i++)
        hash = (hash + (uint32_t)(unsigned char)name[i] * (i + 1)) % 997;
    return (hash + place) % 7 == 0 ? 0 : hash + 3.0 * place + 1000.0 * accumulate;
}

static void basic_print(const struct counter *counter)
{
    printf("basic %s", counter->name);
    for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++)
        if (counter_shape(counter)->extent[d] > 1)
            printf(" %s:%u", dimension_name(d), counter_shape(counter)->extent[d]);
    printf("\n");
}

static void derived_print(const struct counter *all, const struct counter *counter)
{
    uint32_t inputs;
    const struct expr_input *input = expr_inputs(counter_program(counter), &inputs);
    double *workspace =
        calloc(expr_workspace_size(counter_program(counter)) + 1, sizeof *workspace);
    expr_workspace_init(counter_program(counter), workspace);
    for (uint32_t i = 0; i < inputs; i++)
        for (uint32_t k = 0; k < shape_count(&input[i].shape); k++)
            workspace[input[i].slot + k] =
                made_up(all[input[i].input].name, input[i].accumulate, k);
    const double *values = expr_evaluate(counter_program(counter), workspace);
    printf("derived %s", counter->name);
    for (uint32_t k = 0; k < shape_count(counter_shape(counter)); k++)
        printf(" %.17g", values[k]);
    printf(" = %s\n", counter->expression);
    free(workspace);
}

int main(int argc, char **argv)
{
    struct definition_set *set = definitions_create();
    uint32_t count;
    if (argc > 1)
        definitions_load_file(set, argv[1]);
    else
        definitions_add_builtin(set);
    struct catalog *catalog = catalog_create(set, &test_agent, 1);
    const struct counter *all = catalog_counters(catalog, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].kind == COUNTER_BASIC)
            basic_print(&all[i]);
        else if (all[i].kind == COUNTER_CONSTANT)
            printf("constant %s %.17g\n", all[i].name, all[i].constant);
        else
            derived_print(all, &all[i]);
    }
    catalog_destroy(catalog);
    definitions_destroy(set);
    return 0;
}
