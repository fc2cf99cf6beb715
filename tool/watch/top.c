#include "top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wait.h"
#include "screen.h"

enum { BEFORE, NOW, LOOKS };

/* Kinds that have a part of the page, and what is said of them. */
static const struct {
    const char *kind, *title;
} parts[] = {
    {"KERNEL_DISPATCH", "kernel"},
    {"MEMORY_COPY", "copy"},
    {"HIP_API", "HIP function"},
};
enum { PART_COUNT = sizeof parts / sizeof parts[0], KERNELS = 0, COPIES = 1, CALLS = 2 };

bool top_begin(struct top *top, const char *directory, const char *what)
{
    *top = (struct top){.directory = directory, .what = what};
    top->begin_ns = top->before_ns = top->now_ns = wait_now_ns();
    return samples_begin(&top->samples, LOOKS);
}

void top_free(struct top *top)
{
    samples_free(&top->samples);
}

static void row_take(const struct snapshot_row *row, void *data)
{
    struct top *top = data;
    if (!row->is_counter)
        samples_add(&top->samples, NOW, row);
}

void top_look(struct top *top)
{
    for (size_t i = 0; i < top->samples.count; i++) {
        struct sample *sample = &top->samples.sample[i];
        sample->values[BEFORE] = sample->values[NOW];
        sample->calls[BEFORE] = sample->calls[NOW];
        sample->values[NOW] = sample->calls[NOW] = 0;
    }
    top->before_ns = top->now_ns;
    snapshots_read(top->directory, row_take, top);
    top->now_ns = wait_now_ns();
}

/* A process that began anew, by exec, counts from 0 again. */
static double gained(const double *looks)
{
    return looks[NOW] > looks[BEFORE] ? looks[NOW] - looks[BEFORE] : 0;
}

static double seconds(const struct top *top)
{
    double ns = (double)(top->now_ns - top->before_ns);
    return ns > 0 ? ns / 1e9 : 1;
}

static bool is_part(const struct sample *sample, int part)
{
    return strcmp(sample->row.kind, parts[part].kind) == 0;
}

struct part_sum {
    double calls, ns;
};

static struct part_sum part_sum(const struct top *top, int part)
{
    struct part_sum sum = {0, 0};
    for (size_t i = 0; i < top->samples.count; i++)
        if (is_part(&top->samples.sample[i], part)) {
            sum.calls += gained(top->samples.sample[i].calls);
            sum.ns += gained(top->samples.sample[i].values);
        }
    return sum;
}

/* A row of the page. `modelled`: by the device's own model, or NULL. */
struct line {
    const struct sample *wall, *modelled;
};

static double line_gained(const struct sample *sample)
{
    return sample ? gained(sample->values) : 0;
}

static double line_total(const struct sample *sample)
{
    return sample ? sample->values[NOW] : 0;
}

/* By modelled time, where there is one, which is the same in every run; the last interval's first.
 */
static int compare(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    const double differences[] = {line_gained(b->modelled) - line_gained(a->modelled),
                                  line_gained(b->wall) - line_gained(a->wall),
                                  line_total(b->modelled) - line_total(a->modelled),
                                  line_total(b->wall) - line_total(a->wall)};
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++)
        if (differences[i] != 0)
            return differences[i] > 0 ? 1 : -1;
    return strcmp(a->wall->row.name, b->wall->row.name);
}

static const struct sample *modelled_find(const struct top *top, const char *name)
{
    for (size_t i = 0; i < top->samples.count; i++)
        if (strcmp(top->samples.sample[i].row.kind, "KERNEL_MODELLED") == 0 &&
            strcmp(top->samples.sample[i].row.name, name) == 0)
            return &top->samples.sample[i];
    return NULL;
}

/* The part's lines by the time of the last interval. */
struct lines {
    struct line *line;
    size_t count;
    double modelled_ns; /* of the interval */
    bool is_modelled;
};

