#include "cursors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The first columns are those of the event: category, its own id, what it is in, the tool's id;
 * then come the kind's.
 *
 * Events stand in nearly the order of their records: looking them up is going on by one. Values of
 * counters are found by their event, for which SQLite makes an index of its own, on disk if need
 * be.
 */
#define EVENT "E.category_id, E.stack_id, E.parent_stack_id, E.correlation_id, "
#define DISPATCH                                                                                   \
    "K.pid, K.tid, K.agent_id, K.kernel_id, K.dispatch_id, K.queue_id, K.stream_id, K.start, "     \
    "K.\"end\", K.private_segment_size, K.group_segment_size, K.workgroup_size_x, "                \
    "K.workgroup_size_y, K.workgroup_size_z, K.grid_size_x, K.grid_size_y, K.grid_size_z, "        \
    "K.region_name_id"
#define MESSAGE                                                                                    \
    "CASE WHEN length(E.extdata) > 2 AND json_valid(E.extdata) THEN json_extract(E.extdata, "      \
    "'$.message') END"

#define SPANS (((1ull << (OUT_OMPT + 1)) - 1) | 1ull << OUT_KFD)

static const struct {
    const char *table, *alias, *start, *end; /* of the records */
    const char *columns, *joins;
    uint64_t tables; /* which of rows.h it may bring */
} statements[] = {
    [CURSOR_REGION] = {"region", "R", "start", "\"end\"",
                       EVENT "R.pid, R.tid, R.start, R.\"end\", R.name_id, R.event_id, " MESSAGE,
                       "LEFT JOIN \"rocpd_event{S}\" E ON E.id = R.event_id", SPANS},
    [CURSOR_SAMPLE] = {"sample", "R", "timestamp", "timestamp",
                       EVENT
                       "T.pid, T.tid, R.timestamp, R.timestamp, T.name_id, R.event_id, " MESSAGE,
                       "LEFT JOIN \"rocpd_track{S}\" T ON T.id = R.track_id LEFT JOIN "
                       "\"rocpd_event{S}\" E ON E.id = R.event_id",
                       SPANS},
    [CURSOR_DISPATCH] = {"kernel_dispatch", "K", "start", "\"end\"", EVENT DISPATCH,
                         "LEFT JOIN \"rocpd_event{S}\" E ON E.id = K.event_id",
                         1ull << OUT_KERNEL_TRACE},
    [CURSOR_COUNTER] = {"kernel_dispatch", "K", "start", "\"end\"",
                        EVENT DISPATCH ", K.event_id, V.pmc_id, V.value, V.id",
                        "CROSS JOIN \"rocpd_pmc_event{S}\" V ON V.event_id = K.event_id LEFT JOIN "
                        "\"rocpd_event{S}\" E ON E.id = K.event_id",
                        1ull << OUT_COUNTER_COLLECTION},
    [CURSOR_COPY] = {"memory_copy", "C", "start", "\"end\"",
                     EVENT "C.pid, C.tid, C.start, C.\"end\", C.name_id, C.dst_agent_id, "
                           "C.dst_address, C.src_agent_id, C.src_address, C.size, C.stream_id",
                     "LEFT JOIN \"rocpd_event{S}\" E ON E.id = C.event_id",
                     1ull << OUT_MEMORY_COPY},
    [CURSOR_MEMORY] = {"memory_allocate", "M", "start", "\"end\"",
                       EVENT "M.pid, M.tid, M.start, M.\"end\", M.agent_id, M.type, M.level, "
                             "M.address, M.size, M.queue_id, CASE WHEN length(M.extdata) > 2 AND "
                             "json_valid(M.extdata) THEN json_extract(M.extdata, '$.flags') END",
                       "LEFT JOIN \"rocpd_event{S}\" E ON E.id = M.event_id",
                       1ull << OUT_MEMORY_ALLOCATION | 1ull << OUT_SCRATCH_MEMORY},
};
enum {
    COLUMN_CATEGORY,
    COLUMN_OWN,
    COLUMN_PARENT,
    COLUMN_EXTERNAL,
    COLUMN_PID,
    COLUMN_TID,
    COLUMN_REST
};

static int64_t i64(const struct cursor *cursor, int column)
{
    return sqlite3_column_int64(cursor->select, column);
}

static uint64_t u64(const struct cursor *cursor, int column)
{
    return (uint64_t)i64(cursor, column);
}

