#include "moments.h"

#include <math.h>

void moments_add(struct moments *moments, double value)
{
    if (moments->count == 0 || value < moments->min)
        moments->min = value;
    if (moments->count == 0 || value > moments->max)
        moments->max = value;
    moments->count++;
    moments->sum += value;
    if (isinf(value) || isinf(moments->mean)) { /* its distance to another one is no number */
        moments->mean += value;
        moments->squares = INFINITY;
        return;
    }
    double distance = value - moments->mean;
    moments->mean += distance / (double)moments->count;
    moments->squares += distance * (value - moments->mean);
}

double moments_variance(const struct moments *moments)
{
    return moments->count < 2 ? 0 : moments->squares / (double)(moments->count - 1);
}

double moments_deviation(const struct moments *moments)
{
    return sqrt(moments_variance(moments));
}

/* The continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
    enum { STEPS_MAX = 10000 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double fraction = d;
    for (int m = 1; m < STEPS_MAX; m++) {
        double before = fraction;
        for (int odd = 0; odd < 2; odd++) {
            double term = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                              : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + term * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + term / c;
            c = fabs(c) < tiny ? tiny : c;
            fraction *= c * d;
        }
        if (fabs(fraction - before) <= 1e-15 * fabs(fraction))
            break;
    }
    return fraction;
}

/* Regularised: from 0 at x = 0 to 1 at x = 1. */
static double beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_p(double t, double degrees)
{
    return beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double moments_welch(const struct moments *a, const struct moments *b)
{
    if (a->count < 2 || b->count < 2)
        return NAN;
    double of_a = moments_variance(a) / (double)a->count;
    double of_b = moments_variance(b) / (double)b->count;
    if (of_a + of_b <= 0)
        return a->mean == b->mean ? 1 : 0;
    double t = (a->mean - b->mean) / sqrt(of_a + of_b);
    double degrees = (of_a + of_b) * (of_a + of_b) /
                     (of_a * of_a / (double)(a->count - 1) + of_b * of_b / (double)(b->count - 1));
    return student_p(t, degrees);
}
