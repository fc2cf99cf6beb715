/* `check`: counters and modelled times of a run against those of a baseline, for CI. */
#include <fnmatch.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <crocprof/quality.h>

#include "baseline.h"
#include "cli/refuse.h"
#include "compare.h"
#include "grid/grid.h"
#include "out/json.h"
#include "statistics/tolerance.h"
#include "table.h"

enum {
    CHECK_BASELINE,
    CHECK_WRITE,
    CHECK_TOLERANCE,
    CHECK_TIME,
    CHECK_JUNIT,
    CHECK_ALL,
    CHECK_FORMAT,
    CHECK_PMC
};

/* What became of one value of the baseline; `now` NULL: it is gone. */
struct verdict {
    const struct baseline_value *was;
    const struct total *now;
    double percent;  /* by which it may move */
    const char *why; /* it is wrong; NULL: it is right */
};

/* What a baseline calls times of kernels; all else are counters. */
static const struct {
    enum totals_group group;
    const char *metric;
} times[] = {{TOTALS_MODELLED, "modelled"}, {TOTALS_KERNELS, "time"}};
enum { TIME_COUNT = sizeof times / sizeof times[0] };

static enum totals_group group_of(const struct baseline_value *value)
{
    for (int i = 0; i < TIME_COUNT; i++)
        if (strcmp(value->metric, times[i].metric) == 0)
            return times[i].group;
    return TOTALS_COUNTERS;
}

/* NULL: a baseline has nothing of the kind. */
static const char *metric_of(const struct total *total)
{
    for (int i = 0; i < TIME_COUNT; i++)
        if (total->group == times[i].group)
            return times[i].metric;
    return total->group == TOTALS_COUNTERS ? total->counter : NULL;
}

/* --tolerance PATTERN=PERCENT, the last that matches; false: none does. */
static bool tolerance_said(const struct cli_options *line, const char *metric, double *percent)
{
    bool is_said = false;
    unsigned at = 0;
    for (const char *text; (text = command_next(line, CHECK_TOLERANCE, &at));) {
        char pattern[256];
        const char *equals = strrchr(text, '=');
        snprintf(pattern, sizeof pattern, "%.*s", (int)(equals - text), text);
        if (fnmatch(pattern, metric, FNM_CASEFOLD) != 0)
            continue;
        *percent = strtod(equals + 1, NULL);
        is_said = true;
    }
    return is_said;
}

static int tolerances_check(const struct cli_options *line)
{
    unsigned at = 0;
    for (const char *text; (text = command_next(line, CHECK_TOLERANCE, &at));) {
        const char *equals = strrchr(text, '=');
        char *end = NULL;
        double percent = equals ? strtod(equals + 1, &end) : -1;
        if (!equals || end == equals + 1 || *end || !(percent >= 0))
            return refuse(EXIT_TROUBLE, "--tolerance: %s is no PATTERN=PERCENT", text);
    }
    const char *time = command_text(line, CHECK_TIME);
    char *end = NULL;
    if (time && (!(strtod(time, &end) >= 0) || *end || end == time))
        return refuse(EXIT_TROUBLE, "--time: %s is no percentage", time);
    return 0;
}

/* ---- a baseline is made */

static double percent_of(const struct total *total, const char *time)
{
    if (total->group == TOTALS_KERNELS)
        return strtod(time, NULL);
    return tolerance_of(total->counter, total->group == TOTALS_MODELLED ? CROCPROF_QUALITY_MODELLED
                                                                        : total->quality);
}

static int baseline_make(struct baseline *baseline, const struct totals *totals,
                         const struct cli_options *line)
{
    const char *time = command_text(line, CHECK_TIME);
    int status = 0;
    for (unsigned i = 0; i < totals_count(totals) && status == 0; i++) {
        const struct total *total = totals_at(totals, i);
        const char *metric = metric_of(total);
        if (!metric || (total->group == TOTALS_KERNELS && !time))
            continue;
        if (total->quality == CROCPROF_QUALITY_NOT_COUNTED)
            continue; /* zeros that mean nothing */
        if (isnan(total->values.mean)) {
            fprintf(stderr, "crocprof: %s: %s is no number: it is left out\n", total->name, metric);
            continue;
        }
        double percent = percent_of(total, time);
        tolerance_said(line, metric, &percent);
        status = baseline_add(baseline, total->name, metric, total->values.count,
                              total->values.mean, percent);
    }
    return status;
}

