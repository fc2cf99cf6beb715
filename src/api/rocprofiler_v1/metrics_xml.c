/*
 * Reader of metrics files. They look like XML but are none: attributes may stand without quotes,
 * elements may stay open, '#' begins a comment or #include "FILE". What is wrong is reported with
 * file and line, and the rest is taken.
 *
 *   <SCOPE base="SCOPE"> <metric name=N block=B event=E descr="..."></metric> </SCOPE>
 *   <global> <metric name=N expr=EXPRESSION descr="..."></metric> </global>
 */
#include "api/rocprofiler_v1/internal.h"
#include "base/log.h"

#include <errno.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { INCLUDES_MAX = 8, FILE_BYTES_MAX = 64 << 20, PROBLEMS_SHOWN = 20 };

struct xml_text {
    struct xml_text *next;
    char bytes[];
};

struct reader {
    struct xml_file *file;
    const char *path;
    char *at, *end; /* in the file's own copy of its text, which is cut into strings */
    /* Lines are counted when somebody asks, and before line ends in values become spaces. */
    const char *counted; /* so far */
    uint32_t line;       /* of `counted` */
    int depth;           /* of includes */
    const char *scope;   /* open; NULL: none */
};

/* The line of a place, which is at or behind the last one that was asked for. */
static uint32_t line_of(struct reader *reader, const char *place)
{
    const char *from = reader->counted;
    while (from < place && (from = memchr(from, '\n', (size_t)(place - from)))) {
        reader->line++;
        from++;
    }
    if (place > reader->counted)
        reader->counted = place;
    return reader->line;
}

__attribute__((format(printf, 3, 4))) static void problem_at(const struct reader *reader,
                                                             uint32_t line, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (reader->file->problems++ < PROBLEMS_SHOWN)
        log_warning("metrics", "%s:%u: %s", reader->path, line, text);
}

/* Reports a problem at the place where the reader is. */
#define problem(reader, ...) problem_at(reader, line_of(reader, (reader)->at), __VA_ARGS__)

static bool array_grow(void **items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    uint32_t wanted = *capacity ? 2 * *capacity : 64;
    void *larger = realloc(*items, wanted * size);
    if (!larger)
        return false;
    *items = larger;
    *capacity = wanted;
    return true;
}

/* ---- characters */

static bool at_end(const struct reader *reader)
{
    return reader->at >= reader->end;
}

/* Characters are looked up in a table, because files have half a million of them. */
enum { OF_SPACE = 1, OF_NAME = 2, OF_END = 4 /* of a value without quotes */ };
static const uint8_t classes[256] = {[' '] = OF_SPACE | OF_END,
                                     ['\t' ... '\r'] = OF_SPACE | OF_END,
                                     ['>'] = OF_END,
                                     ['/'] = OF_END,
                                     ['a' ... 'z'] = OF_NAME,
                                     ['A' ... 'Z'] = OF_NAME,
                                     ['0' ... '9'] = OF_NAME,
                                     ['_'] = OF_NAME,
                                     ['-'] = OF_NAME,
                                     ['.'] = OF_NAME};

static bool is_of(char c, int class)
{
    return classes[(unsigned char)c] & class;
}

static void spaces_skip(struct reader *reader)
{
    while (!at_end(reader) && is_of(*reader->at, OF_SPACE))
        reader->at++;
}

static bool starts_with(const struct reader *reader, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(reader->end - reader->at) >= length && !memcmp(reader->at, text, length);
}

/* The first `c` from here on; the end, if there is none. */
static char *find(const struct reader *reader, char c)
{
    char *found = memchr(reader->at, c, (size_t)(reader->end - reader->at));
    return found ? found : reader->end;
}

static void skip_past(struct reader *reader, const char *text)
{
    size_t length = strlen(text);
    char *found = memmem(reader->at, (size_t)(reader->end - reader->at), text, length);
    reader->at = found ? found + length : reader->end;
}

static void line_skip(struct reader *reader)
{
    reader->at = find(reader, '\n');
}

static size_t name_length(const struct reader *reader)
{
    const char *c = reader->at;
    while (c < reader->end && is_of(*c, OF_NAME))
        c++;
    return (size_t)(c - reader->at);
}

/* Takes a string in the text; whoever reads what follows it puts the zero behind it. */
static char *string_cut(struct reader *reader, size_t length)
{
    char *string = reader->at;
    reader->at += length;
    return string;
}

/* ---- attributes */

