/* Prints nothing: 0 when the tables' file is the one of the installation that is named. */
#include <rocprofiler-sdk-rocpd/rocpd.h>
#include <stdlib.h>
#include <string.h>

static char *path;

static void show(rocpd_sql_engine_t engine, rocpd_sql_schema_kind_t kind,
                 rocpd_sql_options_t options, const rocpd_sql_schema_jinja_variables_t *variables,
                 const char *schema_path, const char *schema_content, void *user_data)
{
    (void)engine, (void)kind, (void)options, (void)variables, (void)user_data;
    if (strstr(schema_content, "CREATE TABLE"))
        path = realpath(schema_path, NULL);
}

int main(int argc, char **argv)
{
    rocpd_status_t status =
        rocpd_sql_load_schema(ROCPD_SQL_ENGINE_SQLITE3, ROCPD_SQL_SCHEMA_ROCPD_TABLES,
                              ROCPD_SQL_OPTIONS_NONE, NULL, show, NULL, 0, NULL);
    char *root = argc == 2 ? realpath(argv[1], NULL) : NULL;
    return status != ROCPD_STATUS_SUCCESS || !path || !root ||
           strncmp(path, root, strlen(root)) != 0;
}
