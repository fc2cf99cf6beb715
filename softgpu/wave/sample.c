/*
 * MIMG with sampler. Coordinates become up to eight texels of each lane, with weights; these are
 * loaded one after the other for all lanes together and added up.
 */
#include <math.h>

#include "image/float_bits.h"
#include "wave/image_address.h"
#include "wave/lane_vectors.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

enum { QUAD = 4, DIMENSIONS = 3 };

/* Addresses of all lanes. */
struct address {
    const uint32_t *at[DIMENSIONS], *layer, *compare, *bias, *lod, *clamp; /* floats */
    const uint32_t *across[DIMENSIONS], *down[DIMENSIONS]; /* gradients, if they were given */
    int32_t offset[DIMENSIONS][WAVE_LANES];
    struct image_reader reader;
};

struct sampling {
    struct wave *wave;
    const struct inst *inst;
    struct image_op op;
    const struct image_view *view;
    const struct image_rows *rows;
    struct image_sampler sampler;
    unsigned dimensions;
    unsigned wanted; /* components of texels, as bits */
    bool layers;
    struct address address;
};

/* ---- addresses ---- */

static void offsets_read(struct address *address)
{
    const uint32_t *packed = image_next_whole(&address->reader);
    for (unsigned n = 0; n < DIMENSIONS; n++) {
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            address->offset[n][lane] = (int32_t)(packed[lane] >> 8 * n << 26) >> 26;
    }
}

static void gradients_read(struct image_reader *reader, unsigned dimensions, const uint32_t **out)
{
    for (unsigned n = 0; n < dimensions; n++)
        out[n] = image_next_float(reader);
    image_next_register(reader);
}

static void address_read(struct sampling *s)
{
    struct address *out = &s->address;
    struct image_reader *reader = &out->reader;
    const unsigned parts = s->op.parts;
    out->layer = out->compare = out->bias = out->lod = out->clamp = image_zeros;
    image_reader_start(reader, s->wave, s->inst);
    if (parts & IMAGE_PART_OFFSET)
        offsets_read(out);
    if (parts & IMAGE_PART_BIAS) {
        out->bias = image_next_float(reader);
        image_next_register(reader);
    }
    if (parts & IMAGE_PART_COMPARE)
        out->compare = image_next_whole(reader);
    if (parts & IMAGE_PART_GRADIENTS) {
        gradients_read(reader, s->dimensions, out->across);
        gradients_read(reader, s->dimensions, out->down);
    }
    for (unsigned n = 0; n < s->dimensions; n++)
        out->at[n] = image_next_float(reader);
    if (s->layers)
        out->layer = image_next_float(reader);
    if (parts & IMAGE_PART_LOD)
        out->lod = image_next_float(reader);
    if (parts & IMAGE_PART_CLAMP)
        out->clamp = image_next_float(reader);
}

/* ---- level of detail ---- */

static bool coordinates_count_texels(const struct sampling *s)
{
    return s->sampler.unnormalized || s->inst->image.flags & IMAGE_UNORM;
}

/* How far coordinates are apart across and down. Without explicit gradients neighbours in the
 * lane's quad tell: its lanes lie in two rows of two. */
static float gradient(const struct sampling *s, unsigned axis, unsigned lane, bool down)
{
    const struct address *address = &s->address;
    const uint32_t *at = address->at[axis];
    const unsigned corner = lane / QUAD * QUAD;
    if (s->op.parts & IMAGE_PART_GRADIENTS)
        return f32_of(down ? address->down[axis][lane] : address->across[axis][lane]);
    return f32_of(at[corner + (down ? 2 : 1)]) - f32_of(at[corner]);
}

static double length_in_texels(const struct sampling *s, unsigned lane, bool down)
{
    const uint32_t *size = s->view->image.size;
    double sum = 0;
    for (unsigned n = 0; n < s->dimensions; n++) {
        double texels =
            (double)gradient(s, n, lane, down) * (coordinates_count_texels(s) ? 1 : size[n]);
        sum += texels * texels;
    }
    return sqrt(sum);
}

/* The level of detail before any limit. */
static float lod_raw(const struct sampling *s, unsigned lane)
{
    if (s->op.parts & IMAGE_PART_LOD_ZERO)
        return 0;
    if (s->op.parts & IMAGE_PART_LOD)
        return f32_of(s->address.lod[lane]) + s->sampler.lod_bias;
    double across = length_in_texels(s, lane, false), down = length_in_texels(s, lane, true);
    double longest = across > down ? across : down;
    return (float)log2(longest) + f32_of(s->address.bias[lane]) + s->sampler.lod_bias;
}

static float lod_limited(const struct sampling *s, unsigned lane, float raw)
{
    const float lod = image_lod(&s->view->image, &s->sampler, raw),
                least = f32_of(s->address.clamp[lane]);
    return s->op.parts & IMAGE_PART_CLAMP && lod < least ? least : lod;
}

