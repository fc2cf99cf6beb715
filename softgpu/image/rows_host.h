/* For tests: the levels that this CPU has. */
#ifndef IMAGE_ROWS_HOST_H
#define IMAGE_ROWS_HOST_H

#include <stddef.h>

#include "image/rows.h"

enum { ROWS_LEVELS = 3 };

/* NULL: not this CPU. */
static inline const struct image_rows *rows_level(unsigned n)
{
    if (n == 0)
        return &image_rows_portable;
    if (n == 1)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") ? &image_rows_avx2
                                                                                : NULL;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
               ? &image_rows_avx512
               : NULL;
}

#endif
