/* Atomic operations: their names, what they compute, and how they are done to memory. */
#include <stdatomic.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/log.h"
#include "core/device.h"
#include "isa_ops.h"
#include "mem/vm.h"
#include "wave/atomic_apply.h"

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

/* The sum of two halves is exact in single precision; it is rounded to the nearest half whatever
 * the wave's mode is. The host's own conversions, where it has them, take a tenth of the time. */
static uint32_t sum_halves_portable(uint32_t a, uint32_t b)
{
    uint32_t result = 0;
    for (unsigned half = 0; half < 2; half++) {
        const uint16_t parts[2] = {(uint16_t)(a >> 16 * half), (uint16_t)(b >> 16 * half)};
        _Float16 values[2], sum;
        uint16_t bits;
        memcpy(values, parts, sizeof values);
        sum = (_Float16)((float)values[0] + (float)values[1]);
        memcpy(&bits, &sum, sizeof bits);
        result |= (uint32_t)bits << 16 * half;
    }
    return result;
}

#ifdef __x86_64__
__attribute__((target("f16c"))) static uint32_t sum_halves_f16c(uint32_t a, uint32_t b)
{
    const __m128 wide = _mm_add_ps(_mm_cvtph_ps(_mm_cvtsi32_si128((int)a)),
                                   _mm_cvtph_ps(_mm_cvtsi32_si128((int)b)));
    return (uint32_t)_mm_cvtsi128_si32(_mm_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT));
}

uint32_t atomic_sum_halves(uint32_t a, uint32_t b)
{
    return host_level == LEVEL_PORTABLE ? sum_halves_portable(a, b) : sum_halves_f16c(a, b);
}
#else
uint32_t atomic_sum_halves(uint32_t a, uint32_t b)
{
    return sum_halves_portable(a, b);
}
#endif

uint64_t atomic_compute(const struct atomic_op *op, uint64_t old, uint64_t data, uint64_t compare)
{
    return atomic_value(op, old, data, compare);
}

/*
 * As LLVM's back end knows it: everything is rounded to the nearest, and only single precision
 * loses denormals, in LDS where MODE says so, in memory always, until an MI300's, where it never
 * does. A flat address in LDS counts as memory.
 */
static uint32_t denormals_of(const struct wave *w, const struct atomic_op *op, bool lds)
{
    enum { FLUSH, KEEP = 3 };
    if (op->type != ATOMIC_FLOAT || op->bytes == 8)
        return KEEP;
    if (lds)
        return w->mode >> MODE_DENORM_32_SHIFT & 3;
    return engine_model(w->group->engine)->gen < GPU_GFX942 ? FLUSH : KEEP;
}

static bool is_float(const struct atomic_op *op)
{
    return op->type != ATOMIC_UINT && op->type != ATOMIC_INT;
}

void atomic_float_begin(const struct wave *wave, const struct atomic_op *op, bool lds)
{
    if (is_float(op))
        valu_nearest_begin(wave, denormals_of(wave, op, lds));
}

void atomic_float_end(const struct wave *wave, const struct atomic_op *op, bool lds)
{
    if (is_float(op))
        valu_nearest_end(wave, denormals_of(wave, op, lds));
}

uint64_t atomic_apply(const struct atomic_op *op, void *host, uint64_t data, uint64_t compare)
{
    fence_before(*op);
    return apply(*op, host, data, compare);
}

void atomic_split_compare(const struct atomic_op *op, uint64_t data[2])
{
    if (op->kind == ATOMIC_CMPSWAP && op->bytes == 4) {
        data[1] = data[0] >> 32;
        data[0] = (uint32_t)data[0];
    }
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

static bool fabric_has(const struct atomic_op *op)
{
    return !is_float(op) &&
           (op->kind == ATOMIC_ADD || op->kind == ATOMIC_SWAP || op->kind == ATOMIC_CMPSWAP);
}

bool atomic_refused(const struct inst *inst, uint32_t memory_flags)
{
    /* Any thread that executes sets it; relaxed: nothing else depends on it. */
    static atomic_bool said;
    struct atomic_op op;
    if ((memory_flags >> VM_TYPE_SHIFT & 3) != MEMORY_UC ||
        (memory_flags >> VM_HOME_SHIFT & 3) != HOME_HOST)
        return false;
    if (!atomic_op_find(inst, &op) || fabric_has(&op))
        return false;
    if (!atomic_exchange_explicit(&said, true, memory_order_relaxed))
        log_warning("softgpu",
                    "%s in fine-grained memory of the host: PCIe has no such operation, and the "
                    "GPU does nothing and returns 0 (this is said once)",
                    isa_op_names[inst->op]);
    return true;
}
