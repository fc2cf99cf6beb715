#include "translate/x86_avx2.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES_INITIAL = 4096, FIXUPS_INITIAL = 64 };
enum { ESCAPE_EVEX = 0x62, ESCAPE_VEX = 0xc4 };

static const struct form {
    uint8_t map, prefix, w, opcode, element;
} forms[X86_FORMS] = {
#define FORM(name, map, prefix, w, opcode, element) {map, prefix, w, opcode, element},
#include "translate/forms.def"
#undef FORM
};

const struct x86_level *x86_level_find(const char *name)
{
    static const struct x86_level levels[] = {
        {.name = "avx512", .lanes = 16, .values = {31, 31}, .scratch = 31},
        {.name = "avx2",
         .lanes = 8,
         .values = {AVX2_SCRATCH, AVX2_EXEC},
         .scratch = AVX2_SCRATCH,
         .vector_masks = true},
    };
    for (unsigned n = 0; n < sizeof levels / sizeof *levels; n++)
        if (strcmp(name, levels[n].name) == 0)
            return &levels[n];
    return NULL;
}

void x86_free(struct x86 *x)
{
    free(x->bytes);
    free(x->fixups);
    memset(x, 0, sizeof *x);
}

static void put(struct x86 *x, uint8_t byte)
{
    if (x->count == x->capacity) {
        size_t capacity = x->capacity ? x->capacity * 2 : BYTES_INITIAL;
        uint8_t *bytes = realloc(x->bytes, capacity);
        if (!bytes) {
            x->failed = true;
            return;
        }
        x->bytes = bytes;
        x->capacity = capacity;
    }
    x->bytes[x->count++] = byte;
}

