/* YAML counter definitions, both schemas, by libyaml's document tree. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "counters/definition.h"

struct loader {
    struct definition_set *set;
    const char *file_name;
    yaml_document_t *document;
    const char *counter; /* whose definition is being read; NULL outside */
    int problems;
    int out_of_memory;
};

enum { LIST_BYTES_MAX = 1024 };

static void problem(struct loader *l, const yaml_node_t *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void problem(struct loader *l, const yaml_node_t *node, const char *format, ...)
{
    char message[300];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    l->problems++;
    definitions_report(l->set, "%s:%zu:%zu: %s%s%s", l->file_name, node->start_mark.line + 1,
                       node->start_mark.column + 1, l->counter ? l->counter : "",
                       l->counter ? ": " : "", message);
}

static const yaml_node_t *node_at(const struct loader *l, int index)
{
    return yaml_document_get_node(l->document, index);
}

/* The text of a scalar, or NULL with a problem reported. */
static const char *scalar(struct loader *l, const yaml_node_t *node, const char *what)
{
    if (node && node->type == YAML_SCALAR_NODE)
        return (const char *)node->data.scalar.value;
    if (node)
        problem(l, node, "%s must be plain text", what);
    return NULL;
}

/* A word, and perhaps an instance's number: TCC_READ[21]. */
static int is_counter_name(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_')
        return 0;
    while (isalnum((unsigned char)*name) || *name == '_')
        name++;
    if (*name == '[') {
        size_t digits = strspn(name + 1, "0123456789");
        return digits > 0 && strcmp(name + 1 + digits, "]") == 0;
    }
    return *name == '\0';
}

static int read_event(struct loader *l, const yaml_node_t *node, uint32_t *event)
{
    const char *text = scalar(l, node, "event");
    char *end;
    if (!text)
        return -1;
    errno = 0;
    unsigned long value = strtoul(text, &end, 0);
    if (!isdigit((unsigned char)*text) || *end || errno || value > UINT32_MAX) {
        problem(l, node, "event '%s' is not a number", text);
        return -1;
    }
    *event = (uint32_t)value;
    return 0;
}

/* One key of a definition's body; -1 when it spoils the definition. */
static int read_body_key(struct loader *l, const yaml_node_t *key, const yaml_node_t *value,
                         struct counter_definition *d)
{
    const char *name = scalar(l, key, "a key");
    if (!name)
        return -1;
    if (strcmp(name, "event") == 0)
        return read_event(l, value, &d->event);
    const struct {
        const char *key;
        const char **to;
    } texts[] = {
        {"block", &d->block}, {"expression", &d->expression}, {"description", &d->description}};
    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(name, texts[i].key) != 0)
            continue;
        const char *text = scalar(l, value, texts[i].key);
        if (!text)
            return -1;
        *texts[i].to = text;
        return 0;
    }
    problem(l, key, "unknown key '%s'", name);
    return 0;
}

static int body_is_complete(struct loader *l, const yaml_node_t *node,
                            const struct counter_definition *d, int has_event)
{
    if (d->expression && (d->block || has_event)) {
        problem(l, node, "has an expression and a block: one of the two defines a counter");
        return 0;
    }
    if (!d->expression && !d->block) {
        problem(l, node, "has neither a block nor an expression");
        return 0;
    }
    if (d->block && !has_event) {
        problem(l, node, "has a block but no event");
        return 0;
    }
    return 1;
}

static void definition_add(struct loader *l, const yaml_node_t *node,
                           const struct counter_definition *d)
{
    struct counter_definition definition = *d;
    definition.line = (uint32_t)node->start_mark.line + 1;
    if (definitions_add(l->set, &definition)) {
        l->out_of_memory = 1;
        problem(l, node, "out of memory");
    }
}

/* Spec schema: "gfx90a/gfx942": {block, event | expression, description}. */
static void read_architecture(struct loader *l, const yaml_node_t *key, const yaml_node_t *body,
                              const struct counter_definition *common)
{
    struct counter_definition d = *common;
    int ok = 1, has_event = 0;
    d.architectures = scalar(l, key, "an architecture");
    if (!d.architectures)
        return;
    if (!*d.architectures || strlen(d.architectures) >= LIST_BYTES_MAX) {
        problem(l, key, "the list of architectures is empty or too long");
        return;
    }
    if (body->type != YAML_MAPPING_NODE) {
        problem(l, body, "block and event, or expression, expected");
        return;
    }
    for (yaml_node_pair_t *pair = body->data.mapping.pairs.start;
         pair < body->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = node_at(l, pair->key);
        ok &= read_body_key(l, name, node_at(l, pair->value), &d) == 0;
        has_event |= name->type == YAML_SCALAR_NODE &&
                     strcmp((const char *)name->data.scalar.value, "event") == 0;
    }
    if (ok && body_is_complete(l, body, &d, has_event))
        definition_add(l, body, &d);
}

