// Triangular systems of rocBLAS, of both levels: what they answer is put back into the equations.
#include "blas.h"

#include <math.h>
#include <stdio.h>

typedef int trsm_t(void *, int, int, int, int, int, int, const void *, const void *, int, void *,
                   int);
typedef int trsv_t(void *, int, int, int, int, const void *, int, void *, int);
typedef int tbsv_t(void *, int, int, int, int, int, const void *, int, void *, int);
typedef int tpsv_t(void *, int, int, int, int, const void *, void *, int);

typedef struct system {
    int side, fill, operation, diagonal;
    int order, others; // of the triangle; how many right sides
    int beside;        // diagonals of a band
    blas_matrix_t a, x;
    blas_dense_t right; // alpha times the right sides
} system_t;

// What is beside the diagonal is small enough for the triangle's inverse to be of its own size. The
// diagonal is real where it is to be conjugated: rocBLAS forgets to
// (rocblas_trsm_block_*_substitution).
static void matrix_condition(blas_matrix_t *a, int operation)
{
    const sweep_type_t *type = a->array.type;
    const bool real = operation == BLAS_CONJUGATE;
    for (int i = 0; i < a->rows; i++) {
        for (int j = 0; j < a->columns; j++) {
            const int64_t index = blas_matrix_index(a, i, j, 0);
            if (index < 0)
                continue;
            const number_t number = sweep_get(type, a->array.host, (size_t)index);
            const number_t tamed =
                i == j ? 2 + (real ? creall(number) : number) / 2 : number / a->rows;
            sweep_put(type, a->array.host, (size_t)index, tamed);
        }
    }
}

static void system_choose(blas_case_t *it, system_t *system)
{
    it->whole_limit = 0;
    it->alpha = blas_random_scalar(it, it->type, it->alpha_bytes);
    system->side = sweep_random_between(&it->random, BLAS_LEFT, BLAS_RIGHT);
    system->fill = blas_random_fill(it);
    system->operation = blas_random_operation(it);
    system->diagonal = sweep_random_between(&it->random, BLAS_NON_UNIT, BLAS_UNIT);
    system->order = blas_random_size(it);
    system->others = blas_random_size(it);
    system->beside = sweep_random_between(&it->random, 0, system->order - 1);
}

static void residual_print(number_t residual, long double bound, int row, int column)
{
    printf("  row %d, column %d: the equation is off by %Lg %+Lgi, within %Lg\n", row, column,
           creall(residual), cimagl(residual), bound);
}

// op(a) * x or x * op(a) against the right sides.
static int residuals_wrong(const system_t *system, const blas_dense_t *triangle,
                           const blas_dense_t *answer, const sweep_type_t *type)
{
    int wrong = 0;
    blas_dense_t sums, sizes;
    const bool left = system->side == BLAS_LEFT;
    blas_dense_product(left ? triangle : answer, left ? answer : triangle, &sums, &sizes);
    for (int i = 0; i < sums.rows; i++) {
        for (int j = 0; j < sums.columns; j++) {
            const number_t right = *blas_dense_at(&system->right, i, j);
            const number_t residual = *blas_dense_at(&sums, i, j) - right;
            const long double size = creall(*blas_dense_at(&sizes, i, j)) + cabsl(right);
            const long double bound = 16 * (system->order + 4) * sweep_unit(type) * (size + 0.01L);
            if (cabsl(residual) <= bound)
                continue;
            if (wrong++ < 4)
                residual_print(residual, bound, i, j);
        }
    }
    blas_dense_free(&sums);
    blas_dense_free(&sizes);
    return wrong;
}

// The answer stands where the right sides stood.
static bool system_right(blas_case_t *it, system_t *system, int status, blas_dense_t *triangle)
{
    sweep_array_t *array = &system->x.array;
    sweep_synchronize();
    sweep_array_fetch(array);
    blas_dense_t answer = blas_dense_make(system->x.rows, system->x.columns);
    for (int i = 0; i < answer.rows; i++) {
        for (int j = 0; j < answer.columns; j++) {
            const size_t index = (size_t)blas_matrix_index(&system->x, i, j, 0);
            *blas_dense_at(&answer, i, j) = sweep_get(it->type, array->after, index);
            // Judged here; the rest of the array, by blas_right.
            sweep_array_expect(array, index, *blas_dense_at(&answer, i, j), HUGE_VAL);
        }
    }
    const int wrong = residuals_wrong(system, triangle, &answer, it->type);
    if (wrong)
        printf("  %d equations do not hold\n", wrong);
    blas_dense_free(&answer);
    blas_dense_free(&system->right);
    blas_dense_free(triangle);
    blas_matrix_t *all[] = {&system->a, &system->x};
    const bool right = blas_right(it, status, all, 2);
    if (right && wrong)
        printf("wrong: %s, alpha %Lg %+Lgi\n", it->text, creall(it->alpha), cimagl(it->alpha));
    return right && !wrong;
}

