/* Scratch events as a ROCm 6 runtime reports them: through its table for tools. */
#include "intercept/hsa/scratch.h"
#include "intercept/hsa/test/trace_double.h"
#include "intercept/hsa/wrappers.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* As the runtime declares them. */
struct alloc_event {
    hsa_amd_tool_event_kind_t kind;
    const hsa_queue_t *queue;
    hsa_amd_event_scratch_alloc_flag_t flags;
    uint64_t dispatch_id;
    size_t size, num_slots;
};

struct free_event {
    hsa_amd_tool_event_kind_t kind;
    const hsa_queue_t *queue;
    hsa_amd_event_scratch_alloc_flag_t flags;
};

typedef hsa_status_t (*tool_function)(const void *event);
enum { ALLOC_START, ALLOC_END, FREE_START, FREE_END, RECLAIM_START, RECLAIM_END, FUNCTIONS };

struct tools_table {
    uint32_t major, bytes, step, reserved;
    tool_function functions[FUNCTIONS];
};

static struct {
    uint32_t major, bytes, step, reserved;
    void *tables[6];
} root;
static struct tools_table tools;
static _Atomic unsigned runtime_calls;
static const hsa_queue_t queue = {.id = 77};

static hsa_status_t of_the_runtime(const void *event)
{
    (void)event;
    runtime_calls++;
    return HSA_STATUS_SUCCESS;
}

static void *table_make(void)
{
    tools = (struct tools_table){.major = 1, .bytes = sizeof tools};
    for (int i = 0; i < FUNCTIONS; i++)
        tools.functions[i] = of_the_runtime;
    memset(&root, 0, sizeof root);
    root.major = 2;
    root.bytes = sizeof root;
    root.tables[4] = &tools;
    return &root;
}

static int reset(void **state)
{
    (void)state;
    double_reset();
    runtime_calls = 0;
    return 0;
}

static void allocate(uint64_t dispatch_id, size_t size)
{
    struct alloc_event event = {HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_START,
                                &queue,
                                HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_USE_ONCE,
                                dispatch_id,
                                0,
                                0};
    assert_int_equal(tools.functions[ALLOC_START](&event), HSA_STATUS_SUCCESS);
    event.kind = HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_END;
    event.size = size;
    event.num_slots = 128;
    assert_int_equal(tools.functions[ALLOC_END](&event), HSA_STATUS_SUCCESS);
}

static void give_back(int start, hsa_amd_tool_event_kind_t kind)
{
    struct free_event event = {kind, &queue, HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_ALT};
    tools.functions[start](&event);
    event.kind++;
    tools.functions[start + 1](&event);
}

static const struct double_entry *one(enum double_what what, int32_t operation, uint32_t n)
{
    const struct double_entry *entry = double_entry(what, TRACE_SCRATCH_MEMORY, operation, n);
    assert_non_null(entry);
    return entry;
}

static void nobody_asks_and_nothing_changes(void **state)
{
    (void)state;
    assert_int_equal(scratch_install(&hsa_instances[0], table_make()), 0);
    for (int i = 0; i < FUNCTIONS; i++)
        assert_ptr_equal(tools.functions[i], of_the_runtime);
}

