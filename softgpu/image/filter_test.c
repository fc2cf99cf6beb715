/*
 * Which texels a coordinate means, against geometry: the image continued beyond its edges, as the
 * clamp modes describe it, and weights by distance from texel centres.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/float_bits.h"
#include "image/rows_host.h"

enum { WIDTH = 5, HEIGHT = 3, DEPTH = 4, BORDER = -1000 };

struct image_tap {
    uint16_t at[3]; /* x, y, and z or the layer */
    bool is_border;
    float weight;
};
struct image_footprint {
    unsigned count;
    struct image_tap taps[IMAGE_TAPS_MAX];
};
struct image_point {
    float at[3], layer;
    int32_t offset[3];
    bool linear, unnormalized;
};

static void tap_add(struct image_footprint *out, const struct image_taps taps[3], unsigned n,
                    unsigned lane, float weight)
{
    struct image_tap *tap = &out->taps[out->count++];
    *tap = (struct image_tap){.weight = weight};
    for (unsigned axis = 0; axis < 3; axis++) {
        const int32_t at = taps[axis].at[n >> axis & 1][lane];
        tap->is_border |= at < 0;
        tap->at[axis] = (uint16_t)(at < 0 ? 0 : at);
    }
}

/* The texels of a point, which any lane has, in the level's turn; all others have something else.
 */
static void footprint_make(const struct image_resource *image, const struct image_sampler *sampler,
                           const struct image_point *point, struct image_footprint *out)
{
    static unsigned turn;
    static struct image_taps taps[3];
    const struct image_rows *level = rows_level(turn++ % ROWS_LEVELS);
    const unsigned lane = turn % IMAGE_LANES;
    level = level ? level : &image_rows_portable;
    out->count = 0;
    for (unsigned n = 0; n < 3; n++) {
        const struct image_axis axis =
            image_axis_of(image, sampler, n, point->unnormalized, point->linear);
        image_row at;
        int32_t moved[IMAGE_LANES];
        for (unsigned other = 0; other < IMAGE_LANES; other++) {
            at[other] = f32_bits(other == lane ? point->at[n] : (float)rand() / 1e6f);
            moved[other] = other == lane ? point->offset[n] : rand() % 9;
        }
        if (n < image_dimensions(image))
            level->axis(&axis, at, point->offset[n] ? moved : NULL, &taps[n]);
        else
            memset(&taps[n], 0, sizeof taps[n]);
        taps[n].count += taps[n].count == 0;
    }
    if (image_has_layers(image)) {
        image_row layer = {0};
        layer[lane] = f32_bits(point->layer);
        level->layers(image->layers, layer, &taps[2]);
    }
    for (unsigned n = 0; n < IMAGE_TAPS_MAX; n++) {
        float weight[IMAGE_LANES];
        if (!image_tap_exists(taps, n))
            continue;
        const struct image_taken taken = level->taken(taps, n, weight);
        assert_true((taken.lanes >> lane & 1) == (weight[lane] > 0));
        if (!(taken.lanes >> lane & 1))
            continue;
        tap_add(out, taps, n, lane, weight[lane]);
        assert_true((taken.border >> lane & 1) == out->taps[out->count - 1].is_border);
    }
}

/* The value of texel n of a line of `size`, continued: its own number, or BORDER. */
static int continued(int n, int size, enum image_clamp clamp)
{
    int value[WIDTH], at = n;
    for (int i = 0; i < size; i++)
        value[i] = i;
    switch (clamp) {
    case CLAMP_WRAP:
        while (at < 0)
            at += size;
        while (at >= size)
            at -= size;
        return value[at];
    case CLAMP_MIRROR: /* walks back and forth */
        for (bool done = false; !done;) {
            done = true;
            if (at < 0) {
                at = -1 - at;
                done = false;
            } else if (at >= size) {
                at = 2 * size - 1 - at;
                done = false;
            }
        }
        return value[at];
    case CLAMP_LAST_TEXEL:
        return at < 0 ? value[0] : at >= size ? value[size - 1] : value[at];
    case CLAMP_MIRROR_ONCE_LAST_TEXEL:
        return continued(at < 0 ? -1 - at : at, size, CLAMP_LAST_TEXEL);
    case CLAMP_MIRROR_ONCE_BORDER:
        return continued(at < 0 ? -1 - at : at, size, CLAMP_BORDER);
    default:
        return at < 0 || at >= size ? BORDER : value[at];
    }
}

