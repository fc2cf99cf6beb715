#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "html_page.h" /* generated: html_head, html_tail */

enum {
    TEXTS_MAX = 1 << 15,
    TEXTS_BYTES_MAX = 1 << 22,
    ROW_BYTES_MAX = 10 * (HTML_FIELDS_MAX + 1),
    TEXT_BYTES_MAX = 16384
};

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static char *base64_at(char *at, const uint8_t *bytes, uint32_t count)
{
    uint32_t value = (uint32_t)bytes[0] << 16;
    if (count > 1)
        value |= (uint32_t)bytes[1] << 8;
    if (count > 2)
        value |= bytes[2];
    at[0] = digits[value >> 18];
    at[1] = digits[value >> 12 & 63];
    at[2] = count > 1 ? digits[value >> 6 & 63] : '=';
    at[3] = count > 2 ? digits[value & 63] : '=';
    return at + 4;
}

static void base64_put(struct writer *writer, const uint8_t *bytes, uint32_t size)
{
    enum { PART = 3 * 1024 };
    for (uint32_t begin = 0; begin < size; begin += PART) {
        uint32_t end = size - begin < PART ? size : begin + PART;
        char *at = writer_room(writer, PART / 3 * 4);
        for (uint32_t i = begin; i < end; i += 3)
            at = base64_at(at, bytes + i, end - i);
        writer_advance(writer, at);
    }
}

static void text_put(struct writer *writer, const char *text)
{
    writer_bytes(writer, text, strlen(text));
}

static void chunk_put(struct html_page *page, const char *kind, uint32_t rows, const uint8_t *bytes,
                      uint32_t size)
{
    struct writer *writer = &page->writer;
    text_put(writer, "<script type=\"application/x-croc\" data-t=\"");
    text_put(writer, kind);
    text_put(writer, "\" data-n=\"");
    writer_u64(writer, rows);
    text_put(writer, "\">");
    base64_put(writer, bytes, size);
    text_put(writer, "</script>\n");
}

