/* chunks.c, with AVX2 and without: rows_load() and rows_store() of contiguous.h. AVX-512 would add
 * nothing: memory is accessed by 16 bytes, and two shuffles at once want vectors of 256 bits. */
#ifndef WAVE_CHUNKS_H
#define WAVE_CHUNKS_H

#include "wave/wave.h"

#define DECLARE_CHUNKS(level)                                                                      \
    void chunks_load_##level(lane_row *rows, const void *memory, unsigned dwords);                 \
    void chunks_store_##level(const lane_row *rows, void *memory, unsigned dwords);
DECLARE_CHUNKS(avx2)
DECLARE_CHUNKS(portable)

#endif
