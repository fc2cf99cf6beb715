#include "wave/image_address.h"

#include "core/device.h"
#include "isa_ops.h"
#include "wave/host_levels.h"
#include "wave/lane_vectors.h"
#include "wave/scattered.h"

static const struct {
    const char *name;
    uint8_t kind;
} kinds[] = {{"load", IMAGE_LOAD},      {"store", IMAGE_STORE},
             {"atomic", IMAGE_ATOMIC},  {"get_resinfo", IMAGE_RESOURCE_INFO},
             {"sample", IMAGE_SAMPLE},  {"gather4", IMAGE_GATHER},
             {"get_lod", IMAGE_GET_LOD}};

/* Words of a mnemonic behind its kind. */
static const struct {
    const char *word;
    uint16_t part;
} words[] = {{"o", IMAGE_PART_OFFSET},    {"b", IMAGE_PART_BIAS},       {"c", IMAGE_PART_COMPARE},
             {"d", IMAGE_PART_GRADIENTS}, {"cd", IMAGE_PART_GRADIENTS}, {"l", IMAGE_PART_LOD},
             {"lz", IMAGE_PART_LOD_ZERO}, {"cl", IMAGE_PART_CLAMP},     {"mip", IMAGE_PART_MIP},
             {"pck", IMAGE_PART_RAW},     {"sgn", IMAGE_PART_SIGNED}};

static bool parts_of(const char *text, uint16_t *parts)
{
    while (*text == '_') {
        size_t length = strcspn(++text, "_"), n = 0;
        while (n < sizeof words / sizeof words[0] &&
               (strlen(words[n].word) != length || strncmp(words[n].word, text, length) != 0))
            n++;
        if (n == sizeof words / sizeof words[0])
            return false;
        *parts |= words[n].part;
        text += length;
    }
    return true;
}

/* An atomic's width is that of the components it names. */
static bool keep_atomic(const struct inst *inst, struct image_op *op)
{
    if (!atomic_op_find(inst, &op->atomic))
        return false;
    unsigned words_given = inst->image.dmask == 1 ? 1 : inst->image.dmask == 3 ? 2 : 4;
    if (op->atomic.kind == ATOMIC_CMPSWAP)
        words_given /= 2;
    op->atomic.bytes = (uint8_t)(4 * words_given);
    bool d16 = inst->image.flags & IMAGE_D16, mask = (inst->image.dmask & 3) != 2;
    return !d16 && mask && words_given >= 1 && words_given <= 2;
}

bool inst_keep_image(struct inst *inst)
{
    const char *name = isa_op_names[inst->op] + sizeof "image_" - 1;
    struct image_op op = {.kind = IMAGE_LOAD};
    size_t n = 0;
    while (n < sizeof kinds / sizeof kinds[0] &&
           strncmp(name, kinds[n].name, strlen(kinds[n].name)) != 0)
        n++;
    if (n == sizeof kinds / sizeof kinds[0])
        return false;
    op.kind = kinds[n].kind;
    if (op.kind == IMAGE_ATOMIC ? !keep_atomic(inst, &op)
                                : !parts_of(name + strlen(kinds[n].name), &op.parts))
        return false;
    _Static_assert(sizeof op <= sizeof inst->aux, "kept in aux");
    memcpy(inst->aux, &op, sizeof op);
    return true;
}

static struct image_view *view_place(struct wave *w, const uint32_t descriptor[IMAGE_WORDS])
{
    const uint32_t key = (descriptor[0] ^ descriptor[1] ^ descriptor[2]) * UINT32_C(0x9e3779b1);
    return &w->group->image_views[key >> (32 - IMAGE_VIEWS_BITS)];
}

const struct image_view *image_open(struct wave *w, const struct inst *i)
{
    const uint32_t *descriptor = &w->s[i->src[2].index];
    struct image_view *view = view_place(w, descriptor);
    if (view->known && memcmp(view->words, descriptor, sizeof view->words) == 0)
        return view;
    view->known = image_resource_read(descriptor, &view->image) &&
                  image_layout_make(&view->image, GPU_ADDRESS_CONFIG, &view->layout);
    memcpy(view->words, descriptor, sizeof view->words);
    if (view->known)
        return view;
    wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, 0);
    return NULL;
}

const struct image_rows *image_rows_chosen(void)
{
    return host_level == LEVEL_AVX512 ? &image_rows_avx512
           : host_level == LEVEL_AVX2 ? &image_rows_avx2
                                      : &image_rows_portable;
}

/* ---- addresses ---- */

void image_reader_start(struct image_reader *reader, const struct wave *w, const struct inst *i)
{
    reader->rows = w->v + i->src[0].index;
    reader->reg = reader->half = reader->kept_count = 0;
    reader->narrow = i->image.flags & IMAGE_A16;
}

void image_next_register(struct image_reader *reader)
{
    reader->reg += reader->half;
    reader->half = 0;
}

const uint32_t *image_next_whole(struct image_reader *reader)
{
    image_next_register(reader);
    return reader->rows[reader->reg++];
}

static const uint32_t *next_half(struct image_reader *reader, enum format_number number)
{
    const struct data_format format = {.number = (uint8_t)number};
    uint32_t *kept = reader->kept[reader->kept_count++];
    image_rows_chosen()->widen(&format, reader->rows[reader->reg], 16 * reader->half, kept);
    reader->reg += reader->half;
    reader->half ^= 1;
    return kept;
}

