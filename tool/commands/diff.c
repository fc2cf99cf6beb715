/* `diff`: two recordings side by side: kernels, counters, calls and copies. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/refuse.h"
#include "compare.h"
#include "conditions.h"
#include "grid/grid.h"
#include "table.h"

enum { DIFF_FAIL_IF, DIFF_ALL, DIFF_ALPHA, DIFF_FORMAT, DIFF_PMC };
enum { CONDITIONS_MAX = 64, ROWS_MAX = 20 };

struct diff {
    struct totals *before, *after;
    struct condition conditions[CONDITIONS_MAX];
    bool is_met[CONDITIONS_MAX]; /* something was there to compare */
    unsigned condition_count, failures;
    double alpha;
    bool shows_all;
    enum grid_format format;
    struct writer *writer;
};

/* One line: what both say of the same thing. NULL: it is not there. */
struct pair {
    const struct total *before, *after;
    double p, weight; /* weight: by which lines are ordered */
};

static const char *const titles[] = {[TOTALS_MODELLED] = "kernels, modelled (ns)",
                                     [TOTALS_KERNELS] = "kernels (ns)",
                                     [TOTALS_COUNTERS] = "counters (of one launch)",
                                     [TOTALS_CALLS] = "calls (ns)",
                                     [TOTALS_COPIES] = "copies (ns)"};

static const struct total *either(const struct pair *pair)
{
    return pair->before ? pair->before : pair->after;
}

static struct pair pair_make(const struct total *before, const struct total *after)
{
    struct pair pair = {before, after, NAN, 0};
    const struct moments none = {0};
    const struct moments *a = before ? &before->values : &none, *b = after ? &after->values : &none;
    if (before && after)
        pair.p = moments_welch(a, b);
    pair.weight = either(&pair)->group == TOTALS_COUNTERS ? fabs(compare_percent(a->mean, b->mean))
                                                          : fabs(b->sum - a->sum);
    return pair;
}

static int by_weight(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    int names = strcmp(either(a)->name, either(b)->name);
    return names ? names : strcmp(either(a)->counter, either(b)->counter);
}

/* All things of a group, of either recording. */
static struct pair *pairs_make(const struct diff *diff, enum totals_group group, unsigned *count)
{
    unsigned room = totals_count(diff->before) + totals_count(diff->after);
    struct pair *pairs = calloc(room + 1, sizeof *pairs);
    *count = 0;
    for (unsigned i = 0; pairs && i < totals_count(diff->before); i++) {
        const struct total *total = totals_at(diff->before, i);
        if (total->group == group)
            pairs[(*count)++] =
                pair_make(total, totals_find(diff->after, group, total->name, total->counter));
    }
    for (unsigned i = 0; pairs && i < totals_count(diff->after); i++) {
        const struct total *total = totals_at(diff->after, i);
        if (total->group == group && !totals_find(diff->before, group, total->name, total->counter))
            pairs[(*count)++] = pair_make(NULL, total);
    }
    if (pairs)
        qsort(pairs, *count, sizeof *pairs, by_weight);
    return pairs;
}

static struct grid_value number(const struct total *total, bool is_count)
{
    if (!total)
        return (struct grid_value){.type = GRID_NULL};
    return is_count ? GRID_OF_INTEGER((int64_t)total->values.count)
                    : GRID_OF_REAL(total->values.mean);
}

/* What a difference is worth: stars as significance is usually shown, "=" for none at all. */
static const char *verdict(const struct diff *diff, const struct pair *pair)
{
    if (!pair->before || !pair->after)
        return pair->before ? "only before" : "only after";
    if (pair->before->values.mean == pair->after->values.mean)
        return "=";
    if (isnan(pair->p))
        return "";
    return pair->p < diff->alpha / 10 ? "**" : pair->p < diff->alpha ? "*" : "chance";
}

