#include "exec_now.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ending.h"
#include "base/process.h"

/* Writer: exec_now_watch, on_leave last (release). Readers: threads that exec (acquire). */
static _Atomic(void (*)(void)) on_leave;
static void (*on_stay)(void);
/* Written when our library is loaded, before the program runs. */
static void (*on_image)(const char *path, char *const environment[]);

/* The C library's own, found before the program runs: a child of vfork() may not look them up. */
static struct {
    int (*execve)(const char *path, char *const arguments[], char *const environment[]);
    int (*execvpe)(const char *file, char *const arguments[], char *const environment[]);
    int (*fexecve)(int file, char *const arguments[], char *const environment[]);
    int (*execveat)(int folder, const char *path, char *const arguments[],
                    char *const environment[], int flags);
    int (*daemon)(int keep_folder, int keep_files);
} real;

__attribute__((constructor)) static void real_find(void)
{
    *(void **)&real.execve = dlsym(RTLD_NEXT, "execve");
    *(void **)&real.execvpe = dlsym(RTLD_NEXT, "execvpe");
    *(void **)&real.fexecve = dlsym(RTLD_NEXT, "fexecve");
    *(void **)&real.daemon = dlsym(RTLD_NEXT, "daemon");
    *(void **)&real.execveat = dlsym(RTLD_NEXT, "execveat"); /* since glibc 2.34 */
}

void exec_now_watch(void (*leave)(void), void (*stay)(void))
{
    on_stay = stay;
    atomic_store_explicit(&on_leave, leave, memory_order_release);
}

void exec_now_inform(void (*image)(const char *path, char *const environment[]))
{
    on_image = image;
}

static bool may_succeed_at(int folder, const char *path)
{
    struct stat status;
    return fstatat(folder, path, &status, 0) == 0 && S_ISREG(status.st_mode) &&
           faccessat(folder, path, X_OK, AT_EACCESS) == 0;
}

/* Searches as execvp() will, and finds the path. */
static bool search_may_succeed(const char *file, char path[PATH_MAX])
{
    const char *search = getenv("PATH");
    if (strchr(file, '/')) {
        strncpy(path, file, PATH_MAX - 1);
        path[PATH_MAX - 1] = 0;
        return may_succeed_at(AT_FDCWD, file);
    }
    for (const char *at = search ? search : "/bin:/usr/bin"; at;) {
        size_t length = strcspn(at, ":");
        int size = snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length ? "/" : "", file);
        if (size > 0 && (size_t)size < PATH_MAX && may_succeed_at(AT_FDCWD, path))
            return true;
        at = at[length] ? at + length + 1 : NULL;
    }
    return false;
}

static void image_tell(const char *path, char *const environment[])
{
    if (on_image)
        on_image(path, environment);
}

/* True: comes_back is to be called. */
static bool leaves(bool may_succeed)
{
    void (*leave)(void) = atomic_load_explicit(&on_leave, memory_order_acquire);
    return leave && may_succeed && process_is_own() && ending_aside(leave);
}

static int comes_back(bool left, int status)
{
    int saved_errno = errno;
    if (left)
        on_stay();
    errno = saved_errno;
    return status;
}

static int missing(void)
{
    errno = ENOSYS;
    return -1;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    bool may_succeed = may_succeed_at(AT_FDCWD, path), left = leaves(may_succeed);
    if (may_succeed)
        image_tell(path, environment);
    return comes_back(left, real.execve ? real.execve(path, arguments, environment) : missing());
}

EXPORT int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    char path[PATH_MAX];
    bool may_succeed = search_may_succeed(file, path), left = leaves(may_succeed);
    if (may_succeed)
        image_tell(path, environment);
    return comes_back(left, real.execvpe ? real.execvpe(file, arguments, environment) : missing());
}

EXPORT int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, environ);
}

EXPORT int fexecve(int file, char *const arguments[], char *const environment[])
{
    bool left = leaves(file >= 0);
    return comes_back(left, real.fexecve ? real.fexecve(file, arguments, environment) : missing());
}

EXPORT int execveat(int folder, const char *path, char *const arguments[],
                    char *const environment[], int flags)
{
    bool left = leaves(!*path || may_succeed_at(folder, path));
    return comes_back(left, real.execveat
                                ? real.execveat(folder, path, arguments, environment, flags)
                                : missing());
}

/* This process ends inside of daemon() and its child goes on: what was collected so far is written
 * before, and the child reports what comes later. */
EXPORT int daemon(int keep_folder, int keep_files)
{
    bool left = leaves(true);
    return comes_back(left, real.daemon ? real.daemon(keep_folder, keep_files) : missing());
}

/* ---- arguments one by one; nothing may be allocated here */

static size_t arguments_count(const char *first, va_list arguments)
{
    size_t count = 0;
    for (const char *at = first; at; at = va_arg(arguments, const char *))
        count++;
    return count;
}

static void arguments_take(char **list, size_t count, const char *first, va_list arguments)
{
    for (size_t i = 0; i < count; i++)
        list[i] = i == 0 ? (char *)(size_t)first : va_arg(arguments, char *);
    list[count] = NULL;
}

/* Makes `list`, and leaves `arguments` open behind the last one. */
#define ARGUMENTS(list, first, arguments)                                                          \
    va_list arguments;                                                                             \
    va_start(arguments, first);                                                                    \
    size_t list##_count = arguments_count(first, arguments);                                       \
    va_end(arguments);                                                                             \
    char **list = __builtin_alloca((list##_count + 1) * sizeof *list);                             \
    va_start(arguments, first);                                                                    \
    arguments_take(list, list##_count, first, arguments)

EXPORT int execl(const char *path, const char *first, ...)
{
    ARGUMENTS(list, first, arguments);
    va_end(arguments);
    return execve(path, list, environ);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
    ARGUMENTS(list, first, arguments);
    va_end(arguments);
    return execvpe(file, list, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
    ARGUMENTS(list, first, arguments);
    if (list_count > 0)
        (void)va_arg(arguments, char *); /* the NULL */
    char *const *environment = va_arg(arguments, char *const *);
    va_end(arguments);
    return execve(path, list, environment);
}
