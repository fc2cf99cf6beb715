#include "passes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/run_log.h"
#include "launch/temporary.h"
#include "out/out.h"
#include "outcome.h"
#include "refuse.h"
#include "replay.h"
#include "runs.h"
#include "salvage.h"

struct pass {
    const struct launch *launch;
    const struct ask_plan *plan;
    struct settings settings;
    char *const *arguments;
    struct replay input;
    const char *directory;
    unsigned number; /* from 1; the last one is number 0 of `choice.h` */
};

/* What a run that only counts has. Kernels have their names there, too: launches are matched by
 * them. */
static void settings_reduce(struct settings *settings)
{
    static const enum option_id kept[] = {OPTION_COUNTERS,
                                          OPTION_COUNTER_COLLECTION,
                                          OPTION_EXTRA_COUNTERS_TEXT,
                                          OPTION_CHECKED,
                                          OPTION_PASS,
                                          OPTION_PASS_COUNT,
                                          OPTION_PASS_DIRECTORY,
                                          OPTION_KERNEL_INCLUDE_REGEX,
                                          OPTION_KERNEL_EXCLUDE_REGEX,
                                          OPTION_KERNEL_ITERATION_RANGE,
                                          OPTION_PERIODS_NS,
                                          OPTION_SELECTED_REGIONS,
                                          OPTION_SELECTED_REGIONS_REF_COUNT,
                                          OPTION_SIGNAL_HANDLERS,
                                          OPTION_DEMANGLE,
                                          OPTION_TRUNCATE_KERNELS,
                                          OPTION_KERNEL_RENAME,
                                          OPTION_AGENT_INDEX,
                                          OPTION_OUTPUT_FILE,
                                          OPTION_OUTPUT_DIRECTORY};
    struct settings counting = {0};
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options_table[id].kind == OPTION_FLAG && options_table[id].variable &&
            (options_table[id].group == OPTION_GROUP_BASIC ||
             options_table[id].group == OPTION_GROUP_SUMMARY ||
             options_table[id].group == OPTION_GROUP_FILES))
            counting.value[id] = "0";
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        counting.value[kept[i]] = settings->value[kept[i]];
    counting.value[OPTION_OUTPUT_FORMAT] = OUT_NO_FORMAT;
    /* The same launches have to be counted in each: pauses are obeyed as in the last one. */
    if (settings_flag(settings, OPTION_MARKER_TRACE))
        counting.value[OPTION_PAUSES] = "1";
    *settings = counting;
}

static bool is_last(const struct pass *pass)
{
    return pass->number == pass->plan->runs;
}

/* Each run reads a file from where this one's is; a terminal is left to the last. */
static void file_rewind(void)
{
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    int file = at < 0 ? open("/dev/null", O_RDONLY) : open("/proc/self/fd/0", O_RDONLY);
    if (file < 0)
        return;
    if (at > 0)
        lseek(file, at, SEEK_SET);
    dup2(file, STDIN_FILENO);
    close(file);
}

static void output_hide(void)
{
    int file = open("/dev/null", O_WRONLY);
    if (file < 0)
        return;
    dup2(file, STDOUT_FILENO);
    close(file);
}

/* In the child; returns only on failure. */
static int program_become(void *data)
{
    struct pass *pass = data;
    char number[16];
    snprintf(number, sizeof number, "%u", pass->number % pass->plan->runs);
    if (pass->directory)
        pass->settings.value[OPTION_PASS] = number;
    if (pass->input.input >= 0)
        replay_take(&pass->input);
    else if (!is_last(pass))
        file_rewind();
    if (!is_last(pass)) {
        settings_reduce(&pass->settings);
        output_hide();
    }
    int status = launch_environment(pass->launch, &pass->settings);
    if (status == 0)
        status = launch_program(pass->launch, pass->arguments);
    return refuse(status == -EACCES || status == -ENOEXEC ? EXIT_NOT_RUNNABLE : EXIT_NOT_STARTED,
                  "%s: %s", pass->arguments[0], strerror(-status));
}

/* As runs_once(), with its input. */
static bool pass_run(struct pass *pass, int *status)
{
    if (pass->input.source >= 0 && replay_feed(&pass->input) != 0)
        fprintf(stderr, "crocprof: standard input: %s\n", strerror(errno));
    bool ran = runs_once(program_become, pass, status);
    replay_rest(&pass->input);
    return ran;
}

/* ---- several runs */

/* The counters of passes from `first` to before `end`, each once. */
static void counters_name(const struct ask_plan *plan, unsigned first, unsigned end)
{
    const char *before = " ";
    for (const char *line = plan->counters; line && *line;) {
        char *name;
        unsigned long pass = strtoul(line, &name, 10);
        size_t length = strcspn(name + 1, "\n");
        pass = pass == 0 ? plan->runs : pass;
        if (pass >= first && pass < end) {
            fprintf(stderr, "%s%.*s", before, (int)length, name + 1);
            before = ", ";
        }
        line = name + 1 + length + (name[1 + length] == '\n');
    }
    fputc('\n', stderr);
}

