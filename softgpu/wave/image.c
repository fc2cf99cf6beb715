/* MIMG without sampler: loads, stores, atomics of single texels, and what the resource is. */
#include "wave/image_address.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

/* The address's texels: x, y and z as far as the image has them, the layer, the mip level. */
static void texels_read(const struct wave *w, const struct inst *i, const struct image_view *view,
                        struct image_texels *out)
{
    const struct image_resource *image = &view->image;
    unsigned dimensions = image_dimensions(image);
    bool layers = image_has_layers(image) && i->image.flags & IMAGE_ARRAY;
    bool mip = inst_image(i).parts & IMAGE_PART_MIP;
    uint32_t limit[3] = {image->size[0], image->size[1], image->size[2]};
    limit[2] = image_has_layers(image) ? image->layers : limit[2];
    memset(out, 0, sizeof *out);
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        struct image_reader reader = image_reader_of(w, i);
        uint32_t at[3] = {0};
        for (unsigned n = 0; n < dimensions; n++)
            at[n] = image_next_integer(&reader, lane);
        at[2] = layers ? image_next_integer(&reader, lane) : at[2];
        bool level = mip && image_next_integer(&reader, lane) != 0; /* there is none but 0 */
        bool inside = at[0] < limit[0] && at[1] < limit[1] && at[2] < limit[2] && !level;
        for (unsigned n = 0; n < 3; n++)
            out->at[n][lane] = (uint16_t)at[n];
        out->inside |= (uint64_t)inside << lane;
    }
}

/* False after wave_fault(). */
static bool texel_pointers(struct wave *w, const struct inst *i, struct image_view *view,
                           struct lane_pointers *out)
{
    struct image_texels texels;
    if (!image_open(w, i, view))
        return false;
    texels_read(w, i, view, &texels);
    return image_pointers(w, i, view, &texels, out);
}

/* The element as it lies in memory, in as many dwords as it takes. */
static void raw_load(const uint8_t *element, unsigned bytes, bool sign, uint32_t *components)
{
    memset(components, 0, FORMAT_COMPONENTS_MAX * sizeof *components);
    memcpy(components, element, bytes);
    if (sign && bytes == 1)
        components[0] = (uint32_t)(int32_t)(int8_t)components[0];
    if (sign && bytes == 2)
        components[0] = (uint32_t)(int32_t)(int16_t)components[0];
}

EXEC_FN(LOAD)
{
    struct image_op op = inst_image(i);
    struct image_view view;
    struct lane_pointers pointers;
    if (!texel_pointers(w, i, &view, &pointers))
        return NULL;
    const struct data_format *format = &view.image.format;
    lane_row *rows = data_rows(w, &i->dst);
    struct lane_walk walk = lane_walk_start(pointers.lanes, !lanes_fall(&pointers));
    valu_leave(); /* conversions have a rounding of their own */
    while (walk.left) {
        unsigned lane = lane_walk_next(&walk);
        uint8_t element[FORMAT_BYTES_MAX] = {0}; /* what lies outside */
        uint32_t components[FORMAT_COMPONENTS_MAX];
        if (pointers.host[lane])
            single_read(element, pointers.host[lane], view.layout.texel_bytes);
        if (op.parts & IMAGE_PART_RAW)
            raw_load(element, view.layout.texel_bytes, op.parts & IMAGE_PART_SIGNED, components);
        else
            format_load(format, element, components);
        image_put(rows, lane, i, format, components);
    }
    valu_enter(w);
    return inst_next(i);
}

/* What a lane stores; components outside the mask are 0. */
static void components_get(const lane_row *rows, unsigned lane, const struct inst *i,
                           const struct data_format *format, uint32_t *components)
{
    bool d16 = i->image.flags & IMAGE_D16;
    for (unsigned n = 0, count = 0; n < FORMAT_COMPONENTS_MAX; n++) {
        components[n] = 0;
        if (!(i->image.dmask >> n & 1))
            continue;
        uint32_t reg = rows[d16 ? count / 2 : count][lane];
        components[n] = d16 ? format_widen(format, (uint16_t)(reg >> 16 * (count & 1))) : reg;
        count++;
    }
}

EXEC_FN(STORE)
{
    bool raw = inst_image(i).parts & IMAGE_PART_RAW;
    struct image_view view;
    struct lane_pointers pointers;
    if (!texel_pointers(w, i, &view, &pointers))
        return NULL;
    const struct data_format *format = &view.image.format;
    const lane_row *rows = data_rows(w, &i->src[1]);
    struct lane_walk walk = lane_walk_start(pointers.lanes, lanes_fall(&pointers));
    w->stores_pending = true;
    valu_leave();
    while (walk.left) {
        unsigned lane = lane_walk_next(&walk);
        uint32_t components[FORMAT_COMPONENTS_MAX];
        uint8_t element[FORMAT_BYTES_MAX];
        if (!pointers.host[lane])
            continue;
        components_get(rows, lane, i, format, components);
        if (raw)
            memcpy(element, components, sizeof components);
        else
            format_store(format, components, FORMAT_COMPONENTS_MAX, element);
        single_write(pointers.host[lane], element, view.layout.texel_bytes);
    }
    valu_enter(w);
    return inst_next(i);
}

EXEC_FN(ATOMIC)
{
    struct atomic_op op = inst_image(i).atomic;
    struct image_view view;
    struct lane_pointers pointers;
    if (!texel_pointers(w, i, &view, &pointers))
        return NULL;
    if (view.layout.texel_bytes != op.bytes)
        return wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, 0);
    lanes_atomic(&pointers, data_rows(w, &i->src[1]),
                 i->dst.kind == OPND_NONE ? NULL : data_rows(w, &i->dst), &op);
    return inst_next(i);
}

/* Width, height, depth or layers, and levels; a level that does not exist has no extent. */
EXEC_FN(RESOURCE_INFO)
{
    struct image_view view;
    if (!image_open(w, i, &view))
        return NULL;
    const struct image_resource *image = &view.image;
    const struct data_format integers = {.number = NUMBER_UINT};
    uint32_t depth = image_has_layers(image) ? image->layers : image->size[2];
    lane_row *rows = data_rows(w, &i->dst);
    for (uint64_t left = wave_exec(w); left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        struct image_reader reader = image_reader_of(w, i);
        uint32_t exists = image_next_integer(&reader, lane) == 0 ? ~0u : 0;
        uint32_t components[FORMAT_COMPONENTS_MAX] = {image->size[0] & exists,
                                                      image->size[1] & exists, depth & exists, 1};
        image_put(rows, lane, i, &integers, components);
    }
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
