#include "statistics/moments.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct moments of(const double *values, unsigned count)
{
    struct moments moments = {0};
    for (unsigned i = 0; i < count; i++)
        moments_add(&moments, values[i]);
    return moments;
}

static void near(double got, double expected, double relative)
{
    if (fabs(got - expected) > relative * fabs(expected))
        fail_msg("%.17g is not %.17g", got, expected);
}

static void a_few_values(void **state)
{
    (void)state;
    struct moments moments = of((double[]){2, 4, 4, 4, 5, 5, 7, 9}, 8);
    near(moments.mean, 5, 1e-15);
    near(moments_variance(&moments), 32.0 / 7, 1e-14);
    assert_true(moments.min == 2 && moments.max == 9 && moments.sum == 40);
    struct moments far = of((double[]){1e15 + 4, 1e15 + 7, 1e15 + 13, 1e15 + 16}, 4);
    near(moments_variance(&far), 30, 1e-12); /* which sums of squares would lose */
    struct moments one = of((double[]){3}, 1);
    assert_true(moments_variance(&one) == 0);
}

/* As of a ratio whose launches divide by nothing. */
static void infinite_values(void **state)
{
    (void)state;
    assert_true(of((double[]){INFINITY, INFINITY, 1}, 3).mean == INFINITY);
    assert_true(of((double[]){1, -INFINITY, -INFINITY}, 3).mean == -INFINITY);
    assert_true(isnan(of((double[]){INFINITY, -INFINITY, 1}, 3).mean));
    assert_true(of((double[]){INFINITY}, 1).mean == INFINITY);
}

/* Critical values from printed tables of Student's distribution. */
static void students_distribution(void **state)
{
    static const struct {
        double t, degrees, p;
    } table[] = {{12.706, 1, 0.05}, {4.303, 2, 0.05},   {2.228, 10, 0.05}, {3.169, 10, 0.01},
                 {2.042, 30, 0.05}, {3.646, 30, 0.001}, {1.98, 120, 0.05}, {1.959964, 1e7, 0.05},
                 {0.700, 10, 0.5},  {63.657, 1, 0.01}};
    (void)state;
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
        near(student_p(table[i].t, table[i].degrees), table[i].p, 2e-3);
    near(student_p(1, 1), 0.5, 1e-12); /* Cauchy: 1 - 2 atan(t) / pi */
    near(student_p(-1, 1), 0.5, 1e-12);
    near(student_p(sqrt(2), 2), 1 - sqrt(0.5), 1e-12); /* 1 - t / sqrt(2 + t^2) */
    near(student_p(0, 5), 1, 1e-12);
    near(student_p(1e6, 2), 1e-12, 1e-3);
}

/* By hand: variances 2.5 and 10, five values each: t = -3 / sqrt(2.5), 50 / 8.5 degrees. */
static void two_sets(void **state)
{
    (void)state;
    struct moments a = of((double[]){1, 2, 3, 4, 5}, 5), b = of((double[]){2, 4, 6, 8, 10}, 5);
    near(moments_welch(&a, &b), student_p(3 / sqrt(2.5), 50 / 8.5), 1e-12);
    assert_true(moments_welch(&a, &b) > 0.05 && moments_welch(&a, &b) < 0.2);
    assert_true(moments_welch(&a, &a) == 1);
    struct moments same = of((double[]){7, 7, 7}, 3), other = of((double[]){8, 8}, 2);
    assert_true(moments_welch(&same, &same) == 1);
    assert_true(moments_welch(&same, &other) == 0);
    struct moments one = of((double[]){7}, 1);
    assert_true(isnan(moments_welch(&one, &a)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_values), cmocka_unit_test(infinite_values),
        cmocka_unit_test(students_distribution), cmocka_unit_test(two_sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
