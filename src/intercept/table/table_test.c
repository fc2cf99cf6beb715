/* Tables of libraries of other releases than ours, played by this program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/test/children.h"

#include <rocprofiler-sdk/hip.h>

#include "intercept/event_call.h"
#include "intercept/hip/runtime.h"
#include "intercept/hsa/test/trace_double.h"
#include "intercept/launched.h"
#include "intercept/table/install.h"
#include "intercept/table/table.h"

enum {
    MALLOC = ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc,
    FREE = ROCPROFILER_HIP_RUNTIME_API_ID_hipFree,
    NEWEST = ROCPROFILER_HIP_RUNTIME_API_ID_LAST - 1,
    SLOTS = ROCPROFILER_HIP_RUNTIME_API_ID_LAST,
    UNKNOWN_SLOTS = 40, /* of a release after ours */
};

struct hip_table {
    uint64_t size;
    void *slots[SLOTS + UNKNOWN_SLOTS];
};

typedef hipError_t (*malloc_fn)(void **, size_t);
typedef hipError_t (*free_fn)(void *);

static int malloc_calls, free_calls, other_malloc_calls, unexpected_calls;

static hipError_t fake_malloc(void **pointer, size_t size)
{
    malloc_calls++;
    *pointer = (void *)(uintptr_t)size;
    return size == 13 ? hipErrorOutOfMemory : hipSuccess;
}

static hipError_t other_malloc(void **pointer, size_t size)
{
    other_malloc_calls++;
    *pointer = (void *)(uintptr_t)(size + 1);
    return hipSuccess;
}

static hipError_t fake_free(void *pointer)
{
    (void)pointer;
    free_calls++;
    return hipSuccess;
}

static hipError_t unexpected(void)
{
    unexpected_calls++;
    return hipErrorUnknown;
}

enum {
    GRAPH_CREATE = ROCPROFILER_HIP_RUNTIME_API_ID_hipGraphInstantiate,
    GRAPH_DESTROY = ROCPROFILER_HIP_RUNTIME_API_ID_hipGraphExecDestroy,
    GRAPH_LAUNCH = ROCPROFILER_HIP_RUNTIME_API_ID_hipGraphLaunch,
    EVENT_RECORD = ROCPROFILER_HIP_RUNTIME_API_ID_hipEventRecord,
    EVENT_WAIT = ROCPROFILER_HIP_RUNTIME_API_ID_hipStreamWaitEvent,
};
static hipGraphExec_t const some_graph = (hipGraphExec_t)(uintptr_t)0x6000;

static struct event_call event_seen;

static hipError_t fake_event_record(hipEvent_t event, hipStream_t stream)
{
    (void)event, (void)stream;
    event_seen = event_call_here;
    event_call_take(55);
    return hipSuccess;
}

static hipError_t fake_event_wait(hipStream_t stream, hipEvent_t event, unsigned flags)
{
    (void)stream, (void)event, (void)flags;
    event_seen = event_call_here;
    return hipSuccess;
}

static hipError_t fake_graph_create(hipGraphExec_t *made, hipGraph_t graph, hipGraphNode_t *node,
                                    void *text, size_t text_bytes)
{
    (void)graph, (void)node, (void)text, (void)text_bytes;
    *made = some_graph;
    return hipSuccess;
}

