/* Questions in SQL, for the commands that ask some. */
#ifndef COMMANDS_QUERY_H
#define COMMANDS_QUERY_H

#include "grid/grid.h"
#include "inputs.h"
#include "window.h"

struct sqlite3;

/* The rows of every statement; an exit status, after a line. */
int query_print(struct sqlite3 *database, const char *sql, struct writer *writer,
                enum grid_format format);
/* `output` NULL: standard output. The same. */
int query_inputs(const struct inputs *inputs, const struct window *window, const char *sql,
                 const char *output, enum grid_format format);
/* The file's text, the caller's to free; NULL: it cannot be read. */
char *query_script_read(const char *path);

#endif
