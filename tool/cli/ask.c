#include "ask.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "refuse.h"

/* Becomes `crocprof --internal-check`; returns only when that fails. */
static int check_exec(const struct launch *launch, const struct settings *settings)
{
    if (launch->gpu_library[0])
        setenv("LD_PRELOAD", launch->gpu_library, 1);
    if (settings_to_environment(settings) != 0)
        return refuse(EXIT_NOT_STARTED, "environment: %s", strerror(errno));
    launch_signals_restore();
    char self[PATH_MAX]; /* resolved: under valgrind the link itself is valgrind's own program */
    if (!realpath("/proc/self/exe", self))
        return refuse(EXIT_NOT_STARTED, "/proc/self/exe: %s", strerror(errno));
    execl(self, "crocprof", "--internal-check", (char *)NULL);
    return refuse(EXIT_NOT_STARTED, "%s: %s", self, strerror(errno));
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

/* Lines "PASS NAME", then one with the number of runs. */
static void answer_read(FILE *answers, struct ask_plan *plan)
{
    char *line = NULL;
    size_t line_bytes = 0, size = 0;
    FILE *counters = open_memstream(&plan->counters, &size);
    while (getline(&line, &line_bytes, answers) > 0) {
        if (!strchr(line, ' '))
            plan->runs = (unsigned)strtoul(line, NULL, 10);
        else if (counters)
            fputs(line, counters);
    }
    if (counters)
        fclose(counters);
    free(line);
}

/* Starts the check; what it prints is to be read. An exit status, after a line. */
static int check_start(const struct launch *launch, const struct settings *settings, bool offered,
                       pid_t *child, FILE **answers)
{
    int ends[2];
    if (pipe(ends) != 0)
        return refuse(EXIT_NOT_STARTED, "pipe: %s", strerror(errno));
    *child = fork();
    if (*child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        if (offered)
            setenv("CROCPROF_CHECK_OFFERED", "1", 1);
        _exit(check_exec(launch, settings));
    }
    close(ends[1]);
    if (*child < 0) {
        close(ends[0]);
        return refuse(EXIT_NOT_STARTED, "fork: %s", strerror(errno));
    }
    *answers = fdopen(ends[0], "r");
    return 0;
}

int ask_plan(const struct launch *launch, const struct settings *settings, struct ask_plan *plan)
{
    FILE *answers;
    pid_t child;
    *plan = (struct ask_plan){.runs = 1};
    int status = check_start(launch, settings, false, &child, &answers);
    if (status != 0)
        return status;
    if (answers) {
        answer_read(answers, plan);
        fclose(answers);
    }
    return check_wait(child);
}

int ask_offered(const struct launch *launch, const struct settings *settings, char *names,
                unsigned size)
{
    FILE *answers;
    pid_t child;
    *names = 0;
    int status = check_start(launch, settings, true, &child, &answers);
    if (status != 0)
        return status;
    if (answers && fgets(names, (int)size, answers))
        names[strcspn(names, "\n")] = 0;
    if (answers)
        fclose(answers);
    return check_wait(child);
}
