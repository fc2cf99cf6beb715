#include "cursors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-sdk/hsa.h>

#include "clocks.h"

static int64_t i64(struct cursor *cursor, int column)
{
    return source_i64(&cursor->source, column);
}

static uint64_t u64(struct cursor *cursor, int column)
{
    return (uint64_t)i64(cursor, column);
}

/* A time, on the clock that is asked for. */
static uint64_t time_at(struct cursor *cursor, int column)
{
    int64_t time_ns = i64(cursor, column);
    const struct alignment *alignment = cursor->ask->alignment;
    return (uint64_t)(alignment ? alignment_apply(alignment, time_ns) : time_ns);
}

/* The end that stands behind a start; one before it would be a time of centuries to whoever takes
 * the difference. */
static uint64_t end_at(struct cursor *cursor, int start_column)
{
    const uint64_t start_ns = time_at(cursor, start_column);
    const uint64_t end_ns = time_at(cursor, start_column + 1);
    if ((int64_t)end_ns >= (int64_t)start_ns)
        return end_ns;
    recording_odd(cursor->part->recording, "a record ends before it begins, and counts as 0 ns");
    return start_ns;
}

static const char *bytes(struct cursor *cursor, int column)
{
    return source_text(&cursor->source, column);
}

static const char *text(struct cursor *cursor, int column)
{
    return recording_text(cursor->part->recording, bytes(cursor, column));
}

static bool is_null(struct cursor *cursor, int column)
{
    return source_is_null(&cursor->source, column);
}

int cursor_open(struct cursor *cursor, struct part *part, enum source_kind kind,
                const struct recording_ask *ask, char *error, size_t error_size)
{
    *cursor = (struct cursor){
        .part = part, .ask = ask, .kind = kind, .table = OUT_TABLE_COUNT, .event = INT64_MIN};
    int status = source_open(&cursor->source, part, kind, ask, error, error_size);
    if (status != 0 || !cursor->source.has_arguments)
        return status;
    cursor->arguments = malloc(sizeof *cursor->arguments);
    return cursor->arguments ? 0 : -ENOMEM;
}

void cursor_close(struct cursor *cursor)
{
    source_close(&cursor->source);
    free(cursor->arguments);
    cursor->arguments = NULL;
    free(cursor->counted);
    cursor->counted = NULL;
}

uint64_t cursor_agent_number(const struct recording_ask *ask, const struct agent *agent)
{
    switch (ask->agents) {
    case RECORDING_ABSOLUTE:
        return (uint64_t)agent->absolute;
    case RECORDING_TYPE_RELATIVE:
        return (uint32_t)agent->type_index + (agent->is_gpu ? OUT_AGENT_GPU : OUT_AGENT_CPU);
    default:
        return (uint64_t)agent->logical;
    }
}

/* An agent that a column names, by `ask`'s numbers and by the driver's. */
static void agent_read(struct cursor *cursor, int column, uint64_t *number, uint64_t *node)
{
    *number = *node = OUT_NO_AGENT;
    if (is_null(cursor, column))
        return;
    const struct agent *agent = part_agent(cursor->part, i64(cursor, column));
    *number = cursor_agent_number(cursor->ask, agent);
    *node = (uint64_t)agent->absolute;
}

static uint64_t thread(struct cursor *cursor)
{
    return is_null(cursor, COLUMN_TID) ? 0 : part_thread(cursor->part, i64(cursor, COLUMN_TID));
}

static uint64_t process(struct cursor *cursor)
{
    return is_null(cursor, COLUMN_PID) ? cursor->part->shown.pid
                                       : part_process(cursor->part, i64(cursor, COLUMN_PID));
}

/* An agent that is named by the driver's number, as `ask` numbers it. */
static uint64_t node_number(struct cursor *cursor, uint64_t node)
{
    const struct agent *agent = part_node_agent(cursor->part, node);
    return agent && agent->row.type[0] ? cursor_agent_number(cursor->ask, agent) : node;
}

