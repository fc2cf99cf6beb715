/*
 * One collection around a dispatch for everybody who asked for counters of it: each gets the
 * values of its own configuration. Private to src/session/counting.
 */
#ifndef SESSION_COUNTING_SHARE_H
#define SESSION_COUNTING_SHARE_H

#include "session/counting/concurrent.h"
#include "session/counting/config.h"

struct counting_share {
    const void *service; /* whose it is */
    rocprofiler_user_data_t user_data;
    struct counting_config *config; /* a reference */
};

struct counting_collection {
    struct counting_slot *slot;            /* of the configuration that has all counters */
    rocprofiler_counter_record_t *records; /* room for one share's; NULL: nobody needs it */
    uint32_t share_count;
    enum concurrent_turn turn;
    struct counting_share shares[];
};

/* Room for `shares_max` shares; NULL: out of memory. */
struct counting_collection *counting_collection_create(uint32_t shares_max);
/* Gives back the slot and the shares' configurations, too. NULL: does nothing. */
void counting_collection_destroy(struct counting_collection *collection);

/* With the shares filled in: gets the slot. Shares that the hardware cannot count beside the
 * earlier ones are taken out, with a message. False: no memory. May call the runtime. */
bool counting_collection_begin(struct counting_collection *collection, uint64_t hsa_agent);

/* After counting_slot_evaluate gave `total` records: those of one share and their number. */
rocprofiler_counter_record_t *counting_collection_records(struct counting_collection *collection,
                                                          const struct counting_share *share,
                                                          uint32_t total, uint32_t *count);

#endif
