/* Expressions of computed counters: any text compiles or is refused; what compiles evaluates. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "counters/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void resolve(void *arg, const char *name, uint32_t length, struct expr_name *resolved)
{
    /* The first letter decides: constants, inputs of three shapes, definitions. */
    static const char *const texts[] = {"X+1", "reduce(I,sum)", "Z0*2", "Z1-Z0"};
    (void)arg;
    *resolved = (struct expr_name){0};
    switch (name[0]) {
    case 'C':
        resolved->kind = NAME_CONSTANT;
        resolved->value = length;
        break;
    case 'X':
        resolved->kind = NAME_INPUT;
        resolved->may_accumulate = 1;
        break;
    case 'I':
        resolved->kind = NAME_INPUT;
        resolved->input = 1;
        resolved->shape.extent[DIMENSION_INSTANCE] = 16;
        break;
    case 'E':
        resolved->kind = NAME_INPUT;
        resolved->input = 2;
        resolved->shape.extent[DIMENSION_XCC] = 2;
        resolved->shape.extent[DIMENSION_INSTANCE] = 64;
        break;
    case 'Z':
        resolved->kind = NAME_EXPRESSION;
        resolved->text = texts[length > 1 ? (unsigned char)name[1] % 4 : 0];
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct expr_error error;
    memcpy(text, data, size);
    text[size] = '\0';
    struct expr_program *program = expr_compile(text, resolve, NULL, &error);
    if (program) {
        uint32_t count = expr_workspace_size(program);
        double *workspace = malloc((count + 1) * sizeof *workspace);
        for (uint32_t i = 0; i < count; i++)
            workspace[i] = (double)i;
        expr_workspace_init(program, workspace);
        const double *result = expr_evaluate(program, workspace);
        if (result < workspace || result + shape_count(expr_shape(program)) > workspace + count)
            abort();
        free(workspace);
    } else if (!error.message[0] || error.offset > size) {
        abort(); /* refused without a reason or a place */
    }
    expr_destroy(program);
    free(text);
    return 0;
}