/* For people the columns behind the first one; for programs all of them, in one table. */
enum { COLUMN_COUNT = 10 };
static const char *const columns[COLUMN_COUNT] = {"kind",     "n", "n'",      "before",  "after",
                                                  "change %", "p", "verdict", "counter", "name"};
static const char *const kinds[] = {[TOTALS_MODELLED] = "modelled",
                                    [TOTALS_KERNELS] = "kernel",
                                    [TOTALS_COUNTERS] = "counter",
                                    [TOTALS_CALLS] = "call",
                                    [TOTALS_COPIES] = "copy"};

static void pair_print(const struct diff *diff, struct grid *grid, const struct pair *pair)
{
    const struct grid_value nothing = {.type = GRID_NULL};
    bool is_both = pair->before && pair->after;
    double percent =
        is_both ? compare_percent(pair->before->values.mean, pair->after->values.mean) : 0;
    char change[32];
    snprintf(change, sizeof change, "%+.2f", percent);
    struct grid_value values[COLUMN_COUNT] = {GRID_OF_TEXT(kinds[either(pair)->group]),
                                              number(pair->before, true),
                                              number(pair->after, true),
                                              number(pair->before, false),
                                              number(pair->after, false),
                                              !is_both                     ? nothing
                                              : diff->format == GRID_TABLE ? GRID_OF_TEXT(change)
                                                                           : GRID_OF_REAL(percent),
                                              isnan(pair->p) ? nothing : GRID_OF_REAL(pair->p),
                                              GRID_OF_TEXT(verdict(diff, pair)),
                                              GRID_OF_TEXT(either(pair)->counter),
                                              GRID_OF_TEXT(either(pair)->name)};
    bool is_first_left_out = diff->format == GRID_TABLE;
    if (is_first_left_out && either(pair)->group != TOTALS_COUNTERS)
        values[8] = values[9];
    grid_row(grid, values + is_first_left_out);
}

static bool is_shown(const struct diff *diff, const struct pair *pair, unsigned shown)
{
    bool is_equal = pair->before && pair->after &&
                    pair->before->values.mean == pair->after->values.mean &&
                    pair->before->values.count == pair->after->values.count;
    return diff->shows_all || (!is_equal && (shown < ROWS_MAX || diff->format != GRID_TABLE));
}

static bool is_any_shown(const struct diff *diff, const struct pair *pairs, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (is_shown(diff, &pairs[i], 0))
            return true;
    return false;
}

__attribute__((format(printf, 2, 3))) static void line_put(const struct diff *diff,
                                                           const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    writer_bytes(diff->writer, text, strlen(text));
}

static unsigned pairs_print(const struct diff *diff, struct grid *grid, const struct pair *pairs,
                            unsigned count)
{
    unsigned shown = 0;
    for (unsigned i = 0; grid && i < count; i++)
        if (is_shown(diff, &pairs[i], shown)) {
            pair_print(diff, grid, &pairs[i]);
            shown++;
        }
    return shown;
}

static void group_print(const struct diff *diff, enum totals_group group, const struct pair *pairs,
                        unsigned count)
{
    bool is_any = is_any_shown(diff, pairs, count), is_counter = group == TOTALS_COUNTERS;
    const char *names[COLUMN_COUNT];
    memcpy(names, columns, sizeof names);
    names[8] = is_counter ? "counter" : "name";
    names[9] = "kernel";
    line_put(diff, "\n%s%s\n", titles[group], is_any ? "" : ": equal");
    struct grid *grid =
        is_any ? grid_begin(diff->writer, diff->format, names + 1, is_counter ? 9 : 8) : NULL;
    unsigned shown = pairs_print(diff, grid, pairs, count);
    if (grid)
        grid_end(grid);
    if (is_any && shown < count)
        line_put(diff, "... and %u more, equal or less (--all)\n", count - shown);
}

