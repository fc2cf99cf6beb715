/*
 * What one result of a matrix instruction is, number by number, in doubles, which hold every sum on
 * the way exactly. Written from the description in docs/decisions/0026-matrix-rounding.md.
 */
#ifndef VALU_MFMA_REFERENCE_H
#define VALU_MFMA_REFERENCE_H

#include <math.h>
#include <stdbool.h>

enum mfma_sums { SUMS_STEPS, SUMS_PAIRS, SUMS_FUSED, SUMS_FUSED_8 };
struct mfma_model {
    enum mfma_sums sums;
    int group;            /* products that are added up before C */
    int least_a, least_b; /* exponents of the least normal number of A and B */
    bool flush;           /* denormals of sources and results */
};

static inline float flush_source(float x, int least)
{
    return fabsf(x) < ldexpf(1, least) ? 0 : x;
}
static inline float flush_result(float x, bool flush)
{
    return flush && fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

/* Halves of the group, each rounded. */
static inline float pairs_of(const float *a, const float *b, int count, bool flush)
{
    if (count == 1)
        return flush_result(fmaf(*a, *b, 0), flush);
    const float left = pairs_of(a, b, count / 2, flush);
    const float right = pairs_of(a + count / 2, b + count / 2, count / 2, flush);
    return flush_result(left + right, flush);
}

/* value = significand * 2^exponent */
struct split {
    double significand;
    int exponent;
};
static inline struct split split_of(float x, int least)
{
    struct split s = {0, -126};
    if (x != 0) {
        s.exponent = ilogbf(x) < least ? least : ilogbf(x);
        s.significand = ldexp(x, -s.exponent);
    }
    return s;
}
static inline double cut_down(struct split s, int exponent, int digits)
{
    return ldexp(floor(ldexp(s.significand, digits + s.exponent - exponent)), -digits);
}

static inline struct split cut_products(const float *a, const float *b, int first, int stride,
                                        const struct mfma_model *m)
{
    struct split sum = {0, -1000};
    for (int k = first; k < m->group; k += stride) {
        const int e = split_of(a[k], m->least_a).exponent + split_of(b[k], m->least_b).exponent;
        sum.exponent = e > sum.exponent ? e : sum.exponent;
    }
    for (int k = first; k < m->group; k += stride) {
        const struct split x = split_of(a[k], m->least_a), y = split_of(b[k], m->least_b);
        const double product = x.significand * y.significand;
        const int below = sum.exponent - x.exponent - y.exponent;
        sum.significand += ldexp(trunc(ldexp(product, 24 - below)), -24);
    }
    return sum;
}

/* Whether infinities and NaNs decide, or products that f32 has no room for. */
static inline bool not_finite(const float *a, const float *b, int count, float c, float *result)
{
    double sum = c;
    bool above = false, below = false;
    for (int k = 0; k < count; k++) {
        const double product = (double)a[k] * b[k];
        sum += product;
        above = above || product >= 0x1p128;
        below = below || product <= -0x1p128;
    }
    *result = (float)sum;
    if (!isfinite(sum))
        return true;
    *result = above && below ? NAN : above ? INFINITY : -INFINITY;
    return above || below;
}

static inline float fused_of(const float *a, const float *b, float c, const struct mfma_model *m)
{
    const bool bytes = m->sums == SUMS_FUSED_8;
    const struct split addend = split_of(c, -126);
    struct split sum = cut_products(a, b, 0, bytes ? 2 : 1, m);
    float special;
    if (not_finite(a, b, m->group, c, &special))
        return special;
    if (bytes) {
        const struct split odd = cut_products(a, b, 1, 2, m);
        const int exponent = odd.exponent > sum.exponent ? odd.exponent : sum.exponent;
        sum.significand = cut_down(sum, exponent, 24) + cut_down(odd, exponent, 24);
        sum.exponent = exponent;
    }
    const int exponent = sum.exponent > addend.exponent ? sum.exponent : addend.exponent;
    const bool lost = bytes && addend.exponent < exponent - 25;
    const double total = cut_down(sum, exponent, 31) + (lost ? 0 : cut_down(addend, exponent, 24));
    return total == 0 ? 0 : (float)ldexp(total, exponent);
}

static inline float mfma_reference(const struct mfma_model *m, const float *a, const float *b,
                                   int count, float c)
{
    float x[64], y[64], sum = m->flush ? flush_source(c, -126) : c;
    for (int k = 0; k < count; k++) {
        x[k] = m->flush ? flush_source(a[k], m->least_a) : a[k];
        y[k] = m->flush ? flush_source(b[k], m->least_b) : b[k];
    }
    for (int k = 0; k < count; k += m->group) {
        if (m->sums == SUMS_STEPS)
            sum = fmaf(x[k], y[k], sum);
        else if (m->sums == SUMS_PAIRS)
            sum = flush_result(sum + pairs_of(x + k, y + k, m->group, m->flush), m->flush);
        else
            sum = fused_of(x + k, y + k, sum, m);
    }
    return sum;
}

#endif
