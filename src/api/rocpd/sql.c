/* rocpd_sql_load_schema: a file of the schema is found, its variables are filled in. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <rocprofiler-sdk-rocpd/sql.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const files[] = {
    [ROCPD_SQL_SCHEMA_ROCPD_TABLES] = "rocpd_tables.sql",
    [ROCPD_SQL_SCHEMA_ROCPD_INDEXES] = "rocpd_indexes.sql",
    [ROCPD_SQL_SCHEMA_ROCPD_VIEWS] = "rocpd_views.sql",
    [ROCPD_SQL_SCHEMA_ROCPD_DATA_VIEWS] = "data_views.sql",
    [ROCPD_SQL_SCHEMA_ROCPD_SUMMARY_VIEWS] = "summary_views.sql",
    [ROCPD_SQL_SCHEMA_ROCPD_MARKER_VIEWS] = "marker_views.sql",
};
_Static_assert(sizeof files / sizeof files[0] == ROCPD_SQL_SCHEMA_LAST, "a file for each part");

/* Strings that clients may keep; equal ones are kept once. Guarded by `kept_lock`. */
static struct kept {
    struct kept *next;
    char text[];
} * kept_first;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

/* The same text at a place where it stays; NULL: no memory. */
static const char *text_keep(const char *text)
{
    size_t size_bytes = strlen(text) + 1;
    pthread_mutex_lock(&kept_lock);
    struct kept *kept = kept_first;
    while (kept && strcmp(kept->text, text) != 0)
        kept = kept->next;
    if (!kept && (kept = malloc(sizeof *kept + size_bytes))) {
        memcpy(kept->text, text, size_bytes);
        kept->next = kept_first;
        kept_first = kept;
    }
    pthread_mutex_unlock(&kept_lock);
    return kept ? kept->text : NULL;
}

/* FOLDER/FILE if there is such a file, to be freed by the caller; NULL with ENOENT or ENOMEM. */
static char *path_try(const char *folder, size_t length, const char *file)
{
    char *path = NULL;
    struct stat status;
    if (length == 0) {
        errno = ENOENT;
        return NULL;
    }
    if (asprintf(&path, "%.*s/%s", (int)length, folder, file) < 0) {
        errno = ENOMEM;
        return NULL;
    }
    if (stat(path, &status) == 0)
        return path;
    free(path);
    errno = ENOENT;
    return NULL;
}

/* Looks for the file in the folders of a list with colons. */
static char *path_in_list(const char *folders, const char *file)
{
    char *path = NULL;
    errno = ENOENT;
    for (const char *at = folders; at && *at && !path;) {
        size_t length = strcspn(at, ":");
        path = path_try(at, length, file);
        at += length + (at[length] == ':');
    }
    return path;
}

/* Looks for the file in share/rocprofiler-sdk-rocpd beside the folder of this library. */
static char *path_installed(const char *file)
{
    Dl_info info;
    char *folder = NULL, *path = NULL;
    errno = ENOENT;
    if (!dladdr((void *)files, &info) || !info.dli_fname)
        return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    int length = slash ? (int)(slash - info.dli_fname) : 1;
    if (asprintf(&folder, "%.*s/../share/rocprofiler-sdk-rocpd", length,
                 slash ? info.dli_fname : ".") < 0) {
        errno = ENOMEM;
        return NULL;
    }
    path = path_try(folder, strlen(folder), file);
    free(folder);
    return path;
}

static rocpd_status_t file_find(const char **hints, uint64_t hint_count, const char *file,
                                char **path)
{
    *path = NULL;
    errno = ENOENT;
    for (uint64_t i = 0; hints && i < hint_count && !*path; i++)
        *path = path_in_list(hints[i], file);
    if (!*path)
        *path = path_in_list(secure_getenv("ROCPD_SCHEMA_PATH"), file);
    if (!*path)
        *path = path_installed(file);
    if (*path)
        return ROCPD_STATUS_SUCCESS;
    return errno == ENOMEM ? ROCPD_STATUS_ERROR : ROCPD_STATUS_ERROR_SQL_SCHEMA_NOT_FOUND;
}

