// Level 1 of rocBLAS: sums over vectors, largest elements, and what is done to each element.
#include "blas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef int dot_t(void *, int, const void *, int, const void *, int, void *);
typedef int norm_t(void *, int, const void *, int, void *);
typedef int axpy_t(void *, int, const void *, const void *, int, void *, int);
typedef int scal_t(void *, int, const void *, void *, int);
typedef int swap_t(void *, int, void *, int, void *, int);
typedef int rot_t(void *, int, void *, int, void *, int, const void *, const void *);

// Longer than the other levels' sizes: several groups take part in a sum.
static int random_length(blas_case_t *it)
{
    return sweep_random_next(&it->random) % 4 ? blas_random_size(it)
                                              : sweep_random_between(&it->random, 1, 60000);
}

static const sweep_type_t *real_type(const blas_case_t *it)
{
    return &SWEEP_TYPES[it->letter == 's' || it->letter == 'c' ? SWEEP_F32 : SWEEP_F64];
}

static number_t element(const blas_matrix_t *x, int row)
{
    return sweep_get(x->array.type, x->array.host, (size_t)blas_matrix_index(x, row, 0, 0));
}

static double sum_bound(const blas_case_t *it, int length, long double size)
{
    if (it->whole_limit && size <= ldexpl(1, it->type->mantissa_bits))
        return 0;
    return (double)(4 * (length + 4) * (sweep_unit(it->type) * size + it->type->smallest));
}

// A number that the library has answered, and the vectors, which stay.
static bool number_right(blas_case_t *it, int status, blas_matrix_t *const *all, int count,
                         number_t got, number_t exact, double bound)
{
    const bool right = cabsl(got - exact) <= bound;
    const bool rest = blas_right(it, status, all, count);
    if (!right) {
        printf("  answered %.17Lg %+.17Lgi, not %.17Lg %+.17Lgi within %g\n", creall(got),
               cimagl(got), creall(exact), cimagl(exact), bound);
        printf("wrong: %s\n", it->text);
    }
    return right && rest;
}

static bool dot(blas_case_t *it)
{
    const int n = random_length(it);
    const bool conjugate = it->type->is_complex && sweep_random_next(&it->random) % 2;
    unsigned char answer[16];
    blas_matrix_t x, y, *all[] = {&x, &y};
    blas_vector(it, &x, n);
    blas_vector(it, &y, n);
    number_t exact = 0;
    long double size = 0;
    for (int i = 0; i < n; i++) {
        exact += (conjugate ? conjl(element(&x, i)) : element(&x, i)) * element(&y, i);
        size += 2 * cabsl(element(&x, i)) * cabsl(element(&y, i));
    }
    snprintf(it->text, sizeof(it->text), "%cdot conjugate %d, %d, increments %d %d", it->letter,
             conjugate, n, blas_increment(&x), blas_increment(&y));
    blas_send(all, 2);
    dot_t *call = (dot_t *)blas_function_of(it, "dot", conjugate ? "dotc" : "dotu");
    const int status = call(it->handle, n, x.array.device, blas_increment(&x), y.array.device,
                            blas_increment(&y), answer);
    return number_right(it, status, all, 2, sweep_get(it->type, answer, 0), exact,
                        sum_bound(it, n, size));
}

// These answer 0 for negative increments.
static void forward_vector(blas_case_t *it, blas_matrix_t *x, int n)
{
    blas_vector(it, x, n);
    x->reversed = false;
}

static void *norm_function(const blas_case_t *it, const char *name)
{
    char whole[64];
    const char *const prefix = it->letter == 'c' ? "sc" : "dz";
    if (!it->type->is_complex)
        return blas_function(it, name);
    snprintf(whole, sizeof(whole), "rocblas_%s%s", prefix, name);
    return sweep_function(it->library, whole);
}

static bool norm(blas_case_t *it, bool squares)
{
    const int n = random_length(it);
    unsigned char answer[16];
    blas_matrix_t x, *all[] = {&x};
    forward_vector(it, &x, n);
    long double exact = 0;
    for (int i = 0; i < n; i++) {
        const number_t number = element(&x, i);
        exact += squares ? creall(number * conjl(number))
                         : fabsl(creall(number)) + fabsl(cimagl(number));
    }
    const double bound = squares ? (double)(4 * (n + 4) * sweep_unit(it->type) * sqrtl(exact))
                                 : sum_bound(it, n, exact);
    exact = squares ? sqrtl(exact) : exact;
    snprintf(it->text, sizeof(it->text), "%c%s %d, increment %d", it->letter,
             squares ? "nrm2" : "asum", n, blas_increment(&x));
    blas_send(all, 1);
    norm_t *call = (norm_t *)norm_function(it, squares ? "nrm2" : "asum");
    const int status = call(it->handle, n, x.array.device, blas_increment(&x), answer);
    return number_right(it, status, all, 1, sweep_get(real_type(it), answer, 0), exact, bound);
}

