// fft_sweep FIRST COUNT: transforms of rocFFT of random kinds, lengths and layouts, one for each
// seed, against sums over twiddle factors, computed on the host with the extended type.
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIMENSIONS_MAX = 3, POINTS_MAX = 12000 };
enum { COMPLEX_FORWARD, COMPLEX_INVERSE, REAL_FORWARD, REAL_INVERSE };
enum { LAYOUT_COMPLEX = 0, LAYOUT_REAL = 2, LAYOUT_HERMITIAN = 3 }; // rocfft_array_type

typedef int setup_t(void);
typedef int plan_create_t(void **, int, int, int, size_t, const size_t *, size_t, void *);
typedef int plan_destroy_t(void *);
typedef int execute_t(void *, void **, void **, void *);
typedef int description_create_t(void **);
typedef int layout_t(void *, int, int, const size_t *, const size_t *, size_t, const size_t *,
                     size_t, size_t, const size_t *, size_t);

// Where the numbers of one side lie.
typedef struct side {
    int layout;
    const sweep_type_t *type;
    size_t lengths[DIMENSIONS_MAX], strides[DIMENSIONS_MAX], distance;
    sweep_array_t array;
} side_t;

typedef struct transform {
    sweep_random_t random;
    void *library;
    int kind, precision; // 0: single, 1: double
    size_t dimensions, lengths[DIMENSIONS_MAX], points, batch;
    bool in_place;
    side_t in, out;
} transform_t;

static size_t between(transform_t *it, size_t low, size_t high)
{
    return (size_t)sweep_random_between(&it->random, (int)low, (int)high);
}

// Products of small primes, as kernels are made for, and any number.
static size_t random_length(transform_t *it, size_t limit)
{
    static const size_t PRIMES[] = {2, 2, 2, 3, 3, 5, 7, 11, 13};
    if (between(it, 0, 3) == 0)
        return between(it, 1, limit < 600 ? limit : 600);
    size_t length = 1;
    for (size_t wanted = between(it, 1, limit);;) {
        const size_t next = length * PRIMES[between(it, 0, 8)];
        if (next > wanted)
            return length;
        length = next;
    }
}

static void transform_choose(transform_t *it)
{
    it->kind = (int)between(it, COMPLEX_FORWARD, REAL_INVERSE);
    it->precision = (int)between(it, 0, 1);
    it->dimensions = between(it, 1, DIMENSIONS_MAX);
    it->points = 1;
    for (size_t d = 0; d < it->dimensions; d++) {
        const size_t limit = POINTS_MAX / it->points;
        it->lengths[d] = random_length(it, it->dimensions > 1 && limit > 200 ? 200 : limit);
        it->points *= it->lengths[d];
    }
    it->batch = it->points > 4000 ? 1 : between(it, 1, 4);
    it->in_place = it->kind < REAL_FORWARD && between(it, 0, 2) == 0;
}

// Strides that leave room here and there; none for what happens in place.
static void side_make(transform_t *it, side_t *side, int layout)
{
    const bool spaced = !it->in_place && between(it, 0, 2) == 0;
    const bool real = layout == LAYOUT_REAL;
    const int type = real ? SWEEP_F32 : SWEEP_C32;
    size_t distance = spaced ? between(it, 1, 3) : 1;
    side->layout = layout;
    side->type = &SWEEP_TYPES[type + it->precision];
    for (size_t d = 0; d < it->dimensions; d++) {
        const bool halved = layout == LAYOUT_HERMITIAN && d == 0;
        side->lengths[d] = halved ? it->lengths[0] / 2 + 1 : it->lengths[d];
        side->strides[d] = distance;
        distance = distance * side->lengths[d] + (spaced ? between(it, 0, 5) : 0);
    }
    side->distance = distance;
    sweep_array_make(&side->array, side->type, distance * it->batch);
}

