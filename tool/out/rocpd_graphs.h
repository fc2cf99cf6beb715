/*
 * Launches of graphs in a rocpd database. While it is written they are regions of schema 3.0; at
 * its end it becomes one of schema 3.0.2, which has a table for them, and kernels and copies say
 * which graph they come from. A database without graphs stays as it is.
 */
#ifndef OUT_ROCPD_GRAPHS_H
#define OUT_ROCPD_GRAPHS_H

#include "rocpd_info.h"
#include "rows.h"

/* The launch's event, into which it says what a region has no columns for, and its region. */
void rocpd_graph_put(struct rocpd_info *info, int64_t event, const struct out_graph_row *row);
void rocpd_graph_event_put(struct rocpd_info *info, const struct out_graph_row *row);

/* The view over launches, as schema 3.0.2 has it. */
#define ROCPD_GRAPH_LAUNCHES                                                                       \
    "CREATE VIEW \"graph_launches\" AS SELECT G.id, G.guid, A.absolute_index AS agent_abs_index, " \
    "A.logical_index AS agent_log_index, A.type_index AS agent_type_index, A.type AS agent_type, " \
    "G.nid, P.pid, T.tid, G.queue_id, E.stack_id, G.start, G.\"end\", "                            \
    "G.\"end\" - G.start AS duration, G.graph_exec_id, G.kernel_dispatch_count "                   \
    "FROM rocpd_graph_launch G JOIN rocpd_event E ON E.id = G.event_id AND E.guid = G.guid "       \
    "JOIN rocpd_info_process P ON P.id = G.pid AND P.guid = G.guid "                               \
    "JOIN rocpd_info_thread T ON T.id = G.tid AND T.guid = G.guid "                                \
    "LEFT JOIN rocpd_info_agent A ON A.id = G.agent_id AND A.guid = G.guid"

/* The database is complete and closed. */
void rocpd_graphs_finish(struct rocpd_base *base);

#endif