/* Joins `before` and the file's text; the caller frees the result. */
static rocpd_status_t file_read(const char *path, const char *before, char **text)
{
    rocpd_status_t status = ROCPD_STATUS_ERROR_SQL_SCHEMA_PERMISSION_DENIED;
    size_t used = strlen(before), head = used, capacity = used + 8192;
    FILE *file = fopen(path, "re");
    if (!file)
        return status;
    *text = malloc(capacity);
    if (*text)
        memcpy(*text, before, used);
    for (size_t got = 1; *text && got; used += got) {
        if (capacity - used < 4096) {
            char *grown = realloc(*text, capacity *= 2);
            if (!grown)
                free(*text);
            *text = grown;
        }
        got = *text ? fread(*text + used, 1, capacity - used - 1, file) : 0;
    }
    if (!*text)
        status = ROCPD_STATUS_ERROR;
    else if (!ferror(file) && used > head)
        status = ROCPD_STATUS_SUCCESS;
    fclose(file);
    if (*text)
        (*text)[used] = 0;
    if (status != ROCPD_STATUS_SUCCESS) {
        free(*text);
        *text = NULL;
    }
    return status;
}

/* Every `name` in *text becomes `value`; false: no memory, *text is as it was. */
static bool variable_fill(char **text, const char *name, const char *value)
{
    size_t name_length = strlen(name), value_length = strlen(value), count = 0;
    for (const char *at = *text; (at = strstr(at, name)); at += name_length)
        count++;
    char *filled = malloc(strlen(*text) + count * value_length + 1), *to = filled;
    if (!filled)
        return false;
    const char *from = *text;
    for (const char *at; (at = strstr(from, name)); from = at + name_length) {
        to = mempcpy(to, from, (size_t)(at - from));
        to = mempcpy(to, value, value_length);
    }
    strcpy(to, from);
    free(*text);
    *text = filled;
    return true;
}

/* {{uuid}} is a part of names: no dashes, and set off by an underscore. */
static bool uuid_fill(char **text, const char *uuid)
{
    char *value = NULL;
    if (asprintf(&value, "%s%s", *uuid && *uuid != '_' ? "_" : "", uuid) < 0)
        return false;
    for (char *at = value; (at = strchr(at, '-'));)
        *at = '_';
    bool filled = variable_fill(text, "{{uuid}}", value);
    free(value);
    return filled;
}

/* Whether the client's structure, which may be an older one, has the member. */
#define HAS(variables, member)                                                                     \
    ((variables)->size >=                                                                          \
         offsetof(rocpd_sql_schema_jinja_variables_t, member) + sizeof(variables)->member &&       \
     (variables)->member)

static bool variables_fill(char **text, const rocpd_sql_schema_jinja_variables_t *variables)
{
    if (HAS(variables, uuid) && !uuid_fill(text, variables->uuid))
        return false;
    return !HAS(variables, guid) || variable_fill(text, "{{guid}}", variables->guid);
}

rocpd_status_t rocpd_sql_load_schema(rocpd_sql_engine_t engine, rocpd_sql_schema_kind_t kind,
                                     rocpd_sql_options_t options,
                                     const rocpd_sql_schema_jinja_variables_t *variables,
                                     rocpd_sql_load_schema_cb_t callback,
                                     const char **schema_path_hints, uint64_t num_schema_path_hints,
                                     void *user_data)
{
    char *path = NULL, *text = NULL;
    if (engine != ROCPD_SQL_ENGINE_SQLITE3)
        return ROCPD_STATUS_ERROR_SQL_INVALID_ENGINE;
    if ((unsigned)kind >= ROCPD_SQL_SCHEMA_LAST || !files[kind])
        return ROCPD_STATUS_ERROR_SQL_INVALID_SCHEMA_KIND;
    if (!callback || (variables && variables->size == 0))
        return ROCPD_STATUS_ERROR_INVALID_ARGUMENT;
    bool has_keys = options & ROCPD_SQL_OPTIONS_SQLITE3_PRAGMA_FOREIGN_KEYS;
    rocpd_status_t status = file_find(schema_path_hints, num_schema_path_hints, files[kind], &path);
    if (status == ROCPD_STATUS_SUCCESS)
        status = file_read(path, has_keys ? "PRAGMA foreign_keys = ON;\n\n" : "", &text);
    if (status == ROCPD_STATUS_SUCCESS && variables && !variables_fill(&text, variables))
        status = ROCPD_STATUS_ERROR;
    const char *shown_path = path, *shown_text = text;
    if (status == ROCPD_STATUS_SUCCESS && (options & ROCPD_SQL_OPTIONS_PERSIST_STRINGS) &&
        (!(shown_path = text_keep(path)) || !(shown_text = text_keep(text))))
        status = ROCPD_STATUS_ERROR;
    if (status == ROCPD_STATUS_SUCCESS)
        callback(engine, kind, options, variables, shown_path, shown_text, user_data);
    free(text);
    free(path);
    return status;
}