static void entities_decode(char *text)
{
    static const struct {
        const char *entity;
        char meaning;
    } known[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    char *to = text = strchrnul(text, '&');
    while (*text) {
        size_t i = 0, count = sizeof known / sizeof known[0];
        while (i < count && strncmp(text, known[i].entity, strlen(known[i].entity)) != 0)
            i++;
        *to++ = i < count ? known[i].meaning : *text;
        text += i < count ? strlen(known[i].entity) : 1;
    }
    *to = 0;
}

/* Line ends in a long value are spaces. */
static void spaces_make(char *text)
{
    for (; *text; text++)
        if (is_of(*text, OF_SPACE))
            *text = ' ';
}

struct attribute {
    char *name, *value;
};

static bool value_read(struct reader *reader, struct attribute *attribute)
{
    char quote = at_end(reader) ? 0 : *reader->at;
    if (quote == '"' || quote == '\'') {
        attribute->value = ++reader->at;
        reader->at = find(reader, quote);
        if (at_end(reader)) {
            problem(reader, "the value of %s has no end", attribute->name);
            return false;
        }
        *reader->at = 0;
        reader->at++;
    } else {
        attribute->value = reader->at;
        while (!at_end(reader) &&
               (!is_of(*reader->at, OF_END) || (*reader->at == '/' && !starts_with(reader, "/>"))))
            reader->at++;
    }
    return true;
}

/* Unquoted values are ended by the caller, who knows what comes next. */
static bool attribute_read(struct reader *reader, struct attribute *attribute)
{
    size_t length = name_length(reader);
    if (length == 0) {
        problem(reader, "an attribute expected at '%.20s'", at_end(reader) ? "" : reader->at);
        return false;
    }
    attribute->name = string_cut(reader, length);
    char *name_end = reader->at;
    spaces_skip(reader);
    if (at_end(reader) || *reader->at != '=') {
        *name_end = 0;
        problem(reader, "attribute %s has no value", attribute->name);
        return false;
    }
    reader->at++;
    *name_end = 0;
    spaces_skip(reader);
    return value_read(reader, attribute);
}

/* ---- elements */

enum { ATTRIBUTES_MAX = 16 };
struct element {
    char *name;
    uint32_t line;
    struct attribute attributes[ATTRIBUTES_MAX];
    uint32_t attribute_count;
    bool closes;        /* </name> */
    bool closes_itself; /* <name/> */
};

static const char *attribute_of(const struct element *element, const char *name)
{
    for (uint32_t i = 0; i < element->attribute_count; i++)
        if (!strcmp(element->attributes[i].name, name))
            return element->attributes[i].value;
    return NULL;
}

/* Reads up to and with '>'. False: the element is left out. */
static bool attributes_read(struct reader *reader, struct element *element)
{
    char *open = reader->at; /* where an unquoted value, or the name, is to be ended */
    for (;;) {
        spaces_skip(reader);
        if (at_end(reader)) {
            problem(reader, "<%.40s has no end", element->name);
            return false;
        }
        element->closes_itself = starts_with(reader, "/>");
        if (element->closes_itself || *reader->at == '>') {
            bool itself = element->closes_itself;
            reader->at += itself ? 2 : 1;
            *open = 0;
            return true;
        }
        if (element->attribute_count == ATTRIBUTES_MAX) {
            problem(reader, "too many attributes");
            return false;
        }
        struct attribute *attribute = &element->attributes[element->attribute_count];
        char *former = open;
        bool fine = attribute_read(reader, attribute);
        *former = 0;
        if (!fine)
            return false;
        open = reader->at;
        element->attribute_count++;
    }
}

static bool number_read(const char *text, uint32_t *number)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 0);
    *number = (uint32_t)value;
    return *text >= '0' && *text <= '9' && *end == 0 && errno == 0 && value <= UINT32_MAX;
}

static bool metric_check(struct reader *reader, const struct element *element,
                         struct xml_metric *metric)
{
    const char *event = attribute_of(element, "event");
    const uint32_t line = element->line;
    if (!metric->name || !*metric->name)
        problem_at(reader, line, "a metric without a name");
    else if (!reader->scope)
        problem_at(reader, line, "metric %.60s stands outside of any GPU's part", metric->name);
    else if (metric->expr && metric->block)
        problem_at(reader, line, "metric %.60s has a block and an expression", metric->name);
    else if (!metric->expr && (!metric->block || !event))
        problem_at(reader, line, "metric %.60s has neither an expression nor a block and an event",
                   metric->name);
    else if (event && !number_read(event, &metric->event))
        problem_at(reader, line, "event '%.20s' of metric %.60s is no number", event, metric->name);
    else
        return true;
    return false;
}

static void metric_take(struct reader *reader, const struct element *element)
{
    struct xml_file *file = reader->file;
    struct xml_metric metric = {.scope = reader->scope,
                                .name = attribute_of(element, "name"),
                                .block = attribute_of(element, "block"),
                                .expr = attribute_of(element, "expr"),
                                .description = attribute_of(element, "descr"),
                                .line = element->line};
    if (!metric.description)
        metric.description = "";
    if (metric_check(reader, element, &metric) &&
        array_grow((void **)&file->metrics, file->metric_count, &file->metric_capacity,
                   sizeof metric))
        file->metrics[file->metric_count++] = metric;
}

