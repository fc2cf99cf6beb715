#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a column comes from. */
enum from {
    FROM_EVENT,
    FROM_ROW,      /* of the kind's own table */
    FROM_ROW_TEXT, /* the same: all others are numbers */
    FROM_ROW_JSON, /* a member of `extdata` */
    FROM_EVENT_JSON,
    FROM_TRACK,
    FROM_VALUE, /* of a counter */
};

struct column {
    enum from from;
    const char *name; /* of JSON: its member */
};

#define EVENT                                                                                      \
    {FROM_EVENT, "category_id"}, {FROM_EVENT, "stack_id"}, {FROM_EVENT, "parent_stack_id"},        \
    {                                                                                              \
        FROM_EVENT, "correlation_id"                                                               \
    }
#define ROW(name)                                                                                  \
    {                                                                                              \
        FROM_ROW, name                                                                             \
    }
#define WHOSE ROW("pid"), ROW("tid")

static const struct column region[] = {EVENT,
                                       WHOSE,
                                       ROW("start"),
                                       ROW("end"),
                                       ROW("name_id"),
                                       ROW("event_id"),
                                       {FROM_EVENT_JSON, "message"}};
static const struct column sample[] = {EVENT,
                                       {FROM_TRACK, "pid"},
                                       {FROM_TRACK, "tid"},
                                       ROW("timestamp"),
                                       ROW("timestamp"),
                                       {FROM_TRACK, "name_id"},
                                       ROW("event_id"),
                                       {FROM_EVENT_JSON, "message"}};
#define DISPATCH                                                                                   \
    EVENT, WHOSE, ROW("agent_id"), ROW("kernel_id"), ROW("dispatch_id"), ROW("queue_id"),          \
        ROW("stream_id"), ROW("start"), ROW("end"), ROW("private_segment_size"),                   \
        ROW("group_segment_size"), ROW("workgroup_size_x"), ROW("workgroup_size_y"),               \
        ROW("workgroup_size_z"), ROW("grid_size_x"), ROW("grid_size_y"), ROW("grid_size_z"),       \
        ROW("region_name_id"),                                                                     \
    {                                                                                              \
        FROM_ROW_JSON, "modelled_ns"                                                               \
    }
static const struct column dispatch[] = {DISPATCH};
static const struct column counter[] = {
    DISPATCH, ROW("event_id"), {FROM_VALUE, "pmc_id"}, {FROM_VALUE, "value"}, {FROM_VALUE, "id"}};
static const struct column copy[] = {EVENT,
                                     WHOSE,
                                     ROW("start"),
                                     ROW("end"),
                                     ROW("name_id"),
                                     ROW("dst_agent_id"),
                                     ROW("dst_address"),
                                     ROW("src_agent_id"),
                                     ROW("src_address"),
                                     ROW("size"),
                                     ROW("stream_id")};
static const struct column memory[] = {EVENT,
                                       WHOSE,
                                       ROW("start"),
                                       ROW("end"),
                                       ROW("agent_id"),
                                       {FROM_ROW_TEXT, "type"},
                                       {FROM_ROW_TEXT, "level"},
                                       ROW("address"),
                                       ROW("size"),
                                       ROW("queue_id"),
                                       {FROM_ROW_JSON, "flags"}};

static const struct column graph[] = {
    EVENT,           WHOSE,           ROW("start"),         ROW("end"),
    ROW("agent_id"), ROW("queue_id"), ROW("graph_exec_id"), ROW("kernel_dispatch_count")};

/* Behind the columns of a region or sample, and behind its tables. */
#define ARGUMENTS      ", R.id, A.position, A.type, A.name, A.value"
#define ARGUMENTS_JOIN " LEFT JOIN \"rocpd_arg{S}\" A ON A.event_id = R.event_id"

/* From schema 3.0.3 on values of counters that were streamed stand there, too, with a sample. */
#define COUNTED_JOIN " JOIN (SELECT 1) ON V.sample_id IS NULL"

#define SPANS         (((1ull << (OUT_OMPT + 1)) - 1) | 1ull << OUT_KFD | 1ull << OUT_HIP_EVENT)
#define COLUMNS(list) list, sizeof list / sizeof list[0]
#define JOIN_EVENT    "LEFT JOIN \"rocpd_event{S}\" E ON E.id = R.event_id"

/* Events stand in nearly the order of their records: looking them up is going on by one. Values of
 * counters are found by their event, for which SQLite makes an index of its own, on disk if need
 * be. */
