#include "wave/image_address.h"

#include "core/device.h"
#include "image/float_bits.h"
#include "isa_ops.h"

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

bool image_open(struct wave *w, const struct inst *i, struct image_view *out)
{
    if (image_resource_read(&w->s[i->src[2].index], &out->image) &&
        image_layout_make(&out->image, GPU_ADDRESS_CONFIG, &out->layout))
        return true;
    wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, 0);
    return false;
}

struct image_reader image_reader_of(const struct wave *w, const struct inst *i)
{
    return (struct image_reader){.rows = w->v + i->src[0].index,
                                 .narrow = i->image.flags & IMAGE_A16};
}

void image_next_register(struct image_reader *reader)
{
    reader->reg += reader->half;
    reader->half = 0;
}

uint32_t image_next_whole(struct image_reader *reader, unsigned lane)
{
    image_next_register(reader);
    return reader->rows[reader->reg++][lane];
}

uint32_t image_next_integer(struct image_reader *reader, unsigned lane)
{
    if (!reader->narrow)
        return reader->rows[reader->reg++][lane];
    uint32_t value = reader->rows[reader->reg][lane] >> 16 * reader->half & 0xffff;
    reader->reg += reader->half;
    reader->half ^= 1;
    return value;
}

float image_next_float(struct image_reader *reader, unsigned lane)
{
    uint32_t bits = image_next_integer(reader, lane);
    if (!reader->narrow)
        return f32_of(bits);
    const struct data_format half = {.number = NUMBER_FLOAT};
    return f32_of(format_widen(&half, (uint16_t)bits));
}

bool image_pointers(struct wave *w, const struct inst *i, const struct image_view *view,
                    const struct image_texels *texels, struct lane_pointers *out)
{
    uint64_t va[WAVE_LANES] = {0}, exec = wave_exec(w), inside = exec & texels->inside;
    for (uint64_t left = inside; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint32_t z = texels->at[2][lane];
        z += image_has_layers(&view->image) ? view->image.first_layer : 0;
        va[lane] = image_texel(&view->layout, texels->at[0][lane], texels->at[1][lane], z);
    }
    if (!global_pointers(w, i, va, inside, view->layout.texel_bytes, out))
        return false;
    for (uint64_t left = exec & ~inside; left; left &= left - 1)
        out->host[__builtin_ctzll(left)] = NULL;
    out->lanes = exec;
    out->some_outside = exec != inside;
    return true;
}

void image_put(lane_row *rows, unsigned lane, const struct inst *i,
               const struct data_format *format, const uint32_t *components)
{
    bool d16 = i->image.flags & IMAGE_D16;
    unsigned mask = inst_image(i).kind == IMAGE_GATHER ? 15 : i->image.dmask, count = 0;
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX || (count == 0 && n == FORMAT_COMPONENTS_MAX);
         n++) {
        bool none = n == FORMAT_COMPONENTS_MAX; /* an empty mask returns one 0 */
        uint32_t value = none ? 0 : components[n];
        if (!none && !(mask >> n & 1))
            continue;
        if (!d16)
            rows[count][lane] = value;
        else if (count & 1)
            rows[count / 2][lane] |= (uint32_t)format_narrow(format, value) << 16;
        else
            rows[count / 2][lane] = format_narrow(format, value);
        count++;
    }
    if (i->image.flags & IMAGE_STATUS)
        rows[d16 ? (count + 1) / 2 : count][lane] = 0; /* every page is there */
}