static const char *bytes(const struct cursor *cursor, int column)
{
    return (const char *)sqlite3_column_text(cursor->select, column);
}

static const char *text(const struct cursor *cursor, int column)
{
    return recording_text(cursor->part->recording, bytes(cursor, column));
}

static bool is_null(const struct cursor *cursor, int column)
{
    return sqlite3_column_type(cursor->select, column) == SQLITE_NULL;
}

/* A time window reads what overlaps it; `alias` is "" or ends with a dot. */
static void window_add(sqlite3_str *sql, enum cursor_kind kind, const struct recording_ask *ask,
                       const char *alias)
{
    if (ask->begin_ns || ask->end_ns)
        sqlite3_str_appendf(sql, " WHERE %s%s >= %lld AND %s%s <= %lld", alias,
                            statements[kind].end, (long long)ask->begin_ns, alias,
                            statements[kind].start, (long long)ask->end_ns);
}

/* A sort by time keeps numbers and times of rows only; "LIMIT -1" is none, but without it SQLite
 * may forget the order. */
static char *statement_make(enum cursor_kind kind, const struct recording_ask *ask)
{
    const char *table = statements[kind].table, *alias = statements[kind].alias;
    sqlite3_str *sql = sqlite3_str_new(NULL);
    char dotted[8];
    snprintf(dotted, sizeof dotted, "%s.", alias);
    sqlite3_str_appendf(sql, "SELECT %s FROM ", statements[kind].columns);
    if (ask->order == RECORDING_BY_TIME) {
        sqlite3_str_appendf(sql, "(SELECT id AS i FROM \"rocpd_%s{S}\"", table);
        window_add(sql, kind, ask, "");
        sqlite3_str_appendf(sql, " ORDER BY %s, id LIMIT -1) O CROSS JOIN ",
                            statements[kind].start);
    }
    sqlite3_str_appendf(sql, "\"rocpd_%s{S}\" %s ", table, alias);
    if (ask->order == RECORDING_BY_TIME) {
        sqlite3_str_appendf(sql, "ON %s.id = O.i %s", alias, statements[kind].joins);
    } else {
        sqlite3_str_appendf(sql, "%s", statements[kind].joins);
        window_add(sql, kind, ask, dotted);
        sqlite3_str_appendf(sql, " ORDER BY %s.id", alias);
    }
    return sqlite3_str_finish(sql);
}

int cursor_open(struct cursor *cursor, struct part *part, enum cursor_kind kind,
                const struct recording_ask *ask, char *error, size_t error_size)
{
    *cursor = (struct cursor){
        .part = part, .ask = ask, .kind = kind, .table = OUT_TABLE_COUNT, .event = INT64_MIN};
    if (!(ask->tables & statements[kind].tables))
        return 0;
    char *sql = statement_make(kind, ask);
    if (!sql)
        return -ENOMEM;
    cursor->select = recording_prepare(part->recording, &part->shown, sql, error, error_size);
    if (!cursor->select)
        recording_damaged(part->recording, "rocpd_%s: %s", statements[kind].table,
                          sqlite3_errmsg(part->recording->database));
    sqlite3_free(sql);
    return 0;
}

void cursor_close(struct cursor *cursor)
{
    sqlite3_finalize(cursor->select);
    free(cursor->counted);
    cursor->select = NULL;
    cursor->counted = NULL;
}

static bool step(struct cursor *cursor)
{
    int status = cursor->select ? sqlite3_step(cursor->select) : SQLITE_DONE;
    if (status == SQLITE_ROW)
        return true;
    if (status != SQLITE_DONE)
        recording_damaged(
            cursor->part->recording, "rocpd_%s: %s behind row %llu", statements[cursor->kind].table,
            sqlite3_errmsg(cursor->part->recording->database), (unsigned long long)cursor->rows);
    sqlite3_finalize(cursor->select);
    cursor->select = NULL;
    return false;
}

uint64_t cursor_agent_number(const struct recording_ask *ask, const struct agent *agent)
{
    switch (ask->agents) {
    case RECORDING_ABSOLUTE:
        return (uint64_t)agent->absolute;
    case RECORDING_TYPE_RELATIVE:
        return (uint32_t)agent->type_index + (agent->is_gpu ? OUT_AGENT_GPU : OUT_AGENT_CPU);
    default:
        return (uint64_t)agent->logical;
    }
}