static hipError_t fake_graph_destroy(hipGraphExec_t graph)
{
    return graph == some_graph ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t fake_graph_launch(hipGraphExec_t graph, hipStream_t stream)
{
    (void)stream;
    launched_note(4, (rocprofiler_agent_id_t){9});
    return graph == some_graph ? hipSuccess : hipErrorInvalidValue;
}

static void table_fill(struct hip_table *table, uint32_t slots, malloc_fn allocate)
{
    memset(table, 0, sizeof *table);
    table->size = sizeof table->size + slots * sizeof(void *);
    for (uint32_t i = 0; i < slots; i++)
        table->slots[i] = (void *)unexpected;
    table->slots[MALLOC] = (void *)allocate;
    table->slots[FREE] = (void *)fake_free;
    table->slots[GRAPH_CREATE] = (void *)fake_graph_create;
    table->slots[GRAPH_DESTROY] = (void *)fake_graph_destroy;
    table->slots[GRAPH_LAUNCH] = (void *)fake_graph_launch;
    table->slots[EVENT_RECORD] = (void *)fake_event_record;
    table->slots[EVENT_WAIT] = (void *)fake_event_wait;
}

static const struct runtime_row row_hip = {.kind = RUNTIME_HIP, .name = "hip"},
                                row_compiler = {.kind = RUNTIME_HIP_COMPILER,
                                                .name = "hip_compiler"},
                                row_unknown = {.kind = RUNTIME_ROCATTACH, .name = "rocattach"};

static bool offer(void *table)
{
    return hip_runtime_ops.install(&row_hip, &table, 70000);
}

static struct hip_table table;

/* ---- streams, with no HIP function configured for itself */

enum {
    STREAM_CREATE = ROCPROFILER_HIP_RUNTIME_API_ID_hipStreamCreate,
    STREAM_DESTROY = ROCPROFILER_HIP_RUNTIME_API_ID_hipStreamDestroy,
    STREAM_WAIT = ROCPROFILER_HIP_RUNTIME_API_ID_hipStreamSynchronize,
};
static hipStream_t const some_stream = (hipStream_t)(uintptr_t)0x5000;

static hipError_t fake_stream_create(hipStream_t *stream)
{
    if (!stream)
        return hipErrorInvalidValue;
    *stream = some_stream;
    return hipSuccess;
}

static hipError_t fake_stream_call(hipStream_t stream)
{
    (void)stream;
    return hipSuccess;
}

typedef hipError_t (*stream_create_fn)(hipStream_t *);
typedef hipError_t (*stream_fn)(hipStream_t);

static const struct double_entry *stream_event(int32_t operation, uint32_t n)
{
    const struct double_entry *entry = double_entry(DOUBLE_CALL, TRACE_HIP_STREAM, operation, n);
    assert_non_null(entry);
    return entry;
}

static void streams_are_numbered_and_followed(void **state)
{
    (void)state;
    double_reset();
    double_listen(TRACE_HIP_STREAM, -1);
    table_fill(&table, SLOTS, fake_malloc);
    table.slots[STREAM_CREATE] = (void *)fake_stream_create;
    table.slots[STREAM_DESTROY] = table.slots[STREAM_WAIT] = (void *)fake_stream_call;
    assert_true(offer(&table));
    assert_ptr_equal(table.slots[MALLOC], (void *)fake_malloc);
    stream_create_fn create = (stream_create_fn)table.slots[STREAM_CREATE];
    stream_fn destroy = (stream_fn)table.slots[STREAM_DESTROY];
    stream_fn wait = (stream_fn)table.slots[STREAM_WAIT];
    assert_ptr_not_equal((void *)wait, (void *)fake_stream_call);
    hipStream_t stream;
    uint64_t numbers[2];
    for (uint32_t round = 0; round < 2; round++) { /* HIP uses the handle again */
        assert_int_equal(create(&stream), hipSuccess);
        assert_int_equal(wait(stream), hipSuccess);
        assert_int_equal(destroy(stream), hipSuccess);
        const struct double_entry *made = stream_event(ROCPROFILER_HIP_STREAM_CREATE, round);
        numbers[round] = made->payload.stream.stream_id.handle;
        assert_ptr_equal(made->payload.stream.stream_value.ptr, some_stream);
        const struct double_entry *enter = stream_event(ROCPROFILER_HIP_STREAM_SET, 2 * round);
        assert_int_equal(enter->phase, ROCPROFILER_CALLBACK_PHASE_ENTER);
        assert_int_equal(enter->payload.stream.stream_id.handle, numbers[round]);
        assert_int_equal(stream_event(ROCPROFILER_HIP_STREAM_SET, 2 * round + 1)->phase,
                         ROCPROFILER_CALLBACK_PHASE_EXIT);
        assert_int_equal(
            stream_event(ROCPROFILER_HIP_STREAM_DESTROY, round)->payload.stream.stream_id.handle,
            numbers[round]);
    }
    assert_int_not_equal(numbers[0], numbers[1]);
    assert_int_not_equal(numbers[0], 0);
    assert_int_equal(create(NULL), hipErrorInvalidValue); /* made none */
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_HIP_STREAM, ROCPROFILER_HIP_STREAM_CREATE), 2);
    assert_int_equal(wait(NULL), hipSuccess);
    assert_int_equal(stream_event(ROCPROFILER_HIP_STREAM_SET, 4)->payload.stream.stream_id.handle,
                     0);
    assert_int_equal(double_count(DOUBLE_API_ENTER, TRACE_HIP_RUNTIME_API, -1), 0);
    assert_int_equal(double_open_events(), 0);
    double_unlisten(TRACE_HIP_STREAM);
    assert_int_equal(wait(stream), hipSuccess);
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_HIP_STREAM, ROCPROFILER_HIP_STREAM_SET), 6);
}

