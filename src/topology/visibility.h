/* Which GPUs the runtimes will show, from their environment variables. An estimate: only the
 * runtimes know. */
#ifndef TOPOLOGY_VISIBILITY_H
#define TOPOLOGY_VISIBILITY_H

#include <stdint.h>

/* The position of a GPU in a list such as "2,GPU-0123456789abcdef,0", or -1 when it is not in it.
 * A NULL list shows all in order. As in the runtimes, the list ends at the first entry that is
 * neither a number nor a GPU- id. `unique_id` 0 matches no id. */
int32_t visibility_position(const char *list, int32_t ordinal, uint64_t unique_id);

#endif
