#include "perf/memory_waits.h"

const struct memory_waits *memory_waits_own(enum gpu_gen gen)
{
    static const struct memory_waits mi100 = {.refused = 287,
                                              .write_data = 352,
                                              .reads_on_way = 284,
                                              .writes_on_way = 102,
                                              .tags = 349,
                                              .reads = 101, /* not published: the MI210's */
                                              .writes = 405};
    static const struct memory_waits mi210 = {.refused = 143,
                                              .write_data = 411,
                                              .reads_on_way = 592,
                                              .writes_on_way = 48,
                                              .tags = 296,
                                              .reads = 101,
                                              .writes = 18};
    static const struct memory_waits mi300x = {.refused = 0,
                                               .write_data = 187,
                                               .reads_on_way = 592, /* no event tells */
                                               .writes_on_way = 48,
                                               .tags = 0,
                                               .reads = 101, /* not published */
                                               .writes = 602};
    return gen == GPU_GFX942 ? &mi300x : gen == GPU_GFX90A ? &mi210 : &mi100;
}

const struct memory_waits *memory_waits_other(void)
{
    static const struct memory_waits all = {MEMORY_WAITS_ALL, MEMORY_WAITS_ALL, MEMORY_WAITS_ALL,
                                            MEMORY_WAITS_ALL, MEMORY_WAITS_ALL, MEMORY_WAITS_ALL,
                                            MEMORY_WAITS_ALL};
    return &all;
}
