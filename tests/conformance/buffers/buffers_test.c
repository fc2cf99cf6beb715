/* What the specification of buffered services promises of buffers, through the public functions. */
#include "../client.h"

/* One context with one buffer each; the number is how a test finds its own. */
enum scenario_id {
    ONE_BYTE,
    PAGE_AND_A_BYTE,
    WATERMARK_48,
    WATERMARK_0,
    WATERMARK_5_RECORDS,
    WATERMARK_SIZE,
    WATERMARK_ABOVE_SIZE,
    LOSSLESS_SLOW,
    DISCARD_SLOW,
    DISCARD_FLUSHED,
    EXPLICIT,
    OWN_FLUSH,
    OTHER_FLUSH,
    RECORDS_IN_CALLBACK,
    STOPS_IN_CALLBACK,
    STARTS_IN_CALLBACK,
    DEDICATED,
    DEDICATED_TWIN,
    TWO_KINDS,
    DESTROYED,
    LOSSLESS_LARGE,
    DISCARD_LARGE,
    SCENARIO_COUNT
};

#define LOSSLESS ROCPROFILER_BUFFER_POLICY_LOSSLESS
#define DISCARD  ROCPROFILER_BUFFER_POLICY_DISCARD

static const struct {
    size_t size, watermark;
    rocprofiler_buffer_policy_t policy;
} shapes[SCENARIO_COUNT] = {
    [ONE_BYTE] = {1, 4096, LOSSLESS},
    [PAGE_AND_A_BYTE] = {4097, 8192, LOSSLESS},
    [WATERMARK_48] = {4096, 48, LOSSLESS},
    [WATERMARK_0] = {4096, 0, LOSSLESS},
    [WATERMARK_5_RECORDS] = {8192, 5 * RECORD_BYTES, LOSSLESS},
    [WATERMARK_SIZE] = {4096, 4096, DISCARD},
    [WATERMARK_ABOVE_SIZE] = {4096, 1 << 30, LOSSLESS},
    [LOSSLESS_SLOW] = {4096, 4096, LOSSLESS},
    [DISCARD_SLOW] = {4096, 4096, DISCARD},
    [DISCARD_FLUSHED] = {4096, 4096, DISCARD},
    [EXPLICIT] = {16384, 16384, LOSSLESS},
    [OWN_FLUSH] = {16384, 16384, LOSSLESS},
    [OTHER_FLUSH] = {16384, 16384, LOSSLESS},
    [RECORDS_IN_CALLBACK] = {4096, 64, LOSSLESS},
    [STOPS_IN_CALLBACK] = {4096, 0, LOSSLESS},
    [STARTS_IN_CALLBACK] = {4096, 0, LOSSLESS},
    [DEDICATED] = {4096, 4096, LOSSLESS},
    [DEDICATED_TWIN] = {4096, 4096, LOSSLESS},
    [TWO_KINDS] = {16384, 16384, LOSSLESS},
    [DESTROYED] = {16384, 16384, LOSSLESS},
    [LOSSLESS_LARGE] = {1 << 20, 1 << 19, LOSSLESS},
    [DISCARD_LARGE] = {1 << 20, 1 << 20, DISCARD},
};

struct sink {
    rocprofiler_context_id_t context;
    rocprofiler_buffer_id_t buffer;
    _Atomic unsigned records, callbacks, largest, retirements, wrong, hook_runs;
    _Atomic uint64_t dropped;
    _Atomic uint32_t tid;
    _Atomic bool blocked; /* callbacks wait while it is set */
    _Atomic(void (*)(struct sink *)) hook;
};

static struct sink sinks[SCENARIO_COUNT];
static rocprofiler_client_finalize_t finalizer;
static rocprofiler_client_id_t *client;

