#include "scan.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "format.h"

enum {
    COLUMNS_MAX = 64,
    NO_SLOT = 255,
    PAYLOAD_BYTES_MAX = 1 << 20,
    NEAR_ROWS = 8 /* how many are looked at one by one before the leaf is halved */
};

struct level {
    uint8_t *bytes;
    uint32_t page;        /* 0: none */
    uint32_t cell, count; /* `cell` is the way that was taken; that of an interior page may be
                             `count`: its last child */
};

struct scan {
    sqlite3_stmt *held; /* keeps writers away; stands at the table's line of the schema */
    sqlite3_file *file;
    uint32_t page_bytes, root;
    int64_t file_bytes;
    struct level levels[FORMAT_DEPTH_MAX];
    int depth;  /* of the leaf; -1: nothing was read yet */
    int64_t id; /* of the row before */
    bool has_id;
    uint8_t slots[COLUMNS_MAX]; /* of the columns, in the table's order */
    bool is_text[COLUMNS_MAX];
    unsigned columns, id_column;
    uint8_t *payload; /* of a row that is longer than its page */
    size_t payload_room;
};

/* ---- opening */

static bool columns_find(struct scan *scan, sqlite3 *database, const char *table,
                         const struct scan_column *columns, unsigned count)
{
    sqlite3_stmt *select = NULL;
    unsigned found = 0, at = 0;
    bool can = sqlite3_prepare_v2(database, "SELECT name, hidden FROM pragma_table_xinfo(?)", -1,
                                  &select, NULL) == SQLITE_OK;
    if (can)
        sqlite3_bind_text(select, 1, table, -1, SQLITE_STATIC);
    for (; can && sqlite3_step(select) == SQLITE_ROW; at++) {
        const char *name = (const char *)sqlite3_column_text(select, 0);
        can = name && at < COLUMNS_MAX && sqlite3_column_int(select, 1) == 0;
        if (!can)
            break;
        scan->slots[at] = NO_SLOT;
        if (sqlite3_stricmp(name, "id") == 0)
            scan->id_column = at;
        for (unsigned i = 0; i < count; i++)
            if (sqlite3_stricmp(name, columns[i].name) == 0) {
                scan->slots[at] = (uint8_t)columns[i].slot;
                scan->is_text[at] = columns[i].is_text;
                scan->columns = at + 1;
                found++;
            }
    }
    sqlite3_finalize(select);
    return can && found == count;
}

/* A column that numbers itself is the row's number. */
static bool has_numbers(sqlite3 *database, const char *table)
{
    int numbers_itself = 0;
    return sqlite3_table_column_metadata(database, "main", table, "id", NULL, NULL, NULL, NULL,
                                         &numbers_itself) == SQLITE_OK &&
           numbers_itself;
}

