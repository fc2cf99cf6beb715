/* Memory for tests whose last byte is the last before a page that nobody may touch. */
#ifndef AQLPROFILE_GUARDED_H
#define AQLPROFILE_GUARDED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

enum { GUARDED_PAGE = 4096 };

static inline size_t guarded_room(size_t bytes)
{
    return (bytes + GUARDED_PAGE - 1) / GUARDED_PAGE * GUARDED_PAGE;
}

/* The memory is zeroed. NULL: there is none. */
static inline void *guarded_new(size_t bytes)
{
    size_t room = guarded_room(bytes);
    char *pages = mmap(NULL, room + GUARDED_PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + room, GUARDED_PAGE, PROT_NONE) != 0)
        return NULL;
    return pages + room - bytes;
}

static inline void guarded_free(void *memory, size_t bytes)
{
    size_t room = guarded_room(bytes);
    munmap((char *)memory + bytes - room, room + GUARDED_PAGE);
}

#endif