/* The driver's event: agents are named by its own numbers. */
static void kfd_read(struct cursor *cursor, const struct category *category)
{
    struct out_kfd_row *row = &cursor->row.kfd;
    *row = (struct out_kfd_row){
        .kind = category->name,
        .operation = part_string(cursor->part, i64(cursor, COLUMN_REST + 2)),
        .process_id = process(cursor),
        .start_ns = time_at(cursor, COLUMN_REST),
        .end_ns = end_at(cursor, COLUMN_REST),
    };
    part_kfd(cursor->part, i64(cursor, COLUMN_REST + 3), row);
    for (int i = 0; i < OUT_KFD_AGENTS; i++) {
        row->agents[i] = node_number(cursor, row->nodes[i]);
    }
}

static void event_read(struct cursor *cursor, const struct category *category)
{
    struct out_event_row *row = &cursor->row.event;
    *row = (struct out_event_row){
        .kind = category->name,
        .operation = part_string(cursor->part, i64(cursor, COLUMN_REST + 2)),
        .thread_id = thread(cursor),
        .start_ns = time_at(cursor, COLUMN_REST),
        .end_ns = end_at(cursor, COLUMN_REST),
        .correlation_id = u64(cursor, COLUMN_OWN),
        .external_id = u64(cursor, COLUMN_EXTERNAL),
    };
    part_hip_event(cursor->part, i64(cursor, COLUMN_REST + 3), row);
    row->agent = node_number(cursor, row->node);
}

static void api_read(struct cursor *cursor, const struct category *category)
{
    const char *message = bytes(cursor, COLUMN_REST + 4);
    if (message)
        message = recording_message(cursor->part->recording, message);
    cursor->row.api = (struct out_api_row){
        .domain = category->name,
        .function = message ? message : part_string(cursor->part, i64(cursor, COLUMN_REST + 2)),
        .process_id = process(cursor),
        .thread_id = thread(cursor),
        .correlation_id = u64(cursor, COLUMN_OWN),
        .start_ns = time_at(cursor, COLUMN_REST),
        .end_ns = end_at(cursor, COLUMN_REST),
        .parent_id = u64(cursor, COLUMN_PARENT),
        .external_id = u64(cursor, COLUMN_EXTERNAL),
        .message = category->is_marker ? message : NULL,
    };
}

/* Of the call that the source stands at; goes on to the next one. */
static void arguments_read(struct cursor *cursor)
{
    const int first = source_arguments_column(&cursor->source);
    const int64_t call = i64(cursor, first);
    arguments_begin(cursor->arguments);
    do {
        if (!is_null(cursor, first + 2) &&
            !arguments_add(cursor->arguments, i64(cursor, first + 1), bytes(cursor, first + 2),
                           bytes(cursor, first + 3), bytes(cursor, first + 4)))
            recording_damaged(cursor->part->recording,
                              "rocpd_arg: a call has more than %d bytes of arguments, which were "
                              "not all taken",
                              OUT_ARGUMENTS_BYTES);
        cursor->is_ahead = source_next(&cursor->source);
    } while (cursor->is_ahead && i64(cursor, first) == call);
    if (cursor->table != OUT_KFD && cursor->table != OUT_HIP_EVENT)
        arguments_end(cursor->arguments, &cursor->row.api);
}

static void span_read(struct cursor *cursor)
{
    const struct category *category = part_category(cursor->part, i64(cursor, COLUMN_CATEGORY));
    cursor->table = category->table;
    if (cursor->table == OUT_KFD)
        kfd_read(cursor, category);
    else if (cursor->table == OUT_HIP_EVENT)
        event_read(cursor, category);
    else
        api_read(cursor, category);
    if (cursor->arguments)
        arguments_read(cursor);
}

