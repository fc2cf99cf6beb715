#include "together.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "cli/refuse.h"
#include "recording/recording.h"
#include "recording/unite.h"
#include "rocpd_schema.h"

/* SQLite attaches no more than ten. */
enum { TOGETHER_MAX = 10 };

static const char view_head[] = "CREATE VIEW IF NOT EXISTS ";

static int run(struct together *together, char *sql)
{
    char *message = NULL;
    int status = sql ? sqlite3_exec(together->database, sql, NULL, NULL, &message) : SQLITE_NOMEM;
    if (status != SQLITE_OK)
        refuse(EXIT_FAILED, "%s", message ? message : sqlite3_errstr(status));
    sqlite3_free(message);
    sqlite3_free(sql);
    return status == SQLITE_OK ? 0 : EXIT_FAILED;
}

static bool texts_id_is_new(struct texts *texts, const char *text)
{
    bool is_new = false;
    return texts_id(texts, text, &is_new) != 0 && is_new;
}

/* For reading only: nothing that is asked may change it. */
static int attach(struct together *together, const char *path, unsigned number)
{
    char *name = recording_uri(path, "mode=ro");
    int status = run(together, name ? sqlite3_mprintf("ATTACH %Q AS part%u", name, number) : NULL);
    sqlite3_free(name);
    return status;
}

static int recording_check(struct together *together, const char *path,
                           struct recording **recording)
{
    char error[PATH_MAX + 200];
    bool is_twice = false;
    if (recording_open(recording, path, error, sizeof error) != 0)
        return refuse(EXIT_FAILED, "%s", error);
    for (unsigned i = 0; i < recording_part_count(*recording); i++)
        is_twice =
            !texts_id_is_new(&together->guids, recording_part(*recording, i)->guid) || is_twice;
    inputs_damage_tell(*recording);
    if (is_twice) /* what rows refer to would be found twice */
        return refuse(EXIT_USAGE, "%s: this recording is there already", path);
    return 0;
}

/* ---- views over all of them */

/* Which rows of a table are in the window; "": it has no times, or all are. The caller's to free.
 */
static char *where_make(const char *table, const struct recording_ask *ask)
{
    static const struct {
        const char *table, *start, *end;
    } timed[] = {{"\"rocpd_region\"", "start", "end"},
                 {"\"rocpd_kernel_dispatch\"", "start", "end"},
                 {"\"rocpd_memory_copy\"", "start", "end"},
                 {"\"rocpd_memory_allocate\"", "start", "end"},
                 {"\"rocpd_graph_launch\"", "start", "end"},
                 {"\"rocpd_hip_event\"", "start", "end"},
                 {"\"rocpd_sample\"", "timestamp", "timestamp"}};
    for (size_t i = 0; i < sizeof timed / sizeof timed[0]; i++)
        if ((ask->begin_ns || ask->end_ns) &&
            strncmp(table, timed[i].table, strlen(timed[i].table)) == 0)
            return sqlite3_mprintf(
                " WHERE \"%s\" >= %lld AND \"%s\" <= %lld",
                ask->is_within ? timed[i].start : timed[i].end, (long long)ask->begin_ns,
                ask->is_within ? timed[i].end : timed[i].start, (long long)ask->end_ns);
    return sqlite3_mprintf("");
}

/* A view over a table of one database becomes one over that table of all; others stay as they are.
 */
static int view_make(struct together *together, const char *sql, unsigned count,
                     const struct recording_ask *ask)
{
    const char *name = sql + strlen(view_head);
    const char *end = strchr(name + 1, '"');
    if (!strstr(sql, "{{uuid}}")) {
        char *view = recording_view(name, recording_has_samples(together->database, ""));
        int status = run(together, view ? sqlite3_mprintf("CREATE TEMP VIEW %s", view) : NULL);
        sqlite3_free(view);
        return status;
    }
    char schemas[TOGETHER_MAX][16], table[64];
    struct unite_table tables[TOGETHER_MAX];
    snprintf(table, sizeof table, "%.*s", (int)(end - name - 1), name + 1);
    for (unsigned i = 0; i < count; i++) {
        snprintf(schemas[i], sizeof schemas[i], "part%u", i);
        tables[i] = (struct unite_table){schemas[i], table};
    }
    char *where = where_make(name, ask);
    char *terms = unite_terms(together->database, tables, count, where ? where : "");
    int status = run(together,
                     terms ? sqlite3_mprintf("CREATE TEMP VIEW \"%w\" AS %s", table, terms) : NULL);
    sqlite3_free(where);
    sqlite3_free(terms);
    return status;
}

static int views_make(struct together *together, unsigned count, const struct recording_ask *ask)
{
    int status = 0;
    for (size_t i = 0; i < sizeof rocpd_schema / sizeof rocpd_schema[0] && status == 0; i++)
        if (strncmp(rocpd_schema[i], view_head, strlen(view_head)) == 0)
            status = view_make(together, rocpd_schema[i], count, ask);
    return status;
}

static int several_open(struct together *together, const struct inputs *inputs,
                        const struct window *window)
{
    struct recording *recordings[TOGETHER_MAX] = {NULL};
    struct recording_ask ask = {0};
    int status = 0;
    if (inputs->count > TOGETHER_MAX)
        return refuse(EXIT_USAGE, "at most %d recordings at once: merge them first", TOGETHER_MAX);
    if (sqlite3_open_v2(":memory:", &together->database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                        NULL) != SQLITE_OK)
        return refuse(EXIT_FAILED, "out of memory");
    for (unsigned i = 0; i < inputs->count && status == 0; i++)
        status = recording_check(together, inputs->paths[i], &recordings[i]);
    if (status == 0)
        status = window_read(window, recordings, inputs->count, &ask);
    for (unsigned i = 0; i < inputs->count && status == 0; i++)
        status = attach(together, inputs->paths[i], i);
    if (status == 0)
        status = views_make(together, inputs->count, &ask);
    for (unsigned i = 0; i < inputs->count; i++)
        recording_close(recordings[i]);
    return status;
}

int together_open(struct together *together, const struct inputs *inputs,
                  const struct window *window)
{
    char error[PATH_MAX + 200];
    *together = (struct together){0};
    if (inputs->count != 1 || !window_is_whole(window))
        return several_open(together, inputs, window);
    if (recording_open(&together->recording, inputs->paths[0], error, sizeof error) != 0)
        return refuse(EXIT_FAILED, "%s", error);
    inputs_damage_tell(together->recording);
    together->database = recording_database(together->recording);
    /* rocpd's own views call functions that SQLite may not count as harmless (json_extract, in
     * 3.40). What could do harm is not there: no extension, no function of ours. */
    sqlite3_db_config(together->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1, NULL);
    return 0;
}

void together_close(struct together *together)
{
    if (together->recording)
        recording_close(together->recording);
    else
        sqlite3_close(together->database);
    texts_free(&together->guids);
    *together = (struct together){0};
}
