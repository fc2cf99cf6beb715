/* Groups that have ended, kept for the next ones. */
#include <stdlib.h>

#include "wave/engine.h"

struct workgroup *group_take(struct engine *engine)
{
    struct workgroup *group = engine->free_groups;
    if (group) {
        engine->free_groups = group->next;
        engine->free_count--;
    } else {
        group = calloc(1, sizeof *group);
    }
    engine->resident += group != NULL;
    return group;
}

void group_discard(struct engine *engine, struct workgroup *group)
{
    engine->resident--;
    if (engine->free_count >= FREE_GROUPS_MAX) {
        group_free(group);
        return;
    }
    group->next = engine->free_groups;
    engine->free_groups = group;
    engine->free_count++;
}

void groups_free(struct engine *engine)
{
    while (engine->free_groups) {
        struct workgroup *group = engine->free_groups;
        engine->free_groups = group->next;
        group_free(group);
    }
}
