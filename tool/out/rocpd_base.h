/*
 * A rocpd database while it is written: the schema, the tables' names, transactions. One file a
 * process. Rows of numbers go in by batches, those with texts one by one, texts always as
 * parameters. Of a process that is killed every finished transaction is there, with all that its
 * rows refer to.
 */
#ifndef OUT_ROCPD_BASE_H
#define OUT_ROCPD_BASE_H

#include <limits.h>
#include <stddef.h>

#include "batch.h"

/* What rows go into. The first ones have texts; some tables come twice, with extdata and without.
 */
enum rocpd_rows {
    ROCPD_STRING,
    ROCPD_NODE,
    ROCPD_PROCESS,
    ROCPD_THREAD,
    ROCPD_AGENT,
    ROCPD_QUEUE,
    ROCPD_STREAM,
    ROCPD_PMC,
    ROCPD_CODE_OBJECT,
    ROCPD_KERNEL_SYMBOL,
    ROCPD_TRACK,
    ROCPD_MARKER_EVENT,
    ROCPD_KFD_EVENT,
    ROCPD_HIP_EVENT,
    ROCPD_GRAPH_EVENT,
    ROCPD_ALLOCATE,
    ROCPD_SINGLE_COUNT,
    ROCPD_EVENT = ROCPD_SINGLE_COUNT,
    ROCPD_PMC_EVENT,
    ROCPD_REGION,
    ROCPD_SAMPLE,
    ROCPD_DISPATCH,
    ROCPD_COPY,
    ROCPD_ARG,
    ROCPD_ROWS_COUNT
};

struct rocpd_value {
    enum { ROCPD_IS_NULL, ROCPD_IS_INTEGER, ROCPD_IS_TEXT } type;
    int64_t integer;
    const char *text; /* NULL is NULL */
};
#define ROCPD_INTEGER(value)                                                                       \
    {                                                                                              \
        ROCPD_IS_INTEGER, (int64_t)(value), NULL                                                   \
    }
#define ROCPD_TEXT(value)                                                                          \
    {                                                                                              \
        ROCPD_IS_TEXT, 0, value                                                                    \
    }
#define ROCPD_NOTHING                                                                              \
    {                                                                                              \
        ROCPD_IS_NULL, 0, NULL                                                                     \
    }

struct rocpd_base {
    char path[PATH_MAX + 16];
    char guid[37];
    sqlite3 *database;
    sqlite3_stmt *insert[ROCPD_SINGLE_COUNT];
    struct batch batches[ROCPD_ROWS_COUNT - ROCPD_SINGLE_COUNT];
    uint32_t transaction_rows;
    char failure[256]; /* first error, "" for none */
};

/* As out_ops.open: the file is new. After an error there is nothing to close. */
int rocpd_base_open(struct rocpd_base *base, const char *prefix, char *error, size_t error_size);
void rocpd_base_close(struct rocpd_base *base);
/* After the end, and what was amended: 0, or -EIO with the first error. */
int rocpd_base_status(const struct rocpd_base *base, char *error, size_t error_size);

/* Statements of SQL on a database that is closed, with the schema's variables; one that fails is
 * the base's failure, and what they began is taken back. */
void rocpd_base_amend(struct rocpd_base *base, const char *const *statements, size_t count);

/* One value for each column that the rows' list names. */
void rocpd_base_insert(struct rocpd_base *base, enum rocpd_rows rows,
                       const struct rocpd_value *values);
void rocpd_base_put(struct rocpd_base *base, enum rocpd_rows rows, const int64_t *values);
/* The last columns are texts, one behind the other, each with its zero. */
void rocpd_base_put_texts(struct rocpd_base *base, enum rocpd_rows rows, const int64_t *values,
                          const char *texts, size_t text_bytes);
/* Rows of this kind that wait go in now. */
void rocpd_base_flush(struct rocpd_base *base, enum rocpd_rows rows);
/* Between rows that belong together: here a transaction may end. */
void rocpd_base_commit(struct rocpd_base *base);
void rocpd_base_commit_now(struct rocpd_base *base);

/* The event of a dispatch that was put; 0: there is no such dispatch. */
int64_t rocpd_base_dispatch_event(struct rocpd_base *base, int64_t dispatch_id);
void rocpd_base_process_end(struct rocpd_base *base, int64_t process_id, int64_t end_ns);

/* JSON's spelling of a text, appended. */
void rocpd_base_json(struct rocpd_base *base, sqlite3_str *to, const char *text);

#endif
