#include "recording/recording.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include <rocprofiler-sdk/hsa.h>

#include "out/out.h"
#include "recording/unite.h"

enum { ROWS_MAX = 64, PATH_BYTES = 256 };

static char directory[] = "/tmp/recording_test_XXXXXX";
static char error[512];

/* ---- what is written */

static const struct out_agent_row gpu = {.type = "GPU",
                                         .agent = {.node_id = 1,
                                                   .logical_node_id = 1,
                                                   .logical_node_type_id = 0,
                                                   .type = ROCPROFILER_AGENT_TYPE_GPU,
                                                   .name = "gfx90a",
                                                   .vendor_name = "AMD",
                                                   .product_name = "a \"product\"",
                                                   .model_name = "",
                                                   .wave_front_size = 64,
                                                   .cu_count = 104,
                                                   .workgroup_max_dim = {1024, 1023, 1022}}};
static const struct out_code_object object = {.id = 3,
                                              .node = 1,
                                              .uri = "memory://1#offset=2&size=3",
                                              .storage = "MEMORY",
                                              .load_base = 0x7000,
                                              .load_bytes = 4096,
                                              .memory_base = 0x9000,
                                              .memory_bytes = 512,
                                              .load_delta = -16};
static const struct out_kernel kernel = {.id = 7,
                                         .code_object = &object,
                                         .symbol = "_Z3addIiEvPT_.kd",
                                         .name = "void add<int>(int*)",
                                         .demangled = "void add<int>(int*)",
                                         .truncated = "add",
                                         .object = 0x8000,
                                         .address = 0x8100,
                                         .entry_offset_bytes = 256,
                                         .vgprs = 12,
                                         .acc_vgprs = 4,
                                         .sgprs = 32};
static const struct out_counter waves = {.id = 173,
                                         .node = 1,
                                         .name = "SQ_WAVES",
                                         .description = "waves",
                                         .block = "SQ",
                                         .expression = "",
                                         .first_instance = UINT64_C(0xffff) << 48,
                                         .dimension_count = 1,
                                         .dimensions = {{"DIMENSION_INSTANCE", 7, 32, 1 << 30}}};
static const struct out_counter ratio = {.id = 500,
                                         .node = 1,
                                         .name = "Ratio",
                                         .description = "",
                                         .block = "",
                                         .expression = "a/b",
                                         .is_derived = true};

static struct out_api_row call(uint64_t id, uint64_t start_ns, uint64_t end_ns)
{
    return (struct out_api_row){.domain = "HIP_RUNTIME_API",
                                .function = "hipMalloc",
                                .process_id = (uint64_t)getpid(),
                                .thread_id = 78,
                                .correlation_id = id,
                                .start_ns = start_ns,
                                .end_ns = end_ns,
                                .parent_id = 2,
                                .external_id = 9};
}

static struct out_dispatch_row launch(uint64_t id, uint64_t start_ns, uint64_t end_ns)
{
    return (struct out_dispatch_row){.kind = "KERNEL_DISPATCH",
                                     .agent = 1,
                                     .queue_id = 5,
                                     .stream_id = 6,
                                     .process_id = (uint64_t)getpid(),
                                     .thread_id = 78,
                                     .dispatch_id = id,
                                     .kernel_id = 7,
                                     .kernel_name = kernel.name,
                                     .correlation_id = id + 100,
                                     .start_ns = start_ns,
                                     .end_ns = end_ns,
                                     .lds_bytes = 512,
                                     .scratch_bytes = 64,
                                     .vgprs = 12,
                                     .acc_vgprs = 4,
                                     .sgprs = 32,
                                     .workgroup = {64, 2, 1},
                                     .grid = {640, 4, 3},
                                     .workgroup_size = 128,
                                     .grid_size = 7680,
                                     .node = 1,
                                     .kernel = &kernel,
                                     .modelled_ns = id > 1 ? 70 + id : 0};
}

static const struct out_copy_row copy = {.kind = "MEMORY_COPY",
                                         .direction = "MEMORY_COPY_HOST_TO_DEVICE",
                                         .source_agent = 1,
                                         .destination_agent = 1,
                                         .source_node = 1,
                                         .destination_node = 1,
                                         .correlation_id = 31,
                                         .start_ns = 1500,
                                         .end_ns = 1600,
                                         .bytes = 4096,
                                         .thread_id = 78,
                                         .external_id = 2,
                                         .source_address = 0xabc,
                                         .destination_address = 0xdef};
