#include "perf/shared_wait.h"

/* Of a line; an MI210 that copies has as many of its kernel's arguments in each cache and every
 * published run. */
enum { DUPLICATES_MOST = 30 };

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t shared_wait_group(struct shared_wait *wait, const struct shared_asked *asked,
                           bool is_first)
{
    if (!is_first)
        return less(asked->hits, DUPLICATES_MOST * asked->misses);
    const uint64_t each = asked->misses ? asked->cycles / asked->misses : 0;
    wait->room += DUPLICATES_MOST * asked->misses;
    wait->cycles = each > wait->cycles ? each : wait->cycles;
    const uint64_t duplicates = less(asked->hits, wait->room);
    wait->room -= duplicates;
    wait->refuses |= duplicates < asked->hits && wait->cycles; /* until a line has come */
    return duplicates;
}
