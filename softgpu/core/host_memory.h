/*
 * The host's memory, for use inside the library: a call of the C library's munmap() would come back
 * to it (driver/interpose_mmap.c), and wait for readers that the caller may be one of.
 */
#ifndef CORE_HOST_MEMORY_H
#define CORE_HOST_MEMORY_H

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void host_unmap(void *address, size_t size_bytes)
{
    syscall(SYS_munmap, address, size_bytes);
}

#endif