static void failed(struct diff *diff, const struct condition *condition, const struct pair *pair,
                   double before, double after)
{
    diff->failures++;
    refuse(0, "%s: %s: %.10g became %.10g (%+.2f %%)", condition->text, either(pair)->name, before,
           after, compare_percent(before, after));
}

/* A kernel's time counts only if its difference is more than chance, where that can be said. */
static void metric_judge(struct diff *diff, const struct pair *pair, const char *metric,
                         double before, double after)
{
    bool is_chance = strcmp(metric, "time") == 0 && !isnan(pair->p) && pair->p >= diff->alpha;
    for (unsigned i = 0; i < diff->condition_count; i++) {
        if (!condition_is_about(&diff->conditions[i], either(pair)->name, metric))
            continue;
        diff->is_met[i] = true;
        if (!is_chance && condition_holds(&diff->conditions[i], before, after))
            failed(diff, &diff->conditions[i], pair, before, after);
    }
}

static void pair_judge(struct diff *diff, const struct pair *pair)
{
    const struct moments none = {0};
    const struct moments *a = pair->before ? &pair->before->values : &none;
    const struct moments *b = pair->after ? &pair->after->values : &none;
    if (either(pair)->group == TOTALS_COUNTERS) {
        metric_judge(diff, pair, either(pair)->counter, a->mean, b->mean);
    } else if (either(pair)->group == TOTALS_MODELLED) {
        metric_judge(diff, pair, "modelled", a->mean, b->mean);
    } else if (either(pair)->group == TOTALS_KERNELS) {
        metric_judge(diff, pair, "time", a->mean, b->mean);
        metric_judge(diff, pair, "calls", (double)a->count, (double)b->count);
    }
}

static int groups_compare(struct diff *diff)
{
    bool is_table = diff->format == GRID_TABLE;
    struct grid *grid =
        is_table ? NULL : grid_begin(diff->writer, diff->format, columns, COLUMN_COUNT);
    for (int group = 0; group < TOTALS_GROUP_COUNT; group++) {
        unsigned count;
        struct pair *pairs = pairs_make(diff, (enum totals_group)group, &count);
        if (!pairs)
            return refuse(EXIT_TROUBLE, "out of memory");
        if (count > 0 && is_table)
            group_print(diff, (enum totals_group)group, pairs, count);
        else
            pairs_print(diff, grid, pairs, count);
        for (unsigned i = 0; i < count; i++)
            pair_judge(diff, &pairs[i]);
        free(pairs);
    }
    if (grid)
        grid_end(grid);
    return 0;
}

/* A condition about nothing would never fail: that is a mistake. */
static int conditions_check(const struct diff *diff)
{
    for (unsigned i = 0; i < diff->condition_count; i++)
        if (!diff->is_met[i])
            return refuse(EXIT_TROUBLE, "--fail-if: %s: no kernel of either recording has that",
                          diff->conditions[i].text);
    return diff->failures ? EXIT_DIFFERENT : 0;
}

static int conditions_read(struct diff *diff, const struct cli_options *line)
{
    char error[CLI_ERROR_BYTES];
    unsigned at = 0;
    for (const char *text; (text = command_next(line, DIFF_FAIL_IF, &at));) {
        if (diff->condition_count == CONDITIONS_MAX)
            return refuse(EXIT_TROUBLE, "at most %d conditions", CONDITIONS_MAX);
        if (condition_read(&diff->conditions[diff->condition_count++], text, error, sizeof error))
            return refuse(EXIT_TROUBLE, "%s", error);
    }
    const char *alpha = command_text(line, DIFF_ALPHA);
    char *end = NULL;
    diff->alpha = alpha ? strtod(alpha, &end) : 0.05;
    if (alpha && (*end || !(diff->alpha > 0 && diff->alpha < 1)))
        return refuse(EXIT_TROUBLE, "--alpha: %s is not between 0 and 1", alpha);
    return 0;
}

/* The second recording, or what a program does now, with the counters of --pmc, else of the first.
 * NULL after a line. */