static const struct out_allocation_row allocations[] = {
    {"MEMORY_ALLOCATION", "MEMORY_ALLOCATION_ALLOCATE", 1, 8192, 0xdef, 32, 1010, 1020, 1, 78, 3,
     4},
    {"MEMORY_ALLOCATION", "MEMORY_ALLOCATION_VMEM_FREE", OUT_NO_AGENT, 0, 0xdef, 33, 9010, 9020,
     OUT_NO_AGENT, 78, 0, 0},
};
static const struct out_scratch_row scratch = {"SCRATCH_MEMORY",
                                               "SCRATCH_MEMORY_ALLOC",
                                               1,
                                               5,
                                               78,
                                               ROCPROFILER_SCRATCH_ALLOC_FLAG_USE_ONCE,
                                               1700,
                                               1800,
                                               65536,
                                               34,
                                               1,
                                               35,
                                               0};

/* Addresses that JSON's numbers need not have, and an error, which is negative. */
static struct out_kfd_row migration(void)
{
    return (struct out_kfd_row){
        .kind = "KFD_PAGE_MIGRATE",
        .operation = "KFD_PAGE_MIGRATE_PREFETCH",
        .process_id = (uint64_t)getpid(),
        .start_ns = 5100,
        .end_ns = 5200,
        .agents = {OUT_NO_AGENT, 3, 1, 1, OUT_NO_AGENT} /* 3 is not described */,
        .nodes = {OUT_NO_AGENT, 3, 1, 1, OUT_NO_AGENT},
        .start_address = UINT64_MAX - 4095,
        .end_address = UINT64_MAX,
        .count = 5,
        .error_code = -12};
}

struct sink {
    const struct out_ops *ops;
    struct out_sink *sink;
    char path[PATH_BYTES];
};

static struct sink sink_open(const char *name)
{
    struct sink sink = {.ops = out_find("rocpd")};
    char prefix[PATH_BYTES - 16];
    snprintf(prefix, sizeof prefix, "%s/%s", directory, name);
    snprintf(sink.path, sizeof sink.path, "%s_results.db", prefix);
    unlink(sink.path);
    assert_int_equal(sink.ops->open(prefix, &sink.sink, error, sizeof error), 0);
    return sink;
}

static void put(struct sink *sink, enum out_table_id table, const void *row)
{
    sink->ops->row(sink->sink, table, row);
}

static void put_counter(struct sink *sink, const struct out_counter *counter,
                        struct out_dispatch_row dispatch, double value)
{
    const struct out_counter_row row = {dispatch, counter->name, value, counter};
    put(sink, OUT_COUNTER_COLLECTION, &row);
}

static void sink_close(struct sink *sink)
{
    assert_int_equal(sink->ops->close(sink->sink, error, sizeof error), 0);
}

static const struct out_api_row range = {.domain = "MARKER_CORE_API",
                                         .function = "a \"range\"",
                                         .message = "a \"range\"",
                                         .thread_id = 78,
                                         .correlation_id = 40,
                                         .start_ns = 900,
                                         .end_ns = 9900};
static const struct out_api_row moment = {.domain = "MARKER_CORE_API",
                                          .function = "now",
                                          .message = "now",
                                          .thread_id = 79,
                                          .correlation_id = 41,
                                          .start_ns = 1650,
                                          .end_ns = 1650};

static const struct out_event_row waited = {.kind = "HIP_EVENT",
                                            .operation = "HIP_EVENT_WAIT",
                                            .agent = 1,
                                            .queue_id = 7,
                                            .source_queue_id = 8,
                                            .thread_id = 78,
                                            .event = UINT64_C(0x7f0012345678),
                                            .start_ns = 6100,
                                            .end_ns = 6200,
                                            .correlation_id = 44,
                                            .node = 1};

