/*
 * A recording read back: rocpd databases, schema 3, ours or others', of one process or of several
 * that were merged. Rows are those that writers get (out/rows.h), one at a time: memory does not
 * grow with the recording. What is damaged is read as far as it goes.
 */
#ifndef RECORDING_RECORDING_H
#define RECORDING_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "out/rows.h"

struct recording;

/* One process: the tables that share a guid. Texts are "" where nothing is known. */
struct recording_part {
    const char *guid;
    const char *suffix; /* of the names of its tables */
    const char *version;
    uint64_t pid, ppid;
    int64_t rank, ranks;      /* in its job, -1: it says none; of how many, 0: it does not say */
    int64_t init_ns, fini_ns; /* 0: not known, for the last a process that was killed */
    const char *command, *environment /* JSON */, *hostname, *machine_id, *extdata /* JSON */;
};

/* 0, or -errno with a line that names the file: -ENOENT, -EINVAL no recording, -EBUSY another
 * process is just writing it. */
int recording_open(struct recording **recording, const char *path, char *error, size_t error_size);
void recording_close(struct recording *recording);

const char *recording_path(const struct recording *recording);
unsigned recording_part_count(const struct recording *recording);
const struct recording_part *recording_part(const struct recording *recording, unsigned index);

/* What a thread of that number called itself, "" if it is not known; lives as long as the
 * recording.
 */
const char *recording_thread_name(const struct recording_part *part, uint64_t thread_id);

enum recording_order {
    RECORDING_AS_WRITTEN, /* process after process, of each kind after kind */
    RECORDING_BY_TIME     /* by start, of all kinds and processes */
};
enum recording_agents { RECORDING_RELATIVE, RECORDING_ABSOLUTE, RECORDING_TYPE_RELATIVE };
enum recording_names { RECORDING_AS_SHOWN, RECORDING_MANGLED, RECORDING_TRUNCATED };

/* Sets of tables: 1ull << enum out_table_id. */
#define RECORDING_ALL UINT64_MAX

struct alignment;

struct recording_ask {
    uint64_t tables;
    enum recording_order order;
    enum recording_agents agents;
    enum recording_names names;
    bool by_symbol; /* kernels by their own names, not by the range that they were launched in */
    int64_t begin_ns, end_ns;          /* what overlaps that time; both 0: everything */
    bool is_within;                    /* only what neither begins before nor ends after it */
    bool has_arguments;                /* of calls: they take time */
    const struct recording_part *part; /* NULL: all */
    const struct alignment *alignment; /* of times, by clocks.h; NULL: they are as recorded */
    bool by_statements;                /* in SQL only, never from pages: for who compares the two */
};

/* One row. Texts live as long as the recording, messages of markers at least until the next row; of
 * equal texts the pointers are equal, messages aside. Not 0: stop. */
typedef int recording_row(void *data, const struct recording_part *part, enum out_table_id table,
                          const void *row);

/*
 * Agents first (as written: of each process), then the rest. What `row` returned if it was not 0,
 * or 0, or -errno where nothing could be read, with a line in `error`. What is damaged ends the
 * reading of its table: 0, and recording_damage() says so. A record that ends before it begins is
 * one of 0 ns, which is said, too.
 */
int recording_each(struct recording *recording, const struct recording_ask *ask, recording_row *row,
                   void *data, char *error, size_t error_size);

/* Of the first record's begin and the last one's end; 0 and 0: there are none. */
void recording_span(struct recording *recording, int64_t *first_ns, int64_t *last_ns);

/* What was not read so far, a line that names the file and what; NULL: nothing. */
const char *recording_damage(const struct recording *recording);

/* For those who ask in SQL: the database, open for reading only. */
struct sqlite3 *recording_database(struct recording *recording);
/* The name by which SQLite opens a file of any name with parameters ("mode=ro"); sqlite3_free() it.
 * NULL: no memory. */
char *recording_uri(const char *path, const char *parameters);
/* Values of counters say of which sample they are, or that they are of none, as they do from schema
 * 3.0.3 on. The suffix is "" of views over several. */
bool recording_has_samples(struct sqlite3 *database, const char *suffix);
/* A view of the schema; sqlite3_free() it. NULL: no memory. */
char *recording_view(const char *sql, bool has_samples);
/* The statement with every "{S}" replaced by the part's suffix; NULL with a line in `error`. */
struct sqlite3_stmt *recording_prepare(struct recording *recording,
                                       const struct recording_part *part, const char *sql,
                                       char *error, size_t error_size);

#endif
