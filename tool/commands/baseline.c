#include "baseline.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/json.h"
#include "out/place.h"
#include "query.h"

int baseline_add(struct baseline *baseline, const char *kernel, const char *metric,
                 uint64_t launches, double mean, double percent)
{
    if (baseline->count == baseline->room) {
        unsigned room = baseline->room ? 2 * baseline->room : 64;
        struct baseline_value *grown = realloc(baseline->values, room * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        baseline->values = grown;
        baseline->room = room;
    }
    struct baseline_value *value = &baseline->values[baseline->count++];
    *value = (struct baseline_value){strdup(kernel), strdup(metric), launches, mean, percent};
    return value->kernel && value->metric ? 0 : -ENOMEM;
}

void baseline_free(struct baseline *baseline)
{
    for (unsigned i = 0; i < baseline->count; i++) {
        free(baseline->values[i].kernel);
        free(baseline->values[i].metric);
    }
    free(baseline->values);
    *baseline = (struct baseline){0};
}

static void put(struct writer *writer, const char *text)
{
    writer_bytes(writer, text, strlen(text));
}

/* What is no UTF-8 becomes one unpaired surrogate for each byte, U+DC80 to U+DCFF, which no UTF-8
 * can contain: a name must come back as it was, or it is another kernel's. */
static void name_put(struct writer *writer, const char *name)
{
    char escape[8], part[5] = "";
    writer_char(writer, '"');
    for (size_t length; *name; name += length) {
        length = json_character_length(name);
        if (length == 0) {
            length = 1;
            snprintf(escape, sizeof escape, "\\udc%02x", (unsigned char)*name);
            put(writer, escape);
        } else if ((unsigned char)*name < ' ' || *name == '"' || *name == '\\') {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned char)*name);
            put(writer, escape);
        } else {
            snprintf(part, sizeof part, "%.*s", (int)length, name);
            put(writer, part);
        }
    }
    writer_char(writer, '"');
}

/* JSON has no infinity; what is larger than every double is read as one. */
static void number_put(struct writer *writer, const char *format, double value)
{
    char text[64];
    snprintf(text, sizeof text, format, value);
    put(writer, isinf(value) ? (value < 0 ? "-1e999" : "1e999") : text);
}

static void value_put(struct writer *writer, const struct baseline_value *value)
{
    put(writer, "    {\"kernel\": ");
    name_put(writer, value->kernel);
    put(writer, ", \"metric\": ");
    name_put(writer, value->metric);
    put(writer, ", \"launches\": ");
    writer_u64(writer, value->launches);
    put(writer, ", \"mean\": ");
    number_put(writer, "%.17g", value->mean);
    put(writer, ", \"percent\": ");
    number_put(writer, "%g", value->percent);
    put(writer, "}");
}

static int whole_write(const struct baseline *baseline, const char *path)
{
    static struct writer writer;
    int status = writer_open(&writer, path);
    if (status != 0)
        return status;
    put(&writer, "{\n  \"crocprof_baseline\": 1,\n  \"values\": [\n");
    for (unsigned i = 0; i < baseline->count; i++) {
        value_put(&writer, &baseline->values[i]);
        put(&writer, i + 1 < baseline->count ? ",\n" : "\n");
    }
    put(&writer, "  ]\n}\n");
    return writer_close(&writer);
}

int baseline_write(const struct baseline *baseline, const char *path, char *error,
                   size_t error_size)
{
    char made[PATH_MAX];
    int length = snprintf(made, sizeof made, "%s.%ld", path, (long)getpid());
    int status = length < (int)sizeof made ? place_parent_make(path) : -ENAMETOOLONG;
    if (status == 0)
        status = whole_write(baseline, made);
    if (status == 0 && rename(made, path) != 0)
        status = -errno;
    if (status != 0 && status != -EEXIST)
        unlink(made);
    if (status != 0)
        snprintf(error, error_size, "%s: %s", path, strerror(-status));
    return status;
}

/* The bytes that name_put() made surrogates of: SQLite has each as three, of which the last two are
 * the byte. */
static void name_restore(char *name)
{
    char *to = name;
    for (const char *at = name; *at; at++) {
        const unsigned char *byte = (const unsigned char *)at;
        bool is_escaped = byte[0] == 0xed && (byte[1] == 0xb2 || byte[1] == 0xb3) && byte[2];
        *to++ = is_escaped ? (char)((byte[1] & 3) << 6 | (byte[2] & 0x3f)) : *at;
        at += is_escaped ? 2 : 0;
    }
    *to = 0;
}

static void names_restore(const struct baseline *baseline)
{
    for (unsigned i = 0; i < baseline->count; i++) {
        name_restore(baseline->values[i].kernel);
        name_restore(baseline->values[i].metric);
    }
}

static int values_read(struct baseline *baseline, sqlite3 *database, const char *text)
{
    static const char sql[] =
        "SELECT json_extract(value, '$.kernel'), json_extract(value, '$.metric'), "
        "json_extract(value, '$.launches'), json_extract(value, '$.mean'), json_extract(value, "
        "'$.percent') FROM json_each(?1, '$.values') WHERE json_extract(?1, "
        "'$.crocprof_baseline') = 1";
    sqlite3_stmt *select = NULL;
    int status = sqlite3_prepare_v2(database, sql, -1, &select, NULL) == SQLITE_OK ? 0 : -ENOMEM;
    int step = SQLITE_DONE;
    sqlite3_bind_text(select, 1, text, -1, SQLITE_STATIC);
    while (status == 0 && (step = sqlite3_step(select)) == SQLITE_ROW) {
        const char *kernel = (const char *)sqlite3_column_text(select, 0);
        const char *metric = (const char *)sqlite3_column_text(select, 1);
        bool is_whole = kernel && metric && sqlite3_column_type(select, 3) != SQLITE_NULL;
        status =
            is_whole
                ? baseline_add(baseline, kernel, metric, (uint64_t)sqlite3_column_int64(select, 2),
                               sqlite3_column_double(select, 3), sqlite3_column_double(select, 4))
                : -EINVAL;
    }
    sqlite3_finalize(select);
    return status == 0 && step != SQLITE_DONE ? -EINVAL : status;
}

int baseline_read(struct baseline *baseline, const char *path, char *error, size_t error_size)
{
    char *text = query_script_read(path);
    sqlite3 *database = NULL;
    int status = text ? 0 : -errno;
    if (status == 0 && sqlite3_open(":memory:", &database) != SQLITE_OK)
        status = -ENOMEM;
    if (status == 0)
        status = values_read(baseline, database, text);
    if (status == 0 && baseline->count == 0)
        status = -EINVAL;
    if (status == 0)
        names_restore(baseline);
    else
        snprintf(error, error_size, "%s: %s", path,
                 status == -EINVAL ? "no baseline of crocprof check" : strerror(-status));
    sqlite3_close(database);
    free(text);
    return status;
}