/* One of each kind, later ones first. */
static struct sink everything_write(const char *name)
{
    struct sink sink = sink_open(name);
    const struct out_api_row second = call(12, 3000, 3000), first = call(11, 1000, 1100);
    const struct out_dispatch_row late = launch(2, 4000, 4500), early = launch(1, 2000, 2750);
    put(&sink, OUT_AGENT_INFO, &gpu);
    put(&sink, OUT_HIP_API, &second);
    put(&sink, OUT_HIP_API, &first);
    put(&sink, OUT_MARKER_API, &moment);
    put(&sink, OUT_MARKER_API, &range);
    put(&sink, OUT_KERNEL_TRACE, &late);
    put(&sink, OUT_KERNEL_TRACE, &early);
    put_counter(&sink, &waves, late, 30);
    put_counter(&sink, &ratio, late, 0.25);
    put_counter(&sink, &waves, early, 10);
    put_counter(&sink, &ratio, early, -1.5);
    put(&sink, OUT_MEMORY_COPY, &copy);
    put(&sink, OUT_MEMORY_ALLOCATION, &allocations[0]);
    put(&sink, OUT_MEMORY_ALLOCATION, &allocations[1]);
    put(&sink, OUT_SCRATCH_MEMORY, &scratch);
    const struct out_kfd_row moved = migration();
    put(&sink, OUT_KFD, &moved);
    put(&sink, OUT_HIP_EVENT, &waited);
    return sink;
}

static struct sink everything(const char *name)
{
    struct sink sink = everything_write(name);
    sink_close(&sink);
    return sink;
}

/* ---- what is read */

struct read_row {
    const struct recording_part *part;
    enum out_table_id table;
    union {
        struct out_api_row api;
        struct out_dispatch_row dispatch;
        struct out_counter_row counter;
        struct out_copy_row copy;
        struct out_allocation_row allocation;
        struct out_scratch_row scratch;
        struct out_kfd_row kfd;
        struct out_event_row event;
        struct out_agent_row agent;
    };
};
static struct {
    struct recording *recording;
    struct read_row rows[ROWS_MAX];
    unsigned count, stop_behind;
} got;

static size_t row_bytes(enum out_table_id table)
{
    return table == OUT_AGENT_INFO           ? sizeof(struct out_agent_row)
           : table == OUT_KERNEL_TRACE       ? sizeof(struct out_dispatch_row)
           : table == OUT_COUNTER_COLLECTION ? sizeof(struct out_counter_row)
           : table == OUT_MEMORY_COPY        ? sizeof(struct out_copy_row)
           : table == OUT_MEMORY_ALLOCATION  ? sizeof(struct out_allocation_row)
           : table == OUT_SCRATCH_MEMORY     ? sizeof(struct out_scratch_row)
           : table == OUT_KFD                ? sizeof(struct out_kfd_row)
           : table == OUT_HIP_EVENT          ? sizeof(struct out_event_row)
                                             : sizeof(struct out_api_row);
}

static int take(void *data, const struct recording_part *part, enum out_table_id table,
                const void *row)
{
    (void)data;
    if (got.count < ROWS_MAX) {
        struct read_row *kept = &got.rows[got.count];
        kept->part = part;
        kept->table = table;
        memcpy(&kept->api, row, row_bytes(table));
    }
    return ++got.count == got.stop_behind ? 5 : 0;
}

static void forget(void)
{
    recording_close(got.recording);
    memset(&got, 0, sizeof got);
}

static int read_file(const char *path, struct recording_ask ask)
{
    unsigned stop_behind = got.stop_behind;
    forget();
    got.stop_behind = stop_behind;
    ask.tables = ask.tables ? ask.tables : RECORDING_ALL;
    int status = recording_open(&got.recording, path, error, sizeof error);
    return status ? status : recording_each(got.recording, &ask, take, NULL, error, sizeof error);
}
#define READ(path, ...) assert_int_equal(read_file(path, (struct recording_ask){__VA_ARGS__}), 0)

/* The n-th row of a table. */
static const struct read_row *of(enum out_table_id table, unsigned n)
{
    for (unsigned i = 0; i < got.count && i < ROWS_MAX; i++)
        if (got.rows[i].table == table && n-- == 0)
            return &got.rows[i];
    fail_msg("there is no such row of %s", out_tables[table].file);
    return NULL;
}

/* Rows of one table are equal in every column that files show. */
static void same_columns(enum out_table_id table, const void *a, const void *b)
{
    for (size_t i = 0; i < out_tables[table].column_count; i++) {
        const struct out_column *column = &out_tables[table].columns[i];
        if (column->type == OUT_TEXT)
            assert_string_equal(out_column_text(column, a), out_column_text(column, b));
        else if (memcmp((const char *)a + column->offset, (const char *)b + column->offset,
                        column->size_bytes) != 0)
            fail_msg("%s of %s", column->name, out_tables[table].file);
    }
}

