/*
 * Ranges that may overlap, such as the kernels of a queue, spread over as few tracks of the same
 * name as their order of arrival allows: slices of one Perfetto track must nest.
 */
#ifndef OUT_PERFETTO_LANES_H
#define OUT_PERFETTO_LANES_H

#include "perfetto.h"

struct lanes {
    perfetto_track parent; /* of the tracks to make */
    const char *name;      /* borrowed for the life of the lanes */
    struct lane {
        perfetto_track track;
        uint64_t end_ns; /* everything on it has ended by then */
    } * lanes;
    uint32_t count, capacity;
};

/* The track for [begin_ns, end_ns], made if all others are taken at that time. */
perfetto_track lanes_track(struct lanes *lanes, struct perfetto *trace, uint64_t begin_ns,
                           uint64_t end_ns);
void lanes_free(struct lanes *lanes);

#endif