/* There is one level: the level of detail chooses no more than the filter. */
static uint64_t lanes_linear(const struct sampling *s)
{
    const struct image_sampler *sampler = &s->sampler;
    uint64_t linear = 0;
    if (format_is_integer(&s->view->image.format))
        return 0;
    if (sampler->magnify_linear == sampler->minify_linear)
        return sampler->magnify_linear ? ~0ull : 0;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        bool minifies = lod_limited(s, lane, lod_raw(s, lane)) > 0;
        linear |= (uint64_t)(minifies ? sampler->minify_linear : sampler->magnify_linear) << lane;
    }
    return linear;
}

/* ---- texels ---- */

/* Which component gather4 returns. */
static unsigned gathered(const struct inst *i)
{
    return i->image.dmask ? (unsigned)__builtin_ctz(i->image.dmask) : 0;
}

/* False after wave_fault(). */
static bool sampling_open(struct wave *w, const struct inst *i, struct sampling *out)
{
    out->wave = w;
    out->inst = i;
    out->op = inst_image(i);
    out->rows = image_rows_chosen();
    out->view = image_open(w, i);
    if (!out->view)
        return false;
    const struct image_resource *image = &out->view->image;
    bool modelled = image_sampler_read(&w->s[i->image.sampler], &out->sampler) &&
                    image->type != IMAGE_CUBE; /* faces meet at their edges */
    out->dimensions = image_dimensions(image);
    out->layers = image_has_layers(image) && i->image.flags & IMAGE_ARRAY;
    out->wanted = format_components_of(
        &image->format, out->op.kind == IMAGE_GATHER ? 1u << gathered(i) : i->image.dmask);
    if (!modelled)
        wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, 0);
    return modelled;
}

static void taps_find(const struct sampling *s, bool linear, struct image_taps taps[DIMENSIONS])
{
    const struct image_resource *image = &s->view->image;
    const bool moved = s->op.parts & IMAGE_PART_OFFSET;
    for (unsigned n = 0; n < s->dimensions; n++) {
        const struct image_axis axis =
            image_axis_of(image, &s->sampler, n, s->inst->image.flags & IMAGE_UNORM, linear);
        s->rows->axis(&axis, s->address.at[n], moved ? s->address.offset[n] : NULL, &taps[n]);
    }
    for (unsigned n = s->dimensions; n < DIMENSIONS; n++) {
        taps[n].count = 1;
        memset(taps[n].at[0], 0, sizeof taps[n].at[0]);
    }
    if (image_has_layers(image))
        s->rows->layers(image->layers, s->address.layer, &taps[2]);
}

static void border_put(const struct sampling *s, uint64_t lanes,
                       lane_row components[FORMAT_COMPONENTS_MAX])
{
    uint32_t border[FORMAT_COMPONENTS_MAX];
    image_border(&s->view->image, &s->sampler, border);
    for (uint64_t left = lanes; left; left &= left - 1) {
        for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++)
            components[n][__builtin_ctzll(left)] = border[n];
    }
}

/* One texel of each of the lanes, or the border of those outside. False after wave_fault(). */
static bool texels_get(const struct sampling *s, const uint32_t *const at[DIMENSIONS],
                       struct image_taken taken, lane_row components[FORMAT_COMPONENTS_MAX])
{
    const struct image_texels texels = {{at[0], at[1], at[2]}, taken.lanes & ~taken.border};
    lane_row elements[FORMAT_COMPONENTS_MAX];
    if (!image_elements_load(s->wave, s->inst, s->view, &texels, elements))
        return false;
    s->rows->decode(&s->view->image.format, elements, s->wanted, components);
    border_put(s, taken.border & taken.lanes, components);
    if (!(s->op.parts & IMAGE_PART_COMPARE))
        return true;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        components[0][lane] = f32_bits(image_compare(&s->sampler, f32_of(s->address.compare[lane]),
                                                     f32_of(components[0][lane])));
    return true;
}

static void tap_places(const struct image_taps taps[DIMENSIONS], unsigned n,
                       const uint32_t *at[DIMENSIONS])
{
    for (unsigned axis = 0; axis < DIMENSIONS; axis++)
        at[axis] = (const uint32_t *)taps[axis].at[n >> axis & 1];
}

/* Each lane's texels added up, of `lanes`. False after wave_fault(). */
static bool texels_blend(const struct sampling *s, const struct image_taps taps[DIMENSIONS],
                         uint64_t lanes, lane_row components[FORMAT_COMPONENTS_MAX])
{
    struct image_sums sums[FORMAT_COMPONENTS_MAX] = {{.blend = s->sampler.blend},
                                                     {.blend = s->sampler.blend},
                                                     {.blend = s->sampler.blend},
                                                     {.blend = s->sampler.blend}};
    for (unsigned n = 0; n < IMAGE_TAPS_MAX; n++) {
        const uint32_t *at[DIMENSIONS];
        float weight[WAVE_LANES] __attribute__((aligned(64)));
        if (!image_tap_exists(taps, n))
            continue;
        struct image_taken taken = s->rows->taken(taps, n, weight);
        taken.lanes &= lanes;
        tap_places(taps, n, at);
        if (!texels_get(s, at, taken, components))
            return false;
        for (unsigned left = s->wanted; left; left &= left - 1) {
            const int c = __builtin_ctz(left);
            s->rows->add(&sums[c], components[c], weight);
        }
    }
    for (unsigned left = s->wanted; left; left &= left - 1)
        s->rows->sum(&sums[__builtin_ctz(left)], components[__builtin_ctz(left)]);
    return true;
}

