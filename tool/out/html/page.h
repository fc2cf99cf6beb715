/*
 * The HTML page as it is written: its fixed parts around chunks of rows. A chunk is one element of
 * base64, so that no name can end it, complete in itself: of a process that is killed the page
 * shows all chunks that were written.
 *
 *     <script type="application/x-croc" data-t="KIND" data-n="ROWS">BASE64</script>
 *
 * Rows are numbers of variable length, seven bits a byte, the lowest first. A row begins with the
 * set of fields that differ from the row before in its chunk, in the order of the kind's fields,
 * then comes the difference of each, as 2n or -2n-1. A double that is no small whole number stands
 * for itself: 1, then its eight bytes.
 */
#ifndef OUT_HTML_PAGE_H
#define OUT_HTML_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names/texts.h"
#include "out/writer.h"

enum { HTML_CHUNK_BYTES = 48 * 1024, HTML_FIELDS_MAX = 28 };

enum html_type {
    HTML_NUMBER,
    HTML_TEXT,   /* number of a text of the texts' chunks, from 1; 0: none */
    HTML_START,  /* ns since the page's first time */
    HTML_LENGTH, /* `offset` is that of the end; ns since the row's start */
    HTML_DOUBLE,
    HTML_PROCESS /* the page's own number of whose rows come just now */
};

struct html_field {
    const char *name;
    enum html_type type;
    uint16_t offset, size_bytes; /* in the row */
};

/* Rows of one kind that wait to be written. */
struct html_stream {
    const char *kind;
    const struct html_field *fields;
    uint32_t field_count;
    uint32_t rows, used;
    int64_t last[HTML_FIELDS_MAX];
    uint8_t bytes[HTML_CHUNK_BYTES];
};

struct html_page {
    struct writer writer;
    struct texts texts;
    uint8_t text_bytes[HTML_CHUNK_BYTES]; /* texts that are not written yet */
    uint32_t text_used, text_rows;
    uint64_t text_total; /* bytes of all that are numbered */
    struct html_stream *streams;
    uint32_t stream_count;
    uint64_t first_ns;
    uint64_t process; /* whose rows come */
    bool has_time;
};

/* Creates the file with the page's head, and says what streams' rows are made of. 0 or -errno. */
int html_page_open(struct html_page *page, const char *path, struct html_stream *streams,
                   uint32_t stream_count);
void html_page_row(struct html_page *page, struct html_stream *stream, const void *row);
/* Names and values, two after the other; NULL ends them. */
void html_page_pairs(struct html_page *page, const char *kind, const char *const *pairs);
/* Writes what waits and the page's end; 0 or the first error. */
int html_page_close(struct html_page *page);

#endif
