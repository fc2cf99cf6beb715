/*
 * The decoder against LLVM's: random encodings of every opcode of every target go through
 * llvm-mc -disassemble; whatever it accepts we must decode, with the same mnemonic, operands and
 * modifiers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/tables.h"
#include "isa/text.h"

enum { ENCODINGS_PER_OPCODE = 6, LDS_SAMPLE = 5, TEXT_BYTES = 256, MISMATCHES_SHOWN = 6 };

static const struct {
    enum gpu_gen gen;
    const char *cpu;
} targets[] = {
    {GPU_GFX906, "gfx906"}, {GPU_GFX908, "gfx908"}, {GPU_GFX90A, "gfx90a"}, {GPU_GFX942, "gfx940"}};

/* Where each table's opcode lies; written from the ISA manual, apart from the decoder's list. */
static const struct {
    enum isa_table table;
    uint32_t base;
    unsigned low, count, words;
} encodings[] = {
    {TABLE_SOP2, 0x80000000, 23, 128, 1},   {TABLE_SOPK, 0xb0000000, 23, 32, 1},
    {TABLE_SOP1, 0xbe800000, 8, 256, 1},    {TABLE_SOPC, 0xbf000000, 16, 128, 1},
    {TABLE_SOPP, 0xbf800000, 16, 128, 1},   {TABLE_SMEM, 0xc0000000, 18, 256, 2},
    {TABLE_VOP1, 0x7e000000, 9, 256, 1},    {TABLE_VOP2, 0x00000000, 25, 64, 1},
    {TABLE_VOPC, 0x7c000000, 17, 256, 1},   {TABLE_VOP3, 0xd0000000, 16, 1024, 2},
    {TABLE_DS, 0xd8000000, 17, 256, 2},     {TABLE_FLAT, 0xdc000000, 18, 128, 2},
    {TABLE_GLOBAL, 0xdc008000, 18, 128, 2}, {TABLE_SCRATCH, 0xdc004000, 18, 128, 2},
    {TABLE_MUBUF, 0xe0000000, 18, 128, 2},  {TABLE_VOP3P, 0xd3800000, 16, 128, 2},
    {TABLE_MTBUF, 0xe8000000, 15, 16, 2},   {TABLE_MIMG, 0xf0000000, 18, 128, 2},
};

#define SEED 987654321987ull
static uint64_t random_state = SEED;

static uint32_t random32(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16);
}

struct sample {
    uint32_t words[2];
    unsigned count;
};

/* Operand fields are random; modifiers appear now and then, so that most samples are legal. */
static uint32_t operand_bits(enum isa_table table, unsigned word, bool modifiers)
{
    uint32_t bits = random32();
    switch (table) {
    case TABLE_VOP3:
        return word == 0 ? (modifiers ? bits & 0x87ff : bits & 0xff)
                         : (modifiers ? bits : bits & 0x07ffffff);
    case TABLE_VOP3P:
        return word == 0 ? (modifiers ? bits & 0xffff : (bits & 0xff) | 0x4000)
                         : (modifiers ? bits : (bits & 0x07ffffff) | 0x18000000);
    case TABLE_SMEM:
        return word == 0 ? (bits & 0x1ffff) | (modifiers ? 0x4000 : 0x20000) : bits;
    case TABLE_DS:
        return word == 0 ? bits & (modifiers ? 0x1ffff : 0xff) : bits;
    case TABLE_FLAT:
    case TABLE_GLOBAL:
    case TABLE_SCRATCH:
        if (word == 0)
            return bits & (modifiers ? 0x31fff : table == TABLE_FLAT ? 0xfff : 0x1fff);
        return (bits & 0xff00ffff) |
               (modifiers && table != TABLE_FLAT ? (bits & 0x3e0000) : 0x7f0000);
    case TABLE_MUBUF:
        return word == 0 ? bits & (modifiers ? 0x27fff : 0xfff) : bits & 0xff1fffff;
    case TABLE_MTBUF:
        return word == 0 ? bits & (modifiers ? 0x3ffffff : 0x3f80fff) : bits & 0xff5fffff;
    case TABLE_MIMG: /* tuples of gfx90a begin at even registers */
        return word == 0 ? (bits & (modifiers ? 0x203ff00 : 0x1f00)) | 0x100
                         : bits & (modifiers ? 0x83fffefe : 0x03fffefe);
    default:
        return bits;
    }
}

