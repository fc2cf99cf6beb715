/*
 * The attaching process is killed after each of its calls of ptrace() in turn, and at random
 * moments from outside: the program that it was attaching to goes on as if nothing had been.
 */
#include <rocprofiler-sdk-rocattach/rocattach.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { STEPS_MAX = 2000, STEPS_BETWEEN_REGISTERS = 12, RANDOM_ROUNDS = 60, MOMENT_LAST_US = 20000 };

static int calls_left = -1; /* of ptrace(), to the end of this process; -1: it may live */

/* The library's calls come here. */
long ptrace(enum __ptrace_request request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    pid_t pid = va_arg(arguments, pid_t);
    void *address = va_arg(arguments, void *), *data = va_arg(arguments, void *);
    va_end(arguments);
    long result = syscall(SYS_ptrace, (long)request, pid, address, data);
    if (calls_left > 0 && --calls_left == 0)
        kill(getpid(), SIGKILL);
    return result;
}

struct host {
    pid_t pid;
    FILE *to, *from;
    char line[512];
};

static const char *answer(struct host *host)
{
    if (!fgets(host->line, sizeof host->line, host->from))
        strcpy(host->line, "(it has ended)");
    host->line[strcspn(host->line, "\n")] = 0;
    return host->line;
}

static void tell(struct host *host, const char *command)
{
    fprintf(host->to, "%s\n", command);
    fflush(host->to);
}

static struct host host_start(void)
{
    int to[2], from[2];
    struct host host;
    assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
    host.pid = fork();
    if (host.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        execl(HOST, HOST, "", NULL);
        _exit(3);
    }
    close(to[0]), close(from[1]);
    host.to = fdopen(to[1], "w");
    host.from = fdopen(from[0], "r");
    assert_string_equal(answer(&host), "ready");
    return host;
}

static void host_ends_well(struct host *host)
{
    int status = -1;
    fclose(host->to);
    answer(host);
    assert_int_equal(waitpid(host->pid, &status, 0), host->pid);
    assert_int_equal(status, 0);
    fclose(host->from);
}

/* It listens, and no wait of its own was cut short. */
static void host_is_well(struct host *host)
{
    tell(host, "maps");
    assert_int_equal(strncmp(answer(host), "maps ", 5), 0);
    assert_int_equal(waitpid(host->pid, NULL, WNOHANG), 0);
}

static pid_t attacher_start(pid_t pid, int calls)
{
    pid_t attacher = fork();
    if (attacher == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDERR_FILENO); /* a tool may be attached already: it says so */
        calls_left = calls;
        rocattach_attach(pid);
        _exit(0);
    }
    return attacher;
}

/* True: it was killed before it had done everything. */
static bool attacher_killed(pid_t attacher)
{
    int status = -1;
    assert_int_equal(waitpid(attacher, &status, 0), attacher);
    return WIFSIGNALED(status);
}

static void killed_after_every_step(void **state)
{
    (void)state;
    struct host host = host_start();
    int calls = 1;
    for (; calls < STEPS_MAX; calls++) {
        bool with_registers = calls % STEPS_BETWEEN_REGISTERS == 0;
        if (with_registers) {
            tell(&host, "registers");
            assert_string_equal(answer(&host), "waiting");
        }
        bool killed = attacher_killed(attacher_start(host.pid, calls));
        if (with_registers)
            assert_string_equal(answer(&host), "registers kept");
        host_is_well(&host);
        if (!killed)
            break;
    }
    assert_in_range(calls, 20, STEPS_MAX - 1); /* it was killed on its way, and came to its end */
    host_ends_well(&host);
}

static void killed_at_any_moment(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
    struct host host = host_start();
    unsigned killed = 0, random = 1;
    for (int i = 0; i < RANDOM_ROUNDS; i++) {
        random = random * 1103515245u + 12345u;
        pid_t attacher = attacher_start(host.pid, -1);
        usleep((random >> 8) % MOMENT_LAST_US);
        kill(attacher, signals[i % 3]);
        killed += attacher_killed(attacher);
        host_is_well(&host);
    }
    assert_true(killed > 0);
    host_ends_well(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_after_every_step),
        cmocka_unit_test(killed_at_any_moment),
    };
    /* a sandbox may forbid what all of this is made of */
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    signal(SIGPIPE, SIG_IGN); /* a program that has ended is told from its answers */
    bool allowed = ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0;
    kill(child, SIGKILL);
    waitpid(child, NULL, __WALL);
    if (!allowed) {
        puts("ptrace is not allowed here");
        return 77;
    }
    setenv("ROCPROF_ATTACH_TOOL_LIBRARY", TOOL, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
