/*
 * What an operation does where values are special, as a function of C behind a branch: nobody minds
 * that it is slow. All that the host's registers hold lies in memory meanwhile.
 */
#ifndef TRANSLATE_RARE_H
#define TRANSLATE_RARE_H

#include "translate/emit.h"

enum { RARE_HOSTS = 5, RARE_HOST_BITS = 5 };

/* Host register n is rows[n * lanes] on. `hosts`: numbers of the registers that the emitter gave,
 * the first one lowest. */
typedef void rare_fn(uint32_t *rows, uint32_t hosts, uint32_t lanes);
static inline uint32_t *rare_row(uint32_t *rows, uint32_t hosts, uint32_t lanes, unsigned n)
{
    return rows + (hosts >> RARE_HOST_BITS * n & 31) * lanes;
}

/* Takes no registers, so that it may stand behind a branch. */
void rare_call(struct emitter *e, rare_fn *fn, const unsigned *hosts, unsigned count);

#endif
