/*
 * MIMG with sampler. Each lane's coordinate becomes up to eight texels with weights; these are
 * loaded one after the other for all lanes together and added up.
 */
#include "image/filter.h"

#include <math.h>

#include "image/float_bits.h"
#include "wave/image_address.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

enum { QUAD = 4, DIMENSIONS = 3 };

/* A lane's address. */
struct address {
    float at[DIMENSIONS], layer, compare, bias, lod, clamp;
    float across[DIMENSIONS], down[DIMENSIONS]; /* gradients */
    int8_t offset[DIMENSIONS];
};

struct sampling {
    struct wave *wave;
    const struct inst *inst;
    struct image_op op;
    struct image_view view;
    struct image_sampler sampler;
    unsigned dimensions;
    bool layers;
};

static int8_t signed_six(uint32_t bits)
{
    return (int8_t)((int32_t)(bits << 26) >> 26);
}

static void gradients_read(struct image_reader *reader, unsigned lane, unsigned dimensions,
                           float *out)
{
    for (unsigned n = 0; n < dimensions; n++)
        out[n] = image_next_float(reader, lane);
    image_next_register(reader);
}

static void address_read(const struct sampling *s, unsigned lane, struct address *out)
{
    struct image_reader reader = image_reader_of(s->wave, s->inst);
    unsigned parts = s->op.parts;
    memset(out, 0, sizeof *out);
    if (parts & IMAGE_PART_OFFSET) {
        uint32_t packed = image_next_whole(&reader, lane);
        for (unsigned n = 0; n < DIMENSIONS; n++)
            out->offset[n] = signed_six(packed >> 8 * n);
    }
    if (parts & IMAGE_PART_BIAS) {
        out->bias = image_next_float(&reader, lane);
        image_next_register(&reader);
    }
    if (parts & IMAGE_PART_COMPARE)
        out->compare = f32_of(image_next_whole(&reader, lane));
    if (parts & IMAGE_PART_GRADIENTS) {
        gradients_read(&reader, lane, s->dimensions, out->across);
        gradients_read(&reader, lane, s->dimensions, out->down);
    }
    for (unsigned n = 0; n < s->dimensions; n++)
        out->at[n] = image_next_float(&reader, lane);
    if (s->layers)
        out->layer = image_next_float(&reader, lane);
    if (parts & IMAGE_PART_LOD)
        out->lod = image_next_float(&reader, lane);
    if (parts & IMAGE_PART_CLAMP)
        out->clamp = image_next_float(&reader, lane);
}

static bool coordinates_count_texels(const struct sampling *s)
{
    return s->sampler.unnormalized || s->inst->image.flags & IMAGE_UNORM;
}

static double length_in_texels(const struct sampling *s, const float *gradient)
{
    double sum = 0;
    for (unsigned n = 0; n < s->dimensions; n++) {
        double texels =
            (double)gradient[n] * (coordinates_count_texels(s) ? 1 : s->view.image.size[n]);
        sum += texels * texels;
    }
    return sqrt(sum);
}

/* Without explicit gradients neighbours in the lane's quad tell: its lanes lie in two rows of two.
 */
static void gradients_of_quad(const struct sampling *s, unsigned lane, struct address *address)
{
    struct address corner, right, below;
    unsigned first = lane / QUAD * QUAD;
    address_read(s, first, &corner);
    address_read(s, first + 1, &right);
    address_read(s, first + 2, &below);
    for (unsigned n = 0; n < s->dimensions; n++) {
        address->across[n] = right.at[n] - corner.at[n];
        address->down[n] = below.at[n] - corner.at[n];
    }
}

/* The level of detail before any limit. */
static float lod_raw(const struct sampling *s, unsigned lane, struct address *address)
{
    if (s->op.parts & IMAGE_PART_LOD_ZERO)
        return 0;
    if (s->op.parts & IMAGE_PART_LOD)
        return address->lod + s->sampler.lod_bias;
    if (!(s->op.parts & IMAGE_PART_GRADIENTS))
        gradients_of_quad(s, lane, address);
    double across = length_in_texels(s, address->across), down = length_in_texels(s, address->down);
    double longest = across > down ? across : down;
    return (float)log2(longest) + address->bias + s->sampler.lod_bias;
}

