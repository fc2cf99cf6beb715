// Products of matrices in all types that rocBLAS has kernels of Tensile for.
#include "blas.h"

#include <stdio.h>
#include <string.h>

typedef int gemm_ex_t(void *, int, int, int, int, int, const void *, const void *, int, int,
                      const void *, int, int, const void *, const void *, int, int, void *, int,
                      int, int, int, int32_t, uint32_t);
typedef int gemm_strided_ex_t(void *, int, int, int, int, int, const void *, const void *, int, int,
                              int64_t, const void *, int, int, int64_t, const void *, const void *,
                              int, int, int64_t, void *, int, int, int64_t, int, int, int, int32_t,
                              uint32_t);

// What goes in, comes out, and is summed in between.
static const unsigned char COMBINATIONS[][3] = {
    {SWEEP_F16, SWEEP_F16, SWEEP_F16},  {SWEEP_F16, SWEEP_F16, SWEEP_F32},
    {SWEEP_F16, SWEEP_F32, SWEEP_F32},  {SWEEP_BF16, SWEEP_BF16, SWEEP_F32},
    {SWEEP_BF16, SWEEP_F32, SWEEP_F32}, {SWEEP_I8, SWEEP_I32, SWEEP_I32},
    {SWEEP_F32, SWEEP_F32, SWEEP_F32},  {SWEEP_F64, SWEEP_F64, SWEEP_F64},
    {SWEEP_C32, SWEEP_C32, SWEEP_C32},  {SWEEP_C64, SWEEP_C64, SWEEP_C64},
};

typedef struct product {
    const sweep_type_t *in, *out, *computed;
    int operation_a, operation_b, m, n, k, copies;
    blas_matrix_t a, b, c;
} product_t;

static void product_choose(blas_case_t *it, product_t *product)
{
    const unsigned char *types =
        COMBINATIONS[sweep_random_next(&it->random) % (sizeof(COMBINATIONS) / 3)];
    product->in = &SWEEP_TYPES[types[0]];
    product->out = &SWEEP_TYPES[types[1]];
    product->computed = &SWEEP_TYPES[types[2]];
    if (types[0] == SWEEP_I8)
        it->whole_limit = 100;
    product->operation_a = blas_random_operation(it);
    product->operation_b = blas_random_operation(it);
    product->m = blas_random_size(it);
    product->n = blas_random_size(it);
    product->k = blas_random_size(it);
    product->copies =
        sweep_random_next(&it->random) % 3 ? 1 : sweep_random_between(&it->random, 2, 4);
    it->alpha = blas_random_scalar(it, product->computed, it->alpha_bytes);
    it->beta = blas_random_scalar(it, product->computed, it->beta_bytes);
}

static void product_matrices(blas_case_t *it, product_t *product)
{
    const bool plain_a = product->operation_a == BLAS_NONE;
    const bool plain_b = product->operation_b == BLAS_NONE;
    const int m = product->m, n = product->n, k = product->k;
    blas_matrix_strided(it, &product->a, product->in, plain_a ? m : k, plain_a ? k : m,
                        product->copies);
    blas_matrix_strided(it, &product->b, product->in, plain_b ? k : n, plain_b ? n : k,
                        product->copies);
    blas_matrix_strided(it, &product->c, product->out, m, n, product->copies);
    for (int copy = 0; copy < product->copies; copy++) {
        blas_dense_t a =
            blas_dense_operated(blas_matrix_dense(&product->a, copy), product->operation_a);
        blas_dense_t b =
            blas_dense_operated(blas_matrix_dense(&product->b, copy), product->operation_b);
        const blas_sum_t sum = {&a, &b, it->alpha, it->beta, product->computed, BLAS_FULL};
        blas_matrix_expect(it, &product->c, copy, &sum);
        blas_dense_free(&a);
        blas_dense_free(&b);
    }
}

static int product_call(blas_case_t *it, const product_t *of)
{
    const blas_matrix_t *a = &of->a, *b = &of->b, *c = &of->c;
    const int in = of->in->blas_id, out = of->out->blas_id, computed = of->computed->blas_id;
    void *data = c->array.device;
    if (of->copies > 1) {
        gemm_strided_ex_t *call =
            (gemm_strided_ex_t *)sweep_function(it->library, "rocblas_gemm_strided_batched_ex");
        return call(it->handle, of->operation_a, of->operation_b, of->m, of->n, of->k,
                    it->alpha_bytes, a->array.device, in, a->distance, a->stride, b->array.device,
                    in, b->distance, b->stride, it->beta_bytes, data, out, c->distance, c->stride,
                    data, out, c->distance, c->stride, of->copies, computed, 0, 0, 0);
    }
    gemm_ex_t *call = (gemm_ex_t *)sweep_function(it->library, "rocblas_gemm_ex");
    return call(it->handle, of->operation_a, of->operation_b, of->m, of->n, of->k, it->alpha_bytes,
                a->array.device, in, a->distance, b->array.device, in, b->distance, it->beta_bytes,
                data, out, c->distance, data, out, c->distance, computed, 0, 0, 0);
}

bool blas_gemm_case(blas_case_t *it)
{
    product_t product;
    product_choose(it, &product);
    product_matrices(it, &product);
    snprintf(it->text, sizeof(it->text),
             "gemm %s to %s by %s, %c%c, %d x %d x %d, %d times, ld %d %d %d, %s", product.in->name,
             product.out->name, product.computed->name, "NTC"[product.operation_a - BLAS_NONE],
             "NTC"[product.operation_b - BLAS_NONE], product.m, product.n, product.k,
             product.copies, product.a.distance, product.b.distance, product.c.distance,
             it->whole_limit ? "whole" : "any");
    blas_matrix_t *matrices[] = {&product.a, &product.b, &product.c};
    blas_send(matrices, 3);
    return blas_right(it, product_call(it, &product), matrices, 3);
}
