#include "pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format.h"

enum {
    PENDING_BYTE = 0x40000000, /* the page that has it is nobody's */
    WRITE_BYTES = 1 << 20
};

struct pages {
    int from, to;
    uint32_t page_bytes, from_count, to_count; /* to_count: pages that count, or will */
    uint32_t change;                           /* of the header, when it was opened */
    uint64_t left;                             /* pages that may still be read: a circle ends */
    uint8_t *level[FORMAT_DEPTH_MAX];          /* a page each */
    uint8_t *overflow;
    /* Pages that wait to be written, from `waiting_at` on. */
    uint8_t *waiting;
    uint32_t waiting_at, waiting_count;
};

static void be32_put(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* ---- files */

static int bytes_read(int file, uint8_t *bytes, size_t size, uint64_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(file, bytes + done, size - done, (off_t)(at + done));
        if (got == 0)
            return -EINVAL;
        if (got < 0 && errno != EINTR)
            return -errno;
        done += got < 0 ? 0 : (size_t)got;
    }
    return 0;
}

static int bytes_write(int file, const uint8_t *bytes, size_t size, uint64_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t put = pwrite(file, bytes + done, size - done, (off_t)(at + done));
        if (put < 0 && errno != EINTR)
            return -errno;
        done += put < 0 ? 0 : (size_t)put;
    }
    return 0;
}

static uint64_t offset_of(const struct pages *pages, uint32_t page)
{
    return (uint64_t)(page - 1) * pages->page_bytes;
}

static int page_read(struct pages *pages, uint32_t page, uint8_t *bytes)
{
    if (page < 2 || page > pages->from_count || pages->left == 0)
        return -EINVAL;
    pages->left--;
    return bytes_read(pages->from, bytes, pages->page_bytes, offset_of(pages, page));
}

static int waiting_write(struct pages *pages)
{
    int status =
        bytes_write(pages->to, pages->waiting, (size_t)pages->waiting_count * pages->page_bytes,
                    offset_of(pages, pages->waiting_at));
    pages->waiting_at += pages->waiting_count;
    pages->waiting_count = 0;
    return status;
}

static int waiting_add(struct pages *pages, const uint8_t *bytes)
{
    memcpy(pages->waiting + (size_t)pages->waiting_count * pages->page_bytes, bytes,
           pages->page_bytes);
    pages->to_count++;
    if (++pages->waiting_count < WRITE_BYTES / pages->page_bytes)
        return 0;
    return waiting_write(pages);
}

/* The number that the next page will have. */
static int number_next(struct pages *pages, uint32_t *number)
{
    static const uint8_t zeros[65536];
    if (pages->to_count == PENDING_BYTE / pages->page_bytes) {
        int status = waiting_add(pages, zeros);
        if (status != 0)
            return status;
    }
    *number = pages->to_count + 1;
    return *number < INT32_MAX ? 0 : -EFBIG;
}

static int page_append(struct pages *pages, const uint8_t *bytes, uint32_t *number)
{
    int status = number_next(pages, number);
    return status == 0 ? waiting_add(pages, bytes) : status;
}

/* ---- rows */

static bool integer_put(uint8_t *at, unsigned size, int64_t value)
{
    int64_t high = value >> (8 * size - 1);
    if (high != 0 && high != -1)
        return false;
    for (unsigned i = 0; i < size; i++)
        at[i] = (uint8_t)((uint64_t)value >> (8 * (size - 1 - i)));
    return true;
}

/* What our databases say of kernels whose device has its own model: {"modelled_ns":N}. */
static void modelled_add(struct pages_table *table, const uint8_t *json, uint64_t bytes)
{
    static const char head[] = "{\"modelled_ns\":";
    int64_t value = 0;
    if (bytes <= sizeof head || memcmp(json, head, sizeof head - 1) != 0 || json[bytes - 1] != '}')
        return;
    for (uint64_t i = sizeof head - 1; i < bytes - 1; i++) {
        if (json[i] < '0' || json[i] > '9' || value > INT64_MAX / 100)
            return;
        value = value * 10 + (json[i] - '0');
    }
    table->modelled_ns += value;
    table->modelled_rows++;
}

