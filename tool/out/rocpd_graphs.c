#include "rocpd_graphs.h"

void rocpd_graph_event_put(struct rocpd_info *info, const struct out_graph_row *row)
{
    int64_t agent = rocpd_agent(info, row->node);
    const struct rocpd_value number = ROCPD_INTEGER(agent), nothing = ROCPD_NOTHING;
    const struct rocpd_value values[] = {ROCPD_INTEGER(rocpd_text(info, row->kind)),
                                         ROCPD_INTEGER(row->correlation_id),
                                         ROCPD_INTEGER(row->parent_id),
                                         ROCPD_INTEGER(row->external_id),
                                         ROCPD_INTEGER(row->graph_exec_id),
                                         ROCPD_INTEGER(row->kernels),
                                         agent == BATCH_NULL ? nothing : number,
                                         ROCPD_INTEGER(rocpd_queue(info, row->queue_id))};
    rocpd_base_insert(info->base, ROCPD_GRAPH_EVENT, values);
}

void rocpd_graph_put(struct rocpd_info *info, int64_t event, const struct out_graph_row *row)
{
    const int64_t values[] = {info->node,
                              info->process,
                              rocpd_thread(info, row->thread_id),
                              (int64_t)row->start_ns,
                              (int64_t)row->end_ns,
                              rocpd_text(info, row->operation),
                              event};
    rocpd_base_put(info->base, ROCPD_REGION, values);
}

/* Kernels of a launch are numbered as they were submitted, which their dispatch ids say. Copies
 * have none: in a launch that has some, all stand in the order in which they began.
 *
 * CROSS JOIN: SQLite looks tables up in this order, and by their keys where the columns' types
 * agree; otherwise it goes through all launches for each kernel. */
#define GRAPH_COLUMN(table, column)                                                                \
    "ALTER TABLE \"rocpd_" table "{{uuid}}\" ADD COLUMN \"" column "\" INTEGER NOT NULL DEFAULT 0"
#define KEY(column, table)                                                                         \
    ", FOREIGN KEY (\"" column "\") REFERENCES \"rocpd_" table                                     \
    "{{uuid}}\" (\"id\") ON UPDATE CASCADE"
#define LAUNCHES                                                                                   \
    "name_id = (SELECT id FROM \"rocpd_string{{uuid}}\" WHERE string = "                           \
    "'HIP_GRAPH_OPERATION_EXEC_LAUNCH')"
#define OF_LAUNCH(row)                                                                             \
    "CROSS JOIN \"rocpd_event{{uuid}}\" E ON E.id = " row ".event_id "                             \
    "CROSS JOIN temp.graph_launched L ON L.pid = " row ".pid AND L.stack = E.stack_id"
#define NODES_SET(table, kind)                                                                     \
    "UPDATE \"rocpd_" table "{{uuid}}\" SET graph_exec_id = N.exec, graph_node_id = N.node "       \
    "FROM temp.graph_node N WHERE N.kind = " kind " AND N.id = \"rocpd_" table "{{uuid}}\".id"