void x86_put(struct x86 *x, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(x, bytes[i]);
}
#define PUT(x, ...)                                                                                \
    x86_put(x, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void put16(struct x86 *x, uint16_t value)
{
    put(x, (uint8_t)value);
    put(x, (uint8_t)(value >> 8));
}
static void put32(struct x86 *x, uint32_t value)
{
    put16(x, (uint16_t)value);
    put16(x, (uint16_t)(value >> 16));
}

void x86_put32(struct x86 *x, uint32_t value)
{
    put32(x, value);
}

static void fixup_add(struct x86 *x, size_t at, uint16_t constant)
{
    if (x->fixup_count == x->fixup_capacity) {
        size_t capacity = x->fixup_capacity ? x->fixup_capacity * 2 : FIXUPS_INITIAL;
        struct x86_fixup *fixups = realloc(x->fixups, capacity * sizeof *fixups);
        if (!fixups) {
            x->failed = true;
            return;
        }
        x->fixups = fixups;
        x->fixup_capacity = capacity;
    }
    x->fixups[x->fixup_count++] = (struct x86_fixup){.at = at, .constant = constant};
}

/* The byte that names the operands: the register's low bits, and where the other one is. */
static void put_modrm(struct x86 *x, unsigned reg, struct x86_rm rm)
{
    enum { DIRECT = 3 << 6, WITH_OFFSET = 2 << 6, FROM_RIP = 5, WITH_INDEX = 4, NO_INDEX = 0x24 };
    unsigned field = (reg & 7) << 3;
    if (rm.kind == X86_REGISTER) {
        put(x, (uint8_t)(DIRECT | field | (rm.reg & 7)));
        return;
    }
    if (rm.kind == X86_CONSTANT) {
        put(x, (uint8_t)(field | FROM_RIP));
        fixup_add(x, x->count, rm.constant);
        put32(x, 0);
        return;
    }
    put(x, (uint8_t)(WITH_OFFSET | field | (rm.indexed ? WITH_INDEX : rm.reg & 7)));
    if (rm.indexed) /* of the lower eight */
        put(x, (uint8_t)(rm.index << 3 | (rm.reg & 7)));
    else if (rm.reg == RSP)
        put(x, NO_INDEX);
    put32(x, (uint32_t)rm.offset);
}

/* Bits of register numbers are stored inverted in a prefix. */
static unsigned inverted(unsigned number, unsigned bit)
{
    return ~number >> bit & 1;
}

static void put_evex(struct x86 *x, const struct form *form, unsigned reg, unsigned source,
                     struct x86_rm rm, struct x86_option option)
{
    bool direct = rm.kind == X86_REGISTER, based = rm.kind != X86_CONSTANT;
    unsigned x_bit = direct ? inverted(rm.reg, 4) : 1, b_bit = based ? inverted(rm.reg, 3) : 1;
    /* Of registers, what says how wide vectors are says how to round. */
    bool rounds = option.rounding != X86_ROUND_MODE;
    unsigned width = form == &forms[X86_VMOVD_TO] ? 0 : 2; /* 128 bits, 512 */
    if (rounds)
        width = option.rounding - (unsigned)X86_ROUND_NEAREST;
    put(x, ESCAPE_EVEX);
    put(x, (uint8_t)(inverted(reg, 3) << 7 | x_bit << 6 | b_bit << 5 | inverted(reg, 4) << 4 |
                     form->map));
    put(x, (uint8_t)(form->w << 7 | (~source & 15) << 3 | 1 << 2 | form->prefix));
    put(x, (uint8_t)(option.zero << 7 | width << 5 | (rounds || (!direct && rm.broadcast)) << 4 |
                     inverted(source, 4) << 3 | option.mask));
    put(x, form->opcode);
}

/* Displacements to constants count from the instruction's end. */
static void fixup_end(struct x86 *x, struct x86_rm rm)
{
    if (rm.kind == X86_CONSTANT && x->fixup_count)
        x->fixups[x->fixup_count - 1].next = x->count;
}

void x86_vector(struct x86 *x, enum x86_form form, unsigned dst, unsigned source, struct x86_rm rm,
                struct x86_option option)
{
    if (x->level->vector_masks) {
        avx2_vector(x, form, dst, source, rm, option);
        return;
    }
    put_evex(x, &forms[form], dst, source, rm, option);
    put_modrm(x, dst, rm);
    if (option.has_imm)
        put(x, option.imm);
    fixup_end(x, rm);
}

static unsigned shift_kind(enum x86_form form)
{
    switch (form) {
    case X86_VPSLLD_IMM:
    case X86_VPSLLW_IMM:
    case X86_VPSLLQ_IMM:
        return 6;
    case X86_VPSRAD_IMM:
    case X86_VPSRAW_IMM:
    case X86_VPSRAQ_IMM:
        return 4;
    case X86_VPRORD_IMM:
        return 0;
    default: /* to the right, zeros above */
        return 2;
    }
}

void x86_shift(struct x86 *x, enum x86_form form, unsigned dst, unsigned source, unsigned bits)
{
    unsigned kind = shift_kind(form);
    if (x->level->vector_masks) {
        avx2_shift(x, form, dst, source, bits);
        return;
    }
    put_evex(x, &forms[form], kind, dst, x86_reg(source), (struct x86_option){0});
    put_modrm(x, kind, x86_reg(source));
    put(x, (uint8_t)bits);
}

static struct x86_rm constant(struct x86 *x, uint64_t value)
{
    unsigned n = 0;
    while (n < x->constant_count && x->constants[n] != value)
        n++;
    if (n == X86_CONSTANTS_MAX)
        x->failed = true;
    else if (n == x->constant_count)
        x->constants[x->constant_count++] = value;
    return (struct x86_rm){.kind = X86_CONSTANT, .constant = (uint16_t)n, .broadcast = true};
}
struct x86_rm x86_constant32(struct x86 *x, uint32_t value)
{
    return constant(x, (uint64_t)value << 32 | value);
}
struct x86_rm x86_constant64(struct x86 *x, uint64_t value)
{
    return constant(x, value);
}

static void patch32(struct x86 *x, size_t at, size_t target, size_t from)
{
    uint32_t distance = (uint32_t)(target - from);
    if (!x->failed)
        memcpy(x->bytes + at, &distance, sizeof distance);
}

void x86_constants_flush(struct x86 *x)
{
    const size_t times = x->level && x->level->vector_masks ? AVX2_CONSTANT_TIMES : 1;
    const size_t each = times * sizeof x->constants[0];
    while (x->count % each && !x->failed)
        put(x, 0xcc);
    size_t start = x->count;
    for (size_t n = 0; n < times * x->constant_count; n++) {
        put32(x, (uint32_t)x->constants[n / times]);
        put32(x, (uint32_t)(x->constants[n / times] >> 32));
    }
    for (size_t n = 0; n < x->fixup_count; n++)
        patch32(x, x->fixups[n].at, start + x->fixups[n].constant * each, x->fixups[n].next);
    x->constant_count = 0;
    x->fixup_count = 0;
}

/* The older, shorter prefix: of instructions on masks, and on vectors of 256 bits or (not `wide`)
 * 128. */
static void put_vex(struct x86 *x, struct form form, bool wide, unsigned reg, unsigned source,
                    struct x86_rm rm)
{
    unsigned b_bit = rm.kind == X86_CONSTANT ? 1 : inverted(rm.reg, 3);
    put(x, ESCAPE_VEX);
    put(x, (uint8_t)(inverted(reg, 3) << 7 | 1 << 6 | b_bit << 5 | form.map));
    put(x, (uint8_t)(form.w << 7 | (~source & 15) << 3 | wide << 2 | form.prefix));
    put(x, form.opcode);
    put_modrm(x, reg, rm);
}

void x86_vex(struct x86 *x, enum x86_form form, unsigned dst, unsigned source, struct x86_rm rm,
             struct x86_option option)
{
    struct form f = forms[form];
    if (f.map == 1 || form == X86_VPBROADCASTQ || form == X86_VPMULDQ)
        f.w = 0; /* these have no quadwords to choose, or none but them */
    put_vex(x, f, form != X86_VMOVD && form != X86_VMOVD_TO, dst, source, rm);
    if (option.has_imm)
        put(x, option.imm);
    fixup_end(x, rm);
}
void x86_vex_shift(struct x86 *x, enum x86_form form, unsigned dst, unsigned source, unsigned bits)
{
    put_vex(x, forms[form], true, shift_kind(form), dst, x86_reg(source));
    put(x, (uint8_t)bits);
}
unsigned x86_element(enum x86_form form)
{
    return forms[form].element;
}

static void put_mask(struct x86 *x, uint8_t opcode, bool wide, unsigned reg, unsigned source,
                     struct x86_rm rm)
{
    put_vex(x, (struct form){.map = 1, .opcode = opcode}, wide, reg, source, rm);
}

void x86_mask_load(struct x86 *x, unsigned k, enum x86_gpr base, int32_t offset)
{
    if (x->level->vector_masks)
        avx2_mask_load(x, k, base, offset);
    else
        put_mask(x, 0x90, false, k, 0, x86_memory(base, offset, false));
}
void x86_mask_store(struct x86 *x, unsigned k, enum x86_gpr base, int32_t offset)
{
    if (x->level->vector_masks)
        avx2_mask_store(x, k, base, offset);
    else
        put_mask(x, 0x91, false, k, 0, x86_memory(base, offset, false));
}
void x86_mask_and(struct x86 *x, unsigned dst, unsigned a, unsigned b)
{
    if (x->level->vector_masks)
        avx2_masks(x, X86_VPANDD, dst, a, b);
    else
        put_mask(x, 0x41, true, dst, a, x86_reg(b));
}
void x86_mask_or(struct x86 *x, unsigned dst, unsigned a, unsigned b)
{
    if (x->level->vector_masks)
        avx2_masks(x, X86_VPORD, dst, a, b);
    else
        put_mask(x, 0x45, true, dst, a, x86_reg(b));
}
void x86_mask_from(struct x86 *x, unsigned k, enum x86_gpr gpr)
{
    if (x->level->vector_masks)
        avx2_mask_from(x, k, gpr);
    else
        put_mask(x, 0x92, false, k, 0, x86_reg(gpr));
}

/* Scalar instructions have a prefix where a register is one of the upper eight, or 64 bits wide. */
static void put_rex(struct x86 *x, bool wide, unsigned reg, unsigned base)
{
    uint8_t rex = (uint8_t)(0x40 | wide << 3 | (reg >> 3) << 2 | base >> 3);
    if (rex != 0x40)
        put(x, rex);
}
static void put_memory(struct x86 *x, bool wide, uint8_t opcode, unsigned reg, enum x86_gpr base,
                       int32_t offset)
{
    put_rex(x, wide, reg, base);
    put(x, opcode);
    put_modrm(x, reg, x86_memory(base, offset, false));
}
static void put_direct(struct x86 *x, bool wide, uint8_t opcode, unsigned reg, unsigned rm)
{
    put_rex(x, wide, reg, rm);
    put(x, opcode);
    put_modrm(x, reg, x86_reg(rm));
}

void x86_load64(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset)
{
    put_memory(x, true, 0x8b, dst, base, offset);
}
void x86_load32(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset)
{
    put_memory(x, false, 0x8b, dst, base, offset);
}
void x86_load16(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset)
{
    put_rex(x, false, dst, base);
    PUT(x, 0x0f, 0xb7);
    put_modrm(x, dst, x86_memory(base, offset, false));
}
void x86_load8(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset)
{
    put_rex(x, false, dst, base);
    PUT(x, 0x0f, 0xb6);
    put_modrm(x, dst, x86_memory(base, offset, false));
}
void x86_compare32(struct x86 *x, enum x86_gpr a, enum x86_gpr base, int32_t offset)
{
    put_memory(x, false, 0x3b, a, base, offset);
}
void x86_compare32_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int32_t imm)
{
    put_memory(x, false, 0x81, 7, base, offset);
    put32(x, (uint32_t)imm);
}
void x86_compare64_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int8_t imm)
{
    put_memory(x, true, 0x83, 7, base, offset);
    put(x, (uint8_t)imm);
}
void x86_compare8_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int8_t imm)
{
    put_memory(x, false, 0x80, 7, base, offset);
    put(x, (uint8_t)imm);
}
void x86_test32_imm(struct x86 *x, enum x86_gpr base, int32_t offset, uint32_t imm)
{
    put_memory(x, false, 0xf7, 0, base, offset);
    put32(x, imm);
}
void x86_or8_imm(struct x86 *x, enum x86_gpr base, int32_t offset, uint8_t imm)
{
    put_memory(x, false, 0x80, 1, base, offset);
    put(x, imm);
}
void x86_add32_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int32_t imm)
{
    put_memory(x, false, 0x81, 0, base, offset);
    put32(x, (uint32_t)imm);
}
void x86_add64_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int32_t imm)
{
    put_memory(x, true, 0x81, 0, base, offset);
    put32(x, (uint32_t)imm);
}
void x86_store32(struct x86 *x, enum x86_gpr base, int32_t offset, enum x86_gpr source)
{
    put_memory(x, false, 0x89, source, base, offset);
}
void x86_store64(struct x86 *x, enum x86_gpr base, int32_t offset, enum x86_gpr source)
{
    put_memory(x, true, 0x89, source, base, offset);
}
/* Of one of the upper eight: the others' low bytes need a prefix of their own. */
void x86_store8(struct x86 *x, enum x86_gpr base, int32_t offset, enum x86_gpr source)
{
    put_memory(x, false, 0x88, source, base, offset);
}
void x86_store8_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int8_t imm)
{
    put_memory(x, false, 0xc6, 0, base, offset);
    put(x, (uint8_t)imm);
}
void x86_store16_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int16_t imm)
{
    put(x, 0x66);
    put_memory(x, false, 0xc7, 0, base, offset);
    put16(x, (uint16_t)imm);
}
void x86_add64(struct x86 *x, enum x86_gpr base, int32_t offset, enum x86_gpr source)
{
    put_memory(x, true, 0x01, source, base, offset);
}
void x86_lea(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset)
{
    put_memory(x, true, 0x8d, dst, base, offset);
}
void x86_lea32(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset)
{
    put_memory(x, false, 0x8d, dst, base, offset);
}
void x86_store32_imm(struct x86 *x, enum x86_gpr base, int32_t offset, uint32_t imm)
{
    put_memory(x, false, 0xc7, 0, base, offset);
    put32(x, imm);
}
void x86_gpr_imm32(struct x86 *x, enum x86_gpr dst, uint32_t imm)
{
    put_rex(x, false, 0, dst);
    put(x, (uint8_t)(0xb8 | (dst & 7)));
    put32(x, imm);
}
void x86_gpr_imm64(struct x86 *x, enum x86_gpr dst, uint64_t imm)
{
    put_rex(x, true, 0, dst);
    put(x, (uint8_t)(0xb8 | (dst & 7)));
    put32(x, (uint32_t)imm);
    put32(x, (uint32_t)(imm >> 32));
}
void x86_gpr_move(struct x86 *x, enum x86_gpr dst, enum x86_gpr source)
{
    put_direct(x, true, 0x89, source, dst);
}
void x86_gpr_add_imm(struct x86 *x, enum x86_gpr dst, int8_t imm)
{
    put_direct(x, true, 0x83, 0, dst);
    put(x, (uint8_t)imm);
}
void x86_gpr_or_imm(struct x86 *x, enum x86_gpr dst, uint32_t imm)
{
    put_direct(x, false, 0x81, 1, dst);
    put32(x, imm);
}
void x86_gpr_and_imm(struct x86 *x, enum x86_gpr dst, int8_t imm)
{
    put_direct(x, true, 0x83, 4, dst);
    put(x, (uint8_t)imm);
}
void x86_load_state(struct x86 *x, enum x86_gpr base, int32_t offset)
{
    PUT(x, 0x0f, 0xae);
    put_modrm(x, 2, x86_memory(base, offset, false));
}
void x86_gpr_do(struct x86 *x, enum x86_operation operation, bool wide, enum x86_gpr dst,
                enum x86_gpr source)
{
    put_direct(x, wide, (uint8_t)operation, source, dst);
}
void x86_gpr_not(struct x86 *x, bool wide, enum x86_gpr dst)
{
    put_direct(x, wide, 0xf7, 2, dst);
}
void x86_gpr_shift(struct x86 *x, enum x86_shift shift, bool wide, enum x86_gpr dst)
{
    put_direct(x, wide, 0xd3, shift, dst);
}
void x86_gpr_shift_imm(struct x86 *x, enum x86_shift shift, bool wide, enum x86_gpr dst,
                       unsigned bits)
{
    put_direct(x, wide, 0xc1, shift, dst);
    put(x, (uint8_t)bits);
}
static void put_direct2(struct x86 *x, bool wide, uint8_t opcode, unsigned reg, unsigned rm)
{
    put_rex(x, wide, reg, rm);
    PUT(x, 0x0f, opcode);
    put_modrm(x, reg, x86_reg(rm));
}
void x86_gpr_multiply_by(struct x86 *x, enum x86_gpr dst, enum x86_gpr source)
{
    put_direct2(x, false, 0xaf, dst, source);
}
void x86_gpr_multiply_wide(struct x86 *x, enum x86_gpr dst, enum x86_gpr source)
{
    put_direct2(x, true, 0xaf, dst, source);
}
void x86_gpr_move_if(struct x86 *x, enum x86_condition condition, enum x86_gpr dst,
                     enum x86_gpr source)
{
    put_direct2(x, true, (uint8_t)(0x40 | condition), dst, source);
}
void x86_set_if(struct x86 *x, enum x86_condition condition, enum x86_gpr dst)
{
    put_direct2(x, false, (uint8_t)(0x90 | condition), 0, dst);
    put_direct2(x, false, 0xb6, dst, dst);
}
void x86_gpr_add(struct x86 *x, enum x86_gpr dst, enum x86_gpr source)
{
    put_direct(x, true, 0x01, source, dst);
}
void x86_gpr_sub_memory(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset)
{
    put_memory(x, true, 0x2b, dst, base, offset);
}
void x86_gpr_sub(struct x86 *x, enum x86_gpr dst, enum x86_gpr source)
{
    put_direct(x, true, 0x29, source, dst);
}
void x86_gpr_multiply(struct x86 *x, enum x86_gpr dst, int32_t imm)
{
    put_direct(x, true, 0x69, dst, dst);
    put32(x, (uint32_t)imm);
}
void x86_gpr_popcount(struct x86 *x, enum x86_gpr dst, enum x86_gpr source)
{
    put(x, 0xf3);
    put_rex(x, true, dst, source);
    PUT(x, 0x0f, 0xb8);
    put_modrm(x, dst, x86_reg(source));
}
void x86_gpr_compare(struct x86 *x, enum x86_gpr a, enum x86_gpr b)
{
    put_direct(x, true, 0x39, b, a);
}
void x86_gpr_trailing_zeros(struct x86 *x, enum x86_gpr dst, enum x86_gpr source)
{
    put(x, 0xf3);
    put_rex(x, false, dst, source);
    PUT(x, 0x0f, 0xbc);
    put_modrm(x, dst, x86_reg(source));
}
void x86_gpr_compare_imm(struct x86 *x, enum x86_gpr a, int8_t imm)
{
    put_direct(x, true, 0x83, 7, a);
    put(x, (uint8_t)imm);
}
void x86_gpr_test32(struct x86 *x, enum x86_gpr a)
{
    put_direct(x, false, 0x85, a, a);
}

size_t x86_jump(struct x86 *x)
{
    put(x, 0xe9);
    put32(x, 0);
    return x->count;
}
size_t x86_jump_if(struct x86 *x, enum x86_condition condition)
{
    PUT(x, 0x0f, (uint8_t)(0x80 | condition));
    put32(x, 0);
    return x->count;
}
size_t x86_jump_if_none(struct x86 *x, unsigned reg, uint32_t bits, unsigned k)
{
    if (x->level->vector_masks) {
        avx2_test(x, reg, bits);
    } else {
        x86_vector(x, X86_VPTESTMD, k, reg, x86_constant32(x, bits), (struct x86_option){0});
        put_mask(x, 0x98, false, k, 0, x86_reg(k));
    }
    return x86_jump_if(x, JUMP_EQUAL);
}
void x86_land(struct x86 *x, size_t jump)
{
    patch32(x, jump - 4, x->count, jump);
}
void x86_jump_back_if(struct x86 *x, enum x86_condition condition, size_t target)
{
    size_t jump = x86_jump_if(x, condition);
    patch32(x, jump - 4, target, jump);
}
void x86_jump_back(struct x86 *x, size_t target)
{
    size_t jump = x86_jump(x);
    patch32(x, jump - 4, target, jump);
}