/* While a statement stands at a row, the file stays as it is. */
static bool table_hold(struct scan *scan, sqlite3 *database, const char *table)
{
    static const char sql[] =
        "SELECT rootpage FROM main.sqlite_master WHERE type = 'table' AND name = ?1";
    if (sqlite3_prepare_v2(database, sql, -1, &scan->held, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(scan->held, 1, table, -1, SQLITE_TRANSIENT);
    if (sqlite3_step(scan->held) != SQLITE_ROW)
        return false;
    scan->root = (uint32_t)sqlite3_column_int64(scan->held, 0);
    return scan->root > 1;
}

/* By SQLite's own descriptor: closing another one would give its locks away. */
static bool file_know(struct scan *scan, sqlite3 *database)
{
    uint8_t header[FORMAT_HEADER_BYTES];
    sqlite3_int64 bytes = 0;
    int status = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &scan->file);
    if (status != SQLITE_OK || !scan->file || !scan->file->pMethods ||
        scan->file->pMethods->xRead(scan->file, header, sizeof header, 0) != SQLITE_OK ||
        scan->file->pMethods->xFileSize(scan->file, &bytes) != SQLITE_OK)
        return false;
    scan->file_bytes = bytes;
    return format_is_known(header, &scan->page_bytes);
}

struct scan *scan_open(sqlite3 *database, const char *table, const struct scan_column *columns,
                       unsigned count)
{
    struct scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        return NULL;
    scan->depth = -1;
    if (has_numbers(database, table) && columns_find(scan, database, table, columns, count) &&
        table_hold(scan, database, table) && file_know(scan, database))
        return scan;
    scan_close(scan);
    return NULL;
}

void scan_close(struct scan *scan)
{
    if (!scan)
        return;
    sqlite3_finalize(scan->held);
    for (int i = 0; i < FORMAT_DEPTH_MAX; i++)
        free(scan->levels[i].bytes);
    free(scan->payload);
    free(scan);
}

/* ---- pages */

static bool page_read(struct scan *scan, uint32_t page, uint8_t *bytes)
{
    int64_t at = (int64_t)(page - 1) * scan->page_bytes;
    return page > 1 && at + scan->page_bytes <= scan->file_bytes &&
           scan->file->pMethods->xRead(scan->file, bytes, (int)scan->page_bytes, at) == SQLITE_OK;
}

static bool is_leaf(const struct level *level)
{
    return level->bytes[0] == FORMAT_LEAF;
}

/* False: no page of a table. */
static bool level_read(struct scan *scan, struct level *level, uint32_t page)
{
    if (level->page == page)
        return true;
    level->page = 0;
    if (!level->bytes)
        level->bytes = malloc(scan->page_bytes);
    if (!level->bytes || !page_read(scan, page, level->bytes))
        return false;
    uint8_t type = level->bytes[0];
    level->count = be16(level->bytes + 3);
    uint32_t head = type == FORMAT_LEAF ? FORMAT_LEAF_HEAD_BYTES : FORMAT_INTERIOR_HEAD_BYTES;
    if ((type != FORMAT_LEAF && type != FORMAT_INTERIOR) ||
        head + 2 * level->count > scan->page_bytes)
        return false;
    level->page = page;
    return true;
}

/* Where a cell begins; NULL: outside of its page. */
static const uint8_t *cell_at(const struct scan *scan, const struct level *level, uint32_t cell)
{
    uint32_t head = is_leaf(level) ? FORMAT_LEAF_HEAD_BYTES : FORMAT_INTERIOR_HEAD_BYTES;
    uint32_t at = be16(level->bytes + head + 2 * cell);
    bool is_inside = at >= head + 2 * level->count && at + 4 < scan->page_bytes;
    return is_inside ? level->bytes + at : NULL;
}

/* The number of the page that a way leads to; 0: none. */
static uint32_t child(const struct scan *scan, const struct level *level)
{
    if (level->cell == level->count)
        return be32(level->bytes + 8);
    const uint8_t *cell = cell_at(scan, level, level->cell);
    return cell ? be32(cell) : 0;
}

/* From a level to the first leaf below it. */
static bool leftmost(struct scan *scan, int depth, uint32_t page)
{
    for (; depth < FORMAT_DEPTH_MAX; depth++) {
        struct level *level = &scan->levels[depth];
        if (!level_read(scan, level, page))
            return false;
        level->cell = 0;
        scan->depth = depth;
        if (is_leaf(level))
            return true;
        page = child(scan, level);
    }
    return false;
}

/* ---- rows */

/* Reals stand in a recording only for whole numbers beyond 63 bits: SQL is asked what they are. */
static bool value_read(struct value *value, uint64_t type, const uint8_t *content, bool is_text)
{
    *value = (struct value){.kind = VALUE_NULL};
    if (type == FORMAT_NULL)
        return true;
    if (is_text) {
        value->kind = VALUE_TEXT;
        value->text = (const char *)content;
        value->bytes = (uint32_t)content_bytes(type);
        return type > FORMAT_BLOB && type & 1;
    }
    value->kind = VALUE_INTEGER;
    if (type < FORMAT_REAL)
        value->integer = integer_get(content, (unsigned)content_bytes(type));
    else
        value->integer = type == FORMAT_ONE;
    return type < FORMAT_REAL || type == FORMAT_ZERO || type == FORMAT_ONE;
}

static bool record_read(const struct scan *scan, const uint8_t *record, uint64_t bytes,
                        struct value *values)
{
    uint64_t header_bytes, type;
    const uint8_t *end = record + bytes, *types = varint(record, end, &header_bytes);
    if (!types || header_bytes > bytes)
        return false;
    const uint8_t *content = record + header_bytes, *types_end = content;
    for (unsigned column = 0; column < scan->columns; column++) {
        if (types < types_end && *types < 0x80)
            type = *types++;
        else if (types >= types_end || !(types = varint(types, types_end, &type)))
            return false; /* columns that came later have a default */
        uint64_t size = content_bytes(type);
        if (size > (uint64_t)(end - content) || (column == scan->id_column && type != FORMAT_NULL))
            return false;
        if (scan->slots[column] != NO_SLOT &&
            !value_read(&values[scan->slots[column]], type, content, scan->is_text[column]))
            return false;
        content += size;
    }
    return true;
}

/* A row that is longer than its page, put together. NULL: it cannot be. */
static const uint8_t *payload_gather(struct scan *scan, const uint8_t *record, uint64_t local,
                                     uint64_t bytes)
{
    size_t size = (size_t)bytes + scan->page_bytes;
    if (bytes > PAYLOAD_BYTES_MAX)
        return NULL;
    if (scan->payload_room < size) {
        free(scan->payload);
        scan->payload = malloc(size);
        scan->payload_room = scan->payload ? size : 0;
    }
    if (!scan->payload)
        return NULL;
    memcpy(scan->payload, record, local);
    uint32_t page = be32(record + local);
    for (uint64_t done = local; done < bytes; done += scan->page_bytes - 4) {
        /* The page's number of the next one stands where the last four bytes are already. */
        uint8_t last[4];
        memcpy(last, scan->payload + done - 4, sizeof last);
        if (!page_read(scan, page, scan->payload + done - 4))
            return NULL;
        page = be32(scan->payload + done - 4);
        memcpy(scan->payload + done - 4, last, sizeof last);
    }
    return scan->payload;
}

/* A row's head: what it takes and its id. NULL: it goes beyond its page. */
static const uint8_t *row_head(const struct scan *scan, const struct level *leaf, uint32_t cell,
                               uint64_t *bytes, int64_t *id)
{
    const uint8_t *end = leaf->bytes + scan->page_bytes, *at = cell_at(scan, leaf, cell);
    uint64_t number = 0;
    at = at ? varint(at, end, bytes) : NULL;
    at = at ? varint(at, end, &number) : NULL;
    *id = (int64_t)number;
    return at;
}

static bool row_read(struct scan *scan, const struct level *leaf, const uint8_t *record,
                     uint64_t bytes, struct value *values)
{
    uint64_t local = local_bytes(scan->page_bytes, bytes);
    const uint8_t *end = leaf->bytes + scan->page_bytes;
    if (local + (local < bytes ? 4 : 0) > (uint64_t)(end - record))
        return false;
    if (local < bytes)
        record = payload_gather(scan, record, local, bytes);
    return record && record_read(scan, record, bytes, values);
}

/* To the next leaf; none is left at the last way of all levels. */
static enum scan_result leaf_next(struct scan *scan)
{
    if (scan->depth < 0)
        return leftmost(scan, 0, scan->root) ? SCAN_ROW : SCAN_UNLIKE;
    for (int depth = scan->depth - 1; depth >= 0; depth--) {
        struct level *level = &scan->levels[depth];
        if (level->cell == level->count)
            continue;
        level->cell++;
        return leftmost(scan, depth + 1, child(scan, level)) ? SCAN_ROW : SCAN_UNLIKE;
    }
    return SCAN_NONE;
}

/* Every leaf but that of an empty table has rows, and every row a greater id: so a circle ends. */
enum scan_result scan_next(struct scan *scan, struct value *values, int64_t *id)
{
    struct level *leaf = scan->depth < 0 ? NULL : &scan->levels[scan->depth];
    if (!leaf || ++leaf->cell >= leaf->count) {
        enum scan_result result = leaf_next(scan);
        if (result != SCAN_ROW)
            return result;
        leaf = &scan->levels[scan->depth];
        if (leaf->count == 0)
            return scan->depth == 0 ? SCAN_NONE : SCAN_UNLIKE;
    }
    uint64_t bytes;
    const uint8_t *record = row_head(scan, leaf, leaf->cell, &bytes, id);
    if (!record || (scan->has_id && *id <= scan->id) ||
        !row_read(scan, leaf, record, bytes, values))
        return SCAN_UNLIKE;
    scan->id = *id;
    scan->has_id = true;
    return SCAN_ROW;
}

/* ---- one row */

/* The first cell of [from, count) whose key is not below `id`; false: a key cannot be read. */
static bool cell_find(const struct scan *scan, const struct level *level, uint32_t from, int64_t id,
                      uint32_t *cell)
{
    uint32_t low = from, high = level->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const uint8_t *at = cell_at(scan, level, middle), *end = level->bytes + scan->page_bytes;
        uint64_t key;
        if (at && is_leaf(level))
            at = varint(at, end, &key);
        else if (at)
            at += 4;
        if (!at || !varint(at, end, &key))
            return false;
        if ((int64_t)key < id)
            low = middle + 1;
        else
            high = middle;
    }
    *cell = low;
    return true;
}

