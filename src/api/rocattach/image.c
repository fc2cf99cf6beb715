#include "image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int memory_open(pid_t pid, bool writable)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    return open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
}

bool memory_read(int memory, uint64_t address, void *to, size_t size)
{
    return pread(memory, to, size, (off_t)address) == (ssize_t)size;
}

bool memory_write(int memory, uint64_t address, const void *from, size_t size)
{
    return pwrite(memory, from, size, (off_t)address) == (ssize_t)size;
}

/* ---- mappings */

struct mapping {
    uint64_t start, end, offset;
    bool executable;
    const char *path; /* within the line */
};

static bool mapping_parse(char *line, struct mapping *mapping)
{
    char rights[5];
    int path_at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &mapping->start,
               &mapping->end, rights, &mapping->offset, &path_at) != 4 ||
        path_at == 0)
        return false;
    line[strcspn(line, "\n")] = 0;
    mapping->executable = rights[2] == 'x';
    mapping->path = line + path_at;
    return true;
}

static bool is_named(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return slash && !strncmp(slash + 1, name, strlen(name));
}

/* Mappings come in ascending order; those of one library follow each other. */
static void image_add(struct image *image, const struct mapping *mapping, const char *name)
{
    bool first = image->base == 0;
    if (first && (mapping->offset != 0 || !is_named(mapping->path, name)))
        return;
    if (first) {
        image->base = mapping->start;
        snprintf(image->path, sizeof image->path, "%s", mapping->path);
    }
    if (mapping->executable && image->text_size == 0 && !strcmp(mapping->path, image->path)) {
        image->text_start = mapping->start;
        image->text_size = mapping->end - mapping->start;
    }
}

bool image_find(pid_t pid, const char *name, struct image *image)
{
    char path[64], line[IMAGE_PATH_BYTES + 128];
    memset(image, 0, sizeof *image);
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    while (maps && fgets(line, sizeof line, maps)) {
        struct mapping mapping;
        if (mapping_parse(line, &mapping))
            image_add(image, &mapping, name);
    }
    if (maps)
        fclose(maps);
    return image->base != 0;
}

/* ---- symbols, through the hash table that the process's loader uses */

struct tables {
    uint64_t hash, symbols, strings;
};

static uint64_t absolute(const struct image *image, uint64_t value)
{
    return value < image->base ? image->base + value : value;
}

static bool dynamic_find(int memory, const struct image *image, uint64_t *address)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    if (!memory_read(memory, image->base, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    uint64_t bias = image->base;
    bool found = false, loaded = false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        if (!memory_read(memory, image->base + header.e_phoff + i * sizeof segment, &segment,
                         sizeof segment))
            return false;
        if (segment.p_type == PT_LOAD && !loaded) {
            bias = image->base - segment.p_vaddr;
            loaded = true;
        }
        if (segment.p_type == PT_DYNAMIC) {
            *address = bias + segment.p_vaddr;
            found = true;
        }
    }
    return found;
}

static bool tables_find(int memory, const struct image *image, struct tables *tables)
{
    enum { ENTRIES_MAX = 512 };
    Elf64_Dyn entry;
    uint64_t at;
    memset(tables, 0, sizeof *tables);
    if (!dynamic_find(memory, image, &at))
        return false;
    for (unsigned i = 0; i < ENTRIES_MAX; i++, at += sizeof entry) {
        if (!memory_read(memory, at, &entry, sizeof entry) || entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_GNU_HASH)
            tables->hash = absolute(image, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_SYMTAB)
            tables->symbols = absolute(image, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_STRTAB)
            tables->strings = absolute(image, entry.d_un.d_ptr);
    }
    return tables->hash && tables->symbols && tables->strings;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* 0: the entry is another symbol, or one that the library only uses. */
static uint64_t symbol_address(int memory, const struct image *image, const struct tables *tables,
                               uint32_t index, const char *name)
{
    char found[128];
    Elf64_Sym symbol;
    size_t length = strlen(name) + 1;
    if (length > sizeof found ||
        !memory_read(memory, tables->symbols + index * sizeof symbol, &symbol, sizeof symbol) ||
        symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
        !memory_read(memory, tables->strings + symbol.st_name, found, length) ||
        memcmp(found, name, length) != 0)
        return 0;
    return image->base + symbol.st_value;
}

uint64_t image_symbol(int memory, const struct image *image, const char *name)
{
    enum { CHAIN_MAX = 100000 };
    struct tables tables;
    uint32_t head[4], index, chain; /* buckets, first hashed symbol, bloom words, shift */
    uint32_t hash = hash_of(name);
    if (!tables_find(memory, image, &tables) ||
        !memory_read(memory, tables.hash, head, sizeof head) || head[0] == 0)
        return 0;
    uint64_t buckets = tables.hash + sizeof head + 8 * (uint64_t)head[2];
    uint64_t chains = buckets + 4 * (uint64_t)head[0];
    if (!memory_read(memory, buckets + 4 * (uint64_t)(hash % head[0]), &index, sizeof index) ||
        index < head[1])
        return 0;
    for (unsigned i = 0; i < CHAIN_MAX; i++, index++) {
        if (!memory_read(memory, chains + 4 * (uint64_t)(index - head[1]), &chain, sizeof chain))
            return 0;
        uint64_t address =
            (chain | 1) == (hash | 1) ? symbol_address(memory, image, &tables, index, name) : 0;
        if (address || (chain & 1))
            return address;
    }
    return 0;
}

uint64_t image_signal_return(int memory, const struct image *image)
{
    /* mov $15, %rax; syscall: debuggers know the place by these bytes, so libc keeps them. */
    static const unsigned char code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    unsigned char bytes[4096];
    for (uint64_t at = 0; at + sizeof bytes <= image->text_size;
         at += sizeof bytes - sizeof code + 1) {
        if (!memory_read(memory, image->text_start + at, bytes, sizeof bytes))
            return 0;
        const unsigned char *found = memmem(bytes, sizeof bytes, code, sizeof code);
        if (found)
            return image->text_start + at + (uint64_t)(found - bytes);
    }
    return 0;
}