static void look_at(struct sink *sink, const rocprofiler_record_header_t *header)
{
    sink->wrong += header->category != ROCPROFILER_BUFFER_CATEGORY_TRACING;
    if (header->kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT) {
        sink->retirements++;
        return;
    }
    const rocprofiler_buffer_tracing_marker_api_record_t *record = header->payload;
    sink->wrong += header->kind != ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API ||
                   record->kind != ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API ||
                   record->size != sizeof *record || record->correlation_id.internal == 0 ||
                   record->start_timestamp > record->end_timestamp;
    sink->records++;
}

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    struct sink *sink = data;
    sink->tid = (uint32_t)syscall(SYS_gettid);
    sink->wrong += context.handle != sink->context.handle || buffer.handle != sink->buffer.handle ||
                   count == 0 || dropped < sink->dropped;
    sink->dropped = dropped;
    sink->callbacks++;
    if (count > sink->largest)
        sink->largest = (unsigned)count;
    while (sink->blocked)
        nap_ms(1);
    for (size_t i = 0; i < count; i++)
        look_at(sink, headers[i]);
    void (*hook)(struct sink *) = sink->hook;
    if (hook)
        hook(sink);
}

static void scenario_create(int id)
{
    struct sink *sink = &sinks[id];
    OK(rocprofiler_create_context(&sink->context));
    OK(rocprofiler_create_buffer(sink->context, shapes[id].size, shapes[id].watermark,
                                 shapes[id].policy, on_buffer, sink, &sink->buffer));
    assert_true(sink->buffer.handle != 0);
    OK(rocprofiler_configure_buffer_tracing_service(
        sink->context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, NULL, 0, sink->buffer));
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)data;
    finalizer = finalize;
    for (int id = 0; id < SCENARIO_COUNT; id++)
        scenario_create(id);
    rocprofiler_callback_thread_t thread = {0};
    OK(rocprofiler_create_callback_thread(&thread));
    OK(rocprofiler_assign_callback_thread(sinks[DEDICATED].buffer, thread));
    OK(rocprofiler_assign_callback_thread(sinks[DEDICATED_TWIN].buffer, thread));
    OK(rocprofiler_configure_buffer_tracing_service(
        sinks[TWO_KINDS].context, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, NULL, 0,
        sinks[TWO_KINDS].buffer));
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority;
    client = id;
    return &result;
}

static int start(void **state)
{
    (void)state;
    OK(rocprofiler_force_configure(configure));
    marks(1); /* the marker library meets the profiler; no context is started */
    return 0;
}

static struct sink *begin(enum scenario_id id)
{
    OK(rocprofiler_start_context(sinks[id].context));
    return &sinks[id];
}

static void end(struct sink *sink)
{
    OK(rocprofiler_stop_context(sink->context));
    assert_int_equal(sink->wrong, 0);
}

/* `count` records fill the buffer to its watermark, and not one less does. */
static void flushes_at(enum scenario_id id, unsigned count)
{
    struct sink *sink = begin(id);
    for (unsigned round = 1; round <= 3; round++) {
        marks(count - 1);
        settle();
        assert_int_equal(sink->callbacks, round - 1);
        marks(1);
        assert_true(eventually(&sink->records, round * count));
        assert_int_equal(sink->callbacks, round);
    }
    assert_int_equal(sink->largest, count);
    assert_int_equal(sink->dropped, 0);
    end(sink);
}

static void size_is_rounded_up_to_a_page(void **state)
{
    (void)state;
    flushes_at(ONE_BYTE, 4096 / RECORD_BYTES);
    flushes_at(PAGE_AND_A_BYTE, 8192 / RECORD_BYTES);
}

static void flushes_each(enum scenario_id id)
{
    struct sink *sink = begin(id);
    for (unsigned i = 1; i <= 20; i++) {
        marks(1);
        assert_true(eventually(&sink->records, i));
        assert_int_equal(sink->callbacks, i);
    }
    end(sink);
}

static void a_64_byte_record_flushes_a_48_byte_watermark(void **state)
{
    (void)state;
    flushes_each(WATERMARK_48);
}

static void watermark_0_flushes_every_record(void **state)
{
    (void)state;
    flushes_each(WATERMARK_0);
}

static void watermark_is_met_to_the_record(void **state)
{
    (void)state;
    flushes_at(WATERMARK_5_RECORDS, 5);
}

