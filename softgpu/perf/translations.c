#include "perf/memory.h"

bool translation_search(struct translations *utcl1, uint64_t page)
{
    uint32_t at = 0, oldest = 0;
    for (; at < TRANSLATIONS && utcl1->pages[at] != page; at++)
        oldest = utcl1->used[at] < utcl1->used[oldest] ? at : oldest;
    bool missed = at == TRANSLATIONS;
    at = missed ? oldest : at;
    utcl1->pages[at] = page;
    utcl1->used[at] = ++utcl1->now;
    utcl1->hints[page % TRANSLATIONS] = (uint8_t)at;
    return missed;
}