static double random_unit(void)
{
    return (double)rand() / RAND_MAX;
}

/* The weight that the footprint gives texel `n` of axis x; BORDER: all outside together. */
static double weight_of(const struct image_footprint *footprint, int n)
{
    double sum = 0;
    for (unsigned tap = 0; tap < footprint->count; tap++) {
        const struct image_tap *t = &footprint->taps[tap];
        if (n == BORDER ? t->is_border : !t->is_border && t->at[0] == n)
            sum += t->weight;
    }
    return sum;
}

static void check_line(float coordinate, double position, enum image_clamp clamp, bool linear,
                       bool normalised)
{
    struct image_resource image = {.type = IMAGE_1D, .size = {WIDTH, 1, 1}, .layers = 1};
    struct image_sampler sampler = {.clamp = {(uint8_t)clamp}, .depth_as_plane = true};
    struct image_point point = {.at = {coordinate}, .linear = linear, .unnormalized = !normalised};
    struct image_footprint footprint;
    double want[WIDTH + 1] = {0}, total = 0;
    double rounded = nearbyint(position * 256) / 256;
    int first = (int)floor(linear ? rounded - 0.5 : rounded);
    double second = linear ? rounded - 0.5 - first : 0;
    for (int n = 0; n < 2; n++) {
        int texel = continued(first + n, WIDTH, clamp);
        want[texel == BORDER ? WIDTH : texel] += n ? second : 1 - second;
    }
    footprint_make(&image, &sampler, &point, &footprint);
    for (int n = 0; n <= WIDTH; n++) {
        double got = weight_of(&footprint, n == WIDTH ? BORDER : n);
        if (fabs(got - want[n]) > 1e-6)
            fail_msg("clamp %d, %s, at %f (%f): texel %d has %f, not %f", clamp,
                     linear ? "linear" : "nearest", coordinate, position, n, got, want[n]);
        total += got;
    }
    assert_true(fabs(total - 1) < 1e-6);
}

static void lines(void **state)
{
    (void)state;
    static const enum image_clamp clamps[] = {CLAMP_WRAP,       CLAMP_MIRROR,
                                              CLAMP_LAST_TEXEL, CLAMP_MIRROR_ONCE_LAST_TEXEL,
                                              CLAMP_BORDER,     CLAMP_MIRROR_ONCE_BORDER};
    for (unsigned n = 0; n < 60000; n++) {
        enum image_clamp clamp = clamps[n % 6];
        bool linear = n / 6 & 1, normalised = n / 12 & 1;
        double spread = n % 7 == 0 ? 100 : 3;
        float coordinate = (float)((random_unit() - 0.5) * 2 * spread);
        if (n % 5 == 0) /* edges and centres of texels */
            coordinate = (float)(rand() % 25 - 10) / 2;
        if (!normalised) {
            check_line(coordinate, coordinate, clamp, linear, false);
            continue;
        }
        check_line(coordinate, (double)coordinate * WIDTH, clamp, linear, true);
    }
}

