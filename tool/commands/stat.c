/* `stat`: runs a program several times, and says how its numbers vary. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wait.h"
#include "cli/refuse.h"
#include "cli/runs.h"
#include "out/out.h"
#include "out/place.h"
#include "table.h"
#include "watch/refused.h"
#include "watch/samples.h"
#include "watch/snapshots.h"
#include "watch/stat_print.h"

enum { RUNS_MAX = 10000 };
enum { OWN_REPEAT, OWN_WARMUP, OWN_JSON };
static const struct command_option own[] = {
    {"repeat", 'r', OPTION_NUMBER, "N", "so many runs (5)"},
    {"warmup", 'w', OPTION_NUMBER, "N", "and so many before them that do not count (0)"},
    {"json", 0, OPTION_TEXT, "FILE",
     "write it as JSON, too, with the value of each run; - is stdout"},
    {0},
};

struct stat_work {
    struct cli_options run; /* one run's */
    struct samples samples;
    unsigned number; /* of the run, among those that count */
    char directory[PATH_MAX];
    off_t input_at; /* of standard input; -1: it is no file */
};

static int run_become(void *data)
{
    struct stat_work *work = data;
    return command_record.run(&work->run);
}

static void row_take(const struct snapshot_row *row, void *data)
{
    struct stat_work *work = data;
    samples_add(&work->samples, work->number, row);
}

/* The same options, no files, no tables but ours. 0, or an exit status after a line. */
static int run_prepare(struct stat_work *work, const struct cli_options *line)
{
    static const struct {
        enum option_id id;
        const char *value;
    } quiet[] = {{OPTION_OUTPUT_FORMAT, OUT_NO_FORMAT},
                 {OPTION_SUMMARY, "0"},
                 {OPTION_SUMMARY_PER_DOMAIN, "0"},
                 {OPTION_STATS, "0"}};
    int status = cli_options_copy(&work->run, line);
    if (status != 0)
        return refuse(EXIT_NOT_STARTED, "%s", strerror(-status));
    for (size_t i = 0; i < sizeof quiet / sizeof quiet[0] && status == 0; i++)
        status = cli_option_set(&work->run, quiet[i].id, quiet[i].value);
    if (status == 0)
        status = cli_option_set(&work->run, OPTION_SNAPSHOT_DIRECTORY, work->directory);
    return status == 0 ? 0 : refuse(EXIT_NOT_STARTED, "%s", strerror(-status));
}

/* True: there is a run more. *status: how it ended. Input that is a file is each run's from where
 * it was; what is none, the first run may read to its end. */
static bool run_once(struct stat_work *work, bool counts, int *status)
{
    if (work->input_at >= 0)
        lseek(STDIN_FILENO, work->input_at, SEEK_SET);
    uint64_t begin_ns = wait_now_ns();
    snapshots_directory_clear(work->directory);
    if (!runs_once(run_become, work, status) || *status < 0 || runs_end_asked())
        return false;
    if (!counts)
        return true;
    if (WIFEXITED(*status) &&
        (WEXITSTATUS(*status) == EXIT_NOT_RUNNABLE || WEXITSTATUS(*status) == EXIT_NOT_STARTED))
        return true; /* which took no time that anybody wants to know */
    work->samples.wall_ns[work->number] = (double)(wait_now_ns() - begin_ns);
    if (WIFEXITED(*status) && WEXITSTATUS(*status) < EXIT_NOT_RUNNABLE)
        snapshots_read(work->directory, row_take, work);
    work->number++;
    return true;
}

/* A program that cannot be started does not become startable: the first such run is the last. */
static int runs_all(struct stat_work *work, unsigned repeat, unsigned warmups)
{
    int result = 0, status = 0;
    bool more = true;
    runs_begin();
    for (unsigned i = 0; i < warmups + repeat && more; i++) {
        fprintf(stderr, "crocprof: run %u of %u%s\n", i + 1, warmups + repeat,
                i < warmups ? ", which does not count" : "");
        more = run_once(work, i >= warmups, &status);
        result = status != 0 ? status : result;
        more = more && !(WIFEXITED(status) && (WEXITSTATUS(status) == EXIT_USAGE ||
                                               WEXITSTATUS(status) >= EXIT_NOT_RUNNABLE));
    }
    runs_end();
    return result;
}

static int json_write(const struct stat_report *report, const char *path)
{
    bool is_stdout = strcmp(path, "-") == 0;
    int made = is_stdout ? 0 : place_parent_make(path);
    FILE *file = is_stdout ? stdout : made == 0 ? fopen(path, "we") : NULL;
    if (!file)
        return refuse(EXIT_USAGE, "%s: %s", path, strerror(made ? -made : errno));
    stat_json(report, file);
    bool failed = fflush(file) != 0 || ferror(file);
    if (file != stdout && fclose(file) != 0)
        failed = true;
    return failed ? refuse(EXIT_USAGE, "%s: %s", path, strerror(errno)) : 0;
}

static int report_write(struct stat_work *work, const struct cli_options *line, unsigned warmups)
{
    const char *json = command_text(line, OWN_JSON);
    const struct stat_report report = {&work->samples, work->number, warmups, line->program};
    samples_sort(&work->samples, work->number);
    if (work->number > 0)
        stat_print(&report, stderr);
    if (work->samples.lost)
        fprintf(stderr, "crocprof: memory was out: some rows are missing\n");
    return json && work->number > 0 ? json_write(&report, json) : 0;
}

static int line_check(const struct cli_options *line, uint64_t repeat, uint64_t warmups)
{
    if (repeat == 0 || repeat > RUNS_MAX || warmups > RUNS_MAX)
        return refuse(EXIT_USAGE, "stat: from 1 to %d runs", RUNS_MAX);
    return watch_options_check("stat", line);
}

static int stat_run(struct cli_options *line)
{
    static struct stat_work work;
    uint64_t repeat = command_number(line, OWN_REPEAT, 5);
    uint64_t warmups = command_number(line, OWN_WARMUP, 0);
    int result = line_check(line, repeat, warmups);
    if (result != 0)
        return result;
    if (!samples_begin(&work.samples, (unsigned)repeat) ||
        !snapshots_directory_make(work.directory, -1))
        return refuse(EXIT_NOT_STARTED, "stat: %s", strerror(errno));
    work.input_at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    result = run_prepare(&work, line);
    if (result == 0) {
        int status = runs_all(&work, (unsigned)repeat, (unsigned)warmups);
        result = report_write(&work, line, (unsigned)warmups);
        snapshots_directory_remove(work.directory);
        result = status != 0 ? runs_end_like(status) : result;
    }
    cli_options_free(&work.run);
    samples_free(&work.samples);
    return result;
}

const struct command command_stat = {
    .name = "stat",
    .operands = "[--] PROGRAM [ARGUMENTS]",
    .help = "runs a program several times: mean and deviation of times and counters",
    .text =
        "Every row is the sum over one run (a ratio: the mean over its launches), and its figures\n"
        "are those of the runs: the deviation is the standard deviation of a sample. What did\n"
        "not happen in a run counts as 0. Files are not written; the program's output is shown\n"
        "each time.",
    .options = own,
    .takes_all = true,
    .takes_program = true,
    .operands_min = 1,
    .run = stat_run,
};
