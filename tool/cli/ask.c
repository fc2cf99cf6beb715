#include "ask.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "refuse.h"

/* Becomes `crocprof --internal-check`; returns only when that fails. */
static int check_exec(const struct launch *launch, const struct settings *settings,
                      const char *mode)
{
    if (launch->gpu_library[0])
        setenv("LD_PRELOAD", launch->gpu_library, 1);
    if (settings_to_environment(settings) != 0 || setenv("CROCPROF_CHECK_MODE", mode, 1) != 0)
        return refuse(EXIT_NOT_STARTED, "environment: %s", strerror(errno));
    launch_signals_restore();
    char self[PATH_MAX]; /* resolved: under valgrind the link itself is valgrind's own program */
    if (!realpath("/proc/self/exe", self))
        return refuse(EXIT_NOT_STARTED, "/proc/self/exe: %s", strerror(errno));
    execl(self, "crocprof", "--internal-check", (char *)NULL);
    return refuse(EXIT_NOT_STARTED, "%s: %s", self, strerror(errno));
}

int ask_list(const struct launch *launch, const struct settings *settings)
{
    return check_exec(launch, settings, "list");
}

static int check_wait(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return refuse(EXIT_NOT_STARTED, "waitpid: %s", strerror(errno));
    return WIFEXITED(status) ? WEXITSTATUS(status)
                             : refuse(EXIT_NOT_STARTED, "the counter check was killed by signal %d",
                                      WTERMSIG(status));
}

int ask_runs(const struct launch *launch, const struct settings *settings, unsigned *runs)
{
    int ends[2];
    char answer[32] = "";
    if (pipe(ends) != 0)
        return refuse(EXIT_NOT_STARTED, "pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        _exit(check_exec(launch, settings, "counters"));
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return refuse(EXIT_NOT_STARTED, "fork: %s", strerror(errno));
    }
    FILE *answers = fdopen(ends[0], "r");
    if (answers && fgets(answer, sizeof answer, answers))
        *runs = (unsigned)strtoul(answer, NULL, 10);
    if (answers)
        fclose(answers);
    return check_wait(child);
}