static void every_row_comes_back(void **state)
{
    (void)state;
    struct sink sink = everything("all");
    const struct out_api_row second = call(12, 3000, 3000), first = call(11, 1000, 1100);
    const struct out_dispatch_row late = launch(2, 4000, 4500), early = launch(1, 2000, 2750);
    const struct out_counter_row waves_late = {late, "SQ_WAVES", 30, &waves},
                                 ratio_early = {early, "Ratio", -1.5, &ratio};
    struct out_api_row range_here = range, moment_here = moment;
    range_here.process_id = moment_here.process_id = (uint64_t)getpid();
    READ(sink.path);
    assert_null(recording_damage(got.recording));
    assert_int_equal(got.count, 1 + 4 + 2 + 4 + 1 + 2 + 1 + 1 + 1);
    assert_int_equal(recording_part_count(got.recording), 1);
    assert_int_equal(recording_part(got.recording, 0)->pid, getpid());
    assert_non_null(strstr(recording_part(got.recording, 0)->command, "recording"));
    same_columns(OUT_AGENT_INFO, &of(OUT_AGENT_INFO, 0)->agent, &gpu);
    same_columns(OUT_HIP_API, &of(OUT_HIP_API, 0)->api, &second);
    same_columns(OUT_HIP_API, &of(OUT_HIP_API, 1)->api, &first);
    same_columns(OUT_MARKER_API, &of(OUT_MARKER_API, 0)->api, &range_here);
    same_columns(OUT_MARKER_API, &of(OUT_MARKER_API, 1)->api, &moment_here);
    same_columns(OUT_KERNEL_TRACE, &of(OUT_KERNEL_TRACE, 0)->dispatch, &early); /* by dispatch */
    same_columns(OUT_KERNEL_TRACE, &of(OUT_KERNEL_TRACE, 1)->dispatch, &late);
    same_columns(OUT_MODELLED_TIME, &of(OUT_KERNEL_TRACE, 0)->dispatch, &early);
    same_columns(OUT_MODELLED_TIME, &of(OUT_KERNEL_TRACE, 1)->dispatch, &late);
    same_columns(OUT_COUNTER_COLLECTION, &of(OUT_COUNTER_COLLECTION, 1)->counter, &ratio_early);
    same_columns(OUT_COUNTER_COLLECTION, &of(OUT_COUNTER_COLLECTION, 2)->counter, &waves_late);
    same_columns(OUT_MEMORY_COPY, &of(OUT_MEMORY_COPY, 0)->copy, &copy);
    same_columns(OUT_MEMORY_ALLOCATION, &of(OUT_MEMORY_ALLOCATION, 0)->allocation, &allocations[0]);
    same_columns(OUT_MEMORY_ALLOCATION, &of(OUT_MEMORY_ALLOCATION, 1)->allocation, &allocations[1]);
    same_columns(OUT_SCRATCH_MEMORY, &of(OUT_SCRATCH_MEMORY, 0)->scratch, &scratch);
    const struct out_kfd_row moved = migration();
    same_columns(OUT_KFD, &of(OUT_KFD, 0)->kfd, &moved);
    assert_memory_equal(of(OUT_KFD, 0)->kfd.nodes, moved.nodes, sizeof moved.nodes);
    same_columns(OUT_HIP_EVENT, &of(OUT_HIP_EVENT, 0)->event, &waited);
    assert_int_equal(of(OUT_HIP_EVENT, 0)->event.node, 1);
}