/* An agent that a column names, by `ask`'s numbers and by the driver's. */
static void agent_read(struct cursor *cursor, int column, uint64_t *number, uint64_t *node)
{
    *number = *node = OUT_NO_AGENT;
    if (is_null(cursor, column))
        return;
    const struct agent *agent = part_agent(cursor->part, i64(cursor, column));
    *number = cursor_agent_number(cursor->ask, agent);
    *node = (uint64_t)agent->absolute;
}

static uint64_t thread(struct cursor *cursor)
{
    return is_null(cursor, COLUMN_TID) ? 0 : part_thread(cursor->part, i64(cursor, COLUMN_TID));
}

static uint64_t process(struct cursor *cursor)
{
    return is_null(cursor, COLUMN_PID) ? cursor->part->shown.pid
                                       : part_process(cursor->part, i64(cursor, COLUMN_PID));
}

/* The driver's event: agents are named by its own numbers. */
static void kfd_read(struct cursor *cursor, const struct category *category)
{
    struct out_kfd_row *row = &cursor->row.kfd;
    *row = (struct out_kfd_row){
        .kind = category->name,
        .operation = part_string(cursor->part, i64(cursor, COLUMN_REST + 2)),
        .process_id = process(cursor),
        .start_ns = u64(cursor, COLUMN_REST),
        .end_ns = u64(cursor, COLUMN_REST + 1),
    };
    part_kfd(cursor->part, i64(cursor, COLUMN_REST + 3), row);
    for (int i = 0; i < OUT_KFD_AGENTS; i++) {
        const struct agent *agent = part_node_agent(cursor->part, row->nodes[i]);
        row->agents[i] =
            agent && agent->row.type[0] ? cursor_agent_number(cursor->ask, agent) : row->nodes[i];
    }
}

static void api_read(struct cursor *cursor, const struct category *category)
{
    const char *message = bytes(cursor, COLUMN_REST + 4);
    if (message)
        message = recording_message(cursor->part->recording, message);
    cursor->row.api = (struct out_api_row){
        .domain = category->name,
        .function = message ? message : part_string(cursor->part, i64(cursor, COLUMN_REST + 2)),
        .process_id = process(cursor),
        .thread_id = thread(cursor),
        .correlation_id = u64(cursor, COLUMN_OWN),
        .start_ns = u64(cursor, COLUMN_REST),
        .end_ns = u64(cursor, COLUMN_REST + 1),
        .parent_id = u64(cursor, COLUMN_PARENT),
        .external_id = u64(cursor, COLUMN_EXTERNAL),
        .message = category->is_marker ? message : NULL,
    };
}

static void span_read(struct cursor *cursor)
{
    const struct category *category = part_category(cursor->part, i64(cursor, COLUMN_CATEGORY));
    cursor->table = category->table;
    if (cursor->table == OUT_KFD)
        kfd_read(cursor, category);
    else
        api_read(cursor, category);
}

static const char *kernel_name(struct cursor *cursor, const struct out_kernel *kernel)
{
    if (!kernel)
        return "";
    switch (cursor->ask->names) {
    case RECORDING_MANGLED:
        return part_symbol(cursor->part, kernel);
    case RECORDING_TRUNCATED:
        return kernel->truncated[0] ? kernel->truncated : kernel->name;
    default:
        return kernel->name;
    }
}

