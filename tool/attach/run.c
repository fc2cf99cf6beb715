/* --pid, and `crocprof attach`. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach.h"
#include "cli/ask.h"
#include "cli/complete.h"
#include "cli/places.h"
#include "cli/refuse.h"
#include "out/out.h"
#include "tables.h"

static int options_check(const struct cli_options *options)
{
    static const struct {
        enum option_id id;
        const char *why;
    } unfit[] = {
        {OPTION_INPUT, "one set of options at a time can be attached"},
        {OPTION_COLLECTION_PERIOD, "the time to collect is --attach-duration-msec"},
        {OPTION_PRELOAD, "the process has its libraries already"},
        {OPTION_KOKKOS_TRACE, "Kokkos takes its tools at the start of a program"},
        {OPTION_PROCESS_SYNC, "the process does not end with the profiler"},
    };
    if (options->program)
        return refuse(EXIT_USAGE, "--pid: a process to attach to, and a program to run: which?");
    for (size_t i = 0; i < sizeof unfit / sizeof unfit[0]; i++)
        if (options->settings.value[unfit[i].id])
            return refuse(EXIT_USAGE, "--%s does not go with --pid: %s",
                          options_table[unfit[i].id].name, unfit[i].why);
    return 0;
}

static bool has_files(const struct settings *settings)
{
    const char *formats = settings_text(settings, OPTION_OUTPUT_FORMAT);
    return !formats || strcmp(formats, OUT_NO_FORMAT) != 0;
}

static void end_tell(const struct target *target, const struct settings *settings,
                     enum attach_why why)
{
    fprintf(stderr, "crocprof: process %d %s\n", (int)target->pid,
            why == ATTACH_ENDED ? "has ended" : "goes on without the profiler");
    if (has_files(settings))
        fprintf(stderr, "crocprof: its files are in %s\n",
                settings_text(settings, OPTION_OUTPUT_DIRECTORY));
}

static int attached_run(struct attach *attach, const struct target *target,
                        const struct settings *settings)
{
    bool children = settings_flag(settings, OPTION_ATTACH_CHILDREN);
    uint64_t duration_ms = settings_number(settings, OPTION_ATTACH_DURATION_MSEC);
    attach_signals_hold();
    int status = attach_begin(attach, target, settings, children);
    if (status != 0)
        return status;
    fprintf(stderr, "crocprof: attached to process %d; %s\n", (int)target->pid,
            duration_ms ? "it is left after the time given, or at Ctrl-C"
                        : "Ctrl-C or a line of input leaves it");
    enum attach_why why = attach_wait(target, duration_ms);
    status = attach_end(attach, target, children);
    end_tell(target, settings, why);
    return status;
}

/* A process is there once: what takes several runs of a program cannot be counted. */
static int counters_check(const struct settings *settings)
{
    struct launch launch;
    char error[PATH_MAX + CLI_ERROR_BYTES];
    struct ask_plan plan = {.runs = 1};
    if (!settings_text(settings, OPTION_COUNTERS))
        return 0;
    if (launch_prepare(&launch, NULL, error, sizeof error) != 0)
        return refuse(EXIT_NOT_STARTED, "%s", error);
    int status = ask_plan(&launch, settings, &plan);
    free(plan.counters);
    if (status == 0 && plan.runs > 1)
        status = refuse(EXIT_USAGE,
                        "these counters take %u runs of a program, and a process runs once (see "
                        "crocprof list --fits)",
                        plan.runs);
    return status;
}

static int places_check(struct cli_options *options, const struct target *target)
{
    int status = places_prepare(options, NULL);
    if (status != 0 || !has_files(&options->settings))
        return status;
    return target_directory_check(target,
                                  settings_text(&options->settings, OPTION_OUTPUT_DIRECTORY));
}

int attach_run(struct cli_options *options, const char *pid)
{
    struct target target = {.handle = -1};
    struct attach_tables tables = {.path = ""};
    struct attach *attach = NULL;
    char error[PATH_MAX + CLI_ERROR_BYTES];
    int status = options_check(options);
    if (status == 0 && cli_options_complete(options, error, sizeof error) != 0)
        status = refuse(EXIT_USAGE, "%s", error);
    if (status == 0)
        status = target_find(&target, pid);
    if (status == 0)
        status = counters_check(&options->settings);
    if (status == 0)
        status = places_check(options, &target);
    if (status == 0)
        status = attach_tables_prepare(&tables, &target, options);
    if (status == 0)
        status = (attach = attach_open()) ? 0 : EXIT_NOT_STARTED;
    if (status == 0)
        status = attached_run(attach, &target, &options->settings);
    attach_tables_print(&tables);
    attach_close(attach);
    target_close(&target);
    return status;
}
