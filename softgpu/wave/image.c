/* MIMG without sampler: loads, stores, atomics of single texels, and what the resource is. */
#include "wave/image_address.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

/* The address's texels: x, y and z as far as the image has them, the layer; of the mip levels there
 * is none but 0. `reader` holds what has to be kept. */
static void texels_read(const struct wave *w, const struct inst *i, const struct image_view *view,
                        struct image_reader *reader, struct image_texels *out)
{
    const struct image_resource *image = &view->image;
    const unsigned dimensions = image_dimensions(image);
    const bool layers = image_has_layers(image) && i->image.flags & IMAGE_ARRAY;
    const uint32_t limit[3] = {image->size[0], image->size[1],
                               image_has_layers(image) ? image->layers : image->size[2]};
    *out = (struct image_texels){{image_zeros, image_zeros, image_zeros}, 0};
    image_reader_start(reader, w, i);
    for (unsigned n = 0; n < dimensions; n++)
        out->at[n] = image_next_integer(reader);
    if (layers)
        out->at[2] = image_next_integer(reader);
    out->lanes = wave_exec(w) & image_rows_chosen()->inside(out->at, limit);
    if (!(inst_image(i).parts & IMAGE_PART_MIP))
        return;
    const uint32_t *level = image_next_integer(reader);
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        out->lanes &= ~((uint64_t)(level[lane] != 0) << lane);
}

/* The element as it lies in memory, in as many dwords as it takes. */
static void raw_components(lane_row *elements, unsigned bytes, bool sign,
                           const uint32_t *components[FORMAT_COMPONENTS_MAX])
{
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++)
        components[n] = 4 * n < bytes ? elements[n] : image_zeros;
    if (!sign || bytes >= 4)
        return;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        elements[0][lane] =
            bytes == 1 ? (uint32_t)(int8_t)elements[0][lane] : (uint32_t)(int16_t)elements[0][lane];
}

EXEC_FN(LOAD)
{
    const struct image_op op = inst_image(i);
    const struct image_view *view = image_open(w, i);
    lane_row elements[FORMAT_COMPONENTS_MAX], decoded[FORMAT_COMPONENTS_MAX];
    const uint32_t *components[FORMAT_COMPONENTS_MAX];
    struct image_reader reader;
    struct image_texels texels;
    if (!view)
        return NULL;
    const struct data_format *format = &view->image.format;
    valu_leave(); /* conversions have a rounding of their own */
    texels_read(w, i, view, &reader, &texels);
    const bool loaded = image_elements_load(w, i, view, &texels, elements);
    if (loaded && op.parts & IMAGE_PART_RAW) {
        raw_components(elements, view->layout.texel_bytes, op.parts & IMAGE_PART_SIGNED,
                       components);
    } else if (loaded) {
        image_rows_chosen()->decode(format, elements, format_components_of(format, i->image.dmask),
                                    decoded);
        format_select_rows(format, decoded, components);
    }
    if (loaded)
        image_put(w, i, format, components);
    valu_enter(w);
    return loaded ? inst_next(i) : NULL;
}

/* What lanes store; components outside the mask are 0. `kept` holds those that were halves. */
static void components_get(struct wave *w, const struct inst *i, const struct data_format *format,
                           lane_row *kept, const uint32_t *components[FORMAT_COMPONENTS_MAX])
{
    const lane_row *rows = data_rows(w, &i->src[1]);
    const bool d16 = i->image.flags & IMAGE_D16;
    for (unsigned n = 0, count = 0; n < FORMAT_COMPONENTS_MAX; n++) {
        components[n] = image_zeros;
        if (!(i->image.dmask >> n & 1))
            continue;
        components[n] = d16 ? kept[n] : rows[count];
        if (d16)
            image_rows_chosen()->widen(format, rows[count / 2], 16 * (count & 1), kept[n]);
        count++;
    }
}

EXEC_FN(STORE)
{
    const struct image_view *view = image_open(w, i);
    lane_row elements[FORMAT_COMPONENTS_MAX], kept[FORMAT_COMPONENTS_MAX];
    const uint32_t *components[FORMAT_COMPONENTS_MAX];
    struct image_reader reader;
    struct image_texels texels;
    if (!view)
        return NULL;
    valu_leave();
    texels_read(w, i, view, &reader, &texels);
    components_get(w, i, &view->image.format, kept, components);
    if (inst_image(i).parts & IMAGE_PART_RAW)
        for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++)
            memcpy(elements[n], components[n], sizeof elements[n]);
    else
        image_rows_chosen()->encode(&view->image.format, components, FORMAT_COMPONENTS_MAX,
                                    elements);
    const bool stored = image_elements_store(w, i, view, &texels, elements);
    valu_enter(w);
    return stored ? inst_next(i) : NULL;
}

EXEC_FN(ATOMIC)
{
    struct atomic_op op = inst_image(i).atomic;
    const struct image_view *view = image_open(w, i);
    struct image_reader reader;
    struct image_texels texels;
    struct lane_pointers pointers;
    if (!view)
        return NULL;
    texels_read(w, i, view, &reader, &texels);
    if (!image_pointers(w, i, view, &texels, &pointers))
        return NULL;
    if (view->layout.texel_bytes != op.bytes)
        return wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, 0);
    lanes_atomic(&pointers, data_rows(w, &i->src[1]),
                 i->dst.kind == OPND_NONE ? NULL : data_rows(w, &i->dst), &op);
    return inst_next(i);
}

/* Width, height, depth or layers, and levels; a level that does not exist has no extent. */
EXEC_FN(RESOURCE_INFO)
{
    const struct image_view *view = image_open(w, i);
    if (!view)
        return NULL;
    const struct image_resource *image = &view->image;
    const struct data_format integers = {.number = NUMBER_UINT};
    const uint32_t extent[3] = {image->size[0], image->size[1],
                                image_has_layers(image) ? image->layers : image->size[2]};
    lane_row values[FORMAT_COMPONENTS_MAX];
    struct image_reader reader;
    image_reader_start(&reader, w, i);
    const uint32_t *level = image_next_integer(&reader);
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        for (unsigned n = 0; n < 3; n++)
            values[n][lane] = level[lane] == 0 ? extent[n] : 0;
        values[3][lane] = 1;
    }
    image_put(w, i, &integers,
              (const uint32_t *const[]){values[0], values[1], values[2], values[3]});
    return inst_next(i);
}

inst_exec_fn *image_handler(struct inst *inst)
{
    if (!inst_keep_image(inst))
        return NULL;
    switch (inst_image(inst).kind) {
    case IMAGE_LOAD:
        return exec_LOAD;
    case IMAGE_STORE:
        return exec_STORE;
    case IMAGE_ATOMIC:
        return exec_ATOMIC;
    case IMAGE_RESOURCE_INFO:
        return exec_RESOURCE_INFO;
    default:
        return sample_handler(inst);
    }
}