/* ---- instantiated graphs, the same */

typedef hipError_t (*graph_create_fn)(hipGraphExec_t *, hipGraph_t, hipGraphNode_t *, void *,
                                      size_t);
typedef hipError_t (*graph_destroy_fn)(hipGraphExec_t);
typedef hipError_t (*graph_launch_fn)(hipGraphExec_t, hipStream_t);

static void graphs_are_numbered_and_their_launches_recorded(void **state)
{
    const int32_t launch_told = ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_LAUNCH;
    hipGraphExec_t graph;
    (void)state;
    double_reset();
    double_listen(TRACE_HIP_GRAPH, -1);
    double_listen(TRACE_HIP_STREAM, -1);
    table_fill(&table, SLOTS, fake_malloc);
    assert_true(offer(&table));
    graph_launch_fn launch = (graph_launch_fn)table.slots[GRAPH_LAUNCH];
    assert_int_equal(((graph_create_fn)table.slots[GRAPH_CREATE])(&graph, NULL, NULL, NULL, 0),
                     hipSuccess);
    assert_int_equal(launch(graph, some_stream), hipSuccess);
    assert_int_equal(launch((hipGraphExec_t)(uintptr_t)0x7000, some_stream), hipErrorInvalidValue);
    assert_int_equal(((graph_destroy_fn)table.slots[GRAPH_DESTROY])(graph), hipSuccess);
    const struct double_entry *made =
        double_entry(DOUBLE_CALL, TRACE_HIP_GRAPH, ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_CREATE, 0);
    const struct double_entry *record =
        double_entry(DOUBLE_RECORD, TRACE_HIP_GRAPH, launch_told, 0);
    assert_non_null(made);
    assert_non_null(record);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_HIP_GRAPH, -1), 1);
    assert_int_equal(record->payload.graph_record.graph_exec_id.handle,
                     made->payload.graph.graph_exec_id.handle);
    assert_int_equal(record->payload.graph_record.kernel_dispatch_count, 4);
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_HIP_GRAPH, launch_told), 4);
    /* the launch is in its stream, too */
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_HIP_STREAM, ROCPROFILER_HIP_STREAM_SET), 4);
    assert_int_equal(double_open_events(), 0);
}

/* Reported where their packets are seen. */
static void calls_for_events_are_open_meanwhile(void **state)
{
    const hipEvent_t event = (hipEvent_t)(uintptr_t)0x9000;
    (void)state;
    double_reset();
    double_listen(TRACE_HIP_EVENT, -1);
    table_fill(&table, SLOTS, fake_malloc);
    assert_true(offer(&table));
    hipError_t (*record)(hipEvent_t, hipStream_t) =
        (hipError_t(*)(hipEvent_t, hipStream_t))table.slots[EVENT_RECORD];
    hipError_t (*wait)(hipStream_t, hipEvent_t, unsigned) =
        (hipError_t(*)(hipStream_t, hipEvent_t, unsigned))table.slots[EVENT_WAIT];
    assert_int_equal(record(event, some_stream), hipSuccess);
    assert_int_equal(event_seen.operation, ROCPROFILER_HIP_EVENT_RECORD);
    assert_int_equal(event_seen.event, (uintptr_t)event);
    assert_int_equal(wait(some_stream, event, 0), hipSuccess);
    assert_int_equal(event_seen.operation, ROCPROFILER_HIP_EVENT_WAIT);
    assert_int_equal(event_seen.source_queue, 55);
    assert_int_equal(event_call_here.operation, 0);
    double_unlisten(TRACE_HIP_EVENT);
    assert_int_equal(record(event, some_stream), hipSuccess);
    assert_int_equal(event_seen.operation, 0);
}

