#include "counters/expression_parse.h"

#include <ctype.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    const char *text, *at;
    struct expr_tree *tree;
    struct expr_error *error;
    uint32_t depth;
};

enum { NO_NODE = UINT32_MAX };

static uint32_t parse_sum(struct parser *p);

int expr_fail(struct expr_error *error, uint32_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error->offset = offset;
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return -1;
}

static uint32_t offset_of(const struct parser *p)
{
    return (uint32_t)(p->at - p->text);
}

/* A comment is what stands behind "//", to the end of its line. */
static void skip_space(struct parser *p)
{
    for (;;) {
        while (isspace((unsigned char)*p->at))
            p->at++;
        if (p->at[0] != '/' || p->at[1] != '/')
            break;
        p->at += strcspn(p->at, "\n");
    }
}

static int peek(struct parser *p)
{
    skip_space(p);
    return *p->at;
}

static int accept(struct parser *p, char c)
{
    if (peek(p) != c)
        return 0;
    p->at++;
    return 1;
}

/* 0, or -1 with the error set. */
static int expect(struct parser *p, char c)
{
    if (accept(p, c))
        return 0;
    if (*p->at == '\0')
        return expr_fail(p->error, offset_of(p), "'%c' expected, the expression ends", c);
    return expr_fail(p->error, offset_of(p), "'%c' expected before '%.12s'", c, p->at);
}

static int is_name_start(int c)
{
    return isalpha(c) || c == '_';
}

static int is_name_part(int c)
{
    return isalnum(c) || c == '_';
}

/* A name at the cursor; its length, 0 when there is none. */
static uint32_t take_name(struct parser *p, const char **name)
{
    skip_space(p);
    *name = p->at;
    if (!is_name_start((unsigned char)*p->at))
        return 0;
    while (is_name_part((unsigned char)*p->at))
        p->at++;
    return (uint32_t)(p->at - *name);
}

static int is_word(const char *name, uint32_t length, const char *word)
{
    return strlen(word) == length && memcmp(name, word, length) == 0;
}

static uint32_t node_add(struct parser *p, enum expr_node_kind kind, uint32_t offset)
{
    struct expr_tree *tree = p->tree;
    if (tree->count == EXPR_NODES_MAX) {
        expr_fail(p->error, offset, "the expression has more than %d terms", EXPR_NODES_MAX);
        return NO_NODE;
    }
    if (tree->count == tree->capacity) {
        uint32_t capacity = tree->capacity ? tree->capacity * 2 : 32;
        struct expr_node *nodes = realloc(tree->nodes, capacity * sizeof *nodes);
        if (!nodes) {
            expr_fail(p->error, offset, "out of memory");
            return NO_NODE;
        }
        tree->nodes = nodes;
        tree->capacity = capacity;
    }
    tree->nodes[tree->count] = (struct expr_node){.kind = kind, .offset = offset};
    return tree->count++;
}

static uint32_t node_pair(struct parser *p, enum expr_node_kind kind, uint32_t offset,
                          uint32_t left, uint32_t right)
{
    uint32_t index = node_add(p, kind, offset);
    if (index == NO_NODE)
        return NO_NODE;
    p->tree->nodes[index].left = left;
    p->tree->nodes[index].right = right;
    return index;
}

static uint32_t parse_number(struct parser *p)
{
    uint32_t offset = offset_of(p);
    char *end = (char *)p->at;
    /* The host program may have set a locale whose decimal point is a comma. */
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    double number = strtod_l(p->at, &end, plain);
    freelocale(plain);
    if (end == p->at || is_name_start((unsigned char)*end) || p->at[1] == 'x' || p->at[1] == 'X') {
        expr_fail(p->error, offset, "bad number '%.12s'", p->at);
        return NO_NODE;
    }
    p->at = end;
    uint32_t index = node_add(p, NODE_NUMBER, offset);
    if (index != NO_NODE)
        p->tree->nodes[index].number = number;
    return index;
}

static int parse_reduction(struct parser *p, enum expr_reduce *reduce)
{
    static const char *const words[] = {"sum", "avr", "min", "max"};
    uint32_t offset;
    const char *name;
    skip_space(p);
    offset = offset_of(p);
    uint32_t length = take_name(p, &name);
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (length && is_word(name, length, words[i])) {
            *reduce = (enum expr_reduce)i;
            return 0;
        }
    }
    if (length && is_word(name, length, "avg")) { /* what everybody types first */
        *reduce = REDUCE_AVERAGE;
        return 0;
    }
    return expr_fail(p->error, offset, "unknown reduction '%.*s': sum, avr, min and max exist",
                     (int)(length < 40 ? length : 40), name);
}

static int parse_dimension(struct parser *p, enum counter_dimension *dimension)
{
    const char *name;
    skip_space(p);
    uint32_t offset = offset_of(p);
    uint32_t length = take_name(p, &name);
    *dimension = dimension_find(name, length);
    if (*dimension != DIMENSION_NONE)
        return 0;
    return expr_fail(p->error, offset, "unknown dimension '%.*s'", (int)(length < 40 ? length : 40),
                     name);
}

