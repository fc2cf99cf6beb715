/* Preloaded: a process that is killed just before its KILL_AT-th operation on files below
 * KILL_AT_DIRECTORY: one that makes, writes, renames or removes. Only in programs called
 * KILL_AT_PROGRAM. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_ulong operations; /* of all threads; which one comes first does not matter */

static void operation_on(const char *path)
{
    const char *directory = getenv("KILL_AT_DIRECTORY"), *program = getenv("KILL_AT_PROGRAM");
    const char *at = getenv("KILL_AT");
    if (!at || !program || strcmp(program, program_invocation_short_name) != 0 ||
        strncmp(path, directory, strlen(directory)) != 0)
        return;
    if (atomic_fetch_add_explicit(&operations, 1, memory_order_relaxed) + 1 ==
        strtoul(at, NULL, 10))
        kill(getpid(), SIGKILL);
}

static void operation_in(int file)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    operation_on(path);
}

static int file_open(int directory, const char *path, int flags, mode_t mode)
{
    if (flags & O_CREAT)
        operation_on(path);
    return (int)syscall(SYS_openat, directory, path, flags, mode);
}

static mode_t mode_of(int flags, va_list list)
{
    return flags & O_CREAT ? va_arg(list, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = mode_of(flags, list);                                                        \
        va_end(list);                                                                              \
        return file_open(AT_FDCWD, path, flags, mode);                                             \
    }

OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                                                              \
    int name(int directory, const char *path, int flags, ...)                                      \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = mode_of(flags, list);                                                        \
        va_end(list);                                                                              \
        return file_open(directory, path, flags, mode);                                            \
    }

OPEN_AT(openat)
OPEN_AT(openat64)

ssize_t write(int file, const void *bytes, size_t size)
{
    operation_in(file);
    return syscall(SYS_write, file, bytes, size);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at)
{
    operation_in(file);
    return syscall(SYS_pwrite64, file, bytes, size, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off_t at)
{
    return pwrite(file, bytes, size, at);
}

int rename(const char *from, const char *to)
{
    operation_on(to);
    return (int)syscall(SYS_rename, from, to);
}

int mkdir(const char *path, mode_t mode)
{
    operation_on(path);
    return (int)syscall(SYS_mkdir, path, mode);
}

int unlink(const char *path)
{
    operation_on(path);
    return (int)syscall(SYS_unlink, path);
}

int unlinkat(int directory, const char *path, int flags)
{
    operation_in(directory);
    return (int)syscall(SYS_unlinkat, directory, path, flags);
}