static void sample_make(struct sample *sample, unsigned encoding, unsigned opcode, unsigned n)
{
    enum isa_table table = encodings[encoding].table;
    uint32_t field = (encodings[encoding].count - 1) << encodings[encoding].low,
             base = encodings[encoding].base;
    uint32_t fixed =
        field | (table == TABLE_FLAT || table == TABLE_GLOBAL || table == TABLE_SCRATCH ? 0xfc00c000
                 : encodings[encoding].words == 2                                       ? 0xfc000000
                                                                                        : 0);
    /* One-word formats: everything above the opcode is fixed, as is what lies below in the base. */
    if (encodings[encoding].words == 1)
        fixed |= table == TABLE_SOP2                          ? 0xc0000000
                 : table == TABLE_SOPK                        ? 0xf0000000
                 : table == TABLE_VOP2                        ? 0x80000000
                 : table == TABLE_VOP1 || table == TABLE_VOPC ? 0xfe000000
                                                              : 0xff800000;
    sample->words[0] =
        (operand_bits(table, 0, n & 1) & ~fixed) | base | opcode << encodings[encoding].low;
    if (table == TABLE_VOP3 && (n & 3) == 3)
        sample->words[0] |= opcode * 0x9e3779b9 >> 17 & 0x7800; /* op_sel, of those that have it */
    sample->words[1] = operand_bits(table, 1, n & 1);
    sample->count = 2;
    if (n == LDS_SAMPLE && (table == TABLE_GLOBAL || table == TABLE_SCRATCH))
        sample->words[0] |= 1u << 13;
    if (n == LDS_SAMPLE && table == TABLE_MUBUF)
        sample->words[0] |= 1u << 16;
    bool vop = table == TABLE_VOP1 || table == TABLE_VOP2 || table == TABLE_VOPC;
    if (vop && n % 3 == 1) { /* SDWA or DPP */
        sample->words[0] = (sample->words[0] & ~0x1ffu) | (n & 4 ? 250 : 249);
        sample->words[1] &= n & 4 ? 0xff08ffff : 0x8686c6ff;
        if (n & 4)
            sample->words[1] = (sample->words[1] & ~0x1ff00u) | (random32() & 0xff) << 8;
    } else if (encodings[encoding].words == 1 && table != TABLE_SOPK && table != TABLE_SOPP &&
               n % 3 == 2) {
        sample->words[0] = (sample->words[0] & ~(vop ? 0x1ffu : 0xffu)) | 255; /* literal */
    }
}

/* "v_add_f32_e64 v0, ..." -> without the encoding suffix, with single spaces. */
static void normalise(char *text)
{
    char *out = text, *in = text;
    while (isspace((unsigned char)*in))
        in++;
    for (; *in; in++) {
        if (isspace((unsigned char)*in) && (isspace((unsigned char)in[1]) || !in[1]))
            continue;
        *out++ = isspace((unsigned char)*in) ? ' ' : *in;
    }
    *out = 0;
    char *end = strchr(text, ' ');
    size_t length = end ? (size_t)(end - text) : strlen(text);
    static const char *const suffixes[] = {"_e32", "_e64", "_sdwa", "_dpp"};
    for (size_t i = 0; i < 4; i++) {
        size_t n = strlen(suffixes[i]);
        if (length > n && strncmp(text + length - n, suffixes[i], n) == 0) {
            memmove(text + length - n, text + length, strlen(text + length) + 1);
            return;
        }
    }
}

static bool is_buffer(const uint32_t *words)
{
    return words[0] >> 26 == 0x38 || words[0] >> 26 == 0x3a;
}

static bool is_image(const uint32_t *words)
{
    return words[0] >> 26 == 0x3c;
}

/* LLVM leaves the status out that LWE asks for, has no tuple for every size, and an image without
 * components is none to it. */
static bool image_errs(const char *theirs)
{
    bool packed_status = strstr(theirs, " tfe") && strstr(theirs, " d16");
    return strstr(theirs, " lwe") || !strstr(theirs, " dmask") ||
           (packed_status && strstr(theirs, "gather4"));
}

/* How many registers an image's address has the descriptor decides, which LLVM cannot know. */
static void image_normalise(char *text)
{
    char *comma = strchr(text, ','), *open = comma ? strchr(comma, '[') : NULL,
         *colon = open ? strchr(open, ':') : NULL, *close = colon ? strchr(colon, ']') : NULL;
    if (!comma || strncmp(comma, ", v[", 4) != 0 || !close)
        return;
    memmove(open, open + 1, (size_t)(colon - open - 1));
    memmove(colon - 1, close + 1, strlen(close + 1) + 1);
}