enum line_kind { LINE_ANY, LINE_ENDS, LINE_STRANGE };

/* LINE_ENDS: the scope's end stands first in the line; LINE_STRANGE: an element but no metric. */
static enum line_kind line_kind(const char *line, const char *end, const char *name)
{
    size_t length = strlen(name), left;
    while (line < end && is_of(*line, OF_SPACE) && *line != '\n')
        line++;
    left = (size_t)(end - line);
    if (left < 2 || *line != '<')
        return LINE_ANY;
    bool closes = line[1] == '/';
    line += 1 + closes, left -= 1 + (size_t)closes;
    if (left > 6 && !memcmp(line, "metric", 6) && !is_of(line[6], OF_NAME))
        return LINE_ANY;
    return closes && left > length && !memcmp(line, name, length) && !is_of(line[length], OF_NAME)
               ? LINE_ENDS
               : LINE_STRANGE;
}

/* The line that ends a body of lines of metrics. NULL: there is none, so it is read at once. */
static char *body_end(const struct reader *reader, const char *name, uint32_t *lines)
{
    char *at = reader->at, tag[64];
    enum line_kind kind = LINE_ANY;
    for (*lines = 0; kind == LINE_ANY; ++*lines) {
        at = memchr(at, '\n', (size_t)(reader->end - at));
        if (!at)
            return NULL;
        kind = line_kind(++at, reader->end, name);
    }
    size_t length = (size_t)snprintf(tag, sizeof tag, "</%.50s", name);
    bool is_first = !memmem(reader->at, (size_t)(at - reader->at), tag, length);
    return kind == LINE_ENDS && is_first ? at : NULL;
}

/* Goes on behind the scope. False: its body is to be read now. */
static bool body_skip(struct reader *reader, struct xml_scope *scope)
{
    uint32_t line = line_of(reader, reader->at), lines;
    char *end = body_end(reader, scope->name, &lines);
    if (!end)
        return false;
    scope->body = reader->at;
    scope->body_end = end;
    scope->path = reader->path;
    scope->line = line;
    scope->depth = reader->depth;
    reader->at = end;
    reader->counted = end;
    reader->line = line + lines;
    skip_past(reader, ">");
    return true;
}

static void scope_take(struct reader *reader, const struct element *element)
{
    struct xml_file *file = reader->file;
    if (reader->scope)
        problem(reader, "<%.40s> inside of <%.40s>", element->name, reader->scope);
    if (!array_grow((void **)&file->scopes, file->scope_count, &file->scope_capacity,
                    sizeof *file->scopes))
        return;
    struct xml_scope *scope = &file->scopes[file->scope_count++];
    *scope = (struct xml_scope){.name = element->name, .base = attribute_of(element, "base")};
    bool is_put_off = !reader->scope && !element->closes_itself && body_skip(reader, scope);
    reader->scope = element->closes_itself || is_put_off ? NULL : element->name;
}

static void element_take(struct reader *reader, const struct element *element)
{
    if (!strcmp(element->name, "metric")) {
        if (!element->closes)
            metric_take(reader, element);
    } else if (!element->closes) {
        scope_take(reader, element);
    } else if (reader->scope && !strcmp(reader->scope, element->name)) {
        reader->scope = NULL;
    } else {
        problem(reader, "</%.40s> ends nothing", element->name);
    }
}

/* Room for attributes is not zeroed: most elements have four. */
static void element_begin(struct element *element, uint32_t line)
{
    element->name = NULL;
    element->line = line;
    element->attribute_count = 0;
    element->closes = element->closes_itself = false;
}

static void element_read(struct reader *reader)
{
    struct element element;
    element_begin(&element, line_of(reader, reader->at));
    reader->at++;
    if (starts_with(reader, "!--")) {
        skip_past(reader, "-->");
        return;
    }
    if (starts_with(reader, "?") || starts_with(reader, "!")) {
        skip_past(reader, ">");
        return;
    }
    element.closes = starts_with(reader, "/");
    reader->at += element.closes;
    size_t length = name_length(reader);
    if (length == 0) {
        problem(reader, "'<' without a name");
        return;
    }
    element.name = string_cut(reader, length);
    bool fine = attributes_read(reader, &element);
    bool has_lines = line_of(reader, reader->at) != element.line;
    for (uint32_t i = 0; fine && i < element.attribute_count; i++) {
        entities_decode(element.attributes[i].value);
        if (has_lines)
            spaces_make(element.attributes[i].value);
    }
    if (fine)
        element_take(reader, &element);
}

/* ---- files */

static void file_read(struct xml_file *file, const char *path, int depth, const char *scope,
                      struct reader *from);

