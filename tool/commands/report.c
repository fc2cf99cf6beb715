/* `report`: the tables of `record`, from recordings. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/complete.h"
#include "cli/refuse.h"
#include "collect/tables.h"
#include "gather.h"
#include "inputs.h"
#include "launch/keys.h"
#include "table.h"
#include "window.h"

enum { REPORT_BEGIN, REPORT_END, REPORT_EACH };

static int row_take(void *data, const struct recording_part *part, enum out_table_id table,
                    const void *row)
{
    (void)part;
    gather_row(data, table, row);
    return 0;
}

static void devices_print(FILE *file, const void *devices)
{
    fprintf(file, "\n%s", (const char *)devices);
}

/* The tables of one process, or with `part` NULL of all that were read. */
static void part_head(const struct recording *recording, const struct recording_part *part)
{
    printf("\n%s: process %llu: %s\n", recording_path(recording), (unsigned long long)part->pid,
           part->command);
    fflush(stdout);
}

/* Never nothing without a word. */
static int all_print(const struct cli_options *line, const struct gather *gather)
{
    if (!tables_print(&line->settings, gather->of, gather->counters, devices_print,
                      gather->devices))
        return EXIT_FAILED;
    if (tables_have_rows(gather->of, gather->counters) || gather->is_damaged)
        return 0;
    if (gather->graph_launches)
        fprintf(
            stderr,
            "crocprof: nothing for a table, only %llu launches of graphs (crocprof script shows "
            "them)\n",
            (unsigned long long)gather->graph_launches);
    else
        fprintf(stderr, "crocprof: nothing for a table: no kernels, copies, calls or markers\n");
    return 0;
}

static int parts_report(struct recording *recording, const struct cli_options *line,
                        struct recording_ask *ask)
{
    char error[PATH_MAX + 200];
    int status = 0;
    for (unsigned i = 0; i < recording_part_count(recording) && status == 0; i++) {
        struct gather gather;
        ask->part = recording_part(recording, i);
        if (gather_begin(&gather) != 0)
            return refuse(EXIT_FAILED, "out of memory");
        if (recording_each(recording, ask, row_take, &gather, error, sizeof error) != 0)
            status = refuse(EXIT_FAILED, "%s", error);
        part_head(recording, ask->part);
        int printed = all_print(line, &gather);
        status = status ? status : printed;
        gather_end(&gather);
    }
    return status;
}

static int recording_gather(struct recording *recording, const struct cli_options *line,
                            struct gather *gather)
{
    char error[PATH_MAX + 200];
    struct recording_ask ask = inputs_ask(line);
    const struct window window = {.begin = command_text(line, REPORT_BEGIN),
                                  .end = command_text(line, REPORT_END)};
    int status = window_read(&window, &recording, 1, &ask);
    gather_recording(gather);
    if (status == 0 && command_flag(line, REPORT_EACH))
        status = parts_report(recording, line, &ask);
    else if (status == 0 &&
             recording_each(recording, &ask, row_take, gather, error, sizeof error) != 0)
        status = refuse(EXIT_FAILED, "%s", error);
    inputs_damage_tell(recording);
    gather->is_damaged |= recording_damage(recording) != NULL;
    return status;
}

static int inputs_report(const struct inputs *inputs, const struct cli_options *line)
{
    char error[PATH_MAX + 200];
    struct gather gather = {0};
    unsigned read = 0;
    int printed = 0, result = gather_begin(&gather) == 0 ? 0 : refuse(EXIT_FAILED, "out of memory");
    for (unsigned i = 0; gather.counters && i < inputs->count; i++) {
        struct recording *recording;
        int status = recording_open(&recording, inputs->paths[i], error, sizeof error);
        if (status != 0) {
            result = refuse(EXIT_FAILED, "%s", error);
            continue;
        }
        status = recording_gather(recording, line, &gather);
        read += status == 0;
        result = status ? status : result;
        recording_close(recording);
    }
    if (read > 0 && !command_flag(line, REPORT_EACH))
        printed = all_print(line, &gather);
    gather_end(&gather);
    return result ? result : printed;
}

/* To standard output, one table a kind, unless something else is said. */
static int defaults_put(struct cli_options *line)
{
    const struct settings *settings = &line->settings;
    const char *file = settings_text(settings, OPTION_SUMMARY_OUTPUT_FILE);
    char path[PATH_MAX];
    if (!file)
        return cli_option_set(line, OPTION_SUMMARY_OUTPUT_FILE, "stdout");
    int status = keys_expand(file, path, sizeof path);
    if (status == 0 && strcmp(file, "stdout") != 0 && strcmp(file, "stderr") != 0 &&
        truncate(path, 0) != 0 && errno != ENOENT && errno != EINVAL /* no file: a terminal */)
        status = -errno;
    return status == 0 ? 0 : refuse(EXIT_FAILED, "%s: %s", file, strerror(-status));
}

static int report_run(struct cli_options *line)
{
    const struct settings *settings = &line->settings;
    struct inputs inputs;
    signal(SIGPIPE, SIG_DFL); /* nobody reads on: a quiet end */
    int status = defaults_put(line);
    if (status == 0 && !settings_flag(settings, OPTION_SUMMARY) &&
        !settings_text(settings, OPTION_SUMMARY_GROUPS))
        status = cli_option_set(line, OPTION_SUMMARY_PER_DOMAIN, "1");
    if (status != 0)
        return status < 0 ? refuse(EXIT_FAILED, "%s", strerror(-status)) : status;
    status = inputs_find(&inputs, line->operands);
    if (status == 0)
        status = inputs_report(&inputs, line);
    inputs_free(&inputs);
    return status;
}

static const struct command_option options[] = {
    [REPORT_BEGIN] = {"begin", 0, OPTION_TEXT, "NS|N%", "leave out what ended before that time"},
    [REPORT_END] = {"end", 0, OPTION_TEXT, "NS|N%", "leave out what began after that time"},
    [REPORT_EACH] = {"each", 0, OPTION_FLAG, NULL,
                     "tables of each process instead of all together"},
    {0},
};
static const enum option_id takes[] = {OPTION_SUMMARY,        OPTION_SUMMARY_PER_DOMAIN,
                                       OPTION_SUMMARY_GROUPS, OPTION_SUMMARY_OUTPUT_FILE,
                                       OPTION_SUMMARY_UNITS,  INPUTS_SHOWN,
                                       OPTION_COUNT};

const struct command command_report = {
    .name = "report",
    .operands = "RECORDING ...",
    .help = "the tables again, from recordings",
    .text = "They go to standard output. Those of several processes are added up, unless --each is "
            "said.",
    .options = options,
    .takes = takes,
    .operands_min = 1,
    .operands_max = UINT32_MAX,
    .run = report_run,
};