static void allocation_has_size_and_dispatch(void **state)
{
    (void)state;
    const int32_t op = ROCPROFILER_SCRATCH_MEMORY_ALLOC;
    double_listen(TRACE_SCRATCH_MEMORY, op);
    assert_int_equal(scratch_install(&hsa_instances[0], table_make()), FUNCTIONS);
    allocate(5, 1 << 20);
    const struct double_entry *enter = one(DOUBLE_CALL, op, 0), *leave = one(DOUBLE_CALL, op, 1);
    assert_int_equal(enter->phase, ROCPROFILER_CALLBACK_PHASE_ENTER);
    assert_int_equal(enter->payload.scratch.args.alloc_start.dispatch_id, 5);
    assert_int_equal(enter->payload.scratch.args_kind, HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_START);
    assert_int_equal(leave->phase, ROCPROFILER_CALLBACK_PHASE_EXIT);
    assert_int_equal(leave->payload.scratch.args.alloc_end.size, 1 << 20);
    assert_int_equal(leave->payload.scratch.args.alloc_end.num_slots, 128);
    assert_int_equal(leave->payload.scratch.queue_id.handle, 77);
    const rocprofiler_buffer_tracing_scratch_memory_record_t *record =
        &one(DOUBLE_RECORD, op, 0)->payload.scratch_record;
    assert_int_equal(record->kind, ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY);
    assert_int_equal(record->operation, op);
    assert_int_equal(record->allocation_size, 1 << 20);
    assert_int_equal(record->flags, ROCPROFILER_SCRATCH_ALLOC_FLAG_USE_ONCE);
    assert_int_equal(record->queue_id.handle, 77);
    assert_true(record->start_timestamp && record->start_timestamp <= record->end_timestamp);
    assert_int_equal(runtime_calls, 2); /* whoever was there is still called */
    assert_int_equal(double_open_events(), 0);
}

static void freeing_and_reclaiming_are_told_apart(void **state)
{
    (void)state;
    double_listen(TRACE_SCRATCH_MEMORY, -1);
    scratch_install(&hsa_instances[0], table_make());
    give_back(FREE_START, HSA_AMD_TOOL_EVENT_SCRATCH_FREE_START);
    give_back(RECLAIM_START, HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_START);
    give_back(RECLAIM_START, HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_START);
    assert_int_equal(
        double_count(DOUBLE_RECORD, TRACE_SCRATCH_MEMORY, ROCPROFILER_SCRATCH_MEMORY_FREE), 1);
    assert_int_equal(
        double_count(DOUBLE_RECORD, TRACE_SCRATCH_MEMORY, ROCPROFILER_SCRATCH_MEMORY_ASYNC_RECLAIM),
        2);
    const struct double_entry *record = one(DOUBLE_RECORD, ROCPROFILER_SCRATCH_MEMORY_FREE, 0);
    assert_int_equal(record->payload.scratch_record.allocation_size, 0);
    assert_int_equal(record->payload.scratch_record.flags, ROCPROFILER_SCRATCH_ALLOC_FLAG_ALT);
}

/* An allocation may reclaim from another queue in its middle. */
static void events_of_different_operations_nest(void **state)
{
    (void)state;
    double_listen(TRACE_SCRATCH_MEMORY, -1);
    scratch_install(&hsa_instances[0], table_make());
    struct alloc_event event = {HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_START, &queue, 0, 9, 0, 0};
    tools.functions[ALLOC_START](&event);
    give_back(RECLAIM_START, HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_START);
    event.size = 4096;
    tools.functions[ALLOC_END](&event);
    assert_int_equal(double_open_events(), 0);
    assert_int_equal(one(DOUBLE_RECORD, ROCPROFILER_SCRATCH_MEMORY_ALLOC, 0)
                         ->payload.scratch_record.allocation_size,
                     4096);
}

static int log_begin(int *kept)
{
    int log = memfd_create("log", MFD_CLOEXEC);
    assert_true(log >= 0);
    *kept = dup(STDERR_FILENO);
    dup2(log, STDERR_FILENO);
    return log;
}

/* How many lines of the log have that text. */
static unsigned log_end(int log, int kept, const char *text)
{
    static char lines[1 << 16];
    unsigned count = 0;
    dup2(kept, STDERR_FILENO);
    close(kept);
    ssize_t bytes = pread(log, lines, sizeof lines - 1, 0);
    close(log);
    assert_true(bytes >= 0);
    lines[bytes] = 0;
    for (const char *at = lines; (at = strstr(at, text)) != NULL; at++)
        count++;
    return count;
}

/* Sixteen more than there is room for (PENDING_MAX): those are lost, the others are whole, and the
 * room comes back. */
