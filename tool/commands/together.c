#include "together.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "cli/refuse.h"
#include "recording/recording.h"
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

static int attach(struct together *together, const char *path, unsigned number)
{
    char error[PATH_MAX + 200];
    struct recording *checked;
    if (recording_open(&checked, path, error, sizeof error) != 0)
        return refuse(EXIT_FAILED, "%s", error);
    bool is_twice = false;
    for (unsigned i = 0; i < recording_part_count(checked); i++)
        is_twice = !texts_id_is_new(&together->guids, recording_part(checked, i)->guid) || is_twice;
    inputs_damage_tell(checked);
    recording_close(checked);
    if (is_twice) /* what rows refer to would be found twice */
        return refuse(EXIT_USAGE, "%s: this recording is there already", path);
    return run(together, sqlite3_mprintf("ATTACH %Q AS part%u", path, number));
}

/* A view over a table of one database becomes one over that table of all; others stay as they are.
 */
static int view_make(struct together *together, const char *sql, unsigned count)
{
    const char *name = sql + strlen(view_head);
    const char *end = strchr(name + 1, '"');
    if (!strstr(sql, "{{uuid}}"))
        return run(together, sqlite3_mprintf("CREATE TEMP VIEW %s", name));
    sqlite3_str *view = sqlite3_str_new(NULL);
    sqlite3_str_appendf(view, "CREATE TEMP VIEW %.*s AS ", (int)(end + 1 - name), name);
    for (unsigned i = 0; i < count; i++)
        sqlite3_str_appendf(view, "%sSELECT * FROM part%u.%.*s", i ? " UNION ALL " : "", i,
                            (int)(end + 1 - name), name);
    return run(together, sqlite3_str_finish(view));
}

static int views_make(struct together *together, unsigned count)
{
    int status = 0;
    for (size_t i = 0; i < sizeof rocpd_schema / sizeof rocpd_schema[0] && status == 0; i++)
        if (strncmp(rocpd_schema[i], view_head, strlen(view_head)) == 0)
            status = view_make(together, rocpd_schema[i], count);
    return status;
}

static int several_open(struct together *together, const struct inputs *inputs)
{
    int status = 0;
    if (inputs->count > TOGETHER_MAX)
        return refuse(EXIT_USAGE, "at most %d recordings at once: merge them first", TOGETHER_MAX);
    if (sqlite3_open(":memory:", &together->database) != SQLITE_OK)
        return refuse(EXIT_FAILED, "out of memory");
    for (unsigned i = 0; i < inputs->count && status == 0; i++)
        status = attach(together, inputs->paths[i], i);
    if (status == 0)
        status = views_make(together, inputs->count);
    return status;
}

int together_open(struct together *together, const struct inputs *inputs)
{
    char error[PATH_MAX + 200];
    *together = (struct together){0};
    if (inputs->count != 1)
        return several_open(together, inputs);
    if (recording_open(&together->recording, inputs->paths[0], error, sizeof error) != 0)
        return refuse(EXIT_FAILED, "%s", error);
    inputs_damage_tell(together->recording);
    together->database = recording_database(together->recording);
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
