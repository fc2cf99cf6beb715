// Level 2 of rocBLAS, without triangular systems.
#include "blas.h"

#include <stdio.h>

typedef int gemv_t(void *, int, int, int, const void *, const void *, int, const void *, int,
                   const void *, void *, int);
typedef int gbmv_t(void *, int, int, int, int, int, const void *, const void *, int, const void *,
                   int, const void *, void *, int);
typedef int symv_t(void *, int, int, const void *, const void *, int, const void *, int,
                   const void *, void *, int);
typedef int sbmv_t(void *, int, int, int, const void *, const void *, int, const void *, int,
                   const void *, void *, int);
typedef int spmv_t(void *, int, int, const void *, const void *, const void *, int, const void *,
                   void *, int);
typedef int ger_t(void *, int, int, const void *, const void *, int, const void *, int, void *,
                  int);
typedef int syr_t(void *, int, int, const void *, const void *, int, void *, int);
typedef int spr_t(void *, int, int, const void *, const void *, int, void *);
typedef int trmv_t(void *, int, int, int, int, const void *, int, void *, int);
typedef int tbmv_t(void *, int, int, int, int, int, const void *, int, void *, int);
typedef int tpmv_t(void *, int, int, int, int, const void *, void *, int);

static void scalars(blas_case_t *it)
{
    it->alpha = blas_random_scalar(it, it->type, it->alpha_bytes);
    it->beta = blas_random_scalar(it, it->type, it->beta_bytes);
}

// y = alpha * a * x + beta * y
static void expect(blas_case_t *it, blas_matrix_t *y, blas_dense_t a, const blas_matrix_t *x)
{
    blas_dense_t column = blas_matrix_dense(x, 0);
    const blas_sum_t sum = {&a, &column, it->alpha, it->beta, it->type, BLAS_FULL};
    blas_matrix_expect(it, y, 0, &sum);
    blas_dense_free(&a);
    blas_dense_free(&column);
}

static bool gemv(blas_case_t *it, bool band)
{
    const int m = blas_random_size(it), n = blas_random_size(it);
    const int operation = blas_random_operation(it);
    const int below = sweep_random_between(&it->random, 0, m - 1);
    const int above = sweep_random_between(&it->random, 0, n - 1);
    blas_matrix_t a, x, y, *all[] = {&a, &x, &y};
    scalars(it);
    if (band)
        blas_matrix_band(it, &a, m, n, below, above);
    else
        blas_matrix_full(it, &a, m, n);
    blas_vector(it, &x, operation == BLAS_NONE ? n : m);
    blas_vector(it, &y, operation == BLAS_NONE ? m : n);
    expect(it, &y, blas_dense_operated(blas_matrix_dense(&a, 0), operation), &x);
    snprintf(it->text, sizeof(it->text), "%c%s operation %d %d x %d, %d %d, increments %d %d",
             it->letter, band ? "gbmv" : "gemv", operation, m, n, below, above, blas_increment(&x),
             blas_increment(&y));
    blas_send(all, 3);
    if (band) {
        gbmv_t *call = (gbmv_t *)blas_function(it, "gbmv");
        return blas_right(it,
                          call(it->handle, operation, m, n, below, above, it->alpha_bytes,
                               a.array.device, a.distance, x.array.device, blas_increment(&x),
                               it->beta_bytes, y.array.device, blas_increment(&y)),
                          all, 3);
    }
    gemv_t *call = (gemv_t *)blas_function(it, "gemv");
    return blas_right(it,
                      call(it->handle, operation, m, n, it->alpha_bytes, a.array.device, a.distance,
                           x.array.device, blas_increment(&x), it->beta_bytes, y.array.device,
                           blas_increment(&y)),
                      all, 3);
}

typedef struct symmetric {
    blas_layout_t layout;
    int n, fill, beside; // diagonals beside the main one that LAYOUT_BAND has
} symmetric_t;

