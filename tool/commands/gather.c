#include "gather.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <crocprof/quality.h>

int gather_begin(struct gather *gather)
{
    bool is_whole = true;
    *gather = (struct gather){.kept.element_bytes = sizeof(char *)};
    for (int id = 0; id < DOMAIN_COUNT; id++) {
        gather->of[id] = stats_create(domains[id].title);
        is_whole = is_whole && gather->of[id];
    }
    gather->counters = stats_create("kernel");
    if (is_whole && gather->counters)
        return 0;
    gather_end(gather);
    return -ENOMEM;
}

void gather_end(struct gather *gather)
{
    for (int id = 0; id < DOMAIN_COUNT; id++)
        stats_destroy(gather->of[id]);
    stats_destroy(gather->counters);
    numbered_free(&gather->kept);
    texts_free(&gather->texts);
    *gather = (struct gather){0};
}

void gather_recording(struct gather *gather)
{
    numbered_free(&gather->kept);
}

/* Equal names are one address in statistics; a recording has one address for each of its names. */
static const char *name_keep(struct gather *gather, const char *name)
{
    bool is_new = false;
    const char **kept = numbered_get(&gather->kept, (uint64_t)(uintptr_t)name, &is_new);
    if (kept && is_new)
        *kept = texts_keep(&gather->texts, name);
    return kept && *kept ? *kept : "";
}

static void duration_add(struct gather *gather, enum domain_id domain, const char *name,
                         uint64_t start_ns, uint64_t end_ns)
{
    stats_add(gather->of[domain], name_keep(gather, name), end_ns - start_ns);
}

/* A counter that divides is a ratio: its sum means nothing. */
static void counter_add(struct gather *gather, const struct out_counter_row *row)
{
    bool is_ratio =
        row->counter && row->counter->expression && strchr(row->counter->expression, '/');
    const char *name = name_keep(gather, row->counter_name);
    stats_counter_add(gather->counters, name_keep(gather, row->dispatch.kernel_name), name,
                      row->counter_value, !is_ratio);
    if (row->counter && row->counter->quality == CROCPROF_QUALITY_NOT_COUNTED)
        stats_mark_put(gather->counters, name, STATS_NOT_COUNTED);
    else if (row->counter && row->counter->quality == CROCPROF_QUALITY_APPROXIMATE)
        stats_mark_put(gather->counters, name, STATS_APPROXIMATE);
}

static void api_add(struct gather *gather, enum out_table_id table, const struct out_api_row *row)
{
    /* A message need not stay where it is. */
    const char *name = row->message ? texts_keep(&gather->texts, row->message) : NULL;
    for (int id = 0; id < DOMAIN_COUNT; id++)
        if (domains[id].rows == table && name)
            stats_add(gather->of[id], name, row->end_ns - row->start_ns);
        else if (domains[id].rows == table)
            duration_add(gather, (enum domain_id)id, row->function, row->start_ns, row->end_ns);
}

/* Each once; those that do not fit are left out. */
static void device_add(struct gather *gather, const struct out_agent_row *row)
{
    char text[512], line[sizeof text + 16];
    bool is_new = false;
    if (strcmp(row->type, "GPU") != 0)
        return;
    out_device_text(row, text, sizeof text);
    int length = snprintf(line, sizeof line, "device: %s\n", text);
    texts_id(&gather->texts, line, &is_new);
    size_t used = strlen(gather->devices);
    if (is_new && used + (size_t)length < sizeof gather->devices)
        memcpy(gather->devices + used, line, (size_t)length + 1);
}

void gather_row(struct gather *gather, enum out_table_id table, const void *row)
{
    const struct out_dispatch_row *dispatch = row;
    const struct out_copy_row *copy = row;
    const struct out_allocation_row *allocation = row;
    const struct out_scratch_row *scratch = row;
    const struct out_kfd_row *kfd = row;
    const struct out_event_row *event = row;
    switch (table) {
    case OUT_KERNEL_TRACE:
        duration_add(gather, DOMAIN_KERNEL, dispatch->kernel_name, dispatch->start_ns,
                     dispatch->end_ns);
        stats_modelled_add(gather->of[DOMAIN_KERNEL], name_keep(gather, dispatch->kernel_name),
                           dispatch->modelled_ns);
        break;
    case OUT_COUNTER_COLLECTION:
        counter_add(gather, row);
        break;
    case OUT_MEMORY_COPY:
        duration_add(gather, DOMAIN_COPY, copy->direction, copy->start_ns, copy->end_ns);
        break;
    case OUT_MEMORY_ALLOCATION:
        duration_add(gather, DOMAIN_ALLOCATION, allocation->operation, allocation->start_ns,
                     allocation->end_ns);
        break;
    case OUT_SCRATCH_MEMORY:
        duration_add(gather, DOMAIN_SCRATCH, scratch->operation, scratch->start_ns,
                     scratch->end_ns);
        break;
    case OUT_KFD:
        duration_add(gather, DOMAIN_KFD, kfd->operation, kfd->start_ns, kfd->end_ns);
        break;
    case OUT_HIP_EVENT:
        duration_add(gather, DOMAIN_EVENT, event->operation, event->start_ns, event->end_ns);
        break;
    case OUT_AGENT_INFO:
        device_add(gather, row);
        break;
    case OUT_GRAPH_LAUNCH: /* the calls that launch are counted, if they are there */
        gather->graph_launches++;
        break;
    default:
        if (out_is_call(table))
            api_add(gather, table, row);
        break;
    }
}

static void stats_each(const struct stats *stats, enum out_table_id table,
                       void (*put)(void *data, enum out_table_id table, const void *row),
                       void *data)
{
    size_t count;
    struct out_stats_row *rows = stats_rows(stats, &count);
    for (size_t i = 0; rows && i < count; i++)
        put(data, table, &rows[i]);
    free(rows);
}

void gather_stats_each(const struct gather *gather,
                       void (*put)(void *data, enum out_table_id table, const void *row),
                       void *data)
{
    struct stats *all = stats_create("domain");
    for (int id = 0; id < DOMAIN_COUNT; id++) {
        stats_each(gather->of[id], domains[id].stats, put, data);
        if (all)
            stats_merge(all, domains[id].name, gather->of[id]);
    }
    if (all)
        stats_each(all, OUT_DOMAIN_STATS, put, data);
    stats_destroy(all);
}
