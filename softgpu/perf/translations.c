#include "perf/memory.h"

bool translation_search(struct translations *utcl1, uint64_t page)
{
    uint32_t at = 0, oldest = 0; /* behind an empty one all are */
    for (; at < TRANSLATIONS && utcl1->pages[at] != page && utcl1->pages[at]; at++)
        oldest = utcl1->used[at] < utcl1->used[oldest] ? at : oldest;
    const bool missed = at == TRANSLATIONS || utcl1->pages[at] != page;
    at = at == TRANSLATIONS ? oldest : at;
    utcl1->pages[at] = page;
    utcl1->used[at] = ++utcl1->now;
    utcl1->hints[page % TRANSLATIONS] = (uint8_t)at;
    return missed;
}
