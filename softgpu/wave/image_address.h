/*
 * What image instructions share: what their mnemonic says, the image their descriptor names, the
 * registers of their addresses, and where texels lie.
 */
#ifndef WAVE_IMAGE_ADDRESS_H
#define WAVE_IMAGE_ADDRESS_H

#include "image/layout.h"
#include "wave/address.h"

enum image_kind {
    IMAGE_LOAD,
    IMAGE_STORE,
    IMAGE_ATOMIC,
    IMAGE_RESOURCE_INFO,
    IMAGE_SAMPLE,
    IMAGE_GATHER,
    IMAGE_GET_LOD
};

/* Parts of an address or of a mnemonic, in the order in which registers hold them. */
enum image_part {
    IMAGE_PART_OFFSET = 1 << 0,
    IMAGE_PART_BIAS = 1 << 1,
    IMAGE_PART_COMPARE = 1 << 2,
    IMAGE_PART_GRADIENTS = 1 << 3,
    IMAGE_PART_LOD = 1 << 4,
    IMAGE_PART_LOD_ZERO = 1 << 5, /* no register */
    IMAGE_PART_CLAMP = 1 << 6,
    IMAGE_PART_MIP = 1 << 7,
    IMAGE_PART_RAW = 1 << 8, /* no conversion */
    IMAGE_PART_SIGNED = 1 << 9
};

/* Kept in inst->aux. */
struct image_op {
    uint8_t kind;
    uint16_t parts; /* enum image_part */
    struct atomic_op atomic;
};
bool inst_keep_image(struct inst *inst);

static inline struct image_op inst_image(const struct inst *inst)
{
    struct image_op op;
    memcpy(&op, inst->aux, sizeof op);
    return op;
}

struct image_view {
    struct image_resource image;
    struct image_layout layout;
};
/* False after wave_fault(): the descriptor asks for what is not modelled. */
bool image_open(struct wave *wave, const struct inst *inst, struct image_view *out);

/* An address's registers, read one after the other; with A16, two values lie in a register. */
struct image_reader {
    const lane_row *rows;
    unsigned reg, half;
    bool narrow;
};
struct image_reader image_reader_of(const struct wave *wave, const struct inst *inst);
uint32_t image_next_whole(struct image_reader *reader, unsigned lane); /* 32 bits in any case */
uint32_t image_next_integer(struct image_reader *reader, unsigned lane);
float image_next_float(struct image_reader *reader, unsigned lane);
void image_next_register(struct image_reader *reader); /* what follows begins a register */

/* Coordinates of all lanes: x, y, and z or the layer. */
struct image_texels {
    uint16_t at[3][WAVE_LANES];
    uint64_t inside; /* lanes whose texel the image has */
};
/* False after wave_fault(). Lanes outside have no pointer. */
bool image_pointers(struct wave *wave, const struct inst *inst, const struct image_view *view,
                    const struct image_texels *texels, struct lane_pointers *out);

/* A lane's result: the components that the mask chooses (gather4: all four), then the status. */
void image_put(lane_row *rows, unsigned lane, const struct inst *inst,
               const struct data_format *format, const uint32_t *components);

inst_exec_fn *sample_handler(struct inst *inst);

#endif