// Where point number `point` of all lengths is; false: it is not kept.
static bool side_index(const transform_t *it, const side_t *side, size_t point, size_t copy,
                       size_t *index)
{
    *index = copy * side->distance;
    for (size_t d = 0; d < it->dimensions; d++) {
        const size_t at = point % it->lengths[d];
        if (at >= side->lengths[d])
            return false;
        *index += at * side->strides[d];
        point /= it->lengths[d];
    }
    return true;
}

static void line_transform(number_t *first, size_t length, size_t stride, const number_t *factors)
{
    number_t *sums = calloc(length, sizeof(*sums));
    if (!sums)
        abort();
    for (size_t k = 0; k < length; k++) {
        size_t turn = 0;
        for (size_t i = 0; i < length; i++) {
            sums[k] += first[i * stride] * factors[turn];
            turn = turn + k < length ? turn + k : turn + k - length;
        }
    }
    for (size_t k = 0; k < length; k++)
        first[k * stride] = sums[k];
    free(sums);
}

// The transform by its definition, one dimension after the other.
static void points_transform(const transform_t *it, number_t *points, int sign)
{
    size_t stride = 1;
    for (size_t d = 0; d < it->dimensions; d++) {
        const size_t length = it->lengths[d];
        number_t *factors = calloc(length, sizeof(*factors));
        if (!factors)
            abort();
        for (size_t i = 0; i < length; i++) {
            const long double angle = 2 * acosl(-1) * (long double)i / (long double)length;
            factors[i] = CMPLXL(cosl(angle), sign * sinl(angle));
        }
        for (size_t point = 0; point < it->points; point++) {
            if (point / stride % length == 0)
                line_transform(points + point, length, stride, factors);
        }
        free(factors);
        stride *= length;
    }
}

static double points_bound(const transform_t *it, const number_t *points, const sweep_type_t *type)
{
    long double squares = 0;
    for (size_t i = 0; i < it->points; i++)
        squares += creall(points[i] * conjl(points[i]));
    const long double usual = sqrtl(squares / (long double)it->points);
    return (double)(64 * sweep_unit(type) * (log2l((long double)it->points) + 2) * usual);
}

// Puts points into a side as numbers that it holds, or expects them there.
static void points_put(transform_t *it, side_t *side, number_t *points, size_t copy, double bound)
{
    size_t index;
    for (size_t point = 0; point < it->points; point++) {
        if (!side_index(it, side, point, copy, &index))
            continue;
        if (bound > 0)
            sweep_array_expect(&side->array, index, points[point], bound);
        else
            sweep_put(side->type, side->array.host, index, points[point]);
    }
}

// One transform's numbers and what is to come of them.
static void copy_make(transform_t *it, size_t copy)
{
    const bool from_real = it->kind >= REAL_FORWARD;
    const sweep_type_t *type = &SWEEP_TYPES[(from_real ? SWEEP_F32 : SWEEP_C32) + it->precision];
    side_t *out = it->in_place ? &it->in : &it->out;
    number_t *points = calloc(it->points, sizeof(*points));
    number_t *changed = calloc(it->points, sizeof(*points));
    if (!points || !changed)
        abort();
    for (size_t i = 0; i < it->points; i++)
        changed[i] = points[i] = sweep_random_number(&it->random, type, 0);
    points_transform(it, changed, it->kind == COMPLEX_INVERSE ? 1 : -1);
    if (it->kind != REAL_INVERSE) {
        points_put(it, &it->in, points, copy, 0);
        points_put(it, out, changed, copy, points_bound(it, changed, type));
    } else { // back again: every number comes as often as there are points
        points_put(it, &it->in, changed, copy, 0);
        for (size_t i = 0; i < it->points; i++)
            points[i] *= (long double)it->points;
        points_put(it, out, points, copy, points_bound(it, points, type));
    }
    free(points);
    free(changed);
}

