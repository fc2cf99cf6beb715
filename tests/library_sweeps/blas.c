#include "blas.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

number_t *blas_dense_at(const blas_dense_t *dense, int row, int column)
{
    return &dense->at[(size_t)row * (size_t)dense->columns + (size_t)column];
}

blas_dense_t blas_dense_make(int rows, int columns)
{
    blas_dense_t dense = {rows, columns,
                          calloc((size_t)rows * (size_t)columns + 1, sizeof(number_t))};
    if (!dense.at)
        abort();
    return dense;
}

void blas_dense_free(blas_dense_t *dense)
{
    free(dense->at);
}

blas_dense_t blas_dense_operated(blas_dense_t dense, int operation)
{
    if (operation == BLAS_NONE)
        return dense;
    blas_dense_t turned = blas_dense_make(dense.columns, dense.rows);
    for (int i = 0; i < dense.rows; i++) {
        for (int j = 0; j < dense.columns; j++) {
            const number_t number = *blas_dense_at(&dense, i, j);
            *blas_dense_at(&turned, j, i) = operation == BLAS_CONJUGATE ? conjl(number) : number;
        }
    }
    blas_dense_free(&dense);
    return turned;
}

void blas_dense_product(const blas_dense_t *a, const blas_dense_t *b, blas_dense_t *sums,
                        blas_dense_t *magnitudes)
{
    *sums = blas_dense_make(a->rows, b->columns);
    *magnitudes = blas_dense_make(a->rows, b->columns);
    for (int i = 0; i < a->rows; i++) {
        for (int k = 0; k < a->columns; k++) {
            const number_t left = *blas_dense_at(a, i, k);
            const long double size = fabsl(creall(left)) + fabsl(cimagl(left));
            for (int j = 0; j < b->columns; j++) {
                const number_t right = *blas_dense_at(b, k, j);
                *blas_dense_at(sums, i, j) += left * right;
                *blas_dense_at(magnitudes, i, j) +=
                    size * (fabsl(creall(right)) + fabsl(cimagl(right)));
            }
        }
    }
}

static void matrix_make(blas_matrix_t *matrix, const sweep_type_t *type, int64_t elements)
{
    matrix->copies = matrix->copies ? matrix->copies : 1;
    sweep_array_make(&matrix->array, type,
                     (size_t)(elements + (matrix->copies - 1) * matrix->stride));
}

void blas_matrix_strided(blas_case_t *it, blas_matrix_t *matrix, const sweep_type_t *type, int rows,
                         int columns, int copies)
{
    const int spare = sweep_random_between(&it->random, -4, 5);
    const int apart = sweep_random_between(&it->random, -4, 9);
    *matrix = (blas_matrix_t){.rows = rows, .columns = columns, .copies = copies, .increment = 1};
    matrix->distance = rows + (spare > 0 ? spare : 0);
    matrix->stride = (int64_t)matrix->distance * columns + (apart > 0 ? apart : 0);
    matrix_make(matrix, type, matrix->stride);
    blas_matrix_fill(it, matrix);
}

void blas_matrix_full(blas_case_t *it, blas_matrix_t *matrix, int rows, int columns)
{
    blas_matrix_strided(it, matrix, it->type, rows, columns, 1);
}

void blas_matrix_band(blas_case_t *it, blas_matrix_t *matrix, int rows, int columns, int below,
                      int above)
{
    *matrix = (blas_matrix_t){.layout = LAYOUT_BAND, .rows = rows, .columns = columns};
    matrix->below = below;
    matrix->above = above;
    matrix->distance = below + above + 1 + sweep_random_between(&it->random, 0, 3);
    matrix_make(matrix, it->type, (int64_t)matrix->distance * columns);
    blas_matrix_fill(it, matrix);
}

void blas_matrix_packed(blas_case_t *it, blas_matrix_t *matrix, int order, int fill)
{
    *matrix = (blas_matrix_t){.rows = order, .columns = order};
    matrix->layout = fill == BLAS_UPPER ? LAYOUT_PACKED_UPPER : LAYOUT_PACKED_LOWER;
    matrix_make(matrix, it->type, (int64_t)order * (order + 1) / 2);
    blas_matrix_fill(it, matrix);
}

void blas_vector(blas_case_t *it, blas_matrix_t *vector, int length)
{
    static const int INCREMENTS[] = {1, 1, 1, 2, 3, 7, -1, -2};
    const int increment = INCREMENTS[sweep_random_next(&it->random) % 8];
    *vector = (blas_matrix_t){.rows = length, .columns = 1, .increment = abs(increment)};
    vector->reversed = increment < 0;
    matrix_make(vector, it->type, (int64_t)length * vector->increment);
    blas_matrix_fill(it, vector);
}