static const char *const statements[] = {
    "PRAGMA synchronous = OFF",
    "BEGIN IMMEDIATE",
    GRAPH_COLUMN("kernel_dispatch", "graph_exec_id"),
    GRAPH_COLUMN("kernel_dispatch", "graph_node_id"),
    GRAPH_COLUMN("memory_copy", "graph_exec_id"),
    GRAPH_COLUMN("memory_copy", "graph_node_id"),
    "CREATE TABLE \"rocpd_graph_launch{{uuid}}\" ("
    "\"id\" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "
    "\"guid\" TEXT NOT NULL DEFAULT '{{guid}}', \"nid\" INTEGER NOT NULL, "
    "\"pid\" INTEGER NOT NULL, \"tid\" INTEGER, \"agent_id\" INTEGER, \"queue_id\" INTEGER, "
    "\"start\" BIGINT NOT NULL, \"end\" BIGINT NOT NULL, \"graph_exec_id\" INTEGER NOT NULL, "
    "\"kernel_dispatch_count\" INTEGER NOT NULL DEFAULT 0, \"event_id\" INTEGER, "
    "\"extdata\" JSONB NOT NULL DEFAULT '{}'" KEY("nid", "info_node") KEY("pid", "info_process")
        KEY("tid", "info_thread") KEY("agent_id", "info_agent") KEY("queue_id", "info_queue")
            KEY("event_id", "event") ")",
    "INSERT INTO \"rocpd_graph_launch{{uuid}}\" (nid, pid, tid, agent_id, queue_id, start, "
    "\"end\", graph_exec_id, kernel_dispatch_count, event_id) "
    "SELECT R.nid, R.pid, R.tid, E.extdata ->> 'agent_id', E.extdata ->> 'queue_id', R.start, "
    "R.\"end\", E.extdata ->> 'graph_exec_id', E.extdata ->> 'kernel_dispatch_count', R.event_id "
    "FROM \"rocpd_region{{uuid}}\" R CROSS JOIN \"rocpd_event{{uuid}}\" E ON E.id = R.event_id "
    "WHERE R." LAUNCHES " ORDER BY R.id",
    "DELETE FROM \"rocpd_region{{uuid}}\" WHERE " LAUNCHES,
    "CREATE TEMP TABLE graph_launched (pid INTEGER, stack INTEGER, exec INTEGER, "
    "has_copies INTEGER DEFAULT 0, PRIMARY KEY (pid, stack)) WITHOUT ROWID",
    "INSERT OR IGNORE INTO temp.graph_launched (pid, stack, exec) "
    "SELECT G.pid, E.stack_id, G.graph_exec_id FROM \"rocpd_graph_launch{{uuid}}\" G "
    "CROSS JOIN \"rocpd_event{{uuid}}\" E ON E.id = G.event_id WHERE E.stack_id <> 0",
    "UPDATE temp.graph_launched SET has_copies = 1 WHERE (pid, stack) IN "
    "(SELECT C.pid, E.stack_id FROM \"rocpd_memory_copy{{uuid}}\" C "
    "CROSS JOIN \"rocpd_event{{uuid}}\" E ON E.id = C.event_id)",
    "CREATE TEMP TABLE graph_node (kind INTEGER, id INTEGER, exec INTEGER, node INTEGER, "
    "PRIMARY KEY (kind, id)) WITHOUT ROWID",
    "INSERT INTO temp.graph_node SELECT kind, id, exec, row_number() OVER "
    "(PARTITION BY pid, stack ORDER BY place, dispatch) - 1 FROM ("
    "SELECT 0 AS kind, K.id AS id, K.pid AS pid, L.stack AS stack, L.exec AS exec, "
    "iif(L.has_copies, K.start, 0) AS place, K.dispatch_id AS dispatch "
    "FROM \"rocpd_kernel_dispatch{{uuid}}\" K " OF_LAUNCH(
        "K") " UNION ALL SELECT 1, C.id, C.pid, L.stack, L.exec, C.start, 0 "
             "FROM \"rocpd_memory_copy{{uuid}}\" C " OF_LAUNCH("C") ")",
    NODES_SET("kernel_dispatch", "0"),
    NODES_SET("memory_copy", "1"),
    "CREATE VIEW \"rocpd_graph_launch\" AS SELECT * FROM \"rocpd_graph_launch{{uuid}}\"",
    ROCPD_GRAPH_LAUNCHES,
    "UPDATE \"rocpd_metadata{{uuid}}\" SET value = '3.0.2' WHERE tag = 'schema_version'",
    "COMMIT",
};

void rocpd_graphs_finish(struct rocpd_base *base)
{
    rocpd_base_amend(base, statements, sizeof statements / sizeof statements[0]);
}