/* What files do not show. */
static void what_rows_refer_to_comes_back(void **state)
{
    (void)state;
    READ(everything("all").path);
    const struct out_dispatch_row *row = &of(OUT_KERNEL_TRACE, 0)->dispatch;
    assert_string_equal(row->kernel->symbol, kernel.symbol);
    assert_int_equal(row->kernel->object, kernel.object);
    assert_int_equal(row->kernel->address, kernel.address);
    assert_int_equal(row->kernel->code_object->load_delta, -16);
    assert_int_equal(row->kernel->code_object->memory_bytes, 512);
    assert_string_equal(row->kernel->code_object->uri, object.uri);
    assert_int_equal(row->node, 1);
    assert_int_equal(of(OUT_COUNTER_COLLECTION, 0)->counter.counter->id, 173);
    assert_string_equal(of(OUT_COUNTER_COLLECTION, 1)->counter.counter->expression, "a/b");
    assert_true(of(OUT_COUNTER_COLLECTION, 1)->counter.counter->is_derived);
    const struct out_counter *counter = of(OUT_COUNTER_COLLECTION, 0)->counter.counter;
    assert_int_equal(counter->dimension_count, 1);
    assert_string_equal(counter->dimensions[0].name, "DIMENSION_INSTANCE");
    assert_int_equal(counter->dimensions[0].size, 32);
    assert_int_equal(counter->dimensions[0].step, 1 << 30);
    assert_int_equal(counter->first_instance, UINT64_C(0xffff) << 48);
    assert_int_equal(of(OUT_HIP_API, 0)->api.parent_id, 2);
    assert_int_equal(of(OUT_HIP_API, 0)->api.external_id, 9);
    assert_null(of(OUT_HIP_API, 0)->api.message);
    assert_string_equal(of(OUT_MARKER_API, 1)->api.message, "now");
    assert_int_equal(of(OUT_MEMORY_COPY, 0)->copy.destination_address, 0xdef);
    assert_int_equal(of(OUT_MEMORY_COPY, 0)->copy.bytes, 4096);
    assert_int_equal(of(OUT_SCRATCH_MEMORY, 0)->scratch.parent_id, 35);
    assert_ptr_equal(of(OUT_HIP_API, 0)->api.function, of(OUT_HIP_API, 1)->api.function);
}

static uint64_t start_of(const struct read_row *row)
{
    switch (row->table) {
    case OUT_KERNEL_TRACE:
        return row->dispatch.start_ns;
    case OUT_COUNTER_COLLECTION:
        return row->counter.dispatch.start_ns;
    case OUT_MEMORY_COPY:
        return row->copy.start_ns;
    case OUT_MEMORY_ALLOCATION:
        return row->allocation.start_ns;
    case OUT_SCRATCH_MEMORY:
        return row->scratch.start_ns;
    case OUT_KFD:
        return row->kfd.start_ns;
    case OUT_HIP_EVENT:
        return row->event.start_ns;
    default:
        return row->api.start_ns;
    }
}

static void rows_come_by_time(void **state)
{
    static const uint64_t starts[] = {900,  1000, 1010, 1500, 1650, 1700, 2000, 2000,
                                      2000, 3000, 4000, 4000, 4000, 5100, 6100, 9010};
    (void)state;
    READ(everything("all").path, .order = RECORDING_BY_TIME);
    assert_int_equal(got.count, 17);
    assert_int_equal(got.rows[0].table, OUT_AGENT_INFO);
    for (int i = 0; i < 16; i++)
        assert_int_equal(start_of(&got.rows[1 + i]), starts[i]);
}

static void one_may_ask_for_less(void **state)
{
    (void)state;
    struct sink sink = everything("all");
    READ(sink.path, .tables = 1ull << OUT_KERNEL_TRACE);
    assert_int_equal(got.count, 2);
    READ(sink.path, .tables = 1ull << OUT_SCRATCH_MEMORY);
    assert_int_equal(got.count, 1);
    for (int order = RECORDING_AS_WRITTEN; order <= RECORDING_BY_TIME; order++) {
        READ(sink.path, .order = (enum recording_order)order, .begin_ns = 2750, .end_ns = 3000);
        assert_int_equal(got.count,
                         1 + 2 + 1 + 2); /* agent, range and call, kernel, its counters */
    }
    got.stop_behind = 3;
    assert_int_equal(read_file(sink.path, (struct recording_ask){0}), 5);
    assert_int_equal(got.count, 3);
    got.stop_behind = 0;
}

static void names_and_agents_as_wanted(void **state)
{
    (void)state;
    struct sink sink = everything("all");
    READ(sink.path, .names = RECORDING_MANGLED, .agents = RECORDING_TYPE_RELATIVE);
    assert_string_equal(of(OUT_KERNEL_TRACE, 0)->dispatch.kernel_name, kernel.symbol);
    assert_true(of(OUT_KERNEL_TRACE, 0)->dispatch.agent == OUT_AGENT_GPU);
    READ(sink.path, .names = RECORDING_TRUNCATED, .agents = RECORDING_ABSOLUTE);
    assert_string_equal(of(OUT_COUNTER_COLLECTION, 0)->counter.dispatch.kernel_name, "add");
    assert_true(of(OUT_KERNEL_TRACE, 0)->dispatch.agent == 1);
}

