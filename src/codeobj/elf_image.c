#include "codeobj/elf_image.h"

#include <string.h>

bool elf_image_open(struct elf_image *image, const void *bytes, size_t size_bytes)
{
    image->bytes = bytes;
    image->size_bytes = size_bytes;
    if (!bytes || size_bytes < sizeof image->header)
        return false;
    memcpy(&image->header, bytes, sizeof image->header);
    return memcmp(image->header.e_ident, ELFMAG, SELFMAG) == 0 &&
           image->header.e_ident[EI_CLASS] == ELFCLASS64 &&
           image->header.e_ident[EI_DATA] == ELFDATA2LSB;
}

const void *elf_image_at(const struct elf_image *image, uint64_t offset, uint64_t size_bytes)
{
    if (offset > image->size_bytes || size_bytes > image->size_bytes - offset)
        return NULL;
    return image->bytes + offset;
}

/* Headers are copied out: nothing promises that e_phoff or e_shoff is aligned. */
static bool program_header_read(const struct elf_image *image, unsigned index, Elf64_Phdr *segment)
{
    const void *source = NULL;
    if (image->header.e_phentsize == sizeof *segment && image->header.e_phoff <= image->size_bytes)
        source = elf_image_at(image, image->header.e_phoff + (uint64_t)index * sizeof *segment,
                              sizeof *segment);
    if (!source)
        return false;
    memcpy(segment, source, sizeof *segment);
    return true;
}

static bool section_header_read(const struct elf_image *image, unsigned index, Elf64_Shdr *section)
{
    const void *source = NULL;
    if (image->header.e_shentsize == sizeof *section &&
        image->header.e_shoff <= image->size_bytes && index < image->header.e_shnum)
        source = elf_image_at(image, image->header.e_shoff + (uint64_t)index * sizeof *section,
                              sizeof *section);
    if (!source)
        return false;
    memcpy(section, source, sizeof *section);
    return true;
}

const void *elf_image_at_address(const struct elf_image *image, uint64_t address,
                                 uint64_t size_bytes)
{
    for (unsigned i = 0; i < image->header.e_phnum; i++) {
        Elf64_Phdr segment;
        if (!program_header_read(image, i, &segment))
            return NULL;
        if (segment.p_type != PT_LOAD || address < segment.p_vaddr)
            continue;
        uint64_t inside = address - segment.p_vaddr;
        if (inside <= segment.p_filesz && size_bytes <= segment.p_filesz - inside &&
            segment.p_offset <= image->size_bytes)
            return elf_image_at(image, segment.p_offset + inside, size_bytes);
    }
    return NULL;
}

static const void *note_find(const uint8_t *notes, uint64_t notes_size, const char *owner,
                             uint32_t type, size_t *size_bytes)
{
    size_t owner_size = strlen(owner) + 1;
    while (notes_size >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, notes, sizeof note);
        uint64_t name_room = ((uint64_t)note.n_namesz + 3) & ~3ull;
        uint64_t text_room = ((uint64_t)note.n_descsz + 3) & ~3ull;
        uint64_t text_at = sizeof note + name_room;
        if (text_at > notes_size || note.n_descsz > notes_size - text_at)
            return NULL;
        if (note.n_type == type && note.n_namesz == owner_size &&
            memcmp(notes + sizeof note, owner, owner_size) == 0) {
            *size_bytes = note.n_descsz;
            return notes + text_at;
        }
        uint64_t step = text_at + text_room;
        if (step > notes_size)
            return NULL;
        notes += step;
        notes_size -= step;
    }
    return NULL;
}

const void *elf_image_note(const struct elf_image *image, const char *owner, uint32_t type,
                           size_t *size_bytes)
{
    for (unsigned i = 0; i < image->header.e_phnum; i++) {
        Elf64_Phdr segment;
        if (!program_header_read(image, i, &segment))
            break;
        const void *notes = elf_image_at(image, segment.p_offset, segment.p_filesz);
        if (segment.p_type != PT_NOTE || !notes)
            continue;
        const void *found = note_find(notes, segment.p_filesz, owner, type, size_bytes);
        if (found)
            return found;
    }
    return NULL;
}

struct symbol_table {
    Elf64_Shdr symbols;
    Elf64_Shdr strings;
};

static bool symbol_table_find(const struct elf_image *image, uint32_t section_type,
                              struct symbol_table *table)
{
    for (unsigned i = 0; i < image->header.e_shnum; i++) {
        if (!section_header_read(image, i, &table->symbols))
            return false;
        if (table->symbols.sh_type == section_type)
            return table->symbols.sh_entsize == sizeof(Elf64_Sym) &&
                   section_header_read(image, table->symbols.sh_link, &table->strings);
    }
    return false;
}

static bool symbol_read(const struct elf_image *image, const struct symbol_table *table,
                        uint64_t index, struct elf_symbol *symbol)
{
    Elf64_Sym entry;
    const void *source = elf_image_at(image, table->symbols.sh_offset, table->symbols.sh_size);
    const char *strings = elf_image_at(image, table->strings.sh_offset, table->strings.sh_size);

    if (!source || !strings)
        return false;
    memcpy(&entry, (const uint8_t *)source + index * sizeof entry, sizeof entry);
    if (entry.st_name >= table->strings.sh_size)
        return false;
    symbol->name = strings + entry.st_name;
    symbol->name_size = strnlen(symbol->name, table->strings.sh_size - entry.st_name);
    symbol->address = entry.st_value;
    symbol->size_bytes = entry.st_size;
    symbol->type = ELF64_ST_TYPE(entry.st_info);
    return true;
}

void elf_image_symbols(const struct elf_image *image, elf_symbol_visit_fn visit, void *data)
{
    struct symbol_table table;
    if (!symbol_table_find(image, SHT_SYMTAB, &table) &&
        !symbol_table_find(image, SHT_DYNSYM, &table))
        return;
    for (uint64_t i = 0; i < table.symbols.sh_size / sizeof(Elf64_Sym); i++) {
        struct elf_symbol symbol;
        if (!symbol_read(image, &table, i, &symbol))
            return;
        if (symbol.name_size > 0 && !visit(&symbol, data))
            return;
    }
}