// The first of the largest or smallest; sizes of complex numbers as the type computes them.
static bool extreme(blas_case_t *it, bool largest)
{
    const int n = random_length(it);
    int answer = -1, at = 0;
    double best = largest ? -1 : HUGE_VAL;
    blas_matrix_t x, *all[] = {&x};
    forward_vector(it, &x, n);
    for (int i = 0; i < n; i++) {
        const double real = fabs((double)creall(element(&x, i)));
        const double imaginary = fabs((double)cimagl(element(&x, i)));
        const double size =
            it->letter == 'c' ? (double)((float)real + (float)imaginary) : real + imaginary;
        if (largest ? size > best : size < best) {
            best = size;
            at = i + 1;
        }
    }
    char name[64];
    snprintf(name, sizeof(name), "rocblas_i%c%s", it->letter, largest ? "amax" : "amin");
    snprintf(it->text, sizeof(it->text), "%s %d, increment %d", name, n, blas_increment(&x));
    blas_send(all, 1);
    norm_t *call = (norm_t *)sweep_function(it->library, name);
    const int status = call(it->handle, n, x.array.device, blas_increment(&x), &answer);
    return number_right(it, status, all, 1, answer, at, 0);
}

static void expect(blas_case_t *it, blas_matrix_t *x, int row, number_t exact, long double size)
{
    sweep_array_expect(&x->array, (size_t)blas_matrix_index(x, row, 0, 0), exact,
                       sum_bound(it, 2, size));
}

static bool axpy(blas_case_t *it, bool scaled)
{
    const int n = random_length(it);
    blas_matrix_t x, y, *all[] = {&x, &y};
    it->alpha = blas_random_scalar(it, it->type, it->alpha_bytes);
    forward_vector(it, &x, n);
    blas_vector(it, &y, n);
    for (int i = 0; i < n; i++) {
        const number_t add = scaled ? 0 : element(&y, i);
        const number_t product = it->alpha * element(&x, i);
        expect(it, scaled ? &x : &y, i, product + add,
               2 * cabsl(it->alpha) * cabsl(element(&x, i)) + cabsl(add));
    }
    snprintf(it->text, sizeof(it->text), "%c%s %d, increments %d %d", it->letter,
             scaled ? "scal" : "axpy", n, blas_increment(&x), blas_increment(&y));
    blas_send(all, 2);
    if (scaled) {
        scal_t *call = (scal_t *)blas_function(it, "scal");
        return blas_right(
            it, call(it->handle, n, it->alpha_bytes, x.array.device, blas_increment(&x)), all, 2);
    }
    axpy_t *call = (axpy_t *)blas_function(it, "axpy");
    return blas_right(it,
                      call(it->handle, n, it->alpha_bytes, x.array.device, blas_increment(&x),
                           y.array.device, blas_increment(&y)),
                      all, 2);
}

static bool swap(blas_case_t *it)
{
    const int n = random_length(it);
    blas_matrix_t x, y, *all[] = {&x, &y};
    blas_vector(it, &x, n);
    blas_vector(it, &y, n);
    for (int i = 0; i < n; i++) {
        expect(it, &x, i, element(&y, i), 0);
        expect(it, &y, i, element(&x, i), 0);
    }
    snprintf(it->text, sizeof(it->text), "%cswap %d, increments %d %d", it->letter, n,
             blas_increment(&x), blas_increment(&y));
    blas_send(all, 2);
    swap_t *call = (swap_t *)blas_function(it, "swap");
    return blas_right(
        it,
        call(it->handle, n, x.array.device, blas_increment(&x), y.array.device, blas_increment(&y)),
        all, 2);
}

static bool rot(blas_case_t *it)
{
    const int n = random_length(it);
    blas_matrix_t x, y, *all[] = {&x, &y};
    unsigned char cosine[16], sine[16];
    const number_t c = sweep_random_number(&it->random, real_type(it), it->whole_limit);
    const number_t s = sweep_random_number(&it->random, it->type, it->whole_limit);
    sweep_put(real_type(it), cosine, 0, c);
    sweep_put(it->type, sine, 0, s);
    blas_vector(it, &x, n);
    blas_vector(it, &y, n);
    for (int i = 0; i < n; i++) {
        const number_t a = element(&x, i), b = element(&y, i);
        expect(it, &x, i, c * a + s * b, 2 * (cabsl(c) * cabsl(a) + cabsl(s) * cabsl(b)));
        expect(it, &y, i, c * b - conjl(s) * a, 2 * (cabsl(c) * cabsl(b) + cabsl(s) * cabsl(a)));
    }
    snprintf(it->text, sizeof(it->text), "%crot %d, increments %d %d", it->letter, n,
             blas_increment(&x), blas_increment(&y));
    blas_send(all, 2);
    rot_t *call = (rot_t *)blas_function(it, "rot");
    return blas_right(it,
                      call(it->handle, n, x.array.device, blas_increment(&x), y.array.device,
                           blas_increment(&y), cosine, sine),
                      all, 2);
}

bool blas_numbers_case(blas_case_t *it)
{
    const uint64_t kind = sweep_random_next(&it->random) % 9;
    if (kind < 1)
        return dot(it);
    if (kind < 3)
        return norm(it, kind == 1);
    if (kind < 5)
        return extreme(it, kind == 3);
    if (kind < 7)
        return axpy(it, kind == 5);
    return kind == 7 ? swap(it) : rot(it);
}
