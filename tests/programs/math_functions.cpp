// The device library's functions in single and double precision against the host's in double.
// What must be exact is exact: division, square root, fma, rounding, conversions.
#include "common.h"

#include <cfloat>
#include <cmath>
#include <vector>

// Number, expression, allowed error in units in the last place (of the OpenCL standard, which the
// device library keeps).
#define FUNCTIONS(F)                                                                               \
    F(0, x / y, 0)                                                                                 \
    F(1, sqrt(fabs(x)), 0)                                                                         \
    F(2, fma(x, y, x), 0)                                                                          \
    F(3, fmod(x, y), 0)                                                                            \
    F(4, floor(x), 0)                                                                              \
    F(5, rint(x), 0)                                                                               \
    F(6, round(x), 0)                                                                              \
    F(7, trunc(x), 0)                                                                              \
    F(8, fmin(x, y), 0)                                                                            \
    F(9, fmax(x, y), 0)                                                                            \
    F(10, ldexp(x, (int)y), 0)                                                                     \
    F(11, copysign(x, y), 0)                                                                       \
    F(12, (T)(long long)x, 0)                                                                      \
    F(13, (T)(unsigned)fabs(x), 0)                                                                 \
    F(14, (T)(int)x, 0)                                                                            \
    F(15, sin(x), 4)                                                                               \
    F(16, cos(x), 4)                                                                               \
    F(17, tan(x), 5)                                                                               \
    F(18, exp(x), 3)                                                                               \
    F(19, exp2(x), 3)                                                                              \
    F(20, log(fabs(x)), 3)                                                                         \
    F(21, log2(fabs(x)), 3)                                                                        \
    F(22, pow(fabs(x), y), 16)                                                                     \
    F(23, atan2(x, y), 6)                                                                          \
    F(24, cbrt(x), 4)                                                                              \
    F(25, erf(x), 16)                                                                              \
    F(26, tanh(x), 5)                                                                              \
    F(27, expm1(x), 3)                                                                             \
    F(28, log1p(fabs(x)), 2)                                                                       \
    F(29, hypot(x, y), 4)
enum { FUNCTION_COUNT = 30, COUNT = 4096 };

template <class T> __host__ __device__ T evaluate(int function, T x, T y)
{
    switch (function) {
#define CASE(N, EXPRESSION, LIMIT)                                                                 \
    case N:                                                                                        \
        return (T)(EXPRESSION);
        FUNCTIONS(CASE)
    }
    return 0;
}

static const struct {
    const char *name;
    double limit;
} functions[] = {
#define NAME(N, EXPRESSION, LIMIT) {#EXPRESSION, LIMIT},
    FUNCTIONS(NAME)};

template <class T> __global__ void evaluate_all(const T *x, const T *y, T *results)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int f = 0; f < FUNCTION_COUNT; f++)
        results[f * COUNT + i] = evaluate<T>(f, x[i], y[i]);
}

// Units in the last place of T between a result and the value in double.
template <class T> static double error_of(T got, double wanted, int digits)
{
    if (std::isnan(wanted) || std::isnan(got))
        return std::isnan(wanted) && std::isnan(got) ? 0 : INFINITY;
    if (got == (T)wanted)
        return 0;
    int exponent = std::ilogb(wanted == 0 ? got : wanted);
    return std::fabs(got - wanted) / std::ldexp(1.0, exponent - digits + 1);
}

// host_error: how far the host's own double may be off.
template <class T> static size_t check(int digits, double host_error)
{
    std::vector<T> x(COUNT), y(COUNT), results((size_t)COUNT * FUNCTION_COUNT);
    const T scales[] = {(T)1, (T)20, (T)0.001, (T)80};
    Random random(7);
    for (int i = 0; i < COUNT; i++) {
        x[i] = ((T)random.unit() * 2 - 1) * scales[i % 4];
        y[i] = ((T)random.unit() * 2 - (T)1.0000001) * 10;
    }
    T *dx, *dy, *dr;
    HIP_CHECK(hipMalloc(&dx, COUNT * sizeof(T)));
    HIP_CHECK(hipMalloc(&dy, COUNT * sizeof(T)));
    HIP_CHECK(hipMalloc(&dr, results.size() * sizeof(T)));
    HIP_CHECK(hipMemcpy(dx, x.data(), COUNT * sizeof(T), hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(dy, y.data(), COUNT * sizeof(T), hipMemcpyHostToDevice));
    evaluate_all<T><<<COUNT / 256, 256>>>(dx, dy, dr);
    HIP_CHECK(hipMemcpy(results.data(), dr, results.size() * sizeof(T), hipMemcpyDeviceToHost));
    size_t wrong = 0;
    for (int f = 0; f < FUNCTION_COUNT; f++)
        for (int i = 0; i < COUNT; i++) {
            const T got = results[(size_t)f * COUNT + i];
            const double error = error_of(got, evaluate<double>(f, x[i], y[i]), digits);
            const double limit = functions[f].limit ? functions[f].limit + host_error : 0;
            if (error > limit && wrong++ < 10)
                std::printf("%s of %a, %a: %a, %g units off\n", functions[f].name, (double)x[i],
                            (double)y[i], (double)got, error);
        }
    return wrong;
}

int main()
{
    return verdict("math_functions",
                   check<float>(FLT_MANT_DIG, 0) + check<double>(DBL_MANT_DIG, 1));
}
