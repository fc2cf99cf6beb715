/*
 * A queue's time under CROCGPU_TIME=model. A packet begins when it was there, and after what it
 * waits for; how long it takes is the model's business. When a packet came is known by looking at
 * the write index: between the look before and the one that saw it. Kernels take the later one, so
 * that none begins before the call that launched it. Packets that only mark a time were there since
 * the earlier one where what they stand behind ended after it; else they take the later one, too.
 *
 * Nothing runs ahead of the host's clock: a kernel's end is held back until its time has come
 * (aql.c), and everything else lies before. The CP thread alone uses it.
 */
#ifndef CP_TIMELINE_H
#define CP_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

enum { TIMELINE_LOOKS = 32 };

struct timeline {
    struct timeline_look {
        uint64_t end_index; /* packets below were there */
        uint64_t before_ticks, ticks;
    } looks[TIMELINE_LOOKS]; /* ascending */
    uint32_t look_count;
    uint64_t looked_ticks;  /* of the last look, whatever it saw */
    uint64_t unready_ticks; /* last time the next packet was there and not valid yet */
    uint64_t barrier_ticks; /* nothing that is not there yet begins before */
    uint64_t latest_ticks;  /* end of what has ended */
};

/* The write index is `end_index` now. */
void timeline_look(struct timeline *line, uint64_t end_index, uint64_t now_ticks);
/* Packet `index` is reserved, but not valid yet. */
void timeline_unready(struct timeline *line, uint64_t now_ticks);

struct timeline_arrival {
    uint64_t mark_ticks; /* of a packet that takes no time */
    uint64_t work_ticks;
};
/* When packet `index` came, no sooner than what it waits for ended. Indexes only grow. One that no
 * look saw was found by the caller itself: it counts as seen at `now_ticks`. */
struct timeline_arrival timeline_begin(struct timeline *line, uint64_t index, bool has_barrier_bit,
                                       uint64_t now_ticks);
void timeline_end(struct timeline *line, uint64_t end_ticks);
/* The same of a packet that nothing behind it overtakes, with the barrier bit or without. */
void timeline_end_all(struct timeline *line, uint64_t end_ticks);

#endif
