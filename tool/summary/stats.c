#include "stats.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

struct entry {
    const char *name, *counter; /* counter: NULL for durations */
    uint64_t calls, total_ns, min_ns, max_ns;
    uint64_t modelled_ns;
    unsigned __int128 squares;          /* sum of the durations'; at most, where it would wrap */
    double value, value_min, value_max; /* counters: sum, extremes */
    bool additive;
};

struct stats {
    char title[64];
    struct entry *entries;
    size_t count, capacity;
    uint32_t *slots; /* hash -> entry index + 1 */
    size_t slot_count;
    struct {
        const char *counter;
        enum stats_mark mark;
    } * marks; /* of counters whose values are not what they seem */
    size_t mark_count;
};

static enum stats_mark stats_mark(const struct stats *stats, const char *counter)
{
    for (size_t i = 0; i < stats->mark_count; i++)
        if (stats->marks[i].counter == counter)
            return stats->marks[i].mark;
    return STATS_COUNTED;
}

void stats_mark_put(struct stats *stats, const char *counter, enum stats_mark mark)
{
    if (mark == STATS_COUNTED || stats_mark(stats, counter) != STATS_COUNTED)
        return;
    void *grown = realloc(stats->marks, (stats->mark_count + 1) * sizeof *stats->marks);
    if (!grown)
        return;
    stats->marks = grown;
    stats->marks[stats->mark_count].counter = counter;
    stats->marks[stats->mark_count++].mark = mark;
}

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
    free(stats->marks);
    free(stats);
}