static void line_add(struct lines *lines, const struct top *top, const struct sample *wall,
                     int part)
{
    const struct sample *modelled = part == KERNELS ? modelled_find(top, wall->row.name) : NULL;
    lines->line[lines->count++] = (struct line){wall, modelled};
    lines->is_modelled |= modelled != NULL;
    lines->modelled_ns += line_gained(modelled);
}

/* No lines where memory is out. */
static struct lines lines_make(const struct top *top, int part)
{
    struct lines lines = {.line = calloc(top->samples.count + 1, sizeof(struct line))};
    for (size_t i = 0; lines.line && i < top->samples.count; i++)
        if (is_part(&top->samples.sample[i], part))
            line_add(&lines, top, &top->samples.sample[i], part);
    if (lines.line)
        qsort(lines.line, lines.count, sizeof *lines.line, compare);
    return lines;
}

static void line_draw(const struct top *top, const struct lines *lines, const struct line *line)
{
    double calls = gained(line->wall->calls), ns = gained(line->wall->values);
    double modelled_ns = line_gained(line->modelled);
    char modelled[64] = "";
    if (lines->is_modelled)
        snprintf(modelled, sizeof modelled, "%7.1f%% %12.3f ",
                 lines->modelled_ns > 0 ? 100 * modelled_ns / lines->modelled_ns : 0,
                 calls > 0 ? modelled_ns / calls / 1000 : 0);
    screen_line("%s%6.1f%% %11.0f %12.3f %12.0f  %s", modelled, ns / seconds(top) / 1e7,
                calls / seconds(top), calls > 0 ? ns / calls / 1000 : 0, line->wall->calls[NOW],
                line->wall->row.name);
}

/* At most `rows` rows. */
static void part_draw(const struct top *top, int part, int rows)
{
    struct lines lines = lines_make(top, part);
    if (lines.count > 0) {
        screen_line("%s", "");
        screen_line("%s%7s %11s %12s %12s  %s", lines.is_modelled ? "modelled  modelled us " : "",
                    "time", "calls/s", "mean us", "calls", parts[part].title);
    }
    for (size_t i = 0; i < lines.count && (int)i < rows; i++)
        line_draw(top, &lines, &lines.line[i]);
    free(lines.line);
}

static double seconds_since(const struct top *top)
{
    return (double)(top->now_ns - top->begin_ns) / 1e9;
}

void top_draw(const struct top *top)
{
    struct part_sum kernels = part_sum(top, KERNELS), copies = part_sum(top, COPIES),
                    calls = part_sum(top, CALLS);
    double s = seconds(top);
    screen_draw_begin();
    screen_line("crocprof top: %s, %.0f s (q ends)", top->what, seconds_since(top));
    screen_line("kernels %.0f/s, %.1f%% of the time; copies %.0f/s, %.1f%%; HIP calls %.0f/s",
                kernels.calls / s, kernels.ns / s / 1e7, copies.calls / s, copies.ns / s / 1e7,
                calls.calls / s);
    int rows = screen_lines_left();
    part_draw(top, KERNELS, rows / 2 - 2);
    part_draw(top, COPIES, 4);
    part_draw(top, CALLS, screen_lines_left() - 2);
    screen_draw_end();
}

void top_line(const struct top *top)
{
    struct part_sum kernels = part_sum(top, KERNELS), copies = part_sum(top, COPIES),
                    calls = part_sum(top, CALLS);
    double s = seconds(top);
    struct lines lines = lines_make(top, KERNELS);
    printf("%.1f s: kernels %.0f/s %.1f%%, copies %.0f/s, HIP calls %.0f/s", seconds_since(top),
           kernels.calls / s, kernels.ns / s / 1e7, copies.calls / s, calls.calls / s);
    double sum_ns = lines.is_modelled ? lines.modelled_ns : kernels.ns;
    if (lines.count > 0 && sum_ns > 0)
        printf(", most%s: %.511s %.1f%%", lines.is_modelled ? " by modelled time" : "",
               lines.line[0].wall->row.name,
               100 * line_gained(lines.is_modelled ? lines.line[0].modelled : lines.line[0].wall) /
                   sum_ns);
    putchar('\n');
    fflush(stdout);
    free(lines.line);
}
