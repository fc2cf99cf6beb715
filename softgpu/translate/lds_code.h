/* What lds.c, lds_shapes.c and lds_detours.c share. */
#ifndef TRANSLATE_LDS_CODE_H
#define TRANSLATE_LDS_CODE_H

#include "translate/run.h"

enum { PREDICATE_LESS_EQUAL = 2, PREDICATE_NOT_EQUAL = 4, PREDICATE_GREATER = 6 };
enum { ROW_BYTES_FRAME = 64 };
/* Stands where lanes' begin would, if they do not follow each other; with any offset it is behind
 * every LDS. */
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

/* lds_known.c: where, from RDX, the strip's first lane begins, or would. False: it is not known. */
bool lds_follow_find(const struct lds_known *known, struct place place, unsigned kind,
                     struct x86_rm *first);
struct x86_rm lds_follow_add(struct lds_known *known, struct place place, unsigned kind);
/* Of one or two dwords: each lane's number in it, where it begins, and, of one dword, where the
 * last one that the LDS has would. */
enum { LDS_WINDOW_DWORDS = 2 };
struct lds_window {
    struct x86_rm index, first, last;
};
bool lds_window_find(const struct lds_known *known, struct place place, unsigned dwords,
                     struct lds_window *window);
struct lds_window lds_window_add(struct lds_known *known, struct place place, unsigned dwords);

/* Where the last one of windows of so many bytes begins. */
struct x86_rm lds_limit_of(unsigned bytes);
/* dst: the first active lane's value, in all lanes. */
void lds_first_emit(struct x86 *x, bool masked, unsigned dst, unsigned host);
/* Jumps where two registers differ in an active lane. */
size_t lds_jump_if_differs(struct x86 *x, bool masked, unsigned a, unsigned b);

#endif