/* A row's record: its times are moved, and counted. False: a time does not fit, or no record. */
static bool record_align(struct pages_table *table, uint8_t *record, uint8_t *end)
{
    uint64_t header_bytes, type;
    int64_t start_ns = 0, end_ns = 0;
    bool has_start = false, has_end = false;
    const uint8_t *types = varint(record, end, &header_bytes);
    if (!types || header_bytes > (uint64_t)(end - record))
        return false;
    uint8_t *content = record + header_bytes;
    const uint8_t *types_end = content;
    const uint64_t columns =
        table->time_columns | (table->json_column < 0 ? 0 : 1ull << table->json_column);
    for (int column = 0; types < types_end && columns >> column; column++) {
        types = varint(types, types_end, &type);
        if (!types)
            return false;
        uint64_t bytes = content_bytes(type);
        bool is_time = table->time_columns >> column & 1;
        if (bytes > (uint64_t)(end - content)) {
            if (is_time || table->time_columns >> column >> 1)
                return false;
            break; /* what overflows comes last */
        }
        if (column == table->json_column && type >= FORMAT_BLOB)
            modelled_add(table, content, bytes);
        if (is_time && type >= 1 && type <= 6) {
            int64_t time_ns =
                alignment_apply(&table->alignment, integer_get(content, (unsigned)bytes));
            if (!integer_put(content, (unsigned)bytes, time_ns))
                return false;
            has_start = has_start || column == table->start_column;
            has_end = has_end || column == table->end_column;
            start_ns = column == table->start_column ? time_ns : start_ns;
            end_ns = column == table->end_column ? time_ns : end_ns;
        } else if (is_time && type != 0) {
            return false; /* 0, 1, no integer */
        }
        content += bytes;
    }
    if (has_start && has_end) {
        table->first_ns = start_ns < table->first_ns ? start_ns : table->first_ns;
        table->last_ns = end_ns > table->last_ns ? end_ns : table->last_ns;
        table->total_ns += end_ns > start_ns ? end_ns - start_ns : 0; /* as cursors.c */
    }
    return true;
}

/* The rest of a row that is longer than its page; its pages keep their order. */
static int overflow_copy(struct pages *pages, uint8_t *pointer)
{
    uint32_t page = be32(pointer), number = 0;
    int status = page ? number_next(pages, &number) : -EINVAL;
    be32_put(pointer, number);
    while (status == 0 && page) {
        status = page_read(pages, page, pages->overflow);
        page = be32(pages->overflow);
        /* The next one follows at once, but for the page that is nobody's. */
        uint32_t next = number + 1 + (number == PENDING_BYTE / pages->page_bytes);
        be32_put(pages->overflow, page ? next : 0);
        if (status == 0)
            status = page_append(pages, pages->overflow, &number);
        number = next;
    }
    return status;
}

static int cell_copy(struct pages *pages, struct pages_table *table, uint8_t *cell, uint8_t *end)
{
    uint64_t payload = 0, rowid;
    const uint8_t *at = varint(cell, end, &payload);
    at = at ? varint(at, end, &rowid) : NULL;
    if (!at)
        return -EINVAL;
    uint8_t *record = cell + (at - cell);
    uint64_t local = local_bytes(pages->page_bytes, payload);
    if (local + (local < payload ? 4 : 0) > (uint64_t)(end - record))
        return -EINVAL;
    table->rows++;
    if (table->time_columns && !record_align(table, record, record + local))
        return -EINVAL;
    return local < payload ? overflow_copy(pages, record + local) : 0;
}

/* ---- pages */

static int subtree_copy(struct pages *pages, struct pages_table *table, uint32_t from, int depth,
                        uint32_t *number);

static int child_copy(struct pages *pages, struct pages_table *table, uint8_t *pointer, int depth)
{
    uint32_t number = 0;
    int status = subtree_copy(pages, table, be32(pointer), depth + 1, &number);
    be32_put(pointer, number);
    return status;
}

/* What the page refers to is copied, and the page refers to the copies. */
static int page_translate(struct pages *pages, struct pages_table *table, uint8_t *page, int depth)
{
    uint8_t *end = page + pages->page_bytes;
    bool is_leaf = page[0] == FORMAT_LEAF;
    uint32_t count = be16(page + 3),
             head = is_leaf ? FORMAT_LEAF_HEAD_BYTES : FORMAT_INTERIOR_HEAD_BYTES;
    int status = is_leaf || page[0] == FORMAT_INTERIOR ? 0 : -EINVAL;
    if (head + 2 * count > pages->page_bytes)
        status = -EINVAL;
    for (uint32_t i = 0; i < count && status == 0; i++) {
        uint32_t at = be16(page + head + 2 * i);
        if (at < head + 2 * count || at + 4 > pages->page_bytes)
            return -EINVAL;
        status = is_leaf ? cell_copy(pages, table, page + at, end)
                         : child_copy(pages, table, page + at, depth);
    }
    return status == 0 && !is_leaf ? child_copy(pages, table, page + 8, depth) : status;
}