bool stats_is_empty(const struct stats *stats)
{
    return !stats || stats->count == 0;
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

/* In whole numbers, so that the order of records does not matter: those of a recording and of what
 * is converted from it later differ. */
static void squares_add(struct entry *entry, unsigned __int128 squares)
{
    if (__builtin_add_overflow(entry->squares, squares, &entry->squares))
        entry->squares = ~(unsigned __int128)0;
}

static double average_of(const struct entry *entry)
{
    return entry->calls ? (double)entry->total_ns / (double)entry->calls : 0;
}

/* The sum of squares less that of as many means, of which only the last division is not exact. */
static double deviation_of(const struct entry *entry)
{
    if (entry->calls < 2)
        return 0;
    const unsigned __int128 total = (unsigned __int128)entry->total_ns * entry->total_ns;
    const unsigned __int128 of_mean = total / entry->calls;
    const double rest = (double)(uint64_t)(total % entry->calls) / (double)entry->calls;
    const double distances =
        entry->squares > of_mean ? (double)(entry->squares - of_mean) - rest : 0;
    return distances > 0 ? sqrt(distances / (double)(entry->calls - 1)) : 0;
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
    squares_add(entry, (unsigned __int128)duration_ns * duration_ns);
    return 0;
}

void stats_modelled_add(struct stats *stats, const char *name, uint64_t modelled_ns)
{
    struct entry *entry = modelled_ns ? entry_find(stats, name, NULL) : NULL;
    if (entry)
        entry->modelled_ns += modelled_ns;
}

/* Adds the counts and sums of another set. */
static void entry_merge(struct entry *entry, const struct entry *from)
{
    squares_add(entry, from->squares);
    entry->calls += from->calls;
    entry->total_ns += from->total_ns;
    entry->modelled_ns += from->modelled_ns;
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

static int by_wall_total(const void *left, const void *right)
{
    const struct out_stats_row *a = left, *b = right;
    if (a->total_ns != b->total_ns)
        return a->total_ns < b->total_ns ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* Modelled time ranks, where a device has it. */
static int by_total(const void *left, const void *right)
{
    const struct out_stats_row *a = left, *b = right;
    if (a->modelled_ns != b->modelled_ns)
        return a->modelled_ns < b->modelled_ns ? 1 : -1;
    return by_wall_total(left, right);
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
            .modelled_ns = entry->modelled_ns,
            .average_ns = average_of(entry),
            .percentage = total_ns ? 100.0 * (double)entry->total_ns / (double)total_ns : 0,
            .min_ns = entry->min_ns,
            .max_ns = entry->max_ns,
            .standard_deviation_ns = deviation_of(entry),
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

/* The columns of one table of durations: numbers by their titles, in the unit. */
struct layout {
    const struct stats_unit *unit;
    const char *title;
    bool has_from;        /* a column says where a row is from */
    uint64_t modelled_ns; /* sum; 0: no column of it, and none of shares in it */
};

enum { CELL_BYTES = 64, COLUMNS_MAX = 10 };

static struct table *durations_table(const struct layout *layout)
{
    static const char *const words[] = {"total", "mean", "min", "max"};
    char titles[5][24];
    const char *all[COLUMNS_MAX];
    size_t count = 0, times;
    all[count++] = "calls";
    snprintf(titles[4], sizeof titles[4], "modelled %s", layout->unit->short_name);
    if (layout->modelled_ns) {
        all[count++] = titles[4];
        all[count++] = "% of it";
    }
    times = count;
    for (size_t i = 0; i < 4; i++) {
        snprintf(titles[i], sizeof titles[i], "%s %s", words[i], layout->unit->short_name);
        all[count++] = titles[i];
    }
    all[count++] = "%";
    if (layout->has_from)
        all[count++] = "kind";
    all[count++] = layout->title;
    struct table *table = table_create(all, count);
    table_spare(table, times + 1);
    table_spare(table, times + 3);
    table_spare(table, times + 2);
    return table;
}

static void duration_put(struct table *table, const struct layout *layout,
                         const struct shown *shown)
{
    const struct out_stats_row *row = &shown->row;
    const double times_ns[] = {(double)row->total_ns, row->average_ns, (double)row->min_ns,
                               (double)row->max_ns};
    const double unit_ns = layout->unit->nanoseconds;
    char numbers[8][CELL_BYTES];
    const char *cells[COLUMNS_MAX];
    size_t count = 0;
    snprintf(numbers[count++], CELL_BYTES, "%" PRIu64, row->calls);
    if (layout->modelled_ns) {
        snprintf(numbers[count++], CELL_BYTES, "%.*f", layout->unit->decimals,
                 (double)row->modelled_ns / unit_ns);
        snprintf(numbers[count++], CELL_BYTES, "%.2f",
                 100 * (double)row->modelled_ns / (double)layout->modelled_ns);
    }
    for (size_t i = 0; i < 4; i++)
        snprintf(numbers[count++], CELL_BYTES, "%.*f", layout->unit->decimals,
                 times_ns[i] / unit_ns);
    snprintf(numbers[count++], CELL_BYTES, "%.2f", row->percentage);
    for (size_t i = 0; i < count; i++)
        cells[i] = numbers[i];
    if (shown->from)
        cells[count++] = shown->from;
    cells[count] = row->name;
    table_row(table, cells);
}

static void table_finish(struct table *table, FILE *file, size_t count, size_t rows_max)
{
    const struct table_style style = table_style_of(file);
    table_print(table, file, &style);
    table_destroy(table);
    if (count > rows_max)
        fprintf(file, "... and %zu more\n", count - rows_max);
}

static void durations_print(FILE *file, const struct stats_unit *unit, const char *title,
                            const struct shown *shown, size_t count, size_t rows_max)
{
    if (count == 0)
        return;
    struct layout layout = {unit, title, shown[0].from != NULL, 0};
    /* Calls beside kernels have no modelled time to be compared by. */
    for (size_t i = 0; i < count && !layout.has_from; i++)
        layout.modelled_ns += shown[i].row.modelled_ns;
    struct table *table = durations_table(&layout);
    for (size_t i = 0; i < count && i < rows_max; i++)
        duration_put(table, &layout, &shown[i]);
    table_finish(table, file, count, rows_max);
}

static int by_total_shown(const void *left, const void *right)
{
    return by_wall_total(&((const struct shown *)left)->row, &((const struct shown *)right)->row);
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
        durations_print(file, unit, stats->title, shown, count, rows_max);
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
        durations_print(file, unit, title, shown, rows, rows_max);
    free(shown);
}

void stats_counters_each(const struct stats *stats,
                         void (*each)(const struct stats_counter *counter, void *data), void *data)
{
    for (size_t i = 0; stats && i < stats->count; i++) {
        const struct entry *entry = &stats->entries[i];
        each(&(struct stats_counter){entry->name, entry->counter, entry->calls, entry->value,
                                     entry->additive},
             data);
    }
}

/* ---- counters */

enum { VALUE_BYTES = 64 };

static void value_text(char text[VALUE_BYTES], double value)
{
    bool is_whole = value == (double)(int64_t)value && value < 1e15 && value > -1e15;
    snprintf(text, VALUE_BYTES, is_whole ? "%.0f" : "%.6g", value);
}

/* The counter's name and what its values are worth. */
static void counter_title(const struct stats *stats, const char *counter, char title[VALUE_BYTES])
{
    const char *mark = stats_mark(stats, counter) == STATS_APPROXIMATE ? "~" : "";
    snprintf(title, VALUE_BYTES, "%s%s", mark, counter);
}

/* One counter: all there is to say about it. */
static void counter_print(const struct stats *stats, FILE *file)
{
    char counter[VALUE_BYTES];
    const char *const titles[] = {"calls", "total", "mean", "min", "max", "counter", stats->title};
    struct table *table = table_create(titles, sizeof titles / sizeof titles[0]);
    counter_title(stats, stats->entries[0].counter, counter);
    for (size_t i = 0; i < stats->count; i++) {
        const struct entry *entry = &stats->entries[i];
        char calls[VALUE_BYTES], values[4][VALUE_BYTES] = {""};
        const double numbers[] = {entry->value, entry->value / (double)entry->calls,
                                  entry->value_min, entry->value_max};
        bool counts = stats_mark(stats, entry->counter) != STATS_NOT_COUNTED;
        snprintf(calls, sizeof calls, "%" PRIu64, entry->calls);
        for (int value = entry->additive ? 0 : 1; value < 4; value++)
            if (counts)
                value_text(values[value], numbers[value]);
            else
                strcpy(values[value], "-");
        const char *const cells[] = {calls,     values[0], values[1],  values[2],
                                     values[3], counter,   entry->name};
        table_row(table, cells);
    }
    table_finish(table, file, 0, 0);
}

/* Texts of the entries, each once, in the order in which they came. */
static size_t texts_collect(const struct stats *stats, bool counters, const char **texts)
{
    size_t count = 0;
    for (size_t i = 0; i < stats->count; i++) {
        const struct entry *entry = &stats->entries[i];
        const char *text = counters ? entry->counter : entry->name;
        size_t at = 0;
        while (at < count && texts[at] != text)
            at++;
        texts[at] = text;
        count += at == count;
    }
    return count;
}

static const struct entry *entry_look(const struct stats *stats, const char *name,
                                      const char *counter)
{
    for (size_t probe = 0;; probe++) {
        size_t at = (hash_of(name, counter) + probe) % stats->slot_count;
        if (!stats->slots[at])
            return NULL;
        const struct entry *entry = &stats->entries[stats->slots[at] - 1];
        if (entry->name == name && entry->counter == counter)
            return entry;
    }
}

/* Kernels by some of the counters. */
static void block_print(const struct stats *stats, FILE *file, const char *const kernels[],
                        size_t kernel_count, const char *const counters[], size_t count)
{
    char cells[TABLE_COLUMNS_MAX][VALUE_BYTES];
    const char *texts[TABLE_COLUMNS_MAX] = {"calls"};
    for (size_t i = 0; i < count; i++) {
        counter_title(stats, counters[i], cells[i]);
        texts[1 + i] = cells[i];
    }
    texts[1 + count] = stats->title;
    struct table *table = table_create(texts, count + 2);
    for (size_t row = 0; row < kernel_count; row++) {
        uint64_t calls = 0;
        for (size_t i = 0; i < count; i++) {
            const struct entry *entry = entry_look(stats, kernels[row], counters[i]);
            strcpy(cells[1 + i], "");
            if (entry && stats_mark(stats, counters[i]) == STATS_NOT_COUNTED)
                strcpy(cells[1 + i], "-");
            else if (entry)
                value_text(cells[1 + i], entry->value / (double)entry->calls);
            calls = entry && entry->calls > calls ? entry->calls : calls;
            texts[1 + i] = cells[1 + i];
        }
        snprintf(cells[0], VALUE_BYTES, "%" PRIu64, calls);
        texts[0] = cells[0];
        texts[1 + count] = kernels[row];
        if (calls > 0)
            table_row(table, texts);
    }
    table_finish(table, file, 0, 0);
}

/* How many of the counters fit beside each other, with a kernel's name. */
static size_t block_size(const char *const counters[], size_t count, size_t width)
{
    enum { CALLS_WIDTH = 11, NAME_WIDTH = 32, VALUE_WIDTH = 12, BLOCK_MAX = TABLE_COLUMNS_MAX - 2 };
    size_t used = CALLS_WIDTH + NAME_WIDTH, fitting = 0;
    while (fitting < count && fitting < BLOCK_MAX) {
        size_t length = strlen(counters[fitting]) + 1;
        used += 2 + (length > VALUE_WIDTH ? length : VALUE_WIDTH);
        if (width > 0 && used > width && fitting > 0)
            break;
        fitting++;
    }
    return fitting;
}

static void marks_explain(const struct stats *stats, FILE *file, const char *const counters[],
                          size_t count)
{
    bool approximate = false, not_counted = false;
    for (size_t i = 0; i < count; i++) {
        approximate |= stats_mark(stats, counters[i]) == STATS_APPROXIMATE;
        not_counted |= stats_mark(stats, counters[i]) == STATS_NOT_COUNTED;
    }
    if (approximate)
        fputs("~ by the device's own word an approximation\n", file);
    if (not_counted)
        fputs("- the device says that it does not count this (files have 0)\n", file);
}

void stats_counters_print(const struct stats *stats, FILE *file)
{
    if (!stats->count)
        return;
    const char **kernels = calloc(2 * stats->count, sizeof *kernels);
    const char **counters = kernels + stats->count;
    if (!kernels)
        return;
    size_t kernel_count = texts_collect(stats, false, kernels);
    size_t count = texts_collect(stats, true, counters), width = table_style_of(file).width;
    if (count == 1)
        counter_print(stats, file);
    else
        fputs("\ncounters: mean of a launch\n", file);
    for (size_t at = 0; count > 1 && at < count;) {
        size_t size = block_size(counters + at, count - at, width);
        block_print(stats, file, kernels, kernel_count, counters + at, size);
        at += size;
    }
    marks_explain(stats, file, counters, count);
    free(kernels);
}
