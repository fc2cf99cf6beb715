/* `query`: recordings asked in SQL, or by the reports that have a name. */
#include "query.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/refuse.h"
#include "names/nearest.h"
#include "table.h"
#include "together.h"

#define TIMES(duration)                                                                            \
    "COUNT(*) AS calls, SUM(" duration ") / 1000.0 AS total_us, AVG(" duration ") / 1000.0 AS "    \
    "mean_us, MIN(" duration ") / 1000.0 AS min_us, MAX(" duration ") / 1000.0 AS max_us, "        \
    "ROUND(SUM(" duration ") * 100.0 / SUM(SUM(" duration ")) OVER (), 2) AS percent"

static const struct named {
    const char *name, *help, *sql;
} reports[] = {
    {"kernels", "kernels by time",
     "SELECT name AS kernel, " TIMES("duration") " FROM kernels GROUP BY name ORDER BY total_us "
                                                 "DESC"},
    {"api", "calls by time",
     "SELECT category, name AS function, " TIMES(
         "duration") " FROM regions WHERE category NOT LIKE 'MARKER%' GROUP BY category, name "
                     "ORDER BY total_us DESC"},
    {"markers", "marked ranges by time",
     "SELECT coalesce(json_extract(extdata, '$.message'), name) AS marker, " TIMES(
         "duration") " FROM regions WHERE category LIKE 'MARKER%' GROUP BY marker ORDER BY "
                     "total_us DESC"},
    {"copies", "copies by time, with their bytes",
     "SELECT name AS copy, src_agent_abs_index AS source, dst_agent_abs_index AS destination, "
     "SUM(size) AS bytes, ROUND(SUM(size) * 1.0 / SUM(duration), 3) AS gb_per_s, " TIMES(
         "duration") " FROM memory_copies GROUP BY name, source, destination ORDER BY total_us "
                     "DESC"},
    {"allocations", "allocations by kind, with their bytes",
     "SELECT type, level, agent_abs_index AS agent, SUM(size) AS bytes, " TIMES(
         "duration") " FROM memory_allocations GROUP BY type, level, agent ORDER BY total_us DESC"},
    {"counters", "counters of every kernel",
     "SELECT kernel_name AS kernel, counter_name AS counter, COUNT(*) AS launches, SUM(value) AS "
     "total, AVG(value) AS mean, MIN(value) AS min, MAX(value) AS max FROM counters_collection "
     "GROUP BY kernel_name, counter_name ORDER BY kernel_name, counter_name"},
    {"launches", "every launch of a kernel, in order",
     "SELECT dispatch_id AS dispatch, name AS kernel, start, duration, agent_abs_index AS agent, "
     "queue_id AS queue, stream_id AS stream, grid_x || ',' || grid_y || ',' || grid_z AS grid, "
     "workgroup_x || ',' || workgroup_y || ',' || workgroup_z AS workgroup, lds_size AS lds, "
     "scratch_size AS scratch, vgpr_count AS vgprs, sgpr_count AS sgprs FROM kernels ORDER BY "
     "start, dispatch_id"},
    {"busy", "how busy agents were", "SELECT * FROM busy"},
    {"processes", "the processes that were recorded",
     "SELECT pid, ppid, hostname, (fini - init) / 1000.0 AS lived_us, command FROM processes"},
    {"agents", "the machine's agents",
     "SELECT absolute_index AS agent, type, name, product_name AS product, json_extract(extdata, "
     "'$.cu_count') AS cus, json_extract(extdata, '$.wave_front_size') AS wave_size FROM "
     "rocpd_info_agent ORDER BY absolute_index"},
};
enum { REPORT_COUNT = sizeof reports / sizeof reports[0] };

static const char *report_find(const char *name)
{
    for (int i = 0; i < REPORT_COUNT; i++)
        if (strcmp(reports[i].name, name) == 0)
            return reports[i].sql;
    return NULL;
}

static struct grid_value value_of(sqlite3_stmt *row, int column)
{
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
        return (struct grid_value){.type = GRID_NULL};
    case SQLITE_INTEGER:
        return GRID_OF_INTEGER(sqlite3_column_int64(row, column));
    case SQLITE_FLOAT:
        return GRID_OF_REAL(sqlite3_column_double(row, column));
    default:
        return GRID_OF_TEXT((const char *)sqlite3_column_text(row, column));
    }
}

/* The rows of one statement. An exit status. */
static int rows_print(sqlite3_stmt *select, struct writer *writer, enum grid_format format)
{
    unsigned count = (unsigned)sqlite3_column_count(select);
    struct grid_value *values = calloc(count + 1, sizeof *values);
    const char **names = calloc(count + 1, sizeof *names);
    for (unsigned i = 0; names && i < count; i++)
        names[i] = sqlite3_column_name(select, (int)i);
    struct grid *grid = values && names ? grid_begin(writer, format, names, count) : NULL;
    int step = SQLITE_NOMEM;
    while (grid && (step = sqlite3_step(select)) == SQLITE_ROW && writer->status == 0) {
        for (unsigned i = 0; i < count; i++)
            values[i] = value_of(select, (int)i);
        grid_row(grid, values);
    }
    if (grid)
        grid_end(grid);
    free(names);
    free(values);
    if (step == SQLITE_DONE || step == SQLITE_ROW)
        return 0;
    return refuse(EXIT_FAILED, "%s",
                  grid ? sqlite3_errmsg(sqlite3_db_handle(select)) : "out of memory");
}

