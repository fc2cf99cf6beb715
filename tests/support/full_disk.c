/* Preloaded: a disk that is full. Files below FULL_DISK take no byte. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_full(int file)
{
    char link[64], path[PATH_MAX];
    const char *disk = getenv("FULL_DISK");
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = disk ? readlink(link, path, sizeof path - 1) : -1;
    if (length < 0)
        return false;
    path[length] = 0;
    return strncmp(path, disk, strlen(disk)) == 0;
}

ssize_t write(int file, const void *bytes, size_t size)
{
    if (!is_full(file))
        return syscall(SYS_write, file, bytes, size);
    errno = ENOSPC;
    return -1;
}

static ssize_t write_at(int file, const void *bytes, size_t size, off_t at)
{
    if (!is_full(file))
        return syscall(SYS_pwrite64, file, bytes, size, at);
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at)
{
    return write_at(file, bytes, size, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off_t at)
{
    return write_at(file, bytes, size, at);
}

/* The C library's own calls of write() do not come through here: bytes stay in its buffers until
 * then, and that they cannot be written is found out by who closes the file. */
int fclose(FILE *file)
{
    static int (*next)(FILE *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "fclose");
    bool full = file->_IO_write_ptr > file->_IO_write_base && is_full(fileno(file));
    if (!full)
        return next(file);
    file->_IO_write_ptr = file->_IO_write_base;
    next(file);
    errno = ENOSPC;
    return EOF;
}
