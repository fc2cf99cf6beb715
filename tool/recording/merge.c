#include "merge.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names/texts.h"
#include "out/writer.h"
#include "rocpd_schema.h"

/* Two ways to say what time it is: that of records, and the world's. */
struct clocks {
    const char *boot, *hostname, *machine_id;
    int64_t world_ns, record_ns; /* at the beginning */
    double rate;                 /* of the world's for one of the record's */
};

struct merge_table {
    const char *name; /* without the suffix */
    char *terms;      /* of its view: SELECT ... UNION ALL SELECT ... */
};

struct merge {
    char path[4096];
    sqlite3 *database;
    struct texts texts;
    struct texts guids;
    struct merge_table tables[64];
    unsigned table_count;
    struct merge_part *parts;
    unsigned part_count;
    struct clocks first; /* whose clock counts */
    const char *version; /* of the first one's schema */
};

static int sql_run(struct merge *merge, char *sql)
{
    int status = sql ? sqlite3_exec(merge->database, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return status;
}

int merge_begin(struct merge **out, const char *path, char *error, size_t error_size)
{
    struct merge *merge = calloc(1, sizeof *merge);
    int file = merge ? writer_file_create(path) : -ENOMEM;
    if (file < 0) {
        snprintf(error, error_size, "%s: %s", path, strerror(-file));
        free(merge);
        return file;
    }
    close(file);
    snprintf(merge->path, sizeof merge->path, "%s", path);
    int status =
        sqlite3_open_v2(path, &merge->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (status == SQLITE_OK)
        status = sql_run(merge, sqlite3_mprintf("PRAGMA page_size = 16384; PRAGMA journal_mode = "
                                                "OFF; PRAGMA synchronous = OFF; PRAGMA "
                                                "locking_mode = EXCLUSIVE; PRAGMA cache_size = "
                                                "-16384"));
    if (status == SQLITE_OK) {
        *out = merge;
        return 0;
    }
    merge_end(merge, false, error, error_size);
    snprintf(error, error_size, "%s: %s", path, sqlite3_errstr(status));
    return -EIO;
}

/* ---- clocks */

static const char *keep(struct merge *merge, const char *text)
{
    const char *kept = texts_keep(&merge->texts, text ? text : "");
    return kept ? kept : "";
}

/* The milliseconds in a guid of version 7, which was made when the process began. */
static int64_t guid_world_ns(const char *guid)
{
    uint64_t value = 0;
    int digits = 0;
    for (; *guid && digits < 12; guid++)
        if (*guid != '-') {
            const char *hex = "0123456789abcdef", *found = strchr(hex, *guid);
            value = value << 4 | (uint64_t)(found ? found - hex : 0);
            digits++;
        }
    return (int64_t)value * 1000000;
}

/* What the part says of its clock; without it, what its guid and its beginning say. */
static struct clocks clocks_read(struct merge *merge, const struct recording_part *part)
{
    struct clocks clocks = {keep(merge, ""),
                            keep(merge, part->hostname),
                            keep(merge, part->machine_id),
                            guid_world_ns(part->guid),
                            part->init_ns,
                            1};
    sqlite3_stmt *select = NULL;
    sqlite3_prepare_v2(merge->database,
                       "SELECT json_extract(?1, '$.crocprof_boot'), json_extract(?1, "
                       "'$.crocprof_clock[0]'), json_extract(?1, '$.crocprof_clock[1]'), "
                       "json_extract(?1, '$.crocprof_clock[2]'), json_extract(?1, "
                       "'$.crocprof_clock[3]') WHERE json_valid(?1)",
                       -1, &select, NULL);
    sqlite3_bind_text(select, 1, part->extdata, -1, SQLITE_STATIC);
    if (sqlite3_step(select) == SQLITE_ROW && sqlite3_column_type(select, 1) != SQLITE_NULL) {
        int64_t value[4];
        for (int i = 0; i < 4; i++)
            value[i] = sqlite3_column_int64(select, 1 + i);
        clocks.boot = keep(merge, (const char *)sqlite3_column_text(select, 0));
        clocks.world_ns = value[0];
        clocks.record_ns = value[1];
        if (value[3] > value[1]) /* the world's clock may be set, but not by much */
            clocks.rate = (double)(value[2] - value[0]) / (double)(value[3] - value[1]);
        if (fabs(clocks.rate - 1) > 1e-3)
            clocks.rate = 1;
    }
    sqlite3_finalize(select);
    return clocks;
}

/* One machine, since it was last started, has one clock. */
static bool is_same_clock(const struct clocks *a, const struct clocks *b)
{
    enum { NEAR_NS = 1000000000 };
    int64_t apart = (a->world_ns - a->record_ns) - (b->world_ns - b->record_ns);
    if (a->boot[0] && b->boot[0])
        return strcmp(a->boot, b->boot) == 0;
    return strcmp(a->machine_id, b->machine_id) == 0 && strcmp(a->hostname, b->hostname) == 0 &&
           apart > -NEAR_NS && apart < NEAR_NS;
}

/* A time T becomes T + shift + (T - base) * drift. */
struct alignment {
    int64_t base_ns, shift_ns;
    double drift;
};

static struct alignment alignment_of(const struct clocks *first, const struct clocks *clocks)
{
    struct alignment alignment = {0, 0, 0};
    if (is_same_clock(first, clocks))
        return alignment;
    double world_ns = (double)(clocks->world_ns - first->world_ns);
    alignment.base_ns = clocks->record_ns;
    alignment.shift_ns = first->record_ns + (int64_t)(world_ns / first->rate) - clocks->record_ns;
    alignment.drift = clocks->rate / first->rate - 1;
    return alignment;
}

static bool is_aligned(const struct alignment *alignment)
{
    return alignment->shift_ns == 0 && alignment->drift == 0;
}

/* ---- copying */

static const char *const times[] = {"init", "fini", "start", "end", "timestamp"};

/* NULL: nothing of the table is a time. */
static char *times_set(struct merge *merge, const char *table, const struct alignment *alignment)
{
    sqlite3_str *sets = sqlite3_str_new(NULL);
    sqlite3_stmt *columns = NULL;
    sqlite3_prepare_v2(merge->database, "SELECT name FROM pragma_table_info(?)", -1, &columns,
                       NULL);
    sqlite3_bind_text(columns, 1, table, -1, SQLITE_STATIC);
    while (sqlite3_step(columns) == SQLITE_ROW)
        for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
            if (strcmp(times[i], (const char *)sqlite3_column_text(columns, 0)) == 0)
                sqlite3_str_appendf(sets,
                                    "%s\"%s\" = \"%s\" + %lld + CAST((\"%s\" - %lld) * %.17g "
                                    "AS INTEGER)",
                                    sqlite3_str_length(sets) ? ", " : "", times[i], times[i],
                                    (long long)alignment->shift_ns, times[i],
                                    (long long)alignment->base_ns, alignment->drift);
    sqlite3_finalize(columns);
    return sqlite3_str_finish(sets);
}

static int times_align(struct merge *merge, const char *table, const struct alignment *alignment)
{
    char *sets = is_aligned(alignment) ? NULL : times_set(merge, table, alignment);
    int status = SQLITE_OK;
    if (sets)
        status = sql_run(merge, sqlite3_mprintf("UPDATE main.\"%w\" SET %s", table, sets));
    sqlite3_free(sets);
    return status;
}

/* The same statement that made the table makes it again: then whole pages can be copied. */
static int table_copy(struct merge *merge, const char *table, const char *create,
                      const struct alignment *alignment, char **damage)
{
    int status = sql_run(merge, sqlite3_mprintf("%s", create));
    if (status == SQLITE_OK)
        status = sql_run(merge, sqlite3_mprintf("INSERT INTO main.\"%w\" SELECT * FROM part.\"%w\"",
                                                table, table));
    if ((status & 0xff) == SQLITE_CORRUPT || (status & 0xff) == SQLITE_NOTADB) {
        if (!*damage)
            *damage = sqlite3_mprintf("%s", sqlite3_errmsg(merge->database));
        status = SQLITE_OK; /* as far as it goes */
    }
    return status == SQLITE_OK ? times_align(merge, table, alignment) : status;
}

static int view_add(struct merge *merge, const char *table, const char *suffix)
{
    const size_t length = strlen(table) - strlen(suffix);
    struct merge_table *found = NULL;
    for (unsigned i = 0; i < merge->table_count && !found; i++)
        if (strlen(merge->tables[i].name) == length &&
            strncmp(merge->tables[i].name, table, length) == 0)
            found = &merge->tables[i];
    if (!found) {
        char name[128];
        if (merge->table_count == sizeof merge->tables / sizeof merge->tables[0])
            return SQLITE_FULL;
        snprintf(name, sizeof name, "%.*s", (int)length, table);
        found = &merge->tables[merge->table_count++];
        *found = (struct merge_table){keep(merge, name), NULL};
    }
    char *terms = sqlite3_mprintf("%s%sSELECT * FROM \"%w\"", found->terms ? found->terms : "",
                                  found->terms ? " UNION ALL " : "", table);
    sqlite3_free(found->terms);
    found->terms = terms;
    return terms ? SQLITE_OK : SQLITE_NOMEM;
}

static bool is_of(const char *table, const char *suffix)
{
    size_t length = strlen(table), suffix_length = strlen(suffix);
    return strncmp(table, "rocpd_", 6) == 0 && length > suffix_length &&
           strcmp(table + length - suffix_length, suffix) == 0;
}

/* All tables of one process. */
static int part_copy(struct merge *merge, const struct recording_part *part,
                     const struct alignment *alignment, char **damage)
{
    sqlite3_stmt *tables = NULL;
    int step, status = sqlite3_prepare_v2(merge->database,
                                          "SELECT name, sql FROM part.sqlite_master WHERE type = "
                                          "'table' ORDER BY rowid",
                                          -1, &tables, NULL);
    char *names[64], *creates[64];
    unsigned count = 0;
    while (status == SQLITE_OK && count < 64 && (step = sqlite3_step(tables)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(tables, 0);
        if (!is_of(name, part->suffix))
            continue;
        names[count] = strdup(name);
        creates[count++] = strdup((const char *)sqlite3_column_text(tables, 1));
    }
    sqlite3_finalize(tables);
    for (unsigned i = 0; i < count; i++) {
        if (status == SQLITE_OK && names[i] && creates[i])
            status = table_copy(merge, names[i], creates[i], alignment, damage);
        if (status == SQLITE_OK)
            status = view_add(merge, names[i], part->suffix);
        free(names[i]);
        free(creates[i]);
    }
    return status;
}

/* ---- what is said of a process */

static int64_t number(struct merge *merge, char *sql)
{
    sqlite3_stmt *select = NULL;
    int64_t value = 0;
    if (sql)
        sqlite3_prepare_v2(merge->database, sql, -1, &select, NULL);
    if (select && sqlite3_step(select) == SQLITE_ROW)
        value = sqlite3_column_int64(select, 0);
    sqlite3_finalize(select);
    sqlite3_free(sql);
    return value;
}

static int part_describe(struct merge *merge, const char *path, const struct recording_part *part,
                         const struct alignment *alignment)
{
    struct merge_part *grown =
        realloc(merge->parts, (merge->part_count + 1) * sizeof *merge->parts);
    const char *s = part->suffix;
    if (!grown)
        return SQLITE_NOMEM;
    merge->parts = grown;
    struct merge_part *made = &grown[merge->part_count++];
    *made = (struct merge_part){.path = keep(merge, path),
                                .hostname = keep(merge, part->hostname),
                                .command = keep(merge, part->command),
                                .pid = part->pid,
                                .rank = part->rank,
                                .shift_ns = alignment->shift_ns};
    made->calls =
        (uint64_t)number(merge, sqlite3_mprintf("SELECT count(*) FROM \"rocpd_region%w\"", s));
    made->kernels = (uint64_t)number(
        merge, sqlite3_mprintf("SELECT count(*) FROM \"rocpd_kernel_dispatch%w\"", s));
    made->kernel_ns = number(
        merge, sqlite3_mprintf("SELECT sum(\"end\" - start) FROM \"rocpd_kernel_dispatch%w\"", s));
    for (int last = 0; last < 2; last++)
        *(last ? &made->last_ns : &made->first_ns) = number(
            merge,
            sqlite3_mprintf("SELECT %s(t) FROM (SELECT %s(%s) t FROM \"rocpd_region%w\" "
                            "UNION ALL SELECT %s(%s) FROM \"rocpd_kernel_dispatch%w\" UNION "
                            "ALL SELECT %s(%s) FROM \"rocpd_memory_copy%w\")",
                            last ? "max" : "min", last ? "max" : "min", last ? "\"end\"" : "start",
                            s, last ? "max" : "min", last ? "\"end\"" : "start", s,
                            last ? "max" : "min", last ? "\"end\"" : "start", s));
    return SQLITE_OK;
}

static int refused(const char *path, const char *why, char *error, size_t error_size)
{
    snprintf(error, error_size, "%s: %s", path, why);
    return -EINVAL;
}

/* Everything that can be found out before anything is written. */
static int part_check(struct merge *merge, const char *path, const struct recording_part *part,
                      char *error, size_t error_size)
{
    bool is_new = false;
    if (merge->version && strcmp(merge->version, part->version) != 0)
        return refused(path, "of another version of the schema than those before", error,
                       error_size);
    if (!part->suffix[0])
        return refused(path, "its tables have no guid", error, error_size);
    texts_id(&merge->guids, part->guid, &is_new);
    if (!is_new)
        return refused(path, "this recording is there already", error, error_size);
    return 0;
}

static int part_add(struct merge *merge, const char *path, const struct recording_part *part,
                    char **damage)
{
    struct clocks clocks = clocks_read(merge, part);
    if (!merge->version) {
        merge->version = keep(merge, part->version);
        merge->first = clocks;
    }
    struct alignment alignment = alignment_of(&merge->first, &clocks);
    int status = part_copy(merge, part, &alignment, damage);
    return status == SQLITE_OK ? part_describe(merge, path, part, &alignment) : status;
}

int merge_add(struct merge *merge, const char *path, char **damage, char *error, size_t error_size)
{
    struct recording *recording;
    char *sqlite_damage = NULL;
    *damage = NULL;
    int status = recording_open(&recording, path, error, error_size);
    if (status != 0)
        return status;
    for (unsigned i = 0; i < recording_part_count(recording) && status == 0; i++)
        status = part_check(merge, path, recording_part(recording, i), error, error_size);
    if (status == 0 && recording_damage(recording))
        sql_run(merge, sqlite3_mprintf("PRAGMA writable_schema = ON"));
    if (status == 0 && sql_run(merge, sqlite3_mprintf("ATTACH %Q AS part; BEGIN", path)) != 0)
        status = refused(path, sqlite3_errmsg(merge->database), error, error_size);
    int copied = SQLITE_OK;
    for (unsigned i = 0; i < recording_part_count(recording) && status == 0 && copied == 0; i++)
        copied = part_add(merge, path, recording_part(recording, i), &sqlite_damage);
    if (copied != SQLITE_OK) {
        snprintf(error, error_size, "%s: %s", merge->path, sqlite3_errmsg(merge->database));
        status = -EIO;
    }
    sql_run(merge, sqlite3_mprintf("COMMIT"));
    sql_run(merge, sqlite3_mprintf("DETACH part; PRAGMA writable_schema = OFF"));
    if (recording_damage(recording))
        *damage = strdup(recording_damage(recording));
    else if (sqlite_damage && asprintf(damage, "%s: %s", path, sqlite_damage) < 0)
        *damage = NULL;
    sqlite3_free(sqlite_damage);
    recording_close(recording);
    return status;
}

unsigned merge_part_count(const struct merge *merge)
{
    return merge->part_count;
}

const struct merge_part *merge_part(const struct merge *merge, unsigned index)
{
    return &merge->parts[index];
}

/* Views over all of a table, and those that the schema has over these. */
static int views_make(struct merge *merge)
{
    int status = SQLITE_OK;
    for (unsigned i = 0; i < merge->table_count && status == SQLITE_OK; i++)
        status = sql_run(merge, sqlite3_mprintf("CREATE VIEW \"%w\" AS %s", merge->tables[i].name,
                                                merge->tables[i].terms));
    for (size_t i = 0; i < sizeof rocpd_schema / sizeof rocpd_schema[0] && status == SQLITE_OK; i++)
        if (strncmp(rocpd_schema[i], "CREATE VIEW", 11) == 0 &&
            !strstr(rocpd_schema[i], "{{uuid}}"))
            status = sql_run(merge, sqlite3_mprintf("%s", rocpd_schema[i]));
    return status;
}

int merge_end(struct merge *merge, bool keeps, char *error, size_t error_size)
{
    int result = 0, status = keeps ? views_make(merge) : SQLITE_OK;
    if (status != SQLITE_OK) {
        snprintf(error, error_size, "%s: %s", merge->path, sqlite3_errmsg(merge->database));
        result = -EIO;
    }
    sqlite3_close(merge->database);
    if (!keeps)
        unlink(merge->path);
    for (unsigned i = 0; i < merge->table_count; i++)
        sqlite3_free(merge->tables[i].terms);
    texts_free(&merge->texts);
    texts_free(&merge->guids);
    free(merge->parts);
    free(merge);
    return result;
}