static void more_events_at_once_than_fit_are_lost(void **state)
{
    (void)state;
    enum { ROOM = 32, BEGUN = 48 };
    const int32_t op = ROCPROFILER_SCRATCH_MEMORY_ALLOC;
    double_listen(TRACE_SCRATCH_MEMORY, op);
    scratch_install(&hsa_instances[0], table_make());
    for (int round = 1; round <= 2; round++) {
        struct alloc_event event = {HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_START, &queue, 0, 9, 0, 0};
        int kept, log = log_begin(&kept);
        for (int i = 0; i < BEGUN; i++)
            tools.functions[ALLOC_START](&event);
        assert_int_equal(log_end(log, kept, "one is lost"), BEGUN - ROOM);
        assert_int_equal(double_open_events(), ROOM);
        event.kind = HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_END;
        for (int i = 0; i < BEGUN; i++)
            tools.functions[ALLOC_END](&event);
        assert_int_equal(double_open_events(), 0);
        assert_int_equal(double_count(DOUBLE_RECORD, TRACE_SCRATCH_MEMORY, op), round * ROOM);
        assert_int_equal(double_count(DOUBLE_CALL, TRACE_SCRATCH_MEMORY, op), 2 * round * ROOM);
    }
}

static void *allocate_often(void *number)
{
    for (int i = 0; i < 500; i++)
        allocate((uint64_t)i, 64u * (unsigned)(uintptr_t)number);
    return NULL;
}

static void threads_do_not_mix(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    const int32_t op = ROCPROFILER_SCRATCH_MEMORY_ALLOC;
    double_listen(TRACE_SCRATCH_MEMORY, op);
    scratch_install(&hsa_instances[0], table_make());
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, allocate_often, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(double_count(DOUBLE_RECORD, TRACE_SCRATCH_MEMORY, op), THREADS * 500);
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_SCRATCH_MEMORY, op), 2 * THREADS * 500);
    assert_int_equal(double_open_events(), 0);
}

static void shorter_and_absent_tables_are_left_alone(void **state)
{
    (void)state;
    double_listen(TRACE_SCRATCH_MEMORY, -1);
    table_make();
    tools.bytes = 16 + 2 * sizeof(void *);
    assert_int_equal(scratch_install(&hsa_instances[0], &root), 2);
    assert_ptr_equal(tools.functions[FREE_START], of_the_runtime);
    table_make();
    tools.major = 9;
    assert_int_equal(scratch_install(&hsa_instances[0], &root), 0);
    table_make();
    root.bytes = 16 + 4 * sizeof(void *); /* ROCm 5: four tables */
    assert_int_equal(scratch_install(&hsa_instances[0], &root), 0);
    table_make();
    root.tables[4] = NULL;
    assert_int_equal(scratch_install(&hsa_instances[0], &root), 0);
}

static void ends_without_a_start_and_events_without_a_queue_are_ignored(void **state)
{
    (void)state;
    double_listen(TRACE_SCRATCH_MEMORY, -1);
    scratch_install(&hsa_instances[0], table_make());
    struct alloc_event event = {HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_END, &queue, 0, 9, 0, 0};
    tools.functions[ALLOC_END](&event);
    event.queue = NULL;
    tools.functions[ALLOC_START](&event);
    tools.functions[ALLOC_START](NULL);
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_SCRATCH_MEMORY, -1), 0);
    assert_int_equal(double_open_events(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nobody_asks_and_nothing_changes, reset),
        cmocka_unit_test_setup(allocation_has_size_and_dispatch, reset),
        cmocka_unit_test_setup(freeing_and_reclaiming_are_told_apart, reset),
        cmocka_unit_test_setup(events_of_different_operations_nest, reset),
        cmocka_unit_test_setup(more_events_at_once_than_fit_are_lost, reset),
        cmocka_unit_test_setup(threads_do_not_mix, reset),
        cmocka_unit_test_setup(shorter_and_absent_tables_are_left_alone, reset),
        cmocka_unit_test_setup(ends_without_a_start_and_events_without_a_queue_are_ignored, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