static bool trsm(blas_case_t *it)
{
    system_t s;
    system_choose(it, &s);
    const int m = s.side == BLAS_LEFT ? s.order : s.others;
    const int n = s.side == BLAS_LEFT ? s.others : s.order;
    blas_matrix_full(it, &s.a, s.order, s.order);
    matrix_condition(&s.a, s.operation);
    blas_matrix_full(it, &s.x, m, n);
    blas_dense_t triangle =
        blas_dense_operated(blas_matrix_triangular(&s.a, s.fill, s.diagonal), s.operation);
    s.right = blas_matrix_dense(&s.x, 0);
    for (int i = 0; i < m * n; i++)
        s.right.at[i] *= it->alpha;
    snprintf(it->text, sizeof(it->text), "%ctrsm side %d fill %d operation %d diagonal %d %d x %d",
             it->letter, s.side, s.fill, s.operation, s.diagonal, m, n);
    blas_matrix_t *all[] = {&s.a, &s.x};
    blas_send(all, 2);
    trsm_t *call = (trsm_t *)blas_function(it, "trsm");
    const int status =
        call(it->handle, s.side, s.fill, s.operation, s.diagonal, m, n, it->alpha_bytes,
             s.a.array.device, s.a.distance, s.x.array.device, s.x.distance);
    return system_right(it, &s, status, &triangle);
}

static int trsv_call(blas_case_t *it, const system_t *s)
{
    const void *a = s->a.array.device;
    void *x = s->x.array.device;
    const int step = blas_increment(&s->x);
    if (s->a.layout == LAYOUT_FULL) {
        trsv_t *call = (trsv_t *)blas_function(it, "trsv");
        return call(it->handle, s->fill, s->operation, s->diagonal, s->order, a, s->a.distance, x,
                    step);
    }
    if (s->a.layout == LAYOUT_BAND) {
        tbsv_t *call = (tbsv_t *)blas_function(it, "tbsv");
        return call(it->handle, s->fill, s->operation, s->diagonal, s->order, s->beside, a,
                    s->a.distance, x, step);
    }
    tpsv_t *call = (tpsv_t *)blas_function(it, "tpsv");
    return call(it->handle, s->fill, s->operation, s->diagonal, s->order, a, x, step);
}

static bool trsv(blas_case_t *it)
{
    system_t s;
    system_choose(it, &s);
    s.side = BLAS_LEFT;
    const int layout = sweep_random_between(&it->random, 0, 2);
    const bool upper = s.fill == BLAS_UPPER;
    if (layout == 0)
        blas_matrix_full(it, &s.a, s.order, s.order);
    else if (layout == 1)
        blas_matrix_packed(it, &s.a, s.order, s.fill);
    else
        blas_matrix_band(it, &s.a, s.order, s.order, upper ? 0 : s.beside, upper ? s.beside : 0);
    matrix_condition(&s.a, s.operation);
    blas_vector(it, &s.x, s.order);
    blas_dense_t triangle =
        blas_dense_operated(blas_matrix_triangular(&s.a, s.fill, s.diagonal), s.operation);
    s.right = blas_matrix_dense(&s.x, 0);
    snprintf(it->text, sizeof(it->text),
             "%ctrsv layout %d fill %d operation %d diagonal %d %d %d, increment %d", it->letter,
             s.a.layout, s.fill, s.operation, s.diagonal, s.order, s.beside, blas_increment(&s.x));
    blas_matrix_t *all[] = {&s.a, &s.x};
    blas_send(all, 2);
    return system_right(it, &s, trsv_call(it, &s), &triangle);
}

bool blas_solve_case(blas_case_t *it)
{
    return sweep_random_next(&it->random) % 2 ? trsm(it) : trsv(it);
}
