#include "stat_print.h"

#include <string.h>

#include "avail/agent_json.h"

static void relative_put(const struct samples_figures *figures, char text[16])
{
    double percent = figures->mean != 0 ? 100 * figures->deviation / figures->mean : 0;
    snprintf(text, 16, "%.2f%%", percent < 0 ? -percent : percent);
}

static void line_print(FILE *file, const struct samples_figures *figures, double unit,
                       const char *format, double calls, const char *name)
{
    char relative[16];
    const double numbers[] = {figures->mean, figures->deviation, figures->minimum,
                              figures->maximum};
    relative_put(figures, relative);
    for (int i = 0; i < 4; i++) {
        char number[32];
        snprintf(number, sizeof number, format, numbers[i] / unit);
        fprintf(file, "%14s", number);
        if (i == 1)
            fprintf(file, " %9s", relative);
    }
    if (calls >= 0)
        fprintf(file, " %11.6g", calls);
    fprintf(file, "  %s\n", name);
}

static void head_print(FILE *file, const char *unit, const char *name)
{
    fprintf(file, "\n%14s%14s %9s%14s%14s %11s  %s\n", unit, "deviation", "%", "min", "max",
            "calls", name);
}

static void row_print(const struct sample *sample, unsigned runs, FILE *file)
{
    struct samples_figures figures = samples_figures(sample->values, runs);
    struct samples_figures calls = samples_figures(sample->calls, runs);
    if (sample->row.is_counter)
        line_print(file, &figures, 1, "%.10g", calls.mean, sample->row.name);
    else
        line_print(file, &figures, 1000, "%.3f", calls.mean, sample->row.name);
}

void stat_print(const struct stat_report *report, FILE *file)
{
    const struct sample *before = NULL;
    fprintf(file, "crocprof stat: %u run%s of", report->runs, report->runs == 1 ? "" : "s");
    for (char *const *word = report->program; *word; word++)
        fprintf(file, " %s", *word);
    if (report->warmups > 0)
        fprintf(file, " (after %u that do not count)", report->warmups);
    head_print(file, "mean us", "wall time of a run, with the profiler");
    struct samples_figures wall = samples_figures(report->samples->wall_ns, report->runs);
    line_print(file, &wall, 1000, "%.3f", 1, "");
    for (size_t i = 0; i < report->samples->count; i++) {
        const struct sample *sample = &report->samples->sample[i];
        bool counter = sample->row.is_counter;
        if (!before || strcmp(before->row.kind, sample->row.kind) != 0)
            head_print(file, counter ? "mean" : "mean us", sample->row.kind);
        row_print(sample, report->runs, file);
        before = sample;
    }
}

/* ---- JSON */

static void figures_json(FILE *file, const char *name, const double *values, unsigned runs)
{
    struct samples_figures figures = samples_figures(values, runs);
    fprintf(file,
            ", \"%s\": {\"mean\": %.17g, \"deviation\": %.17g, \"min\": %.17g, \"max\": %.17g",
            name, figures.mean, figures.deviation, figures.minimum, figures.maximum);
    fputs(", \"values\": [", file);
    for (unsigned i = 0; i < runs; i++)
        fprintf(file, "%s%.17g", i ? ", " : "", values[i]);
    fputs("]}", file);
}

static void text_json(FILE *file, const char *before, const char *name, const char *text)
{
    fprintf(file, "%s\"%s\": ", before, name);
    json_text_print(file, text);
}

static void samples_json(const struct stat_report *report, FILE *file, bool counters)
{
    const char *before = "\n  ";
    for (size_t i = 0; i < report->samples->count; i++) {
        const struct sample *sample = &report->samples->sample[i];
        if (sample->row.is_counter != counters)
            continue;
        fputs(before, file);
        text_json(file, "{", counters ? "counter" : "domain", sample->row.kind);
        text_json(file, ", ", counters ? "kernel" : "name", sample->row.name);
        figures_json(file, "calls", sample->calls, report->runs);
        figures_json(file, counters ? "value" : "total_ns", sample->values, report->runs);
        fputc('}', file);
        before = ",\n  ";
    }
}

void stat_json(const struct stat_report *report, FILE *file)
{
    fputs("{\"program\": [", file);
    for (char *const *word = report->program; *word; word++) {
        fputs(word == report->program ? "" : ", ", file);
        json_text_print(file, *word);
    }
    fprintf(file, "], \"runs\": %u, \"warmups\": %u", report->runs, report->warmups);
    figures_json(file, "wall_ns", report->samples->wall_ns, report->runs);
    fputs(",\n \"times\": [", file);
    samples_json(report, file, false);
    fputs("],\n \"counters\": [", file);
    samples_json(report, file, true);
    fputs("]}\n", file);
}
