/*
 * What the records of rocprofiler-sdk-tool's JSON refer to: agents, counters, kernels, code
 * objects, kinds of records. Each is written when it is first referred to, or at the end where its
 * place in a list is its number.
 */
#ifndef OUT_RESULTS_JSON_H
#define OUT_RESULTS_JSON_H

#include "kinds.h"
#include "names/numbered.h"
#include "names/texts.h"
#include "process.h"
#include "rows.h"
#include "spool.h"

enum { RESULTS_AGENTS = 256 };

struct results_info {
    struct kinds kinds;
    uint64_t agent_handles[RESULTS_AGENTS]; /* by node; 0: not described */
    struct spool agents, counters;
    struct numbered counters_known;
    struct numbered dimensions; /* of any counter, by id and size */
    struct numbered kernels, code_objects;
    struct texts texts;         /* copies of names */
    struct texts counter_names; /* of counters of which nothing else is known */
    struct texts regions;       /* of renamed kernels; numbers are external correlation ids */
    struct spool region_texts, messages;
    /* Whose they are: of a recorded process, with texts of `texts`, which outlive the recording. */
    bool is_recorded;
    struct out_process process;
    struct out_machine machine;
    uint64_t begin_ns;
};

void results_info_begin(struct results_info *info, const char *directory);
/* Writes ',"metadata":{...},"agents":[...]...'. */
void results_info_end(struct results_info *info, struct writer *writer);
void results_info_drop(struct results_info *info);

void results_agent(struct results_info *info, const struct out_agent_row *row);
/* In results_agent.c: the object alone. */
void results_agent_put(struct writer *writer, const struct out_agent_row *row, uint64_t handle);
/* The SDK's handle of the agent with that node; 0 for OUT_NO_AGENT. */
static inline uint64_t results_agent_handle(const struct results_info *info, uint64_t node)
{
    if (node == OUT_NO_AGENT)
        return 0;
    if (node < RESULTS_AGENTS && info->agent_handles[node])
        return info->agent_handles[node];
    return node + 1;
}

/* The next element of a list; NULL: no memory. */
static inline struct writer *results_element(struct spool *list)
{
    bool is_first = spool_is_empty(list);
    struct writer *writer = spool_writer(list, WRITER_BYTES / 2);
    if (writer && !is_first)
        writer_char(writer, ',');
    return writer;
}

void results_kernel(struct results_info *info, const struct out_dispatch_row *row);
/* In results_counter.c: the counter's handle; and the dimensions of all counters. */
uint64_t results_counter(struct results_info *info, const struct out_counter_row *row);
void results_dimensions(const struct results_info *info, struct writer *writer);
/* External correlation id that stands for the text. */
uint64_t results_region(struct results_info *info, const char *name);
void results_message(struct results_info *info, uint64_t correlation_id, const char *message);

#endif
