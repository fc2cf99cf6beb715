/* CSV: strings quoted, quotes doubled, one file a table, created with its first row. */
#include "out.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer.h"

struct out_sink {
    char prefix[PATH_MAX];
    struct writer *writer[OUT_TABLE_COUNT]; /* NULL until the first row */
};

static int csv_open(const char *prefix, struct out_sink **out, char *error, size_t error_size)
{
    struct out_sink *sink = calloc(1, sizeof *sink);
    if (!sink) {
        snprintf(error, error_size, "out of memory");
        return -ENOMEM;
    }
    snprintf(sink->prefix, sizeof sink->prefix, "%s", prefix);
    *out = sink;
    return 0;
}

static void text_put(struct writer *writer, const char *text)
{
    writer_char(writer, '"');
    for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
        writer_bytes(writer, text, (size_t)(quote + 1 - text));
        writer_char(writer, '"');
    }
    writer_bytes(writer, text, strlen(text));
    writer_char(writer, '"');
}

static void path_of(const struct out_sink *sink, int table, char path[PATH_MAX + 64])
{
    snprintf(path, PATH_MAX + 64, "%s_%s.csv", sink->prefix, out_tables[table].file);
}

/* A file that cannot be made keeps its writer, with the error, for close to report. */
static struct writer *table_writer(struct out_sink *sink, enum out_table_id table)
{
    if (sink->writer[table])
        return sink->writer[table];
    struct writer *writer = malloc(sizeof *writer);
    if (!writer)
        return NULL;
    sink->writer[table] = writer;
    char path[PATH_MAX + 64];
    path_of(sink, table, path);
    if (writer_open(writer, path) != 0)
        return writer;
    const struct out_table *layout = &out_tables[table];
    for (size_t i = 0; i < layout->column_count; i++) {
        if (i)
            writer_char(writer, ',');
        text_put(writer, layout->columns[i].name);
    }
    writer_char(writer, '\n');
    return writer;
}

static void agent_put(struct writer *writer, uint64_t node)
{
    writer_char(writer, '"');
    if (node != OUT_NO_AGENT) {
        writer_bytes(writer, "Agent ", 6);
        writer_u64(writer, node);
    }
    writer_char(writer, '"');
}

static void value_put(struct writer *writer, const struct out_column *column, const void *row)
{
    char address[24];
    switch (column->type) {
    case OUT_U64:
        writer_u64(writer, out_column_u64(column, row));
        return;
    case OUT_I32:
        if (out_column_i64(column, row) < 0)
            writer_char(writer, '-');
        writer_u64(writer, (uint64_t)llabs(out_column_i64(column, row)));
        return;
    case OUT_DOUBLE:
        writer_fixed(writer, out_column_double(column, row));
        return;
    case OUT_TEXT:
        text_put(writer, out_column_text(column, row));
        return;
    case OUT_AGENT:
        agent_put(writer, out_column_u64(column, row));
        return;
    case OUT_ADDRESS:
        snprintf(address, sizeof address, "\"0x%016llx\"",
                 (unsigned long long)out_column_u64(column, row));
        writer_bytes(writer, address, strlen(address));
        return;
    }
}

static void csv_row(struct out_sink *sink, enum out_table_id table, const void *row)
{
    struct writer *writer = table_writer(sink, table);
    if (!writer || writer->status != 0)
        return;
    const struct out_table *layout = &out_tables[table];
    for (size_t i = 0; i < layout->column_count; i++) {
        if (i)
            writer_char(writer, ',');
        value_put(writer, &layout->columns[i], row);
    }
    writer_char(writer, '\n');
}

static int csv_close(struct out_sink *sink, char *error, size_t error_size)
{
    int status = 0;
    for (int table = 0; table < OUT_TABLE_COUNT; table++) {
        if (!sink->writer[table])
            continue;
        int this_status = writer_close(sink->writer[table]);
        if (this_status != 0 && status == 0) {
            char path[PATH_MAX + 64];
            path_of(sink, table, path);
            snprintf(error, error_size, "%s: %s", path, strerror(-this_status));
            status = this_status;
        }
        free(sink->writer[table]);
    }
    free(sink);
    return status;
}

const struct out_ops out_csv_ops = {"csv", csv_open, csv_row, csv_close};
