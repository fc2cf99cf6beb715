#include <math.h>
#include <stdlib.h>

#include "counters/expression_program.h"

const struct counter_shape *expr_shape(const struct expr_program *program)
{
    return &program->shape;
}

const struct expr_input *expr_inputs(const struct expr_program *program, uint32_t *count)
{
    *count = program->input_count;
    return program->inputs;
}

uint32_t expr_workspace_size(const struct expr_program *program)
{
    return program->workspace_size;
}

void expr_workspace_init(const struct expr_program *program, double *workspace)
{
    for (uint32_t i = 0; i < program->constant_count; i++)
        workspace[program->constants[i].slot] = program->constants[i].number;
}

/* One loop per operation, so that the compiler vectorises each. */
static void evaluate_binary(const struct expr_step *s, double *w)
{
    double *to = w + s->to;
    const double *a = w + s->a, *b = w + s->b;
    const uint32_t da = s->a_stride, db = s->b_stride;
    switch (s->op) {
    case OP_ADD:
        for (uint32_t i = 0; i < s->count; i++)
            to[i] = a[i * da] + b[i * db];
        break;
    case OP_SUBTRACT:
        for (uint32_t i = 0; i < s->count; i++)
            to[i] = a[i * da] - b[i * db];
        break;
    case OP_MULTIPLY:
        for (uint32_t i = 0; i < s->count; i++)
            to[i] = a[i * da] * b[i * db];
        break;
    default:
        for (uint32_t i = 0; i < s->count; i++)
            to[i] = b[i * db] == 0 ? 0 : a[i * da] / b[i * db];
        break;
    }
}

static double reduce_start(enum expr_op op)
{
    if (op == OP_MINIMUM)
        return INFINITY;
    return op == OP_MAXIMUM ? -INFINITY : 0;
}

static void evaluate_reduce(const struct expr_step *s, const uint32_t *indices, double *w)
{
    double *to = w + s->to;
    const double *a = w + s->a;
    for (uint32_t i = 0; i < s->to_count; i++)
        to[i] = reduce_start(s->op);
    for (uint32_t i = 0; i < s->count; i++) {
        double *sum = &to[indices[s->index + i]];
        if (s->op == OP_MINIMUM)
            *sum = a[i] < *sum ? a[i] : *sum;
        else if (s->op == OP_MAXIMUM)
            *sum = a[i] > *sum ? a[i] : *sum;
        else
            *sum += a[i];
    }
    if (s->op != OP_AVERAGE)
        return;
    double group = (double)(s->count / s->to_count);
    for (uint32_t i = 0; i < s->to_count; i++)
        to[i] /= group;
}

const double *expr_evaluate(const struct expr_program *program, double *workspace)
{
    for (uint32_t i = 0; i < program->step_count; i++) {
        const struct expr_step *s = &program->steps[i];
        if (s->op < OP_SUM) {
            evaluate_binary(s, workspace);
        } else if (s->op < OP_SELECT) {
            evaluate_reduce(s, program->indices, workspace);
        } else {
            for (uint32_t k = 0; k < s->count; k++)
                workspace[s->to + k] = workspace[s->a + program->indices[s->index + k]];
        }
    }
    return workspace + program->result;
}

void expr_destroy(struct expr_program *program)
{
    if (!program)
        return;
    free(program->steps);
    free(program->inputs);
    free(program->constants);
    free(program->indices);
    free(program);
}