/* What LLVM accepts and gfx9 does not have: the null register of gfx10, fields it cannot print. */
static bool oracle_errs(const uint32_t *words, const char *theirs)
{
    const char *null = strstr(theirs, "null");
    if ((null && strchr(" ,-|", null[-1])) || strstr(theirs, "/*invalid") ||
        (strstr(theirs, " tfe") && !is_image(words)) || strstr(theirs, "64 bit dpp") ||
        strstr(theirs, "is not supported on") || strcmp(theirs, "buffer_wbl2") == 0 ||
        strstr(theirs, "b32 src_") || strstr(theirs, "Invalid") ||
        strstr(theirs, "src_lds_direct") || (is_image(words) && image_errs(theirs)) ||
        (is_buffer(words) && strstr(theirs, ", src_"))) /* as a buffer's scalar offset */
        return true;
    if (strncmp(theirs, "v_mfma", 6) == 0 && (words[1] >> 18 & 511) < 128)
        return true;                    /* a scalar accumulator: no such instruction */
    bool vop3 = words[0] >> 26 == 0x34; /* has no literals on gfx9 */
    for (unsigned slot = 0; vop3 && slot < 3; slot++) {
        if ((words[1] >> 9 * slot & 511) == 255)
            return true;
    }
    /* It prints the pair's name for a tuple of four that starts in one of the special pairs. */
    unsigned sbase = (words[0] & 63) * 2, sdata = words[0] >> 6 & 127;
    bool special = (sbase >= 102 && sbase < 108) || sbase >= 124 || (sdata >= 102 && sdata < 108) ||
                   sdata >= 124;
    unsigned srsrc = (words[1] >> 16 & 31) * 4; /* of a buffer instruction */
    return (words[0] >> 26 == 0x30 && special) ||
           (is_buffer(words) && (srsrc == 104 || srsrc == 124)) ||
           (is_image(words) && (words[1] >> 21 & 31) * 4 == 104);
}

/* gfx942 renamed the cache bits. */
static void rename_cache_bits(char *text)
{
    static const char *const names[][2] = {{" sc0", " glc"}, {" nt", " slc"}, {" sc1", " scc"}};
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(names[i][0]);
        for (char *at = strstr(text, names[i][0]); at; at = strstr(at + 1, names[i][0])) {
            if (at[n] && at[n] != ' ')
                continue;
            memmove(at + 4, at + n, strlen(at + n) + 1);
            memcpy(at, names[i][1], 4);
        }
    }
}

static bool type_is_int16(unsigned type)
{
    return type == TYPE_I16 || type == TYPE_U16 || type == TYPE_B16;
}

/* Sign modifiers of integer sources, which LLVM drops; packed literals, of which it prints half;
 * SDWA sources of 16-bit integers, where it takes a register for a constant. */
static bool operands_unprintable(const struct inst *inst)
{
    for (unsigned slot = 0; slot < inst->src_count; slot++) {
        enum operand_type type = inst->src[slot].type;
        bool is_float = type == TYPE_F16 || type == TYPE_F32 || type == TYPE_F64;
        if ((inst->neg | inst->abs) >> slot & 1 && !is_float && inst->format != FMT_VOP3P)
            return true;
        if ((type == TYPE_PK16 || type == TYPE_PKI16) && inst->src[slot].literal)
            return true;
    }
    return inst->modifier == MOD_SDWA &&
           (type_is_int16(inst->src[0].type) || type_is_int16(inst->src[1].type));
}

/* Formats whose operands nothing executes, and immediates that are printed by name. */
static bool mnemonic_only(const struct inst *inst)
{
    return inst->format == FMT_SOPP || inst->format == FMT_SOPK || inst->format == FMT_EXP ||
           inst->format == FMT_VINTRP || inst->op == OP_S_ATC_PROBE ||
           inst->op == OP_S_ATC_PROBE_BUFFER ||
           (inst->op == OP_V_CNDMASK_B32 && inst->modifier == MOD_DPP) ||
           inst->op == OP_V_MADAK_F16 || inst->op == OP_V_MADMK_F16 ||
           inst->op == OP_DS_SWIZZLE_B32 || inst->op == OP_S_SET_GPR_IDX_ON ||
           strncmp(isa_op_names[inst->op], "v_interp", 8) == 0;
}

