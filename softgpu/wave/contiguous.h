/*
 * The common case of array code: a full wave whose lanes' elements of one to four dwords lie one
 * behind the other, so that a wave needs one address and one translation.
 */
#ifndef WAVE_CONTIGUOUS_H
#define WAVE_CONTIGUOUS_H

#include <stdbool.h>
#include <stdint.h>

#include "wave/wave.h"

/* Lane n's address is lane 0's plus n * step; `high` NULL: 32-bit offsets. False also where the low
 * halves wrap around. */
bool lanes_contiguous(const uint32_t *low, const uint32_t *high, uint32_t step);

/* All of these lanes, of which there is one, have the same. */
bool lanes_same(const uint32_t *row, uint64_t lanes);

/* `dwords` rows of 64 lanes from 64 elements in memory, and back. 1 to 4. */
void rows_load(lane_row *rows, const void *memory, unsigned dwords);
void rows_store(const lane_row *rows, void *memory, unsigned dwords);

#endif
