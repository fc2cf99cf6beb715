/*
 * The entries of one lane, as the completion thread takes them: from the poster's ring and stack
 * into a list, and out of that when they have ended. Completion thread only; part of completion.c.
 */
#ifndef INTERCEPT_HSA_LANE_H
#define INTERCEPT_HSA_LANE_H

#include "intercept/hsa/completion.h"

/* Takes what was posted; returns how many entries. They get the number `batch`. */
uint64_t lane_receive(struct inflight_lane *lane, uint32_t batch);

/* Is there something to receive? */
bool lane_has_mail(const struct inflight_lane *lane);

/* Asks the entries, the oldest first, and takes out those that have ended, linked in their order;
 * with `thorough` also behind one that has not. `failed`: what has not ended is taken, too, and
 * marked: it never will. */
struct inflight *lane_ask(struct inflight_lane *lane, bool thorough, bool failed);

/* True: what has not ended by now never will. */
bool lane_is_lost(struct inflight_lane *lane, uint64_t now_ns);

/* The last touch of a lane that is closed and empty. False: it is not. */
bool lane_forget(struct inflight_lane *lane);

#endif