static bool text_matches(const struct inst *inst, const char *ours, const char *theirs)
{
    const char *name = isa_op_names[inst->op];
    size_t n = strlen(name);
    if (mnemonic_only(inst) || operands_unprintable(inst))
        return strncmp(name, theirs, n) == 0 && (theirs[n] == ' ' || !theirs[n]);
    return strcmp(ours, theirs) == 0;
}

static FILE *disassembler_start(const char *cpu, const char *input)
{
    char command[512];
    snprintf(command, sizeof command,
             "llvm-mc-15 -triple=amdgcn -mcpu=%s -disassemble -show-encoding %s 2>/dev/null", cpu,
             input);
    return popen(command, "r");
}

static bool parse_encoding(const char *line, uint32_t words[2], unsigned *count)
{
    const char *at = strstr(line, "encoding: [");
    uint8_t bytes[8] = {0};
    unsigned n = 0;
    if (!at)
        return false;
    for (at += 11; n < 8 && *at && *at != ']'; n++) {
        bytes[n] = (uint8_t)strtoul(at, (char **)&at, 16);
        if (*at == ',')
            at++;
    }
    memcpy(words, bytes, 8);
    *count = n / 4;
    return true;
}

/* `line` is made room for: renaming may lengthen it. */
static unsigned check_line(enum gpu_gen gen, char *line, unsigned *accepted, unsigned shown)
{
    uint32_t words[2];
    unsigned count;
    struct inst inst;
    char ours[TEXT_BYTES];
    if (!parse_encoding(line, words, &count))
        return 0;
    char *comment = strchr(line, ';');
    if (comment)
        *comment = 0;
    comment = strstr(line, "//");
    if (comment)
        *comment = 0;
    normalise(line);
    if (is_image(words))
        image_normalise(line);
    if (oracle_errs(words, line))
        return 0;
    if (gen == GPU_GFX942)
        rename_cache_bits(line);
    (*accepted)++;
    int dwords = isa_decode(gen, words, count, &inst);
    isa_text(&inst, ours, sizeof ours);
    normalise(ours);
    if ((unsigned)dwords == count && text_matches(&inst, ours, line))
        return 0;
    if (shown < MISMATCHES_SHOWN)
        print_error("%08x %08x: \"%s\" (%d dwords), LLVM: \"%s\" (%u)\n", words[0], words[1], ours,
                    dwords, line, count);
    return 1;
}

static unsigned samples_write(enum gpu_gen gen, FILE *file)
{
    unsigned total = 0;
    for (size_t e = 0; e < sizeof encodings / sizeof encodings[0]; e++) {
        for (unsigned opcode = 0; opcode < encodings[e].count; opcode++) {
            if (!isa_index[gen][encodings[e].table][opcode])
                continue;
            for (unsigned n = 0; n < ENCODINGS_PER_OPCODE; n++, total++) {
                struct sample sample;
                sample_make(&sample, (unsigned)e, opcode, n);
                const uint8_t *bytes = (const uint8_t *)sample.words;
                for (unsigned b = 0; b < sample.count * 4; b++)
                    fprintf(file, "0x%02x ", bytes[b]);
                fputc('\n', file);
            }
        }
    }
    return total;
}

static void decode_matches_llvm(void **state)
{
    size_t target = (size_t)(uintptr_t)*state;
    char path[] = "/tmp/croc_decode_XXXXXX", line[1024];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    random_state = SEED + 3 * target; /* from some samples LLVM 15 crashes */
    FILE *file = fdopen(fd, "w");
    unsigned total = samples_write(targets[target].gen, file), accepted = 0, wrong = 0;
    fclose(file);
    FILE *pipe = disassembler_start(targets[target].cpu, path);
    assert_non_null(pipe);
    while (fgets(line, sizeof line, pipe))
        wrong += check_line(targets[target].gen, line, &accepted, wrong);
    pclose(pipe);
    unlink(path);
    print_message("%s: %u samples, LLVM accepts %u, %u differ\n", targets[target].cpu, total,
                  accepted, wrong);
    assert_true(accepted > total * 3 / 4);
    assert_int_equal(wrong, 0);
}