/* To the leaf that has the row, if there is one. */
static bool leaf_find(struct scan *scan, int64_t id)
{
    uint32_t page = scan->root;
    for (int depth = 0; depth < FORMAT_DEPTH_MAX; depth++) {
        struct level *level = &scan->levels[depth];
        if (!level_read(scan, level, page) || !cell_find(scan, level, 0, id, &level->cell))
            return false;
        scan->depth = depth;
        if (is_leaf(level))
            return true;
        page = child(scan, level);
    }
    return false;
}

/* Whether the row stands in the leaf behind the one before: SCAN_UNLIKE is "perhaps elsewhere". */
static enum scan_result near_find(struct scan *scan, struct level *leaf, int64_t id,
                                  const uint8_t **record, uint64_t *bytes)
{
    int64_t here;
    for (uint32_t cell = leaf->cell + 1; cell < leaf->count && cell <= leaf->cell + NEAR_ROWS;
         cell++) {
        *record = row_head(scan, leaf, cell, bytes, &here);
        if (!*record || here > id)
            break;
        if (here == id) {
            leaf->cell = cell;
            return SCAN_ROW;
        }
    }
    return SCAN_UNLIKE;
}

enum scan_result scan_find(struct scan *scan, int64_t id, struct value *values)
{
    struct level *leaf = scan->depth < 0 ? NULL : &scan->levels[scan->depth];
    const uint8_t *record = NULL;
    uint64_t bytes;
    int64_t here;
    if (!leaf || near_find(scan, leaf, id, &record, &bytes) != SCAN_ROW) {
        if (!leaf_find(scan, id))
            return SCAN_UNLIKE;
        leaf = &scan->levels[scan->depth];
        if (leaf->cell == leaf->count)
            return SCAN_NONE;
        record = row_head(scan, leaf, leaf->cell, &bytes, &here);
        if (record && here != id)
            return SCAN_NONE;
    }
    return record && row_read(scan, leaf, record, bytes, values) ? SCAN_ROW : SCAN_UNLIKE;
}