static const struct {
    const char *table;
    const struct column *columns;
    unsigned count;
    const char *joins;
    const char *start, *end; /* of the records */
    bool has_pages;          /* it needs the table and its events only */
    uint64_t tables;         /* which of rows.h it may bring */
} kinds[SOURCE_COUNT] = {
    [SOURCE_REGION] = {"region", COLUMNS(region), JOIN_EVENT, "start", "end", true, SPANS},
    [SOURCE_SAMPLE] = {"sample", COLUMNS(sample),
                       "LEFT JOIN \"rocpd_track{S}\" T ON T.id = R.track_id " JOIN_EVENT,
                       "timestamp", "timestamp", false, SPANS},
    [SOURCE_DISPATCH] = {"kernel_dispatch", COLUMNS(dispatch), JOIN_EVENT, "start", "end", true,
                         1ull << OUT_KERNEL_TRACE},
    [SOURCE_COUNTER] = {"kernel_dispatch", COLUMNS(counter),
                        "CROSS JOIN \"rocpd_pmc_event{S}\" V ON V.event_id = "
                        "R.event_id " JOIN_EVENT,
                        "start", "end", false, 1ull << OUT_COUNTER_COLLECTION},
    [SOURCE_COPY] = {"memory_copy", COLUMNS(copy), JOIN_EVENT, "start", "end", true,
                     1ull << OUT_MEMORY_COPY},
    [SOURCE_MEMORY] = {"memory_allocate", COLUMNS(memory), JOIN_EVENT, "start", "end", true,
                       1ull << OUT_MEMORY_ALLOCATION | 1ull << OUT_SCRATCH_MEMORY},
    [SOURCE_GRAPH] = {"graph_launch", COLUMNS(graph), JOIN_EVENT, "start", "end", true,
                      1ull << OUT_GRAPH_LAUNCH},
};
enum { SLOT_EVENT = SOURCE_COLUMNS_MAX - 1 }; /* of pages: the event's id */

uint64_t source_tables(enum source_kind kind)
{
    return kinds[kind].tables;
}

const char *source_name(enum source_kind kind)
{
    return kinds[kind].table;
}

int source_arguments_column(const struct source *source)
{
    return (int)kinds[source->kind].count;
}

/* ---- a statement */

#define JSON_MEMBER(of, member)                                                                    \
    "CASE WHEN length(" of ") > 2 AND json_valid(" of ") THEN json_extract(" of ", " member ") "   \
    "END"

static void column_add(sqlite3_str *sql, const struct column *column)
{
    static const char *const forms[] = {
        [FROM_EVENT] = "E.\"%s\"",
        [FROM_ROW] = "R.\"%s\"",
        [FROM_ROW_TEXT] = "R.\"%s\"",
        [FROM_TRACK] = "T.\"%s\"",
        [FROM_VALUE] = "V.\"%s\"",
        [FROM_EVENT_JSON] = JSON_MEMBER("E.extdata", "'$.%s'"),
        [FROM_ROW_JSON] = JSON_MEMBER("R.extdata", "'$.%s'"),
    };
    sqlite3_str_appendf(sql, forms[column->from], column->name);
}

/* A time window reads what overlaps it; what pages gave already is passed over. */
static void where_add(sqlite3_str *sql, const struct source *source)
{
    const struct recording_ask *ask = source->ask;
    const char *word = "WHERE", *start = kinds[source->kind].start, *end = kinds[source->kind].end;
    if (source->has_id) {
        sqlite3_str_appendf(sql, " WHERE R.id > %lld", (long long)source->id);
        word = "AND";
    }
    if (ask->begin_ns || ask->end_ns)
        sqlite3_str_appendf(sql, " %s R.\"%s\" >= %lld AND R.\"%s\" <= %lld", word,
                            ask->is_within ? start : end, (long long)ask->begin_ns,
                            ask->is_within ? end : start, (long long)ask->end_ns);
}

/* A sort by time keeps numbers and times of rows only; "LIMIT -1" is none, but without it SQLite
 * may forget the order. */