static void only_configured_slots_are_wrapped(void **state)
{
    (void)state;
    double_reset();
    double_listen(TRACE_HIP_RUNTIME_API, MALLOC);
    table_fill(&table, SLOTS + UNKNOWN_SLOTS, fake_malloc);
    struct hip_table before = table;
    assert_true(offer(&table));
    for (uint32_t i = 0; i < SLOTS + UNKNOWN_SLOTS; i++)
        if (i == MALLOC)
            assert_ptr_not_equal(table.slots[i], before.slots[i]);
        else
            assert_ptr_equal(table.slots[i], before.slots[i]);

    void *pointer = NULL;
    assert_int_equal(((malloc_fn)table.slots[MALLOC])(&pointer, 13), hipErrorOutOfMemory);
    assert_ptr_equal(pointer, (void *)13);
    const struct double_entry *entry =
        double_entry(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API, MALLOC, 0);
    assert_non_null(entry);
    assert_ptr_equal(entry->payload.hip.args.hipMalloc.ptr, &pointer);
    assert_int_equal(entry->payload.hip.args.hipMalloc.size, 13);
    assert_int_equal(entry->payload.hip.retval.hipError_t_retval, hipErrorOutOfMemory);

    double_unlisten(TRACE_HIP_RUNTIME_API);
    assert_int_equal(((malloc_fn)table.slots[MALLOC])(&pointer, 5), hipSuccess);
    assert_int_equal(double_count(DOUBLE_API_ENTER, TRACE_HIP_RUNTIME_API, -1), 1);
    assert_int_equal(malloc_calls, 2);
}

/* By value: wider than registers, and dim3, which the SDK's structure holds in a type of its own.
 */
static rocprofiler_dim3_t seen_grid;
typedef hipError_t (*configure_fn)(dim3, dim3, size_t, hipStream_t);

static hipError_t fake_configure(dim3 grid, dim3 block, size_t shared, hipStream_t stream)
{
    (void)block, (void)stream;
    seen_grid = (rocprofiler_dim3_t){grid.x, grid.y, grid.z};
    return shared == 64 ? hipSuccess : hipErrorInvalidValue;
}

/* The last byte of the table is the last byte of its page. */
static void nothing_behind_a_short_table_is_touched(void **state)
{
    (void)state;
    enum { PUSH = ROCPROFILER_HIP_COMPILER_API_ID___hipPushCallConfiguration };
    double_reset();
    double_listen(TRACE_HIP_COMPILER_API, -1);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    uint64_t bytes = sizeof(uint64_t) + (PUSH + 1) * sizeof(void *);
    void *table_end = memory + page - bytes;
    memcpy(table_end, &bytes, sizeof bytes);
    void **slots = (void **)table_end + 1;
    slots[0] = (void *)unexpected;
    slots[PUSH] = (void *)fake_configure;
    assert_true(intercept_table_install(&row_compiler, &table_end, 70000));
    configure_fn push = (configure_fn)slots[PUSH];
    dim3 one = {1, 1, 1};
    assert_int_equal(push(one, one, 64, NULL), hipSuccess);
    assert_int_equal(double_count(DOUBLE_API_EXIT, TRACE_HIP_COMPILER_API, PUSH), 1);

    /* a table of nothing but its size */
    table_end = memory + page - sizeof(uint64_t);
    bytes = sizeof(uint64_t);
    memcpy(table_end, &bytes, sizeof bytes);
    assert_false(intercept_table_install(&row_compiler, &table_end, 70000));
    munmap(memory, 2 * page);
}

/* The same table again: what was not configured then is wrapped now. */
static void empty_slots_stay_empty(void **state)
{
    (void)state;
    double_reset();
    double_listen(TRACE_HIP_RUNTIME_API, -1);
    table.slots[FREE] = table.slots[NEWEST] = NULL;
    assert_true(offer(&table));
    assert_null(table.slots[FREE]);
    assert_null(table.slots[NEWEST]);
    assert_ptr_not_equal(table.slots[NEWEST - 1], (void *)unexpected);
    assert_ptr_equal(table.slots[SLOTS], (void *)unexpected);
}