static const char *kernel_name(struct cursor *cursor, const struct out_kernel *kernel)
{
    if (!kernel)
        return "";
    switch (cursor->ask->names) {
    case RECORDING_MANGLED:
        return kernel->symbol;
    case RECORDING_TRUNCATED:
        return kernel->truncated[0] ? kernel->truncated : kernel->name;
    default:
        return kernel->name;
    }
}

static struct out_dispatch_row dispatch_row(struct cursor *cursor)
{
    enum { FIRST = COLUMN_REST };
    struct part *part = cursor->part;
    const struct out_kernel *kernel = part_kernel(part, i64(cursor, FIRST + 1));
    const char *region =
        is_null(cursor, FIRST + 15) ? "" : part_string(part, i64(cursor, FIRST + 15));
    bool is_renamed = *region && !cursor->ask->by_symbol;
    struct out_dispatch_row row = {
        .kind = part_category(part, i64(cursor, COLUMN_CATEGORY))->name,
        .queue_id = u64(cursor, FIRST + 3),
        .stream_id = u64(cursor, FIRST + 4),
        .process_id = process(cursor),
        .thread_id = thread(cursor),
        .dispatch_id = u64(cursor, FIRST + 2),
        .kernel_id = u64(cursor, FIRST + 1),
        .kernel_name = is_renamed ? region : kernel_name(cursor, kernel),
        .correlation_id = u64(cursor, COLUMN_OWN),
        .start_ns = time_at(cursor, FIRST + 5),
        .end_ns = end_at(cursor, FIRST + 5),
        .lds_bytes = u64(cursor, FIRST + 8),
        .scratch_bytes = u64(cursor, FIRST + 7),
        .vgprs = kernel ? kernel->vgprs : 0,
        .acc_vgprs = kernel ? kernel->acc_vgprs : 0,
        .sgprs = kernel ? kernel->sgprs : 0,
        .external_id = u64(cursor, COLUMN_EXTERNAL),
        .region = is_renamed ? region : NULL,
        .kernel = kernel,
        .modelled_ns = u64(cursor, FIRST + 16),
        .grid_size = 1,
        .workgroup_size = 1,
    };
    for (int i = 0; i < 3; i++) {
        row.workgroup[i] = u64(cursor, FIRST + 9 + i);
        row.grid[i] = u64(cursor, FIRST + 12 + i);
        row.workgroup_size *= row.workgroup[i];
        row.grid_size *= row.grid[i];
    }
    agent_read(cursor, FIRST, &row.agent, &row.node);
    return row;
}

enum { COLUMN_EVENT = COLUMN_REST + 17, COLUMN_COUNTER, COLUMN_VALUE, COLUMN_ROW };

/* Adds a value to those of its counter. */
static void counted_add(struct cursor *cursor)
{
    int64_t counter = i64(cursor, COLUMN_COUNTER);
    double value = source_real(&cursor->source, COLUMN_VALUE);
    for (unsigned i = cursor->counted_count; i-- > 0;)
        if (cursor->counted[i].counter == counter) {
            cursor->counted[i].value += value;
            if (i64(cursor, COLUMN_ROW) < cursor->counted[i].first)
                cursor->counted[i].first = i64(cursor, COLUMN_ROW);
            return;
        }
    if (cursor->counted_count == cursor->counted_room) {
        unsigned room = cursor->counted_room ? 2 * cursor->counted_room : 64;
        struct counted *grown = realloc(cursor->counted, room * sizeof *grown);
        if (!grown)
            return;
        cursor->counted = grown;
        cursor->counted_room = room;
    }
    cursor->counted[cursor->counted_count++] =
        (struct counted){i64(cursor, COLUMN_ROW), counter, value};
}

