/*
 * Groups that follow each other, whose waves are one and the same run, and that differ in nothing
 * but numbers that grow by the same step from each group to the next one: what computes these is
 * not executed again.
 */
#ifndef WAVE_SERIES_H
#define WAVE_SERIES_H

#include "wave/engine.h"

/*
 * The group has ended and is recorded, and those behind it begin as it did. Executes and records
 * groups behind it, none from `end` on, in its place; it is the last one of them then, as ended.
 * `first`: where its waves began. Returns how many. In a read section of group->reader.
 */
uint64_t series_run(struct engine *engine, struct workgroup *group, const struct inst *first,
                    uint64_t end);

#endif
