#include "stats.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const char *name, *counter; /* counter: NULL for durations */
    uint64_t calls, total_ns, min_ns, max_ns;
    double mean, m2;                    /* Welford's running mean and sum of squared distances */
    double value, value_min, value_max; /* counters: sum, extremes */
    bool additive;
};

struct stats {
    char title[64];
    struct entry *entries;
    size_t count, capacity;
    uint32_t *slots; /* hash -> entry index + 1 */
    size_t slot_count;
};

struct stats *stats_create(const char *title)
{
    struct stats *stats = calloc(1, sizeof *stats);
    if (stats)
        snprintf(stats->title, sizeof stats->title, "%s", title);
    return stats;
}

void stats_destroy(struct stats *stats)
{
    if (!stats)
        return;
    free(stats->entries);
    free(stats->slots);
    free(stats);
}

static size_t hash_of(const char *name, const char *counter)
{
    uint64_t bits = (uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u ^
                    (uint64_t)(uintptr_t)counter * 0xc2b2ae3d27d4eb4fu;
    return (size_t)(bits ^ bits >> 29);
}

static void slot_insert(struct stats *stats, size_t index)
{
    const struct entry *entry = &stats->entries[index];
    size_t at = hash_of(entry->name, entry->counter) % stats->slot_count;
    while (stats->slots[at])
        at = (at + 1) % stats->slot_count;
    stats->slots[at] = (uint32_t)index + 1;
}

static int grow(struct stats *stats)
{
    size_t capacity = stats->capacity ? stats->capacity * 2 : 64;
    struct entry *entries = realloc(stats->entries, capacity * sizeof *entries);
    if (!entries)
        return -ENOMEM;
    stats->entries = entries;
    uint32_t *slots = calloc(capacity * 2, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    free(stats->slots);
    stats->slots = slots;
    stats->slot_count = capacity * 2;
    stats->capacity = capacity;
    for (size_t i = 0; i < stats->count; i++)
        slot_insert(stats, i);
    return 0;
}

static struct entry *entry_find(struct stats *stats, const char *name, const char *counter)
{
    for (size_t probe = 0; stats->slot_count; probe++) {
        size_t at = (hash_of(name, counter) + probe) % stats->slot_count;
        if (!stats->slots[at])
            break;
        struct entry *entry = &stats->entries[stats->slots[at] - 1];
        if (entry->name == name && entry->counter == counter)
            return entry;
    }
    if (stats->count == stats->capacity && grow(stats) != 0)
        return NULL;
    struct entry *entry = &stats->entries[stats->count++];
    *entry = (struct entry){.name = name, .counter = counter, .min_ns = UINT64_MAX};
    slot_insert(stats, stats->count - 1);
    return entry;
}

int stats_add(struct stats *stats, const char *name, uint64_t duration_ns)
{
    struct entry *entry = entry_find(stats, name, NULL);
    if (!entry)
        return -ENOMEM;
    entry->calls++;
    entry->total_ns += duration_ns;
    if (duration_ns < entry->min_ns)
        entry->min_ns = duration_ns;
    if (duration_ns > entry->max_ns)
        entry->max_ns = duration_ns;
    double distance = (double)duration_ns - entry->mean;
    entry->mean += distance / (double)entry->calls;
    entry->m2 += distance * ((double)duration_ns - entry->mean);
    return 0;
}

/* Adds the counts, means and squared distances of another set. */
static void entry_merge(struct entry *entry, const struct entry *from)
{
    double calls = (double)(entry->calls + from->calls), distance = from->mean - entry->mean;
    entry->m2 +=
        from->m2 + distance * distance * (double)entry->calls * (double)from->calls / calls;
    entry->mean += distance * (double)from->calls / calls;
    entry->calls += from->calls;
    entry->total_ns += from->total_ns;
    if (from->min_ns < entry->min_ns)
        entry->min_ns = from->min_ns;
    if (from->max_ns > entry->max_ns)
        entry->max_ns = from->max_ns;
}

int stats_merge(struct stats *stats, const char *name, const struct stats *from)
{
    if (from->count == 0)
        return 0;
    struct entry *entry = entry_find(stats, name, NULL);
    if (!entry)
        return -ENOMEM;
    for (size_t i = 0; i < from->count; i++)
        entry_merge(entry, &from->entries[i]);
    return 0;
}

int stats_counter_add(struct stats *stats, const char *kernel, const char *counter, double value,
                      bool additive)
{
    struct entry *entry = entry_find(stats, kernel, counter);
    if (!entry)
        return -ENOMEM;
    if (entry->calls == 0 || value < entry->value_min)
        entry->value_min = value;
    if (entry->calls == 0 || value > entry->value_max)
        entry->value_max = value;
    entry->calls++;
    entry->value += value;
    entry->additive = additive;
    return 0;
}

static int by_total(const void *left, const void *right)
{
    const struct out_stats_row *a = left, *b = right;
    if (a->total_ns != b->total_ns)
        return a->total_ns < b->total_ns ? 1 : -1;
    return strcmp(a->name, b->name);
}

struct out_stats_row *stats_rows(const struct stats *stats, size_t *count)
{
    *count = 0;
    struct out_stats_row *rows = calloc(stats->count + 1, sizeof *rows);
    if (!rows)
        return NULL;
    uint64_t total_ns = 0;
    for (size_t i = 0; i < stats->count; i++)
        total_ns += stats->entries[i].total_ns;
    for (size_t i = 0; i < stats->count; i++) {
        const struct entry *entry = &stats->entries[i];
        rows[i] = (struct out_stats_row){
            .name = entry->name,
            .calls = entry->calls,
            .total_ns = entry->total_ns,
            .average_ns = entry->mean,
            .percentage = total_ns ? 100.0 * (double)entry->total_ns / (double)total_ns : 0,
            .min_ns = entry->min_ns,
            .max_ns = entry->max_ns,
            .standard_deviation_ns =
                entry->calls > 1 ? sqrt(entry->m2 / (double)(entry->calls - 1)) : 0,
        };
    }
    qsort(rows, stats->count, sizeof *rows, by_total);
    *count = stats->count;
    return rows;
}

static const struct stats_unit units[] = {
    {"usec", "us", 1e3, 3}, {"sec", "s", 1e9, 6}, {"msec", "ms", 1e6, 6}, {"nsec", "ns", 1, 0}};

const struct stats_unit *stats_unit_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return &units[0];
}

/* A row and where it is from; NULL where that needs no saying. */
struct shown {
    struct out_stats_row row;
    const char *from;
};

static void head_print(FILE *file, const struct stats_unit *unit, const char *title)
{
    char columns[4][24];
    static const char *const words[] = {"total", "mean", "min", "max"};
    for (int i = 0; i < 4; i++)
        snprintf(columns[i], sizeof columns[i], "%s %s", words[i], unit->short_name);
    fprintf(file, "\n%-9s %12s %12s %12s %12s %7s  %s\n", "calls", columns[0], columns[1],
            columns[2], columns[3], "%", title);
}

static void row_print(FILE *file, const struct stats_unit *unit, const struct shown *shown)
{
    const struct out_stats_row *row = &shown->row;
    double ns = unit->nanoseconds;
    int decimals = unit->decimals;
    fprintf(file, "%-9" PRIu64 " %12.*f %12.*f %12.*f %12.*f %7.2f  ", row->calls, decimals,
            (double)row->total_ns / ns, decimals, row->average_ns / ns, decimals,
            (double)row->min_ns / ns, decimals, (double)row->max_ns / ns, row->percentage);
    if (shown->from)
        fprintf(file, "%-18s ", shown->from);
    fprintf(file, "%s\n", row->name);
}

static void table_print(FILE *file, const struct stats_unit *unit, const char *title,
                        const struct shown *shown, size_t count, size_t rows_max)
{
    if (count == 0)
        return;
    head_print(file, unit, title);
    for (size_t i = 0; i < count && i < rows_max; i++)
        row_print(file, unit, &shown[i]);
    if (count > rows_max)
        fprintf(file, "... and %zu more\n", count - rows_max);
}

static int by_total_shown(const void *left, const void *right)
{
    return by_total(&((const struct shown *)left)->row, &((const struct shown *)right)->row);
}

/* Appends the rows of one table; false without memory. */
static bool shown_add(struct shown **shown, size_t *count, const struct stats *stats,
                      const char *from)
{
    size_t more;
    struct out_stats_row *rows = stats_rows(stats, &more);
    struct shown *grown = realloc(*shown, (*count + more + 1) * sizeof *grown);
    *shown = grown ? grown : *shown;
    for (size_t i = 0; rows && grown && i < more; i++)
        grown[(*count)++] = (struct shown){rows[i], from};
    free(rows);
    return rows && grown;
}

void stats_print(const struct stats *stats, FILE *file, size_t rows_max,
                 const struct stats_unit *unit)
{
    struct shown *shown = NULL;
    size_t count = 0;
    if (shown_add(&shown, &count, stats, NULL))
        table_print(file, unit, stats->title, shown, count, rows_max);
    free(shown);
}

void stats_together_print(const struct stats *const all[], const char *const names[], size_t count,
                          const char *title, FILE *file, size_t rows_max,
                          const struct stats_unit *unit)
{
    struct shown *shown = NULL;
    size_t rows = 0;
    double total_ns = 0;
    bool whole = true;
    for (size_t i = 0; i < count && whole; i++)
        whole = shown_add(&shown, &rows, all[i], names[i]);
    for (size_t i = 0; i < rows; i++)
        total_ns += (double)shown[i].row.total_ns;
    for (size_t i = 0; i < rows; i++)
        shown[i].row.percentage = total_ns > 0 ? 100 * (double)shown[i].row.total_ns / total_ns : 0;
    if (whole && rows > 0)
        qsort(shown, rows, sizeof *shown, by_total_shown);
    if (whole)
        table_print(file, unit, title, shown, rows, rows_max);
    free(shown);
}

void stats_counters_print(const struct stats *stats, FILE *file)
{
    if (!stats->count)
        return;
    fprintf(file, "\n%-9s %16s %14s %14s %14s  %-24s %s\n", "calls", "total", "mean", "min", "max",
            "counter", stats->title);
    for (size_t i = 0; i < stats->count; i++) {
        const struct entry *entry = &stats->entries[i];
        char total[32] = "";
        if (entry->additive)
            snprintf(total, sizeof total, "%.14g", entry->value);
        fprintf(file, "%-9" PRIu64 " %16s %14.9g %14.9g %14.9g  %-24s %s\n", entry->calls, total,
                entry->value / (double)entry->calls, entry->value_min, entry->value_max,
                entry->counter, entry->name);
    }
}
