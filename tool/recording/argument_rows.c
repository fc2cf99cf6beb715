#include "argument_rows.h"

#include <stdlib.h>
#include <string.h>

enum { SLOT_EVENT, SLOT_POSITION, SLOT_TEXTS, SLOT_COUNT = SLOT_TEXTS + ARGUMENT_TEXTS };

static const struct scan_column columns[] = {{"event_id", SLOT_EVENT, false},
                                             {"position", SLOT_POSITION, false},
                                             {"type", SLOT_TEXTS + ARGUMENT_TYPE, true},
                                             {"name", SLOT_TEXTS + ARGUMENT_NAME, true},
                                             {"value", SLOT_TEXTS + ARGUMENT_VALUE, true}};

struct argument_rows {
    struct part *part;
    struct scan *scan;
    struct value values[SLOT_COUNT];
    int64_t event; /* of the call that it stands at */
    bool has_row;  /* `values` are a row's, perhaps a later call's */
    struct {
        char *bytes;
        size_t room;
    } texts[ARGUMENT_TEXTS];
};

static struct scan *table_scan(struct part *part, const char *table, unsigned count)
{
    char *name = sqlite3_mprintf("rocpd_%s%s", table, part->shown.suffix);
    struct scan *scan = name ? scan_open(part->recording->database, name, columns, count) : NULL;
    sqlite3_free(name);
    return scan;
}

/* Every row is as it is expected to be, and its event not below the one before (`is_strict`: above
 * it). Rows without an event are nobody's. */
static bool table_is_ordered(struct part *part, const char *table, unsigned count, bool is_strict)
{
    struct value values[SLOT_COUNT];
    struct scan *scan = table_scan(part, table, count);
    enum scan_result result = scan ? SCAN_ROW : SCAN_UNLIKE;
    int64_t before = INT64_MIN, id;
    while (result == SCAN_ROW && (result = scan_next(scan, values, &id)) == SCAN_ROW) {
        if (values[SLOT_EVENT].kind == VALUE_NULL)
            continue;
        int64_t event = values[SLOT_EVENT].integer;
        if (event < before || (is_strict && event == before))
            result = SCAN_UNLIKE;
        before = event;
    }
    scan_close(scan);
    return result == SCAN_NONE;
}

struct argument_rows *argument_rows_open(struct part *part, const char *table)
{
    if (!table_is_ordered(part, table, 1, true) ||
        !table_is_ordered(part, "arg", SLOT_COUNT, false))
        return NULL;
    struct argument_rows *rows = calloc(1, sizeof *rows);
    if (!rows)
        return NULL;
    rows->part = part;
    rows->scan = table_scan(part, "arg", SLOT_COUNT);
    if (rows->scan)
        return rows;
    argument_rows_close(rows);
    return NULL;
}

void argument_rows_close(struct argument_rows *rows)
{
    if (!rows)
        return;
    scan_close(rows->scan);
    for (int i = 0; i < ARGUMENT_TEXTS; i++)
        free(rows->texts[i].bytes);
    free(rows);
}

/* All rows were read once: what can be wrong now is the disk. */
static bool row_next(struct argument_rows *rows)
{
    int64_t id;
    enum scan_result result = rows->scan ? scan_next(rows->scan, rows->values, &id) : SCAN_NONE;
    if (result == SCAN_UNLIKE)
        recording_damaged(rows->part->recording, "rocpd_arg: cannot be read any more");
    if (result != SCAN_ROW) {
        scan_close(rows->scan);
        rows->scan = NULL;
    }
    return rows->has_row = result == SCAN_ROW;
}

/* A copy with an end: of the page's bytes there is none. */
static bool argument_text_keep(struct argument_rows *rows, enum argument_text text)
{
    const struct value *value = &rows->values[SLOT_TEXTS + text];
    if (value->kind != VALUE_TEXT)
        return true;
    if (rows->texts[text].room < value->bytes + 1u) {
        free(rows->texts[text].bytes);
        rows->texts[text].room = 2u * value->bytes + 64;
        rows->texts[text].bytes = malloc(rows->texts[text].room);
    }
    if (!rows->texts[text].bytes) {
        rows->texts[text].room = 0;
        return false;
    }
    memcpy(rows->texts[text].bytes, value->text, value->bytes);
    rows->texts[text].bytes[value->bytes] = 0;
    return true;
}

static bool argument_keep(struct argument_rows *rows)
{
    for (int i = 0; i < ARGUMENT_TEXTS; i++)
        if (!argument_text_keep(rows, (enum argument_text)i)) {
            recording_damaged(rows->part->recording, "rocpd_arg: out of memory");
            return false;
        }
    return true;
}

bool argument_rows_find(struct argument_rows *rows, int64_t event)
{
    const struct value *here = &rows->values[SLOT_EVENT];
    rows->event = event;
    while ((rows->has_row && here->kind != VALUE_NULL && here->integer >= event) || row_next(rows))
        if (here->kind != VALUE_NULL && here->integer >= event)
            return here->integer == event && argument_keep(rows);
    return false;
}

bool argument_rows_next(struct argument_rows *rows)
{
    const struct value *here = &rows->values[SLOT_EVENT];
    while (row_next(rows))
        if (here->kind != VALUE_NULL)
            return here->integer == rows->event && argument_keep(rows);
    return false;
}

int64_t argument_rows_position(const struct argument_rows *rows)
{
    return rows->values[SLOT_POSITION].integer;
}

const char *argument_rows_text(const struct argument_rows *rows, enum argument_text text)
{
    return rows->values[SLOT_TEXTS + text].kind == VALUE_TEXT ? rows->texts[text].bytes : NULL;
}
