#include "image/layout.h"

#include <string.h>

enum swizzle { SWIZZLE_Z, SWIZZLE_S, SWIZZLE_D, SWIZZLE_R, SWIZZLES };
enum mixing { MIX_NONE, MIX_PAGE /* stays inside the block */, MIX_WHOLE };

/* By SW_MODE / 4, and the swizzle is SW_MODE % 4. Mode 0 is linear; blocks of 256 bytes have no Z.
 */
static const struct mode {
    uint8_t block_log2; /* 0: does not exist */
    uint8_t mixing;
} modes[8] = {{8, MIX_NONE},  {12, MIX_NONE},  {16, MIX_NONE}, {0, MIX_NONE},
              {16, MIX_PAGE}, {12, MIX_WHOLE}, {16, MIX_WHOLE}};

enum { MICRO_LOG2 = 8, TEXEL_SIZES = 5 };

/* Order of coordinate bits inside the smallest block, lowest first, by log2 of a texel's bytes:
 * each letter is the next bit of its axis unless a digit follows. */
static const char *const thin_orders[SWIZZLES][TEXEL_SIZES] = {
    [SWIZZLE_Z] = {"xyxyxy", "xyxyx", "xyxy", "xyx", NULL},
    [SWIZZLE_S] = {"xxxxyyyy", "xxxyyyx", "xxyyyx", "xyyxx", "yyxx"},
    [SWIZZLE_D] = {"xxxy1y0y2xy", "xxxyyyx", "xxyxyy", "xyxxy", "xyxy"},
    [SWIZZLE_R] = {"yyyx1x0x2xy", "yyyxxxx", "yyxyxx", "yxyxx", NULL},
};
static const char *const thick_orders[SWIZZLES][TEXEL_SIZES] = {
    [SWIZZLE_Z] = {"xyxyzzxzyx", "xyxyzzzyx", "xyxzyzyx", "xyzxzyx", "xyzzyx"},
    [SWIZZLE_S] = {"xxxxyyzzzy", "xxxyyzzzy", "xxyyzzyx", "xyyzzxx", "yyzzxx"},
};

/* Which bit of which coordinate an address bit is. */
struct source {
    uint8_t axis, index;
};
enum { AXIS_X, AXIS_Y, AXIS_Z, SOURCES_MAX = 40 };

struct order {
    struct source bits[SOURCES_MAX]; /* from the lowest bit that chooses a texel up */
    uint8_t next[3];                 /* lowest bit of each axis that has not been placed */
    unsigned count;
};

static void order_add(struct order *order, unsigned axis, unsigned index)
{
    order->bits[order->count++] = (struct source){(uint8_t)axis, (uint8_t)index};
    if (order->next[axis] <= index)
        order->next[axis] = (uint8_t)(index + 1);
}

static void order_add_text(struct order *order, const char *text)
{
    for (; *text; text++) {
        unsigned axis = (unsigned)(*text - 'x'), index = order->next[axis];
        if (text[1] >= '0' && text[1] <= '9')
            index = (unsigned)(*++text - '0');
        order_add(order, axis, index);
    }
}

/* Above the smallest block the axes take turns. `texel_log2` bits below are bytes of the texel. */
static void order_complete(struct order *order, unsigned texel_log2, bool thick)
{
    static const uint8_t turns[2][3] = {{AXIS_Y, AXIS_X}, {AXIS_X, AXIS_Z, AXIS_Y}};
    while (order->count + texel_log2 < SOURCES_MAX) {
        unsigned bit = order->count + texel_log2;
        unsigned axis = turns[thick][bit % (thick ? 3 : 2)];
        order_add(order, axis, order->next[axis]);
    }
}

struct mixer {
    struct image_layout *layout;
    const struct order *order;
    unsigned visible_bits; /* address bits that may be mixed into others */
};

static void flip(struct image_layout *layout, struct source source, unsigned bit)
{
    if (source.index < LAYOUT_BITS)
        layout->flips[source.axis][source.index] ^= (uint16_t)(1u << bit);
}

/* Address bit `from`, as it was before any mixing, is mixed into `bit`. */
static void mix(const struct mixer *mixer, unsigned bit, unsigned from)
{
    if (from < mixer->visible_bits)
        flip(mixer->layout, mixer->order->bits[from - mixer->layout->texel_log2], bit);
}

/* A field of `bits` address bits from `first` on: those above it come in mirrored, one for each bit
 * of the field, or two where blocks are thick. */
