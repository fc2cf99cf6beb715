/*
 * Tables of several recordings as one: newer schemas have columns that older ones lack, and the
 * rows of these have the columns' defaults there.
 */
#ifndef RECORDING_UNITE_H
#define RECORDING_UNITE_H

#include <sqlite3.h>

struct unite_table {
    const char *schema, *name; /* of the database that is attached, and in it */
};

/* "SELECT ... UNION ALL SELECT ...", each with `where` at its end. The caller's, for
 * sqlite3_free(); NULL: no memory, or more columns than any schema has. */
char *unite_terms(sqlite3 *database, const struct unite_table *tables, unsigned count,
                  const char *where);

#endif
