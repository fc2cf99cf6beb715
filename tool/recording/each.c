/* The rows of a recording, one by one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cursors.h"

struct reading {
    struct recording *recording;
    const struct recording_ask *ask;
    recording_row *row;
    void *data;
};

static bool is_asked(const struct recording_ask *ask, const struct part *part)
{
    return !ask->part || ask->part == &part->shown;
}

static int agents_each(struct reading *reading, struct part *part)
{
    char error[256];
    sqlite3_stmt *select = recording_prepare(
        reading->recording, &part->shown,
        "SELECT id FROM \"rocpd_info_agent{S}\" ORDER BY absolute_index, id", error, sizeof error);
    int result = 0;
    while (select && result == 0 && sqlite3_step(select) == SQLITE_ROW) {
        const struct agent *agent = part_agent(part, sqlite3_column_int64(select, 0));
        if (agent->row.type[0])
            result = reading->row(reading->data, &part->shown, OUT_AGENT_INFO, &agent->row);
    }
    sqlite3_finalize(select);
    return result;
}

static int cursor_each(struct reading *reading, struct cursor *cursor)
{
    int result = 0;
    while (result == 0 && cursor_next(cursor))
        result = reading->row(reading->data, &cursor->part->shown, cursor->table, &cursor->row);
    return result;
}

static int each_as_written(struct reading *reading, struct part *part, char *error,
                           size_t error_size)
{
    int result = 0;
    for (int kind = 0; kind < SOURCE_COUNT && result == 0; kind++) {
        struct cursor cursor;
        result =
            cursor_open(&cursor, part, (enum source_kind)kind, reading->ask, error, error_size);
        if (result == 0)
            result = cursor_each(reading, &cursor);
        cursor_close(&cursor);
    }
    return result;
}

/* ---- by time: a heap of cursors, the earliest first; kinds as they are listed */

static bool is_before(const struct cursor *a, const struct cursor *b)
{
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->kind < b->kind;
}

static void sink(struct cursor **heap, unsigned count, unsigned at)
{
    for (unsigned child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && is_before(heap[child + 1], heap[child]);
        if (!is_before(heap[child], heap[at]))
            return;
        struct cursor *lower = heap[at];
        heap[at] = heap[child];
        heap[child] = lower;
    }
}

static int heap_each(struct reading *reading, struct cursor **heap, unsigned count)
{
    int result = 0;
    for (unsigned at = count / 2; at-- > 0;)
        sink(heap, count, at);
    while (count > 0 && result == 0) {
        struct cursor *first = heap[0];
        result = reading->row(reading->data, &first->part->shown, first->table, &first->row);
        if (!cursor_next(first))
            heap[0] = heap[--count];
        sink(heap, count, 0);
    }
    return result;
}

static int each_by_time(struct reading *reading, char *error, size_t error_size)
{
    unsigned room = reading->recording->part_count * SOURCE_COUNT, opened = 0, count = 0;
    struct cursor *cursors = calloc(room, sizeof *cursors);
    struct cursor **heap = calloc(room, sizeof(struct cursor *));
    int result = cursors && heap ? 0 : -ENOMEM;
    for (unsigned i = 0; i < room && result == 0; i++) {
        struct part *part = reading->recording->parts[i / SOURCE_COUNT];
        if (!is_asked(reading->ask, part))
            continue;
        struct cursor *cursor = &cursors[opened++];
        result = cursor_open(cursor, part, (enum source_kind)(i % SOURCE_COUNT), reading->ask,
                             error, error_size);
        if (result == 0 && cursor_next(cursor))
            heap[count++] = cursor;
    }
    if (result == 0)
        result = heap_each(reading, heap, count);
    for (unsigned i = 0; i < opened; i++)
        cursor_close(&cursors[i]);
    free(cursors);
    free(heap);
    return result;
}

int recording_each(struct recording *recording, const struct recording_ask *ask, recording_row *row,
                   void *data, char *error, size_t error_size)
{
    struct reading reading = {recording, ask, row, data};
    int result = 0;
    snprintf(error, error_size, "%s: out of memory", recording->path);
    for (unsigned i = 0; i < recording->part_count && result == 0; i++) {
        if (!is_asked(ask, recording->parts[i]))
            continue;
        if (ask->tables & 1ull << OUT_AGENT_INFO)
            result = agents_each(&reading, recording->parts[i]);
        if (ask->order == RECORDING_AS_WRITTEN && result == 0)
            result = each_as_written(&reading, recording->parts[i], error, error_size);
    }
    if (ask->order == RECORDING_BY_TIME && result == 0)
        result = each_by_time(&reading, error, error_size);
    return result;
}

void recording_span(struct recording *recording, int64_t *first_ns, int64_t *last_ns)
{
    static const char sql[] =
        "SELECT min(a), max(b) FROM (SELECT min(start) a, max(\"end\") b FROM \"rocpd_region{S}\" "
        "UNION ALL SELECT min(start), max(\"end\") FROM \"rocpd_kernel_dispatch{S}\" "
        "UNION ALL SELECT min(start), max(\"end\") FROM \"rocpd_memory_copy{S}\" "
        "UNION ALL SELECT min(start), max(\"end\") FROM \"rocpd_memory_allocate{S}\" "
        "UNION ALL SELECT min(timestamp), max(timestamp) FROM \"rocpd_sample{S}\")";
    *first_ns = INT64_MAX;
    *last_ns = INT64_MIN;
    for (unsigned i = 0; i < recording->part_count; i++) {
        char error[256];
        sqlite3_stmt *select =
            recording_prepare(recording, &recording->parts[i]->shown, sql, error, sizeof error);
        if (select && sqlite3_step(select) == SQLITE_ROW &&
            sqlite3_column_type(select, 0) != SQLITE_NULL) {
            int64_t first = sqlite3_column_int64(select, 0), last = sqlite3_column_int64(select, 1);
            *first_ns = first < *first_ns ? first : *first_ns;
            *last_ns = last > *last_ns ? last : *last_ns;
        }
        sqlite3_finalize(select);
    }
    if (*first_ns > *last_ns)
        *first_ns = *last_ns = 0;
}