int query_print(struct sqlite3 *database, const char *sql, struct writer *writer,
                enum grid_format format)
{
    int status = 0;
    while (*sql && status == 0 && writer->status == 0) {
        sqlite3_stmt *select = NULL;
        if (sqlite3_prepare_v2(database, sql, -1, &select, &sql) != SQLITE_OK)
            return refuse(EXIT_FAILED, "%s", sqlite3_errmsg(database));
        if (select && sqlite3_column_count(select) > 0)
            status = rows_print(select, writer, format);
        else if (select && sqlite3_step(select) != SQLITE_DONE)
            status = refuse(EXIT_FAILED, "%s", sqlite3_errmsg(database));
        sqlite3_finalize(select);
    }
    return status;
}

char *query_script_read(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    ssize_t length = file ? getdelim(&text, &size, 0, file) : -1;
    if (file)
        fclose(file);
    if (length >= 0)
        return text;
    free(text);
    return NULL;
}

int query_inputs(const struct inputs *inputs, const struct window *window, const char *sql,
                 const char *output, enum grid_format format)
{
    static struct writer writer;
    struct together together;
    int status = together_open(&together, inputs, window);
    if (status == 0)
        status = output_begin(&writer, output);
    if (status == 0) {
        status = query_print(together.database, sql, &writer, format);
        int ended = output_end(&writer, output);
        status = status ? status : ended;
    }
    together_close(&together);
    return status;
}

enum {
    QUERY_SQL,
    QUERY_SCRIPT,
    QUERY_REPORT,
    QUERY_FORMAT,
    QUERY_OUTPUT,
    QUERY_BEGIN,
    QUERY_END,
    QUERY_BEGIN_MARKER,
    QUERY_END_MARKER
};

static int report_unknown(const char *name)
{
    struct nearest nearest;
    char known[256] = "";
    nearest_begin(&nearest, name);
    for (int i = 0; i < REPORT_COUNT; i++) {
        nearest_add(&nearest, reports[i].name);
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 reports[i].name);
    }
    if (nearest.best)
        return refuse(EXIT_USAGE, "there is no report %s (did you mean %s?)", name, nearest.best);
    return refuse(EXIT_USAGE, "there is no report %s (known: %s)", name, known);
}

/* *sql is the caller's to free. */
static int sql_find(const struct cli_options *line, char **sql)
{
    const char *text = command_text(line, QUERY_SQL), *script = command_text(line, QUERY_SCRIPT);
    const char *report = command_text(line, QUERY_REPORT);
    if (!!text + !!script + !!report != 1)
        return refuse(EXIT_USAGE, "query: one of --sql, --script and --report");
    if (report && !report_find(report))
        return report_unknown(report);
    *sql = script ? query_script_read(script) : strdup(text ? text : report_find(report));
    return *sql ? 0 : refuse(EXIT_USAGE, "%s: cannot be read", script ? script : "query");
}

static int query_run(struct cli_options *line)
{
    const char *format = command_text(line, QUERY_FORMAT);
    const struct window window = {.begin = command_text(line, QUERY_BEGIN),
                                  .end = command_text(line, QUERY_END),
                                  .begin_marker = command_text(line, QUERY_BEGIN_MARKER),
                                  .end_marker = command_text(line, QUERY_END_MARKER)};
    struct inputs inputs = {0};
    char *sql = NULL;
    int status = sql_find(line, &sql);
    if (status == 0)
        status = inputs_find(&inputs, line->operands);
    if (status == 0)
        status = query_inputs(&inputs, &window, sql, command_text(line, QUERY_OUTPUT),
                              format ? grid_format_find(format) : GRID_TABLE);
    inputs_free(&inputs);
    free(sql);
    return status;
}

static const struct command_option options[] = {
    [QUERY_SQL] = {"sql", 'q', OPTION_TEXT, "SQL", "statements, in rocpd's tables and views"},
    [QUERY_SCRIPT] = {"script", 0, OPTION_TEXT, "FILE", "statements from a file"},
    [QUERY_REPORT] = {"report", 'r', OPTION_TEXT, "NAME",
                      "kernels, api, markers, copies, allocations, counters, launches, busy, "
                      "processes or agents"},
    [QUERY_FORMAT] = {"format", 'f', OPTION_CHOICE, "table|csv|json|md|html",
                      "how rows are shown (table)"},
    [QUERY_OUTPUT] = {"output", 'o', OPTION_TEXT, "FILE", "there instead of standard output"},
    [QUERY_BEGIN] = {"begin", 0, OPTION_TEXT, "NS|N%", "leave out what ended before that time"},
    [QUERY_END] = {"end", 0, OPTION_TEXT, "NS|N%", "leave out what began after that time"},
    [QUERY_BEGIN_MARKER] = {"begin-marker", 0, OPTION_TEXT, "TEXT",
                            "leave out what ended before that marker"},
    [QUERY_END_MARKER] = {"end-marker", 0, OPTION_TEXT, "TEXT",
                          "leave out what began after that marker"},
    {0},
};

const struct command command_query = {
    .name = "query",
    .operands = "RECORDING ...",
    .help = "recordings asked in SQL, or by named reports",
    .text = "Up to ten recordings are asked as one. They are never changed.",
    .options = options,
    .operands_min = 1,
    .operands_max = UINT32_MAX,
    .run = query_run,
};
