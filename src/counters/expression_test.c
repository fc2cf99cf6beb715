/*
 * Expressions against hand-computed values, and random ones against an evaluator that never sees
 * the text: it walks the tree from which the text was printed, element by element.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters/expression.h"

/* The names of the tests. W: 4 shader engines; H: 2 XCC x 8 instances; G: one value. */
static const struct {
    const char *name;
    enum expr_name_kind kind;
    double value;
    uint32_t input;
    int may_accumulate;
    struct counter_shape shape;
    const char *text;
} names[] = {
    {.name = "CU_NUM", .kind = NAME_CONSTANT, .value = 104},
    {.name = "G", .kind = NAME_INPUT, .input = 1, .shape = {.extent = {[DIMENSION_INSTANCE] = 1}}},
    {.name = "W",
     .kind = NAME_INPUT,
     .input = 2,
     .may_accumulate = 1,
     .shape = {.extent = {[DIMENSION_SHADER_ENGINE] = 4, [DIMENSION_INSTANCE] = 1}}},
    {.name = "H",
     .kind = NAME_INPUT,
     .input = 3,
     .shape = {.extent = {[DIMENSION_XCC] = 2, [DIMENSION_INSTANCE] = 8}}},
    {.name = "H2",
     .kind = NAME_INPUT,
     .input = 4,
     .shape = {.extent = {[DIMENSION_XCC] = 2, [DIMENSION_INSTANCE] = 8}}},
    {.name = "HSUM", .kind = NAME_EXPRESSION, .text = "reduce(H,sum)"},
    {.name = "DEEP", .kind = NAME_EXPRESSION, .text = "100*HSUM/(HSUM+reduce(H2,sum))"},
    {.name = "LOOP_A", .kind = NAME_EXPRESSION, .text = "1+LOOP_B"},
    {.name = "LOOP_B", .kind = NAME_EXPRESSION, .text = "LOOP_A*2"},
    {.name = "LEVEL[2]", .kind = NAME_INPUT, .input = 5, .may_accumulate = 1},
    {.name = "I",
     .kind = NAME_INPUT,
     .input = 6,
     .may_accumulate = 1,
     .shape = {.extent =
                   {[DIMENSION_XCC] = 2, [DIMENSION_SHADER_ENGINE] = 3, [DIMENSION_INSTANCE] = 4}}},
    {.name = "GIVEN[3]", .kind = NAME_EXPRESSION, .text = "H[3]+1"},
    {.name = "SELF", .kind = NAME_EXPRESSION, .text = "SELF"},
};

static void resolve(void *arg, const char *name, uint32_t length, struct expr_name *resolved)
{
    (void)arg;
    *resolved = (struct expr_name){0};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i].name) != length || memcmp(names[i].name, name, length) != 0)
            continue;
        *resolved = (struct expr_name){.kind = names[i].kind,
                                       .value = names[i].value,
                                       .input = names[i].input,
                                       .may_accumulate = names[i].may_accumulate,
                                       .shape = names[i].shape,
                                       .text = names[i].text};
    }
}

/* The value of element k of an input: different everywhere, zero somewhere. */
static double input_value(uint32_t input, uint32_t k)
{
    return (double)((input * 37 + k * 11) % 23);
}

struct outcome {
    uint32_t count;
    double values[64];
    struct counter_shape shape;
};

static int run(const char *text, struct outcome *outcome, struct expr_error *error)
{
    struct expr_program *program = expr_compile(text, resolve, NULL, error);
    if (!program)
        return -1;
    uint32_t inputs;
    const struct expr_input *input = expr_inputs(program, &inputs);
    double *workspace = malloc((expr_workspace_size(program) + 1) * sizeof *workspace);
    expr_workspace_init(program, workspace);
    for (uint32_t i = 0; i < inputs; i++) {
        for (uint32_t k = 0; k < shape_count(&input[i].shape); k++)
            workspace[input[i].slot + k] = input_value(input[i].input, k);
    }
    const double *result = expr_evaluate(program, workspace);
    outcome->shape = *expr_shape(program);
    outcome->count = shape_count(&outcome->shape);
    assert_true(outcome->count <= 64);
    memcpy(outcome->values, result, outcome->count * sizeof *result);
    free(workspace);
    expr_destroy(program);
    return 0;
}

