/* The compiled form of an expression; private to the compiler and the evaluator. */
#ifndef COUNTERS_EXPRESSION_PROGRAM_H
#define COUNTERS_EXPRESSION_PROGRAM_H

#include "counters/expression.h"

enum expr_op {
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_SUM,
    OP_AVERAGE,
    OP_MINIMUM,
    OP_MAXIMUM,
    OP_SELECT
};

/* workspace[to ...] = workspace[a ...] op workspace[b ...] over `count` elements. A reduction adds
 * element i to element indices[index + i] of its `to_count` results; OP_SELECT takes element
 * indices[index + i]. */
struct expr_step {
    enum expr_op op;
    uint32_t to, a, b, count, to_count, index;
    uint8_t a_stride, b_stride; /* 0: one value for all elements */
};

struct expr_constant {
    uint32_t slot;
    double number;
};

struct expr_program {
    struct expr_step *steps;
    struct expr_input *inputs;
    struct expr_constant *constants;
    uint32_t *indices;
    uint32_t step_count, step_capacity, input_count, input_capacity;
    uint32_t constant_count, constant_capacity, index_count;
    uint32_t workspace_size, result;
    struct counter_shape shape;
};

#endif
