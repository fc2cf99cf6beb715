/* What the handlers of one build share. */
#ifndef VALU_EXEC_H
#define VALU_EXEC_H

#include "valu/fetch.h"
#include "valu/tables.h"

/* The build's table by operation, NULL where it has no rows kernel. Written once, by init. */
extern const struct valu_op *VALU(valu_by_op)[OP_COUNT];

#endif
