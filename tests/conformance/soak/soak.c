/*
 * soak [RECORDS]: every record is accounted for while contexts start and stop and buffers are
 * flushed. What was produced is counted by ENTER callbacks of the same context, which sees a call
 * with both of its services or with none.
 */
#include "../client.h"

enum {
    WORKERS = 8,
    WATERMARKS = 5,
    SIZES = 3,
    ROUNDS = WATERMARKS * SIZES,
    POLICIES = 2,
    TOGGLE_NS = 500000,      /* a start or a stop each half millisecond: 1 kHz */
    GROWTH_MAX_PAGES = 1024, /* 4 MB, of a run that records gigabytes */
    WARM_RECORDS = 5000000,  /* by then every buffer has been full */
    BASE_BYTES = 8 << 20,
};

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { MEMORY_IS_MEASURED = false }; /* shadow memory grows */
#else
enum { MEMORY_IS_MEASURED = true };
#endif

static const size_t sizes[SIZES] = {4096, 64 << 10, 1 << 20};

struct outlet {
    rocprofiler_context_id_t context;
    rocprofiler_buffer_id_t buffer;
    size_t size, watermark;
    _Atomic uint64_t entered, delivered, dropped, wrong;
};

static struct outlet outlets[ROUNDS][POLICIES];
static struct outlet *current;
static uint64_t target;
static _Atomic bool working, round_over;
static _Atomic uint64_t toggles, flushes;

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    struct outlet *outlet = data;
    uint64_t wrong = context.handle != outlet->context.handle ||
                     buffer.handle != outlet->buffer.handle || dropped < outlet->dropped;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_buffer_tracing_marker_api_record_t *record = headers[i]->payload;
        wrong += record->size != sizeof *record || record->correlation_id.internal == 0 ||
                 record->start_timestamp > record->end_timestamp;
    }
    outlet->wrong += wrong;
    outlet->delivered += count;
    outlet->dropped = dropped;
}

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                    void *data)
{
    (void)user;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        ((struct outlet *)data)->entered++;
}

static void outlet_create(struct outlet *outlet, rocprofiler_buffer_policy_t policy)
{
    OK(rocprofiler_create_context(&outlet->context));
    OK(rocprofiler_create_buffer(outlet->context, outlet->size, outlet->watermark, policy,
                                 on_buffer, outlet, &outlet->buffer));
    OK(rocprofiler_configure_buffer_tracing_service(
        outlet->context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, NULL, 0, outlet->buffer));
    OK(rocprofiler_configure_callback_tracing_service(
        outlet->context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0, on_call, outlet));
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    for (int round = 0; round < ROUNDS; round++) {
        size_t size = sizes[round / WATERMARKS];
        const size_t watermarks[WATERMARKS] = {0, RECORD_BYTES, size / 2, size - 1, size};
        for (int policy = 0; policy < POLICIES; policy++) {
            outlets[round][policy].size = size;
            outlets[round][policy].watermark = watermarks[round % WATERMARKS];
            outlet_create(&outlets[round][policy], policy ? ROCPROFILER_BUFFER_POLICY_DISCARD
                                                          : ROCPROFILER_BUFFER_POLICY_LOSSLESS);
        }
    }
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}

static void *work(void *unused)
{
    while (working)
        marks(64);
    return unused;
}

/* Both contexts of the round, each at its own moments. Ends with both stopped. */
static void *toggle(void *unused)
{
    static const struct timespec moment = {0, TOGGLE_NS};
    uint64_t step = 0;
    while (current[0].entered + current[1].entered < target || step % 4 != 3) {
        step++;
        struct outlet *outlet = &current[step / 2 % 2];
        rocprofiler_status_t status = step % 2 ? rocprofiler_start_context(outlet->context)
                                               : rocprofiler_stop_context(outlet->context);
        outlet->wrong += status != ROCPROFILER_STATUS_SUCCESS &&
                         status != ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
        toggles++;
        nanosleep(&moment, NULL);
    }
    for (int policy = 0; policy < POLICIES; policy++)
        rocprofiler_stop_context(current[policy].context);
    round_over = true;
    return unused;
}

static void *flush(void *unused)
{
    while (!round_over) {
        for (int policy = 0; policy < POLICIES; policy++)
            current[policy].wrong +=
                rocprofiler_flush_buffer(current[policy].buffer) != ROCPROFILER_STATUS_SUCCESS;
        flushes++;
        nap_ms(3);
    }
    return unused;
}

static void round_run(int round, uint64_t records)
{
    pthread_t workers[WORKERS], toggler, flusher;
    current = outlets[round];
    target = current[0].entered + current[1].entered + records;
    working = true;
    round_over = false;
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    pthread_create(&toggler, NULL, toggle, NULL);
    pthread_create(&flusher, NULL, flush, NULL);
    pthread_join(toggler, NULL);
    pthread_join(flusher, NULL);
    working = false;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    for (int policy = 0; policy < POLICIES; policy++) {
        struct outlet *outlet = &current[policy];
        OK(rocprofiler_flush_buffer(outlet->buffer));
        /* What was dropped after the last delivery is told by the next one. */
        OK(rocprofiler_start_context(outlet->context));
        marks(1);
        OK(rocprofiler_stop_context(outlet->context));
        OK(rocprofiler_flush_buffer(outlet->buffer));
        assert_int_equal(outlet->wrong, 0);
        assert_int_equal(outlet->delivered + outlet->dropped, outlet->entered);
    }
    assert_int_equal(current[0].dropped, 0);
}

static long resident_pages(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
    fclose(file);
    return resident;
}

static uint64_t records_wanted = 300000;

static void all_rounds(uint64_t records)
{
    for (int round = 0; round < ROUNDS; round++)
        round_run(round, records / ROUNDS + 1);
}

static size_t buffers_bytes(void)
{
    size_t bytes = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int policy = 0; policy < POLICIES; policy++)
            bytes += outlets[round][policy].size;
    return bytes;
}

static void totals_print(void)
{
    uint64_t entered = 0, dropped = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int policy = 0; policy < POLICIES; policy++) {
            entered += outlets[round][policy].entered;
            dropped += outlets[round][policy].dropped;
        }
    printf("%llu records, %llu dropped by DISCARD and counted, %llu starts and stops, %llu "
           "flushes\n",
           (unsigned long long)entered, (unsigned long long)dropped, (unsigned long long)toggles,
           (unsigned long long)flushes);
}

static void every_record_is_accounted_for_in_flat_memory(void **state)
{
    (void)state;
    long without = resident_pages();
    OK(rocprofiler_force_configure(configure));
    all_rounds(records_wanted / 4);
    long before = resident_pages();
    all_rounds(records_wanted - records_wanted / 4);
    long growth = resident_pages() - before;
    totals_print();
    long total = before + growth - without;
    printf("resident memory: %ld pages, %+ld since the first quarter\n", total, growth);
    if (!MEMORY_IS_MEASURED)
        return;
    /* two halves of each buffer, full */
    assert_true((size_t)total * (size_t)sysconf(_SC_PAGESIZE) <= BASE_BYTES + 2 * buffers_bytes());
    if (records_wanted / 4 >= WARM_RECORDS)
        assert_true(growth < GROWTH_MAX_PAGES);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        records_wanted = strtoull(argv[1], NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_accounted_for_in_flat_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