static bool texels_sample(const struct sampling *s, bool linear, uint64_t lanes,
                          lane_row components[FORMAT_COMPONENTS_MAX])
{
    struct image_taps taps[DIMENSIONS];
    float weight[WAVE_LANES] __attribute__((aligned(64)));
    const uint32_t *at[DIMENSIONS];
    taps_find(s, linear, taps);
    if (taps[0].count * taps[1].count * taps[2].count > 1)
        return texels_blend(s, taps, lanes, components);
    struct image_taken taken = s->rows->taken(taps, 0, weight);
    taken.lanes &= lanes;
    tap_places(taps, 0, at);
    return texels_get(s, at, taken, components);
}

/* Some lanes may filter otherwise than the rest. */
static bool lanes_sample(const struct sampling *s, lane_row components[FORMAT_COMPONENTS_MAX])
{
    const uint64_t exec = wave_exec(s->wave), linear = exec & lanes_linear(s);
    lane_row others[FORMAT_COMPONENTS_MAX];
    if (linear == 0 || linear == exec)
        return texels_sample(s, linear != 0, exec, components);
    if (!texels_sample(s, true, linear, components) ||
        !texels_sample(s, false, exec & ~linear, others))
        return false;
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++)
        row_put(components[n], ~linear, others[n]);
    return true;
}

EXEC_FN(SAMPLE)
{
    struct sampling sampling;
    lane_row components[FORMAT_COMPONENTS_MAX];
    if (!sampling_open(w, i, &sampling))
        return NULL;
    valu_leave(); /* conversions and filters have a rounding of their own */
    address_read(&sampling);
    const bool sampled = lanes_sample(&sampling, components);
    if (sampled) {
        const uint32_t *selected[FORMAT_COMPONENTS_MAX];
        format_select_rows(&sampling.view->image.format, components, selected);
        image_put(w, i, &sampling.view->image.format, selected);
    }
    valu_enter(w);
    return sampled ? inst_next(i) : NULL;
}

/* The four texels of a linear filter in x and y, whatever their weights: (0,1), (1,1), (1,0),
 * (0,0). */
static bool lanes_gather(const struct sampling *s, lane_row out[FORMAT_COMPONENTS_MAX])
{
    static const uint8_t order[FORMAT_COMPONENTS_MAX] = {2, 3, 1, 0};
    struct image_taps taps[DIMENSIONS];
    taps_find(s, true, taps);
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++) {
        const unsigned tap = taps[1].count > 1 ? order[n] : order[n] & 1;
        lane_row components[FORMAT_COMPONENTS_MAX];
        const uint32_t *at[DIMENSIONS], *selected[FORMAT_COMPONENTS_MAX];
        struct image_taken taken = {wave_exec(s->wave), 0};
        tap_places(taps, tap, at);
        for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
            const bool border = (int32_t)(at[0][lane] | at[1][lane] | at[2][lane]) < 0;
            taken.border |= (uint64_t)border << lane;
        }
        if (!texels_get(s, at, taken, components))
            return false;
        format_select_rows(&s->view->image.format, components, selected);
        memcpy(out[n], selected[gathered(s->inst)], sizeof out[n]);
    }
    return true;
}

EXEC_FN(GATHER)
{
    struct sampling sampling;
    lane_row components[FORMAT_COMPONENTS_MAX];
    if (!sampling_open(w, i, &sampling))
        return NULL;
    valu_leave();
    address_read(&sampling);
    const bool sampled = lanes_gather(&sampling, components);
    if (sampled)
        image_put(
            w, i, &sampling.view->image.format,
            (const uint32_t *const[]){components[0], components[1], components[2], components[3]});
    valu_enter(w);
    return sampled ? inst_next(i) : NULL;
}

/* The level of detail within the limits, and as it is. */
EXEC_FN(GET_LOD)
{
    const struct data_format floats = {.number = NUMBER_FLOAT};
    struct sampling sampling;
    lane_row limited, raw;
    if (!sampling_open(w, i, &sampling))
        return NULL;
    valu_leave();
    address_read(&sampling);
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        float lod = lod_raw(&sampling, lane);
        raw[lane] = f32_bits(lod);
        limited[lane] = f32_bits(lod_limited(&sampling, lane, lod));
    }
    image_put(w, i, &floats, (const uint32_t *const[]){limited, raw, image_zeros, image_zeros});
    valu_enter(w);
    return inst_next(i);
}

inst_exec_fn *sample_handler(struct inst *inst)
{
    switch (inst_image(inst).kind) {
    case IMAGE_SAMPLE:
        return exec_SAMPLE;
    case IMAGE_GATHER:
        return exec_GATHER;
    case IMAGE_GET_LOD:
        return exec_GET_LOD;
    default:
        return NULL;
    }
}
