/*
 * The thunk of ROCr 5 reads the caches of the host's processor from node0, or from cpu where the
 * kernel knows no nodes, and shows no agent at all, not even the processor, when it finds none.
 * Virtual machines whose firmware does not describe caches, and containers with a bare /sys, have
 * none. There the first processor gets what the C library knows of it by asking the processor.
 */
#include "driver/host_cpu.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/real.h"

enum { PATH_MAX_BYTES = 256, VALUE_MAX_BYTES = 32, NO_CPU = INT_MAX };

/* sysconf's names stand in threes: size, ways, line. */
struct host_cache {
    const char *type;
    int level, size, ways, line;
    long size_else_bytes; /* where the processor does not tell, either */
};

static const struct host_cache host_caches[] = {
    {"Data", 1, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_ASSOC, _SC_LEVEL1_DCACHE_LINESIZE,
     32 << 10},
    {"Instruction", 1, _SC_LEVEL1_ICACHE_SIZE, _SC_LEVEL1_ICACHE_ASSOC, _SC_LEVEL1_ICACHE_LINESIZE,
     32 << 10},
    {"Unified", 2, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_ASSOC, _SC_LEVEL2_CACHE_LINESIZE,
     512 << 10},
    {"Unified", 3, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_ASSOC, _SC_LEVEL3_CACHE_LINESIZE, 0},
};

__attribute__((format(printf, 2, 3))) static int path_make(char path[PATH_MAX_BYTES],
                                                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(path, PATH_MAX_BYTES, format, args);
    va_end(args);
    return length >= 0 && length < PATH_MAX_BYTES ? 0 : -ENAMETOOLONG;
}

static long known_or(int name, long otherwise)
{
    long value = sysconf(name);
    return value > 0 ? value : otherwise;
}

/* The lowest processor's number among a directory's entries. */
static int first_cpu(const char *dir)
{
    int first = NO_CPU;
    DIR *stream = REAL(opendir)(dir);
    const struct dirent *entry;
    while (stream && (entry = REAL(readdir)(stream))) {
        const char *digits = entry->d_name + 3;
        if (strncmp(entry->d_name, "cpu", 3) != 0 || !isdigit((unsigned char)*digits))
            continue;
        int number = atoi(digits);
        first = number < first ? number : first;
    }
    if (stream)
        REAL(closedir)(stream);
    return first;
}

static int file_put(struct vtree *tree, const char *cache, const char *name, const char *value)
{
    char path[PATH_MAX_BYTES];
    int status = path_make(path, "%s/%s", cache, name);
    return status ? status : vtree_add_file(tree, path, value);
}

static int number_put(struct vtree *tree, const char *cache, const char *name, long number,
                      const char *unit)
{
    char value[VALUE_MAX_BYTES];
    snprintf(value, sizeof value, "%ld%s\n", number, unit);
    return file_put(tree, cache, name, value);
}

/* One processor: the thunk counts a cache with the first of those that share it. */
static int sharers_put(struct vtree *tree, const char *cache, int cpu)
{
    char map[PATH_MAX_BYTES];
    int used = snprintf(map, sizeof map, "%08x", 1u << (cpu & 31));
    for (int word = cpu >> 5; word > 0 && (size_t)used < sizeof map - 10; word--)
        used += snprintf(map + used, sizeof map - (size_t)used, ",00000000");
    snprintf(map + used, sizeof map - (size_t)used, "\n");
    int status = file_put(tree, cache, "shared_cpu_map", map);
    return status ? status : number_put(tree, cache, "shared_cpu_list", cpu, "");
}

static int cache_put(struct vtree *tree, const char *cache, const struct host_cache *host,
                     long size_bytes, int cpu)
{
    char type[VALUE_MAX_BYTES];
    snprintf(type, sizeof type, "%s\n", host->type);
    int status = number_put(tree, cache, "level", host->level, "");
    if (!status)
        status = file_put(tree, cache, "type", type);
    if (!status)
        status = number_put(tree, cache, "size", size_bytes >> 10, "K");
    if (!status)
        status = number_put(tree, cache, "coherency_line_size", known_or(host->line, 64), "");
    if (!status)
        status = number_put(tree, cache, "ways_of_associativity", known_or(host->ways, 8), "");
    if (!status)
        status = number_put(tree, cache, "physical_line_partition", 1, "");
    return status ? status : sharers_put(tree, cache, cpu);
}

static int caches_put(struct vtree *tree, const char *dir, int cpu)
{
    char cache[PATH_MAX_BYTES];
    int status = 0, index = 0;
    for (size_t i = 0; i < sizeof host_caches / sizeof host_caches[0] && !status; i++) {
        const struct host_cache *host = &host_caches[i];
        long size_bytes = known_or(host->size, host->size_else_bytes);
        if (size_bytes == 0)
            continue;
        status = path_make(cache, "%s/cpu%d/cache/index%d", dir, cpu, index++);
        if (!status)
            status = cache_put(tree, cache, host, size_bytes, cpu);
    }
    return status;
}

/* The directory and what is above it, down from `system`, stay the machine's own. */
static int share(struct vtree *tree, const char *system, const char *below)
{
    char path[PATH_MAX_BYTES];
    int status = vtree_share(tree, system);
    for (const char *end = below; *end && !status;) {
        end += strcspn(end + 1, "/") + 1;
        status = path_make(path, "%s%.*s", system, (int)(end - below), below);
        if (!status)
            status = vtree_share(tree, path);
    }
    return status;
}

/* `place` lists processors. */
static int listed_fill(struct vtree *tree, const char *system, const char *place, int cpu)
{
    char dir[PATH_MAX_BYTES], path[PATH_MAX_BYTES];
    struct stat info;
    int status = path_make(dir, "%s%s", system, place);
    if (!status)
        status = path_make(path, "%s%s/cpu%d/cache/index0", system, place, cpu);
    if (status || real_stat(path, &info) == 0)
        return status;
    status = path_make(path, "%s/cpu%d", place, cpu);
    if (!status)
        status = share(tree, system, path);
    return status ? status : caches_put(tree, dir, cpu);
}

int host_cpu_fill(struct vtree *tree, const char *system)
{
    static const char *const places[] = {"/node/node0", "/cpu"};
    char dir[PATH_MAX_BYTES];
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int status = path_make(dir, "%s%s", system, places[i]);
        int cpu = status ? NO_CPU : first_cpu(dir);
        if (cpu != NO_CPU)
            return listed_fill(tree, system, places[i], cpu);
    }
    int status = path_make(dir, "%s%s", system, places[0]);
    if (!status)
        status = share(tree, system, "/node");
    return status ? status : caches_put(tree, dir, 0);
}