static int check_write(const struct totals *totals, const struct cli_options *line)
{
    char error[PATH_MAX + 200];
    const char *path = command_text(line, CHECK_WRITE);
    struct baseline baseline = {0};
    int status =
        baseline_make(&baseline, totals, line) == 0 ? 0 : refuse(EXIT_TROUBLE, "out of memory");
    if (status == 0 && baseline.count == 0)
        status = refuse(EXIT_TROUBLE,
                        "%s: no kernel has counters or a modelled time: record some with --pmc",
                        line->operands[0]);
    if (status == 0 && baseline_write(&baseline, path, error, sizeof error) != 0)
        status = refuse(EXIT_TROUBLE, "%s", error);
    if (status == 0)
        fprintf(stderr, "crocprof: %s: %u values\n", path, baseline.count);
    baseline_free(&baseline);
    return status;
}

/* ---- a run is checked */

static struct verdict verdict_of(const struct baseline_value *was, const struct totals *totals,
                                 const struct cli_options *line)
{
    struct verdict verdict = {.was = was, .percent = was->percent};
    enum totals_group group = group_of(was);
    tolerance_said(line, was->metric, &verdict.percent);
    verdict.now =
        totals_find(totals, group, was->kernel, group == TOTALS_COUNTERS ? was->metric : "");
    if (!verdict.now)
        verdict.why = "is missing";
    else if (verdict.now->values.count != was->launches)
        verdict.why = "other number of launches";
    else if (verdict.percent == 0 && verdict.now->values.mean != was->mean)
        verdict.why = "must be equal";
    else if (!(fabs(compare_percent(was->mean, verdict.now->values.mean)) <= verdict.percent))
        verdict.why = "beyond its tolerance";
    return verdict;
}

static void verdict_print(struct grid *grid, const struct verdict *verdict)
{
    const struct moments *now = verdict->now ? &verdict->now->values : NULL;
    const struct grid_value nothing = {.type = GRID_NULL};
    char change[32] = "";
    if (now)
        snprintf(change, sizeof change, "%+.2f", compare_percent(verdict->was->mean, now->mean));
    const struct grid_value values[] = {GRID_OF_TEXT(verdict->why ? verdict->why : "ok"),
                                        GRID_OF_INTEGER((int64_t)verdict->was->launches),
                                        now ? GRID_OF_INTEGER((int64_t)now->count) : nothing,
                                        GRID_OF_REAL(verdict->was->mean),
                                        now ? GRID_OF_REAL(now->mean) : nothing,
                                        GRID_OF_TEXT(change),
                                        GRID_OF_REAL(verdict->percent),
                                        GRID_OF_TEXT(verdict->was->metric),
                                        GRID_OF_TEXT(verdict->was->kernel)};
    grid_row(grid, values);
}

static int verdicts_print(const struct verdict *verdicts, unsigned count, unsigned wrong,
                          const struct cli_options *line)
{
    static const char *const names[] = {"verdict",  "launches", "now",     "mean",  "now",
                                        "change %", "may %",    "counter", "kernel"};
    static struct writer writer;
    const char *format = command_text(line, CHECK_FORMAT);
    bool shows_all = command_flag(line, CHECK_ALL);
    if (output_begin(&writer, NULL) != 0)
        return EXIT_TROUBLE;
    struct grid *grid =
        wrong > 0 || shows_all || format
            ? grid_begin(&writer, format ? grid_format_find(format) : GRID_TABLE, names, 9)
            : NULL;
    for (unsigned i = 0; grid && i < count; i++)
        if (verdicts[i].why || shows_all)
            verdict_print(grid, &verdicts[i]);
    if (grid)
        grid_end(grid);
    return output_end(&writer, NULL) ? EXIT_TROUBLE : 0;
}