/* Coordinates are clamped to the image, so that at its edge half of the border comes in. */
static void half_borders(void **state)
{
    (void)state;
    static const struct {
        float at;
        enum image_clamp clamp;
        bool linear;
        double edge, border; /* weights of texel 0 or the last one, and of the border */
        int texel;
    } rows[] = {{-7, CLAMP_HALF_BORDER, true, 0.5, 0.5, 0},
                {0.25f, CLAMP_HALF_BORDER, true, 0.75, 0.25, 0},
                {0.5f, CLAMP_HALF_BORDER, true, 1, 0, 0},
                {99, CLAMP_HALF_BORDER, true, 0.5, 0.5, WIDTH - 1},
                {99, CLAMP_HALF_BORDER, false, 1, 0, WIDTH - 1},
                {-99, CLAMP_HALF_BORDER, false, 1, 0, 0},
                {-99, CLAMP_MIRROR_ONCE_HALF_BORDER, true, 0.5, 0.5, WIDTH - 1},
                {-2.5f, CLAMP_MIRROR_ONCE_HALF_BORDER, true, 1, 0, 2}};
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        struct image_resource image = {.type = IMAGE_1D, .size = {WIDTH, 1, 1}, .layers = 1};
        struct image_sampler sampler = {.clamp = {(uint8_t)rows[n].clamp}, .unnormalized = true};
        struct image_point point = {.at = {rows[n].at}, .linear = rows[n].linear};
        struct image_footprint footprint;
        footprint_make(&image, &sampler, &point, &footprint);
        assert_true(weight_of(&footprint, rows[n].texel) == rows[n].edge);
        assert_true(weight_of(&footprint, BORDER) == rows[n].border);
    }
}

static void volumes(void **state)
{
    (void)state;
    struct image_resource image = {.type = IMAGE_3D, .size = {WIDTH, HEIGHT, DEPTH}, .layers = 1};
    struct image_sampler sampler = {.clamp = {CLAMP_LAST_TEXEL, CLAMP_LAST_TEXEL, CLAMP_LAST_TEXEL},
                                    .unnormalized = true,
                                    .depth_as_plane = true};
    /* A linear function of the place is kept by linear filtering, away from the edges. */
    for (unsigned n = 0; n < 2000; n++) {
        float at[3] = {(float)(0.5 + random_unit() * (WIDTH - 1)),
                       (float)(0.5 + random_unit() * (HEIGHT - 1)),
                       (float)(0.5 + random_unit() * (DEPTH - 1))};
        struct image_point point = {.at = {at[0], at[1], at[2]}, .linear = true};
        struct image_footprint footprint;
        double got = 0;
        footprint_make(&image, &sampler, &point, &footprint);
        for (unsigned tap = 0; tap < footprint.count; tap++) {
            const struct image_tap *t = &footprint.taps[tap];
            got += t->weight * (t->at[0] + 10.0 * t->at[1] + 100.0 * t->at[2]);
        }
        double want = at[0] - 0.5 + 10 * (at[1] - 0.5) + 100 * (at[2] - 0.5);
        assert_true(fabs(got - want) <= 111.0 / 512 + 1e-4);
    }
    /* Linear across the plane, nearest in depth. */
    sampler.depth_as_plane = false;
    struct image_point point = {.at = {1.75f, 1.25f, 2.9f}, .linear = true};
    struct image_footprint footprint;
    footprint_make(&image, &sampler, &point, &footprint);
    assert_int_equal(footprint.count, 4);
    for (unsigned tap = 0; tap < 4; tap++)
        assert_int_equal(footprint.taps[tap].at[2], 2);
}

static void layers(void **state)
{
    (void)state;
    static const struct {
        float layer;
        unsigned want;
    } rows[] = {{0, 0}, {0.5f, 0}, {0.51f, 1}, {1.5f, 2}, {-3, 0}, {9, 2}, {NAN, 0}, {INFINITY, 2}};
    struct image_resource image = {.type = IMAGE_2D_ARRAY, .size = {WIDTH, HEIGHT, 1}, .layers = 3};
    struct image_sampler sampler = {.unnormalized = true};
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        struct image_point point = {.at = {0.5f, 0.5f}, .layer = rows[n].layer};
        struct image_footprint footprint;
        footprint_make(&image, &sampler, &point, &footprint);
        assert_int_equal(footprint.count, 1);
        assert_int_equal(footprint.taps[0].at[2], rows[n].want);
    }
}

