/* lds_rows.h's transfers with AVX-512, for hosts of that level; the LDS is not a tiny one. */
#ifndef WAVE_LDS_ROWS_AVX512_H
#define WAVE_LDS_ROWS_AVX512_H

#include "wave/lds_rows.h"

/* Whole windows of this size lie inside. */
enum { LDS_WINDOW_BYTES = 128 };

bool lds_load_avx512(const struct lds_span *span, lane_row *rows, unsigned dwords);
bool lds_store_avx512(const struct lds_span *span, const lane_row *rows, unsigned dwords);
bool lds_load_two_avx512(const struct lds_span *span, uint32_t second, lane_row *rows,
                         unsigned dwords);

#endif
