/*
 * What a node's driver says of its measurements, in the file measurement_quality of the node:
 *
 *     times wall time of this and that
 *     exact SQ 4,6-10
 *     modelled TCC 17
 *     approximate GRBM 2
 *
 * Events of counter blocks, by the numbers that select them; what is not listed is not counted.
 * Words that are not known are passed over.
 */
#ifndef TOPOLOGY_QUALITY_H
#define TOPOLOGY_QUALITY_H

#include <crocprof/quality.h>
#include <stdint.h>

struct node_quality;

/* NULL: nothing is stated, as by drivers of hardware, or no memory. `root` as for topology_read().
 */
struct node_quality *node_quality_read(const char *root, uint32_t node_id);
void node_quality_free(struct node_quality *quality);

/* Both take NULL. */
crocprof_quality_t node_quality_event(const struct node_quality *quality, const char *block,
                                      uint32_t event);
const char *node_quality_times(const struct node_quality *quality); /* NULL: not stated */

#endif