/* Somebody has asked for the end. */
static void stopped_tell(const struct pass *pass, int killer)
{
    unsigned runs = pass->plan->runs;
    struct settings settings = pass->settings;
    fprintf(stderr,
            "crocprof: ended in pass %u of %u (%s); not counted, or not to the end:", pass->number,
            runs, strsignal(killer));
    counters_name(pass->plan, pass->number, runs + 1);
    int log = run_log_create();
    if (salvage(&settings, pass->directory, pass->number) == 0)
        fputs("crocprof: nothing was counted until then\n", stderr);
    outcome_files(log);
    if (log >= 0)
        close(log);
}

/* The program has crashed; the next pass may come further. */
static void crash_tell(const struct pass *pass, int killer)
{
    fprintf(stderr, "crocprof: pass %u of %u was ended by a signal (%s); not counted behind that:",
            pass->number, pass->plan->runs, strsignal(killer));
    counters_name(pass->plan, pass->number, pass->number + 1);
}

/* Neither tables nor files were asked for, and nobody reads numbers along the way. */
static bool shows_nothing(const struct settings *settings)
{
    const char *formats = settings_text(settings, OPTION_OUTPUT_FORMAT);
    return formats && strcmp(formats, OUT_NO_FORMAT) == 0 &&
           !settings_flag(settings, OPTION_SUMMARY) &&
           !settings_flag(settings, OPTION_SUMMARY_PER_DOMAIN) &&
           !settings_text(settings, OPTION_SUMMARY_GROUPS) &&
           !settings_text(settings, OPTION_SNAPSHOT_DIRECTORY) &&
           !settings_text(settings, OPTION_BENCHMARK_MODE);
}

/* The last run: as where there is only one. */
static int last_run(struct pass *pass)
{
    int status, log = run_log_create();
    bool ran = pass_run(pass, &status);
    if (ran && status >= 0)
        outcome_complete(log, settings_text(&pass->settings, OPTION_OUTPUT_FORMAT));
    if (ran && status >= 0)
        outcome_tell(pass->launch, &pass->settings, log, status);
    if (ran && status >= 0 && shows_nothing(&pass->settings))
        fputs("crocprof: nothing is shown: no tables and no files were asked for (-f csv or -d "
              "DIRECTORY writes files)\n",
              stderr);
    if (log >= 0)
        close(log);
    return status;
}

/* The wait status of the last run, or of one that was killed, or as if it had been. */
static int all_run(struct pass *pass)
{
    int crashed = 0;
    for (pass->number = 1; !is_last(pass); pass->number++) {
        int status;
        fprintf(stderr, "crocprof: pass %u of %u\n", pass->number, pass->plan->runs);
        pass_run(pass, &status);
        if (status < 0)
            return status;
        int killer = runs_end_asked();
        if (killer != 0) {
            stopped_tell(pass, killer);
            return status;
        }
        if (!WIFSIGNALED(status))
            continue;
        crash_tell(pass, WTERMSIG(status));
        crashed = status;
    }
    fprintf(stderr, "crocprof: pass %u of %u\n", pass->number, pass->plan->runs);
    int status = last_run(pass);
    if (status > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        stopped_tell(pass, SIGKILL); /* it had no time to write what others have counted */
    return status == 0 ? crashed : status;
}

static int several_run(struct pass *pass)
{
    char directory[PATH_MAX], total[16];
    int status = temporary_directory(directory);
    if (status != 0)
        return refuse(EXIT_NOT_STARTED, "%s: %s", directory, strerror(-status));
    status = replay_begin(&pass->input);
    if (status != 0)
        fprintf(stderr, "crocprof: standard input cannot be kept for all passes: %s\n",
                strerror(-status));
    snprintf(total, sizeof total, "%u", pass->plan->runs);
    pass->directory = directory;
    pass->settings.value[OPTION_PASS_COUNT] = total;
    pass->settings.value[OPTION_PASS_DIRECTORY] = directory;
    fprintf(stderr,
            "crocprof: these counters take %u runs of the program; the last one's output is "
            "shown\n",
            pass->plan->runs);
    runs_begin();
    status = all_run(pass);
    runs_end();
    replay_end(&pass->input);
    temporary_directory_remove(directory);
    return status;
}

int passes_run(const struct launch *launch, const struct settings *settings,
               char *const arguments[], const struct ask_plan *plan)
{
    struct pass pass = {.launch = launch,
                        .plan = plan,
                        .settings = *settings,
                        .arguments = arguments,
                        .input = REPLAY_NONE,
                        .number = plan->runs};
    int status;
    outcome_foresee(launch);
    if (plan->runs > 1 && !settings_replay_kernels(settings))
        return runs_end_like(several_run(&pass));
    runs_begin();
    status = last_run(&pass);
    runs_end();
    return runs_end_like(status);
}