/* reduce( was read. */
static uint32_t parse_reduce(struct parser *p, uint32_t offset)
{
    enum expr_reduce reduce = REDUCE_SUM;
    uint8_t dimensions = 0;
    uint32_t operand = parse_sum(p);
    if (operand == NO_NODE || expect(p, ',') || parse_reduction(p, &reduce))
        return NO_NODE;
    if (accept(p, ',')) {
        if (expect(p, '['))
            return NO_NODE;
        do {
            enum counter_dimension dimension;
            if (parse_dimension(p, &dimension))
                return NO_NODE;
            dimensions |= (uint8_t)(1u << dimension);
        } while (accept(p, ','));
        if (expect(p, ']'))
            return NO_NODE;
    }
    if (expect(p, ')'))
        return NO_NODE;
    uint32_t index = node_pair(p, NODE_REDUCE, offset, operand, 0);
    if (index != NO_NODE) {
        p->tree->nodes[index].reduce = reduce;
        p->tree->nodes[index].dimensions = dimensions;
    }
    return index;
}

static int parse_position(struct parser *p, uint32_t *position)
{
    skip_space(p);
    uint32_t offset = offset_of(p);
    if (!isdigit((unsigned char)*p->at))
        return expr_fail(p->error, offset, "a position is expected before '%.12s'", p->at);
    unsigned long value = strtoul(p->at, (char **)&p->at, 10);
    if (value >= DIMENSION_EXTENT_MAX)
        return expr_fail(p->error, offset, "position %lu is beyond %d", value,
                         DIMENSION_EXTENT_MAX - 1);
    *position = (uint32_t)value;
    return 0;
}

/* [n, n:m, ...] */
static int parse_positions(struct parser *p, uint64_t *selected)
{
    if (expect(p, '['))
        return -1;
    do {
        uint32_t first, last;
        if (parse_position(p, &first))
            return -1;
        last = first;
        if (accept(p, ':') && parse_position(p, &last))
            return -1;
        if (last < first)
            return expr_fail(p->error, offset_of(p), "range %u:%u is empty", first, last);
        for (uint32_t i = first; i <= last; i++)
            *selected |= 1ull << i;
    } while (accept(p, ','));
    return expect(p, ']');
}

/* select( was read. */
static uint32_t parse_select(struct parser *p, uint32_t offset)
{
    uint64_t selected[DIMENSION_COUNT] = {0};
    uint32_t operand = parse_sum(p);
    if (operand == NO_NODE || expect(p, ',') || expect(p, '['))
        return NO_NODE;
    do {
        enum counter_dimension dimension;
        if (parse_dimension(p, &dimension) || expect(p, '=') ||
            parse_positions(p, &selected[dimension]))
            return NO_NODE;
    } while (accept(p, ','));
    if (expect(p, ']') || expect(p, ')'))
        return NO_NODE;
    uint32_t index = node_pair(p, NODE_SELECT, offset, operand, 0);
    if (index != NO_NODE)
        memcpy(p->tree->nodes[index].selected, selected, sizeof selected);
    return index;
}

static int parse_resolution(struct parser *p, enum expr_accumulate *accumulate)
{
    static const char *const words[] = {
        [ACCUMULATE_NONE] = "NONE",
        [ACCUMULATE_LOW_RES] = "LOW_RES",
        [ACCUMULATE_HIGH_RES] = "HIGH_RES",
    };
    const char *name;
    skip_space(p);
    uint32_t offset = offset_of(p);
    uint32_t length = take_name(p, &name);
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (length && is_word(name, length, words[i])) {
            *accumulate = (enum expr_accumulate)i;
            return 0;
        }
    }
    return expr_fail(p->error, offset,
                     "unknown resolution '%.*s': HIGH_RES, LOW_RES and NONE exist",
                     (int)(length < 40 ? length : 40), name);
}

/* A node with the name, and the rest, of `named`. */
static uint32_t node_named(struct parser *p, enum expr_node_kind kind, uint32_t offset,
                           const struct expr_node *named)
{
    uint32_t index = node_add(p, kind, offset);
    if (index == NO_NODE)
        return NO_NODE;
    p->tree->nodes[index] = *named;
    p->tree->nodes[index].kind = kind;
    p->tree->nodes[index].offset = offset;
    return index;
}

/* NAME[ was read: the number and what closes it. */
static int parse_instance_number(struct parser *p, struct expr_node *node)
{
    skip_space(p);
    if (!isdigit((unsigned char)*p->at))
        return expr_fail(p->error, offset_of(p), "an instance's number is expected before '%.12s'",
                         p->at);
    unsigned long instance = strtoul(p->at, (char **)&p->at, 10);
    if (expect(p, ']'))
        return -1;
    node->instance = instance < UINT32_MAX ? (uint32_t)instance : UINT32_MAX;
    node->whole_length = (uint32_t)(p->at - node->name);
    return 0;
}