static void symmetric_choose(blas_case_t *it, symmetric_t *which, blas_matrix_t *a)
{
    static const blas_layout_t LAYOUTS[] = {LAYOUT_FULL, LAYOUT_PACKED_UPPER, LAYOUT_BAND};
    which->layout = LAYOUTS[sweep_random_next(&it->random) % 3];
    which->n = blas_random_size(it);
    which->fill = blas_random_fill(it);
    which->beside = sweep_random_between(&it->random, 0, which->n - 1);
    const bool upper = which->fill == BLAS_UPPER;
    if (which->layout == LAYOUT_BAND)
        blas_matrix_band(it, a, which->n, which->n, upper ? 0 : which->beside,
                         upper ? which->beside : 0);
    else if (which->layout == LAYOUT_FULL)
        blas_matrix_full(it, a, which->n, which->n);
    else
        blas_matrix_packed(it, a, which->n, which->fill);
}

static int symv_call(blas_case_t *it, const symmetric_t *which, blas_matrix_t *const *all,
                     bool hermitian)
{
    const void *a = all[0]->array.device, *x = all[1]->array.device;
    const int x_step = blas_increment(all[1]), y_step = blas_increment(all[2]);
    void *y = all[2]->array.device;
    if (which->layout == LAYOUT_FULL) {
        symv_t *call = (symv_t *)blas_function(it, hermitian ? "hemv" : "symv");
        return call(it->handle, which->fill, which->n, it->alpha_bytes, a, all[0]->distance, x,
                    x_step, it->beta_bytes, y, y_step);
    }
    if (which->layout == LAYOUT_BAND) {
        sbmv_t *call = (sbmv_t *)blas_function_of(it, "sbmv", "hbmv");
        return call(it->handle, which->fill, which->n, which->beside, it->alpha_bytes, a,
                    all[0]->distance, x, x_step, it->beta_bytes, y, y_step);
    }
    spmv_t *call = (spmv_t *)blas_function_of(it, "spmv", "hpmv");
    return call(it->handle, which->fill, which->n, it->alpha_bytes, a, x, x_step, it->beta_bytes, y,
                y_step);
}

// Not with both scalars 0: rocBLAS multiplies what was there by 0 then, and a NaN stays one.
static bool symv(blas_case_t *it)
{
    symmetric_t which;
    blas_matrix_t a, x, y, *all[] = {&a, &x, &y};
    do
        scalars(it);
    while (it->alpha == 0 && it->beta == 0);
    symmetric_choose(it, &which, &a);
    const bool choice = sweep_random_next(&it->random) % 2 || which.layout != LAYOUT_FULL;
    const bool hermitian = it->type->is_complex && choice;
    blas_vector(it, &x, which.n);
    blas_vector(it, &y, which.n);
    expect(it, &y, blas_matrix_symmetric(&a, which.fill, hermitian), &x);
    snprintf(it->text, sizeof(it->text), "%csymv layout %d hermitian %d fill %d %d %d, %d %d",
             it->letter, which.layout, hermitian, which.fill, which.n, which.beside,
             blas_increment(&x), blas_increment(&y));
    blas_send(all, 3);
    return blas_right(it, symv_call(it, &which, all, hermitian), all, 3);
}

static int trmv_call(blas_case_t *it, const symmetric_t *which, blas_matrix_t *const *all,
                     int operation, int diagonal)
{
    const void *a = all[0]->array.device;
    void *x = all[1]->array.device;
    const int step = blas_increment(all[1]);
    if (which->layout == LAYOUT_FULL) {
        trmv_t *call = (trmv_t *)blas_function(it, "trmv");
        return call(it->handle, which->fill, operation, diagonal, which->n, a, all[0]->distance, x,
                    step);
    }
    if (which->layout == LAYOUT_BAND) {
        tbmv_t *call = (tbmv_t *)blas_function(it, "tbmv");
        return call(it->handle, which->fill, operation, diagonal, which->n, which->beside, a,
                    all[0]->distance, x, step);
    }
    tpmv_t *call = (tpmv_t *)blas_function(it, "tpmv");
    return call(it->handle, which->fill, operation, diagonal, which->n, a, x, step);
}

