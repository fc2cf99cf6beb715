// Level 3 of rocBLAS, without gemm.
#include "blas.h"

#include <stdio.h>
#include <string.h>

typedef int symm_t(void *, int, int, int, int, const void *, const void *, int, const void *, int,
                   const void *, void *, int);
typedef int syrk_t(void *, int, int, int, int, const void *, const void *, int, const void *,
                   void *, int);
typedef int syr2k_t(void *, int, int, int, int, const void *, const void *, int, const void *, int,
                    const void *, void *, int);
typedef int trmm_t(void *, int, int, int, int, int, int, const void *, const void *, int,
                   const void *, int, void *, int);
typedef int geam_t(void *, int, int, int, int, const void *, const void *, int, const void *,
                   const void *, int, void *, int);

static void scalars(blas_case_t *it)
{
    it->alpha = blas_random_scalar(it, it->type, it->alpha_bytes);
    it->beta = blas_random_scalar(it, it->type, it->beta_bytes);
}

static void real_scalar(const blas_case_t *it, number_t *number, unsigned char *bytes)
{
    *number = creall(*number);
    sweep_put(&SWEEP_TYPES[it->type == &SWEEP_TYPES[SWEEP_C32] ? SWEEP_F32 : SWEEP_F64], bytes, 0,
              *number);
}

// c = alpha * a * b + beta * c of what a and b stand for, which are given back.
static void expect(blas_case_t *it, blas_matrix_t *c, blas_dense_t *a, blas_dense_t *b, int fill)
{
    const blas_sum_t sum = {a, b, it->alpha, it->beta, it->type, fill};
    blas_matrix_expect(it, c, 0, &sum);
    blas_dense_free(a);
    blas_dense_free(b);
}

static bool symm(blas_case_t *it, bool hermitian)
{
    const int m = blas_random_size(it), n = blas_random_size(it), fill = blas_random_fill(it);
    const int side = sweep_random_between(&it->random, BLAS_LEFT, BLAS_RIGHT);
    const int order = side == BLAS_LEFT ? m : n;
    blas_matrix_t a, b, c, *all[] = {&a, &b, &c};
    scalars(it);
    blas_matrix_full(it, &a, order, order);
    blas_matrix_full(it, &b, m, n);
    blas_matrix_full(it, &c, m, n);
    blas_dense_t whole = blas_matrix_symmetric(&a, fill, hermitian);
    blas_dense_t other = blas_matrix_dense(&b, 0);
    if (side == BLAS_LEFT)
        expect(it, &c, &whole, &other, BLAS_FULL);
    else
        expect(it, &c, &other, &whole, BLAS_FULL);
    snprintf(it->text, sizeof(it->text), "%c%s side %d fill %d %d x %d", it->letter,
             hermitian ? "hemm" : "symm", side, fill, m, n);
    blas_send(all, 3);
    symm_t *call = (symm_t *)blas_function(it, hermitian ? "hemm" : "symm");
    return blas_right(it,
                      call(it->handle, side, fill, m, n, it->alpha_bytes, a.array.device,
                           a.distance, b.array.device, b.distance, it->beta_bytes, c.array.device,
                           c.distance),
                      all, 3);
}

// Which operation makes the product with itself, and of the matrix that comes second.
static int rank_operation(blas_case_t *it, bool hermitian)
{
    const int other = hermitian ? BLAS_CONJUGATE : BLAS_TRANSPOSE;
    return sweep_random_next(&it->random) & 1 ? BLAS_NONE : other;
}

static void diagonal_real(blas_matrix_t *c)
{
    for (int i = 0; i < c->rows; i++) {
        const size_t index = (size_t)blas_matrix_index(c, i, i, 0);
        sweep_put(c->array.type, c->array.host, index,
                  creall(sweep_get(c->array.type, c->array.host, index)));
    }
}

