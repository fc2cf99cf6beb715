#include "table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { GAP = 2, TEXT_WIDTH_WANTED = 32, TEXT_WIDTH_MIN = 12, SHOWN_BYTES = 4096 };
#define HEAD_BEGIN "\033[1m"
#define HEAD_END   "\033[0m"

struct table {
    size_t columns, rows, capacity;
    size_t spare[TABLE_COLUMNS_MAX], spare_count; /* in the order in which they may go */
    char *titles[TABLE_COLUMNS_MAX];
    char **cells; /* row after row */
};

/* ---- style */

struct table_style table_style_of(FILE *file)
{
    struct winsize size;
    struct table_style style = {0};
    int number = fileno(file);
    bool is_terminal = number >= 0 && isatty(number);
    const char *columns = getenv("COLUMNS"), *terminal = getenv("TERM"),
               *no_colour = getenv("NO_COLOR");
    if (columns && *columns)
        style.width = strtoul(columns, NULL, 10);
    else if (is_terminal && ioctl(number, TIOCGWINSZ, &size) == 0)
        style.width = size.ws_col;
    style.colour = is_terminal && !(no_colour && *no_colour) && terminal && *terminal &&
                   strcmp(terminal, "dumb") != 0;
    return style;
}

/* ---- text */

/* Bytes of the character at `text`: 1 for what is no whole one. */
static size_t character_bytes(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t bytes = at[0] < 0xc2 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 1;
    for (size_t i = 1; i < bytes; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 1;
    return bytes;
}

/* One character as it is shown; how many bytes of `text` it was. */
static size_t character_show(const char *text, char shown[8])
{
    size_t bytes = character_bytes(text);
    unsigned char first = (unsigned char)*text;
    bool is_control = first < 0x20 || first == 0x7f || (bytes == 1 && first >= 0x80) ||
                      (first == 0xc2 && (unsigned char)text[1] < 0xa0);
    if (first == '\n' || first == '\t')
        strcpy(shown, first == '\n' ? "\\n" : "\\t");
    else if (is_control)
        strcpy(shown, "?");
    else
        memcpy(shown, text, bytes), shown[bytes] = 0;
    return bytes;
}

static size_t width_of(const char *shown)
{
    size_t width = 0;
    for (; *shown; shown++)
        width += ((unsigned char)*shown & 0xc0) != 0x80;
    return width;
}

/* The byte at which column `column` begins. */
static size_t column_at(const char *shown, size_t column)
{
    size_t at = 0;
    for (; shown[at] && column > 0; column--)
        at += character_bytes(shown + at);
    return at;
}

void table_text(const char *text, size_t width, char *shown, size_t shown_bytes)
{
    size_t used = 0;
    char one[8];
    while (*text) {
        text += character_show(text, one);
        if (used + strlen(one) >= shown_bytes)
            break;
        used = (size_t)(stpcpy(shown + used, one) - shown);
    }
    shown[used] = 0;
    size_t all = width_of(shown);
    if (width == 0 || all <= width || width < 4)
        return;
    size_t first = (width - 3 + 1) / 2, last = width - 3 - first;
    size_t from = column_at(shown, first), to = column_at(shown, all - last);
    memmove(shown + from + 3, shown + to, used - to + 1);
    memcpy(shown + from, "...", 3);
}

/* ---- table */

struct table *table_create(const char *const titles[], size_t columns)
{
    struct table *table = columns <= TABLE_COLUMNS_MAX ? calloc(1, sizeof *table) : NULL;
    if (!table)
        return NULL;
    table->columns = columns;
    for (size_t i = 0; i < columns; i++)
        table->titles[i] = strdup(titles[i]);
    return table;
}

void table_destroy(struct table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->columns; i++)
        free(table->titles[i]);
    for (size_t i = 0; i < table->rows * table->columns; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

void table_spare(struct table *table, size_t column)
{
    if (table && table->spare_count < TABLE_COLUMNS_MAX)
        table->spare[table->spare_count++] = column;
}

void table_row(struct table *table, const char *const cells[])
{
    if (!table)
        return;
    if (table->rows == table->capacity) {
        size_t capacity = table->capacity ? 2 * table->capacity : 32;
        char **grown = realloc(table->cells, capacity * table->columns * sizeof *grown);
        if (!grown)
            return;
        table->cells = grown;
        table->capacity = capacity;
    }
    for (size_t i = 0; i < table->columns; i++)
        table->cells[table->rows * table->columns + i] = strdup(cells[i]);
    table->rows++;
}

static const char *text_or_nothing(const char *text)
{
    return text ? text : "";
}

/* Widths of the columns before the text; 0: left out. Returns what is left for the text; 0: no
 * limit. */
static size_t widths_choose(const struct table *table, size_t limit, size_t widths[])
{
    size_t used = 0, spare = table->spare_count;
    for (size_t column = 0; column + 1 < table->columns; column++) {
        widths[column] = width_of(text_or_nothing(table->titles[column]));
        for (size_t row = 0; row < table->rows; row++) {
            const char *cell = text_or_nothing(table->cells[row * table->columns + column]);
            size_t width = width_of(cell);
            widths[column] = width > widths[column] ? width : widths[column];
        }
        used += widths[column] + GAP;
    }
    if (limit == 0)
        return 0;
    while (spare > 0 && used + TEXT_WIDTH_WANTED > limit) {
        size_t column = table->spare[--spare];
        used -= widths[column] ? widths[column] + GAP : 0;
        widths[column] = 0;
    }
    return used + TEXT_WIDTH_MIN > limit ? TEXT_WIDTH_MIN : limit - used;
}

static void line_print(FILE *file, const struct table *table, char *const cells[],
                       const size_t widths[], size_t text_width)
{
    char shown[SHOWN_BYTES];
    for (size_t column = 0; column + 1 < table->columns; column++) {
        const char *cell = text_or_nothing(cells[column]);
        if (widths[column])
            fprintf(file, "%*s%s%*s", (int)(widths[column] - width_of(cell)), "", cell, GAP, "");
    }
    table_text(text_or_nothing(cells[table->columns - 1]), text_width, shown, sizeof shown);
    fputs(shown, file);
}

void table_print(const struct table *table, FILE *file, const struct table_style *style)
{
    size_t widths[TABLE_COLUMNS_MAX];
    if (!table || table->rows == 0)
        return;
    size_t text_width = widths_choose(table, style->width, widths);
    fputs(style->colour ? "\n" HEAD_BEGIN : "\n", file);
    line_print(file, table, table->titles, widths, text_width);
    fputs(style->colour ? HEAD_END "\n" : "\n", file);
    for (size_t row = 0; row < table->rows; row++) {
        line_print(file, table, &table->cells[row * table->columns], widths, text_width);
        fputc('\n', file);
    }
}