static int by_row(const void *left, const void *right)
{
    const struct counted *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

/* All values of the next dispatch that has some. */
static bool counted_read(struct cursor *cursor)
{
    if (!cursor->is_ahead && !source_next(&cursor->source))
        return false;
    cursor->counted_count = cursor->counted_at = 0;
    cursor->row.counter.dispatch = dispatch_row(cursor);
    cursor->event = i64(cursor, COLUMN_EVENT);
    do {
        counted_add(cursor);
        cursor->is_ahead = source_next(&cursor->source);
    } while (cursor->is_ahead && i64(cursor, COLUMN_EVENT) == cursor->event);
    qsort(cursor->counted, cursor->counted_count, sizeof *cursor->counted, by_row);
    return true;
}

static bool counter_next(struct cursor *cursor)
{
    while (cursor->counted_at == cursor->counted_count)
        if ((!source_has_more(&cursor->source) && !cursor->is_ahead) || !counted_read(cursor))
            return false;
    const struct counted *counted = &cursor->counted[cursor->counted_at++];
    struct out_counter_row *row = &cursor->row.counter;
    row->counter = part_counter(cursor->part, counted->counter);
    row->counter_name = row->counter ? row->counter->name : "";
    row->counter_value = counted->value;
    cursor->table = OUT_COUNTER_COLLECTION;
    cursor->start_ns = (int64_t)row->dispatch.start_ns;
    return true;
}

static void copy_read(struct cursor *cursor)
{
    enum { FIRST = COLUMN_REST };
    struct out_copy_row *row = &cursor->row.copy;
    cursor->table = OUT_MEMORY_COPY;
    *row = (struct out_copy_row){
        .kind = part_category(cursor->part, i64(cursor, COLUMN_CATEGORY))->name,
        .direction = part_string(cursor->part, i64(cursor, FIRST + 2)),
        .stream_id = u64(cursor, FIRST + 8),
        .correlation_id = u64(cursor, COLUMN_OWN),
        .start_ns = time_at(cursor, FIRST),
        .end_ns = end_at(cursor, FIRST),
        .bytes = u64(cursor, FIRST + 7),
        .thread_id = thread(cursor),
        .external_id = u64(cursor, COLUMN_EXTERNAL),
        .source_address = u64(cursor, FIRST + 6),
        .destination_address = u64(cursor, FIRST + 4),
    };
    agent_read(cursor, FIRST + 3, &row->destination_agent, &row->destination_node);
    agent_read(cursor, FIRST + 5, &row->source_agent, &row->source_node);
}

/* What the SDK calls an operation that rocpd has by type and level. */
static const char *operation_name(const char *type, const char *level)
{
    static const struct {
        const char *level, *type, *name;
    } operations[] = {
        {"REAL", "ALLOC", "MEMORY_ALLOCATION_ALLOCATE"},
        {"REAL", "FREE", "MEMORY_ALLOCATION_FREE"},
        {"VIRTUAL", "ALLOC", "MEMORY_ALLOCATION_VMEM_ALLOCATE"},
        {"VIRTUAL", "FREE", "MEMORY_ALLOCATION_VMEM_FREE"},
        {"SCRATCH", "ALLOC", "SCRATCH_MEMORY_ALLOC"},
        {"SCRATCH", "FREE", "SCRATCH_MEMORY_FREE"},
        {"SCRATCH", "RECLAIM", "SCRATCH_MEMORY_ASYNC_RECLAIM"},
    };
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(operations[i].level, level) == 0 && strcmp(operations[i].type, type) == 0)
            return operations[i].name;
    return type;
}

/* A number as a text; recordings of crocprof's before 23 November 2026 have names. */
static uint64_t flags_read(const char *text)
{
    uint64_t flags = strtoull(text, NULL, 10);
    return flags | (strstr(text, "USE_ONCE") ? ROCPROFILER_SCRATCH_ALLOC_FLAG_USE_ONCE : 0u) |
           (strstr(text, "ALT") ? ROCPROFILER_SCRATCH_ALLOC_FLAG_ALT : 0u);
}

