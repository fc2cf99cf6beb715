/* Arguments of calls from the pages of their table, as the calls come. One thread. */
#ifndef RECORDING_ARGUMENT_ROWS_H
#define RECORDING_ARGUMENT_ROWS_H

#include "parts.h"
#include "scan.h"

enum argument_text { ARGUMENT_TYPE, ARGUMENT_NAME, ARGUMENT_VALUE, ARGUMENT_TEXTS };

struct argument_rows;

/* For the calls of that table ("region"). NULL: a statement has to do it; calls or arguments are
 * not in the order of their events, pages are not as expected, or no memory. */
struct argument_rows *argument_rows_open(struct part *part, const char *table);
void argument_rows_close(struct argument_rows *rows);

/* To the first argument of a call, whose event comes behind those asked for before. False: it has
 * none. */
bool argument_rows_find(struct argument_rows *rows, int64_t event);
/* To the call's next one. False: there are no more. */
bool argument_rows_next(struct argument_rows *rows);

/* Of the argument that it stands at. */
int64_t argument_rows_position(const struct argument_rows *rows);
/* Stays until the next one; NULL for none. */
const char *argument_rows_text(const struct argument_rows *rows, enum argument_text text);

#endif