static char *statement_make(const struct source *source)
{
    const char *table = kinds[source->kind].table;
    const char *further = source->has_arguments ? ARGUMENTS_JOIN
                          : source->has_samples ? COUNTED_JOIN
                                                : "";
    sqlite3_str *sql = sqlite3_str_new(NULL);
    for (unsigned i = 0; i < kinds[source->kind].count; i++) {
        sqlite3_str_appendall(sql, i ? ", " : "SELECT ");
        column_add(sql, &kinds[source->kind].columns[i]);
    }
    sqlite3_str_appendf(sql, "%s FROM ", source->has_arguments ? ARGUMENTS : "");
    if (source->ask->order == RECORDING_BY_TIME) {
        sqlite3_str_appendf(sql, "(SELECT R.id AS i FROM \"rocpd_%s{S}\" R", table);
        where_add(sql, source);
        sqlite3_str_appendf(sql,
                            " ORDER BY R.\"%s\", R.id LIMIT -1) O CROSS JOIN \"rocpd_%s{S}\" R ON "
                            "R.id = O.i %s%s",
                            kinds[source->kind].start, table, kinds[source->kind].joins, further);
    } else {
        sqlite3_str_appendf(sql, "\"rocpd_%s{S}\" R %s%s", table, kinds[source->kind].joins,
                            further);
        where_add(sql, source);
        sqlite3_str_appendall(sql, " ORDER BY R.id");
    }
    return sqlite3_str_finish(sql);
}

static int statement_open(struct source *source, char *error, size_t error_size)
{
    struct recording *recording = source->part->recording;
    char *sql = statement_make(source);
    if (!sql)
        return -ENOMEM;
    source->select = recording_prepare(recording, &source->part->shown, sql, error, error_size);
    if (!source->select)
        recording_damaged(recording, "rocpd_%s: %s", kinds[source->kind].table,
                          sqlite3_errmsg(recording->database));
    sqlite3_free(sql);
    return 0;
}

static bool statement_next(struct source *source)
{
    int status = source->select ? sqlite3_step(source->select) : SQLITE_DONE;
    if (status == SQLITE_ROW)
        return true;
    if (status != SQLITE_DONE)
        recording_damaged(
            source->part->recording, "rocpd_%s: %s behind row %llu", kinds[source->kind].table,
            sqlite3_errmsg(source->part->recording->database), (unsigned long long)source->rows);
    sqlite3_finalize(source->select);
    source->select = NULL;
    return false;
}

/* ---- pages */

static struct scan *table_scan(const struct source *source, const char *table,
                               const struct scan_column *wishes, unsigned count)
{
    char *name = sqlite3_mprintf("rocpd_%s%s", table, source->part->shown.suffix);
    struct scan *scan =
        name ? scan_open(source->part->recording->database, name, wishes, count) : NULL;
    sqlite3_free(name);
    return scan;
}

static void pages_close(struct source *source)
{
    scan_close(source->scan);
    scan_close(source->events);
    argument_rows_close(source->arguments);
    source->scan = source->events = NULL;
    source->arguments = NULL;
}

static bool is_json(enum from from)
{
    return from == FROM_ROW_JSON || from == FROM_EVENT_JSON;
}

static bool is_event(enum from from)
{
    return from == FROM_EVENT || from == FROM_EVENT_JSON;
}

/* The columns that come from the event, or those that do not. */
static unsigned wishes_make(enum source_kind kind, bool of_event, struct scan_column *wishes)
{
    unsigned count = 0;
    for (unsigned i = 0; i < kinds[kind].count; i++) {
        const struct column *column = &kinds[kind].columns[i];
        bool is_member = is_json(column->from);
        if (is_event(column->from) == of_event)
            wishes[count++] = (struct scan_column){is_member ? "extdata" : column->name, i,
                                                   is_member || column->from == FROM_ROW_TEXT};
    }
    return count;
}

/* Where pages are not as expected, a statement does it. */
static void pages_open(struct source *source)
{
    struct scan_column rows[SOURCE_COLUMNS_MAX], events[SOURCE_COLUMNS_MAX];
    unsigned row_count = wishes_make(source->kind, false, rows);
    unsigned event_count = wishes_make(source->kind, true, events);
    source->event_slot = SLOT_EVENT;
    for (unsigned i = 0; i < row_count; i++)
        if (strcmp(rows[i].name, "event_id") == 0)
            source->event_slot = rows[i].slot;
    if (source->event_slot == SLOT_EVENT)
        rows[row_count++] = (struct scan_column){"event_id", SLOT_EVENT, false};
    source->scan = table_scan(source, kinds[source->kind].table, rows, row_count);
    if (source->scan)
        source->events = table_scan(source, "event", events, event_count);
    if (source->events && source->has_arguments)
        source->arguments = argument_rows_open(source->part, kinds[source->kind].table);
    if (!source->events || (source->has_arguments && !source->arguments))
        pages_close(source);
}

/* What the event would have said. */
static void event_forget(struct source *source)
{
    for (unsigned i = 0; i < kinds[source->kind].count; i++)
        if (is_event(kinds[source->kind].columns[i].from))
            source->values[i] = (struct value){.kind = VALUE_NULL};
}