static uint8_t *number_at(uint8_t *at, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

/* ---- texts */

static void texts_flush(struct html_page *page)
{
    if (page->text_used)
        chunk_put(page, "texts", page->text_rows, page->text_bytes, page->text_used);
    page->text_used = page->text_rows = 0;
}

/* Longer texts are cut, between characters where they are UTF-8. */
static uint32_t text_length(const char *text)
{
    size_t length = strnlen(text, TEXT_BYTES_MAX);
    if (length == TEXT_BYTES_MAX)
        while (length > TEXT_BYTES_MAX - 4 && ((uint8_t)text[length] & 0xc0) == 0x80)
            length--;
    return (uint32_t)length;
}

static void text_append(struct html_page *page, const char *text)
{
    uint32_t length = text_length(text);
    if (page->text_used + length + 10 > HTML_CHUNK_BYTES)
        texts_flush(page);
    uint8_t *at = number_at(page->text_bytes + page->text_used, length);
    memcpy(at, text, length);
    page->text_used = (uint32_t)(at + length - page->text_bytes);
    page->text_rows++;
    page->text_total += length;
}

static int64_t text_id(struct html_page *page, const char *text)
{
    bool is_new;
    if (!text)
        return 0;
    uint32_t id = texts_id(&page->texts, text, &is_new);
    if (is_new)
        text_append(page, text);
    return id;
}

/* ---- rows */

static void stream_flush(struct html_page *page, struct html_stream *stream)
{
    if (!stream->rows)
        return;
    texts_flush(page);
    chunk_put(page, stream->kind, stream->rows, stream->bytes, stream->used);
    stream->rows = stream->used = 0;
    memset(stream->last, 0, sizeof stream->last);
}

static void streams_flush(struct html_page *page)
{
    for (uint32_t i = 0; i < page->stream_count; i++)
        stream_flush(page, &page->streams[i]);
}

/* Texts are numbered anew, so that what is remembered of them has a bound. */
static void texts_renew(struct html_page *page)
{
    streams_flush(page);
    texts_flush(page);
    chunk_put(page, "renew", 0, NULL, 0);
    texts_free(&page->texts);
    memset(&page->texts, 0, sizeof page->texts);
    page->text_total = 0;
}

static uint64_t field_u64(const struct html_field *field, const void *row)
{
    uint64_t value = 0; /* little-endian: a narrow field is the low bytes */
    memcpy(&value, (const char *)row + field->offset, field->size_bytes);
    return value;
}

static int64_t time_of(struct html_page *page, uint64_t ns)
{
    if (!page->has_time) {
        char text[24];
        snprintf(text, sizeof text, "%llu", (unsigned long long)ns);
        page->has_time = true;
        page->first_ns = ns;
        html_page_pairs(page, "time", (const char *const[]){"first_ns", text, NULL});
    }
    return (int64_t)(ns - page->first_ns);
}

static int64_t field_value(struct html_page *page, const struct html_field *field, const void *row,
                           uint64_t start_ns)
{
    uint64_t value = field_u64(field, row);
    switch (field->type) {
    case HTML_TEXT:
        return text_id(page, (const char *)(uintptr_t)value);
    case HTML_START:
        return time_of(page, value);
    case HTML_LENGTH:
        return (int64_t)(value - start_ns);
    case HTML_PROCESS:
        return (int64_t)page->process;
    default:
        return (int64_t)value;
    }
}

static uint8_t *double_at(uint8_t *at, int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    if (value >= 0 && value < 4503599627370496.0 && value == (double)(uint64_t)value)
        return number_at(at, (uint64_t)value << 1);
    *at++ = 1;
    memcpy(at, &bits, sizeof bits);
    return at + sizeof bits;
}

static uint8_t *change_at(uint8_t *at, const struct html_field *field, int64_t last, int64_t value)
{
    if (field->type == HTML_DOUBLE)
        return double_at(at, value);
    uint64_t change = (uint64_t)value - (uint64_t)last;
    return number_at(at, change << 1 ^ (change >> 63 ? UINT64_MAX : 0));
}

void html_page_row(struct html_page *page, struct html_stream *stream, const void *row)
{
    int64_t values[HTML_FIELDS_MAX];
    uint64_t start_ns = 0, changed = 0;
    if (page->texts.used >= TEXTS_MAX || page->text_total >= TEXTS_BYTES_MAX)
        texts_renew(page);
    if (stream->used + ROW_BYTES_MAX > HTML_CHUNK_BYTES)
        stream_flush(page, stream);
    for (uint32_t i = 0; i < stream->field_count; i++) {
        const struct html_field *field = &stream->fields[i];
        if (field->type == HTML_START)
            start_ns = field_u64(field, row);
        values[i] = field_value(page, field, row, start_ns);
        changed |= (uint64_t)(values[i] != stream->last[i]) << i;
    }
    uint8_t *at = number_at(stream->bytes + stream->used, changed);
    for (uint64_t rest = changed; rest; rest &= rest - 1) {
        int i = __builtin_ctzll(rest);
        at = change_at(at, &stream->fields[i], stream->last[i], values[i]);
        stream->last[i] = values[i];
    }
    stream->used = (uint32_t)(at - stream->bytes);
    stream->rows++;
}

/* ---- the page */

void html_page_pairs(struct html_page *page, const char *kind, const char *const *pairs)
{
    static const uint32_t room = TEXT_BYTES_MAX + 10;
    uint32_t used = 0, capacity = 0, rows = 0;
    uint8_t *bytes = NULL;
    for (; pairs[rows]; rows++) {
        if (used + room > capacity) {
            capacity = 2 * capacity + room;
            uint8_t *grown = realloc(bytes, capacity);
            if (!grown)
                break;
            bytes = grown;
        }
        uint32_t length = text_length(pairs[rows]);
        uint8_t *at = number_at(bytes + used, length);
        memcpy(at, pairs[rows], length);
        used = (uint32_t)(at + length - bytes);
    }
    chunk_put(page, kind, rows, bytes, used);
    free(bytes);
}

/* "KIND: name type ..." for each, so that the page's reader has no list of its own. */
static void schema_put(struct html_page *page)
{
    static const char types[] = "ntsldn";
    for (uint32_t i = 0; i < page->stream_count; i++) {
        const struct html_stream *stream = &page->streams[i];
        char names[HTML_FIELDS_MAX * 24];
        int used = 0;
        names[0] = 0;
        for (uint32_t f = 0; f < stream->field_count; f++)
            used += snprintf(names + used, sizeof names - (size_t)used, "%s%c%s", f ? " " : "",
                             types[stream->fields[f].type], stream->fields[f].name);
        html_page_pairs(page, "schema", (const char *const[]){stream->kind, names, NULL});
    }
}

int html_page_open(struct html_page *page, const char *path, struct html_stream *streams,
                   uint32_t stream_count)
{
    page->streams = streams;
    page->stream_count = stream_count;
    int status = writer_open(&page->writer, path);
    if (status != 0)
        return status;
    writer_bytes(&page->writer, html_head, sizeof html_head - 1);
    schema_put(page);
    return 0;
}

int html_page_close(struct html_page *page)
{
    streams_flush(page);
    texts_flush(page);
    html_page_pairs(page, "end", (const char *const[]){"complete", "1", NULL});
    writer_bytes(&page->writer, html_tail, sizeof html_tail - 1);
    texts_free(&page->texts);
    return writer_close(&page->writer);
}
