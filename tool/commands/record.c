/* `record`: checks everything it can before the program starts, runs it, and says what became of
 * it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/attach.h"
#include "cli/ask.h"
#include "cli/check.h"
#include "cli/complete.h"
#include "cli/input.h"
#include "cli/passes.h"
#include "cli/places.h"
#include "cli/refuse.h"
#include "cli/runs.h"
#include "launch/launch.h"
#include "table.h"

/* For people who want to know what the program gets. */
static void environment_show(const struct settings *settings)
{
    fputs("crocprof: the program's environment:\n", stderr);
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options_table[id].variable && settings->value[id])
            fprintf(stderr, "  %s=%s\n", options_table[id].variable, settings->value[id]);
}

/* The library's levels are fewer than rocprofv3's. */
static void log_level_put(const struct settings *settings)
{
    static const char *const levels[][2] = {{"fatal", "error"},
                                            {"error", "error"},
                                            {"warning", "warning"},
                                            {"info", "info"},
                                            {"trace", "debug"}};
    const char *wanted = settings_text(settings, OPTION_LOG_LEVEL);
    for (size_t i = 0; wanted && i < sizeof levels / sizeof levels[0]; i++)
        if (strcmp(levels[i][0], wanted) == 0)
            setenv("CROC_LOG_LEVEL", levels[i][1], 1);
    if (wanted && (strcmp(wanted, "env") == 0 || strcmp(wanted, "config") == 0))
        environment_show(settings);
}

/* What was taken for the program may be one of a list. */
static bool has_list(const struct cli_options *options)
{
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options->settings.value[id] && options_table[id].kind == OPTION_LIST)
            return !strchr(options->program[0], '/');
    return false;
}

/* A program that is not there may be a command that was misspelt. */
static int launch_refuse(const struct cli_options *options, int status, const char *error)
{
    const char *meant = NULL;
    if (status == -ENOENT && !options->is_certain && !options->like_rocprofv3)
        meant = command_nearest(commands_table, options->program[0]);
    if (status == -ENOENT && !strchr(options->program[0], '/') &&
        access(options->program[0], F_OK) == 0)
        return refuse(EXIT_NOT_STARTED, "%s (did you mean ./%s?)", error, options->program[0]);
    if (meant)
        return refuse(EXIT_NOT_STARTED, "%s (did you mean the command %s?)", error, meant);
    if (status == -ENOENT && !options->is_certain && has_list(options))
        return refuse(EXIT_NOT_STARTED,
                      "%s (a list goes on only where -- stands before the program)", error);
    return refuse(status == -EACCES ? EXIT_NOT_RUNNABLE : EXIT_NOT_STARTED, "%s", error);
}

static int echo(const struct cli_options *options)
{
    for (int i = 0; options->program[i]; i++)
        printf("%s%s", i ? " " : "", options->program[i]);
    putchar('\n');
    return 0;
}

/* ---- --list-avail: what there is to be counted, by commands of their own */

static int list_become(char *const *words, const struct settings *settings)
{
    const struct settings counters = {.value = {[OPTION_EXTRA_COUNTERS_TEXT] = settings_text(
                                                    settings, OPTION_EXTRA_COUNTERS_TEXT)}};
    if (settings_to_environment(&counters) == 0) {
        launch_signals_restore();
        execv("/proc/self/exe", words);
    }
    return refuse(EXIT_NOT_STARTED, "%s: %s", words[0], strerror(errno));
}

static int list_run(char *const *words, const struct settings *settings)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(list_become(words, settings));
    if (child < 0)
        return refuse(EXIT_NOT_STARTED, "fork: %s", strerror(errno));
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 0; /* nobody told: SIGCHLD is ignored */
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status);
}

/* Called rocprofv3, in the form of rocprofv3-avail, as there. */
static int avail_show(const struct cli_options *options)
{
    const char *file = settings_text(&options->settings, OPTION_EXTRA_COUNTERS);
    char *const pmc[] = {"rocprofv3-avail", "info", "--pmc", NULL};
    char *const sampling[] = {"rocprofv3-avail", "info", "--pc-sampling", NULL};
    char *const list[] = {"crocprof", "list", file ? "-E" : NULL, (char *)(uintptr_t)file, NULL};
    if (!options->like_rocprofv3)
        return list_run(list, &options->settings);
    int status = list_run(pmc, &options->settings);
    return status == 0 ? list_run(sampling, &options->settings) : status;
}

