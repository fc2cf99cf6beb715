/* Shared by the files of this folder. */
#ifndef DUMP_INTERNAL_H
#define DUMP_INTERNAL_H

#include "dump/dump.h"

/* Text under construction; what does not fit is lost. */
struct text {
    char *at;
    size_t left_bytes;
};

__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);

static inline uint32_t bits_of(uint32_t value, uint32_t first, uint32_t last)
{
    return value >> first & (last - first == 31 ? ~0u : (1u << (last - first + 1)) - 1);
}

/* ---- registers.c */
void register_add(struct text *text, enum dump_family family, uint32_t reg);
/* Adds " (event=4 ...)", or nothing when no field is known. */
void register_fields_add(struct text *text, enum dump_family family, uint32_t reg, uint32_t value);

#endif