static void every_copy_of_a_library_calls_its_own_functions(void **state)
{
    (void)state;
    static struct hip_table second;
    void *pointer;
    double_reset();
    double_listen(TRACE_HIP_RUNTIME_API, MALLOC);
    table_fill(&second, SLOTS, other_malloc);
    assert_true(offer(&second));
    int before = malloc_calls;
    assert_int_equal(((malloc_fn)second.slots[MALLOC])(&pointer, 7), hipSuccess);
    assert_ptr_equal(pointer, (void *)8);
    assert_int_equal(other_malloc_calls, 1);
    assert_int_equal(malloc_calls, before);
    assert_int_equal(double_count(DOUBLE_API_EXIT, TRACE_HIP_RUNTIME_API, MALLOC), 1);

    static struct hip_table late;
    table_fill(&late, SLOTS, fake_malloc);
    assert_false(offer(&late)); /* and then left alone */
    assert_ptr_equal(late.slots[MALLOC], (void *)fake_malloc);

    /* offered again: unchanged, then reset by its library, then wrapped by somebody else */
    void *wrapper = second.slots[MALLOC];
    assert_true(offer(&second));
    assert_ptr_equal(second.slots[MALLOC], wrapper);
    second.slots[MALLOC] = (void *)other_malloc;
    assert_true(offer(&second));
    assert_ptr_equal(second.slots[MALLOC], wrapper);
    second.slots[MALLOC] = (void *)unexpected;
    assert_true(offer(&second));
    assert_ptr_equal(second.slots[MALLOC], (void *)unexpected);
}

static void what_is_no_table_is_refused(void **state)
{
    (void)state;
    static uint64_t huge[2] = {UINT64_MAX, 0}, tiny[2] = {7, 0};
    double_reset();
    double_listen(TRACE_HIP_COMPILER_API, -1);
    void *candidates[] = {NULL, huge, tiny, (char *)tiny + 1};
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        assert_false(intercept_table_install(&row_compiler, &candidates[i], 1));
    assert_false(intercept_table_install(&row_unknown, &candidates[1], 1));
}

static void structures_by_value_arrive(void **state)
{
    (void)state;
    enum { PUSH = ROCPROFILER_HIP_COMPILER_API_ID___hipPushCallConfiguration };
    static uint64_t compiler[10] = {sizeof compiler};
    void **slots = (void **)(void *)(compiler + 1);
    void *tables[] = {compiler};
    double_reset();
    double_listen(TRACE_HIP_COMPILER_API, PUSH);
    slots[PUSH] = (void *)fake_configure;
    assert_true(intercept_table_install(&row_compiler, tables, 60200));
    dim3 grid = {1, 2, 3}, block = {4, 5, 6};
    configure_fn push = (configure_fn)slots[PUSH];
    assert_int_equal(push(grid, block, 64, NULL), hipSuccess);
    assert_int_equal(seen_grid.z, 3);
    const struct double_entry *entry =
        double_entry(DOUBLE_API_ENTER, TRACE_HIP_COMPILER_API, PUSH, 0);
    assert_non_null(entry);
    assert_int_equal(entry->payload.hip.args.__hipPushCallConfiguration.blockDim.y, 5);
    assert_int_equal(entry->payload.hip.args.__hipPushCallConfiguration.sharedMem, 64);
}

static void library_load(void *its_table)
{
    assert_true(intercept_table_install(&row_hip, &its_table, 60200));
}

static void children_load_libraries(void **state)
{
    (void)state;
    double_reset();
    double_listen(TRACE_HIP_RUNTIME_API, MALLOC);
    table_fill(&table, SLOTS, fake_malloc);
    children_take_turns(library_load, &table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_numbered_and_followed),
        cmocka_unit_test(graphs_are_numbered_and_their_launches_recorded),
        cmocka_unit_test(calls_for_events_are_open_meanwhile),
        cmocka_unit_test(only_configured_slots_are_wrapped),
        cmocka_unit_test(empty_slots_stay_empty),
        cmocka_unit_test(nothing_behind_a_short_table_is_touched),
        cmocka_unit_test(every_copy_of_a_library_calls_its_own_functions),
        cmocka_unit_test(what_is_no_table_is_refused),
        cmocka_unit_test(structures_by_value_arrive),
        cmocka_unit_test(children_load_libraries),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + unexpected_calls;
}
