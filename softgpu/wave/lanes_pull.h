/* Dwords that lanes fetch from each other's registers, whichever lane each of them names. */
#ifndef WAVE_LANES_PULL_H
#define WAVE_LANES_PULL_H

#include <stdint.h>

/* Each active lane gets data[(places[lane] + offset) / 4 % 64], or 0 where that lane is off. All
 * are rows of registers, and `dst` may be any of them. */
void lanes_pull(uint32_t *dst, const uint32_t *data, const uint32_t *places, uint32_t offset,
                uint64_t exec);

#endif
