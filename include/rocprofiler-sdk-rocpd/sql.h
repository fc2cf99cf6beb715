/* The schema of rocpd databases, as SQL text. */
#ifndef ROCPROFILER_SDK_ROCPD_SQL_H
#define ROCPROFILER_SDK_ROCPD_SQL_H

#include <stdint.h>

#include <rocprofiler-sdk-rocpd/defines.h>
#include <rocprofiler-sdk-rocpd/types.h>

ROCPD_EXTERN_C_INIT

typedef enum ROCPD_EXPERIMENTAL rocpd_sql_engine_t {
    ROCPD_SQL_ENGINE_NONE = 0,
    ROCPD_SQL_ENGINE_SQLITE3,
    ROCPD_SQL_ENGINE_LAST,
} rocpd_sql_engine_t;

/** Parts of the schema, each a file; later ones need earlier ones, tables before views. */
typedef enum ROCPD_EXPERIMENTAL rocpd_sql_schema_kind_t {
    ROCPD_SQL_SCHEMA_NONE = 0,
    ROCPD_SQL_SCHEMA_ROCPD_TABLES,
    ROCPD_SQL_SCHEMA_ROCPD_INDEXES,
    ROCPD_SQL_SCHEMA_ROCPD_VIEWS,
    ROCPD_SQL_SCHEMA_ROCPD_DATA_VIEWS,
    ROCPD_SQL_SCHEMA_ROCPD_SUMMARY_VIEWS,
    ROCPD_SQL_SCHEMA_ROCPD_MARKER_VIEWS,
    ROCPD_SQL_SCHEMA_LAST,
} rocpd_sql_schema_kind_t;

typedef enum ROCPD_EXPERIMENTAL rocpd_sql_options_t {
    ROCPD_SQL_OPTIONS_NONE = 0,
    ROCPD_SQL_OPTIONS_PERSIST_STRINGS = 0x01, /**< Path and content stay after the callback */
    ROCPD_SQL_OPTIONS_SQLITE3_PRAGMA_FOREIGN_KEYS = 0x02, /**< Foreign keys are switched on first */
    ROCPD_SQL_OPTIONS_LAST = 0xFFFFFFFF,
} rocpd_sql_options_t;

/**
 * What stands for {{uuid}} and {{guid}} in the text; NULL leaves it there. The first is a part of
 * tables' names: a dash becomes an underscore, and one stands before it unless it is empty.
 */
typedef struct ROCPD_EXPERIMENTAL rocpd_sql_schema_jinja_variables_t {
    uint64_t size; /**< of this structure */
    const char *uuid;
    const char *guid;
} rocpd_sql_schema_jinja_variables_t;

/** Path and content are valid until it returns, or for ever with PERSIST_STRINGS. */
typedef void (*rocpd_sql_load_schema_cb_t)(rocpd_sql_engine_t engine, rocpd_sql_schema_kind_t kind,
                                           rocpd_sql_options_t options,
                                           const rocpd_sql_schema_jinja_variables_t *variables,
                                           const char *schema_path, const char *schema_content,
                                           void *user_data);

/**
 * Calls back once, with one part of the schema. Its file is looked for in `schema_path_hints`, in
 * ROCPD_SCHEMA_PATH (folders with colons) and in this installation's share/rocprofiler-sdk-rocpd.
 * Any thread; nothing is called back unless SUCCESS is returned.
 */
ROCPD_EXPERIMENTAL rocpd_status_t rocpd_sql_load_schema(
    rocpd_sql_engine_t engine, rocpd_sql_schema_kind_t kind, rocpd_sql_options_t options,
    const rocpd_sql_schema_jinja_variables_t *variables, rocpd_sql_load_schema_cb_t callback,
    const char **schema_path_hints, uint64_t num_schema_path_hints, void *user_data) ROCPD_API
    ROCPD_NONNULL(5);

ROCPD_EXTERN_C_FINI

#endif