static int transform_run(transform_t *it)
{
    void *plan = NULL, *description = NULL;
    side_t *in = &it->in, *out = it->in_place ? &it->in : &it->out;
    description_create_t *describe =
        (description_create_t *)sweep_function(it->library, "rocfft_plan_description_create");
    layout_t *lay =
        (layout_t *)sweep_function(it->library, "rocfft_plan_description_set_data_layout");
    plan_create_t *create = (plan_create_t *)sweep_function(it->library, "rocfft_plan_create");
    execute_t *execute = (execute_t *)sweep_function(it->library, "rocfft_execute");
    int status = describe(&description);
    if (!status)
        status = lay(description, in->layout, out->layout, NULL, NULL, it->dimensions, in->strides,
                     in->distance, it->dimensions, out->strides, out->distance);
    if (!status)
        status = create(&plan, it->in_place ? 0 : 1, it->kind, it->precision, it->dimensions,
                        it->lengths, it->batch, description);
    if (!status)
        status = execute(plan, &in->array.device, &out->array.device, NULL);
    sweep_synchronize();
    ((plan_destroy_t *)sweep_function(it->library, "rocfft_plan_destroy"))(plan);
    ((plan_destroy_t *)sweep_function(it->library, "rocfft_plan_description_destroy"))(description);
    return status;
}

static void transform_print(const transform_t *it, int seed)
{
    static const char *const KINDS[] = {"complex forward", "complex inverse", "real forward",
                                        "real inverse"};
    printf("seed %d: %s, %s, lengths", seed, KINDS[it->kind], it->precision ? "double" : "single");
    for (size_t d = 0; d < it->dimensions; d++)
        printf(" %zu", it->lengths[d]);
    printf(", %zu times, strides %zu to %zu%s\n", it->batch, it->in.strides[0],
           it->in_place ? it->in.strides[0] : it->out.strides[0], it->in_place ? ", in place" : "");
}

static bool case_run(void *library, int seed)
{
    transform_t it = {.random.state = (uint64_t)seed * 0x2545f4914f6cdd1du, .library = library};
    transform_choose(&it);
    side_make(&it, &it.in,
              it.kind == REAL_FORWARD   ? LAYOUT_REAL
              : it.kind == REAL_INVERSE ? LAYOUT_HERMITIAN
                                        : LAYOUT_COMPLEX);
    if (!it.in_place)
        side_make(&it, &it.out,
                  it.kind == REAL_FORWARD   ? LAYOUT_HERMITIAN
                  : it.kind == REAL_INVERSE ? LAYOUT_REAL
                                            : LAYOUT_COMPLEX);
    for (size_t copy = 0; copy < it.batch; copy++)
        copy_make(&it, copy);
    sweep_array_send(&it.in.array);
    if (!it.in_place)
        sweep_array_send(&it.out.array);
    if (getenv("SWEEP_VERBOSE"))
        transform_print(&it, seed);
    fflush(stdout);
    const int status = transform_run(&it);
    size_t wrong = status != 0;
    if (status)
        printf("  status %d\n", status);
    // What a transform to real numbers came from may be overwritten.
    sweep_array_fetch(&it.in.array);
    if (it.kind != REAL_INVERSE)
        wrong += sweep_array_wrong(&it.in.array, "in");
    sweep_array_free(&it.in.array);
    if (!it.in_place) {
        sweep_array_fetch(&it.out.array);
        wrong += sweep_array_wrong(&it.out.array, "out");
        sweep_array_free(&it.out.array);
    }
    if (wrong)
        transform_print(&it, seed);
    fflush(stdout);
    return wrong == 0;
}

int main(int argc, char **argv)
{
    static const char *const NAMES[] = {"librocfft.so.0", NULL};
    if (argc != 3) {
        puts("usage: fft_sweep FIRST COUNT");
        return 2;
    }
    void *library = sweep_library(NAMES);
    const int first = atoi(argv[1]), count = atoi(argv[2]);
    int wrong = 0;
    if (((setup_t *)sweep_function(library, "rocfft_setup"))() != 0)
        wrong = 1;
    for (int seed = first; seed < first + count; seed++)
        wrong += !case_run(library, seed);
    printf("%d cases, %d wrong\n", count, wrong);
    return wrong != 0;
}
