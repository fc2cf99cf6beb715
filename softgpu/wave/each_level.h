/* For tests: rounds of random cases on each level that the host has, with the same numbers. */
#ifndef WAVE_EACH_LEVEL_H
#define WAVE_EACH_LEVEL_H

#include "valu/valu.h"
#include "wave/host_levels.h"
#include "wave/random_text.h"

static void level_run(enum host_level level, const char *name, unsigned rounds, void round(void))
{
    const enum host_level before = host_level;
    if (valu_build_select(name) < 0)
        return; /* not this CPU */
    host_level = level;
    for (unsigned n = 0; n < rounds; n++) {
        random_state = n + 1;
        round();
    }
    host_level = before;
}
/* The portable one last: whether anything is translated is decided once, by the first. */
static void each_level(unsigned rounds, void round(void))
{
    level_run(LEVEL_AVX512, "avx512", rounds, round);
    level_run(LEVEL_AVX2, "avx2", rounds, round);
    level_run(LEVEL_PORTABLE, "portable", rounds, round);
}

#endif
