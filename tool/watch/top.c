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

static int compare(const void *left, const void *right)
{
    const struct sample *a = *(const struct sample *const *)left,
                        *b = *(const struct sample *const *)right;
    double difference = gained(b->values) - gained(a->values);
    if (difference == 0)
        difference = b->values[NOW] - a->values[NOW];
    return difference > 0 ? 1 : difference < 0 ? -1 : strcmp(a->row.name, b->row.name);
}

/* The part's samples by the time of the last interval; the array is the caller's to free. */
static const struct sample **part_sorted(const struct top *top, int part, size_t *count)
{
    const struct sample **sorted = calloc(top->samples.count + 1, sizeof(struct sample *));
    *count = 0;
    for (size_t i = 0; sorted && i < top->samples.count; i++)
        if (is_part(&top->samples.sample[i], part))
            sorted[(*count)++] = &top->samples.sample[i];
    if (sorted)
        qsort(sorted, *count, sizeof(struct sample *), compare);
    return sorted;
}

static void sample_draw(const struct top *top, const struct sample *sample)
{
    double calls = gained(sample->calls), ns = gained(sample->values);
    screen_line("%6.1f%% %11.0f %12.3f %12.0f  %s", ns / seconds(top) / 1e7, calls / seconds(top),
                calls > 0 ? ns / calls / 1000 : 0, sample->calls[NOW], sample->row.name);
}

/* At most `rows` rows. */
static void part_draw(const struct top *top, int part, int rows)
{
    size_t count;
    const struct sample **sorted = part_sorted(top, part, &count);
    if (count > 0) {
        screen_line("%s", "");
        screen_line("%7s %11s %12s %12s  %s", "time", "calls/s", "mean us", "calls",
                    parts[part].title);
    }
    for (size_t i = 0; sorted && i < count && (int)i < rows; i++)
        sample_draw(top, sorted[i]);
    free(sorted);
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
    size_t count;
    const struct sample **sorted = part_sorted(top, KERNELS, &count);
    printf("%.1f s: kernels %.0f/s %.1f%%, copies %.0f/s, HIP calls %.0f/s", seconds_since(top),
           kernels.calls / s, kernels.ns / s / 1e7, copies.calls / s, calls.calls / s);
    if (sorted && count > 0 && kernels.ns > 0)
        printf(", most: %s %.1f%%", sorted[0]->row.name,
               100 * gained(sorted[0]->values) / kernels.ns);
    putchar('\n');
    fflush(stdout);
    free(sorted);
}
