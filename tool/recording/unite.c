#include "unite.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    COLUMNS_MAX = 64,
    TERMS_MAX = 250, /* of one SELECT: SQLite takes 500, and may have been built for fewer */
};

struct columns {
    struct {
        char *name, *fallback; /* an expression: what it is where it is not */
    } column[COLUMNS_MAX];
    unsigned count;
    bool overflows;
};

static void columns_free(struct columns *columns)
{
    for (unsigned i = 0; i < columns->count; i++) {
        sqlite3_free(columns->column[i].name);
        sqlite3_free(columns->column[i].fallback);
    }
}

/* Its place; a new one behind the others if nobody has it yet. */
static unsigned column_place(struct columns *columns, const char *name, const char *fallback)
{
    for (unsigned i = 0; i < columns->count; i++)
        if (columns->column[i].name && strcmp(columns->column[i].name, name) == 0)
            return i;
    columns->overflows |= columns->count == COLUMNS_MAX;
    if (columns->overflows)
        return 0;
    columns->column[columns->count].name = sqlite3_mprintf("%s", name);
    columns->column[columns->count].fallback = sqlite3_mprintf("%s", fallback);
    return columns->count++;
}

/* Which of all columns the table has; `in_order` stays true where they stand in theirs. */
static uint64_t columns_read(sqlite3 *database, const struct unite_table *table,
                             struct columns *columns, bool *in_order)
{
    sqlite3_stmt *select = NULL;
    uint64_t has = 0;
    sqlite3_prepare_v2(database,
                       "SELECT name, coalesce(dflt_value, 'NULL') FROM pragma_table_info(?1, ?2)",
                       -1, &select, NULL);
    sqlite3_bind_text(select, 1, table->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(select, 2, table->schema, -1, SQLITE_STATIC);
    for (unsigned i = 0; sqlite3_step(select) == SQLITE_ROW; i++) {
        unsigned place = column_place(columns, (const char *)sqlite3_column_text(select, 0),
                                      (const char *)sqlite3_column_text(select, 1));
        *in_order = *in_order && place == i;
        has |= 1ull << place;
    }
    sqlite3_finalize(select);
    return has;
}

static void term_add(sqlite3_str *terms, const struct unite_table *table,
                     const struct columns *columns, uint64_t has)
{
    for (unsigned i = 0; columns && i < columns->count; i++)
        if (has >> i & 1)
            sqlite3_str_appendf(terms, "%s\"%w\"", i ? ", " : "", columns->column[i].name);
        else
            sqlite3_str_appendf(terms, "%s%s AS \"%w\"", i ? ", " : "", columns->column[i].fallback,
                                columns->column[i].name);
    if (!columns)
        sqlite3_str_appendall(terms, "*");
    if (strcmp(table->schema, "main") == 0) /* views of a file may not say where they look */
        sqlite3_str_appendf(terms, " FROM \"%w\"", table->name);
    else
        sqlite3_str_appendf(terms, " FROM \"%w\".\"%w\"", table->schema, table->name);
}

char *unite_terms(sqlite3 *database, const struct unite_table *tables, unsigned count,
                  const char *where)
{
    struct columns columns = {.count = 0};
    uint64_t *has = sqlite3_malloc64((count + 1) * sizeof *has);
    sqlite3_str *terms = sqlite3_str_new(database);
    bool is_same = true;
    for (unsigned i = 0; has && i < count; i++) {
        has[i] = columns_read(database, &tables[i], &columns, &is_same);
        is_same = is_same && has[i] == has[0];
    }
    const bool is_nested = count > TERMS_MAX;
    for (unsigned i = 0; has && i < count; i++) {
        bool begins = is_nested && i % TERMS_MAX == 0;
        sqlite3_str_appendall(terms, begins && i ? ")" : "");
        sqlite3_str_appendall(terms, i ? " UNION ALL " : "");
        sqlite3_str_appendall(terms, begins ? "SELECT * FROM (SELECT " : "SELECT ");
        term_add(terms, &tables[i], is_same ? NULL : &columns, has[i]);
        sqlite3_str_appendall(terms, where);
    }
    sqlite3_str_appendall(terms, is_nested ? ")" : "");
    columns_free(&columns);
    char *text = sqlite3_str_finish(terms);
    if (has && !columns.overflows) {
        sqlite3_free(has);
        return text;
    }
    sqlite3_free(has);
    sqlite3_free(text);
    return NULL;
}
