#include "driver/real.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void *real_symbol(const char *name, _Atomic(void *) *slot)
{
    /* Writers: any thread, always the same value; the pointer carries no data with it: relaxed. */
    void *symbol = atomic_load_explicit(slot, memory_order_relaxed);
    if (!symbol) {
        symbol = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(slot, symbol, memory_order_relaxed);
    }
    return symbol;
}

int real_open(const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* newfstatat with an empty path is fstat; the struct is the kernel's on x86-64. */
int real_fstat(int fd, struct stat *info)
{
    return (int)syscall(SYS_fstat, fd, info);
}

int real_stat(const char *path, struct stat *info)
{
    return (int)syscall(SYS_stat, path, info);
}

/* Not the C library's: what the driver maps for itself is nobody else's. */
void *real_mmap(void *address, size_t size_bytes, int rights, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, address, size_bytes, rights, flags, fd, offset);
}

int real_munmap(void *address, size_t size_bytes)
{
    return (int)syscall(SYS_munmap, address, size_bytes);
}

off_t real_lseek(int fd, off_t offset, int whence)
{
    return (off_t)syscall(SYS_lseek, fd, offset, whence);
}
