#include "reach.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static const struct {
    const char *word, *advice;
} words[] = {
    [REACH_YES] = {"can be profiled", ""},
    [REACH_STATIC] = {"is linked statically", "link it dynamically"},
    [REACH_SETUID] = {"has rights of its own (setuid, setgid or capabilities)",
                      "run a copy without them, or run crocprof as its owner"},
    [REACH_32_BIT] = {"is a 32-bit program", "build it for 64 bits"},
    [REACH_FOREIGN] = {"was not built for this machine's C library (glibc, x86-64)",
                       "build it for that"},
};

const char *reach_word(enum reach reach)
{
    return words[reach].word;
}

const char *reach_advice(enum reach reach)
{
    return words[reach].advice;
}

static bool has_rights(int file)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return false;
    if ((status.st_mode & S_ISUID) && status.st_uid != geteuid())
        return true;
    if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid())
        return true;
    return geteuid() != 0 && fgetxattr(file, "security.capability", NULL, 0) > 0;
}

static enum reach loader_reach(int file, const Elf64_Phdr *segment)
{
    char loader[256];
    size_t size = segment->p_filesz < sizeof loader ? segment->p_filesz : sizeof loader - 1;
    ssize_t length = pread(file, loader, size, (off_t)segment->p_offset);
    loader[length > 0 ? length : 0] = 0;
    return strstr(loader, "ld-musl") ? REACH_FOREIGN : REACH_YES;
}

/* Position-independent programs that are linked statically have a dynamic section, but no loader.
 */
static enum reach elf_reach(int file, const Elf64_Ehdr *head)
{
    if (head->e_ident[EI_CLASS] != ELFCLASS64)
        return REACH_32_BIT;
    if (head->e_machine != EM_X86_64)
        return REACH_FOREIGN;
    for (unsigned i = 0; i < head->e_phnum && head->e_phentsize == sizeof(Elf64_Phdr); i++) {
        Elf64_Phdr segment;
        off_t at = (off_t)(head->e_phoff + i * sizeof segment);
        if (pread(file, &segment, sizeof segment, at) != (ssize_t)sizeof segment)
            return REACH_YES;
        if (segment.p_type == PT_INTERP)
            return has_rights(file) ? REACH_SETUID : loader_reach(file, &segment);
    }
    return REACH_STATIC;
}

/* "#! /bin/sh -e": the path. */
static bool interpreter_take(const char *line, char path[PATH_MAX])
{
    line += strspn(line, " \t");
    size_t length = strcspn(line, " \t\n");
    if (length == 0 || length >= PATH_MAX)
        return false;
    memcpy(path, line, length);
    path[length] = 0;
    return true;
}

enum reach reach_of(const char *path)
{
    enum { DEPTH_MAX = 4 }; /* as the kernel */
    char interpreter[PATH_MAX];
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        union {
            Elf64_Ehdr elf;
            char text[512];
        } head;
        int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        ssize_t size = file < 0 ? -1 : pread(file, &head, sizeof head - 1, 0);
        bool is_elf =
            size >= (ssize_t)sizeof head.elf && memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0;
        enum reach reach = is_elf ? elf_reach(file, &head.elf) : REACH_YES;
        if (file >= 0)
            close(file);
        if (size < 2 || is_elf || memcmp(head.text, "#!", 2) != 0)
            return reach;
        head.text[size] = 0;
        if (!interpreter_take(head.text + 2, interpreter))
            return REACH_YES;
        path = interpreter;
    }
    return REACH_YES;
}