static void xml_text(struct writer *writer, const char *text)
{
    static const char special[] = "<>&\"'";
    static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
    for (size_t length; *text; text += length) {
        const char *found = strchr(special, *text);
        length = json_character_length(text);
        if (found)
            writer_bytes(writer, names[found - special], strlen(names[found - special]));
        else if (length > 1)
            writer_bytes(writer, text, length);
        else if (length == 1)
            writer_char(writer, (unsigned char)*text < ' ' ? ' ' : *text);
        else /* no UTF-8, which a reader would refuse: U+FFFD */
            writer_bytes(writer, "\xef\xbf\xbd", 3);
        length = length ? length : 1;
    }
}

static void put(struct writer *writer, const char *text)
{
    writer_bytes(writer, text, strlen(text));
}

static void junit_case(struct writer *writer, const struct verdict *verdict)
{
    char text[200];
    put(writer, "  <testcase classname=\"");
    xml_text(writer, verdict->was->kernel);
    put(writer, "\" name=\"");
    xml_text(writer, verdict->was->metric);
    if (!verdict->why) {
        put(writer, "\"/>\n");
        return;
    }
    const struct moments none = {0}, *now = verdict->now ? &verdict->now->values : &none;
    snprintf(text, sizeof text,
             "%s: %.10g in %llu launches became %.10g in %llu, and may move by %g %%", verdict->why,
             verdict->was->mean, (unsigned long long)verdict->was->launches, now->mean,
             (unsigned long long)now->count, verdict->percent);
    put(writer, "\">\n    <failure message=\"");
    xml_text(writer, text);
    put(writer, "\"/>\n  </testcase>\n");
}

static int junit_write(const struct verdict *verdicts, unsigned count, unsigned wrong,
                       const char *path)
{
    static struct writer writer;
    char head[160];
    if (output_begin(&writer, path) != 0)
        return EXIT_TROUBLE;
    snprintf(head, sizeof head,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"crocprof check\" "
             "tests=\"%u\" failures=\"%u\">\n",
             count, wrong);
    put(&writer, head);
    for (unsigned i = 0; i < count; i++)
        junit_case(&writer, &verdicts[i]);
    put(&writer, "</testsuite>\n");
    return output_end(&writer, path) ? EXIT_TROUBLE : 0;
}

/* Kernels that the baseline does not know are said, but are no mistake. */
static void strangers_tell(const struct baseline *baseline, const struct totals *totals)
{
    for (unsigned i = 0; i < totals_count(totals); i++) {
        const struct total *total = totals_at(totals, i);
        bool is_known = total->group != TOTALS_KERNELS;
        for (unsigned at = 0; at < baseline->count && !is_known; at++)
            is_known = strcmp(baseline->values[at].kernel, total->name) == 0;
        if (!is_known)
            fprintf(stderr, "crocprof: %s: not in the baseline\n", total->name);
    }
}

static int check_against(const struct baseline *baseline, const struct totals *totals,
                         const struct cli_options *line)
{
    const char *junit = command_text(line, CHECK_JUNIT);
    struct verdict *verdicts = calloc(baseline->count, sizeof *verdicts);
    unsigned wrong = 0;
    if (!verdicts)
        return refuse(EXIT_TROUBLE, "out of memory");
    for (unsigned i = 0; i < baseline->count; i++) {
        verdicts[i] = verdict_of(&baseline->values[i], totals, line);
        wrong += verdicts[i].why != NULL;
    }
    strangers_tell(baseline, totals);
    int status = verdicts_print(verdicts, baseline->count, wrong, line);
    if (junit && status == 0)
        status = junit_write(verdicts, baseline->count, wrong, junit);
    fprintf(stderr, "crocprof: %u of %u values differ\n", wrong, baseline->count);
    free(verdicts);
    return status ? status : wrong ? EXIT_DIFFERENT : 0;
}

/* What is held against the baseline: a recording, or what a program does now, which is asked for
 * the counters of --pmc, else of the baseline. NULL after a line. */