static double single(const char *text)
{
    struct outcome outcome;
    struct expr_error error;
    if (run(text, &outcome, &error))
        fail_msg("'%s': %s at %u", text, error.message, error.offset);
    assert_int_equal(outcome.count, 1);
    return outcome.values[0];
}

static double sum_of(uint32_t input, uint32_t count)
{
    double sum = 0;
    for (uint32_t k = 0; k < count; k++)
        sum += input_value(input, k);
    return sum;
}

static void arithmetic_test(void **state)
{
    (void)state;
    assert_true(single("100-30-20") == 50); /* left-associative */
    assert_true(single("100/10/5") == 2);
    assert_true(single("2+3*4") == 14);
    assert_true(single("(2+3)*4") == 20);
    assert_true(single("-2*-3") == 6);
    assert_true(single("--2 - -1") == 3);
    assert_true(single("0.5*8") == 4); /* a float literal is not cut to 0 */
    assert_true(single("1.5e2/3") == 50);
    assert_true(single(".25*4") == 1);
    assert_true(single("7/0") == 0); /* documented: division by zero is 0 */
    assert_true(single("CU_NUM*2") == 208);
    assert_true(single(" reduce ( H , sum ) ") == sum_of(3, 16));
}

static void operand_order_test(void **state)
{
    struct outcome outcome;
    struct expr_error error;
    (void)state;
    assert_int_equal(run("100/W", &outcome, &error), 0);
    assert_int_equal(outcome.count, 4);
    for (uint32_t k = 0; k < 4; k++) {
        double w = input_value(2, k);
        assert_true(outcome.values[k] == (w == 0 ? 0 : 100 / w));
    }
    assert_int_equal(run("5-W", &outcome, &error), 0);
    for (uint32_t k = 0; k < 4; k++)
        assert_true(outcome.values[k] == 5 - input_value(2, k));
}

static void reduce_test(void **state)
{
    struct outcome outcome;
    struct expr_error error;
    double least = INFINITY, most = -INFINITY;
    (void)state;
    for (uint32_t k = 0; k < 16; k++) {
        least = input_value(3, k) < least ? input_value(3, k) : least;
        most = input_value(3, k) > most ? input_value(3, k) : most;
    }
    assert_true(single("reduce(H,sum)") == sum_of(3, 16));
    assert_true(single("reduce(H,avr)") == sum_of(3, 16) / 16);
    assert_true(single("reduce(H,min)") == least);
    assert_true(single("reduce(H,max)") == most);
    assert_int_equal(run("reduce(H,sum,[DIMENSION_XCC])", &outcome, &error), 0);
    assert_int_equal(outcome.count, 8);
    for (uint32_t k = 0; k < 8; k++)
        assert_true(outcome.values[k] == input_value(3, k) + input_value(3, 8 + k));
    assert_int_equal(run("reduce(H,max,[DIMENSION_INSTANCE])", &outcome, &error), 0);
    assert_int_equal(outcome.count, 2);
    assert_int_equal(outcome.shape.extent[DIMENSION_INSTANCE], 0);
    assert_true(single("reduce(H,sum,[DIMENSION_INSTANCE,DIMENSION_XCC])") == sum_of(3, 16));
}

/* NAME[n]: die n / 8, instance n % 8. A name that was given with its brackets is that counter. */
static void instance_test(void **state)
{
    struct outcome outcome;
    struct expr_error error;
    (void)state;
    for (uint32_t n = 0; n < 16; n++) {
        char text[40];
        snprintf(text, sizeof text, "H[%u]", n);
        assert_true(single(text) == input_value(3, n));
    }
    assert_true(single("2*H[ 15 ] - H[0]") == 2 * input_value(3, 15) - input_value(3, 0));
    assert_true(single("G[0]") == input_value(1, 0));
    assert_true(single("HSUM[0]") == single("HSUM"));
    assert_true(single("GIVEN[3]") == input_value(3, 3) + 1);
    assert_int_equal(run("W[0]", &outcome, &error), 0);
    assert_int_equal(outcome.count, 4);
    for (uint32_t k = 0; k < 4; k++)
        assert_true(outcome.values[k] == input_value(2, k));
}

