#include "wave/access.h"

#include <math.h>
#include <string.h>

#include "image/float_bits.h"
#include "isa_ops.h"

static const struct {
    const char *stem;
    uint8_t kind, type;
} atomic_stems[] = {
    {"swap", ATOMIC_SWAP, ATOMIC_UINT},     {"cmpswap", ATOMIC_CMPSWAP, ATOMIC_UINT},
    {"add", ATOMIC_ADD, ATOMIC_UINT},       {"sub", ATOMIC_SUB, ATOMIC_UINT},
    {"rsub", ATOMIC_RSUB, ATOMIC_UINT},     {"smin", ATOMIC_MIN, ATOMIC_INT},
    {"umin", ATOMIC_MIN, ATOMIC_UINT},      {"smax", ATOMIC_MAX, ATOMIC_INT},
    {"umax", ATOMIC_MAX, ATOMIC_UINT},      {"and", ATOMIC_AND, ATOMIC_UINT},
    {"or", ATOMIC_OR, ATOMIC_UINT},         {"xor", ATOMIC_XOR, ATOMIC_UINT},
    {"inc", ATOMIC_INC, ATOMIC_UINT},       {"dec", ATOMIC_DEC, ATOMIC_UINT},
    {"min", ATOMIC_MIN, ATOMIC_UINT},       {"max", ATOMIC_MAX, ATOMIC_UINT},
    {"pk_add", ATOMIC_ADD, ATOMIC_UINT},    {"wrxchg", ATOMIC_SWAP, ATOMIC_UINT},
    {"cmpst", ATOMIC_CMPSWAP, ATOMIC_UINT}, {"mskor", ATOMIC_MSKOR, ATOMIC_UINT},
    {"wrap", ATOMIC_WRAP, ATOMIC_UINT},
};

/* Type suffixes: "" is what global atomics use for 32-bit integers, "_x2" for 64-bit ones. */
static const struct {
    const char *suffix;
    uint8_t bytes;
    int8_t type; /* -1: the stem's */
} atomic_suffixes[] = {
    {"", 4, -1},
    {"_x2", 8, -1},
    {"_u32", 4, ATOMIC_UINT},
    {"_b32", 4, ATOMIC_UINT},
    {"_i32", 4, ATOMIC_INT},
    {"_u64", 8, ATOMIC_UINT},
    {"_b64", 8, ATOMIC_UINT},
    {"_i64", 8, ATOMIC_INT},
    {"_f32", 4, ATOMIC_FLOAT},
    {"_f64", 8, ATOMIC_FLOAT},
    {"_f16", 4, ATOMIC_PK_F16},
    {"_bf16", 4, ATOMIC_PK_BF16},
};

static bool parse_suffix(const char *text, struct atomic_op *op)
{
    if (strncmp(text, "_rtn", 4) == 0)
        text += 4;
    for (size_t i = 0; i < sizeof atomic_suffixes / sizeof atomic_suffixes[0]; i++) {
        if (strcmp(text, atomic_suffixes[i].suffix) != 0)
            continue;
        op->bytes = atomic_suffixes[i].bytes;
        if (atomic_suffixes[i].type >= 0)
            op->type = (uint8_t)atomic_suffixes[i].type;
        return true;
    }
    return false;
}

bool atomic_op_find(const struct inst *inst, struct atomic_op *op)
{
    const char *name = isa_op_names[inst->op], *at = strstr(name, "atomic_");
    at = at ? at + 7 : strncmp(name, "ds_", 3) == 0 ? name + 3 : NULL;
    for (size_t i = 0; at && i < sizeof atomic_stems / sizeof atomic_stems[0]; i++) {
        size_t length = strlen(atomic_stems[i].stem);
        op->kind = atomic_stems[i].kind;
        op->type = atomic_stems[i].type;
        if (strncmp(at, atomic_stems[i].stem, length) == 0 && parse_suffix(at + length, op))
            return true;
    }
    return false;
}