static float lod_limited(const struct sampling *s, const struct address *address, float raw)
{
    float lod = image_lod(&s->view.image, &s->sampler, raw);
    return s->op.parts & IMAGE_PART_CLAMP && lod < address->clamp ? address->clamp : lod;
}

/* There is one level: the level of detail chooses no more than the filter. */
static bool filters_linearly(const struct sampling *s, unsigned lane, struct address *address)
{
    const struct image_sampler *sampler = &s->sampler;
    if (format_is_integer(&s->view.image.format))
        return false;
    if (sampler->magnify_linear == sampler->minify_linear)
        return sampler->magnify_linear;
    float lod = lod_limited(s, address, lod_raw(s, lane, address));
    return lod > 0 ? sampler->minify_linear : sampler->magnify_linear;
}

/* False after wave_fault(). */
static bool sampling_open(struct wave *w, const struct inst *i, struct sampling *out)
{
    *out = (struct sampling){.wave = w, .inst = i, .op = inst_image(i)};
    if (!image_open(w, i, &out->view))
        return false;
    const struct image_resource *image = &out->view.image;
    bool modelled = image_sampler_read(&w->s[i->image.sampler], &out->sampler) &&
                    image->type != IMAGE_CUBE; /* faces meet at their edges */
    out->dimensions = image_dimensions(image);
    out->layers = image_has_layers(image) && i->image.flags & IMAGE_ARRAY;
    if (!modelled)
        wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, 0);
    return modelled;
}

static void footprint_read(const struct sampling *s, unsigned lane, struct image_footprint *out,
                           float *compare)
{
    struct address address;
    address_read(s, lane, &address);
    struct image_point point = {.layer = address.layer,
                                .unnormalized = s->inst->image.flags & IMAGE_UNORM,
                                .linear = s->op.kind == IMAGE_GATHER ||
                                          filters_linearly(s, lane, &address)};
    memcpy(point.at, address.at, sizeof point.at);
    memcpy(point.offset, address.offset, sizeof point.offset);
    *compare = address.compare;
    if (s->op.kind == IMAGE_GATHER)
        image_gather_make(&s->view.image, &s->sampler, &point, out);
    else
        image_footprint_make(&s->view.image, &s->sampler, &point, out);
}

/* All lanes' footprints, and what has been added up of them. */
struct lanes {
    struct image_footprint footprint[WAVE_LANES];
    float compare[WAVE_LANES];
    double sum[WAVE_LANES][FORMAT_COMPONENTS_MAX];
    uint32_t bits[WAVE_LANES][FORMAT_COMPONENTS_MAX]; /* of the only texel, or gathered */
    unsigned taps;                                    /* of the lane with most */
};

static void lanes_read(const struct sampling *s, struct lanes *lanes)
{
    lanes->taps = 0;
    memset(lanes->sum, 0, sizeof lanes->sum);
    for (uint64_t left = wave_exec(s->wave); left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        struct image_footprint *footprint = &lanes->footprint[lane];
        footprint_read(s, lane, footprint, &lanes->compare[lane]);
        lanes->taps = footprint->count > lanes->taps ? footprint->count : lanes->taps;
    }
}

/* The lanes' texels number `n`; lanes that have none, or the border, have no pointer. */
static bool tap_pointers(const struct sampling *s, const struct lanes *lanes, unsigned n,
                         struct lane_pointers *out)
{
    struct image_texels texels = {.inside = 0};
    for (uint64_t left = wave_exec(s->wave); left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        const struct image_footprint *footprint = &lanes->footprint[lane];
        const struct image_tap *tap = &footprint->taps[n];
        if (n >= footprint->count || tap->is_border)
            continue;
        for (unsigned axis = 0; axis < DIMENSIONS; axis++)
            texels.at[axis][lane] = tap->at[axis];
        texels.inside |= 1ull << lane;
    }
    return image_pointers(s->wave, s->inst, &s->view, &texels, out);
}

static void texel_get(const struct sampling *s, const uint8_t *host, float compare,
                      uint32_t components[FORMAT_COMPONENTS_MAX])
{
    const struct data_format *format = &s->view.image.format;
    uint8_t element[FORMAT_BYTES_MAX] = {0};
    if (host) {
        single_read(element, host, s->view.layout.texel_bytes);
        format_decode(format, element, components);
    } else {
        image_border(&s->view.image, &s->sampler, components);
    }
    if (s->op.parts & IMAGE_PART_COMPARE)
        components[0] = f32_bits(image_compare(&s->sampler, compare, f32_of(components[0])));
}