const uint32_t *image_next_integer(struct image_reader *reader)
{
    return reader->narrow ? next_half(reader, NUMBER_UINT) : image_next_whole(reader);
}

const uint32_t *image_next_float(struct image_reader *reader)
{
    return reader->narrow ? next_half(reader, NUMBER_FLOAT) : image_next_whole(reader);
}

/* ---- elements ---- */

/* As image_texel() wants them: layers count from the image's first one, not the view's. */
static void places_set(const struct image_view *view, const struct image_texels *texels,
                       lane_row layers, const uint32_t *at[3])
{
    memcpy(at, texels->at, sizeof texels->at);
    if (!image_has_layers(&view->image) || !view->image.first_layer)
        return;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        layers[lane] = at[2][lane] + view->image.first_layer;
    at[2] = layers;
}

bool image_pointers(struct wave *w, const struct inst *i, const struct image_view *view,
                    const struct image_texels *texels, struct lane_pointers *out)
{
    uint64_t va[WAVE_LANES] = {0}, exec = wave_exec(w);
    const uint32_t *at[3];
    lane_row layers;
    places_set(view, texels, layers, at);
    for (uint64_t left = texels->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        va[lane] = image_texel(&view->layout, at[0][lane], at[1][lane], at[2][lane]);
    }
    if (!global_pointers(w, i, va, texels->lanes, view->layout.texel_bytes, out))
        return false;
    for (uint64_t left = exec & ~texels->lanes; left; left &= left - 1)
        out->host[__builtin_ctzll(left)] = NULL;
    out->lanes = exec;
    out->some_outside = exec != texels->lanes;
    return true;
}

/* False: not in one mapping, or too large for offsets, and nothing has happened. */
static bool texels_place(struct wave *w, const struct inst *i, const struct image_view *view,
                         const struct image_texels *texels, lane_row offsets,
                         struct scattered_place *out)
{
    const struct image_layout *layout = &view->layout;
    const uint32_t *at[3];
    lane_row layers;
    if (layout->bytes > UINT32_MAX || (layout->base + layout->bytes) >> 48 != 0)
        return false;
    places_set(view, texels, layers, at);
    image_rows_chosen()->offsets(layout, at, offsets);
    out->va = layout->base;
    out->offsets = offsets;
    out->lanes = texels->lanes;
    out->outside = 0;
    scattered_find(out);
    return scattered_translate(w, i, layout->texel_bytes, out);
}

bool image_elements_load(struct wave *w, const struct inst *i, const struct image_view *view,
                         const struct image_texels *texels, lane_row *elements)
{
    const struct element element = plain_element(view->layout.texel_bytes);
    struct scattered_place place;
    struct lane_pointers pointers;
    lane_row offsets;
    if (~texels->lanes)
        memset(elements, 0, element.dwords * sizeof *elements);
    if (!texels->lanes)
        return true;
    if (texels_place(w, i, view, texels, offsets, &place)) {
        scattered_load_rows(elements, &place, &element);
        return true;
    }
    if (!image_pointers(w, i, view, texels, &pointers))
        return false;
    lanes_load(&pointers, elements, &element);
    return true;
}

bool image_elements_store(struct wave *w, const struct inst *i, const struct image_view *view,
                          const struct image_texels *texels, const lane_row *elements)
{
    const struct element element = plain_element(view->layout.texel_bytes);
    struct scattered_place place;
    struct lane_pointers pointers;
    lane_row offsets;
    w->stores_pending = true;
    if (!texels->lanes)
        return true;
    if (texels_place(w, i, view, texels, offsets, &place)) {
        scattered_store_rows(elements, &place, &element);
        return true;
    }
    if (!image_pointers(w, i, view, texels, &pointers))
        return false;
    lanes_store(&pointers, elements, &element);
    return true;
}

/* ---- results ---- */

/* Two components to a register. */
static unsigned halves_put(lane_row *rows, uint64_t lanes, const struct data_format *format,
                           const uint32_t *const *components, unsigned count)
{
    for (unsigned n = 0; n < count; n += 2) {
        lane_row both;
        const uint32_t *high = n + 1 < count ? components[n + 1] : NULL;
        image_rows_chosen()->narrow(format, components[n], high, both);
        row_put(rows[n / 2], lanes, both);
    }
    return (count + 1) / 2;
}

void image_put(struct wave *w, const struct inst *i, const struct data_format *format,
               const uint32_t *const components[FORMAT_COMPONENTS_MAX])
{
    const unsigned mask = inst_image(i).kind == IMAGE_GATHER ? 15 : i->image.dmask;
    const uint32_t *put[FORMAT_COMPONENTS_MAX] = {image_zeros}; /* what an empty mask returns */
    const uint64_t exec = wave_exec(w);
    lane_row *rows = data_rows(w, &i->dst);
    unsigned count = 0;
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++) {
        if (mask >> n & 1)
            put[count++] = components[n];
    }
    count += count == 0;
    if (i->image.flags & IMAGE_D16)
        count = halves_put(rows, exec, format, put, count);
    else
        for (unsigned n = 0; n < count; n++)
            row_put(rows[n], exec, put[n]);
    if (i->image.flags & IMAGE_STATUS)
        row_put(rows[count], exec, image_zeros); /* every page is there */
}
