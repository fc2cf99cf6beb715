/* `rocprofv3-avail`: list, info and pmc-check, as rocprofv3's own command prints them. */
#ifndef AVAIL_ROCPROFV3_AVAIL_H
#define AVAIL_ROCPROFV3_AVAIL_H

#include <stdbool.h>

/* True when the program was called by that name. */
bool rocprofv3_avail_is(const char *name);

/* Returns an exit status. */
int rocprofv3_avail_main(int count, char **words);

#endif