static void mix_field(const struct mixer *mixer, unsigned first, unsigned bits, bool thick)
{
    for (unsigned n = 0; n < bits; n++) {
        if (!thick) {
            mix(mixer, first + n, first + 2 * bits - 1 - n);
            continue;
        }
        mix(mixer, first + n, first + 3 * bits - 1 - 2 * n);
        mix(mixer, first + n, first + 3 * bits - 2 - 2 * n);
    }
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static void layout_mix(struct image_layout *layout, const struct order *order,
                       const struct mode *mode, bool thick, uint32_t config)
{
    enum { INTERLEAVE_LOG2 = 8 };
    unsigned free_bits = mode->block_log2 - INTERLEAVE_LOG2;
    unsigned pipes = least(free_bits, (config & 7) + (config >> 19 & 3));
    unsigned banks = least(free_bits - pipes, config >> 12 & 7);
    struct mixer mixer = {layout, order, mode->mixing == MIX_PAGE ? mode->block_log2 : SOURCES_MAX};
    mix_field(&mixer, INTERLEAVE_LOG2, pipes, thick);
    mix_field(&mixer, INTERLEAVE_LOG2 + pipes, banks, thick);
    /* Layers and slices of thin images start in different pipes and banks. */
    if (mode->mixing == MIX_PAGE || thick)
        return;
    for (unsigned n = 0; n < pipes; n++)
        flip(layout, (struct source){AXIS_Z, (uint8_t)(pipes - 1 - n)}, INTERLEAVE_LOG2 + n);
    for (unsigned n = 0; n < banks; n++)
        flip(layout, (struct source){AXIS_Z, (uint8_t)(pipes + banks - 1 - n)},
             INTERLEAVE_LOG2 + pipes + n);
}

/* Slices of depth, or layers, those before the view's first one included. */
static uint32_t planes_of(const struct image_resource *image)
{
    return image_has_layers(image) ? image->first_layer + image->layers : image->size[2];
}

static void layout_linear(const struct image_resource *image, struct image_layout *layout)
{
    layout->row_bytes = (uint64_t)image->pitch * layout->texel_bytes;
    layout->plane_bytes = layout->row_bytes * image->size[1];
    layout->bytes = layout->plane_bytes * planes_of(image);
}

static uint32_t blocks_of(uint32_t texels, unsigned extent_log2)
{
    return (texels + (1u << extent_log2) - 1) >> extent_log2;
}

static void layout_blocks(const struct image_resource *image, struct image_layout *layout)
{
    const uint32_t extent[3] = {image->size[0], image->size[1], planes_of(image)};
    layout->row_blocks = blocks_of(extent[0], layout->extent_log2[0]);
    layout->plane_blocks = layout->row_blocks * blocks_of(extent[1], layout->extent_log2[1]);
    layout->bytes = (uint64_t)layout->plane_blocks * blocks_of(extent[2], layout->extent_log2[2])
                    << layout->block_log2;
    for (unsigned axis = 0; axis < 3; axis++)
        layout->bits[axis] = extent[axis] > 1 ? (uint8_t)(32 - __builtin_clz(extent[axis] - 1)) : 0;
}

static const char *micro_order(const struct image_resource *image, const struct mode *mode,
                               unsigned texel_log2, bool *thick)
{
    enum swizzle swizzle = image->swizzle_mode % SWIZZLES;
    bool volume = image->type == IMAGE_3D;
    *thick = volume && (swizzle == SWIZZLE_Z || swizzle == SWIZZLE_S);
    if (*thick)
        return mode->block_log2 > MICRO_LOG2 ? thick_orders[swizzle][texel_log2] : NULL;
    /* Thin volumes of mode D have the order of mode S. */
    return thin_orders[volume && swizzle == SWIZZLE_D ? SWIZZLE_S : swizzle][texel_log2];
}

/* The order of coordinate bits is complete: what each of them flips, and how large blocks are. */
static void layout_interleave(struct image_layout *layout, const struct order *order)
{
    for (unsigned bit = layout->texel_log2; bit < layout->block_log2; bit++) {
        struct source source = order->bits[bit - layout->texel_log2];
        flip(layout, source, bit);
        if (layout->extent_log2[source.axis] <= source.index)
            layout->extent_log2[source.axis] = (uint8_t)(source.index + 1);
    }
}

bool image_layout_make(const struct image_resource *image, uint32_t address_config,
                       struct image_layout *out)
{
    const struct mode *mode = &modes[image->swizzle_mode / SWIZZLES & 7];
    struct order order = {.count = 0};
    bool thick = false;
    memset(out, 0, sizeof *out);
    out->base = image->base;
    out->texel_bytes = (uint8_t)format_bytes(&image->format);
    if (image->swizzle_mode == 0) {
        layout_linear(image, out);
        return true;
    }
    bool whole = (out->texel_bytes & (out->texel_bytes - 1)) == 0;
    if (!mode->block_log2 || image_dimensions(image) == 1 || !whole)
        return false;
    out->block_log2 = mode->block_log2;
    out->texel_log2 = (uint8_t)__builtin_ctz(out->texel_bytes);
    const char *micro = micro_order(image, mode, out->texel_log2, &thick);
    if (!micro)
        return false;
    order_add_text(&order, micro);
    order_complete(&order, out->texel_log2, thick);
    layout_interleave(out, &order);
    if (mode->mixing != MIX_NONE)
        layout_mix(out, &order, mode, thick, address_config);
    layout_blocks(image, out);
    return true;
}

uint64_t image_texel(const struct image_layout *layout, uint32_t x, uint32_t y, uint32_t z)
{
    const uint32_t at[3] = {x, y, z};
    uint32_t inside = 0;
    if (!layout->block_log2)
        return layout->base + z * layout->plane_bytes + y * layout->row_bytes +
               (uint64_t)x * layout->texel_bytes;
    for (unsigned axis = 0; axis < 3; axis++) {
        for (uint32_t left = at[axis]; left; left &= left - 1)
            inside ^= layout->flips[axis][__builtin_ctz(left)];
    }
    uint64_t block = (uint64_t)(z >> layout->extent_log2[2]) * layout->plane_blocks +
                     (uint64_t)(y >> layout->extent_log2[1]) * layout->row_blocks +
                     (x >> layout->extent_log2[0]);
    return layout->base + ((block << layout->block_log2) | inside);
}
