/*
 * Output formats behind one struct of operations. Rows arrive on one thread (the buffer callback's,
 * then the finaliser's), as they are recorded, so nothing is kept in memory.
 */
#ifndef OUT_OUT_H
#define OUT_OUT_H

#include "rows.h"

struct out_sink;

struct out_ops {
    const char *name; /* as in --format */
    /* `prefix` is of place.h. 0, or -errno with a message in `error`: -EEXIST, its files are
     * somebody else's, nothing was touched. */
    int (*open)(const char *prefix, struct out_sink **sink, char *error, size_t error_size);
    /* Errors are remembered and reported by close. */
    void (*row)(struct out_sink *sink, enum out_table_id table, const void *row);
    /* Completes the files; 0, or -errno with a message. Frees the sink either way. */
    int (*close)(struct out_sink *sink, char *error, size_t error_size);
    /* NULL: nothing to do. After a batch of rows: a process that is killed leaves them. */
    void (*flush)(struct out_sink *sink);
    bool has_statistics; /* rows of statistics are part of it, whether or not they are asked for */
    bool is_made_at_end; /* of a process that is killed there is nothing that can be read */
    bool has_arguments;  /* of calls */
};

extern const struct out_ops out_csv_ops;
extern const struct out_ops out_json_ops;
extern const struct out_ops out_otf2_ops;
extern const struct out_ops out_rocpd_ops;
extern const struct out_ops out_pftrace_ops;
extern const struct out_ops out_html_ops;

/* Modelled times of kernels get a CSV file of their own; not where there have to be rocprofv3's
 * files and no others. To be set before rows come. */
extern bool out_csv_modelled;

/* Of a database of a killed process: undoes what was not finished, so that no journal is left for
 * those who read it. */
void rocpd_recover(const char *prefix);

/* In the list of formats: no files. */
#define OUT_NO_FORMAT "none"
/* What rocprofv3, and crocprof, write when nobody names a format. */
const char *out_default_format(void);
const char *out_default_formats(void);

/* NULL when the name is unknown; in any case of letters. "sqlite" is what rocpd was called. */
const struct out_ops *out_find(const char *name);
/* The names of all formats, "a, b, c"; -E2BIG when they do not fit. */
int out_names(char *names, size_t size);

#endif