static bool syrk(blas_case_t *it, bool hermitian)
{
    const int n = blas_random_size(it), k = blas_random_size(it), fill = blas_random_fill(it);
    const int operation = rank_operation(it, hermitian);
    blas_matrix_t a, c, *all[] = {&a, &c};
    scalars(it);
    if (hermitian) {
        real_scalar(it, &it->alpha, it->alpha_bytes);
        real_scalar(it, &it->beta, it->beta_bytes);
    }
    blas_matrix_full(it, &a, operation == BLAS_NONE ? n : k, operation == BLAS_NONE ? k : n);
    blas_matrix_full(it, &c, n, n);
    if (hermitian)
        diagonal_real(&c);
    blas_dense_t left = blas_dense_operated(blas_matrix_dense(&a, 0), operation);
    blas_dense_t right =
        blas_dense_operated(blas_dense_operated(blas_matrix_dense(&a, 0), operation),
                            hermitian ? BLAS_CONJUGATE : BLAS_TRANSPOSE);
    expect(it, &c, &left, &right, fill);
    snprintf(it->text, sizeof(it->text), "%c%s fill %d operation %d %d, %d", it->letter,
             hermitian ? "herk" : "syrk", fill, operation, n, k);
    blas_send(all, 2);
    syrk_t *call = (syrk_t *)blas_function(it, hermitian ? "herk" : "syrk");
    return blas_right(it,
                      call(it->handle, fill, operation, n, k, it->alpha_bytes, a.array.device,
                           a.distance, it->beta_bytes, c.array.device, c.distance),
                      all, 2);
}

// [first, factor * second], side by side.
static blas_dense_t beside(const blas_dense_t *first, const blas_dense_t *second, number_t factor)
{
    blas_dense_t both = blas_dense_make(first->rows, first->columns + second->columns);
    for (int i = 0; i < first->rows; i++) {
        for (int j = 0; j < first->columns; j++)
            *blas_dense_at(&both, i, j) = *blas_dense_at(first, i, j);
        for (int j = 0; j < second->columns; j++)
            *blas_dense_at(&both, i, first->columns + j) = factor * *blas_dense_at(second, i, j);
    }
    return both;
}

static void syr2k_expect(blas_case_t *it, blas_matrix_t *const *all, int operation, int fill,
                         bool hermitian)
{
    blas_dense_t a = blas_dense_operated(blas_matrix_dense(all[0], 0), operation);
    blas_dense_t b = blas_dense_operated(blas_matrix_dense(all[1], 0), operation);
    // alpha * (a * b' + conj(alpha) / alpha * b * a')
    const bool turned = hermitian && it->alpha != 0;
    blas_dense_t left = beside(&a, &b, turned ? conjl(it->alpha) / it->alpha : 1);
    blas_dense_t right =
        blas_dense_operated(beside(&b, &a, 1), hermitian ? BLAS_CONJUGATE : BLAS_TRANSPOSE);
    expect(it, all[2], &left, &right, fill);
    blas_dense_free(&a);
    blas_dense_free(&b);
}

static bool syr2k(blas_case_t *it, bool hermitian)
{
    const int n = blas_random_size(it), k = blas_random_size(it), fill = blas_random_fill(it);
    const int operation = rank_operation(it, hermitian);
    const int rows = operation == BLAS_NONE ? n : k, columns = operation == BLAS_NONE ? k : n;
    blas_matrix_t a, b, c, *all[] = {&a, &b, &c};
    scalars(it);
    if (hermitian)
        real_scalar(it, &it->beta, it->beta_bytes);
    if (hermitian) // what would not be exact
        it->whole_limit = 0;
    blas_matrix_full(it, &a, rows, columns);
    blas_matrix_full(it, &b, rows, columns);
    blas_matrix_full(it, &c, n, n);
    if (hermitian)
        diagonal_real(&c);
    syr2k_expect(it, all, operation, fill, hermitian);
    snprintf(it->text, sizeof(it->text), "%c%s fill %d operation %d %d, %d", it->letter,
             hermitian ? "her2k" : "syr2k", fill, operation, n, k);
    blas_send(all, 3);
    syr2k_t *call = (syr2k_t *)blas_function(it, hermitian ? "her2k" : "syr2k");
    return blas_right(it,
                      call(it->handle, fill, operation, n, k, it->alpha_bytes, a.array.device,
                           a.distance, b.array.device, b.distance, it->beta_bytes, c.array.device,
                           c.distance),
                      all, 3);
}