static struct totals *after_get(const struct totals *before, const struct cli_options *line,
                                const struct recording_ask *ask)
{
    struct compare_counters counters = {0};
    bool is_said = command_text(line, DIFF_PMC);
    unsigned at = 0;
    int status = 0;
    if (line->operands_free == 2)
        return compare_read(line->operands[1], ask);
    for (const char *text; status == 0 && (text = command_next(line, DIFF_PMC, &at));)
        status = compare_counters_add(&counters, text);
    for (unsigned i = 0; !is_said && i < totals_count(before) && status == 0; i++)
        if (totals_at(before, i)->group == TOTALS_COUNTERS)
            status = compare_counters_add(&counters, totals_at(before, i)->counter);
    struct totals *after = status == 0 ? compare_run(line->operands + 1, &counters, ask) : NULL;
    compare_counters_free(&counters);
    return after;
}

static int diff_run(struct cli_options *line)
{
    bool runs = line->operands_free == 1 && line->operand_count > 1;
    static struct diff diff;
    static struct writer writer;
    const struct recording_ask ask = inputs_ask(line);
    const char *format = command_text(line, DIFF_FORMAT);
    diff = (struct diff){.writer = &writer,
                         .shows_all = command_flag(line, DIFF_ALL),
                         .format = format ? grid_format_find(format) : GRID_TABLE};
    if (!runs && (line->operands_free != 2 || line->operand_count != 2))
        return refuse(EXIT_TROUBLE, "diff: two recordings, or one and a program behind --");
    int status = conditions_read(&diff, line);
    if (status == 0 && (!(diff.before = compare_read(line->operands[0], &ask)) ||
                        !(diff.after = after_get(diff.before, line, &ask))))
        status = EXIT_TROUBLE;
    if (status == 0 && output_begin(&writer, NULL) != 0)
        status = EXIT_TROUBLE;
    if (status == 0) {
        status = groups_compare(&diff);
        status = output_end(&writer, NULL) ? EXIT_TROUBLE : status;
        status = status ? status : conditions_check(&diff);
    }
    totals_destroy(diff.before);
    totals_destroy(diff.after);
    return status;
}

static const struct command_option options[] = {
    [DIFF_FAIL_IF] = {"fail-if", 0, OPTION_LIST, "CONDITION",
                      "end with status 1 if it holds for a kernel: 'SQ_INSTS_VALU>+1%', "
                      "'NAME:time>+5%', 'modelled>+1%', 'calls!=0' (mean of a launch; NAME: a part "
                      "of the kernel's)"},
    [DIFF_ALL] = {"all", 'a', OPTION_FLAG, NULL, "show what is equal, too"},
    [DIFF_ALPHA] = {"alpha", 0, OPTION_TEXT, "P",
                    "chance above which a difference counts for nothing (0.05)"},
    [DIFF_FORMAT] = {"format", 'f', OPTION_CHOICE, "table|csv|json|md|html",
                     "how rows are shown (table)"},
    [DIFF_PMC] = {"pmc", 'e', OPTION_LIST, "NAME ...",
                  "counters that the program is run with (those of BEFORE)"},
    {0},
};
static const enum option_id takes[] = {INPUTS_SHOWN, OPTION_COUNT};

const struct command command_diff = {
    .name = "diff",
    .operands = "BEFORE (AFTER | -- PROGRAM [ARGUMENTS])",
    .help = "two recordings side by side, with what is more than chance",
    .text =
        "Means of kernels, of counters of a launch, of calls and copies. p is how likely a "
        "difference as "
        "large is by chance alone, by Welch's t-test over launches; * and ** mark it below --alpha "
        "and "
        "a tenth of it. A kernel's time fails a condition only if p is below --alpha, where there "
        "are launches enough. Status 1: a condition holds, 2: trouble.",
    .options = options,
    .takes = takes,
    .operands_min = 2,
    .operands_max = UINT32_MAX,
    .run = diff_run,
};