/* IEEE minNum and maxNum with -0 below +0; a NaN loses against a number. */
static bool float_less(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

static double float_select(enum atomic_kind kind, double old, double data)
{
    if (isnan(old))
        return data;
    if (isnan(data))
        return old;
    bool take = kind == ATOMIC_MIN ? float_less(data, old) : float_less(old, data);
    return take ? data : old;
}

static uint64_t compute_float(const struct atomic_op *op, uint64_t old, uint64_t data,
                              uint64_t compare)
{
    bool wide = op->bytes == 8;
    double a = wide ? f64_of(old) : f32_of((uint32_t)old),
           b = wide ? f64_of(data) : f32_of((uint32_t)data);
    switch (op->kind) {
    case ATOMIC_ADD:
        return wide ? f64_bits(a + b) : f32_bits(f32_of((uint32_t)old) + f32_of((uint32_t)data));
    case ATOMIC_MIN:
    case ATOMIC_MAX: {
        double r = float_select(op->kind, a, b);
        return wide ? f64_bits(r) : f32_bits((float)r);
    }
    case ATOMIC_CMPSWAP: /* floating-point equality, so -0 matches +0 */
        return (wide ? a == f64_of(compare) : a == (double)f32_of((uint32_t)compare)) ? data : old;
    default:
        return data;
    }
}

static float f16_to_f32(uint16_t h)
{
    _Float16 value;
    memcpy(&value, &h, sizeof value);
    return (float)value;
}

static uint16_t f32_to_f16(float f)
{
    _Float16 value = (_Float16)f; /* the sum of two halves is exact in f32 up to this rounding */
    uint16_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint16_t f32_to_bf16(float f)
{
    uint32_t bits = f32_bits(f);
    if (isnan(f))
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint64_t compute_packed(const struct atomic_op *op, uint64_t old, uint64_t data)
{
    uint64_t result = 0;
    for (int half = 0; half < 2; half++) {
        uint16_t a = (uint16_t)(old >> 16 * half), b = (uint16_t)(data >> 16 * half), sum;
        if (op->type == ATOMIC_PK_F16)
            sum = f32_to_f16(f16_to_f32(a) + f16_to_f32(b));
        else
            sum = f32_to_bf16(f32_of((uint32_t)a << 16) + f32_of((uint32_t)b << 16));
        result |= (uint64_t)sum << 16 * half;
    }
    return result;
}

static int64_t as_signed(const struct atomic_op *op, uint64_t value)
{
    return op->bytes == 8 ? (int64_t)value : (int32_t)value;
}

static uint64_t compute_minmax(const struct atomic_op *op, uint64_t old, uint64_t data)
{
    bool less = op->type == ATOMIC_INT ? as_signed(op, data) < as_signed(op, old) : data < old;
    bool more = op->type == ATOMIC_INT ? as_signed(op, data) > as_signed(op, old) : data > old;
    return (op->kind == ATOMIC_MIN ? less : more) ? data : old;
}

uint64_t atomic_compute(const struct atomic_op *op, uint64_t old, uint64_t data, uint64_t compare)
{
    if (op->type == ATOMIC_FLOAT)
        return compute_float(op, old, data, compare);
    if (op->type == ATOMIC_PK_F16 || op->type == ATOMIC_PK_BF16)
        return compute_packed(op, old, data);
    switch (op->kind) {
    case ATOMIC_SWAP:
        return data;
    case ATOMIC_CMPSWAP:
        return old == compare ? data : old;
    case ATOMIC_ADD:
        return old + data;
    case ATOMIC_SUB:
        return old - data;
    case ATOMIC_RSUB:
        return data - old;
    case ATOMIC_MIN:
    case ATOMIC_MAX:
        return compute_minmax(op, old, data);
    case ATOMIC_AND:
        return old & data;
    case ATOMIC_OR:
        return old | data;
    case ATOMIC_XOR:
        return old ^ data;
    case ATOMIC_INC:
        return old >= data ? 0 : old + 1;
    case ATOMIC_DEC:
        return old == 0 || old > data ? data : old - 1;
    case ATOMIC_MSKOR: /* data: bits to clear, compare: bits to set */
        return (old & ~data) | compare;
    case ATOMIC_WRAP:
        return old >= data ? old - data : old + compare;
    default:
        return old;
    }
}

static uint64_t apply32(const struct atomic_op *op, uint32_t *host, uint64_t data, uint64_t compare)
{
    if (op->kind == ATOMIC_ADD && op->type == ATOMIC_UINT)
        return __atomic_fetch_add(host, (uint32_t)data, __ATOMIC_ACQ_REL);
    uint32_t old = __atomic_load_n(host, __ATOMIC_RELAXED), new;
    do {
        new = (uint32_t)atomic_compute(op, old, data, compare);
    } while (
        !__atomic_compare_exchange_n(host, &old, new, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return old;
}

static uint64_t apply64(const struct atomic_op *op, uint64_t *host, uint64_t data, uint64_t compare)
{
    if (op->kind == ATOMIC_ADD && op->type == ATOMIC_UINT)
        return __atomic_fetch_add(host, data, __ATOMIC_ACQ_REL);
    uint64_t old = __atomic_load_n(host, __ATOMIC_RELAXED), new;
    do {
        new = atomic_compute(op, old, data, compare);
    } while (
        !__atomic_compare_exchange_n(host, &old, new, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return old;
}

uint64_t atomic_apply(const struct atomic_op *op, void *host, uint64_t data, uint64_t compare)
{
    /* Shared with other waves, other devices and the host: acquire-release, like the host's own. */
    return op->bytes == 8 ? apply64(op, host, data, compare)
                          : apply32(op, host, (uint32_t)data, (uint32_t)compare);
}

void atomic_split_compare(const struct atomic_op *op, uint64_t data[2])
{
    if (op->kind == ATOMIC_CMPSWAP && op->bytes == 4) {
        data[1] = data[0] >> 32;
        data[0] = (uint32_t)data[0];
    }
}

/* Element by the mnemonic's last words. */
static const struct {
    const char *suffix;
    struct element element;
} elements[] = {
    {"_ubyte", {1, 1, false, false, false}},    {"_sbyte", {1, 1, true, false, false}},
    {"_ushort", {2, 1, false, false, false}},   {"_sshort", {2, 1, true, false, false}},
    {"_ubyte_d16", {1, 1, false, true, false}}, {"_ubyte_d16_hi", {1, 1, false, true, true}},
    {"_sbyte_d16", {1, 1, true, true, false}},  {"_sbyte_d16_hi", {1, 1, true, true, true}},
    {"_short_d16", {2, 1, false, true, false}}, {"_short_d16_hi", {2, 1, false, true, true}},
    {"_byte", {1, 1, false, false, false}},     {"_byte_d16_hi", {1, 1, false, true, true}},
    {"_short", {2, 1, false, false, false}},    {"_dword", {4, 1, false, false, false}},
    {"_dwordx2", {8, 2, false, false, false}},  {"_dwordx3", {12, 3, false, false, false}},
    {"_dwordx4", {16, 4, false, false, false}}, {"_b8", {1, 1, false, false, false}},
    {"_b16", {2, 1, false, false, false}},      {"_b8_d16_hi", {1, 1, false, true, true}},
    {"_b16_d16_hi", {2, 1, false, true, true}}, {"_b32", {4, 1, false, false, false}},
    {"_b64", {8, 2, false, false, false}},      {"_b96", {12, 3, false, false, false}},
    {"_b128", {16, 4, false, false, false}},    {"_u8", {1, 1, false, false, false}},
    {"_i8", {1, 1, true, false, false}},        {"_u16", {2, 1, false, false, false}},
    {"_i16", {2, 1, true, false, false}},       {"_u8_d16", {1, 1, false, true, false}},
    {"_u8_d16_hi", {1, 1, false, true, true}},  {"_i8_d16", {1, 1, true, true, false}},
    {"_i8_d16_hi", {1, 1, true, true, true}},   {"_u16_d16", {2, 1, false, true, false}},
    {"_u16_d16_hi", {2, 1, false, true, true}},
};

bool element_find(const struct inst *inst, struct element *element)
{
    const char *name = isa_op_names[inst->op];
    size_t length = strlen(name), best = 0;
    if (strstr(name, "_src2"))
        return false; /* memory to memory: no data register */
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        size_t n = strlen(elements[i].suffix);
        if (n > best && n < length && strcmp(name + length - n, elements[i].suffix) == 0) {
            best = n;
            *element = elements[i].element;
        }
    }
    return best > 0;
}

bool inst_keep_element(struct inst *inst)
{
    struct element element;
    _Static_assert(sizeof element <= sizeof inst->aux, "kept in aux");
    if (!element_find(inst, &element))
        return false;
    memcpy(inst->aux, &element, sizeof element);
    return true;
}

bool inst_keep_atomic(struct inst *inst)
{
    struct atomic_op op;
    _Static_assert(sizeof op <= sizeof inst->aux, "kept in aux");
    if (!atomic_op_find(inst, &op))
        return false;
    memcpy(inst->aux, &op, sizeof op);
    return true;
}