/* Whatever comes in, every texel named is one of the image's. */
static void any_coordinate(void **state)
{
    (void)state;
    static const float odd[] = {NAN,   INFINITY, -INFINITY, 3.4e38f,  -3.4e38f,    1e-45f,
                                -0.0f, 1e10f,    -1e10f,    16777216, 4294967296.f};
    for (unsigned n = 0; n < 40000; n++) {
        struct image_resource image = {
            .type = (uint8_t)(IMAGE_1D + n % 3), .size = {WIDTH, 1, 1}, .layers = 1};
        if (image.type != IMAGE_1D)
            image.size[1] = HEIGHT;
        if (image.type == IMAGE_3D)
            image.size[2] = DEPTH;
        struct image_sampler sampler = {.unnormalized = n / 3 & 1,
                                        .truncate = n / 6 & 1,
                                        .depth_as_plane = n / 12 & 1,
                                        .depth_linear = n / 24 & 1};
        struct image_point point = {.linear = n / 48 & 1};
        for (unsigned axis = 0; axis < 3; axis++) {
            sampler.clamp[axis] = (uint8_t)(rand() % 8);
            point.at[axis] = odd[rand() % 11];
            point.offset[axis] = rand() % 64 - 32;
        }
        struct image_footprint footprint;
        footprint_make(&image, &sampler, &point, &footprint);
        assert_in_range(footprint.count, 1, IMAGE_TAPS_MAX);
        for (unsigned tap = 0; tap < footprint.count; tap++) {
            for (unsigned axis = 0; axis < 3; axis++)
                assert_true(footprint.taps[tap].at[axis] < image.size[axis]);
        }
    }
}

/* Sums, the least and the greatest of up to eight texels, some of weight 0, which are not looked
 * at: against numbers added here. */
static void sums_on(const struct image_rows *level, enum image_blend blend)
{
    struct image_sums sums = {.blend = blend};
    double want[IMAGE_LANES] = {0};
    bool some[IMAGE_LANES] = {0};
    image_row got;
    for (unsigned n = 0; n < IMAGE_TAPS_MAX; n++) {
        image_row component;
        float weight[IMAGE_LANES];
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
            const float value = (float)(rand() % 2000 - 1000) / 8;
            /* Lanes 0 to 7 have a single texel. */
            weight[lane] = lane < 8 ? lane == n : (float)(rand() % 4) / 8;
            component[lane] = f32_bits(weight[lane] > 0 ? value : NAN);
            if (lane == 3 && n == 3)
                component[lane] = 0x80000000; /* -0 stays what it is */
            if (!(weight[lane] > 0))
                continue;
            const double here = f32_of(component[lane]);
            if (blend == BLEND_WEIGHTED)
                want[lane] += here * weight[lane];
            else if (!some[lane] || (blend == BLEND_LEAST ? here < want[lane] : here > want[lane]))
                want[lane] = here;
            some[lane] = true;
        }
        level->add(&sums, component, weight);
    }
    level->sum(&sums, got);
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        assert_true(f32_of(got[lane]) == (float)want[lane]);
    assert_int_equal(got[3], 0x80000000);
}

static void sums(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 600; n++) {
        if (rows_level(n % ROWS_LEVELS))
            sums_on(rows_level(n % ROWS_LEVELS), (enum image_blend)(n / ROWS_LEVELS % 3));
    }
}

static void comparisons(void **state)
{
    (void)state;
    static const char holds[8][4] = {"000", "100", "010", "110", "001", "101", "011", "111"};
    for (unsigned function = 0; function < 8; function++) {
        struct image_sampler sampler = {.compare = (uint8_t)function};
        for (int n = 0; n < 3; n++)
            assert_int_equal(image_compare(&sampler, (float)n, 1), holds[function][n] == '1');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),  cmocka_unit_test(half_borders),   cmocka_unit_test(volumes),
        cmocka_unit_test(layers), cmocka_unit_test(any_coordinate), cmocka_unit_test(comparisons),
        cmocka_unit_test(sums),
    };
    return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