static void renamed_kernels(void **state)
{
    (void)state;
    struct sink sink = sink_open("renamed");
    struct out_dispatch_row row = launch(1, 1, 2);
    row.kernel_name = row.region = "phase 1";
    put(&sink, OUT_KERNEL_TRACE, &row);
    sink_close(&sink);
    READ(sink.path);
    assert_string_equal(of(OUT_KERNEL_TRACE, 0)->dispatch.kernel_name, "phase 1");
    assert_string_equal(of(OUT_KERNEL_TRACE, 0)->dispatch.region, "phase 1");
    READ(sink.path, .by_symbol = true);
    assert_string_equal(of(OUT_KERNEL_TRACE, 0)->dispatch.kernel_name, kernel.name);
}

/* ---- databases that others have made */

static void sql_run(const char *path, const char *sql)
{
    sqlite3 *database;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(database);
}

/* The table's name with its suffix, in `sql` for %s. */
static void sql_on(const char *path, const char *table, const char *sql)
{
    char name[128], text[1024];
    struct recording *recording;
    assert_int_equal(recording_open(&recording, path, error, sizeof error), 0);
    snprintf(name, sizeof name, "\"rocpd_%s%s\"", table, recording_part(recording, 0)->suffix);
    recording_close(recording);
    snprintf(text, sizeof text, sql, name, name);
    sql_run(path, text);
}

/* A value for each instance of a counter, and an API's function as the marker's name. */
static void rocprofv3_writes_otherwise(void **state)
{
    (void)state;
    struct sink sink = everything("all");
    sql_on(sink.path, "pmc_event",
           "INSERT INTO %s (event_id, pmc_id, value) SELECT event_id, pmc_id, 5 FROM %s WHERE "
           "pmc_id = 173");
    sql_on(sink.path, "string",
           "UPDATE %s SET string = 'roctxRangePushA' WHERE string LIKE 'a %%'");
    sql_on(sink.path, "metadata", "UPDATE %s SET value = '3.0.1' WHERE tag = 'schema_version'");
    READ(sink.path);
    assert_int_equal(got.count, 17);
    assert_true(of(OUT_COUNTER_COLLECTION, 0)->counter.counter_value == 15);
    assert_true(of(OUT_COUNTER_COLLECTION, 1)->counter.counter_value == -1.5);
    assert_true(of(OUT_COUNTER_COLLECTION, 2)->counter.counter_value == 35);
    assert_string_equal(of(OUT_MARKER_API, 0)->api.function, "a \"range\"");
}

static void rows_may_lack_what_they_refer_to(void **state)
{
    (void)state;
    struct sink sink = everything("all");
    sql_on(sink.path, "event", "DELETE FROM %s WHERE id = 2");
    sql_on(sink.path, "info_kernel_symbol", "DELETE FROM %s");
    sql_on(sink.path, "event", "UPDATE %s SET extdata = '{broken' WHERE length(extdata) > 2");
    READ(sink.path);
    assert_string_equal(of(OUT_KERNEL_TRACE, 0)->dispatch.kernel_name, "");
    assert_string_equal(of(OUT_MARKER_API, 0)->api.function, "a \"range\"");
    sql_on(sink.path, "sample", "DROP TABLE %s");
    READ(sink.path);
    assert_non_null(strstr(recording_damage(got.recording), "rocpd_sample"));
    assert_int_equal(of(OUT_SCRATCH_MEMORY, 0)->scratch.bytes, 65536);
}

static void no_record_ends_before_it_begins(void **state)
{
    (void)state;
    struct sink sink = everything("backwards");
    sql_on(sink.path, "kernel_dispatch", "UPDATE %s SET \"end\" = start - 7");
    READ(sink.path);
    const struct out_dispatch_row *row = &of(OUT_KERNEL_TRACE, 0)->dispatch;
    assert_int_equal(row->end_ns, row->start_ns);
    assert_non_null(strstr(recording_damage(got.recording), "ends before it begins"));
}

/* Flags of scratch memory are a number as a text; crocprof used to write their names. */
static void flags_of_scratch_memory(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        uint64_t flags;
    } texts[] = {{"UPDATE %s SET extdata = '{\"flags\":\"2\"}'", 2},
                 {"UPDATE %s SET extdata = '{\"flags\":\"USE_ONCE\"}'", 1},
                 {"UPDATE %s SET extdata = '{\"flags\":\"USE_ONCE|ALT\"}'", 3},
                 {"UPDATE %s SET extdata = '{\"flags\":\"\"}'", 0},
                 {"UPDATE %s SET extdata = '{}'", 0}};
    struct sink sink = everything("all");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sql_on(sink.path, "memory_allocate", texts[i].sql);
        READ(sink.path);
        assert_int_equal(of(OUT_SCRATCH_MEMORY, 0)->scratch.flags, texts[i].flags);
    }
}

