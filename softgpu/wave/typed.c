/*
 * Typed buffer accesses: MTBUF, whose format stands in the instruction, and the format-converting
 * MUBUF instructions, whose format and component order stand in the buffer descriptor.
 */
#include "isa_ops.h"
#include "wave/group.h"
#include "wave/image_address.h"
#include "wave/lane_vectors.h"
#include "wave/lds_direct.h"
#include "wave/scattered.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

/* What the mnemonic says, kept in inst->aux. */
struct typed_op {
    uint8_t components;
    bool d16;  /* two components in a register */
    bool high; /* one component, in the high half */
};

static struct typed_op inst_typed(const struct inst *inst)
{
    struct typed_op op;
    memcpy(&op, inst->aux, sizeof op);
    return op;
}

static struct data_format format_of(const struct wave *w, const struct inst *i)
{
    if (i->format == FMT_MTBUF)
        return (struct data_format){.data = i->soffset.data_format,
                                    .number = i->soffset.number_format,
                                    .select = {SELECT_X, SELECT_Y, SELECT_Z, SELECT_W}};
    uint32_t word = w->s[i->src[2].index + 3];
    struct data_format format = {.data = word >> 15 & 15, .number = word >> 12 & 7};
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++)
        format.select[n] = word >> 3 * n & 7;
    return format;
}

/* The lanes' elements as rows of dwords; what lies outside the buffer reads as bytes of 0. False
 * after wave_fault(): no such format, or a lane's address is not mapped. */
static bool elements_load(struct wave *w, const struct inst *i, const struct data_format *format,
                          lane_row *elements)
{
    const uint32_t bytes = format_bytes(format);
    const struct element element = plain_element(bytes);
    struct scattered_place place;
    struct lane_pointers pointers;
    if (!bytes) {
        wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, 0);
        return false;
    }
    if (format->data == FORMAT_DATA_INVALID)
        return true;
    if (buffer_scattered(w, i, bytes, &place)) {
        scattered_load_rows(elements, &place, &element);
        return true;
    }
    if (!buffer_pointers(w, i, bytes, &pointers))
        return false;
    lanes_load(&pointers, elements, &element);
    return true;
}

static void components_load(const struct data_format *format, unsigned wanted,
                            const lane_row *elements, lane_row *decoded,
                            const uint32_t *components[FORMAT_COMPONENTS_MAX])
{
    image_rows_chosen()->decode(format, elements, format_components_of(format, wanted), decoded);
    format_select_rows(format, decoded, components);
}

static void registers_put(struct wave *w, const struct inst *i, const struct data_format *format,
                          const uint32_t *const components[FORMAT_COMPONENTS_MAX])
{
    const struct typed_op op = inst_typed(i);
    lane_row *rows = data_rows(w, &i->dst);
    for (unsigned n = 0; n < op.components; n += op.d16 ? 2 : 1) {
        lane_row halves;
        const uint32_t *value = op.d16 ? halves : components[n];
        if (op.d16 && op.high)
            image_rows_chosen()->narrow(format, image_zeros, components[n], halves); /* lanes.h */
        else if (op.d16)
            image_rows_chosen()->narrow(format, components[n],
                                        n + 1 < op.components ? components[n + 1] : NULL, halves);
        row_put(rows[op.d16 ? n / 2 : n], wave_exec(w), value);
    }
}

EXEC_FN(LOAD)
{
    const struct data_format format = format_of(w, i);
    lane_row elements[FORMAT_COMPONENTS_MAX], decoded[FORMAT_COMPONENTS_MAX];
    const uint32_t *components[FORMAT_COMPONENTS_MAX];
    if (!elements_load(w, i, &format, elements))
        return NULL;
    valu_leave(); /* conversions have a rounding of their own, not the wave's */
    components_load(&format, (1u << inst_typed(i).components) - 1, elements, decoded, components);
    registers_put(w, i, &format, components);
    valu_enter(w);
    return inst_next(i);
}

EXEC_FN(LOAD_LDS)
{
    const struct data_format format = format_of(w, i);
    lane_row elements[FORMAT_COMPONENTS_MAX], decoded[FORMAT_COMPONENTS_MAX];
    const uint32_t *components[FORMAT_COMPONENTS_MAX];
    if (!elements_load(w, i, &format, elements))
        return NULL;
    valu_leave();
    components_load(&format, 1, elements, decoded, components);
    valu_enter(w);
    lds_direct_write(w, i, components[0]);
    return inst_next(i);
}

/* What lanes store, as rows of dwords. */
static void elements_make(struct wave *w, const struct inst *i, const struct data_format *format,
                          lane_row *elements)
{
    const struct typed_op op = inst_typed(i);
    const lane_row *rows = data_rows(w, &i->src[1]);
    const struct image_rows *functions = image_rows_chosen();
    const uint32_t *components[FORMAT_COMPONENTS_MAX];
    lane_row wide[FORMAT_COMPONENTS_MAX];
    valu_leave();
    for (unsigned n = 0; n < op.components; n++) {
        components[n] = op.d16 ? wide[n] : rows[n];
        if (op.d16)
            functions->widen(format, rows[n / 2], op.high || n & 1 ? 16 : 0, wide[n]);
    }
    functions->encode(format, components, op.components, elements);
    valu_enter(w);
}

EXEC_FN(STORE)
{
    const struct data_format format = format_of(w, i);
    const uint32_t bytes = format_bytes(&format);
    const struct element element = plain_element(bytes);
    lane_row elements[FORMAT_COMPONENTS_MAX];
    struct scattered_place place;
    struct lane_pointers pointers;
    if (!bytes)
        return wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, 0);
    if (format.data == FORMAT_DATA_INVALID)
        return inst_next(i);
    elements_make(w, i, &format, elements);
    w->stores_pending = true;
    if (buffer_scattered(w, i, bytes, &place))
        scattered_store_rows(elements, &place, &element);
    else if (buffer_pointers(w, i, bytes, &pointers))
        lanes_store(&pointers, elements, &element);
    else
        return NULL;
    return inst_next(i);
}

inst_exec_fn *typed_handler(struct inst *inst)
{
    const char *at = strstr(isa_op_names[inst->op], "_format_");
    if (!at)
        return NULL;
    at += sizeof "_format_" - 1;
    struct typed_op op = {.d16 = strncmp(at, "d16_", 4) == 0};
    at += op.d16 ? 4 : 0;
    op.high = strncmp(at, "hi_", 3) == 0;
    at += op.high ? 3 : 0;
    op.components = (uint8_t)strlen(at);
    _Static_assert(sizeof op <= sizeof inst->aux, "kept in aux");
    memcpy(inst->aux, &op, sizeof op);
    if (inst->flags & IF_STORE)
        return inst->flags & IF_LDS ? NULL : exec_STORE;
    if (!(inst->flags & IF_LDS))
        return exec_LOAD;
    return op.components == 1 && !op.d16 ? exec_LOAD_LDS : NULL;
}
