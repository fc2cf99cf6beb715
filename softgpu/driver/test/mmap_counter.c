/* Preloaded behind libcrocgpu: counts the calls that come by, as UCX' hooks of the C library do. */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver/test/mmap_counter.h"

static unsigned maps, unmaps; /* of one thread */

void *mmap(void *address, size_t size_bytes, int rights, int flags, int fd, off_t offset)
{
    maps++;
    return (void *)syscall(SYS_mmap, address, size_bytes, rights, flags, fd, offset);
}

int munmap(void *address, size_t size_bytes)
{
    unmaps++;
    return (int)syscall(SYS_munmap, address, size_bytes);
}

struct mmap_counts mmap_counts(void)
{
    return (struct mmap_counts){maps, unmaps};
}
