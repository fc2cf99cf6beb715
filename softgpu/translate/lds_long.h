/*
 * Elements of LDS of three and four dwords, a strip of them: a register's dwords lie apart in
 * memory, and are brought together, or parted, in the host's registers.
 */
#ifndef TRANSLATE_LDS_LONG_H
#define TRANSLATE_LDS_LONG_H

#include "translate/x86.h"

enum { LONG_DWORDS = 4, LONG_BYTES = 4 * LONG_DWORDS }; /* at most */

/* At RAX, an offset, behind each other, to a register for each dword, or from them. To load there
 * are four registers whatever the dwords, and a temporary; to store, four temporaries; and a mask,
 * where lds_long_masks() says so. RSI is gone. */
static inline bool lds_long_masks(const struct x86 *x, unsigned dwords)
{
    return dwords == 3 && !x->level->vector_masks;
}
void lds_long_load(struct x86 *x, unsigned dwords, const uint8_t *hosts, unsigned temporary,
                   unsigned mask);
void lds_long_store(struct x86 *x, unsigned dwords, const uint8_t *hosts,
                    const uint8_t *temporaries, unsigned mask);

/* To all lanes, from R10 and the offset that hosts[0] has in its first lane. RAX is gone. */
void lds_long_broadcast(struct x86 *x, unsigned dwords, const uint8_t *hosts);

/* Where lanes lie: memory with a row of offsets from R10, to which as much is added, as 32 bits. */
struct lds_lanes {
    struct x86_rm row;
    uint32_t at;
};
/* RAX: lane's offset. What it returns is there. */
struct x86_rm lds_lane_emit(struct x86 *x, const struct lds_lanes *lanes, unsigned lane);
/* Four dwords of each lane. Stores go from the lowest lane to the highest. RAX is gone. Who wants
 * the first two alone has them of as many instructions less. */
void lds_long_collect(struct x86 *x, unsigned dwords, const struct lds_lanes *lanes,
                      const uint8_t *hosts, unsigned temporary);
void lds_long_scatter(struct x86 *x, const struct lds_lanes *lanes, const uint8_t *hosts,
                      const uint8_t *temporaries);

/* Which registers have to have lanes 0, 1, 2 and 3 of each four, for their four dwords to come to
 * `hosts`. And the other way: `quads` is who has those lanes then; temporaries[1] is free. */
void long_turn_begin(const uint8_t *hosts, unsigned temporary, unsigned from[4]);
void long_turn(struct x86 *x, const uint8_t *hosts, unsigned temporary);
void long_turn_back(struct x86 *x, const uint8_t *hosts, const uint8_t *temporaries,
                    unsigned quads[4]);

#endif