int blas_increment(const blas_matrix_t *vector)
{
    return vector->reversed ? -vector->increment : vector->increment;
}

int64_t blas_matrix_index(const blas_matrix_t *matrix, int row, int column, int copy)
{
    const int64_t i = matrix->reversed ? matrix->rows - 1 - row : row, j = column;
    switch (matrix->layout) {
    case LAYOUT_PACKED_UPPER:
        return i <= j ? i + j * (j + 1) / 2 : -1;
    case LAYOUT_PACKED_LOWER:
        return i >= j ? i + j * (2 * matrix->rows - j - 1) / 2 : -1;
    case LAYOUT_BAND:
        return i - j <= matrix->below && j - i <= matrix->above
                   ? matrix->above + i - j + j * matrix->distance
                   : -1;
    default:
        return i * matrix->increment + j * matrix->distance + copy * matrix->stride;
    }
}

void blas_matrix_fill(blas_case_t *it, blas_matrix_t *matrix)
{
    const sweep_type_t *type = matrix->array.type;
    for (int copy = 0; copy < matrix->copies; copy++) {
        for (int j = 0; j < matrix->columns; j++) {
            for (int i = 0; i < matrix->rows; i++) {
                const int64_t index = blas_matrix_index(matrix, i, j, copy);
                if (index >= 0)
                    sweep_put(type, matrix->array.host, (size_t)index,
                              sweep_random_number(&it->random, type, it->whole_limit));
            }
        }
    }
}

blas_dense_t blas_matrix_dense(const blas_matrix_t *matrix, int copy)
{
    blas_dense_t dense = blas_dense_make(matrix->rows, matrix->columns);
    for (int i = 0; i < matrix->rows; i++) {
        for (int j = 0; j < matrix->columns; j++) {
            const int64_t index = blas_matrix_index(matrix, i, j, copy);
            if (index >= 0)
                *blas_dense_at(&dense, i, j) =
                    sweep_get(matrix->array.type, matrix->array.host, (size_t)index);
        }
    }
    return dense;
}

static bool in_triangle(int fill, int row, int column)
{
    return fill == BLAS_FULL || (fill == BLAS_UPPER ? row <= column : row >= column);
}

static void matrix_poison(blas_matrix_t *matrix, int fill, bool diagonal)
{
    for (int i = 0; i < matrix->rows; i++) {
        for (int j = 0; j < matrix->columns; j++) {
            const int64_t index = blas_matrix_index(matrix, i, j, 0);
            if (index >= 0 && (!in_triangle(fill, i, j) || (diagonal && i == j)))
                sweep_poison(&matrix->array, (size_t)index);
        }
    }
}

blas_dense_t blas_matrix_symmetric(blas_matrix_t *matrix, int fill, bool hermitian)
{
    if (hermitian) {
        for (int i = 0; i < matrix->rows; i++) {
            const size_t index = (size_t)blas_matrix_index(matrix, i, i, 0);
            const number_t number = sweep_get(matrix->array.type, matrix->array.host, index);
            sweep_put(matrix->array.type, matrix->array.host, index, creall(number));
        }
    }
    blas_dense_t dense = blas_matrix_dense(matrix, 0);
    for (int i = 0; i < dense.rows; i++) {
        for (int j = 0; j < dense.columns; j++) {
            if (in_triangle(fill, i, j))
                continue;
            const number_t other = *blas_dense_at(&dense, j, i);
            *blas_dense_at(&dense, i, j) = hermitian ? conjl(other) : other;
        }
    }
    matrix_poison(matrix, fill, false);
    return dense;
}

blas_dense_t blas_matrix_triangular(blas_matrix_t *matrix, int fill, int diagonal)
{
    blas_dense_t dense = blas_matrix_dense(matrix, 0);
    for (int i = 0; i < dense.rows; i++) {
        for (int j = 0; j < dense.columns; j++) {
            if (!in_triangle(fill, i, j))
                *blas_dense_at(&dense, i, j) = 0;
            if (i == j && diagonal == BLAS_UNIT)
                *blas_dense_at(&dense, i, j) = 1;
        }
    }
    matrix_poison(matrix, fill, diagonal == BLAS_UNIT);
    return dense;
}

