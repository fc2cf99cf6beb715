/* Names and fields of registers. */
#include <ctype.h>
#include <string.h>

#include "dump/internal.h"
#include "dump_gfx101_regs.h"
#include "dump_gfx103_regs.h"
#include "dump_gfx11_regs.h"
#include "dump_gfx12_regs.h"
#include "dump_gfx9_regs.h"
#include "dump_sdma42_regs.h"
#include "dump_sdma442_regs.h"
#include "dump_sdma44_regs.h"
#include "dump_tables.h"

struct named {
    uint32_t offset;
    const char *name;
};

/* The generator promises that the lists are in order of offset. */
#define X(name, offset) {offset, #name},
static const struct named gfx9[] = {GFX9_REG_LIST(X)}, gfx101[] = {GFX101_REG_LIST(X)},
                          gfx103[] = {GFX103_REG_LIST(X)}, gfx11[] = {GFX11_REG_LIST(X)},
                          gfx12[] = {GFX12_REG_LIST(X)}, sdma42[] = {SDMA42_REG_LIST(X)},
                          sdma44[] = {SDMA44_REG_LIST(X)}, sdma442[] = {SDMA442_REG_LIST(X)};
#undef X

struct table {
    const struct named *registers;
    size_t count;
};
#define TABLE(name)                                                                                \
    {                                                                                              \
        name, sizeof name / sizeof name[0]                                                         \
    }
static const struct table tables[DUMP_FAMILIES] = {
    [DUMP_GFX9] = TABLE(gfx9),     [DUMP_GFX90A] = TABLE(gfx9),   [DUMP_GFX94] = TABLE(gfx9),
    [DUMP_GFX101] = TABLE(gfx101), [DUMP_GFX103] = TABLE(gfx103), [DUMP_GFX11] = TABLE(gfx11),
    [DUMP_GFX12] = TABLE(gfx12),
};
/* These registers lie outside the dies. */
static const struct table outside[DUMP_FAMILIES] = {
    [DUMP_GFX9] = TABLE(sdma42), [DUMP_GFX90A] = TABLE(sdma44), [DUMP_GFX94] = TABLE(sdma442)};

int dump_family_find(const char *architecture)
{
    static const struct {
        const char *prefix;
        enum dump_family family;
    } prefixes[] = {{"gfx90a", DUMP_GFX90A}, {"gfx94", DUMP_GFX94},   {"gfx95", DUMP_GFX94},
                    {"gfx9", DUMP_GFX9},     {"gfx101", DUMP_GFX101}, {"gfx103", DUMP_GFX103},
                    {"gfx10", DUMP_GFX103},  {"gfx11", DUMP_GFX11},   {"gfx12", DUMP_GFX12}};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(architecture, prefixes[i].prefix, strlen(prefixes[i].prefix)) == 0)
            return (int)prefixes[i].family;
    }
    return -1;
}

static const char *name_find(const struct table *table, uint32_t reg)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table->registers[middle].offset == reg)
            return table->registers[middle].name;
        if (table->registers[middle].offset < reg)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const char *dump_register_name(enum dump_family family, uint32_t reg)
{
    const char *name = name_find(&tables[family], reg);
    return name ? name : name_find(&outside[family], reg);
}

void register_add(struct text *text, enum dump_family family, uint32_t reg)
{
    const char *name = dump_register_name(family, reg);
    if (name)
        text_add(text, "%s", name);
    else
        text_add(text, "0x%05x", reg);
}

static const struct register_field {
    uint32_t families;
    const char *pattern, *name;
    uint32_t first, last;
} fields[] = {
#define X(families, pattern, name, first, last) {families, pattern, name, first, last},
    DUMP_REGISTER_FIELD_LIST(X)
#undef X
};

/* In a pattern '#' stands for digits, and '*' at the beginning for anything. */
static int matches(const char *pattern, const char *name)
{
    if (*pattern == '*') {
        for (pattern++; *name; name++) {
            if (matches(pattern, name))
                return 1;
        }
        return 0;
    }
    while (*pattern) {
        if (*pattern == '#') {
            if (!isdigit((unsigned char)*name))
                return 0;
            while (isdigit((unsigned char)*name))
                name++;
            pattern++;
        } else if (*pattern++ != *name++) {
            return 0;
        }
    }
    return *name == '\0';
}

void register_fields_add(struct text *text, enum dump_family family, uint32_t reg, uint32_t value)
{
    const char *name = dump_register_name(family, reg), *pattern = NULL;
    int shown = 0;
    for (size_t i = 0; name && i < sizeof fields / sizeof fields[0]; i++) {
        const struct register_field *f = &fields[i];
        if (!(f->families >> family & 1))
            continue;
        if (pattern ? strcmp(f->pattern, pattern) != 0 : !matches(f->pattern, name))
            continue;
        pattern = f->pattern;
        uint32_t bits = bits_of(value, f->first, f->last);
        if (!bits)
            continue;
        text_add(text, shown++ ? " " : " (");
        text_add(text, bits < 1024 ? "%s=%u" : "%s=0x%x", f->name, bits);
    }
    if (shown)
        text_add(text, ")");
}
