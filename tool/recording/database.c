/* Opens a database and finds the processes in it. */
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/rank_list.h"

enum { BUSY_WAIT_MS = 2000 };

void recording_damaged(struct recording *recording, const char *format, ...)
{
    char *what = NULL;
    va_list args;
    if (recording->damage)
        return;
    va_start(args, format);
    if (vasprintf(&what, format, args) < 0)
        what = NULL;
    va_end(args);
    if (asprintf(&recording->damage, "%s: %s", recording->path, what ? what : "damaged") < 0)
        recording->damage = NULL;
    free(what);
}

void recording_odd(struct recording *recording, const char *what)
{
    if (!recording->oddity && asprintf(&recording->oddity, "%s: %s", recording->path, what) < 0)
        recording->oddity = NULL;
}

const char *recording_damage(const struct recording *recording)
{
    return recording->damage ? recording->damage : recording->oddity;
}

const char *recording_text(struct recording *recording, const char *text)
{
    const char *kept = text && *text ? texts_keep(&recording->texts, text) : "";
    return kept ? kept : "";
}

const char *recording_message(struct recording *recording, const char *text)
{
    size_t bytes = strlen(text) + 1;
    if (recording->message_bytes + bytes <= MESSAGES_KEPT_BYTES) {
        recording->message_bytes += bytes;
        return recording_text(recording, text);
    }
    char **slot = &recording->latest[recording->latest_at++ % MESSAGES_LATEST];
    free(*slot);
    *slot = strdup(text);
    return *slot ? *slot : "";
}

static int status_of(int sqlite)
{
    switch (sqlite & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
        return -EACCES;
    default:
        return -EINVAL;
    }
}

static int failed(struct recording *recording, int sqlite, char *error, size_t error_size)
{
    int status = status_of(sqlite);
    const char *why = status == -EBUSY                   ? "another process is writing it"
                      : (sqlite & 0xff) == SQLITE_NOTADB ? "no recording: it is not a database"
                                                         : sqlite3_errmsg(recording->database);
    snprintf(error, error_size, "%s: %s", recording->path, why);
    return status;
}

/* Reads one number, so that a journal that was left there is played back. A file that was cut short
 * is only read by those who say that they know: they may write the schema, which query_only then
 * forbids. */
static int database_try(struct recording *recording, const char *name, int flags)
{
    static const char read[] = "PRAGMA query_only = ON; SELECT count(*) FROM sqlite_master";
    int status = sqlite3_open_v2(name, &recording->database, flags | SQLITE_OPEN_NOMUTEX, NULL);
    sqlite3 *database = recording->database;
    sqlite3_busy_timeout(database, BUSY_WAIT_MS);
    if (status == SQLITE_OK)
        status = sqlite3_exec(database, read, NULL, NULL, NULL);
    if (status != SQLITE_CORRUPT)
        return status;
    sqlite3_exec(database, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
    status = sqlite3_exec(database, read, NULL, NULL, NULL);
    if (status != SQLITE_OK && status != SQLITE_CORRUPT)
        return status;
    recording_damaged(recording, "cut short");
    return SQLITE_OK; /* of the schema, too, a part may be there */
}

char *recording_uri(const char *path, const char *parameters)
{
    sqlite3_str *uri = sqlite3_str_new(NULL);
    sqlite3_str_appendall(uri, "file:");
    for (; *path; path++)
        if (strchr("%?#", *path))
            sqlite3_str_appendf(uri, "%%%02x", *path);
        else
            sqlite3_str_appendchar(uri, 1, *path); /* to %c a byte beyond ASCII is a number */
    sqlite3_str_appendf(uri, "?%s", parameters);
    return sqlite3_str_finish(uri);
}

static bool has_journal(const struct recording *recording)
{
    char path[sizeof recording->path + 16];
    snprintf(path, sizeof path, "%s-journal", recording->path);
    return access(path, F_OK) == 0;
}

/* Where the file or its directory may not be written, a journal cannot be played back: then what
 * stands in the file is read, without its locks. */
static int database_open(struct recording *recording)
{
    /* The last way reads what stands in the file, without locks and journal. */
    char *uri = recording_uri(recording->path, "immutable=1");
    const struct {
        const char *name;
        int flags;
    } ways[] = {{recording->path, SQLITE_OPEN_READWRITE},
                {recording->path, SQLITE_OPEN_READONLY},
                {uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI}};
    int status = SQLITE_NOMEM;
    for (int i = 0; uri && i < 3; i++) {
        sqlite3_close(recording->database);
        status = database_try(recording, ways[i].name, ways[i].flags);
        if (status == SQLITE_OK || status == SQLITE_NOTADB || status == SQLITE_BUSY)
            break;
    }
    if (status == SQLITE_OK && has_journal(recording))
        recording_damaged(recording, "its journal cannot be played back here, it is read as it is");
    sqlite3_free(uri);
    return status;
}

/* A recording may come from anywhere: what its schema calls must be harmless. */
static void database_harden(sqlite3 *database)
{
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_exec(database,
                 "PRAGMA cache_size = -8192; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0",
                 NULL, NULL, NULL);
}

sqlite3_stmt *recording_prepare(struct recording *recording, const struct recording_part *part,
                                const char *sql, char *error, size_t error_size)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_stmt *select = NULL;
    for (const char *at; (at = strstr(sql, "{S}")); sql = at + 3) {
        sqlite3_str_append(text, sql, (int)(at - sql));
        sqlite3_str_appendf(text, "%w", part->suffix);
    }
    sqlite3_str_appendall(text, sql);
    char *whole = sqlite3_str_finish(text);
    int status =
        whole ? sqlite3_prepare_v2(recording->database, whole, -1, &select, NULL) : SQLITE_NOMEM;
    if (status != SQLITE_OK)
        failed(recording, status, error, error_size);
    sqlite3_free(whole);
    return select;
}