static const yaml_node_t *mapping_get(const struct loader *l, const yaml_node_t *mapping,
                                      const char *key)
{
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = node_at(l, pair->key);
        if (name->type == YAML_SCALAR_NODE &&
            strcmp((const char *)name->data.scalar.value, key) == 0)
            return node_at(l, pair->value);
    }
    return NULL;
}

static void report_unknown_keys(struct loader *l, const yaml_node_t *mapping,
                                const char *const *known)
{
    for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = node_at(l, pair->key);
        const char *name = scalar(l, key, "a key");
        unsigned i = 0;
        while (name && known[i] && strcmp(known[i], name) != 0)
            i++;
        if (name && !known[i])
            problem(l, key, "unknown key '%s'", name);
    }
}

static void read_spec_counter(struct loader *l, const yaml_node_t *key, const yaml_node_t *body)
{
    static const char *const known[] = {"architectures", "description", NULL};
    struct counter_definition common = {.description = ""};
    common.name = scalar(l, key, "a counter's name");
    if (!common.name)
        return;
    l->counter = common.name;
    if (!is_counter_name(common.name)) {
        problem(l, key, "a name has letters, digits and '_'");
        return;
    }
    if (body->type != YAML_MAPPING_NODE) {
        problem(l, body, "architectures expected");
        return;
    }
    report_unknown_keys(l, body, known);
    const yaml_node_t *description = mapping_get(l, body, "description");
    const char *text = description ? scalar(l, description, "description") : NULL;
    if (text)
        common.description = text;
    const yaml_node_t *list = mapping_get(l, body, "architectures");
    if (!list || list->type != YAML_MAPPING_NODE) {
        problem(l, list ? list : body, "architectures expected");
        return;
    }
    for (yaml_node_pair_t *pair = list->data.mapping.pairs.start;
         pair < list->data.mapping.pairs.top; pair++)
        read_architecture(l, node_at(l, pair->key), node_at(l, pair->value), &common);
}

static void read_spec_schema(struct loader *l, const yaml_node_t *root)
{
    for (yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         pair < root->data.mapping.pairs.top; pair++) {
        l->counter = NULL;
        read_spec_counter(l, node_at(l, pair->key), node_at(l, pair->value));
    }
}

/* [gfx90a, gfx942] -> "gfx90a/gfx942" */
static int join_architectures(struct loader *l, const yaml_node_t *list, char *joined)
{
    size_t used = 0;
    for (yaml_node_item_t *item = list->data.sequence.items.start;
         item < list->data.sequence.items.top; item++) {
        const yaml_node_t *node = node_at(l, *item);
        const char *text = scalar(l, node, "an architecture");
        if (!text)
            return -1;
        size_t length = strlen(text);
        if (used + length + 2 > LIST_BYTES_MAX) {
            problem(l, node, "the list of architectures is too long");
            return -1;
        }
        if (used)
            joined[used++] = '/';
        memcpy(joined + used, text, length);
        used += length;
    }
    joined[used] = '\0';
    return used ? 0 : -1;
}

/* Schema 1: {architectures: [...], block, event | expression}. */
static void read_definition(struct loader *l, const yaml_node_t *node,
                            const struct counter_definition *common)
{
    char joined[LIST_BYTES_MAX];
    struct counter_definition d = *common;
    int ok = 1, has_event = 0;
    if (node->type != YAML_MAPPING_NODE) {
        problem(l, node, "a definition with architectures expected");
        return;
    }
    const yaml_node_t *list = mapping_get(l, node, "architectures");
    if (!list || list->type != YAML_SEQUENCE_NODE) {
        problem(l, list ? list : node, "a list of architectures expected");
        return;
    }
    if (join_architectures(l, list, joined)) {
        problem(l, list, "the list of architectures is empty");
        return;
    }
    d.architectures = joined;
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = node_at(l, pair->key);
        const char *name = scalar(l, key, "a key");
        if (name && strcmp(name, "architectures") == 0)
            continue;
        ok &= read_body_key(l, key, node_at(l, pair->value), &d) == 0;
        has_event |= name && strcmp(name, "event") == 0;
    }
    if (ok && body_is_complete(l, node, &d, has_event))
        definition_add(l, node, &d);
}