/* Returns an exit status. */
/* Groups that take turns are counted in one run, whatever fits: only their names are looked at. */
static int groups_check(const struct launch *launch, const struct settings *settings)
{
    struct settings named = *settings;
    struct ask_plan plan = {.runs = 1};
    named.value[OPTION_COUNTERS] = settings_text(settings, OPTION_COUNTER_GROUPS);
    int status = ask_plan(launch, &named, &plan);
    free(plan.counters);
    return status;
}

static int job_run(struct job *job)
{
    struct cli_options *options = &job->options;
    struct launch launch;
    char error[PATH_MAX + CLI_ERROR_BYTES];
    struct ask_plan plan = {.runs = 1};
    if (cli_options_complete(options, error, sizeof error) != 0)
        return refuse(EXIT_USAGE, "%s", error);
    const struct settings *settings = &options->settings;
    int status = settings_flag(settings, OPTION_LIST_AVAIL) ? avail_show(options) : 0;
    if (status != 0 || !options->program)
        return status;
    status = launch_prepare(&launch, options->program[0], error, sizeof error);
    if (status == 0)
        status = launch_kokkos(settings, error, sizeof error);
    if (status != 0)
        return launch_refuse(options, status, error);
    launch_preload(&launch, settings);
    status = places_prepare(options, job->subdirectory[0] ? job->subdirectory : NULL);
    if (status != 0)
        return status;
    log_level_put(settings);
    if (settings_text(settings, OPTION_COUNTERS))
        status = ask_plan(&launch, settings, &plan);
    else if (settings_text(settings, OPTION_COUNTER_GROUPS))
        status = groups_check(&launch, settings);
    if (status != 0 || settings_flag(settings, OPTION_ECHO))
        return status != 0 ? status : echo(options);
    if (launch.gpu_library[0])
        fprintf(stderr, "crocprof: no GPU in this machine (/dev/kfd): using the software GPU\n");
    places_renew(settings);
    status = passes_run(&launch, settings, options->program, &plan);
    places_settle(settings);
    free(plan.counters);
    return status;
}

static int job_become(void *data)
{
    return job_run(data);
}

/* One after the other, also after one has failed: the last failure's status. */
static int jobs_run(struct jobs *jobs)
{
    int result = 0;
    runs_begin();
    for (unsigned i = 0; i < jobs->count; i++) {
        int status;
        fprintf(stderr, "crocprof: job %u of %u\n", i + 1, jobs->count);
        if (!runs_once(job_become, &jobs->job[i], &status) || status < 0 || runs_end_asked()) {
            result = status;
            break;
        }
        result = status != 0 ? status : result;
    }
    runs_end();
    return runs_end_like(result);
}

/* Each job has something to run, or only lists. */
static bool are_runnable(const struct jobs *jobs)
{
    bool all = true;
    for (unsigned i = 0; i < jobs->count; i++)
        all = all && (jobs->job[i].options.program ||
                      settings_flag(&jobs->job[i].options.settings, OPTION_LIST_AVAIL));
    return all;
}

static int run(const struct cli_options *options)
{
    const char *path = settings_text(&options->settings, OPTION_INPUT);
    char error[PATH_MAX + CLI_ERROR_BYTES];
    struct jobs jobs;
    int status = path ? input_read(&jobs, options, path, error, sizeof error)
                      : input_none(&jobs, options, error, sizeof error);
    if (status != 0)
        return refuse(EXIT_USAGE, "%s", error);
    if (!are_runnable(&jobs))
        status = refuse(EXIT_USAGE, "which program? (see crocprof --help)");
    else
        status = jobs.count == 1 ? job_run(&jobs.job[0]) : jobs_run(&jobs);
    input_free(&jobs);
    return status;
}

static int record_run(struct cli_options *options)
{
    const char *pid = settings_text(&options->settings, OPTION_PID);
    if (pid)
        return attach_run(options, pid);
    return run(options);
}

int record_line(struct cli_options *line)
{
    return line->command == CLI_CHECK ? cli_check() : record_run(line);
}

const struct command command_record = {
    .name = "record",
    .operands = "[--] PROGRAM [ARGUMENTS]",
    .help = "runs a program and tells what its GPU did; what crocprof does without a command",
    .takes_all = true,
    .takes_program = true,
    .operands_min = 1,
    .run = record_run,
};
