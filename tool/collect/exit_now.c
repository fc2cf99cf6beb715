/* _exit() of the program, which comes here because this library is preloaded and so found before
 * libc. libc's own exit() does not come here. */
#include "base/ending.h"

#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
    ending_begin();
    for (;;)
        syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status)
{
    _exit(status);
}
