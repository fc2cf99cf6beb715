/* A clock that hardly moves, preloaded by count.py: under callgrind calls are so slow that the
 * engine would take every correlation id by itself, as it does for threads that make few calls. */
#include <time.h>

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    static _Atomic long ns;
    (void)clock;
    *now = (struct timespec){1000, ++ns % 1000000000};
    return 0;
}
