/*
 * What image instructions share: what their mnemonic says, the image their descriptor names, the
 * registers of their addresses, and where texels lie.
 */
#ifndef WAVE_IMAGE_ADDRESS_H
#define WAVE_IMAGE_ADDRESS_H

#include "image/rows.h"
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

/* What the instruction's descriptor says; NULL after wave_fault(): it asks for what is not
 * modelled.
 */
const struct image_view *image_open(struct wave *wave, const struct inst *inst);

/* The functions of image/rows.h for this host. */
const struct image_rows *image_rows_chosen(void);

/* An address's registers, read one after the other; with A16, two values lie in a register. What is
 * read lies in the registers themselves, or in the reader. */
enum { IMAGE_READER_ROWS = 14 };
struct image_reader {
    const lane_row *rows;
    unsigned reg, half, kept_count;
    bool narrow;
    lane_row kept[IMAGE_READER_ROWS];
};
void image_reader_start(struct image_reader *reader, const struct wave *wave,
                        const struct inst *inst);
const uint32_t *image_next_whole(struct image_reader *reader); /* 32 bits in any case */
const uint32_t *image_next_integer(struct image_reader *reader);
const uint32_t *image_next_float(struct image_reader *reader); /* its bits */
void image_next_register(struct image_reader *reader);         /* what follows begins a register */

/* Texels of lanes that are on and that the image has: x, y, and z or the layer. */
struct image_texels {
    const uint32_t *at[3];
    uint64_t lanes;
};
/* Elements as rows of dwords; those of other lanes read as bytes of 0. False after wave_fault(). */
bool image_elements_load(struct wave *wave, const struct inst *inst, const struct image_view *view,
                         const struct image_texels *texels, lane_row *elements);
bool image_elements_store(struct wave *wave, const struct inst *inst, const struct image_view *view,
                          const struct image_texels *texels, const lane_row *elements);
/* False after wave_fault(). Lanes that are on without a texel have no pointer. */
bool image_pointers(struct wave *wave, const struct inst *inst, const struct image_view *view,
                    const struct image_texels *texels, struct lane_pointers *out);

/* Results: the components that the mask chooses (gather4: all four), then the status. */
void image_put(struct wave *wave, const struct inst *inst, const struct data_format *format,
               const uint32_t *const components[FORMAT_COMPONENTS_MAX]);

inst_exec_fn *sample_handler(struct inst *inst);

#endif