static void illegal_words_are_refused(void **state)
{
    (void)state;
    static const uint32_t words[][2] = {{0xfeedface, 0}, {0xffffffff, 0xffffffff}, {0xbeffffff, 0}};
    struct inst inst;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        assert_int_equal(isa_decode(GPU_GFX90A, words[i], 2, &inst), 0);
        assert_int_equal(inst.op, OP_INVALID);
        assert_int_equal(inst.raw[0], words[i][0]);
    }
    uint32_t cut[1] = {0xd1010000}; /* VOP3 without its second dword */
    assert_int_equal(isa_decode(GPU_GFX90A, cut, 1, &inst), 0);
}

/* Random words, legal or not, never make a register tuple that leaves its file. */
static void tuples_stay_inside(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 2000000; n++) {
        uint32_t words[2] = {random32(), random32()};
        struct inst inst;
        if (!isa_decode((enum gpu_gen)(n & 3), words, 2, &inst))
            continue;
        const struct operand *all[] = {&inst.dst, &inst.sdst, &inst.src[0], &inst.src[1],
                                       &inst.src[2]};
        for (size_t o = 0; o < 5; o++) {
            unsigned end = all[o]->index + all[o]->dwords;
            if (all[o]->kind == OPND_SREG)
                assert_in_range(end, 0, 128);
            if (all[o]->kind == OPND_VGPR || all[o]->kind == OPND_AGPR)
                assert_in_range(end, 0, 256);
        }
    }
}

/* A constant C has the width of a matrix's elements, however wide their tuple is. */
static void constants_of_matrices(void **state)
{
    enum { F64_16X16X4 = 0x6e, F64_4X4X4 = 0x6f, F32_16X16X4 = 0x45, I32_16X16X16 = 0x55 };
    static const struct {
        uint32_t opcode, constant;
        uint64_t value;
    } rows[] = {
        {F64_16X16X4, 242, 0x3ff0000000000000}, {F64_16X16X4, 193, UINT64_MAX},
        {F64_16X16X4, 248, 0x3fc45f306dc9c882}, {F64_16X16X4, 192, 64},
        {F64_4X4X4, 247, 0xc010000000000000},   {F32_16X16X4, 242, 0x3f800000},
        {I32_16X16X16, 193, 0xffffffff},
    };
    (void)state;
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++)
        for (enum gpu_gen gen = GPU_GFX90A; gen <= GPU_GFX942; gen++) {
            const uint32_t words[2] = {0xd3808000 | rows[n].opcode << 16,
                                       256 | 258 << 9 | rows[n].constant << 18};
            struct inst inst;
            if (gen == GPU_GFX942 && rows[n].opcode == I32_16X16X16)
                continue; /* gone */
            assert_int_equal(isa_decode(gen, words, 2, &inst), 2);
            assert_int_equal(inst.src[2].kind, OPND_CONST);
            assert_int_equal(inst.src[2].value, rows[n].value);
        }
}

/* Pairs of dwords have constants of 32 bits, integers' pairs, too. */
static void constants_of_pairs(void **state)
{
    enum { PK_FMA_F32 = 0x30, PK_MOV_B32 = 0x33 };
    static const struct {
        uint32_t constant, value;
    } rows[] = {
        {242, 0x3f800000}, {247, 0xc0800000}, {248, 0x3e22f983}, {193, UINT32_MAX}, {129, 1}};
    (void)state;
    for (uint32_t opcode = PK_FMA_F32; opcode <= PK_MOV_B32; opcode += PK_MOV_B32 - PK_FMA_F32)
        for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
            const uint32_t words[2] = {0xd3804000 | opcode << 16,
                                       rows[n].constant | 258 << 9 | 260 << 18 | 3u << 27};
            struct inst inst;
            assert_int_equal(isa_decode(GPU_GFX90A, words, 2, &inst), 2);
            assert_int_equal(inst.src[0].value, rows[n].value | (uint64_t)rows[n].value << 32);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(decode_matches_llvm, (void *)0),
        cmocka_unit_test_prestate(decode_matches_llvm, (void *)1),
        cmocka_unit_test_prestate(decode_matches_llvm, (void *)2),
        cmocka_unit_test_prestate(decode_matches_llvm, (void *)3),
        cmocka_unit_test(illegal_words_are_refused),
        cmocka_unit_test(tuples_stay_inside),
        cmocka_unit_test(constants_of_matrices),
        cmocka_unit_test(constants_of_pairs),
    };
    return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
