/*
 * Test programs whose tests are processes of their own ("ways" for something to go wrong), each of
 * which must end by itself with STATUS and not hang. The program lists them as WAYS(X) and ends
 * with WAYS_MAIN.
 *
 *   PROGRAM            runs every way
 *   PROGRAM WAY        is that way's process
 */
#ifndef CONFORMANCE_ROCTRACER_WAYS_H
#define CONFORMANCE_ROCTRACER_WAYS_H

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS = 23, LIMIT_S = 30 };

/* In the processes of the ways, which are no cmocka tests. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)
#define DONE(call) CHECK((call) == ROCTRACER_STATUS_SUCCESS)

struct way {
    const char *name;
    int (*run)(void);
};

/* The exit status; -1: it did not end; below: a signal ended it. */
static inline int way_process(const char *name)
{
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        execl("/proc/self/exe", "way", name, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    for (int i = 0; i < LIMIT_S * 100; i++) {
        const struct timespec nap = {0, 10000000};
        if (waitpid(process, &status, WNOHANG) == process)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1000 - WTERMSIG(status);
        nanosleep(&nap, NULL);
    }
    kill(process, SIGKILL);
    waitpid(process, &status, 0);
    return -1;
}

#define WAY_TEST(name)                                                                             \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        assert_int_equal(way_process(#name), STATUS);                                              \
    }
#define WAY_ROW(name)  {#name, name},
#define WAY_UNIT(name) cmocka_unit_test(test_##name),

/* `begin`: a condition that holds, or the way cannot be tried. */
#define WAYS_MAIN(title, begin, end)                                                               \
    WAYS(WAY_TEST)                                                                                 \
    static int way_run(const char *name)                                                           \
    {                                                                                              \
        static const struct way ways[] = {WAYS(WAY_ROW)};                                          \
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)                                  \
            if (!strcmp(ways[i].name, name)) {                                                     \
                CHECK(begin);                                                                      \
                int status = ways[i].run();                                                        \
                end;                                                                               \
                return status;                                                                     \
            }                                                                                      \
        return 2;                                                                                  \
    }                                                                                              \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        const struct CMUnitTest tests[] = {WAYS(WAY_UNIT)};                                        \
        return argc == 2 ? way_run(argv[1])                                                        \
                         : cmocka_run_group_tests_name(title, tests, NULL, NULL);                  \
    }

#endif
