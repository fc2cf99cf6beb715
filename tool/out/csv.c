/* CSV: strings quoted, quotes doubled, one file a table, created with its first row; that of the
 * agents at once, which claims the prefix. */
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

static void quoted_put(struct writer *writer, const char *text, size_t length)
{
    writer_char(writer, '"');
    for (const char *quote; (quote = memchr(text, '"', length));) {
        size_t part = (size_t)(quote + 1 - text);
        writer_bytes(writer, text, part);
        writer_char(writer, '"');
        text += part;
        length -= part;
    }
    writer_bytes(writer, text, length);
    writer_char(writer, '"');
}

static void text_put(struct writer *writer, const char *text)
{
    enum { SHORT = 4096 };
    size_t length = strlen(text);

    if (length > SHORT || memchr(text, '"', length)) {
        quoted_put(writer, text, length);
        return;
    }
    char *at = writer_room(writer, length + 2);
    at[0] = '"';
    memcpy(at + 1, text, length);
    at[length + 1] = '"';
    writer_advance(writer, at + length + 2);
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

/* Values of bounded length, each at most this long with the comma behind it. */
enum { VALUE_BYTES = 40 };

static char *bytes_at(char *at, const char *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

static char *agent_at(char *at, uint64_t node)
{
    if (node == OUT_NO_AGENT)
        return bytes_at(at, "\"\"", 2);
    uint64_t type = node & (OUT_AGENT_CPU | OUT_AGENT_GPU);
    at = type == 0               ? bytes_at(at, "\"Agent ", 7)
         : type == OUT_AGENT_CPU ? bytes_at(at, "\"CPU ", 5)
                                 : bytes_at(at, "\"GPU ", 5);
    at = writer_u64_at(at, (uint32_t)node);
    *at = '"';
    return at + 1;
}

static char *i64_at(char *at, int64_t value)
{
    if (value < 0)
        *at++ = '-';
    return writer_u64_at(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static char *address_at(char *at, uint64_t address)
{
    at = bytes_at(at, "\"0x", 3);
    for (int shift = 60; shift >= 0; shift -= 4)
        *at++ = "0123456789abcdef"[address >> shift & 15];
    *at = '"';
    return at + 1;
}

/* Of columns that are not OUT_U64, as most are. NULL: the value's length has no bound. */
static char *value_at(char *at, const struct out_column *column, const void *row)
{
    switch (column->type) {
    case OUT_I32:
        return i64_at(at, out_column_i64(column, row));
    case OUT_AGENT:
        return agent_at(at, out_column_u64(column, row));
    case OUT_LDS:
        return writer_u64_at(at, out_lds_given(out_column_u64(column, row)));
    case OUT_ADDRESS:
        return address_at(at, out_column_u64(column, row));
    default:
        return NULL;
    }
}

/* How many digits behind the point rocprofv3 gives a value; 0: it has an exponent. */
static int digits_of(enum out_type type, double value)
{
    switch (type) {
    case OUT_COUNTER:
        return value >= 1 ? 6 : 0;
    case OUT_STATISTIC:
        return value > 0.01 ? 6 : 0;
    default: /* OUT_PERCENT */
        return value >= 1 ? 2 : value > 0.01 ? 4 : 0;
    }
}

static void double_put(struct writer *writer, enum out_type type, double value)
{
    char text[400]; /* the largest double has 309 digits before the point */
    int digits = digits_of(type, value);
    if (digits == 6) {
        writer_fixed(writer, value);
        return;
    }
    int length = digits > 0
                     ? snprintf(text, sizeof text, "%.*f", digits, value)
                     : snprintf(text, sizeof text, "%.*e", type == OUT_PERCENT ? 3 : 8, value);
    writer_bytes(writer, text, (size_t)length);
}

static void line_put(struct out_sink *sink, enum out_table_id table, const void *row)
{
    struct writer *writer = table_writer(sink, table);
    if (!writer || writer->status != 0)
        return;
    const struct out_table *layout = &out_tables[table];
    size_t room = (layout->column_count + 1) * VALUE_BYTES;
    char *at = writer_room(writer, room);
    for (size_t i = 0; i < layout->column_count; i++) {
        const struct out_column *column = &layout->columns[i];
        char *end = column->type == OUT_U64 ? writer_u64_at(at, out_column_u64(column, row))
                                            : value_at(at, column, row);
        if (!end) {
            writer_advance(writer, at);
            if (column->type == OUT_TEXT)
                text_put(writer, out_column_text(column, row));
            else
                double_put(writer, column->type, out_column_double(column, row));
            end = writer_room(writer, room);
        }
        at = end;
        *at++ = ',';
    }
    at[-1] = '\n';
    writer_advance(writer, at);
}

bool out_csv_modelled = true;

static void csv_row(struct out_sink *sink, enum out_table_id table, const void *row)
{
    line_put(sink, table, row);
    if (out_csv_modelled && table == OUT_KERNEL_TRACE &&
        ((const struct out_dispatch_row *)row)->modelled_ns)
        line_put(sink, OUT_MODELLED_TIME, row);
}

static void csv_flush(struct out_sink *sink)
{
    for (int table = 0; table < OUT_TABLE_COUNT; table++)
        if (sink->writer[table])
            writer_flush(sink->writer[table]);
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

static int csv_open(const char *prefix, struct out_sink **out, char *error, size_t error_size)
{
    struct out_sink *sink = calloc(1, sizeof *sink);
    if (!sink) {
        snprintf(error, error_size, "out of memory");
        return -ENOMEM;
    }
    snprintf(sink->prefix, sizeof sink->prefix, "%s", prefix);
    const struct writer *first = table_writer(sink, OUT_AGENT_INFO);
    int status = first ? first->status : -ENOMEM;
    if (status == 0) {
        *out = sink;
        return 0;
    }
    csv_close(sink, error, error_size);
    return status;
}

const struct out_ops out_csv_ops = {"csv",     csv_open, csv_row, csv_close,
                                    csv_flush, false,    false,   false};
