/* Bounds-checked reading of an ELF64 little-endian image in memory. */
#ifndef CODEOBJ_ELF_IMAGE_H
#define CODEOBJ_ELF_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image {
    const uint8_t *bytes;
    size_t size_bytes;
    Elf64_Ehdr header;
};

struct elf_symbol {
    const char *name;
    size_t name_size;
    uint64_t address;
    uint64_t size_bytes;
    unsigned type; /* STT_* */
};

bool elf_image_open(struct elf_image *image, const void *bytes, size_t size_bytes);

/* Return a pointer to `size_bytes` bytes at a file offset or at a virtual address, or NULL. */
const void *elf_image_at(const struct elf_image *image, uint64_t offset, uint64_t size_bytes);
const void *elf_image_at_address(const struct elf_image *image, uint64_t address,
                                 uint64_t size_bytes);

/* The descriptor of the first note with this owner and type, or NULL. */
const void *elf_image_note(const struct elf_image *image, const char *owner, uint32_t type,
                           size_t *size_bytes);

/* Calls `visit` for every named symbol of .symtab, or of .dynsym when there is no .symtab; stops
   when it returns false. */
typedef bool (*elf_symbol_visit_fn)(const struct elf_symbol *symbol, void *data);
void elf_image_symbols(const struct elf_image *image, elf_symbol_visit_fn visit, void *data);

#endif
