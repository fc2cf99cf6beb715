#include "results_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

static const struct {
    enum out_table_id table;
    const char *name;
} domains[] = {
    {OUT_KERNEL_STATS, "KERNEL_DISPATCH"},
    {OUT_COPY_STATS, "MEMORY_COPY"},
    {OUT_HIP_STATS, "HIP_API"},
    {OUT_HSA_STATS, "HSA_API"},
    {OUT_MARKER_STATS, "MARKER_API"},
    {OUT_RCCL_STATS, "RCCL_API"},
    {OUT_ROCDECODE_STATS, "ROCDECODE_API"},
    {OUT_ROCJPEG_STATS, "ROCJPEG_API"},
    {OUT_HIPFILE_STATS, "HIPFILE_API"},
    {OUT_ROCSHMEM_STATS, "ROCSHMEM_API"},
    {OUT_OMPT_STATS, "OMPT"},
    {OUT_ALLOCATION_STATS, "MEMORY_ALLOCATION"},
    {OUT_SCRATCH_STATS, "SCRATCH_MEMORY"},
    {OUT_KFD_STATS, "KFD"},
    {OUT_EVENT_STATS, "HIP_EVENT"},
};
enum { DOMAINS = sizeof domains / sizeof domains[0] };

static bool is_domain(enum out_table_id table)
{
    for (int i = 0; i < DOMAINS; i++)
        if (domains[i].table == table)
            return true;
    return false;
}

void results_stats_row(struct results_stats *stats, enum out_table_id table,
                       const struct out_stats_row *row)
{
    if (!is_domain(table))
        return;
    if (stats->count == stats->room) {
        size_t room = stats->room ? 2 * stats->room : 64;
        void *moved = realloc(stats->rows, room * sizeof *stats->rows);
        if (!moved)
            return;
        stats->rows = moved;
        stats->room = room;
    }
    double calls = (double)row->calls, sum = (double)row->total_ns;
    double variance = row->standard_deviation_ns * row->standard_deviation_ns;
    stats->rows[stats->count++] = (struct results_stats_row){
        .table = table,
        .name = strdup(row->name ? row->name : ""),
        .count = calls,
        .sum = sum,
        .square_sum = calls ? variance * (calls - 1) + sum * sum / calls : 0,
        .min = (double)row->min_ns,
        .max = (double)row->max_ns};
}

static void member_put(struct writer *writer, const char *name, double value)
{
    json_raw(writer, name);
    json_double(writer, value);
}

static void numbers_put(struct writer *writer, const struct results_stats_row *row)
{
    double mean = row->count > 0 ? row->sum / row->count : 0;
    double variance =
        row->count > 1 ? fmax(row->square_sum - row->sum * mean, 0) / (row->count - 1) : 0;
    json_raw(writer, "\"count\":");
    writer_u64(writer, (uint64_t)row->count);
    json_raw(writer, ",\"sum\":");
    writer_u64(writer, (uint64_t)row->sum);
    member_put(writer, ",\"sqr\":", row->square_sum);
    json_raw(writer, ",\"min\":");
    writer_u64(writer, (uint64_t)row->min);
    json_raw(writer, ",\"max\":");
    writer_u64(writer, (uint64_t)row->max);
    member_put(writer, ",\"mean\":", mean);
    member_put(writer, ",\"stddev\":", sqrt(variance));
    member_put(writer, ",\"variance\":", variance);
}

static struct results_stats_row total_of(const struct results_stats *stats, enum out_table_id table)
{
    struct results_stats_row total = {.min = HUGE_VAL};
    for (size_t i = 0; i < stats->count; i++) {
        const struct results_stats_row *row = &stats->rows[i];
        if (row->table != table)
            continue;
        total.count += row->count;
        total.sum += row->sum;
        total.square_sum += row->square_sum;
        total.min = fmin(total.min, row->min);
        total.max = fmax(total.max, row->max);
    }
    return total;
}

static void operations_put(const struct results_stats *stats, enum out_table_id table,
                           struct writer *writer)
{
    bool is_first = true;
    json_raw(writer, ",\"operations\":[");
    for (size_t i = 0; i < stats->count; i++) {
        if (stats->rows[i].table != table)
            continue;
        json_raw(writer, is_first ? "{\"key\":" : ",{\"key\":");
        json_text(writer, stats->rows[i].name ? stats->rows[i].name : "");
        json_raw(writer, ",\"value\":{");
        numbers_put(writer, &stats->rows[i]);
        json_raw(writer, "}}");
        is_first = false;
    }
    json_raw(writer, "]");
}

void results_stats_put(const struct results_stats *stats, struct writer *writer)
{
    bool is_first = true;
    json_raw(writer, ",\"summary\":[");
    for (int i = 0; i < DOMAINS; i++) {
        struct results_stats_row total = total_of(stats, domains[i].table);
        if (total.count == 0)
            continue;
        json_raw(writer, is_first ? "{\"domain\":" : ",{\"domain\":");
        json_text(writer, domains[i].name);
        json_raw(writer, ",\"stats\":{");
        numbers_put(writer, &total);
        operations_put(stats, domains[i].table, writer);
        json_raw(writer, "}}");
        is_first = false;
    }
    json_raw(writer, "]");
}

void results_stats_drop(struct results_stats *stats)
{
    for (size_t i = 0; i < stats->count; i++)
        free(stats->rows[i].name);
    free(stats->rows);
    *stats = (struct results_stats){0};
}
