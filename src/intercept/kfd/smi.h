/*
 * The kernel driver's events (KFD_EVENT_*, KFD_*): page migrations and faults, queue evictions,
 * unmapping. Knows the driver's text format and one file per GPU; nothing of runtimes.
 */
#ifndef INTERCEPT_KFD_SMI_H
#define INTERCEPT_KFD_SMI_H

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- parse.c */

enum smi_event_id {
    SMI_MIGRATE_START = 5,
    SMI_MIGRATE_END,
    SMI_PAGE_FAULT_START,
    SMI_PAGE_FAULT_END,
    SMI_QUEUE_EVICTION,
    SMI_QUEUE_RESTORE,
    SMI_UNMAP_FROM_GPU,
    SMI_DROPPED = 14,
};

/* One line of the driver; which fields count depends on `id`. Nodes are gpu_ids, 0 the CPU. */
struct smi_event {
    enum smi_event_id id;
    uint64_t time_ns;
    uint32_t pid;
    uint64_t start, end; /* bytes */
    uint32_t node, from, to, prefetch, preferred;
    int32_t trigger, error;
    char letter; /* R or W; M or U; R or 0 */
    uint32_t dropped;
};

/* False: not a line that we know. */
bool smi_parse(const char *line, struct smi_event *event);

/* ---- report.c */

/* Records of an event, and of the interval that it ends. One thread. */
void smi_report(const struct smi_event *event);

/* Which events the configured kinds need: bit n - 1 for event n; 0: none. */
uint64_t smi_events_wanted(void);

/* ---- reader.c */

/* Starts the thread that reads when any of these kinds is configured; once. */
void intercept_kfd_start(void);
/* Reports what the driver has told so far. */
void intercept_kfd_drain(void);

#endif
