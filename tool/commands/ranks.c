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

/* Every kernel of the job has a time by its device's own model, which is what tells ranks apart
 * then: other times are of something else. */
static bool is_modelled(const struct merge_part *const *parts, unsigned count)
{
    uint64_t kernels = 0;
    for (unsigned i = 0; i < count; i++) {
        if (parts[i]->modelled != parts[i]->kernels)
            return false;
        kernels += parts[i]->kernels;
    }
    return kernels > 0;
}

enum { COLUMN_MODELLED = 7, COLUMNS = 11 };

/* The columns behind that of modelled times move up where there are none. */
#define MODELLED_LEAVE(list)                                                                       \
    memmove(&(list)[COLUMN_MODELLED], &(list)[COLUMN_MODELLED + 1],                                \
            (COLUMNS - COLUMN_MODELLED - 1) * sizeof(list)[0])

static void rank_print(struct grid *grid, const struct merge_part *part, int64_t begin_ns,
                       bool has_modelled)
{
    const struct grid_value nothing = {.type = GRID_NULL};
    struct grid_value values[COLUMNS] = {
        part->rank < 0 ? nothing : GRID_OF_INTEGER(part->rank),
        GRID_OF_INTEGER((int64_t)part->pid),
        GRID_OF_INTEGER((int64_t)part->calls),
        GRID_OF_INTEGER((int64_t)part->kernels),
        GRID_OF_REAL((double)(part->first_ns - begin_ns) / 1e6),
        GRID_OF_REAL((double)(part->last_ns - part->first_ns) / 1e6),
        GRID_OF_REAL((double)part->kernel_ns / 1e6),
        [COLUMN_MODELLED] = GRID_OF_REAL((double)part->modelled_ns / 1e6),
        GRID_OF_REAL((double)part->shift_ns / 1e6),
        GRID_OF_TEXT(part->hostname),
        GRID_OF_TEXT(part->path)};
    if (!has_modelled)
        MODELLED_LEAVE(values);
    grid_row(grid, values);
}

static void name_print(const struct merge_part *part, char name[80])
{
    if (part->rank >= 0)
        snprintf(name, 80, "rank %lld", (long long)part->rank);
    else
        snprintf(name, 80, "process %llu", (unsigned long long)part->pid);
}

/* Ranks that the job has by its processes' word, and no recording: "ranks 2, 5-7 of 8 ...". Parts
 * come by their ranks. */
static void missing_note(const struct merge_part *const *parts, unsigned count,
                         void (*say)(void *data, const char *text), void *data)
{
    char text[256], list[160] = "";
    int64_t ranks = 0, next = 0, missing = 0;
    for (unsigned i = 0; i < count; i++)
        ranks = parts[i]->ranks > ranks ? parts[i]->ranks : ranks;
    for (unsigned i = 0; i <= count; i++) {
        int64_t rank = i < count && parts[i]->rank < ranks ? parts[i]->rank : ranks;
        size_t used = strlen(list);
        if (rank > next && used + 48 < sizeof list)
            snprintf(list + used, sizeof list - used, rank > next + 1 ? "%s%lld-%lld" : "%s%lld",
                     used ? ", " : "", (long long)next, (long long)rank - 1);
        else if (rank > next && list[used - 1] != '.')
            strcat(list, ", ...");
        missing += rank > next ? rank - next : 0;
        next = rank >= next ? rank + 1 : next;
    }
    if (missing == 0)
        return;
    snprintf(text, sizeof text,
             "no recording of rank%s %s of %lld: numbers are those of the others",
             missing > 1 ? "s" : "", list, (long long)ranks);
    say(data, text);
}

void ranks_notes(const struct merge_part *const *parts, unsigned count,
                 void (*say)(void *data, const char *text), void *data)
{
    const struct span span = span_of(parts, count);
    const bool has_modelled = is_modelled(parts, count);
    double mean_ns = 0;
    char name[80], text[256];
    missing_note(parts, count, say, data);
    if (count < 2 || span.begin_ns > span.end_ns)
        return;
    for (unsigned i = 0; i < count; i++)
        mean_ns += (double)(has_modelled ? parts[i]->modelled_ns : parts[i]->kernel_ns) / count;
    for (unsigned i = 0; i < count; i++) {
        double kernel_ns = (double)(has_modelled ? parts[i]->modelled_ns : parts[i]->kernel_ns);
        int64_t late_ns = parts[i]->first_ns - span.begin_ns;
        name_print(parts[i], name);
        if (parts[i]->last_ns && late_ns * 10 > span.end_ns - span.begin_ns) {
            snprintf(text, sizeof text, "%s began %.3f ms after the first", name,
                     (double)late_ns / 1e6);
            say(data, text);
        }
        if (kernel_ns > 1.1 * mean_ns) {
            snprintf(text, sizeof text,
                     "%s spent %.2f times the mean in kernels (%.3f ms of %.3f ms%s)", name,
                     kernel_ns / mean_ns, kernel_ns / 1e6, mean_ns / 1e6,
                     has_modelled ? ", modelled" : "");
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
    const char *names[COLUMNS] = {"rank",     "pid",       "calls",     "kernels",
                                  "begin ms", "lasted ms", "kernel ms", "modelled ms",
                                  "clock ms", "host",      "recording"};
    const bool has_modelled = is_modelled((const struct merge_part *const *)parts, count);
    static struct writer writer;
    if (output_begin(&writer, NULL) != 0)
        return EXIT_FAILED;
    qsort(parts, count, sizeof *parts, by_rank);
    const struct span span = span_of(parts, count);
    if (!has_modelled)
        MODELLED_LEAVE(names);
    struct grid *grid = grid_begin(&writer, GRID_TABLE, names, COLUMNS - !has_modelled);
    for (unsigned i = 0; grid && i < count; i++)
        rank_print(grid, parts[i], parts[i]->last_ns ? span.begin_ns : parts[i]->first_ns,
                   has_modelled);
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

enum { RANK_NUMBERS = 12, NUMBER_MODELLED = 10, NUMBER_BYTES = 32 };

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
        [NUMBER_MODELLED] = part->modelled == part->kernels ? part->modelled_ns : 0,
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
            "rank",         n[0],        "pid",         n[1],           "host",
            part->hostname, "recording", part->path,    "modelled",     n[NUMBER_MODELLED],
            "begin",        n[2],        "lasted",      n[3],           "calls",
            n[4],           "kernels",   n[5],          "kernel_time",  n[6],
            "shift",        n[7],        "drift",       drift,          "stretch",
            n[8],           "offset",    n[9],          "busy_kernels", busy[0],
            "busy_calls",   busy[1],     "busy_copies", busy[2],        NULL});
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