static void select_test(void **state)
{
    struct outcome outcome;
    struct expr_error error;
    (void)state;
    assert_true(single("select(H,[DIMENSION_XCC=[1],DIMENSION_INSTANCE=[3]])") ==
                input_value(3, 8 + 3));
    assert_int_equal(run("select(H,[DIMENSION_XCC=[1]])", &outcome, &error), 0);
    assert_int_equal(outcome.count, 8);
    assert_true(outcome.values[5] == input_value(3, 8 + 5));
    assert_int_equal(run("select(H,[DIMENSION_INSTANCE=[0,5:7]])", &outcome, &error), 0);
    assert_int_equal(outcome.count, 8);
    assert_true(outcome.values[0] == input_value(3, 0));
    assert_true(outcome.values[1] == input_value(3, 5));
    assert_true(outcome.values[7] == input_value(3, 8 + 7));
}

static void nested_test(void **state)
{
    (void)state;
    double h = sum_of(3, 16), h2 = sum_of(4, 16);
    assert_true(fabs(single("DEEP") - 100 * h / (h + h2)) < 1e-9);
    assert_true(fabs(single("DEEP+DEEP-DEEP") - 100 * h / (h + h2)) < 1e-9);
}

static void accumulate_test(void **state)
{
    struct expr_error error;
    uint32_t count;
    (void)state;
    struct expr_program *program =
        expr_compile("reduce(accumulate(W, HIGH_RES),sum)/reduce(W,sum)", resolve, NULL, &error);
    assert_non_null(program);
    const struct expr_input *input = expr_inputs(program, &count);
    assert_int_equal(count, 2); /* the integrated level and the level itself differ */
    assert_int_equal(input[0].accumulate, ACCUMULATE_HIGH_RES);
    assert_int_equal(input[1].accumulate, ACCUMULATE_NONE);
    expr_destroy(program);
    program = expr_compile("accumulate(H, NONE)", resolve, NULL, &error);
    assert_non_null(program);
    expr_destroy(program);
}

/* Instances are numbered die by die; the shader engines stay. */
static void accumulate_instance_test(void **state)
{
    struct outcome outcome;
    struct expr_error error;
    uint32_t count;
    (void)state;
    assert_int_equal(run("accumulate(I [6] , LOW_RES)", &outcome, &error), 0);
    assert_int_equal(outcome.count, 3);
    for (uint32_t engine = 0; engine < 3; engine++)
        assert_true(outcome.values[engine] == input_value(6, (3 + engine) * 4 + 2));
    assert_true(single("reduce(accumulate(I[6],NONE),sum)-reduce(I[6],sum)") == 0);
    assert_true(single("accumulate(LEVEL[2],HIGH_RES)+1") == input_value(5, 0) + 1);
    struct expr_program *program =
        expr_compile("accumulate(I[0],HIGH_RES)+accumulate(I[1],HIGH_RES)", resolve, NULL, &error);
    assert_non_null(program);
    const struct expr_input *input = expr_inputs(program, &count);
    assert_int_equal(count, 1); /* counted once */
    assert_int_equal(input[0].accumulate, ACCUMULATE_HIGH_RES);
    expr_destroy(program);
}

static void comment_test(void **state)
{
    (void)state;
    assert_true(single("6/2 // the half") == 3);
    assert_true(single("1+ // more\n2") == 3);
    assert_true(single("// first\n7") == 7);
}

