#include "fatbin.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__", compressed_magic[] = "CCOB";
enum { MAGIC_BYTES = sizeof magic - 1, ENTRIES_MAX = 4096 };

struct bytes {
    const unsigned char *at;
    size_t size;
};

/* False: it is not all there. */
static bool read_at(struct bytes bytes, uint64_t offset, void *value, size_t size)
{
    if (offset > bytes.size || size > bytes.size - offset)
        return false;
    memcpy(value, bytes.at + offset, size);
    return true;
}

static struct bytes part_of(struct bytes bytes, uint64_t offset, uint64_t size)
{
    if (offset > bytes.size || size > bytes.size - offset)
        return (struct bytes){0};
    return (struct bytes){bytes.at + offset, size};
}

/* ---- bundles */

/* "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" is code for gfx90a. */
static void target_add(struct fatbin *fatbin, const char *id)
{
    char target[FATBIN_TARGET_BYTES];
    const char *name = strstr(id, "--");
    if (strncmp(id, "host", 4) == 0 || !name)
        return;
    snprintf(target, sizeof target, "%.*s", (int)strcspn(name + 2, ":"), name + 2);
    for (size_t i = 0; i < fatbin->count; i++)
        if (strcmp(fatbin->target[i], target) == 0)
            return;
    if (*target && fatbin->count < FATBIN_TARGETS_MAX)
        strcpy(fatbin->target[fatbin->count++], target);
}

/* Count, then of each entry where its code lies, how long it and its id are, and the id. */
static bool bundle_read(struct bytes bundle, struct fatbin *fatbin)
{
    uint64_t count, entry[3], at = MAGIC_BYTES + sizeof count;
    if (!read_at(bundle, MAGIC_BYTES, &count, sizeof count) || count > ENTRIES_MAX)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        char id[256] = "";
        if (!read_at(bundle, at, entry, sizeof entry) || entry[2] >= sizeof id ||
            !read_at(bundle, at + sizeof entry, id, entry[2]))
            return false;
        target_add(fatbin, id);
        at += sizeof entry + entry[2];
    }
    return true;
}

/* One for each source file that was compiled by itself. */
static void bundles_read(struct bytes section, struct fatbin *fatbin)
{
    const unsigned char *at = section.at, *end = section.at + section.size;
    if (section.size >= sizeof compressed_magic - 1 &&
        memmem(section.at, section.size, compressed_magic, sizeof compressed_magic - 1) == at)
        return; /* its targets cannot be seen */
    while (at && (at = memmem(at, (size_t)(end - at), magic, MAGIC_BYTES))) {
        fatbin->is_known = bundle_read((struct bytes){at, (size_t)(end - at)}, fatbin);
        if (!fatbin->is_known)
            return;
        at += MAGIC_BYTES;
    }
}

/* ---- the file */

static struct bytes section_find(struct bytes file, const char *wanted)
{
    Elf64_Ehdr head;
    Elf64_Shdr names, section;
    if (!read_at(file, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof section ||
        !read_at(file, head.e_shoff + (uint64_t)head.e_shstrndx * sizeof names, &names,
                 sizeof names))
        return (struct bytes){0};
    for (unsigned i = 0; i < head.e_shnum; i++) {
        char name[32] = "";
        if (!read_at(file, head.e_shoff + (uint64_t)i * sizeof section, &section, sizeof section))
            break;
        if (read_at(file, names.sh_offset + section.sh_name, name, strlen(wanted) + 1) &&
            strcmp(name, wanted) == 0)
            return part_of(file, section.sh_offset, section.sh_size);
    }
    return (struct bytes){0};
}

void fatbin_read(const char *path, struct fatbin *fatbin)
{
    struct stat status;
    *fatbin = (struct fatbin){0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    size_t size = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
    void *content = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    if (content == MAP_FAILED)
        return;
    bundles_read(section_find((struct bytes){content, size}, ".hip_fatbin"), fatbin);
    munmap(content, size);
}

bool fatbin_serves(const struct fatbin *fatbin, const char *processor)
{
    for (size_t i = 0; i < fatbin->count; i++)
        if (strcmp(fatbin->target[i], processor) == 0 || strstr(fatbin->target[i], "generic") ||
            strncmp(fatbin->target[i], "gfx", 3) != 0)
            return true;
    return false;
}

void fatbin_list(const struct fatbin *fatbin, char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < fatbin->count && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", fatbin->target[i]);
}
