/* _exit() of the program, which comes here because this library is preloaded and so found before
 * libc. libc's own exit() does not come here. */
#include "base/ending.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The next _exit(): of another library with this file, or the C library's. Written before the
 * program runs: where _exit() is called, in a signal handler or a child of vfork(), nothing may be
 * looked up. */
static void (*next_exit)(int status);

__attribute__((constructor)) static void next_find(void)
{
    *(void **)&next_exit = dlsym(RTLD_NEXT, "_exit");
}

__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
    ending_begin();
    if (next_exit)
        next_exit(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status)
{
    _exit(status);
}
