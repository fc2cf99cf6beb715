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

#include "image/filter.h"

enum { WIDTH = 5, HEIGHT = 3, DEPTH = 4, BORDER = -1000 };

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
    image_footprint_make(&image, &sampler, &point, &footprint);
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
        image_footprint_make(&image, &sampler, &point, &footprint);
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
        image_footprint_make(&image, &sampler, &point, &footprint);
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
    image_footprint_make(&image, &sampler, &point, &footprint);
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
        image_footprint_make(&image, &sampler, &point, &footprint);
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
            point.offset[axis] = (int8_t)(rand() % 64 - 32);
        }
        struct image_footprint footprint;
        image_footprint_make(&image, &sampler, &point, &footprint);
        assert_in_range(footprint.count, 1, IMAGE_TAPS_MAX);
        for (unsigned tap = 0; tap < footprint.count; tap++) {
            for (unsigned axis = 0; axis < 3; axis++)
                assert_true(footprint.taps[tap].at[axis] < image.size[axis]);
        }
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
    };
    return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
