#include "driver/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "driver/real.h"

enum { AREAS_LEAST = 1024, LINE_BYTES = 4352 /* a path and what stands before it */ };

void process_memory_init(struct process_memory *memory)
{
    *memory = (struct process_memory){0};
    pthread_mutex_init(&memory->lock, NULL);
}

static void areas_unmap(struct process_memory *memory)
{
    if (memory->areas)
        real_munmap(memory->areas, memory->room * sizeof *memory->areas);
    memory->areas = NULL;
    memory->room = 0;
}

void process_memory_free(struct process_memory *memory)
{
    areas_unmap(memory);
    pthread_mutex_destroy(&memory->lock);
}

static bool areas_grow(struct process_memory *memory)
{
    const size_t room = memory->room ? memory->room * 2 : AREAS_LEAST;
    struct process_area *areas = real_mmap(NULL, room * sizeof *areas, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (areas == MAP_FAILED)
        return false;
    if (memory->count)
        memcpy(areas, memory->areas, memory->count * sizeof *areas);
    areas_unmap(memory);
    memory->areas = areas;
    memory->room = room;
    return true;
}

static bool begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

/* Memory of GPUs, which has page tables of its own, the kernel's pages, and what other devices map:
 * no page fault brings those. */
static bool is_devices(const char *path)
{
    if (begins_with(path, "/dev/"))
        return !begins_with(path, "/dev/shm/") && !begins_with(path, "/dev/zero");
    return begins_with(path, "[v") || strcmp(path, "/memfd:crocgpu (deleted)") == 0;
}

/* "start-end rwxp offset device inode path"; what is no such line is no area. */
static bool line_parse(char *line, struct process_area *area)
{
    enum { RIGHTS = 4, FIELDS_BEFORE_PATH = 4 };
    char *at = line;
    area->start = strtoull(at, &at, 16);
    if (*at++ != '-')
        return false;
    area->end = strtoull(at, &at, 16);
    if (*at++ != ' ' || strnlen(at, RIGHTS) < RIGHTS || at[0] != 'r')
        return false;
    area->writable = at[1] == 'w';
    for (int field = 0; field < FIELDS_BEFORE_PATH; field++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return area->start < area->end && !is_devices(at);
}

static bool area_add(struct process_memory *memory, const struct process_area *area)
{
    struct process_area *last = memory->count ? &memory->areas[memory->count - 1] : NULL;
    if (last && last->end == area->start && last->writable == area->writable) {
        last->end = area->end;
        return true;
    }
    if (memory->count == memory->room && !areas_grow(memory))
        return false;
    memory->areas[memory->count++] = *area;
    return true;
}

/* Takes whole lines off the text; returns how much of it is left, which is moved to its begin.
 * SIZE_MAX: no room for an area. */
static size_t lines_take(struct process_memory *memory, char *text, size_t length)
{
    struct process_area area;
    char *line = text, *end;
    while ((end = memchr(line, '\n', length - (size_t)(line - text)))) {
        *end = '\0';
        if (line_parse(line, &area) && !area_add(memory, &area))
            return SIZE_MAX;
        line = end + 1;
    }
    const size_t left = length - (size_t)(line - text);
    memmove(text, line, left);
    return left;
}

static bool areas_read(struct process_memory *memory)
{
    char text[LINE_BYTES];
    size_t length = 0;
    ssize_t got;
    const int file = real_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    memory->count = 0;
    if (file < 0)
        return false;
    while (length < sizeof text && ((got = read(file, text + length, sizeof text - length)) > 0 ||
                                    (got < 0 && errno == EINTR))) {
        length += got > 0 ? (size_t)got : 0;
        length = lines_take(memory, text, length);
    }
    close(file);
    return length == 0;
}

static const struct process_area *area_at(const struct process_memory *memory, uint64_t va)
{
    size_t low = 0, high = memory->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (memory->areas[middle].end <= va)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < memory->count && memory->areas[low].start <= va;
    return found ? &memory->areas[low] : NULL;
}

/* The last list's word, as far as the kernel still says that all of it is there. */
static bool part_find(const struct process_memory *memory, uint64_t va, uint64_t low, uint64_t high,
                      struct process_area *out)
{
    const struct process_area *area = area_at(memory, va);
    if (!area)
        return false;
    *out = *area;
    out->start = area->start < low ? low : area->start;
    out->end = area->end > high ? high : area->end;
    return msync((void *)(uintptr_t)out->start, out->end - out->start, MS_ASYNC) == 0;
}

bool process_memory_find(struct process_memory *memory, uint64_t va, uint64_t low, uint64_t high,
                         struct process_area *out)
{
    enum { ADDRESS_LEAST = 65536 }; /* nothing is mapped below: pointers that are none */
    if (va < ADDRESS_LEAST)
        return false;
    const int saved = errno;
    pthread_mutex_lock(&memory->lock);
    bool found = part_find(memory, va, low, high, out), known = true;
    if (!found) {
        known = areas_read(memory);
        found = part_find(memory, va, low, high, out);
    }
    pthread_mutex_unlock(&memory->lock);
    if (!known)
        log_error("driver", "the process's mappings cannot be read: %s", strerror(errno));
    errno = saved;
    return found;
}