static void blend(const struct sampling *s, struct lanes *lanes, unsigned lane, unsigned tap,
                  const uint32_t components[FORMAT_COMPONENTS_MAX])
{
    const struct image_footprint *footprint = &lanes->footprint[lane];
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++) {
        double value = f32_of(components[n]), *sum = &lanes->sum[lane][n];
        if (s->sampler.blend == BLEND_WEIGHTED)
            *sum += value * footprint->taps[tap].weight;
        else if (tap == 0 || (s->sampler.blend == BLEND_LEAST ? value < *sum : value > *sum))
            *sum = value;
    }
}

/* Which component gather4 returns. */
static unsigned gathered(const struct inst *i)
{
    return i->image.dmask ? (unsigned)__builtin_ctz(i->image.dmask) : 0;
}

static void tap_take(const struct sampling *s, struct lanes *lanes, unsigned lane, unsigned n,
                     const uint8_t *host)
{
    uint32_t components[FORMAT_COMPONENTS_MAX];
    texel_get(s, host, lanes->compare[lane], components);
    if (s->op.kind == IMAGE_GATHER) {
        format_select(&s->view.image.format, components);
        lanes->bits[lane][n] = components[gathered(s->inst)];
    } else if (lanes->footprint[lane].count == 1) {
        memcpy(lanes->bits[lane], components, sizeof components);
    } else {
        blend(s, lanes, lane, n, components);
    }
}

static void result_put(const struct sampling *s, struct lanes *lanes, unsigned lane, lane_row *rows)
{
    const struct data_format *format = &s->view.image.format;
    uint32_t *components = lanes->bits[lane];
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX && lanes->footprint[lane].count > 1 &&
                         s->op.kind != IMAGE_GATHER;
         n++)
        components[n] = f32_bits((float)lanes->sum[lane][n]);
    if (s->op.kind != IMAGE_GATHER)
        format_select(format, components);
    image_put(rows, lane, s->inst, format, components);
}

/* False after wave_fault(). */
static bool lanes_sample(const struct sampling *s, struct lanes *lanes)
{
    for (unsigned n = 0; n < lanes->taps; n++) {
        struct lane_pointers pointers;
        if (!tap_pointers(s, lanes, n, &pointers))
            return false;
        struct lane_walk walk = lane_walk_start(pointers.lanes, !lanes_fall(&pointers));
        while (walk.left) {
            unsigned lane = lane_walk_next(&walk);
            if (n < lanes->footprint[lane].count)
                tap_take(s, lanes, lane, n, pointers.host[lane]);
        }
    }
    return true;
}

EXEC_FN(SAMPLE)
{
    struct sampling sampling;
    struct lanes lanes;
    if (!sampling_open(w, i, &sampling))
        return NULL;
    valu_leave(); /* conversions and filters have a rounding of their own */
    lanes_read(&sampling, &lanes);
    bool sampled = lanes_sample(&sampling, &lanes);
    for (uint64_t left = sampled ? wave_exec(w) : 0; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        result_put(&sampling, &lanes, lane, data_rows(w, &i->dst));
    }
    valu_enter(w);
    return sampled ? inst_next(i) : NULL;
}

/* The level of detail within the limits, and as it is. */
EXEC_FN(GET_LOD)
{
    const struct data_format floats = {.number = NUMBER_FLOAT};
    struct sampling sampling;
    if (!sampling_open(w, i, &sampling))
        return NULL;
    uint32_t results[WAVE_LANES][FORMAT_COMPONENTS_MAX] = {0};
    valu_leave();
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        struct address address;
        address_read(&sampling, lane, &address);
        float raw = lod_raw(&sampling, lane, &address);
        results[lane][0] = f32_bits(lod_limited(&sampling, &address, raw));
        results[lane][1] = f32_bits(raw);
    }
    for (uint64_t left = wave_exec(w); left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        image_put(data_rows(w, &i->dst), lane, i, &floats, results[lane]);
    }
    valu_enter(w);
    return inst_next(i);
}

inst_exec_fn *sample_handler(struct inst *inst)
{
    switch (inst_image(inst).kind) {
    case IMAGE_SAMPLE:
    case IMAGE_GATHER:
        return exec_SAMPLE;
    case IMAGE_GET_LOD:
        return exec_GET_LOD;
    default:
        return NULL;
    }
}