static void memory_read(struct cursor *cursor)
{
    enum { FIRST = COLUMN_REST };
    const char *level = text(cursor, FIRST + 4);
    const char *operation = operation_name(text(cursor, FIRST + 3), level);
    const char *kind = part_category(cursor->part, i64(cursor, COLUMN_CATEGORY))->name;
    uint64_t agent, node;
    agent_read(cursor, FIRST + 2, &agent, &node);
    if (strcmp(level, "SCRATCH") == 0) {
        cursor->table = OUT_SCRATCH_MEMORY;
        cursor->row.scratch = (struct out_scratch_row){kind,
                                                       operation,
                                                       agent,
                                                       u64(cursor, FIRST + 7),
                                                       thread(cursor),
                                                       flags_read(text(cursor, FIRST + 8)),
                                                       time_at(cursor, FIRST),
                                                       end_at(cursor, FIRST),
                                                       u64(cursor, FIRST + 6),
                                                       u64(cursor, COLUMN_OWN),
                                                       node,
                                                       u64(cursor, COLUMN_PARENT),
                                                       u64(cursor, COLUMN_EXTERNAL)};
        return;
    }
    cursor->table = OUT_MEMORY_ALLOCATION;
    cursor->row.allocation = (struct out_allocation_row){kind,
                                                         operation,
                                                         agent,
                                                         u64(cursor, FIRST + 6),
                                                         u64(cursor, FIRST + 5),
                                                         u64(cursor, COLUMN_OWN),
                                                         time_at(cursor, FIRST),
                                                         end_at(cursor, FIRST),
                                                         node,
                                                         thread(cursor),
                                                         u64(cursor, COLUMN_PARENT),
                                                         u64(cursor, COLUMN_EXTERNAL)};
}

static void graph_read(struct cursor *cursor)
{
    enum { FIRST = COLUMN_REST };
    struct out_graph_row *row = &cursor->row.graph;
    cursor->table = OUT_GRAPH_LAUNCH;
    *row = (struct out_graph_row){
        .kind = part_category(cursor->part, i64(cursor, COLUMN_CATEGORY))->name,
        .operation = "HIP_GRAPH_OPERATION_EXEC_LAUNCH",
        .queue_id = u64(cursor, FIRST + 3),
        .thread_id = thread(cursor),
        .graph_exec_id = u64(cursor, FIRST + 4),
        .kernels = u64(cursor, FIRST + 5),
        .start_ns = time_at(cursor, FIRST),
        .end_ns = end_at(cursor, FIRST),
        .correlation_id = u64(cursor, COLUMN_OWN),
        .parent_id = u64(cursor, COLUMN_PARENT),
        .external_id = u64(cursor, COLUMN_EXTERNAL),
    };
    agent_read(cursor, FIRST + 2, &row->agent, &row->node);
}

static void row_read(struct cursor *cursor)
{
    cursor->start_ns =
        (int64_t)time_at(cursor, cursor->kind == SOURCE_DISPATCH ? COLUMN_REST + 5 : COLUMN_REST);
    switch (cursor->kind) {
    case SOURCE_REGION:
    case SOURCE_SAMPLE:
        span_read(cursor);
        break;
    case SOURCE_DISPATCH:
        cursor->table = OUT_KERNEL_TRACE;
        cursor->row.dispatch = dispatch_row(cursor);
        break;
    case SOURCE_COPY:
        copy_read(cursor);
        break;
    case SOURCE_GRAPH:
        graph_read(cursor);
        break;
    default:
        memory_read(cursor);
        break;
    }
}

bool cursor_next(struct cursor *cursor)
{
    bool is_counter = cursor->kind == SOURCE_COUNTER;
    while (is_counter ? counter_next(cursor) : cursor->is_ahead || source_next(&cursor->source)) {
        if (!is_counter)
            row_read(cursor);
        /* A kind that rows.h does not have is passed over, as is one that nobody wants, and a call
         * that says it is a kernel: its row would be read as that. */
        const uint64_t tables = cursor->ask->tables & source_tables(cursor->kind);
        if (cursor->table < OUT_TABLE_COUNT && (tables & 1ull << cursor->table))
            return true;
    }
    cursor->table = OUT_TABLE_COUNT;
    return false;
}