static bool trmm(blas_case_t *it)
{
    const int m = blas_random_size(it), n = blas_random_size(it), fill = blas_random_fill(it);
    const int side = sweep_random_between(&it->random, BLAS_LEFT, BLAS_RIGHT);
    const int diagonal = sweep_random_between(&it->random, BLAS_NON_UNIT, BLAS_UNIT);
    const int operation = blas_random_operation(it), order = side == BLAS_LEFT ? m : n;
    blas_matrix_t a, b, c, *all[] = {&a, &b, &c};
    scalars(it);
    it->beta = 0;
    blas_matrix_full(it, &a, order, order);
    blas_matrix_full(it, &b, m, n);
    blas_matrix_full(it, &c, m, n);
    blas_dense_t whole = blas_dense_operated(blas_matrix_triangular(&a, fill, diagonal), operation);
    blas_dense_t other = blas_matrix_dense(&b, 0);
    if (side == BLAS_LEFT)
        expect(it, &c, &whole, &other, BLAS_FULL);
    else
        expect(it, &c, &other, &whole, BLAS_FULL);
    snprintf(it->text, sizeof(it->text), "%ctrmm side %d fill %d operation %d diagonal %d %d x %d",
             it->letter, side, fill, operation, diagonal, m, n);
    blas_send(all, 3);
    trmm_t *call = (trmm_t *)blas_function(it, "trmm");
    return blas_right(it,
                      call(it->handle, side, fill, operation, diagonal, m, n, it->alpha_bytes,
                           a.array.device, a.distance, b.array.device, b.distance, c.array.device,
                           c.distance),
                      all, 3);
}

// c = alpha * op(a) + beta * op(b), as the product of op(a) and 1 with op(b) in place of c's
// numbers.
static void geam_expect(blas_case_t *it, blas_matrix_t *c, blas_dense_t a, blas_dense_t b)
{
    blas_dense_t left = beside(&a, &b, 1);
    blas_dense_t right = blas_dense_make(a.columns + b.columns, a.columns);
    for (int j = 0; j < a.columns; j++) {
        *blas_dense_at(&right, j, j) = it->alpha;
        *blas_dense_at(&right, a.columns + j, j) = it->beta;
    }
    const blas_sum_t sum = {&left, &right, 1, 0, it->type, BLAS_FULL};
    blas_matrix_expect(it, c, 0, &sum);
    blas_dense_free(&left);
    blas_dense_free(&right);
    blas_dense_free(&a);
    blas_dense_free(&b);
}

static bool geam(blas_case_t *it)
{
    const int m = blas_random_size(it), n = blas_random_size(it);
    const int operation_a = blas_random_operation(it), operation_b = blas_random_operation(it);
    blas_matrix_t a, b, c, *all[] = {&a, &b, &c};
    scalars(it);
    blas_matrix_full(it, &a, operation_a == BLAS_NONE ? m : n, operation_a == BLAS_NONE ? n : m);
    blas_matrix_full(it, &b, operation_b == BLAS_NONE ? m : n, operation_b == BLAS_NONE ? n : m);
    blas_matrix_full(it, &c, m, n);
    geam_expect(it, &c, blas_dense_operated(blas_matrix_dense(&a, 0), operation_a),
                blas_dense_operated(blas_matrix_dense(&b, 0), operation_b));
    snprintf(it->text, sizeof(it->text), "%cgeam %d %d %d x %d", it->letter, operation_a,
             operation_b, m, n);
    blas_send(all, 3);
    geam_t *call = (geam_t *)blas_function(it, "geam");
    return blas_right(it,
                      call(it->handle, operation_a, operation_b, m, n, it->alpha_bytes,
                           a.array.device, a.distance, it->beta_bytes, b.array.device, b.distance,
                           c.array.device, c.distance),
                      all, 3);
}

bool blas_matrices_case(blas_case_t *it)
{
    const bool hermitian = it->type->is_complex && sweep_random_next(&it->random) % 2;
    switch (sweep_random_next(&it->random) % 5) {
    case 0:
        return symm(it, hermitian);
    case 1:
        return syrk(it, hermitian);
    case 2:
        return syr2k(it, hermitian);
    case 3:
        return trmm(it);
    default:
        return geam(it);
    }
}
