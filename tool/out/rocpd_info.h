/*
 * What a rocpd database's records refer to: texts, threads, agents, queues, kernels, counters. A
 * row is put when something is first referred to; each function returns its id.
 */
#ifndef OUT_ROCPD_INFO_H
#define OUT_ROCPD_INFO_H

#include "names/numbered.h"
#include "names/texts.h"
#include "rocpd_base.h"
#include "rows.h"

struct rocpd_info {
    struct rocpd_base *base;
    int64_t node, process;
    struct texts texts;
    struct numbered threads, queues, streams, agents, code_objects, kernels, counters, tracks;
};

/* The machine, the process and what is always there. */
void rocpd_info_begin(struct rocpd_info *info, struct rocpd_base *base);
void rocpd_info_end(struct rocpd_info *info);

int64_t rocpd_text(struct rocpd_info *info, const char *text); /* NULL is "" */
int64_t rocpd_thread(struct rocpd_info *info, uint64_t thread_id);
int64_t rocpd_queue(struct rocpd_info *info, uint64_t queue_id);
int64_t rocpd_stream(struct rocpd_info *info, uint64_t stream_id);
/* BATCH_NULL for OUT_NO_AGENT. */
int64_t rocpd_agent(struct rocpd_info *info, uint64_t node);
void rocpd_agent_describe(struct rocpd_info *info, const struct out_agent_row *row);
int64_t rocpd_kernel(struct rocpd_info *info, const struct out_dispatch_row *row);
int64_t rocpd_counter(struct rocpd_info *info, const struct out_counter_row *row);
/* Of a thread's samples of one category. */
int64_t rocpd_track(struct rocpd_info *info, int64_t category_id, uint64_t thread_id);

#endif