static enum scan_result pages_row(struct source *source)
{
    int64_t id;
    const struct value *event = &source->values[source->event_slot];
    enum scan_result result = scan_next(source->scan, source->values, &id);
    if (result != SCAN_ROW)
        return result;
    result = event->kind == VALUE_NULL ? SCAN_NONE
                                       : scan_find(source->events, event->integer, source->values);
    if (result == SCAN_UNLIKE)
        return result;
    if (result == SCAN_NONE)
        event_forget(source);
    source->id = id;
    source->has_id = true;
    source->has_argument = source->arguments && event->kind != VALUE_NULL &&
                           argument_rows_find(source->arguments, event->integer);
    return SCAN_ROW;
}

/* False: a statement goes on, if there is one. A call comes once for each of its arguments. */
static bool pages_next(struct source *source)
{
    char error[256] = "";
    if (source->has_argument && (source->has_argument = argument_rows_next(source->arguments)))
        return true;
    enum scan_result result = pages_row(source);
    if (result == SCAN_ROW)
        return true;
    pages_close(source);
    if (result == SCAN_UNLIKE && statement_open(source, error, sizeof error) != 0)
        recording_damaged(source->part->recording, "rocpd_%s: out of memory",
                          kinds[source->kind].table);
    return false;
}

/* ---- rows */

/* Most recordings have no values of counters: then no launch has to be asked for its own. */
static bool has_values(const struct source *source)
{
    char error[256];
    sqlite3_stmt *select =
        recording_prepare(source->part->recording, &source->part->shown,
                          "SELECT 1 FROM \"rocpd_pmc_event{S}\" LIMIT 1", error, sizeof error);
    bool has = !select || sqlite3_step(select) != SQLITE_DONE;
    sqlite3_finalize(select);
    return has;
}