static void watermark_may_be_the_size(void **state)
{
    (void)state;
    flushes_at(WATERMARK_SIZE, 4096 / RECORD_BYTES);
}

static void watermark_above_the_size_means_the_size(void **state)
{
    (void)state;
    flushes_at(WATERMARK_ABOVE_SIZE, 4096 / RECORD_BYTES);
}

static _Atomic unsigned marks_done;
static void *mark_and_count(void *count)
{
    for (unsigned i = 0; i < *(unsigned *)count; i++) {
        roctxMark("counted");
        marks_done++;
    }
    return NULL;
}

/* While the callback sits on the first half, a whole second half is recorded; only the record after
 * that waits. */
static void lossless_swaps_and_producers_go_on(void **state)
{
    (void)state;
    enum { HALF = 4096 / RECORD_BYTES };
    struct sink *sink = begin(LOSSLESS_SLOW);
    sink->blocked = true;
    marks(HALF);
    assert_true(eventually(&sink->callbacks, 1));
    unsigned count = 3 * HALF;
    pthread_t producer;
    marks_done = 0;
    pthread_create(&producer, NULL, mark_and_count, &count);
    assert_true(eventually(&marks_done, HALF));
    settle();
    assert_int_equal(marks_done, HALF);
    assert_int_equal(sink->callbacks, 1);
    sink->blocked = false;
    pthread_join(producer, NULL);
    OK(rocprofiler_flush_buffer(sink->buffer));
    assert_int_equal(sink->records, 4 * HALF);
    assert_int_equal(sink->dropped, 0);
    end(sink);
}

static void discard_counts_exactly_what_it_drops(void **state)
{
    (void)state;
    enum { HALF = 4096 / RECORD_BYTES, LOST = 37 };
    struct sink *sink = begin(DISCARD_SLOW);
    for (unsigned round = 1; round <= 3; round++) {
        sink->blocked = true;
        marks(HALF); /* on its way to the callback */
        assert_true(eventually(&sink->callbacks, 2 * round - 1));
        marks(HALF + LOST);
        sink->blocked = false;
        OK(rocprofiler_flush_buffer(sink->buffer));
        assert_int_equal(sink->records, round * 2 * HALF);
        assert_int_equal(sink->dropped, round * LOST); /* the sum since creation */
    }
    end(sink);
}

static void after_an_explicit_flush_records_flow_again(void **state)
{
    (void)state;
    struct sink *sink = begin(DISCARD_FLUSHED);
    for (unsigned round = 1; round <= 7; round++) {
        marks(10);
        OK(rocprofiler_flush_buffer(sink->buffer));
        assert_int_equal(sink->records, round * 10);
        assert_int_equal(sink->callbacks, round);
    }
    assert_int_equal(sink->dropped, 0);
    end(sink);
}

static void *flush_often(void *data)
{
    for (int i = 0; i < 200; i++)
        OK(rocprofiler_flush_buffer(((struct sink *)data)->buffer));
    return NULL;
}

static void explicit_flush_returns_after_delivery(void **state)
{
    (void)state;
    struct sink *sink = begin(EXPLICIT);
    for (unsigned i = 1; i <= 100; i++) {
        marks(1);
        OK(rocprofiler_flush_buffer(sink->buffer));
        assert_int_equal(sink->records, i);
    }
    unsigned callbacks = sink->callbacks;
    OK(rocprofiler_flush_buffer(sink->buffer)); /* nothing there: nobody is called */
    assert_int_equal(sink->callbacks, callbacks);
    pthread_t flushers[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&flushers[i], NULL, flush_often, sink);
    marks(5000);
    for (int i = 0; i < 4; i++)
        pthread_join(flushers[i], NULL);
    OK(rocprofiler_flush_buffer(sink->buffer));
    assert_int_equal(sink->records, 5100);
    end(sink);
}

static void flush_own(struct sink *sink)
{
    if (sink->hook_runs++ < 3)
        sink->wrong += rocprofiler_flush_buffer(sink->buffer) != ROCPROFILER_STATUS_SUCCESS;
}

