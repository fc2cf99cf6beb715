#include "ranks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grid/grid.h"
#include "inputs.h"
#include "out/html/html.h"

struct span {
    int64_t begin_ns, end_ns; /* of the whole job; begin > end: nothing happened */
};

static struct span span_of(const struct merge_part *const *parts, unsigned count)
{
    struct span span = {INT64_MAX, INT64_MIN};
    for (unsigned i = 0; i < count; i++) {
        if (!parts[i]->last_ns)
            continue;
        span.begin_ns = parts[i]->first_ns < span.begin_ns ? parts[i]->first_ns : span.begin_ns;
        span.end_ns = parts[i]->last_ns > span.end_ns ? parts[i]->last_ns : span.end_ns;
    }
    return span;
}

/* In the order of ranks. */
static int by_rank(const void *left, const void *right)
{
    const struct merge_part *a = *(const struct merge_part *const *)left,
                            *b = *(const struct merge_part *const *)right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static void rank_print(struct grid *grid, const struct merge_part *part, int64_t begin_ns)
{
    const struct grid_value nothing = {.type = GRID_NULL};
    const struct grid_value values[] = {
        part->rank < 0 ? nothing : GRID_OF_INTEGER(part->rank),
        GRID_OF_INTEGER((int64_t)part->pid),
        GRID_OF_INTEGER((int64_t)part->calls),
        GRID_OF_INTEGER((int64_t)part->kernels),
        GRID_OF_REAL((double)(part->first_ns - begin_ns) / 1e6),
        GRID_OF_REAL((double)(part->last_ns - part->first_ns) / 1e6),
        GRID_OF_REAL((double)part->kernel_ns / 1e6),
        GRID_OF_REAL((double)part->shift_ns / 1e6),
        GRID_OF_TEXT(part->hostname),
        GRID_OF_TEXT(part->path)};
    grid_row(grid, values);
}

static void name_print(const struct merge_part *part, char name[80])
{
    if (part->rank >= 0)
        snprintf(name, 80, "rank %lld", (long long)part->rank);
    else
        snprintf(name, 80, "process %llu", (unsigned long long)part->pid);
}

void ranks_notes(const struct merge_part *const *parts, unsigned count,
                 void (*say)(void *data, const char *text), void *data)
{
    const struct span span = span_of(parts, count);
    double mean_ns = 0;
    char name[80], text[256];
    if (count < 2 || span.begin_ns > span.end_ns)
        return;
    for (unsigned i = 0; i < count; i++)
        mean_ns += (double)parts[i]->kernel_ns / count;
    for (unsigned i = 0; i < count; i++) {
        int64_t late_ns = parts[i]->first_ns - span.begin_ns;
        name_print(parts[i], name);
        if (parts[i]->last_ns && late_ns * 10 > span.end_ns - span.begin_ns) {
            snprintf(text, sizeof text, "%s began %.3f ms after the first", name,
                     (double)late_ns / 1e6);
            say(data, text);
        }
        if ((double)parts[i]->kernel_ns > 1.1 * mean_ns) {
            snprintf(text, sizeof text,
                     "%s spent %.2f times the mean in kernels (%.3f ms of %.3f ms)", name,
                     (double)parts[i]->kernel_ns / mean_ns, (double)parts[i]->kernel_ns / 1e6,
                     mean_ns / 1e6);
            say(data, text);
        }
    }
}

static void line_put(void *data, const char *text)
{
    (void)data;
    puts(text);
}

int ranks_print(const struct merge_part **parts, unsigned count)
{
    static const char *const names[] = {"rank",     "pid",       "calls",     "kernels",
                                        "begin ms", "lasted ms", "kernel ms", "clock ms",
                                        "host",     "recording"};
    static struct writer writer;
    if (output_begin(&writer, NULL) != 0)
        return EXIT_FAILED;
    qsort(parts, count, sizeof *parts, by_rank);
    const struct span span = span_of(parts, count);
    struct grid *grid = grid_begin(&writer, GRID_TABLE, names, 10);
    for (unsigned i = 0; grid && i < count; i++)
        rank_print(grid, parts[i], parts[i]->last_ns ? span.begin_ns : parts[i]->first_ns);
    if (grid)
        grid_end(grid);
    int status = output_end(&writer, NULL);
    ranks_notes(parts, count, line_put, NULL);
    return fflush(stdout) != 0 && errno != EPIPE ? EXIT_FAILED : status;
}

/* ---- a page */

/* A digit for each stretch: how much of it was spent, in 63rds. */
static void shares_put(char text[JOB_STRETCHES + 1], const float *spent_ns, uint32_t count,
                       double width_ns)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (uint32_t i = 0; i < count; i++) {
        double share = (double)spent_ns[i] / width_ns;
        int digit = share >= 1 ? 63 : (int)(share * 63 + 0.5);
        text[i] = digits[digit == 0 && share > 0 ? 1 : digit];
    }
    text[count] = 0;
}

