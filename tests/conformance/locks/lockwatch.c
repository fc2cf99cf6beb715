/*
 * Preloaded into a program: says where a library of ours allocates, makes system calls that take
 * time, or calls out to somebody who does, while it holds one of its mutexes. Ends the program with
 * 99 when it did.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { HELD_MAX = 16, FRAMES = 12, FOUND_MAX = 64 };

struct held {
    const void *mutex;
    const void *site;
};

struct finding {
    const char *what;
    const void *site;
    void *frames[FRAMES];
    int frame_count;
};

static __thread struct held held[HELD_MAX] __attribute__((tls_model("initial-exec")));
static __thread int held_count __attribute__((tls_model("initial-exec")));
static __thread bool looking __attribute__((tls_model("initial-exec")));
static struct finding findings[FOUND_MAX];
static _Atomic int finding_count;

static const char *const ours[] = {"libcrocprof.so", "librocprofiler", "libroctracer64",
                                   "libroctx64", "libhsa-amd-aqlprofile64"};

static bool is_ours(const void *address)
{
    struct dl_find_object object;
    if (_dl_find_object((void *)(uintptr_t)address, &object) != 0 || !object.dlfo_link_map->l_name)
        return false;
    const char *name = strrchr(object.dlfo_link_map->l_name, '/');
    for (size_t i = 0; name && i < sizeof ours / sizeof ours[0]; i++)
        if (!strncmp(name + 1, ours[i], strlen(ours[i])))
            return true;
    return false;
}

static bool known(const struct finding *finding)
{
    for (int i = 0; i < finding_count && i < FOUND_MAX; i++)
        if (findings[i].site == finding->site && findings[i].what == finding->what)
            return true;
    return false;
}

static void found(const char *what)
{
    if (held_count == 0 || looking)
        return;
    looking = true;
    struct finding finding = {.what = what, .site = held[held_count - 1].site};
    finding.frame_count = backtrace(finding.frames, FRAMES);
    if (!known(&finding)) {
        int index = finding_count++;
        if (index < FOUND_MAX)
            findings[index] = finding;
    }
    looking = false;
}

static void took(const void *mutex, const void *site)
{
    if (held_count < HELD_MAX && is_ours(site))
        held[held_count++] = (struct held){mutex, site};
}

static void gave(const void *mutex)
{
    for (int i = held_count; i-- > 0;)
        if (held[i].mutex == mutex) {
            memmove(&held[i], &held[i + 1], (size_t)(held_count - i - 1) * sizeof held[0]);
            held_count--;
            return;
        }
}

#define REAL(name) ((__typeof__(&name))real(#name, &real_##name))
static void *real(const char *name, void **kept)
{
    if (!*kept) {
        bool before = looking;
        looking = true;
        *kept = dlsym(RTLD_NEXT, name);
        looking = before;
    }
    return *kept;
}

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

static void *real_pthread_mutex_lock, *real_pthread_mutex_trylock, *real_pthread_mutex_unlock;

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    int error = REAL(pthread_mutex_lock)(mutex);
    took(mutex, CALLER);
    return error;
}

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    int error = REAL(pthread_mutex_trylock)(mutex);
    if (error == 0)
        took(mutex, CALLER);
    return error;
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    gave(mutex);
    return REAL(pthread_mutex_unlock)(mutex);
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

EXPORT void *malloc(size_t size)
{
    found("malloc");
    return __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    found("calloc");
    return __libc_calloc(count, size);
}

EXPORT void *realloc(void *old, size_t size)
{
    found("realloc");
    return __libc_realloc(old, size);
}

EXPORT void free(void *old)
{
    if (old)
        found("free");
    __libc_free(old);
}

#define WATCH(result, name, parameters, arguments)                                                 \
    static void *real_##name;                                                                      \
    EXPORT result name parameters                                                                  \
    {                                                                                              \
        found(#name);                                                                              \
        return REAL(name) arguments;                                                               \
    }

WATCH(void *, mmap, (void *at, size_t size, int prot, int flags, int fd, off_t offset),
      (at, size, prot, flags, fd, offset))
WATCH(int, munmap, (void *at, size_t size), (at, size))
WATCH(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
WATCH(ssize_t, read, (int fd, void *data, size_t size), (fd, data, size))
WATCH(FILE *, fopen, (const char *path, const char *mode), (path, mode))
WATCH(void *, dlopen, (const char *path, int flags), (path, flags))
WATCH(int, nanosleep, (const struct timespec *time, struct timespec *rest), (time, rest))
WATCH(int, pthread_create,
      (pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg),
      (thread, attr, start, arg))
WATCH(int, pthread_join, (pthread_t thread, void **result), (thread, result))

__attribute__((constructor)) static void prepare(void)
{
    void *frames[2];
    looking = true;
    backtrace(frames, 2); /* loads what it needs */
    looking = false;
}

static void print_place(const char *before, const void *address)
{
    Dl_info info = {0};
    dladdr(address, &info);
    fprintf(stderr, "%s%s(%s+0x%zx)\n", before, info.dli_fname ? info.dli_fname : "?",
            info.dli_sname ? info.dli_sname : "",
            (size_t)((const char *)address - (const char *)info.dli_fbase));
}

__attribute__((destructor)) static void report(void)
{
    looking = true;
    for (int i = 0; i < finding_count && i < FOUND_MAX; i++) {
        fprintf(stderr, "lockwatch: %s under a mutex that was locked", findings[i].what);
        print_place(" at ", findings[i].site);
        for (int f = 2; f < findings[i].frame_count; f++)
            print_place("    ", findings[i].frames[f]);
    }
    if (finding_count)
        _exit(99);
}