static void error_test(void **state)
{
    static const struct {
        const char *text, *message;
        uint32_t offset;
    } bad[] = {
        {"", "missing", 0},
        {"1+", "missing", 2},
        {"1 2", "operator", 2},
        {"(1", "')' expected", 2},
        {"NOBODY*2", "unknown operand 'NOBODY'", 0},
        {"2*NOBODY", "unknown operand 'NOBODY'", 2},
        {"reduce(H,median)", "unknown reduction 'median'", 9},
        {"reduce(H,sum,[DIMENSION_MOON])", "unknown dimension", 14},
        {"reduce(H)", "',' expected", 8},
        {"log(H)", "unknown function 'log'", 0},
        {"H+W", "different dimensions", 1},
        {"reduce(H,sum,[DIMENSION_XCC])+W", "different dimensions", 29},
        {"select(H,[DIMENSION_XCC=[2]])", "2 positions only", 0},
        {"1+H[16]", "'H' has 16 instances only", 2},
        {"H[99999999999999999999]", "'H' has 16 instances only", 0},
        {"CU_NUM[0]", "'CU_NUM' has 0 instances only", 0},
        {"H[1", "']' expected", 3},
        {"H[-1]", "instance's number is expected", 2},
        {"NOBODY[1]+1", "unknown operand 'NOBODY[1]'", 0},
        {"select(H,[DIMENSION_XCC=[64]])", "beyond 63", 25},
        {"select(H,[DIMENSION_INSTANCE=[5:3]])", "empty", 33},
        {"accumulate(H,HIGH_RES)", "cannot be accumulated", 0},
        {"accumulate(HSUM,HIGH_RES)", "not a basic counter", 0},
        {"accumulate(I[8],HIGH_RES)", "'I' has 8 instances only", 0},
        {"accumulate(H[1],HIGH_RES)", "cannot be accumulated", 0},
        {"accumulate(HSUM[0],HIGH_RES)", "not a basic counter", 0},
        {"accumulate(NOBODY[1],NONE)", "unknown operand 'NOBODY[1]'", 0},
        {"accumulate(I[],NONE)", "instance's number is expected", 13},
        {"accumulate(I[1,NONE)", "']' expected", 14},
        {"// nothing", "missing", 10},
        {"accumulate(W,SOMETIMES)", "unknown resolution", 13},
        {"SELF", "defined by itself", 0},
        {"LOOP_A", "defined by itself", 0},
        {"0x10", "bad number", 0},
        {"12abc", "bad number", 0},
        {"1..2", "operator", 2},
        {"1|2", "operator", 1},
    };
    struct outcome outcome;
    struct expr_error error;
    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (run(bad[i].text, &outcome, &error) == 0)
            fail_msg("'%s' compiled", bad[i].text);
        if (!strstr(error.message, bad[i].message) || error.offset != bad[i].offset)
            fail_msg("'%s': '%s' at %u", bad[i].text, error.message, error.offset);
    }
}

static void hostile_test(void **state)
{
    struct outcome outcome;
    struct expr_error error;
    enum { LENGTH = 100000 };
    char *text = malloc(LENGTH + 1);
    (void)state;
    text[LENGTH] = '\0';
    static const char fills[] = {'(', '-', '1', 'H'};
    for (unsigned i = 0; i < sizeof fills; i++) {
        memset(text, fills[i], LENGTH);
        run(text, &outcome, &error); /* 1...1 is a number, the rest are errors; none may crash */
    }
    for (int i = 0; i < LENGTH; i += 2)
        memcpy(text + i, "1+", 2);
    text[LENGTH - 1] = '1';
    assert_int_equal(run(text, &outcome, &error), -1);
    free(text);
}

/* Random trees: {operator, left, right} or leaves, over the shape of H or of one value. */
struct tree {
    char kind; /* + - * / n(umber) H h(H2) G r(educe) ~(negate) */
    double number;
    int reduction;
    struct tree *left, *right;
};

static uint32_t random_state = 12345;
static uint32_t next_random(uint32_t bound)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % bound;
}

static struct tree *grow(int depth, int wide)
{
    struct tree *t = calloc(1, sizeof *t);
    uint32_t pick = depth == 0 ? 4 + next_random(3) : next_random(8);
    if (pick < 4) {
        t->kind = "+-*/"[pick];
        t->left = grow(depth - 1, wide && next_random(4));
        t->right = grow(depth - 1, wide && next_random(4));
    } else if (pick == 7) {
        t->kind = '~';
        t->left = grow(depth - 1, wide);
    } else if (wide) {
        t->kind = pick == 4 ? 'H' : 'h';
    } else if (pick == 4 || depth == 0) {
        t->kind = pick == 4 ? 'G' : 'n';
        t->number = next_random(100) / 4.0;
    } else {
        t->kind = 'r';
        t->reduction = (int)next_random(4);
        t->left = grow(depth - 1, 1);
    }
    return t;
}

static const char *const reductions[] = {"sum", "avr", "min", "max"};