static void flush_explicit(struct sink *sink)
{
    (void)sink;
    sink->wrong += rocprofiler_flush_buffer(sinks[EXPLICIT].buffer) != ROCPROFILER_STATUS_SUCCESS;
}

static void flush_dedicated(struct sink *sink)
{
    sink->wrong += rocprofiler_flush_buffer(sinks[DEDICATED].buffer) != ROCPROFILER_STATUS_SUCCESS;
}

static void callbacks_may_flush(void **state)
{
    (void)state;
    struct sink *own = begin(OWN_FLUSH), *other = begin(OTHER_FLUSH), *explicit = begin(EXPLICIT),
                *dedicated = begin(DEDICATED);
    own->hook = flush_own;
    other->hook = flush_explicit;
    dedicated->hook = flush_explicit;
    unsigned before = explicit->records;
    marks(1);
    OK(rocprofiler_flush_buffer(own->buffer));
    OK(rocprofiler_flush_buffer(other->buffer)); /* same thread: delivers in place */
    assert_int_equal(own->records, 1);
    assert_int_equal(other->records, 1);
    assert_int_equal(explicit->records, before + 1);
    explicit->hook = flush_dedicated; /* two threads that flush each other's buffers */
    pthread_t flusher;
    pthread_create(&flusher, NULL, flush_often, dedicated);
    for (int i = 0; i < 200; i++) {
        marks(1);
        OK(rocprofiler_flush_buffer(explicit->buffer));
    }
    pthread_join(flusher, NULL);
    explicit->hook = dedicated->hook = other->hook = NULL;
    end(own), end(other), end(explicit), end(dedicated);
}

static void mark_in_callback(struct sink *sink)
{
    if (sink->hook_runs++ < 4)
        marks(500); /* more than both halves hold */
}

static void callbacks_may_provoke_records(void **state)
{
    (void)state;
    struct sink *sink = begin(RECORDS_IN_CALLBACK);
    sink->hook = mark_in_callback;
    marks(1);
    OK(rocprofiler_flush_buffer(sink->buffer));
    assert_true(eventually(&sink->records, 4 * 500 + 1));
    end(sink);
    OK(rocprofiler_flush_buffer(sink->buffer));
    assert_int_equal(sink->records, 4 * 500 + 1);
    assert_int_equal(sink->dropped, 0);
}

static void stop_own(struct sink *sink)
{
    sink->wrong += rocprofiler_stop_context(sink->context) != ROCPROFILER_STATUS_SUCCESS;
}

static void start_own(struct sink *sink)
{
    sink->wrong += rocprofiler_start_context(sink->context) != ROCPROFILER_STATUS_SUCCESS;
}

static void callbacks_may_stop_and_start_contexts(void **state)
{
    (void)state;
    struct sink *sink = begin(STOPS_IN_CALLBACK);
    sink->hook = stop_own;
    marks(1);
    OK(rocprofiler_flush_buffer(sink->buffer));
    assert_false(context_active(sink->context));
    marks(5);
    OK(rocprofiler_flush_buffer(sink->buffer));
    assert_int_equal(sink->records, 1);
    sink = begin(STARTS_IN_CALLBACK);
    sink->hook = start_own;
    marks(1);
    OK(rocprofiler_stop_context(sink->context));
    OK(rocprofiler_flush_buffer(sink->buffer));
    OK(rocprofiler_start_context(sink->context));
    marks(1);
    OK(rocprofiler_flush_buffer(sink->buffer));
    assert_true(context_active(sink->context));
    end(sink);
}

