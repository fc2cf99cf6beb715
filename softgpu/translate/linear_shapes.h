/* What operations do to linear registers: linear.c and linear_inputs.c. */
#ifndef TRANSLATE_LINEAR_SHAPES_H
#define TRANSLATE_LINEAR_SHAPES_H

#include "translate/linear.h"

enum linear_shape {
    SHAPE_NONE,
    SHAPE_MOVE,
    SHAPE_ADD,
    SHAPE_SUB,
    SHAPE_SHIFT, /* left */
    SHAPE_LSHL_ADD,
    SHAPE_ADD_LSHL,
    SHAPE_ADD3,
    SHAPE_MULTIPLY,
    SHAPE_AND,
    SHAPE_SIGN,
    SHAPE_SHIFT_WIDE,
    SHAPE_LSHL_ADD_WIDE,
    SHAPE_MAD_WIDE,
    SHAPE_COMPARE
};

/* What an operation does, as far as that is done with numbers; conditions are of comparisons. */
struct linear_row {
    uint8_t shape, condition;
    bool wide, is_signed;
};

/* NULL: it is not done with numbers. */
const struct linear_row *linear_row_of(const struct inst *inst);

#endif
