/* What recordings say of their clocks, and how the times of one are put on another one's. */
#ifndef RECORDING_CLOCKS_H
#define RECORDING_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "names/texts.h"
#include "recording.h"

/* Two ways to say what time it is: that of records, and the world's. Texts are `texts`'. */
struct clocks {
    const char *boot, *hostname, *machine_id;
    int64_t world_ns, record_ns; /* at the beginning */
    double rate;                 /* of the world's for one of the record's */
};

/* A time T becomes T + shift + (T - base) * drift. */
struct alignment {
    int64_t base_ns, shift_ns;
    double drift;
};

struct sqlite3;

/* What the part says of its clock; without it, what its guid and its beginning say. `database`:
 * any, it is asked to read JSON. */
struct clocks clocks_read(struct texts *texts, struct sqlite3 *database,
                          const struct recording_part *part);
/* Nothing is done to times of one machine since it was last started. */
struct alignment clocks_alignment(const struct clocks *first, const struct clocks *clocks);

static inline bool alignment_is_none(const struct alignment *alignment)
{
    return alignment->shift_ns == 0 && alignment->drift == 0;
}

static inline int64_t alignment_apply(const struct alignment *alignment, int64_t time_ns)
{
    return time_ns + alignment->shift_ns +
           (int64_t)((double)(time_ns - alignment->base_ns) * alignment->drift);
}

#endif
