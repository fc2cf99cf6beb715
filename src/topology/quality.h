/*
 * What a node's driver says of its measurements, in the file measurement_quality of the node:
 *
 *     times wall time of this and that
 *     exact SQ 4,6-10
 *     modelled TCC 17
 *     approximate GRBM 2
 *     cycles 56 1700000000
 *
 * `cycles`: at the end of a kernel the device leaves, at that byte of its completion signal, how
 * many cycles of a clock of so many Hz the kernel takes by its own model of itself. Events of
 * counter blocks, by the numbers that select them; what is not listed is not counted. Words that
 * are not known are passed over.
 */
#ifndef TOPOLOGY_QUALITY_H
#define TOPOLOGY_QUALITY_H

#include <crocprof/quality.h>
#include <stdbool.h>
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
/* False: no cycles are left. */
bool node_quality_cycles(const struct node_quality *quality, uint32_t *offset_bytes, uint64_t *hz);

#endif