/* #include "NAME", relative to the file that includes; other lines with '#' are comments. */
static void hash_read(struct reader *reader)
{
    char name[1024], path[2200];
    size_t length = (size_t)(reader->end - reader->at);
    const char *line_end = memchr(reader->at, '\n', length);
    int line_length = (int)(line_end ? line_end - reader->at : reader->end - reader->at);
    char line[2048];
    snprintf(line, sizeof line, "%.*s", line_length, reader->at);
    line_skip(reader);
    if (sscanf(line, "#include \"%1023[^\"]\"", name) != 1) {
        if (!strncmp(line, "#include", 8))
            problem(reader, "#include needs \"FILE\"");
        return;
    }
    char folder[1024];
    snprintf(folder, sizeof folder, "%s", reader->path);
    if (name[0] == '/')
        snprintf(path, sizeof path, "%s", name);
    else
        snprintf(path, sizeof path, "%s/%s", dirname(folder), name);
    file_read(reader->file, path, reader->depth + 1, reader->scope, reader);
}

static void text_read(struct reader *reader)
{
    while (!at_end(reader)) {
        spaces_skip(reader);
        if (at_end(reader))
            break;
        if (*reader->at == '#') {
            hash_read(reader);
        } else if (*reader->at == '<') {
            element_read(reader);
        } else {
            problem(reader, "'%.20s' is not understood", reader->at);
            while (!at_end(reader) && *reader->at != '<' && *reader->at != '\n')
                reader->at++;
        }
    }
}

/* The whole file with a zero behind it; NULL: it cannot be read. */
static struct xml_text *text_load(const char *path, size_t *length)
{
    struct stat status;
    struct xml_text *text = NULL;
    FILE *stream = fopen(path, "re");
    if (stream && fstat(fileno(stream), &status) == 0 && !S_ISREG(status.st_mode))
        errno = EINVAL;
    else if (stream && status.st_size <= FILE_BYTES_MAX)
        text = malloc(sizeof *text + (size_t)status.st_size + 1);
    if (text) {
        *length = fread(text->bytes, 1, (size_t)status.st_size, stream);
        text->bytes[*length] = 0;
    }
    if (stream)
        fclose(stream);
    return text;
}

/* A copy that stays as long as the file. */
static const char *path_keep(struct xml_file *file, const char *path)
{
    size_t bytes = strlen(path) + 1;
    struct xml_text *kept = malloc(sizeof *kept + bytes);
    if (!kept)
        return NULL;
    memcpy(kept->bytes, path, bytes);
    kept->next = file->texts;
    file->texts = kept;
    return kept->bytes;
}

static void file_read(struct xml_file *file, const char *path, int depth, const char *scope,
                      struct reader *from)
{
    size_t length = 0;
    if (depth > INCLUDES_MAX) {
        problem(from, "files include each other");
        return;
    }
    struct xml_text *text = text_load(path, &length);
    path = text ? path_keep(file, path) : path;
    if (!text || !path) {
        problem(from, "%.160s: %s", path ? path : "a path", strerror(errno));
        free(text);
        return;
    }
    text->next = file->texts;
    file->texts = text;
    struct reader reader = {.file = file,
                            .path = path,
                            .at = text->bytes,
                            .end = text->bytes + length,
                            .counted = text->bytes,
                            .line = 1,
                            .depth = depth,
                            .scope = scope};
    text_read(&reader);
    if (reader.scope && depth == 0)
        problem(&reader, "<%.40s> has no end", reader.scope);
}

static void body_read(struct xml_file *file, const struct xml_scope *scope)
{
    struct reader reader = {.file = file,
                            .path = scope->path,
                            .at = scope->body,
                            .end = scope->body_end,
                            .counted = scope->body,
                            .line = scope->line,
                            .depth = scope->depth,
                            .scope = scope->name};
    text_read(&reader);
}

void xml_scope_read(struct xml_file *file, const char *name)
{
    for (uint32_t i = 0; i < file->scope_count; i++) {
        struct xml_scope scope = file->scopes[i]; /* a copy: reading may add scopes and move them */
        if (!scope.body || (name && strcmp(scope.name, name) != 0))
            continue;
        file->scopes[i].body = NULL;
        body_read(file, &scope);
    }
}

bool xml_open(struct xml_file *file, const char *path)
{
    *file = (struct xml_file){0};
    struct reader top = {.file = file, .path = path, .line = 0};
    file_read(file, path, 0, NULL, &top);
    if (file->problems > PROBLEMS_SHOWN)
        log_warning("metrics", "%s: %u more problems", path, file->problems - PROBLEMS_SHOWN);
    return file->texts != NULL;
}

void xml_free(struct xml_file *file)
{
    for (struct xml_text *text = file->texts, *next; text; text = next) {
        next = text->next;
        free(text);
    }
    free(file->metrics);
    free(file->scopes);
    *file = (struct xml_file){0};
}
