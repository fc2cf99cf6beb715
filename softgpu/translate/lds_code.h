/* What lds.c, lds_shapes.c and lds_detours.c share. */
#ifndef TRANSLATE_LDS_CODE_H
#define TRANSLATE_LDS_CODE_H

#include "translate/run.h"

enum { PREDICATE_LESS_EQUAL = 2, PREDICATE_NOT_EQUAL = 4, PREDICATE_GREATER = 6 };
enum { ROW_BYTES_FRAME = 64 };
/* Stands in the frame where lanes do not follow each other; with any offset it is behind every
 * LDS. */
#define FOLLOWS_NOT UINT32_C(0x80000000)

/* What an instruction transfers. */
struct lds_shape {
    uint8_t dwords; /* of a lane's registers */
    bool two, store;
    uint8_t small; /* bytes, where they are less than a dword */
    bool sign;
    uint8_t half;  /* of the register that they come to, enum lds_half */
    uint16_t unit; /* of an offset */
};
enum lds_half { LDS_HALF_NONE, LDS_HALF_LOW, LDS_HALF_HIGH };
bool lds_shape_find(const struct inst *inst, struct lds_shape *shape);

/* LDS at an offset that RAX has, and so many bytes behind it. */
static inline struct x86_rm lds_memory(int32_t at)
{
    return x86_memory_at(R10, RAX, at);
}

/* Where the last one of windows of so many bytes begins. */
struct x86_rm lds_limit_of(unsigned bytes);
/* dst: the first active lane's value, in all lanes. */
void lds_first_emit(struct x86 *x, bool masked, unsigned dst, unsigned host);
/* Jumps where two registers differ in an active lane. */
size_t lds_jump_if_differs(struct x86 *x, bool masked, unsigned a, unsigned b);

#endif
