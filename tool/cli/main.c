/* crocprof: checks everything it can before the program starts, then becomes the program. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "launch/launch.h"
#include "options.h"
#include "out/out.h"
#include "passes.h"

enum { EXIT_USAGE = 2, EXIT_NOT_STARTED = 127 };

__attribute__((format(printf, 2, 3))) static int refuse(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("crocprof: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return status;
}

static int formats_check(const char *formats)
{
    char name[32], known[200] = "";
    while (settings_list_next(&formats, name, sizeof name))
        if (!out_find(name)) {
            out_names(known, sizeof known);
            return refuse(EXIT_USAGE, "unknown format %s (known: %s)", name, known);
        }
    return 0;
}

/* Creates the directory, and proves that files can be made in it. */
static int directory_check(const char *directory)
{
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return refuse(EXIT_USAGE, "%s: %s", directory, strerror(errno));
    struct stat status;
    if (stat(directory, &status) != 0 || !S_ISDIR(status.st_mode))
        return refuse(EXIT_USAGE, "%s: not a directory", directory);
    char probe[PATH_MAX];
    snprintf(probe, sizeof probe, "%s/.crocprof-XXXXXX", directory);
    int file = mkstemp(probe);
    if (file < 0)
        return refuse(EXIT_USAGE, "%s: cannot write there: %s", directory, strerror(errno));
    close(file);
    unlink(probe);
    return 0;
}

/*
 * What only the library knows (agents, counters) is asked in a process of its own, with the
 * environment the program will have: the software GPU must be there from the first instruction.
 */
/* Becomes `crocprof --internal-check`; returns only when that fails. */
static int check_exec(const struct launch *launch, const char *mode, const char *counters)
{
    if (launch->gpu_library[0])
        setenv("LD_PRELOAD", launch->gpu_library, 1);
    setenv("CROCPROF_COUNTERS", counters ? counters : "", 1);
    setenv("CROCPROF_CHECK_MODE", mode, 1);
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

/* *runs: how often the program must run to collect all counters. */
static int counters_check(const struct launch *launch, const char *counters, unsigned *runs)
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
        _exit(check_exec(launch, "counters", counters));
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

/* A relative directory must stay the same place when the program changes its own. */
static int directory_resolve(struct settings *settings, char path[PATH_MAX])
{
    int status = directory_check(settings->directory);
    if (status != 0)
        return status;
    if (!realpath(settings->directory, path))
        return refuse(EXIT_USAGE, "%s: %s", settings->directory, strerror(errno));
    settings->directory = path;
    return 0;
}

/*
 * Every process of the program adds its tables to the file, so it is emptied here, and only here. A
 * pipe or a terminal is left alone: opening and closing it would end it for its reader.
 */
static int summary_resolve(struct settings *settings, char path[PATH_MAX])
{
    const char *name = settings->summary_file;
    char here[PATH_MAX] = "";
    if (name[0] != '/' && !getcwd(here, sizeof here))
        return refuse(EXIT_USAGE, "%s: %s", name, strerror(errno));
    if (snprintf(path, PATH_MAX, "%s%s%s", here, here[0] ? "/" : "", name) >= PATH_MAX)
        return refuse(EXIT_USAGE, "%s: %s", name, strerror(ENAMETOOLONG));
    settings->summary_file = path;
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return 0;
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return refuse(EXIT_USAGE, "%s: %s", name, strerror(errno));
    close(file);
    return 0;
}

/* Checks where results are to go, and makes the places absolute. */
static int places_check(struct settings *settings)
{
    static char directory[PATH_MAX], summary[PATH_MAX]; /* the settings point to them */
    if (!settings->directory && (settings->formats || settings->stats))
        return refuse(EXIT_USAGE, "--%s writes files: give --output-directory, too",
                      settings->formats ? "format" : "stats");
    int status = settings->formats ? formats_check(settings->formats) : 0;
    if (status == 0 && settings->directory)
        status = directory_resolve(settings, directory);
    if (status == 0 && settings->summary_file)
        status = summary_resolve(settings, summary);
    return status;
}

static int run(struct cli_options *options)
{
    struct settings *settings = &options->settings;
    struct launch launch;
    char error[PATH_MAX + 200];
    if (launch_prepare(&launch, options->program[0], error, sizeof error) != 0)
        return refuse(EXIT_NOT_STARTED, "%s", error);
    unsigned runs = 1;
    int status = places_check(settings);
    if (status == 0 && settings->counters)
        status = counters_check(&launch, settings->counters, &runs);
    if (status != 0)
        return status;
    if (launch.gpu_library[0])
        fprintf(stderr, "crocprof: no GPU in this machine (/dev/kfd): using the software GPU\n");
    if (runs > 1)
        return passes_run(&launch, settings, options->program, runs);
    status = launch_environment(&launch, settings);
    if (status == 0)
        status = launch_program(&launch, options->program);
    return refuse(EXIT_NOT_STARTED, "%s: %s", options->program[0], strerror(-status));
}

static int list(void)
{
    struct launch launch;
    char error[PATH_MAX + 200];
    if (launch_prepare(&launch, NULL, error, sizeof error) != 0)
        return refuse(EXIT_NOT_STARTED, "%s", error);
    return check_exec(&launch, "list", NULL);
}

int main(int argc, char **argv)
{
    struct cli_options options;
    char error[200];
    launch_signals_take();
    if (cli_options_parse(&options, argc, argv, error, sizeof error) != 0)
        return refuse(EXIT_USAGE, "%s", error);
    switch (options.command) {
    case CLI_HELP:
        cli_help_print();
        return 0;
    case CLI_VERSION:
        puts("crocprof " CROCPROF_VERSION);
        return 0;
    case CLI_LIST:
        return list();
    case CLI_CHECK:
        return cli_check();
    case CLI_RUN:
        return run(&options);
    }
    return EXIT_USAGE;
}
