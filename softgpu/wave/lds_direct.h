/*
 * Transfers between memory and LDS without a register: each lane has a dword at M0's low half, plus
 * the instruction's offset, plus four times the lane's number.
 */
#ifndef WAVE_LDS_DIRECT_H
#define WAVE_LDS_DIRECT_H

#include "wave/lanes.h"

/* The active lanes' values; beyond the group's LDS they vanish. */
void lds_direct_write(struct wave *wave, const struct inst *inst, const lane_row values);
/* Beyond the group's LDS they read 0. */
void lds_direct_read(const struct wave *wave, const struct inst *inst, lane_row values);

/* Loads elements of up to a dword, extended to a dword, into LDS. */
void lds_direct_load(struct wave *wave, const struct inst *inst, const struct lane_pointers *from);
/* Whether the instruction is one that hardware has: full dwords, or bytes and words to extend.
 * Keeps the element. */
bool lds_direct_keep_element(struct inst *inst);

#endif
