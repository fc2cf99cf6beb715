/*
 * Elements of one to four dwords between the LDS and rows of registers, at the host's vector width.
 * One group's waves never run at the same time, so that, other than in memory, neither the order of
 * a wave's accesses nor their width matters to anybody; where lanes write to one place, the highest
 * lane's value stays.
 */
#ifndef WAVE_LDS_ROWS_H
#define WAVE_LDS_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "wave/wave.h"

enum lds_follows { FOLLOWS_UNKNOWN, FOLLOWS_NOT, FOLLOWS };
struct lds_span {
    uint8_t *lds;
    uint32_t lds_bytes;
    uint32_t at; /* is added to each lane's address */
    const uint32_t *address;
    uint64_t lanes;
    /* Whether it is a full wave, one element behind the other. */
    enum lds_follows follows;
};

/* Finds out. */
bool lds_rows_follow(const struct lds_span *span, unsigned dwords);

/* False where an active lane's element does not lie inside; then nothing has happened. The first
 * row of a load may be the row of addresses. */
bool lds_rows_load(const struct lds_span *span, lane_row *rows, unsigned dwords);
bool lds_rows_store(const struct lds_span *span, const lane_row *rows, unsigned dwords);
/* Both elements of each lane, of one or two dwords, the second with its own `at`, to rows behind
 * each other; nothing has happened unless both lie inside for all active lanes. Any of the rows may
 * be the row of addresses. */
bool lds_rows_load_two(const struct lds_span *span, uint32_t second_at, lane_row *rows,
                       unsigned dwords);

/* All lanes' offsets in the LDS. False: an active lane's element of so many bytes does not lie
 * inside. */
bool lds_rows_offsets(const struct lds_span *span, uint32_t bytes, lane_row offsets);
/* Stores of one or two bytes, which begin at bit `shift` of each lane's dword, like the above. */
bool lds_rows_store_small(const struct lds_span *span, const uint32_t *row, uint32_t bytes,
                          unsigned shift);

#endif