/* Two sets of tables in one file, as merged databases have. */
static void processes_in_one_file(void **state)
{
    (void)state;
    char sql[PATH_BYTES + 64], *create = NULL;
    struct sink a = everything("a"), b = everything("b");
    sqlite3 *database;
    sqlite3_stmt *tables;
    assert_int_equal(sqlite3_open(a.path, &database), SQLITE_OK);
    snprintf(sql, sizeof sql, "ATTACH '%s' AS b", b.path);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database,
                                        "SELECT name FROM b.sqlite_master WHERE type = 'table' AND "
                                        "name LIKE 'rocpd%'",
                                        -1, &tables, NULL),
                     SQLITE_OK);
    while (sqlite3_step(tables) == SQLITE_ROW) {
        create = sqlite3_mprintf("%s CREATE TABLE \"%w\" AS SELECT * FROM b.\"%w\";",
                                 create ? create : "", sqlite3_column_text(tables, 0),
                                 sqlite3_column_text(tables, 0));
    }
    sqlite3_finalize(tables);
    assert_int_equal(sqlite3_exec(database, create, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_free(create);
    sqlite3_close(database);
    READ(a.path, .order = RECORDING_BY_TIME);
    assert_int_equal(recording_part_count(got.recording), 2);
    assert_int_equal(got.count, 34);
    for (unsigned i = 3; i < got.count; i++)
        assert_true(start_of(&got.rows[i - 1]) <= start_of(&got.rows[i]));
    assert_ptr_not_equal(got.rows[2].part, got.rows[3].part);
    struct recording_ask ask = {.tables = RECORDING_ALL, .part = recording_part(got.recording, 1)};
    got.count = 0;
    assert_int_equal(recording_each(got.recording, &ask, take, NULL, error, sizeof error), 0);
    assert_int_equal(got.count, 17);
    assert_ptr_equal(got.rows[15].part, ask.part);
}

/* ---- what is damaged, or no recording */

static void a_damaged_file_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    enum { CALLS = 20000 };
    struct sink sink = sink_open("damaged");
    struct stat status;
    for (uint64_t i = 1; i <= CALLS; i++) {
        const struct out_api_row row = call(i, 10 * i, 10 * i + 5);
        put(&sink, OUT_HIP_API, &row);
    }
    sink_close(&sink);
    assert_int_equal(stat(sink.path, &status), 0);
    assert_int_equal(truncate(sink.path, status.st_size / 16384 * 16384 / 2), 0);
    READ(sink.path);
    assert_non_null(recording_damage(got.recording));
    assert_ptr_equal(strstr(recording_damage(got.recording), sink.path),
                     recording_damage(got.recording));
    assert_true(got.count > CALLS / 10 && got.count < CALLS);
    for (unsigned i = 0; i < ROWS_MAX; i++)
        assert_int_equal(got.rows[i].api.correlation_id, i + 1);
}

