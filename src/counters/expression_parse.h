/* The syntax tree between the parser and the compiler of expressions; private to the two. */
#ifndef COUNTERS_EXPRESSION_PARSE_H
#define COUNTERS_EXPRESSION_PARSE_H

#include "counters/expression.h"

enum expr_node_kind {
    NODE_NUMBER,
    NODE_NAME,
    NODE_INSTANCE,
    NODE_NEGATE,
    NODE_ADD,
    NODE_SUBTRACT,
    NODE_MULTIPLY,
    NODE_DIVIDE,
    NODE_REDUCE,
    NODE_SELECT,
    NODE_ACCUMULATE
};
enum expr_reduce { REDUCE_SUM, REDUCE_AVERAGE, REDUCE_MINIMUM, REDUCE_MAXIMUM };

/* Bounds that keep hostile input from exhausting stack or memory. */
enum { EXPR_DEPTH_MAX = 128, EXPR_NODES_MAX = 4096 };

struct expr_node {
    enum expr_node_kind kind;
    uint32_t offset;      /* in the text, for messages */
    uint32_t left, right; /* node indices */
    double number;
    const char *name; /* NODE_NAME, NODE_INSTANCE, NODE_ACCUMULATE: into the text */
    uint32_t name_length;
    uint32_t instance, whole_length; /* NAME[n]: its number; from the name to its ']'. 0: no [n] */
    enum expr_accumulate accumulate;
    enum expr_reduce reduce;
    uint8_t dimensions;                 /* NODE_REDUCE: mask of dimensions; 0 means all */
    uint64_t selected[DIMENSION_COUNT]; /* NODE_SELECT: mask of positions; 0 means not selected */
};

/* Children stand before their parents in nodes[], and every node belongs to the root. */
struct expr_tree {
    struct expr_node *nodes;
    uint32_t count, capacity, root;
};

/* 0, or -1 with *error filled. expr_tree_free() in both cases. */
int expr_parse(const char *text, struct expr_tree *tree, struct expr_error *error);
void expr_tree_free(struct expr_tree *tree);

__attribute__((format(printf, 3, 4))) int expr_fail(struct expr_error *error, uint32_t offset,
                                                    const char *format, ...);

#endif
