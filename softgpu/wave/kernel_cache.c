#include "wave/kernel_cache.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file has the CPU's name and the text, each with its NUL, and the code behind them. */

static uint64_t hash_add(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}

/* False: nothing is to be kept. */
static bool path_make(const char *cpu, const char *text, char path[PATH_MAX])
{
    const char *folder = getenv("CROC_KERNEL_CACHE");
    if (!folder || !*folder)
        return false;
    const uint64_t hash = hash_add(hash_add(UINT64_C(0xcbf29ce484222325), cpu), text);
    return snprintf(path, PATH_MAX, "%s/%016llx", folder, (unsigned long long)hash) < PATH_MAX - 16;
}

/* Whether the file goes on with this. */
static bool file_has(FILE *file, const char *text)
{
    do
        if (fgetc(file) != (uint8_t)*text)
            return false;
    while (*text++);
    return true;
}

ssize_t kernel_cache_find(const char *cpu, const char *text, uint8_t *code, size_t capacity)
{
    char path[PATH_MAX];
    FILE *file = path_make(cpu, text, path) ? fopen(path, "rb") : NULL;
    ssize_t bytes = -1;
    if (!file)
        return -1;
    if (file_has(file, cpu) && file_has(file, text))
        bytes = (ssize_t)fread(code, 1, capacity, file);
    if (ferror(file) || fgetc(file) != EOF)
        bytes = -1;
    fclose(file);
    return bytes > 0 ? bytes : -1;
}

void kernel_cache_keep(const char *cpu, const char *text, const uint8_t *code, size_t bytes)
{
    char path[PATH_MAX], part[PATH_MAX + 16];
    if (!path_make(cpu, text, path))
        return;
    snprintf(part, sizeof part, "%s.%d", path, (int)getpid());
    FILE *file = fopen(part, "wb");
    if (!file)
        return;
    bool good = fwrite(cpu, 1, strlen(cpu) + 1, file) == strlen(cpu) + 1;
    good = good && fwrite(text, 1, strlen(text) + 1, file) == strlen(text) + 1;
    good = good && fwrite(code, 1, bytes, file) == bytes;
    good = fclose(file) == 0 && good;
    if (!good || rename(part, path) != 0)
        unlink(part);
}
