#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "out/process.h"

void trace_open(struct trace *trace, const char *directory)
{
    *trace = (struct trace){.first_ns = UINT64_MAX};
    trace->region_numbers.element_bytes = trace->location_numbers.element_bytes =
        trace->metric_numbers.element_bytes = sizeof(uint32_t);
    events_open(&trace->events, directory);
}

void trace_close(struct trace *trace)
{
    events_close(&trace->events);
    numbered_free(&trace->region_numbers);
    numbered_free(&trace->location_numbers);
    numbered_free(&trace->metric_numbers);
    free(trace->regions);
    free(trace->locations);
    free(trace->metrics);
    free(trace->agents);
    free(trace->processes);
    texts_free(&trace->texts);
}

static uint32_t text(struct trace *trace, const char *name)
{
    bool is_new;
    uint32_t id = texts_id(&trace->texts, name ? name : "", &is_new);
    if (id == 0)
        trace->status = -ENOMEM;
    return id;
}

/* Makes room for element `count`: rooms are powers of two. */
static bool room_make(struct trace *trace, void **elements, uint32_t count, size_t element_bytes)
{
    if (count & (count - 1))
        return true;
    void *moved = realloc(*elements, (count ? 2 * (size_t)count : 1) * element_bytes);
    if (moved)
        *elements = moved;
    else
        trace->status = -ENOMEM;
    return moved != NULL;
}
#define ROOM_MAKE(trace, list, count)                                                              \
    ({                                                                                             \
        void *elements_ = (trace)->list;                                                           \
        bool ok_ = room_make(trace, &elements_, (trace)->count, sizeof *(trace)->list);            \
        (trace)->list = elements_;                                                                 \
        ok_;                                                                                       \
    })

/* "rank 3: app 1234 on host" */
static uint32_t process_name(struct trace *trace, const struct out_process *process)
{
    char name[192], rank[32] = "", program[64];
    if (!process) {
        snprintf(name, sizeof name, "%s %ld", program_invocation_short_name, (long)getpid());
        return text(trace, name);
    }
    size_t length = strcspn(process->command, " ");
    const char *from = process->command;
    for (size_t i = 0; i < length; i++)
        from = process->command[i] == '/' ? process->command + i + 1 : from;
    snprintf(program, sizeof program, "%.*s", (int)(process->command + length - from), from);
    if (process->rank >= 0)
        snprintf(rank, sizeof rank, "rank %lld: ", (long long)process->rank);
    snprintf(name, sizeof name, "%s%s %llu", rank, program, (unsigned long long)process->pid);
    return text(trace, name);
}

/* The number of whom the rows are that come just now. */
static uint32_t process_now(struct trace *trace)
{
    const struct out_process *now = out_process();
    struct utsname host = {0};
    for (uint32_t i = trace->process_count; i-- > 0;)
        if (trace->processes[i].process == now)
            return i;
    uname(&host);
    const struct trace_process process = {process_name(trace, now),
                                          text(trace, now ? now->hostname : host.nodename), now};
    if (ROOM_MAKE(trace, processes, process_count))
        trace->processes[trace->process_count++] = process;
    return trace->process_count ? trace->process_count - 1 : 0;
}

void trace_agent(struct trace *trace, uint64_t node, const char *name, const char *times)
{
    char shown[256];
    snprintf(shown, sizeof shown, "%s (agent %llu)%s%s", name ? name : "", (unsigned long long)node,
             times ? ", times are " : "", times ? times : "");
    if (ROOM_MAKE(trace, agents, agent_count))
        trace->agents[trace->agent_count++] =
            (struct trace_agent){text(trace, shown), process_now(trace), node};
}

/* The number that the key has, or NULL without memory. */
static uint32_t *number_of(struct trace *trace, struct numbered *numbers, uint64_t key,
                           bool *is_new)
{
    uint32_t *number = numbered_get(numbers, key, is_new);
    if (!number)
        trace->status = -ENOMEM;
    return number;
}

static uint32_t location_name(struct trace *trace, enum trace_place place, uint64_t node,
                              uint64_t number)
{
    char name[160], command[THREAD_NAME_BYTES];
    unsigned long long n = number, agent = node;
    switch (place) {
    case TRACE_THREAD:
    case TRACE_MARKERS:
        out_thread_name(number, command);
        snprintf(name, sizeof name, "%s %llu%s%s", place == TRACE_THREAD ? "Thread" : "Markers of",
                 n, *command ? " " : "", command);
        break;
    case TRACE_QUEUE:
    case TRACE_EVENTS:
        snprintf(name, sizeof name, "Agent %llu queue %llu%s", agent, n,
                 place == TRACE_EVENTS ? " events" : "");
        break;
    case TRACE_COPIES:
        snprintf(name, sizeof name, node == TRACE_NO_NODE ? "Copies" : "Copies to agent %llu",
                 agent);
        break;
    case TRACE_DRIVER:
        snprintf(name, sizeof name, "Driver");
        break;
    default:
        snprintf(name, sizeof name, node == TRACE_NO_NODE ? "Memory" : "Memory of agent %llu",
                 agent);
    }
    return text(trace, name);
}

uint32_t trace_location(struct trace *trace, enum trace_place place, uint64_t node, uint64_t number)
{
    bool is_new = false;
    uint32_t process = process_now(trace);
    uint64_t key = (uint64_t)place << 60 ^ node << 44 ^ (uint64_t)process << 32 ^ number;
    uint32_t *found = number_of(trace, &trace->location_numbers, key, &is_new);
    if (found && is_new && ROOM_MAKE(trace, locations, location_count)) {
        *found = trace->location_count++;
        trace->locations[*found] =
            (struct trace_location){location_name(trace, place, node, number), process, node};
    }
    return found ? *found : 0;
}

uint32_t trace_region(struct trace *trace, enum trace_kind kind, const char *name)
{
    bool is_new = false;
    uint32_t id = text(trace, name);
    uint32_t *found = number_of(trace, &trace->region_numbers, (uint64_t)kind << 32 | id, &is_new);
    if (found && is_new && ROOM_MAKE(trace, regions, region_count)) {
        *found = trace->region_count++;
        trace->regions[*found] = (struct trace_region){id, kind};
    }
    return found ? *found : 0;
}

uint32_t trace_metric(struct trace *trace, const char *name, const char *description)
{
    bool is_new = false;
    uint32_t id = text(trace, name);
    uint32_t *found = number_of(trace, &trace->metric_numbers, id, &is_new);
    if (found && is_new && ROOM_MAKE(trace, metrics, metric_count)) {
        *found = trace->metric_count++;
        trace->metrics[*found] = (struct trace_metric){id, text(trace, description)};
    }
    return found ? *found : 0;
}

void trace_event(struct trace *trace, const struct event *event)
{
    struct event kept = *event;
    if (kept.end_ns < kept.begin_ns)
        kept.end_ns = kept.begin_ns; /* a time that nobody knew */
    if (kept.begin_ns < trace->first_ns)
        trace->first_ns = kept.begin_ns;
    if (kept.end_ns > trace->last_ns)
        trace->last_ns = kept.end_ns;
    if (trace->status == 0)
        events_add(&trace->events, &kept);
}
