#include "samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool samples_begin(struct samples *samples, unsigned runs)
{
    *samples = (struct samples){.runs = runs, .wall_ns = calloc(runs, sizeof(double))};
    return samples->wall_ns != NULL;
}

static void sample_free(struct sample *sample)
{
    free((char *)(uintptr_t)sample->row.kind);
    free((char *)(uintptr_t)sample->row.name);
    free(sample->values);
    free(sample->calls);
}

void samples_free(struct samples *samples)
{
    for (size_t i = 0; i < samples->count; i++)
        sample_free(&samples->sample[i]);
    free(samples->sample);
    free(samples->wall_ns);
    *samples = (struct samples){0};
}

static bool same(const struct snapshot_row *a, const struct snapshot_row *b)
{
    return a->is_counter == b->is_counter && strcmp(a->name, b->name) == 0 &&
           strcmp(a->kind, b->kind) == 0;
}

static struct sample *sample_add(struct samples *samples, const struct snapshot_row *row)
{
    if (samples->count == samples->room) {
        size_t room = samples->room ? 2 * samples->room : 64;
        struct sample *more = realloc(samples->sample, room * sizeof *more);
        if (!more)
            return NULL;
        samples->sample = more;
        samples->room = room;
    }
    struct sample *sample = &samples->sample[samples->count];
    *sample = (struct sample){*row, calloc(samples->runs, sizeof(double)),
                              calloc(samples->runs, sizeof(double))};
    sample->row.kind = strdup(row->kind);
    sample->row.name = strdup(row->name);
    if (sample->values && sample->calls && sample->row.kind && sample->row.name) {
        samples->count++;
        return sample;
    }
    sample_free(sample);
    return NULL;
}

static struct sample *sample_of(struct samples *samples, const struct snapshot_row *row)
{
    for (size_t i = 0; i < samples->count; i++)
        if (same(&samples->sample[i].row, row))
            return &samples->sample[i];
    return sample_add(samples, row);
}

void samples_add(struct samples *samples, unsigned run, const struct snapshot_row *row)
{
    struct sample *sample = sample_of(samples, row);
    if (!sample) {
        samples->lost = true;
        return;
    }
    double before = sample->calls[run], now = (double)row->calls;
    sample->calls[run] += now;
    if (!row->is_counter)
        sample->values[run] += (double)row->total_ns;
    else if (row->additive)
        sample->values[run] += row->sum;
    else if (before + now > 0)
        sample->values[run] = (sample->values[run] * before + row->sum) / (before + now);
}

struct samples_figures samples_figures(const double *values, unsigned runs)
{
    struct samples_figures figures = {0, 0, runs ? values[0] : 0, runs ? values[0] : 0};
    double squares = 0;
    for (unsigned i = 0; i < runs; i++) {
        double distance = values[i] - figures.mean;
        figures.mean += distance / (i + 1);
        squares += distance * (values[i] - figures.mean);
        figures.minimum = fmin(figures.minimum, values[i]);
        figures.maximum = fmax(figures.maximum, values[i]);
    }
    figures.deviation = runs > 1 ? sqrt(squares / (runs - 1)) : 0;
    return figures;
}

/* Of kinds of times: kernels stand first, as ranked by what is the same in every run. */
static int rank(const char *kind)
{
    return strcmp(kind, "KERNEL_MODELLED") == 0 ? 0 : strcmp(kind, "KERNEL_DISPATCH") == 0 ? 1 : 2;
}

/* Of qsort()'s comparison: single thread. */
static unsigned sorted_runs;

static int compare(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    if (a->row.is_counter != b->row.is_counter)
        return a->row.is_counter - b->row.is_counter;
    int kinds = strcmp(a->row.kind, b->row.kind);
    if (kinds != 0 && !a->row.is_counter && rank(a->row.kind) != rank(b->row.kind))
        return rank(a->row.kind) - rank(b->row.kind);
    if (kinds != 0)
        return kinds;
    double difference =
        samples_figures(b->values, sorted_runs).mean - samples_figures(a->values, sorted_runs).mean;
    return difference > 0 ? 1 : difference < 0 ? -1 : strcmp(a->row.name, b->row.name);
}

void samples_sort(struct samples *samples, unsigned runs)
{
    sorted_runs = runs;
    if (samples->count > 0)
        qsort(samples->sample, samples->count, sizeof *samples->sample, compare);
}