static bool trmv(blas_case_t *it)
{
    symmetric_t which;
    blas_matrix_t a, x, *all[] = {&a, &x};
    const int operation = blas_random_operation(it);
    const int diagonal = sweep_random_between(&it->random, BLAS_NON_UNIT, BLAS_UNIT);
    symmetric_choose(it, &which, &a);
    blas_vector(it, &x, which.n);
    blas_dense_t whole =
        blas_dense_operated(blas_matrix_triangular(&a, which.fill, diagonal), operation);
    blas_dense_t column = blas_matrix_dense(&x, 0);
    // In place: what was there is part of the product already.
    const blas_sum_t sum = {&whole, &column, 1, 0, it->type, BLAS_FULL};
    snprintf(it->text, sizeof(it->text),
             "%ctrmv layout %d fill %d operation %d diagonal %d %d %d, %d", it->letter,
             which.layout, which.fill, operation, diagonal, which.n, which.beside,
             blas_increment(&x));
    blas_send(all, 2);
    blas_matrix_expect(it, &x, 0, &sum);
    blas_dense_free(&whole);
    blas_dense_free(&column);
    return blas_right(it, trmv_call(it, &which, all, operation, diagonal), all, 2);
}

// a = alpha * x * y' + a, y' as the operation says
static bool ger(blas_case_t *it, int operation)
{
    const int m = blas_random_size(it), n = blas_random_size(it);
    blas_matrix_t x, y, a, *all[] = {&x, &y, &a};
    scalars(it);
    it->beta = 1;
    blas_vector(it, &x, m);
    blas_vector(it, &y, n);
    blas_matrix_full(it, &a, m, n);
    blas_dense_t column = blas_matrix_dense(&x, 0);
    blas_dense_t row = blas_dense_operated(blas_matrix_dense(&y, 0), operation);
    const blas_sum_t sum = {&column, &row, it->alpha, 1, it->type, BLAS_FULL};
    blas_matrix_expect(it, &a, 0, &sum);
    blas_dense_free(&column);
    blas_dense_free(&row);
    snprintf(it->text, sizeof(it->text), "%cger operation %d %d x %d, %d %d", it->letter, operation,
             m, n, blas_increment(&x), blas_increment(&y));
    blas_send(all, 3);
    ger_t *call =
        (ger_t *)blas_function_of(it, "ger", operation == BLAS_CONJUGATE ? "gerc" : "geru");
    return blas_right(it,
                      call(it->handle, m, n, it->alpha_bytes, x.array.device, blas_increment(&x),
                           y.array.device, blas_increment(&y), a.array.device, a.distance),
                      all, 3);
}

static bool syr(blas_case_t *it)
{
    const int n = blas_random_size(it), fill = blas_random_fill(it);
    const bool packed = sweep_random_next(&it->random) % 2;
    blas_matrix_t x, a, *all[] = {&x, &a};
    scalars(it);
    blas_vector(it, &x, n);
    if (packed)
        blas_matrix_packed(it, &a, n, fill);
    else
        blas_matrix_full(it, &a, n, n);
    blas_dense_t column = blas_matrix_dense(&x, 0);
    blas_dense_t row = blas_dense_operated(blas_matrix_dense(&x, 0), BLAS_TRANSPOSE);
    const blas_sum_t sum = {&column, &row, it->alpha, 1, it->type, fill};
    blas_matrix_expect(it, &a, 0, &sum);
    blas_dense_free(&column);
    blas_dense_free(&row);
    snprintf(it->text, sizeof(it->text), "%c%s fill %d %d, %d", it->letter, packed ? "spr" : "syr",
             fill, n, blas_increment(&x));
    blas_send(all, 2);
    if (packed) {
        spr_t *call = (spr_t *)blas_function(it, "spr");
        return blas_right(it,
                          call(it->handle, fill, n, it->alpha_bytes, x.array.device,
                               blas_increment(&x), a.array.device),
                          all, 2);
    }
    syr_t *call = (syr_t *)blas_function(it, "syr");
    return blas_right(it,
                      call(it->handle, fill, n, it->alpha_bytes, x.array.device, blas_increment(&x),
                           a.array.device, a.distance),
                      all, 2);
}

bool blas_vectors_case(blas_case_t *it)
{
    switch (sweep_random_next(&it->random) % 7) {
    case 0:
        return gemv(it, false);
    case 1:
        return gemv(it, true);
    case 2:
        return symv(it);
    case 3:
        return trmv(it);
    case 4:
        return ger(it, BLAS_TRANSPOSE);
    case 5:
        return ger(it, it->type->is_complex ? BLAS_CONJUGATE : BLAS_TRANSPOSE);
    default:
        return syr(it);
    }
}
