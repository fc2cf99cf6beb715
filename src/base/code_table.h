/*
 * Tables of functions that nobody has to relocate: each entry is how far the function is from the
 * table, in 32 bits. A pointer instead costs 8 bytes, 24 more for its relocation, and a write to
 * its page in every process. C has no constant expression for the distance of two symbols, so
 * generated files write such tables for the assembler:
 *
 *     CODE_TABLE(wrappers, CODE(wrappers, first) CODE(wrappers, second));
 *     function = code_table_at(wrappers, 1);
 *
 * The functions need CODE_TABLE_ENTRY, because the compiler does not look into the text.
 */
#ifndef BASE_CODE_TABLE_H
#define BASE_CODE_TABLE_H

#include <stdint.h>

#define CODE_TABLE_ENTRY __attribute__((used))

#define CODE(table, function) "\t.4byte " #function " - " #table "\n"
#define CODE_TABLE(table, entries)                                                                 \
    extern const int32_t table[] __attribute__((visibility("hidden")));                            \
    __asm__("\t.pushsection .rodata\n\t.balign 4\n" #table ":\n" entries "\t.popsection\n")

static inline void *code_table_at(const int32_t *table, uint32_t index)
{
    return (void *)((uintptr_t)table + (uintptr_t)(intptr_t)table[index]);
}

#endif
