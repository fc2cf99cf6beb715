/*
 * Groups that follow each other, whose waves are one and the same run, and that differ in nothing
 * but numbers that grow by the same step from each group to the next one: what computes these is
 * not executed again.
 */
#ifndef WAVE_SERIES_H
#define WAVE_SERIES_H

#include "wave/group.h"

struct engine;

/* Groups that were executed so, and those of them that have no record of their own. */
struct series_count {
    uint64_t groups, repeats;
};

/*
 * The group has ended and is recorded, and those behind it begin as it did. Executes and records
 * groups behind it, none from `end` on, in its place; it is the last one of them then, as ended.
 * `first`: where its waves began. In a read section of group->reader.
 */
struct series_count series_run(struct engine *engine, struct workgroup *group,
                               const struct inst *first, uint64_t end);

#endif