/* Older schemas have no such table. */
static bool has_graphs(const struct source *source)
{
    char name[128];
    snprintf(name, sizeof name, "rocpd_graph_launch%s", source->part->shown.suffix);
    return sqlite3_table_column_metadata(source->part->recording->database, NULL, name, NULL, NULL,
                                         NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* Calls have arguments somewhere in the part. */
static bool has_arguments(const struct source *source)
{
    char error[256];
    sqlite3_stmt *select =
        recording_prepare(source->part->recording, &source->part->shown,
                          "SELECT 1 FROM \"rocpd_arg{S}\" LIMIT 1", error, sizeof error);
    bool has = select && sqlite3_step(select) == SQLITE_ROW;
    sqlite3_finalize(select);
    return has;
}

int source_open(struct source *source, struct part *part, enum source_kind kind,
                const struct recording_ask *ask, char *error, size_t error_size)
{
    *source = (struct source){.part = part, .ask = ask, .kind = kind};
    if (!(ask->tables & kinds[kind].tables))
        return 0;
    if ((kind == SOURCE_COUNTER && !has_values(source)) ||
        (kind == SOURCE_GRAPH && !has_graphs(source)))
        return 0;
    source->has_samples = kind == SOURCE_COUNTER &&
                          recording_has_samples(part->recording->database, part->shown.suffix);
    bool is_whole = !ask->begin_ns && !ask->end_ns && ask->order == RECORDING_AS_WRITTEN;
    source->has_arguments =
        ask->has_arguments && (kinds[kind].tables & SPANS) && has_arguments(source);
    if (kinds[kind].has_pages && is_whole && !ask->by_statements)
        pages_open(source);
    return source->scan ? 0 : statement_open(source, error, error_size);
}

bool source_next(struct source *source)
{
    bool has_row = (source->scan && pages_next(source)) || statement_next(source);
    source->rows += has_row;
    return has_row;
}

void source_close(struct source *source)
{
    pages_close(source);
    sqlite3_finalize(source->select);
    sqlite3_finalize(source->member);
    free(source->text);
    *source = (struct source){.part = NULL};
}

/* ---- values */

/* Columns behind those of the call, of pages. */
enum { ARGUMENT_CALL, ARGUMENT_POSITION, ARGUMENT_FIRST_TEXT };

static int argument_column(const struct source *source, int column)
{
    return column - source_arguments_column(source);
}

/* A copy with an end. NULL: no memory. */
static char *text_keep(struct source *source, const char *text, size_t bytes)
{
    if (source->text_room < bytes + 1) {
        free(source->text);
        source->text = malloc(2 * bytes + 64);
        source->text_room = source->text ? 2 * bytes + 64 : 0;
    }
    if (!source->text)
        return NULL;
    memcpy(source->text, text, bytes);
    source->text[bytes] = 0;
    return source->text;
}

/* What most JSON texts of rows are: {"NAME":VALUE}. The value, its quotes included; NULL: it is
 * more than that. */
static const char *member_plain(const struct value *json, const char *name, size_t *bytes)
{
    size_t length = strlen(name), head = length + 4;
    const char *text = json->text;
    if (json->bytes < head + 2 || memcmp(text, "{\"", 2) != 0 ||
        memcmp(text + 2, name, length) != 0 || memcmp(text + 2 + length, "\":", 2) != 0 ||
        text[json->bytes - 1] != '}')
        return NULL;
    *bytes = json->bytes - head - 1;
    return text + head;
}

static bool is_plain_number(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return bytes > 0 && bytes < 19 && (text[0] != '0' || bytes == 1);
}

static bool is_plain_text(const char *text, size_t bytes)
{
    if (bytes < 2 || text[0] != '"' || text[bytes - 1] != '"')
        return false;
    for (size_t i = 1; i < bytes - 1; i++)
        if ((uint8_t)text[i] < 0x20 || text[i] == '"' || text[i] == '\\')
            return false;
    return true;
}

/* The statement that says what a member is; NULL: there is none. */
static sqlite3_stmt *member_ask(struct source *source, const struct value *json, const char *name)
{
    static const char sql[] = "SELECT " JSON_MEMBER("?1", "'$.' || ?2");
    sqlite3 *database = source->part->recording->database;
    if (!source->member &&
        sqlite3_prepare_v2(database, sql, -1, &source->member, NULL) != SQLITE_OK)
        return NULL;
    sqlite3_reset(source->member);
    sqlite3_bind_text(source->member, 1, json->text, (int)json->bytes, SQLITE_STATIC);
    sqlite3_bind_text(source->member, 2, name, -1, SQLITE_STATIC);
    return sqlite3_step(source->member) == SQLITE_ROW ? source->member : NULL;
}

static int64_t member_i64(struct source *source, const struct value *json, const char *name)
{
    size_t bytes;
    if (json->bytes <= 2) /* which is "{}", mostly */
        return 0;
    const char *plain = member_plain(json, name, &bytes);
    if (plain && is_plain_number(plain, bytes))
        return strtoll(plain, NULL, 10); /* a brace follows */
    sqlite3_stmt *row = member_ask(source, json, name);
    return row ? sqlite3_column_int64(row, 0) : 0;
}

static const char *member_text(struct source *source, const struct value *json, const char *name)
{
    size_t bytes;
    if (json->bytes <= 2)
        return NULL;
    const char *plain = member_plain(json, name, &bytes);
    if (plain && is_plain_text(plain, bytes))
        return text_keep(source, plain + 1, bytes - 2);
    sqlite3_stmt *row = member_ask(source, json, name);
    return row ? (const char *)sqlite3_column_text(row, 0) : NULL;
}

int64_t source_i64(struct source *source, int column)
{
    if (source->select)
        return sqlite3_column_int64(source->select, column);
    int of_argument = argument_column(source, column);
    if (of_argument >= 0)
        return of_argument == ARGUMENT_CALL ? source->id
               : source->has_argument       ? argument_rows_position(source->arguments)
                                            : 0;
    const struct value *value = &source->values[column];
    if (value->kind != VALUE_TEXT)
        return value->integer;
    return member_i64(source, value, kinds[source->kind].columns[column].name);
}

bool source_is_null(struct source *source, int column)
{
    if (source->select)
        return sqlite3_column_type(source->select, column) == SQLITE_NULL;
    if (argument_column(source, column) >= ARGUMENT_FIRST_TEXT)
        return !source_text(source, column);
    return source->values[column].kind == VALUE_NULL;
}

double source_real(struct source *source, int column)
{
    return source->select ? sqlite3_column_double(source->select, column)
                          : (double)source->values[column].integer;
}

const char *source_text(struct source *source, int column)
{
    if (source->select)
        return (const char *)sqlite3_column_text(source->select, column);
    int text = argument_column(source, column) - ARGUMENT_FIRST_TEXT;
    if (text >= 0)
        return source->has_argument
                   ? argument_rows_text(source->arguments, (enum argument_text)text)
                   : NULL;
    const struct value *value = &source->values[column];
    const struct column *of = &kinds[source->kind].columns[column];
    if (value->kind != VALUE_TEXT)
        return NULL;
    return is_json(of->from) ? member_text(source, value, of->name)
                             : text_keep(source, value->text, value->bytes);
}