static void print_tree(const struct tree *t, char *out)
{
    char *end = out + strlen(out);
    switch (t->kind) {
    case 'n':
        sprintf(end, "%g", t->number);
        break;
    case 'H':
    case 'G':
        sprintf(end, "%c", t->kind);
        break;
    case 'h':
        strcpy(end, "H2");
        break;
    case '~':
        strcpy(end, "-(");
        print_tree(t->left, out);
        strcat(out, ")");
        break;
    case 'r':
        strcpy(end, "reduce(");
        print_tree(t->left, out);
        sprintf(out + strlen(out), ",%s)", reductions[t->reduction]);
        break;
    default:
        strcpy(end, "(");
        print_tree(t->left, out);
        sprintf(out + strlen(out), " %c ", t->kind);
        print_tree(t->right, out);
        strcat(out, ")");
    }
}

static int is_wide(const struct tree *t)
{
    if (t->kind == 'H' || t->kind == 'h')
        return 1;
    if (t->kind == 'r' || !t->left)
        return 0;
    return is_wide(t->left) || (t->right && is_wide(t->right));
}

static double tree_value(const struct tree *t, uint32_t k)
{
    double a, b;
    switch (t->kind) {
    case 'n':
        return t->number;
    case 'G':
        return input_value(1, 0);
    case 'H':
        return input_value(3, k);
    case 'h':
        return input_value(4, k);
    case '~':
        return 0 - tree_value(t->left, k);
    case 'r':
        if (!is_wide(t->left))
            return tree_value(t->left, 0);
        a = tree_value(t->left, 0);
        for (uint32_t i = 1; i < 16; i++) {
            b = tree_value(t->left, i);
            if (t->reduction < 2)
                a += b;
            else if (t->reduction == 2 ? b < a : b > a)
                a = b;
        }
        return t->reduction == 1 ? a / 16 : a;
    default:
        a = tree_value(t->left, k);
        b = tree_value(t->right, k);
        return t->kind == '+'   ? a + b
               : t->kind == '-' ? a - b
               : t->kind == '*' ? a * b
               : b == 0         ? 0
                                : a / b;
    }
}

static void tree_free(struct tree *t)
{
    if (!t)
        return;
    tree_free(t->left);
    tree_free(t->right);
    free(t);
}

/* Some names are as long as others. */
static void dimension_names_test(void **state)
{
    (void)state;
    for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++) {
        const char *name = dimension_name((enum counter_dimension)d);
        uint32_t length = (uint32_t)strlen(name);
        assert_int_equal(dimension_find(name, length), d);
        assert_int_equal(dimension_find(name, length - 1), DIMENSION_NONE);
        char other[64];
        snprintf(other, sizeof other, "%s", name);
        other[length - 1] ^= 1;
        assert_int_equal(dimension_find(other, length), DIMENSION_NONE);
    }
    assert_int_equal(dimension_find("", 0), DIMENSION_NONE);
    assert_null(dimension_name(DIMENSION_COUNT));
}

static void differential_test(void **state)
{
    static char text[1 << 16];
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct outcome outcome;
        struct expr_error error;
        struct tree *t = grow((int)next_random(6), 1);
        text[0] = '\0';
        print_tree(t, text);
        if (run(text, &outcome, &error))
            fail_msg("'%s': %s", text, error.message);
        assert_int_equal(outcome.count, is_wide(t) ? 16 : 1);
        for (uint32_t k = 0; k < outcome.count; k++) {
            double expected = tree_value(t, k), got = outcome.values[k];
            if (fabs(expected - got) > 1e-9 * (1 + fabs(expected)) &&
                !(isnan(expected) && isnan(got)))
                fail_msg("'%s' element %u: %g instead of %g", text, k, got, expected);
        }
        tree_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_test),
        cmocka_unit_test(operand_order_test),
        cmocka_unit_test(reduce_test),
        cmocka_unit_test(select_test),
        cmocka_unit_test(instance_test),
        cmocka_unit_test(nested_test),
        cmocka_unit_test(accumulate_test),
        cmocka_unit_test(error_test),
        cmocka_unit_test(accumulate_instance_test),
        cmocka_unit_test(comment_test),
        cmocka_unit_test(hostile_test),
        cmocka_unit_test(dimension_names_test),
        cmocka_unit_test(differential_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