// How far from the exact sum the library may be: sums of whole numbers that the type holds are
// exact, others have an error in each product and sum, and what is stored is rounded once more.
static double sum_bound(const blas_case_t *it, const blas_sum_t *sum, const sweep_type_t *stored,
                        long double magnitude, number_t exact)
{
    const long double limit = ldexpl(1, sum->computed->mantissa_bits);
    const long double stored_limit = ldexpl(1, stored->mantissa_bits);
    const bool is_exact = it->whole_limit && magnitude <= limit;
    if (is_exact && cabsl(exact) <= stored_limit)
        return 0;
    const long double factor = stored->is_complex ? 4 : 2;
    const long double rounded = 2 * sweep_unit(stored) * cabsl(exact) + stored->smallest;
    if (is_exact)
        return (double)rounded;
    return (double)(factor * (sum->a->columns + 4) *
                        (sweep_unit(sum->computed) * magnitude + sum->computed->smallest) +
                    rounded);
}

void blas_matrix_expect(blas_case_t *it, blas_matrix_t *matrix, int copy, const blas_sum_t *sum)
{
    const sweep_type_t *type = matrix->array.type;
    blas_dense_t sums, magnitudes;
    blas_dense_product(sum->a, sum->b, &sums, &magnitudes);
    for (int i = 0; i < matrix->rows; i++) {
        for (int j = 0; j < matrix->columns; j++) {
            const int64_t index = blas_matrix_index(matrix, i, j, copy);
            if (index < 0 || !in_triangle(sum->fill, i, j))
                continue;
            const number_t old =
                sum->beta == 0 ? 0 : sweep_get(type, matrix->array.host, (size_t)index);
            const number_t exact = sum->alpha * *blas_dense_at(&sums, i, j) + sum->beta * old;
            const long double magnitude =
                2 * cabsl(sum->alpha) * creall(*blas_dense_at(&magnitudes, i, j)) +
                2 * cabsl(sum->beta * old);
            sweep_array_expect(&matrix->array, (size_t)index, exact,
                               sum_bound(it, sum, type, magnitude, exact));
            if (sum->beta == 0)
                sweep_poison(&matrix->array, (size_t)index);
        }
    }
    blas_dense_free(&sums);
    blas_dense_free(&magnitudes);
}

// Most sizes are small: more of them differ in their kernels' tails.
int blas_random_size(blas_case_t *it)
{
    static const int LIMITS[] = {8, 20, 40, 70, 130, 200};
    return sweep_random_between(&it->random, 1, LIMITS[sweep_random_next(&it->random) % 6]);
}

int blas_random_fill(blas_case_t *it)
{
    return sweep_random_between(&it->random, BLAS_UPPER, BLAS_LOWER);
}

int blas_random_operation(blas_case_t *it)
{
    return sweep_random_between(&it->random, BLAS_NONE, BLAS_CONJUGATE);
}

number_t blas_random_scalar(blas_case_t *it, const sweep_type_t *type, unsigned char *bytes)
{
    const int kind = sweep_random_between(&it->random, 0, 4);
    const int limit = it->whole_limit ? 2 : 0;
    const number_t number =
        kind < 2 ? (number_t)kind : sweep_random_number(&it->random, type, limit);
    sweep_put(type, bytes, 0, number);
    return number;
}

void *blas_function(const blas_case_t *it, const char *name)
{
    char whole[64];
    snprintf(whole, sizeof(whole), "rocblas_%c%s", it->letter, name);
    return sweep_function(it->library, whole);
}

void *blas_function_of(const blas_case_t *it, const char *real, const char *complex_name)
{
    return blas_function(it, it->type->is_complex ? complex_name : real);
}

void blas_send(blas_matrix_t *const *matrices, int count)
{
    for (int i = 0; i < count; i++)
        sweep_array_send(&matrices[i]->array);
}

bool blas_right(blas_case_t *it, int status, blas_matrix_t *const *matrices, int count)
{
    size_t wrong = status != 0;
    if (status)
        printf("  status %d\n", status);
    sweep_synchronize();
    for (int i = 0; i < count; i++) {
        const char name[2] = {"abc"[i], 0};
        sweep_array_fetch(&matrices[i]->array);
        wrong += sweep_array_wrong(&matrices[i]->array, name);
        sweep_array_free(&matrices[i]->array);
    }
    if (wrong)
        printf("wrong: %s, alpha %Lg %+Lgi, beta %Lg %+Lgi\n", it->text, creall(it->alpha),
               cimagl(it->alpha), creall(it->beta), cimagl(it->beta));
    return wrong == 0;
}