static struct out_dispatch_row dispatch_row(struct cursor *cursor)
{
    enum { FIRST = COLUMN_REST };
    struct part *part = cursor->part;
    const struct out_kernel *kernel = part_kernel(part, i64(cursor, FIRST + 1));
    const char *region =
        is_null(cursor, FIRST + 15) ? "" : part_string(part, i64(cursor, FIRST + 15));
    bool is_renamed = *region && !cursor->ask->by_symbol;
    struct out_dispatch_row row = {
        .kind = part_category(part, i64(cursor, COLUMN_CATEGORY))->name,
        .queue_id = u64(cursor, FIRST + 3),
        .stream_id = u64(cursor, FIRST + 4),
        .process_id = process(cursor),
        .thread_id = thread(cursor),
        .dispatch_id = u64(cursor, FIRST + 2),
        .kernel_id = u64(cursor, FIRST + 1),
        .kernel_name = is_renamed ? region : kernel_name(cursor, kernel),
        .correlation_id = u64(cursor, COLUMN_OWN),
        .start_ns = u64(cursor, FIRST + 5),
        .end_ns = u64(cursor, FIRST + 6),
        .lds_bytes = u64(cursor, FIRST + 8),
        .scratch_bytes = u64(cursor, FIRST + 7),
        .vgprs = kernel ? kernel->vgprs : 0,
        .acc_vgprs = kernel ? kernel->acc_vgprs : 0,
        .sgprs = kernel ? kernel->sgprs : 0,
        .external_id = u64(cursor, COLUMN_EXTERNAL),
        .region = is_renamed ? region : NULL,
        .kernel = kernel,
        .grid_size = 1,
        .workgroup_size = 1,
    };
    for (int i = 0; i < 3; i++) {
        row.workgroup[i] = u64(cursor, FIRST + 9 + i);
        row.grid[i] = u64(cursor, FIRST + 12 + i);
        row.workgroup_size *= row.workgroup[i];
        row.grid_size *= row.grid[i];
    }
    agent_read(cursor, FIRST, &row.agent, &row.node);
    return row;
}

enum { COLUMN_EVENT = COLUMN_REST + 16, COLUMN_COUNTER, COLUMN_VALUE, COLUMN_ROW };

/* Adds a value to those of its counter. */
static void counted_add(struct cursor *cursor)
{
    int64_t counter = i64(cursor, COLUMN_COUNTER);
    double value = sqlite3_column_double(cursor->select, COLUMN_VALUE);
    for (unsigned i = cursor->counted_count; i-- > 0;)
        if (cursor->counted[i].counter == counter) {
            cursor->counted[i].value += value;
            if (i64(cursor, COLUMN_ROW) < cursor->counted[i].first)
                cursor->counted[i].first = i64(cursor, COLUMN_ROW);
            return;
        }
    if (cursor->counted_count == cursor->counted_room) {
        unsigned room = cursor->counted_room ? 2 * cursor->counted_room : 64;
        struct counted *grown = realloc(cursor->counted, room * sizeof *grown);
        if (!grown)
            return;
        cursor->counted = grown;
        cursor->counted_room = room;
    }
    cursor->counted[cursor->counted_count++] =
        (struct counted){i64(cursor, COLUMN_ROW), counter, value};
}

static int by_row(const void *left, const void *right)
{
    const struct counted *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

/* All values of the next dispatch that has some. */
static bool counted_read(struct cursor *cursor)
{
    if (!cursor->is_ahead && !step(cursor))
        return false;
    cursor->counted_count = cursor->counted_at = 0;
    cursor->row.counter.dispatch = dispatch_row(cursor);
    cursor->event = i64(cursor, COLUMN_EVENT);
    do {
        counted_add(cursor);
        cursor->is_ahead = step(cursor);
    } while (cursor->is_ahead && i64(cursor, COLUMN_EVENT) == cursor->event);
    qsort(cursor->counted, cursor->counted_count, sizeof *cursor->counted, by_row);
    return true;
}

static bool counter_next(struct cursor *cursor)
{
    while (cursor->counted_at == cursor->counted_count)
        if ((!cursor->select && !cursor->is_ahead) || !counted_read(cursor))
            return false;
    const struct counted *counted = &cursor->counted[cursor->counted_at++];
    struct out_counter_row *row = &cursor->row.counter;
    row->counter = part_counter(cursor->part, counted->counter);
    row->counter_name = row->counter ? row->counter->name : "";
    row->counter_value = counted->value;
    cursor->table = OUT_COUNTER_COLLECTION;
    cursor->start_ns = (int64_t)row->dispatch.start_ns;
    return true;
}

static void copy_read(struct cursor *cursor)
{
    enum { FIRST = COLUMN_REST };
    struct out_copy_row *row = &cursor->row.copy;
    cursor->table = OUT_MEMORY_COPY;
    *row = (struct out_copy_row){
        .kind = part_category(cursor->part, i64(cursor, COLUMN_CATEGORY))->name,
        .direction = part_string(cursor->part, i64(cursor, FIRST + 2)),
        .stream_id = u64(cursor, FIRST + 8),
        .correlation_id = u64(cursor, COLUMN_OWN),
        .start_ns = u64(cursor, FIRST),
        .end_ns = u64(cursor, FIRST + 1),
        .bytes = u64(cursor, FIRST + 7),
        .thread_id = thread(cursor),
        .external_id = u64(cursor, COLUMN_EXTERNAL),
        .source_address = u64(cursor, FIRST + 6),
        .destination_address = u64(cursor, FIRST + 4),
    };
    agent_read(cursor, FIRST + 3, &row->destination_agent, &row->destination_node);
    agent_read(cursor, FIRST + 5, &row->source_agent, &row->source_node);
}

/* What the SDK calls an operation that rocpd has by type and level. */
static const char *operation_name(const char *type, const char *level)
{
    static const struct {
        const char *level, *type, *name;
    } operations[] = {
        {"REAL", "ALLOC", "MEMORY_ALLOCATION_ALLOCATE"},
        {"REAL", "FREE", "MEMORY_ALLOCATION_FREE"},
        {"VIRTUAL", "ALLOC", "MEMORY_ALLOCATION_VMEM_ALLOCATE"},
        {"VIRTUAL", "FREE", "MEMORY_ALLOCATION_VMEM_FREE"},
        {"SCRATCH", "ALLOC", "SCRATCH_MEMORY_ALLOC"},
        {"SCRATCH", "FREE", "SCRATCH_MEMORY_FREE"},
        {"SCRATCH", "RECLAIM", "SCRATCH_MEMORY_ASYNC_RECLAIM"},
    };
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(operations[i].level, level) == 0 && strcmp(operations[i].type, type) == 0)
            return operations[i].name;
    return type;
}