static int subtree_copy(struct pages *pages, struct pages_table *table, uint32_t from, int depth,
                        uint32_t *number)
{
    if (depth == FORMAT_DEPTH_MAX)
        return -EINVAL;
    if (!pages->level[depth])
        pages->level[depth] = malloc(pages->page_bytes);
    int status = pages->level[depth] ? page_read(pages, from, pages->level[depth]) : -ENOMEM;
    if (status == 0)
        status = page_translate(pages, table, pages->level[depth], depth);
    return status == 0 ? page_append(pages, pages->level[depth], number) : status;
}

/* The root comes last: until it is there, nothing of the rest is. */
static int root_copy(struct pages *pages, uint32_t from_root, uint32_t to_root,
                     struct pages_table *table)
{
    if (!pages->level[0])
        pages->level[0] = malloc(pages->page_bytes);
    int status = pages->level[0] ? page_read(pages, from_root, pages->level[0]) : -ENOMEM;
    if (status == 0)
        status = page_translate(pages, table, pages->level[0], 0);
    if (status == 0)
        status = waiting_write(pages);
    if (status == 0)
        status =
            bytes_write(pages->to, pages->level[0], pages->page_bytes, offset_of(pages, to_root));
    return status;
}

int pages_copy(struct pages *pages, uint32_t from_root, uint32_t to_root, struct pages_table *table)
{
    uint32_t before = pages->to_count;
    if (to_root < 2 || to_root > before)
        return -EINVAL;
    table->rows = 0;
    table->total_ns = table->modelled_ns = 0;
    table->modelled_rows = 0;
    table->first_ns = INT64_MAX;
    table->last_ns = INT64_MIN;
    pages->left = pages->from_count;
    int status = root_copy(pages, from_root, to_root, table);
    if (status == 0)
        return 0;
    pages->to_count = before;
    pages->waiting_at = before + 1;
    pages->waiting_count = 0;
    return status;
}

/* ---- databases */

/* What both must be: of the format that we know, whole pages. */
static bool header_read(int file, uint8_t header[FORMAT_HEADER_BYTES], uint32_t *page_bytes,
                        uint32_t *count)
{
    if (file < 0 || bytes_read(file, header, FORMAT_HEADER_BYTES, 0) != 0 ||
        !format_is_known(header, page_bytes))
        return false;
    *count = be32(header + 28);
    off_t size = lseek(file, 0, SEEK_END);
    return be32(header + 24) == be32(header + 92) && *count > 0 &&
           (uint64_t)size >= (uint64_t)*count * *page_bytes;
}

static void pages_free(struct pages *pages)
{
    if (pages->from >= 0)
        close(pages->from);
    if (pages->to >= 0)
        close(pages->to);
    for (int i = 0; i < FORMAT_DEPTH_MAX; i++)
        free(pages->level[i]);
    free(pages->overflow);
    free(pages->waiting);
    free(pages);
}

struct pages *pages_open(const char *from, const char *to)
{
    uint8_t there[FORMAT_HEADER_BYTES], here[FORMAT_HEADER_BYTES];
    uint32_t page_bytes = 0;
    struct pages *pages = calloc(1, sizeof *pages);
    if (!pages)
        return NULL;
    pages->from = open(from, O_RDONLY | O_CLOEXEC);
    pages->to = open(to, O_RDWR | O_CLOEXEC);
    bool can = header_read(pages->from, there, &page_bytes, &pages->from_count) &&
               header_read(pages->to, here, &pages->page_bytes, &pages->to_count) &&
               page_bytes == pages->page_bytes && be32(here + 52) == 0;
    if (can) {
        pages->change = be32(here + 24);
        pages->waiting_at = pages->to_count + 1;
        pages->overflow = malloc(pages->page_bytes);
        pages->waiting = malloc(WRITE_BYTES);
    }
    if (can && pages->overflow && pages->waiting)
        return pages;
    pages_free(pages);
    return NULL;
}

int pages_close(struct pages *pages)
{
    uint8_t number[4];
    be32_put(number, pages->to_count);
    int status = bytes_write(pages->to, number, sizeof number, 28);
    be32_put(number, pages->change + 1);
    if (status == 0)
        status = bytes_write(pages->to, number, sizeof number, 24);
    if (status == 0)
        status = bytes_write(pages->to, number, sizeof number, 92);
    if (status == 0 && ftruncate(pages->to, (off_t)offset_of(pages, pages->to_count + 1)) != 0)
        status = -errno;
    pages_free(pages);
    return status;
}