/* accumulate( was read. */
static uint32_t parse_accumulate(struct parser *p, uint32_t offset)
{
    const char *name;
    enum expr_accumulate accumulate = ACCUMULATE_NONE;
    uint32_t length = take_name(p, &name);
    if (!length) {
        expr_fail(p->error, offset_of(p), "accumulate takes the name of a basic counter");
        return NO_NODE;
    }
    struct expr_node named = {.name = name, .name_length = length};
    if ((accept(p, '[') && parse_instance_number(p, &named)) || expect(p, ',') ||
        parse_resolution(p, &accumulate) || expect(p, ')'))
        return NO_NODE;
    named.accumulate = accumulate;
    return node_named(p, NODE_ACCUMULATE, offset, &named);
}

/* NAME[ was read. */
static uint32_t parse_instance(struct parser *p, uint32_t offset, const char *name, uint32_t length)
{
    struct expr_node named = {.name = name, .name_length = length};
    if (parse_instance_number(p, &named))
        return NO_NODE;
    return node_named(p, NODE_INSTANCE, offset, &named);
}

static uint32_t parse_name(struct parser *p)
{
    static const struct {
        const char *word;
        uint32_t (*parse)(struct parser *p, uint32_t offset);
    } functions[] = {
        {"reduce", parse_reduce}, {"select", parse_select}, {"accumulate", parse_accumulate}};
    const char *name;
    uint32_t offset = offset_of(p);
    uint32_t length = take_name(p, &name);
    if (peek(p) == '(') {
        for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; i++) {
            if (!is_word(name, length, functions[i].word))
                continue;
            p->at++;
            return functions[i].parse(p, offset);
        }
        expr_fail(p->error, offset, "unknown function '%.*s'", (int)(length < 40 ? length : 40),
                  name);
        return NO_NODE;
    }
    if (accept(p, '['))
        return parse_instance(p, offset, name, length);
    return node_named(p, NODE_NAME, offset,
                      &(struct expr_node){.name = name, .name_length = length});
}

static uint32_t parse_operand(struct parser *p)
{
    int c = peek(p);
    uint32_t offset = offset_of(p);
    if (c == '-') {
        p->at++;
        if (++p->depth > EXPR_DEPTH_MAX) {
            expr_fail(p->error, offset, "nested deeper than %d", EXPR_DEPTH_MAX);
            return NO_NODE;
        }
        uint32_t operand = parse_operand(p);
        p->depth--;
        return operand == NO_NODE ? NO_NODE : node_pair(p, NODE_NEGATE, offset, operand, 0);
    }
    if (c == '(') {
        p->at++;
        uint32_t inner = parse_sum(p);
        return inner == NO_NODE || expect(p, ')') ? NO_NODE : inner;
    }
    if (isdigit(c) || c == '.')
        return parse_number(p);
    if (is_name_start(c))
        return parse_name(p);
    if (c == '\0')
        expr_fail(p->error, offset, "an operand is missing at the end");
    else
        expr_fail(p->error, offset, "an operand is expected before '%.12s'", p->at);
    return NO_NODE;
}

static uint32_t parse_term(struct parser *p)
{
    uint32_t left = parse_operand(p);
    while (left != NO_NODE && (peek(p) == '*' || *p->at == '/')) {
        enum expr_node_kind kind = *p->at == '*' ? NODE_MULTIPLY : NODE_DIVIDE;
        uint32_t offset = offset_of(p);
        p->at++;
        uint32_t right = parse_operand(p);
        left = right == NO_NODE ? NO_NODE : node_pair(p, kind, offset, left, right);
    }
    return left;
}

static uint32_t parse_sum(struct parser *p)
{
    if (++p->depth > EXPR_DEPTH_MAX) {
        expr_fail(p->error, offset_of(p), "nested deeper than %d", EXPR_DEPTH_MAX);
        return NO_NODE;
    }
    uint32_t left = parse_term(p);
    while (left != NO_NODE && (peek(p) == '+' || *p->at == '-')) {
        enum expr_node_kind kind = *p->at == '+' ? NODE_ADD : NODE_SUBTRACT;
        uint32_t offset = offset_of(p);
        p->at++;
        uint32_t right = parse_term(p);
        left = right == NO_NODE ? NO_NODE : node_pair(p, kind, offset, left, right);
    }
    p->depth--;
    return left;
}

int expr_parse(const char *text, struct expr_tree *tree, struct expr_error *error)
{
    struct parser p = {.text = text, .at = text, .tree = tree, .error = error};
    tree->root = parse_sum(&p);
    if (tree->root == NO_NODE)
        return -1;
    if (peek(&p) != '\0')
        return expr_fail(error, offset_of(&p), "an operator is expected before '%.12s'", p.at);
    return 0;
}

void expr_tree_free(struct expr_tree *tree)
{
    free(tree->nodes);
    *tree = (struct expr_tree){0};
}
