#include "counters.h"

#include <string.h>

const char *const analyze_counters[COUNT_COUNT] = {
#define X(name) #name,
    ANALYZE_COUNTERS(X)
#undef X
};

enum analyze_counter analyze_counter_find(const char *name)
{
    int i = 0;
    while (i < COUNT_COUNT && strcmp(analyze_counters[i], name) != 0)
        i++;
    return (enum analyze_counter)i;
}
