#include "intercept/kfd/smi.h"

#include <stdio.h>
#include <string.h>

enum { PAGE_SHIFT = 12 };

/* What stands behind event, time and process. */
static bool rest_parse(const char *rest, struct smi_event *e)
{
    unsigned long first = 0, count = 0;
    bool known = false;
    switch (e->id) {
    case SMI_MIGRATE_START:
        known = sscanf(rest, "@%lx(%lx) %x->%x %x:%x %d", &first, &count, &e->from, &e->to,
                       &e->prefetch, &e->preferred, &e->trigger) == 7;
        break;
    case SMI_MIGRATE_END: /* older drivers give no error */
        known = sscanf(rest, "@%lx(%lx) %x->%x %d %d", &first, &count, &e->from, &e->to,
                       &e->trigger, &e->error) >= 5;
        break;
    case SMI_PAGE_FAULT_START:
    case SMI_PAGE_FAULT_END:
        known = sscanf(rest, "@%lx(%x) %c", &first, &e->node, &e->letter) == 3;
        break;
    case SMI_QUEUE_EVICTION:
        known = sscanf(rest, "%x %d", &e->node, &e->trigger) == 2;
        break;
    case SMI_QUEUE_RESTORE: /* the letter only when it is put off */
        known = sscanf(rest, "%x %c", &e->node, &e->letter) >= 1;
        break;
    case SMI_UNMAP_FROM_GPU:
        known = sscanf(rest, "@%lx(%lx) %x %d", &first, &count, &e->node, &e->trigger) == 4;
        break;
    case SMI_DROPPED:
        known = sscanf(rest, "%u", &e->dropped) == 1;
        break;
    }
    e->start = (uint64_t)first << PAGE_SHIFT;
    e->end = (uint64_t)(first + count) << PAGE_SHIFT;
    return known;
}

bool smi_parse(const char *line, struct smi_event *event)
{
    unsigned id = 0;
    unsigned long long time_ns = 0;
    int behind = 0;
    memset(event, 0, sizeof *event);
    if (sscanf(line, "%x %llu -%u %n", &id, &time_ns, &event->pid, &behind) != 3 || behind == 0)
        return false;
    event->id = (enum smi_event_id)id;
    event->time_ns = time_ns;
    return rest_parse(line + behind, event);
}