enum { RANK_NUMBERS = 12, NUMBER_BYTES = 32 };

static void rank_put(struct out_sink *sink, const struct job *job, unsigned index, int64_t begin_ns)
{
    const struct merge_part *part = job_part(job, index);
    const struct job_activity *activity = job_activity(job, index);
    char n[RANK_NUMBERS][NUMBER_BYTES], drift[NUMBER_BYTES], busy[3][JOB_STRETCHES + 1];
    double width_ns = (double)((uint64_t)1 << activity->width_bits);
    bool is_empty = !part->last_ns;
    const int64_t numbers[RANK_NUMBERS] = {
        part->rank,
        (int64_t)part->pid,
        is_empty ? 0 : part->first_ns - begin_ns,
        part->last_ns - part->first_ns,
        (int64_t)part->calls,
        (int64_t)part->kernels,
        part->kernel_ns,
        part->shift_ns,
        (int64_t)((uint64_t)1 << activity->width_bits),
        is_empty ? 0 : activity->first * ((int64_t)1 << activity->width_bits) - begin_ns,
    };
    for (int i = 0; i < RANK_NUMBERS; i++)
        snprintf(n[i], NUMBER_BYTES, "%lld", (long long)numbers[i]);
    if (part->rank < 0)
        n[0][0] = 0;
    snprintf(drift, sizeof drift, "%.9g", part->drift);
    shares_put(busy[0], activity->kernels_ns, activity->count, width_ns);
    shares_put(busy[1], activity->calls_ns, activity->count, width_ns);
    shares_put(busy[2], activity->copies_ns, activity->count, width_ns);
    out_html_pairs(
        sink, "rank",
        (const char *const[]){
            "rank",       n[0],      "pid",         n[1],     "host",  part->hostname, "recording",
            part->path,   "begin",   n[2],          "lasted", n[3],    "calls",        n[4],
            "kernels",    n[5],      "kernel_time", n[6],     "shift", n[7],           "drift",
            drift,        "stretch", n[8],          "offset", n[9],    "busy_kernels", busy[0],
            "busy_calls", busy[1],   "busy_copies", busy[2],  NULL});
}

static void note_put(void *data, const char *text)
{
    out_html_pairs(data, "note", (const char *const[]){"text", text, NULL});
}

void ranks_page(struct job *job, struct out_sink *sink)
{
    unsigned count = job_part_count(job);
    const struct merge_part **parts = calloc(count + 1, sizeof *parts);
    if (!parts)
        return;
    job_activity_level(job);
    for (unsigned i = 0; i < count; i++)
        parts[i] = job_part(job, i);
    qsort(parts, count, sizeof *parts, by_rank);
    const struct span span = span_of(parts, count);
    for (unsigned i = 0; i < count; i++)
        rank_put(sink, job, i, span.begin_ns);
    ranks_notes(parts, count, note_put, sink);
    free(parts);
}