static struct totals *totals_get(const struct baseline *baseline, const struct cli_options *line)
{
    const struct recording_ask ask = inputs_ask(line);
    struct compare_counters counters = {0};
    unsigned at = 0;
    int status = 0;
    if (line->operands_free == 1 && line->operand_count == 1)
        return compare_read(line->operands[0], &ask);
    if (line->operands_free > 0 || line->operand_count == 0) {
        refuse(EXIT_TROUBLE, "check: one recording, or a program behind --");
        return NULL;
    }
    for (const char *text; status == 0 && (text = command_next(line, CHECK_PMC, &at));)
        status = compare_counters_add(&counters, text);
    bool is_said = command_text(line, CHECK_PMC);
    for (unsigned i = 0; !is_said && i < baseline->count && status == 0; i++)
        if (group_of(&baseline->values[i]) == TOTALS_COUNTERS)
            status = compare_counters_add(&counters, baseline->values[i].metric);
    struct totals *totals = status == 0 ? compare_run(line->operands, &counters, &ask) : NULL;
    compare_counters_free(&counters);
    return totals;
}

static int check_run(struct cli_options *line)
{
    char error[PATH_MAX + 200];
    const char *writes = command_text(line, CHECK_WRITE);
    const char *compares = command_text(line, CHECK_BASELINE);
    struct baseline baseline = {0};
    if (!writes == !compares)
        return refuse(EXIT_TROUBLE, "check: one of --baseline and --write");
    int status = tolerances_check(line);
    if (status == 0 && compares && baseline_read(&baseline, compares, error, sizeof error) != 0)
        status = refuse(EXIT_TROUBLE, "%s", error);
    struct totals *totals = status == 0 ? totals_get(&baseline, line) : NULL;
    if (totals)
        status = writes ? check_write(totals, line) : check_against(&baseline, totals, line);
    else
        status = EXIT_TROUBLE;
    totals_destroy(totals);
    baseline_free(&baseline);
    return status;
}

static const struct command_option options[] = {
    [CHECK_BASELINE] = {"baseline", 'b', OPTION_TEXT, "FILE", "what the recording is held against"},
    [CHECK_WRITE] = {"write", 'w', OPTION_TEXT, "FILE",
                     "make that baseline of the recording, and check nothing"},
    [CHECK_TOLERANCE] = {"tolerance", 't', OPTION_LIST, "PATTERN=PERCENT",
                         "counters that match may move so far, whatever the baseline says"},
    [CHECK_TIME] = {"time", 0, OPTION_TEXT, "PERCENT",
                    "with --write: hold kernels' mean times, too, which may move so far"},
    [CHECK_JUNIT] = {"junit", 0, OPTION_TEXT, "FILE", "a report as JUnit's XML, too"},
    [CHECK_ALL] = {"all", 'a', OPTION_FLAG, NULL, "show what is right, too"},
    [CHECK_FORMAT] = {"format", 'f', OPTION_CHOICE, "table|csv|json|md|html",
                      "how rows are shown (table)"},
    [CHECK_PMC] = {"pmc", 'e', OPTION_LIST, "NAME ...",
                   "counters that the program is run with (those of the baseline)"},
    {0},
};
static const enum option_id takes[] = {INPUTS_SHOWN, OPTION_COUNT};

const struct command command_check = {
    .name = "check",
    .operands = "RECORDING | -- PROGRAM [ARGUMENTS]",
    .help = "counters and modelled times against those of a baseline, for CI",
    .text =
        "A program is recorded with the baseline's counters and checked in one go; its failure is "
        "trouble. "
        "The baseline is a JSON file with the mean of every counter of every kernel, and by how "
        "much percent it may move, unless you write something else there: what the device calls "
        "exact not at all, modelled 2, approximate 10; where it says nothing of its counters, "
        "instructions and waves not at all, requests and hits 2, cycles 10. What is not counted "
        "there is left out. Where a device says how long kernels take by its own model, that is "
        "held, too, as \"modelled\", and may move by 2. Launches must be as many. Status 1: "
        "something "
        "differs, 2: trouble.",
    .options = options,
    .takes = takes,
    .operands_min = 1,
    .operands_max = UINT32_MAX,
    .run = check_run,
};