static void a_dedicated_thread_delivers(void **state)
{
    (void)state;
    struct sink *shared = begin(EXPLICIT), *too = begin(OTHER_FLUSH);
    struct sink *first = begin(DEDICATED), *second = begin(DEDICATED_TWIN);
    marks(1);
    OK(rocprofiler_flush_buffer(shared->buffer));
    OK(rocprofiler_flush_buffer(too->buffer));
    OK(rocprofiler_flush_buffer(first->buffer));
    OK(rocprofiler_flush_buffer(second->buffer));
    uint32_t self = (uint32_t)syscall(SYS_gettid);
    assert_int_equal(shared->tid, too->tid);
    assert_int_equal(first->tid, second->tid);
    assert_int_not_equal(first->tid, shared->tid);
    assert_int_not_equal(first->tid, self);
    assert_int_not_equal(shared->tid, self);
    shared->blocked = true; /* the default thread hangs; the other one does not care */
    marks(16384 / RECORD_BYTES);
    unsigned records = first->records;
    assert_true(eventually(&shared->callbacks, 2));
    marks(1);
    OK(rocprofiler_flush_buffer(first->buffer));
    assert_true(first->records > records);
    shared->blocked = false;
    end(shared), end(too), end(first), end(second);
    OK(rocprofiler_flush_buffer(shared->buffer));
}

static void several_services_share_a_buffer(void **state)
{
    (void)state;
    struct sink *sink = begin(TWO_KINDS);
    marks(50);
    end(sink);
    OK(rocprofiler_flush_buffer(sink->buffer));
    assert_int_equal(sink->records, 50);
    assert_int_equal(sink->retirements, 50);
}

static void destroyed_buffers_deliver_first(void **state)
{
    (void)state;
    struct sink *sink = begin(DESTROYED);
    marks(3);
    OK(rocprofiler_destroy_buffer(sink->buffer));
    assert_int_equal(sink->records, 3);
    marks(3); /* the service has nowhere to write to: lost, no crash */
    FAILS(BUFFER_NOT_FOUND, rocprofiler_flush_buffer(sink->buffer));
    FAILS(BUFFER_NOT_FOUND, rocprofiler_destroy_buffer(sink->buffer));
    end(sink);
    assert_int_equal(sink->records, 3);
}

/* Buffers of that size are filled in pieces per thread. */
static void large_buffers_account_for_everything(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    unsigned count = 40000; /* 10 MB in all */
    struct sink *lossless = begin(LOSSLESS_LARGE), *discard = begin(DISCARD_LARGE);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, mark_and_count, &count);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    end(lossless), end(discard);
    OK(rocprofiler_flush_buffer(lossless->buffer));
    OK(rocprofiler_flush_buffer(discard->buffer));
    assert_int_equal(lossless->records, THREADS * count);
    assert_int_equal(lossless->dropped, 0);
    assert_int_equal(discard->records + discard->dropped, THREADS * count);
}

static void finalisation_delivers_the_rest(void **state)
{
    (void)state;
    struct sink *sink = begin(EXPLICIT);
    unsigned records = sink->records;
    marks(7);
    finalizer(*client);
    assert_int_equal(sink->records, records + 7);
    FAILS(FINALIZED, rocprofiler_flush_buffer(sink->buffer));
    FAILS(CONFIGURATION_LOCKED, rocprofiler_start_context(sink->context));
    OK(rocprofiler_stop_context(sink->context));
    marks(7);
    assert_int_equal(sink->records, records + 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_is_rounded_up_to_a_page),
        cmocka_unit_test(a_64_byte_record_flushes_a_48_byte_watermark),
        cmocka_unit_test(watermark_0_flushes_every_record),
        cmocka_unit_test(watermark_is_met_to_the_record),
        cmocka_unit_test(watermark_may_be_the_size),
        cmocka_unit_test(watermark_above_the_size_means_the_size),
        cmocka_unit_test(lossless_swaps_and_producers_go_on),
        cmocka_unit_test(discard_counts_exactly_what_it_drops),
        cmocka_unit_test(after_an_explicit_flush_records_flow_again),
        cmocka_unit_test(explicit_flush_returns_after_delivery),
        cmocka_unit_test(callbacks_may_flush),
        cmocka_unit_test(callbacks_may_provoke_records),
        cmocka_unit_test(callbacks_may_stop_and_start_contexts),
        cmocka_unit_test(a_dedicated_thread_delivers),
        cmocka_unit_test(several_services_share_a_buffer),
        cmocka_unit_test(destroyed_buffers_deliver_first),
        cmocka_unit_test(large_buffers_account_for_everything),
        cmocka_unit_test(finalisation_delivers_the_rest),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
