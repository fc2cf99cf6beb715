/*
 * Typed buffer accesses: MTBUF, whose format stands in the instruction, and the format-converting
 * MUBUF instructions, whose format and component order stand in the buffer descriptor.
 */
#include "image/format.h"
#include "isa_ops.h"
#include "wave/address.h"
#include "wave/group.h"
#include "wave/lds_direct.h"

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

/* False after wave_fault(): no such format, or a lane's address is not mapped. */
static bool typed_pointers(struct wave *w, const struct inst *i, const struct data_format *format,
                           struct lane_pointers *out)
{
    uint32_t bytes = format_bytes(format);
    if (!bytes) {
        wave_fault(w, i, FAULT_ILLEGAL_INSTRUCTION, 0);
        return false;
    }
    if (format->data != FORMAT_DATA_INVALID)
        return buffer_pointers(w, i, bytes, out);
    *out = (struct lane_pointers){.lanes = wave_exec(w), .some_outside = true};
    return true;
}

static void registers_put(lane_row *rows, unsigned lane, const struct typed_op *op,
                          const struct data_format *format, const uint32_t *components)
{
    for (unsigned n = 0; n < op->components; n++) {
        uint32_t *reg = &rows[op->d16 ? n / 2 : n][lane];
        if (!op->d16) {
            *reg = components[n];
            continue;
        }
        uint32_t narrow = format_narrow(format, components[n]);
        if (n & 1)
            *reg |= narrow << 16;
        else
            *reg = op->high ? narrow << 16 : narrow; /* lanes.h */
    }
}

static void registers_get(const lane_row *rows, unsigned lane, const struct typed_op *op,
                          const struct data_format *format, uint32_t *components)
{
    for (unsigned n = 0; n < op->components; n++) {
        uint32_t reg = rows[op->d16 ? n / 2 : n][lane];
        unsigned shift = op->high || n & 1 ? 16 : 0;
        components[n] = op->d16 ? format_widen(format, (uint16_t)(reg >> shift)) : reg;
    }
}

/* What lies outside the buffer reads as bytes of 0. */
static void element_load(const struct lane_pointers *p, unsigned lane,
                         const struct data_format *format, uint32_t *components)
{
    uint8_t element[FORMAT_BYTES_MAX] = {0};
    if (p->host[lane])
        single_read(element, p->host[lane], format_bytes(format));
    format_load(format, element, components);
}

/* Conversions have a rounding of their own, not the wave's. */
EXEC_FN(LOAD)
{
    struct typed_op op = inst_typed(i);
    struct data_format format = format_of(w, i);
    struct lane_pointers pointers;
    if (!typed_pointers(w, i, &format, &pointers))
        return NULL;
    lane_row *rows = data_rows(w, &i->dst);
    struct lane_walk walk = lane_walk_start(pointers.lanes, !lanes_fall(&pointers));
    valu_leave();
    while (walk.left) {
        unsigned lane = lane_walk_next(&walk);
        uint32_t components[FORMAT_COMPONENTS_MAX];
        element_load(&pointers, lane, &format, components);
        registers_put(rows, lane, &op, &format, components);
    }
    valu_enter(w);
    return inst_next(i);
}

EXEC_FN(LOAD_LDS)
{
    struct data_format format = format_of(w, i);
    struct lane_pointers pointers;
    lane_row values;
    if (!typed_pointers(w, i, &format, &pointers))
        return NULL;
    struct lane_walk walk = lane_walk_start(pointers.lanes, !lanes_fall(&pointers));
    valu_leave();
    while (walk.left) {
        unsigned lane = lane_walk_next(&walk);
        uint32_t components[FORMAT_COMPONENTS_MAX];
        element_load(&pointers, lane, &format, components);
        values[lane] = components[0];
    }
    valu_enter(w);
    lds_direct_write(w, i, values);
    return inst_next(i);
}

EXEC_FN(STORE)
{
    struct typed_op op = inst_typed(i);
    struct data_format format = format_of(w, i);
    struct lane_pointers pointers;
    if (!typed_pointers(w, i, &format, &pointers))
        return NULL;
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
        registers_get(rows, lane, &op, &format, components);
        format_store(&format, components, op.components, element);
        single_write(pointers.host[lane], element, format_bytes(&format));
    }
    valu_enter(w);
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