bool recording_has_samples(sqlite3 *database, const char *suffix)
{
    sqlite3_stmt *select = NULL;
    bool has = false;
    if (sqlite3_prepare_v2(database,
                           "SELECT 1 FROM pragma_table_info('rocpd_pmc_event' || ?) WHERE name = "
                           "'sample_id'",
                           -1, &select, NULL) == SQLITE_OK) {
        sqlite3_bind_text(select, 1, suffix, -1, SQLITE_STATIC);
        has = sqlite3_step(select) == SQLITE_ROW;
    }
    sqlite3_finalize(select);
    return has;
}

char *recording_view(const char *sql, bool has_samples)
{
    const char *groups = strstr(sql, "\"counters_collection\"") ? strstr(sql, "GROUP BY") : NULL;
    if (!has_samples || !groups)
        return sqlite3_mprintf("%s", sql);
    return sqlite3_mprintf("%.*sWHERE V.sample_id IS NULL %s", (int)(groups - sql), sql, groups);
}

/* One value of the part as a text; "" if there is none. */
static const char *value_read(struct part *part, const char *sql)
{
    char error[256];
    const char *text = "";
    sqlite3_stmt *select =
        recording_prepare(part->recording, &part->shown, sql, error, sizeof error);
    if (select && sqlite3_step(select) == SQLITE_ROW)
        text = recording_text(part->recording, (const char *)sqlite3_column_text(select, 0));
    sqlite3_finalize(select);
    return text;
}

/* A whole number that may be a rank, -1: it is none. */
static int64_t rank_column(sqlite3_stmt *select, int column)
{
    const char *text = (const char *)sqlite3_column_text(select, column);
    int64_t number =
        text && *text >= '0' && *text <= '9' ? sqlite3_column_int64(select, column) : -1;
    return number <= INT_MAX ? number : -1;
}

/* Rank and number of ranks, by the first pair of variables that is there as in names of files
 * (launch/keys.c); if none is whole, the first that says a rank. The first question is about the
 * variables that the user named. */
static void ranks_read(struct part *part, const char *environment)
{
    static const struct {
        const char *rank, *size;
    } pairs[] = {{NULL, NULL},
#define X(rank, size) {rank, size},
                 RANK_VARIABLES(X)
#undef X
    };
    enum { PAIRS = sizeof pairs / sizeof pairs[0] };
    static const char sql[] =
        "SELECT json_extract(?1, '$.\"' || coalesce(?2, json_extract(?1, "
        "'$.ROCPROF_MPI_RANK_VAR')) || '\"'), json_extract(?1, '$.\"' || coalesce(?3, "
        "json_extract(?1, '$.ROCPROF_MPI_SIZE_VAR')) || '\"') WHERE json_valid(?1)";
    struct recording_part *shown = &part->shown;
    sqlite3_stmt *select = NULL;
    shown->rank = -1;
    shown->ranks = 0;
    if (sqlite3_prepare_v2(part->recording->database, sql, -1, &select, NULL) != SQLITE_OK)
        return;
    sqlite3_bind_text(select, 1, environment, -1, SQLITE_STATIC);
    for (size_t i = 0; i < 2 * PAIRS && shown->rank < 0; i++, sqlite3_reset(select)) {
        const bool is_open = i > 0 && i % PAIRS > 0 && !pairs[i % PAIRS].size;
        sqlite3_bind_text(select, 2, pairs[i % PAIRS].rank, -1, SQLITE_STATIC);
        sqlite3_bind_text(select, 3, is_open ? "" : pairs[i % PAIRS].size, -1, SQLITE_STATIC);
        if (sqlite3_step(select) != SQLITE_ROW)
            break;
        int64_t rank = rank_column(select, 0), ranks = rank_column(select, 1);
        if (i < PAIRS && ranks < 0 && !is_open)
            continue;
        shown->rank = rank;
        shown->ranks = rank >= 0 && ranks > 0 ? ranks : 0;
    }
    sqlite3_finalize(select);
}

