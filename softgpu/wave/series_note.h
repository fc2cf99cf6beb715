/*
 * What groups of a series leave behind for counters and for modelled time: what their waves would
 * have noted, each in its order.
 */
#ifndef WAVE_SERIES_NOTE_H
#define WAVE_SERIES_NOTE_H

#include "wave/series_plan.h"

/* Notes what the group's waves access and fetch, which is one of the plan's. True: what is wanted
 * of a group behind it follows from that, but for sampled blocks, so that it may be a repeat. */
bool series_note(struct workgroup *group, const struct series_plan *plan);

/* Notes what modelled time wants of a group alone, whose accesses follow from the last one's with a
 * record. `sampled`: it touches sampled blocks, with others than scalar loads. */
void series_note_next(struct workgroup *group, const struct series_plan *plan, bool sampled);

#endif
