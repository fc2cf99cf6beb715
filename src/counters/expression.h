/*
 * Expressions of derived counters: compiled once into a straight list of array operations, then
 * evaluated any number of times without allocating.
 *
 *   sum   := term (('+' | '-') term)*            both levels associate to the left
 *   term  := unary (('*' | '/') unary)*          x / 0 is 0, element by element
 *   unary := '-' unary | '(' sum ')' | number | name
 *          | reduce(sum, sum|avr|min|max [, [DIM, ...]])    without a list: over all dimensions
 *          | select(sum, [DIM=[n, n:m, ...], ...])          one value: the dimension disappears
 *          | accumulate(name, HIGH_RES|LOW_RES|NONE)
 *          | name '[' n ']'     instance n, numbered die by die; its other dimensions stay
 *
 * Operands of + - * / have the same dimensions, or one of them is a single value.
 */
#ifndef COUNTERS_EXPRESSION_H
#define COUNTERS_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#include "counters/shape.h"

enum expr_accumulate { ACCUMULATE_NONE, ACCUMULATE_LOW_RES, ACCUMULATE_HIGH_RES };

/* What a name stands for, told by the owner of the names. */
enum expr_name_kind { NAME_UNKNOWN, NAME_CONSTANT, NAME_INPUT, NAME_EXPRESSION };
struct expr_name {
    enum expr_name_kind kind;
    double value;               /* NAME_CONSTANT */
    uint32_t input;             /* NAME_INPUT: the owner's number of the basic counter */
    int may_accumulate;         /* NAME_INPUT: its block can integrate levels */
    struct counter_shape shape; /* NAME_INPUT */
    const char *text;           /* NAME_EXPRESSION */
};
typedef void expr_resolve_fn(void *arg, const char *name, uint32_t length,
                             struct expr_name *resolved);

struct expr_error {
    uint32_t offset; /* into the text of the expression that was compiled */
    char message[160];
};

/* A basic counter that the program reads. */
struct expr_input {
    uint32_t input;
    enum expr_accumulate accumulate;
    struct counter_shape shape;
    uint32_t slot; /* where its values start in the workspace */
};

struct expr_program;

/* NULL with *error filled when the text is wrong, an operand is unknown, dimensions do not fit or
 * definitions refer to each other in a circle. */
struct expr_program *expr_compile(const char *text, expr_resolve_fn *resolve, void *arg,
                                  struct expr_error *error);
void expr_destroy(struct expr_program *program);

const struct counter_shape *expr_shape(const struct expr_program *program);
const struct expr_input *expr_inputs(const struct expr_program *program, uint32_t *count);

/* Doubles that a workspace holds; expr_workspace_init() writes the constants into it. The caller
 * fills workspace[input.slot ...] and calls expr_evaluate(), which returns shape_count(shape)
 * values inside the workspace. One workspace per thread. */
uint32_t expr_workspace_size(const struct expr_program *program);
void expr_workspace_init(const struct expr_program *program, double *workspace);
const double *expr_evaluate(const struct expr_program *program, double *workspace);

#endif
