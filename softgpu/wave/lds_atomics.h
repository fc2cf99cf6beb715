/* Atomic operations of a wave's lanes on its group's LDS. */
#ifndef WAVE_LDS_ATOMICS_H
#define WAVE_LDS_ATOMICS_H

#include "wave/access.h"
#include "wave/lds_rows.h"

struct lds_operands {
    const lane_row *data;  /* NULL: none */
    const lane_row *other; /* the second operand; NULL: none */
    lane_row *old;         /* what comes back, which may be any of these or the row of addresses;
                              NULL: nothing does */
};

/* Lane by lane, from the lowest one up; beyond the LDS nothing happens, and 0 comes back. */
void lds_atomic(const struct lds_span *span, const struct lds_operands *operands,
                const struct atomic_op *op);

#endif
