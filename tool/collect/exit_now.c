/* exit() and _exit() of the program, which come here because this library is preloaded and so found
 * before libc. What libc itself calls, as when main() returns, does not. */
#include "base/ending.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The next ones: of another library with this file, or the C library's. Written before the program
 * runs: where _exit() is called, in a signal handler or a child of vfork(), nothing may be looked
 * up. */
static void (*next_exit_now)(int status);
static void (*next_exit)(int status);

__attribute__((constructor)) static void next_find(void)
{
    *(void **)&next_exit_now = dlsym(RTLD_NEXT, "_exit");
    *(void **)&next_exit = dlsym(RTLD_NEXT, "exit");
}

__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
    ending_begin();
    if (next_exit_now)
        next_exit_now(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status)
{
    _exit(status);
}

/* Process and thread in exit(). Writers and readers: exit() (relaxed: nothing else is passed on).
 */
static _Atomic uint64_t exiting;

/* False: another thread of this process ends it already. */
static bool exit_claim(void)
{
    uint64_t process = (uint64_t)(uint32_t)getpid() << 32;
    uint64_t self = process | (uint32_t)syscall(SYS_gettid);
    uint64_t before = atomic_load_explicit(&exiting, memory_order_relaxed);
    while (before >> 32 != process >> 32)
        if (atomic_compare_exchange_weak_explicit(&exiting, &before, self, memory_order_relaxed,
                                                  memory_order_relaxed))
            return true;
    return before == self;
}

/* glibc before 2.41 is not made for two threads in exit(): the second one frees the list of
 * functions that the first one is in, once there are more than 32. A program may live with that as
 * long as it has few of them, or ends quickly; with ours it has more, and takes longer: 15 of 600
 * such ends crashed. So the second thread waits, as with glibc 2.41 for ever, but here ten seconds:
 * the first one may wait for it. */
__attribute__((visibility("default"), noreturn)) void exit(int status)
{
    struct timespec left = {.tv_sec = 10};
    if (!exit_claim())
        while (syscall(SYS_nanosleep, &left, &left) != 0 && errno == EINTR)
            ;
    if (next_exit)
        next_exit(status);
    _exit(status); /* before this library was made ready: no function is registered yet */
}