static void process_read(struct part *part)
{
    static const char sql[] =
        "SELECT P.pid, P.ppid, P.init, P.fini, P.command, P.environment, N.hostname, N.machine_id, "
        "P.extdata FROM \"rocpd_info_process{S}\" P LEFT JOIN \"rocpd_info_node{S}\" N ON "
        "N.id = P.nid ORDER BY P.id LIMIT 1";
    struct recording_part *shown = &part->shown;
    const char **texts[] = {&shown->command, &shown->environment, &shown->hostname,
                            &shown->machine_id, &shown->extdata};
    char error[256];
    sqlite3_stmt *select = recording_prepare(part->recording, shown, sql, error, sizeof error);
    shown->rank = -1;
    for (int i = 0; i < 5; i++)
        *texts[i] = "";
    if (!select || sqlite3_step(select) != SQLITE_ROW) {
        recording_damaged(part->recording, "it does not say whose it is");
        sqlite3_finalize(select);
        return;
    }
    shown->pid = (uint64_t)sqlite3_column_int64(select, 0);
    shown->ppid = (uint64_t)sqlite3_column_int64(select, 1);
    shown->init_ns = sqlite3_column_int64(select, 2);
    shown->fini_ns = sqlite3_column_int64(select, 3);
    for (int i = 0; i < 5; i++)
        *texts[i] =
            recording_text(part->recording, (const char *)sqlite3_column_text(select, 4 + i));
    sqlite3_finalize(select);
    ranks_read(part, shown->environment);
}

static int part_add(struct recording *recording, const char *suffix, char *error, size_t error_size)
{
    struct part **grown =
        realloc(recording->parts, (recording->part_count + 1) * sizeof *recording->parts);
    struct part *part = calloc(1, sizeof *part);
    recording->parts = grown ? grown : recording->parts;
    if (!grown || !part) {
        free(part);
        snprintf(error, error_size, "%s: out of memory", recording->path);
        return -ENOMEM;
    }
    grown[recording->part_count++] = part;
    part->recording = recording;
    part->shown.suffix = recording_text(recording, suffix);
    part->shown.guid =
        value_read(part, "SELECT value FROM \"rocpd_metadata{S}\" WHERE tag = 'guid'");
    part->shown.version =
        value_read(part, "SELECT value FROM \"rocpd_metadata{S}\" WHERE tag = 'schema_version'");
    if (part->shown.version[0] != '3' ||
        (part->shown.version[1] && part->shown.version[1] != '.')) {
        snprintf(error, error_size, "%s: rocpd's schema %s, and only 3 is known", recording->path,
                 part->shown.version[0] ? part->shown.version : "without a version");
        return -EINVAL;
    }
    process_read(part);
    return 0;
}

/* Every set of tables has one of texts. */
static int parts_find(struct recording *recording, char *error, size_t error_size)
{
    sqlite3_stmt *select = NULL;
    int status =
        sqlite3_prepare_v2(recording->database,
                           "SELECT substr(name, 13) FROM sqlite_master WHERE type = "
                           "'table' AND substr(name, 1, 12) = 'rocpd_string' ORDER BY rowid",
                           -1, &select, NULL);
    int result = status == SQLITE_OK ? 0 : failed(recording, status, error, error_size);
    while (result == 0 && (status = sqlite3_step(select)) == SQLITE_ROW)
        result =
            part_add(recording, (const char *)sqlite3_column_text(select, 0), error, error_size);
    bool is_cut = recording->part_count > 0 && recording->damage;
    if (result == 0 && status != SQLITE_DONE && !is_cut)
        result = failed(recording, status, error, error_size);
    sqlite3_finalize(select);
    if (result != 0 || recording->part_count > 0)
        return result;
    snprintf(error, error_size, "%s: no recording: it has no tables of rocpd", recording->path);
    return -EINVAL;
}

int recording_open(struct recording **out, const char *path, char *error, size_t error_size)
{
    struct recording *recording = calloc(1, sizeof *recording);
    if (!recording) {
        snprintf(error, error_size, "%s: out of memory", path);
        return -ENOMEM;
    }
    snprintf(recording->path, sizeof recording->path, "%s", path);
    int status = 0, file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        status = -errno;
        snprintf(error, error_size, "%s: %s", path, strerror(errno));
    } else {
        close(file);
        int sqlite = database_open(recording);
        status = sqlite == SQLITE_OK ? 0 : failed(recording, sqlite, error, error_size);
    }
    if (status == 0) {
        database_harden(recording->database);
        status = parts_find(recording, error, error_size);
    }
    if (status == 0) {
        *out = recording;
        return 0;
    }
    recording_close(recording);
    return status;
}

void recording_close(struct recording *recording)
{
    if (!recording)
        return;
    for (unsigned i = 0; i < recording->part_count; i++)
        part_free(recording->parts[i]);
    free(recording->parts);
    sqlite3_close(recording->database);
    texts_free(&recording->texts);
    for (int i = 0; i < MESSAGES_LATEST; i++)
        free(recording->latest[i]);
    free(recording->damage);
    free(recording->oddity);
    free(recording);
}

const char *recording_path(const struct recording *recording)
{
    return recording->path;
}

unsigned recording_part_count(const struct recording *recording)
{
    return recording->part_count;
}

const struct recording_part *recording_part(const struct recording *recording, unsigned index)
{
    return &recording->parts[index]->shown;
}

sqlite3 *recording_database(struct recording *recording)
{
    return recording->database;
}