static void memory_read(struct cursor *cursor)
{
    enum { FIRST = COLUMN_REST };
    const char *level = text(cursor, FIRST + 4);
    const char *operation = operation_name(text(cursor, FIRST + 3), level);
    const char *kind = part_category(cursor->part, i64(cursor, COLUMN_CATEGORY))->name;
    uint64_t agent, node;
    agent_read(cursor, FIRST + 2, &agent, &node);
    if (strcmp(level, "SCRATCH") == 0) {
        cursor->table = OUT_SCRATCH_MEMORY;
        cursor->row.scratch = (struct out_scratch_row){kind,
                                                       operation,
                                                       agent,
                                                       u64(cursor, FIRST + 7),
                                                       thread(cursor),
                                                       text(cursor, FIRST + 8),
                                                       u64(cursor, FIRST),
                                                       u64(cursor, FIRST + 1),
                                                       u64(cursor, FIRST + 6),
                                                       u64(cursor, COLUMN_OWN),
                                                       node,
                                                       u64(cursor, COLUMN_PARENT),
                                                       u64(cursor, COLUMN_EXTERNAL)};
        return;
    }
    cursor->table = OUT_MEMORY_ALLOCATION;
    cursor->row.allocation = (struct out_allocation_row){kind,
                                                         operation,
                                                         agent,
                                                         u64(cursor, FIRST + 6),
                                                         u64(cursor, FIRST + 5),
                                                         u64(cursor, COLUMN_OWN),
                                                         u64(cursor, FIRST),
                                                         u64(cursor, FIRST + 1),
                                                         node,
                                                         thread(cursor),
                                                         u64(cursor, COLUMN_PARENT),
                                                         u64(cursor, COLUMN_EXTERNAL)};
}

static void row_read(struct cursor *cursor)
{
    cursor->start_ns = i64(cursor, cursor->kind == CURSOR_DISPATCH ? COLUMN_REST + 5 : COLUMN_REST);
    switch (cursor->kind) {
    case CURSOR_REGION:
    case CURSOR_SAMPLE:
        span_read(cursor);
        break;
    case CURSOR_DISPATCH:
        cursor->table = OUT_KERNEL_TRACE;
        cursor->row.dispatch = dispatch_row(cursor);
        break;
    case CURSOR_COPY:
        copy_read(cursor);
        break;
    default:
        memory_read(cursor);
        break;
    }
}

bool cursor_next(struct cursor *cursor)
{
    bool is_counter = cursor->kind == CURSOR_COUNTER;
    while (is_counter ? counter_next(cursor) : step(cursor)) {
        cursor->rows++;
        if (!is_counter)
            row_read(cursor);
        /* A kind that rows.h does not have is passed over, as is one that nobody wants. */
        if (cursor->table < OUT_TABLE_COUNT && (cursor->ask->tables & 1ull << cursor->table))
            return true;
    }
    cursor->table = OUT_TABLE_COUNT;
    return false;
}