/* As a process that is killed leaves it: rows of a transaction that never ended. */
static void a_journal_is_played_back(void **state)
{
    (void)state;
    struct sink sink = everything("killed");
    sqlite3 *database;
    char sql[256], copied[PATH_BYTES + 16], command[5 * PATH_BYTES];
    READ(sink.path);
    snprintf(sql, sizeof sql,
             "PRAGMA cache_size = 1; BEGIN; DELETE FROM \"rocpd_region%s\"; DELETE "
             "FROM \"rocpd_event%s\"",
             recording_part(got.recording, 0)->suffix, recording_part(got.recording, 0)->suffix);
    forget();
    assert_int_equal(sqlite3_open(sink.path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_db_cacheflush(database), SQLITE_OK);
    snprintf(copied, sizeof copied, "%s.copy", sink.path);
    snprintf(command, sizeof command, "cp '%s' '%s'; cp '%s-journal' '%s-journal'", sink.path,
             copied, sink.path, copied);
    assert_int_equal(system(command), 0);
    sqlite3_close(database);
    READ(copied);
    assert_int_equal(got.count, 17);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    char path[PATH_BYTES];
    struct recording *recording;
    snprintf(path, sizeof path, "%s/other", directory);
    assert_int_equal(recording_open(&recording, path, error, sizeof error), -ENOENT);
    assert_non_null(strstr(error, path));
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("no database at all\n", file);
    fclose(file);
    assert_int_equal(recording_open(&recording, path, error, sizeof error), -EINVAL);
    assert_non_null(strstr(error, "not a database"));
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(recording_open(&recording, path, error, sizeof error), -EINVAL);
    sql_run(path, "CREATE TABLE a (b)");
    assert_int_equal(recording_open(&recording, path, error, sizeof error), -EINVAL);
    assert_non_null(strstr(error, "no tables of rocpd"));
    assert_int_not_equal(recording_open(&recording, directory, error, sizeof error), 0);
    struct sink sink = everything("version");
    sql_on(sink.path, "metadata", "UPDATE %s SET value = '4.1.0' WHERE tag = 'schema_version'");
    assert_int_equal(recording_open(&recording, sink.path, error, sizeof error), -EINVAL);
    assert_non_null(strstr(error, "4.1.0"));
}

static int after(void **state)
{
    (void)state;
    forget();
    return 0;
}

static int directory_make(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int directory_remove(void **state)
{
    (void)state;
    char command[PATH_BYTES];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    return system(command);
}

/* Bytes of any name, those that mean something in a URI as numbers. */
static void a_file_of_any_name(void **state)
{
    (void)state;
    char *uri = recording_uri("/a b/\xc3\xbc\xff'%?#&.db", "mode=ro");
    assert_string_equal(uri, "file:/a b/\xc3\xbc\xff'%25%3f%23&.db?mode=ro");
    sqlite3_free(uri);
}

static int64_t number_of(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *select = NULL;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &select, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(select), SQLITE_ROW);
    int64_t number = sqlite3_column_int64(select, 0);
    sqlite3_finalize(select);
    return number;
}

/* A job may have more processes than SQLite takes terms. */
static void a_view_over_as_many_tables_as_there_are(void **state)
{
    static const unsigned counts[] = {1, 250, 251, 501, 1100};
    static char names[1100][8];
    static struct unite_table tables[1100];
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        sqlite3 *database;
        assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
        for (unsigned i = 0; i < counts[c]; i++) {
            snprintf(names[i], sizeof names[i], "t%u", i);
            char *sql = sqlite3_mprintf("CREATE TABLE t%u (n%s); INSERT INTO t%u (n) VALUES (%u)",
                                        i, i % 3 ? "" : ", more", i, i);
            assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
            sqlite3_free(sql);
            tables[i] = (struct unite_table){"main", names[i]};
        }
        char *terms = unite_terms(database, tables, counts[c], " WHERE n > 0");
        char *view = sqlite3_mprintf("CREATE VIEW v AS %s", terms);
        assert_int_equal(sqlite3_exec(database, view, NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(number_of(database, "SELECT count(*) FROM v"), counts[c] - 1);
        assert_int_equal(number_of(database, "SELECT coalesce(sum(n), 0) FROM v"),
                         counts[c] * (counts[c] - 1) / 2);
        sqlite3_free(view);
        sqlite3_free(terms);
        sqlite3_close(database);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_row_comes_back, after),
        cmocka_unit_test_teardown(what_rows_refer_to_comes_back, after),
        cmocka_unit_test_teardown(rows_come_by_time, after),
        cmocka_unit_test_teardown(one_may_ask_for_less, after),
        cmocka_unit_test(a_file_of_any_name),
        cmocka_unit_test(a_view_over_as_many_tables_as_there_are),
        cmocka_unit_test_teardown(names_and_agents_as_wanted, after),
        cmocka_unit_test_teardown(renamed_kernels, after),
        cmocka_unit_test_teardown(rocprofv3_writes_otherwise, after),
        cmocka_unit_test_teardown(rows_may_lack_what_they_refer_to, after),
        cmocka_unit_test_teardown(no_record_ends_before_it_begins, after),
        cmocka_unit_test_teardown(flags_of_scratch_memory, after),
        cmocka_unit_test_teardown(processes_in_one_file, after),
        cmocka_unit_test_teardown(a_damaged_file_is_read_as_far_as_it_goes, after),
        cmocka_unit_test_teardown(a_journal_is_played_back, after),
        cmocka_unit_test_teardown(other_files_are_refused, after),
    };
    return cmocka_run_group_tests(tests, directory_make, directory_remove);
}