static void read_listed_counter(struct loader *l, const yaml_node_t *node)
{
    static const char *const known[] = {"name", "description", "properties", "definitions", NULL};
    struct counter_definition common = {.description = ""};
    if (node->type != YAML_MAPPING_NODE) {
        problem(l, node, "a counter with name and definitions expected");
        return;
    }
    const yaml_node_t *name = mapping_get(l, node, "name");
    common.name = name ? scalar(l, name, "name") : NULL;
    if (!common.name || !is_counter_name(common.name)) {
        problem(l, name ? name : node, "a counter needs a name of letters, digits and '_'");
        return;
    }
    l->counter = common.name;
    report_unknown_keys(l, node, known);
    const yaml_node_t *description = mapping_get(l, node, "description");
    const char *text = description ? scalar(l, description, "description") : NULL;
    if (text)
        common.description = text;
    const yaml_node_t *list = mapping_get(l, node, "definitions");
    if (!list || list->type != YAML_SEQUENCE_NODE) {
        problem(l, list ? list : node, "a list of definitions expected");
        return;
    }
    for (yaml_node_item_t *item = list->data.sequence.items.start;
         item < list->data.sequence.items.top; item++)
        read_definition(l, node_at(l, *item), &common);
}

static void read_schema_1(struct loader *l, const yaml_node_t *body)
{
    static const char *const known[] = {"counters-schema-version", "counters", NULL};
    if (body->type != YAML_MAPPING_NODE) {
        problem(l, body, "counters-schema-version and counters expected");
        return;
    }
    report_unknown_keys(l, body, known);
    const yaml_node_t *version = mapping_get(l, body, "counters-schema-version");
    const char *number = version ? scalar(l, version, "counters-schema-version") : NULL;
    if (!number || strcmp(number, "1") != 0) {
        problem(l, version ? version : body, "counters-schema-version 1 expected");
        return;
    }
    const yaml_node_t *list = mapping_get(l, body, "counters");
    if (!list || list->type != YAML_SEQUENCE_NODE) {
        problem(l, list ? list : body, "a list of counters expected");
        return;
    }
    for (yaml_node_item_t *item = list->data.sequence.items.start;
         item < list->data.sequence.items.top; item++) {
        l->counter = NULL;
        read_listed_counter(l, node_at(l, *item));
    }
}

static int load_document(struct loader *l)
{
    const yaml_node_t *root = yaml_document_get_root_node(l->document);
    if (!root) /* an empty file defines nothing */
        return 0;
    if (root->type != YAML_MAPPING_NODE) {
        problem(l, root, "counter names expected");
        return -1;
    }
    const yaml_node_t *body = mapping_get(l, root, "rocprofiler-sdk");
    if (body)
        read_schema_1(l, body);
    else
        read_spec_schema(l, root);
    return l->out_of_memory ? -1 : l->problems;
}

int definitions_load_yaml(struct definition_set *set, const char *file_name, const char *text,
                          size_t text_bytes)
{
    yaml_parser_t parser;
    yaml_document_t document;
    struct loader l = {.set = set, .file_name = file_name, .document = &document};
    if (!yaml_parser_initialize(&parser)) {
        definitions_report(set, "%s: out of memory", file_name);
        return -1;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, text_bytes);
    if (!yaml_parser_load(&parser, &document)) {
        definitions_report(set, "%s:%zu:%zu: %s", file_name, parser.problem_mark.line + 1,
                           parser.problem_mark.column + 1,
                           parser.problem ? parser.problem : "cannot be read");
        yaml_parser_delete(&parser);
        return -1;
    }
    int status = load_document(&l);
    yaml_document_delete(&document);
    yaml_parser_delete(&parser);
    return status;
}

static char *file_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t used = 0, capacity = 0;
    while (file && !ferror(file) && !feof(file)) {
        if (used == capacity) {
            char *grown = realloc(text, capacity ? capacity * 2 : 65536);
            if (!grown)
                break;
            text = grown;
            capacity = capacity ? capacity * 2 : 65536;
        }
        used += fread(text + used, 1, capacity - used, file);
    }
    int ok = file && !ferror(file) && feof(file);
    int error = errno;
    if (file)
        fclose(file);
    if (!ok) {
        free(text);
        text = NULL;
        errno = error;
    }
    *size = used;
    return text;
}

int definitions_load_file(struct definition_set *set, const char *path)
{
    size_t size;
    char *text = file_read(path, &size);
    if (!text) {
        definitions_report(set, "%s: cannot be read: %s", path, strerror(errno));
        return -1;
    }
    int status = definitions_load_yaml(set, path, text, size);
    free(text);
    return status;
}
