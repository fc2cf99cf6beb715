#include "merge.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clocks.h"
#include "names/texts.h"
#include "out/rocpd_graphs.h"
#include "out/writer.h"
#include "pages.h"
#include "rocpd_schema.h"
#include "unite.h"

struct merge_table {
    const char *name; /* without the suffix */
    struct unite_table *parts;
    unsigned part_count;
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
    unsigned created;    /* tables of all parts */
    struct clocks first; /* whose clock counts */
    const char *version; /* of the first one's schema */
};

static int sql_run(struct merge *merge, char *sql)
{
    int status = sql ? sqlite3_exec(merge->database, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return status;
}

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

static int database_open(struct merge *merge)
{
    int status = sqlite3_open_v2(merge->path, &merge->database,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (status == SQLITE_OK)
        status = sql_run(merge, sqlite3_mprintf("PRAGMA page_size = 16384; PRAGMA journal_mode = "
                                                "OFF; PRAGMA synchronous = OFF; PRAGMA "
                                                "locking_mode = EXCLUSIVE; PRAGMA cache_size = "
                                                "-16384"));
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
    int status = database_open(merge);
    if (status == SQLITE_OK) {
        *out = merge;
        return 0;
    }
    merge_end(merge, false, error, error_size);
    snprintf(error, error_size, "%s: %s", path, sqlite3_errstr(status));
    return -EIO;
}

static const char *keep(struct merge *merge, const char *text)
{
    const char *kept = texts_keep(&merge->texts, text ? text : "");
    return kept ? kept : "";
}

/* ---- copying */

static const char *const times[] = {"init", "fini", "start", "end", "timestamp"};

/* A table of the part that is being added. */
struct copied {
    char *name, *create;
    uint32_t from_root;          /* 0: not by pages */
    struct pages_table by_pages; /* what was counted on the way */
    bool is_by_pages;
};
enum { COPIED_MAX = 64 };

struct copying {
    struct copied tables[COPIED_MAX];
    unsigned count;
    struct alignment alignment;
    char **damage;
};

static bool is_time(const char *column)
{
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (strcmp(times[i], column) == 0)
            return true;
    return false;
}

/* NULL: nothing of the table is a time. */
static char *times_set(struct merge *merge, const char *table, const struct alignment *alignment)
{
    sqlite3_str *sets = sqlite3_str_new(NULL);
    sqlite3_stmt *columns = NULL;
    sqlite3_prepare_v2(merge->database, "SELECT name FROM pragma_table_info(?)", -1, &columns,
                       NULL);
    sqlite3_bind_text(columns, 1, table, -1, SQLITE_STATIC);
    while (sqlite3_step(columns) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(columns, 0);
        if (is_time(name))
            sqlite3_str_appendf(sets,
                                "%s\"%s\" = \"%s\" + %lld + CAST((\"%s\" - %lld) * %.17g "
                                "AS INTEGER)",
                                sqlite3_str_length(sets) ? ", " : "", name, name,
                                (long long)alignment->shift_ns, name, (long long)alignment->base_ns,
                                alignment->drift);
    }
    sqlite3_finalize(columns);
    return sqlite3_str_finish(sets);
}

static int times_align(struct merge *merge, const char *table, const struct alignment *alignment)
{
    char *sets = alignment_is_none(alignment) ? NULL : times_set(merge, table, alignment);
    int status = SQLITE_OK;
    if (sets)
        status = sql_run(merge, sqlite3_mprintf("UPDATE main.\"%w\" SET %s", table, sets));
    sqlite3_free(sets);
    return status;
}

static int rows_copy(struct merge *merge, const char *table, const struct copying *copying)
{
    int status = sql_run(
        merge, sqlite3_mprintf("INSERT INTO main.\"%w\" SELECT * FROM part.\"%w\"", table, table));
    if ((status & 0xff) == SQLITE_CORRUPT || (status & 0xff) == SQLITE_NOTADB) {
        if (!*copying->damage)
            *copying->damage = sqlite3_mprintf("%s", sqlite3_errmsg(merge->database));
        status = SQLITE_OK; /* as far as it goes */
    }
    return status == SQLITE_OK ? times_align(merge, table, &copying->alignment) : status;
}

/* ---- by pages */

/* Which columns are times; false: rows do not have one value for each column. */
static bool columns_read(struct merge *merge, struct copied *table)
{
    sqlite3_stmt *columns = NULL;
    struct pages_table *to = &table->by_pages;
    bool is_plain = true;
    to->start_column = to->end_column = to->json_column = -1;
    sqlite3_prepare_v2(merge->database, "SELECT cid, name, hidden FROM pragma_table_xinfo(?)", -1,
                       &columns, NULL);
    sqlite3_bind_text(columns, 1, table->name, -1, SQLITE_STATIC);
    while (sqlite3_step(columns) == SQLITE_ROW) {
        int column = sqlite3_column_int(columns, 0);
        const char *name = (const char *)sqlite3_column_text(columns, 1);
        is_plain = is_plain && sqlite3_column_int(columns, 2) == 0 && column < PAGES_COLUMNS_MAX;
        if (is_plain && strcmp(name, "extdata") == 0)
            to->json_column = column;
        if (!is_plain || !is_time(name))
            continue;
        to->time_columns |= 1ull << column;
        to->start_column = strcmp(name, "start") == 0 ? column : to->start_column;
        to->end_column = strcmp(name, "end") == 0 ? column : to->end_column;
    }
    sqlite3_finalize(columns);
    return is_plain;
}

static int attach(struct merge *merge, const char *path)
{
    return sql_run(merge, sqlite3_mprintf("ATTACH %Q AS part; BEGIN", path));
}

static int detach(struct merge *merge)
{
    int status = sql_run(merge, sqlite3_mprintf("COMMIT"));
    sql_run(merge, sqlite3_mprintf("DETACH part"));
    return status;
}

/* Tables without indices, of a recording that is whole. The database is closed meanwhile, so that
 * nothing of it is remembered. */
static int tables_copy_pages(struct merge *merge, const char *path, struct copying *copying)
{
    uint32_t roots[COPIED_MAX] = {0};
    for (unsigned i = 0; i < copying->count; i++) {
        struct copied *table = &copying->tables[i];
        if (table->from_root && columns_read(merge, table))
            roots[i] = (uint32_t)number(
                merge, sqlite3_mprintf("SELECT rootpage FROM main.sqlite_master WHERE name = %Q",
                                       table->name));
        table->by_pages.alignment = copying->alignment;
    }
    int status = detach(merge);
    if (status != SQLITE_OK)
        return status;
    sqlite3_close(merge->database);
    merge->database = NULL;
    struct pages *pages = pages_open(path, merge->path);
    for (unsigned i = 0; pages && i < copying->count && (status == 0 || status == -EINVAL); i++) {
        struct copied *table = &copying->tables[i];
        status =
            roots[i] ? pages_copy(pages, table->from_root, roots[i], &table->by_pages) : -EINVAL;
        table->is_by_pages = status == 0;
    }
    int closed = pages ? pages_close(pages) : 0;
    int opened = database_open(merge);
    if (closed != 0 || (status != 0 && status != -EINVAL))
        return closed == -ENOSPC || status == -ENOSPC ? SQLITE_FULL : SQLITE_IOERR;
    return opened == SQLITE_OK ? attach(merge, path) : opened;
}

/* Ids that were given are not given again. */
static int sequence_copy(struct merge *merge, const char *table)
{
    return sql_run(merge, sqlite3_mprintf("INSERT INTO main.sqlite_sequence SELECT name, seq FROM "
                                          "part.sqlite_sequence WHERE name = %Q",
                                          table));
}

/* ---- */

/* NULL: no part has such a table. */
static struct merge_table *table_find(struct merge *merge, const char *name, size_t length)
{
    for (unsigned i = 0; i < merge->table_count; i++)
        if (strlen(merge->tables[i].name) == length &&
            strncmp(merge->tables[i].name, name, length) == 0)
            return &merge->tables[i];
    return NULL;
}

static int view_add(struct merge *merge, const char *table, const char *suffix)
{
    const size_t length = strlen(table) - strlen(suffix);
    struct merge_table *found = table_find(merge, table, length);
    if (!found) {
        char name[128];
        if (merge->table_count == sizeof merge->tables / sizeof merge->tables[0])
            return SQLITE_FULL;
        snprintf(name, sizeof name, "%.*s", (int)length, table);
        found = &merge->tables[merge->table_count++];
        *found = (struct merge_table){.name = keep(merge, name)};
    }
    struct unite_table *grown =
        sqlite3_realloc64(found->parts, (found->part_count + 1) * sizeof *grown);
    if (!grown)
        return SQLITE_NOMEM;
    found->parts = grown;
    found->parts[found->part_count++] = (struct unite_table){"main", keep(merge, table)};
    return SQLITE_OK;
}

static bool is_of(const char *table, const char *suffix)
{
    size_t length = strlen(table), suffix_length = strlen(suffix);
    return strncmp(table, "rocpd_", 6) == 0 && length > suffix_length &&
           strcmp(table + length - suffix_length, suffix) == 0;
}

static int tables_find(struct merge *merge, const struct recording_part *part, bool is_whole,
                       struct copying *copying)
{
    sqlite3_stmt *tables = NULL;
    int status = sqlite3_prepare_v2(
        merge->database,
        "SELECT name, sql, rootpage, EXISTS (SELECT 1 FROM part.sqlite_master I WHERE I.type = "
        "'index' AND I.tbl_name = T.name) FROM part.sqlite_master T WHERE type = 'table' ORDER BY "
        "rowid",
        -1, &tables, NULL);
    while (status == SQLITE_OK && copying->count < COPIED_MAX &&
           sqlite3_step(tables) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(tables, 0);
        const char *sql = (const char *)sqlite3_column_text(tables, 1);
        if (!name || !sql || !is_of(name, part->suffix))
            continue;
        struct copied *table = &copying->tables[copying->count++];
        table->name = strdup(name);
        table->create = strdup(sql);
        if (!table->name || !table->create)
            status = SQLITE_NOMEM;
        if (is_whole && !sqlite3_column_int(tables, 3))
            table->from_root = (uint32_t)sqlite3_column_int64(tables, 2);
    }
    sqlite3_finalize(tables);
    return status;
}

/* By pages a byte takes 1.8 ns and not 9.7 (four parts of 48 MB), but the database is opened twice,
 * and SQLite reads what all tables of the parts before are, 16 us for each: 160 small recordings
 * took three times as long. */
static bool pages_pay(const struct merge *merge, const char *path)
{
    enum { BYTES_OF_A_TABLE = 2000 };
    struct stat file;
    return stat(path, &file) == 0 && file.st_size / BYTES_OF_A_TABLE > (off_t)merge->created;
}

/* The same statements that made the tables make them again; rows follow by pages where that can be
 * and pays, else one by one. */
static int tables_copy(struct merge *merge, const char *path, bool is_whole,
                       struct copying *copying)
{
    int status = SQLITE_OK;
    for (unsigned i = 0; i < copying->count && status == SQLITE_OK; i++)
        status = sql_run(merge, sqlite3_mprintf("%s", copying->tables[i].create));
    merge->created += copying->count;
    if (is_whole && status == SQLITE_OK && pages_pay(merge, path))
        status = tables_copy_pages(merge, path, copying);
    for (unsigned i = 0; i < copying->count && status == SQLITE_OK; i++)
        status = copying->tables[i].is_by_pages
                     ? sequence_copy(merge, copying->tables[i].name)
                     : rows_copy(merge, copying->tables[i].name, copying);
    return status;
}

static void copying_free(struct copying *copying)
{
    for (unsigned i = 0; i < copying->count; i++) {
        free(copying->tables[i].name);
        free(copying->tables[i].create);
    }
    free(copying);
}

/* All tables of one process. */
static int part_copy(struct merge *merge, const char *path, const struct recording_part *part,
                     bool is_whole, struct copying *copying)
{
    int status = tables_find(merge, part, is_whole, copying);
    if (status == SQLITE_OK)
        status = tables_copy(merge, path, is_whole, copying);
    for (unsigned i = 0; i < copying->count && status == SQLITE_OK; i++)
        status = view_add(merge, copying->tables[i].name, part->suffix);
    return status;
}

/* ---- what is said of a process */

/* Of which tables of a part, and what of it. */
struct sums {
    uint64_t rows;
    int64_t first_ns, last_ns, total_ns;
    int64_t modelled_ns; /* of `modelled_rows` of them */
    uint64_t modelled_rows;
};

/* What was counted while it was copied, or else by asking. */
static struct sums sums_of(struct merge *merge, const struct copying *copying, const char *table,
                           const char *suffix)
{
    char name[256];
    snprintf(name, sizeof name, "rocpd_%s%s", table, suffix);
    for (unsigned i = 0; i < copying->count; i++) {
        const struct pages_table *by_pages = &copying->tables[i].by_pages;
        if (copying->tables[i].is_by_pages && strcmp(copying->tables[i].name, name) == 0)
            return (struct sums){by_pages->rows,        by_pages->first_ns,
                                 by_pages->last_ns,     by_pages->total_ns,
                                 by_pages->modelled_ns, by_pages->modelled_rows};
    }
    struct sums sums = {0, INT64_MAX, INT64_MIN, 0, 0, 0};
    sqlite3_stmt *select = NULL;
    char *sql = sqlite3_mprintf(
        "SELECT count(*), min(start), max(\"end\"), sum(\"end\" - start), sum(m), count(m) FROM "
        "(SELECT *, CASE WHEN json_valid(extdata) THEN json_extract(extdata, '$.modelled_ns') END "
        "m "
        "FROM main.\"%w\")",
        name);
    if (sql && sqlite3_prepare_v2(merge->database, sql, -1, &select, NULL) == SQLITE_OK &&
        sqlite3_step(select) == SQLITE_ROW && sqlite3_column_int64(select, 0) > 0)
        sums = (struct sums){
            (uint64_t)sqlite3_column_int64(select, 0), sqlite3_column_int64(select, 1),
            sqlite3_column_int64(select, 2),           sqlite3_column_int64(select, 3),
            sqlite3_column_int64(select, 4),           (uint64_t)sqlite3_column_int64(select, 5)};
    sqlite3_finalize(select);
    sqlite3_free(sql);
    return sums;
}

static int part_describe(struct merge *merge, const char *path, const struct recording_part *part,
                         const struct copying *copying)
{
    struct merge_part *grown =
        realloc(merge->parts, (merge->part_count + 1) * sizeof *merge->parts);
    if (!grown)
        return SQLITE_NOMEM;
    const struct sums calls = sums_of(merge, copying, "region", part->suffix),
                      kernels = sums_of(merge, copying, "kernel_dispatch", part->suffix),
                      copies = sums_of(merge, copying, "memory_copy", part->suffix);
    const struct sums *const all[] = {&calls, &kernels, &copies};
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (int i = 0; i < 3; i++) {
        first_ns = all[i]->first_ns < first_ns ? all[i]->first_ns : first_ns;
        last_ns = all[i]->last_ns > last_ns ? all[i]->last_ns : last_ns;
    }
    merge->parts = grown;
    grown[merge->part_count++] = (struct merge_part){.path = keep(merge, path),
                                                     .hostname = keep(merge, part->hostname),
                                                     .command = keep(merge, part->command),
                                                     .pid = part->pid,
                                                     .rank = part->rank,
                                                     .ranks = part->ranks,
                                                     .shift_ns = copying->alignment.shift_ns,
                                                     .drift = copying->alignment.drift,
                                                     .first_ns = first_ns <= last_ns ? first_ns : 0,
                                                     .last_ns = first_ns <= last_ns ? last_ns : 0,
                                                     .kernel_ns = kernels.total_ns,
                                                     .modelled_ns = kernels.modelled_ns,
                                                     .modelled = kernels.modelled_rows,
                                                     .calls = calls.rows,
                                                     .kernels = kernels.rows};
    return SQLITE_OK;
}

static int refused(const char *path, const char *why, char *error, size_t error_size)
{
    snprintf(error, error_size, "%s: %s", path, why);
    return -EINVAL;
}

/* Of one major version: newer ones have only more of everything. */
static bool versions_agree(const char *left, const char *right)
{
    size_t major = strcspn(left, ".");
    return major == strcspn(right, ".") && strncmp(left, right, major) == 0;
}

/* Everything that can be found out before anything is written. */
static int part_check(struct merge *merge, const char *path, const struct recording_part *part,
                      char *error, size_t error_size)
{
    bool is_new = false;
    if (merge->version && !versions_agree(merge->version, part->version))
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
                    bool is_whole, char **damage)
{
    struct copying *copying = calloc(1, sizeof *copying);
    if (!copying)
        return SQLITE_NOMEM;
    struct clocks clocks = clocks_read(&merge->texts, merge->database, part);
    if (!merge->version) {
        merge->version = keep(merge, part->version);
        merge->first = clocks;
    }
    copying->alignment = clocks_alignment(&merge->first, &clocks);
    copying->damage = damage;
    int status = part_copy(merge, path, part, is_whole, copying);
    if (status == SQLITE_OK)
        status = part_describe(merge, path, part, copying);
    copying_free(copying);
    return status;
}

static int parts_add(struct merge *merge, const char *path, struct recording *recording,
                     char **damage)
{
    bool is_whole = !recording_damage(recording);
    int status = SQLITE_OK;
    /* Nobody writes to it meanwhile. */
    sqlite3_exec(recording_database(recording), "BEGIN; SELECT count(*) FROM sqlite_master", NULL,
                 NULL, NULL);
    for (unsigned i = 0; i < recording_part_count(recording) && status == SQLITE_OK; i++)
        status = part_add(merge, path, recording_part(recording, i), is_whole, damage);
    return status;
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
    if (status == 0 && attach(merge, path) != 0)
        status = refused(path, sqlite3_errmsg(merge->database), error, error_size);
    int copied = status == 0 ? parts_add(merge, path, recording, &sqlite_damage) : SQLITE_OK;
    if (copied != SQLITE_OK) {
        snprintf(error, error_size, "%s: %s", merge->path,
                 merge->database && sqlite3_errcode(merge->database) != SQLITE_OK
                     ? sqlite3_errmsg(merge->database)
                     : sqlite3_errstr(copied));
        status = -EIO;
    }
    detach(merge);
    sql_run(merge, sqlite3_mprintf("PRAGMA writable_schema = OFF"));
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

static int view_make(struct merge *merge, const struct merge_table *table)
{
    char *terms = unite_terms(merge->database, table->parts, table->part_count, "");
    int status =
        terms ? sql_run(merge, sqlite3_mprintf("CREATE VIEW \"%w\" AS %s", table->name, terms))
              : SQLITE_NOMEM;
    sqlite3_free(terms);
    return status;
}

/* Views over all of a table, and those that the schema has over these. */
static int views_make(struct merge *merge)
{
    int status = SQLITE_OK;
    for (unsigned i = 0; i < merge->table_count && status == SQLITE_OK; i++)
        status = view_make(merge, &merge->tables[i]);
    bool has_samples = recording_has_samples(merge->database, "");
    for (size_t i = 0; i < sizeof rocpd_schema / sizeof rocpd_schema[0] && status == SQLITE_OK; i++)
        if (strncmp(rocpd_schema[i], "CREATE VIEW", 11) == 0 &&
            !strstr(rocpd_schema[i], "{{uuid}}"))
            status = sql_run(merge, recording_view(rocpd_schema[i], has_samples));
    if (status == SQLITE_OK &&
        table_find(merge, "rocpd_graph_launch", strlen("rocpd_graph_launch")))
        status = sql_run(merge, sqlite3_mprintf("%s", ROCPD_GRAPH_LAUNCHES));
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
        sqlite3_free(merge->tables[i].parts);
    texts_free(&merge->texts);
    texts_free(&merge->guids);
    free(merge->parts);
    free(merge);
    return result;
}
