/* Pools (3.6): sizes, memory, callbacks, several at once, and everything that may go wrong. */
#include "common.h"

#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { RECORD_BYTES = sizeof(roctracer_record_t) };

static const uint32_t OP = HSA_API_ID_hsa_system_get_info;
static const uint32_t OTHER = HSA_API_ID_hsa_system_extension_supported;

static void call(void)
{
    uint16_t major;
    hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
}

static void other_call(void)
{
    bool result;
    hsa_system_extension_supported(0, 1, 0, &result);
}

static void wait_for(_Atomic unsigned *value, unsigned wanted)
{
    static const struct timespec nap = {0, 1000000};
    for (int i = 0; i < 100000 && atomic_load(value) < wanted; i++)
        nanosleep(&nap, NULL);
    assert_true(atomic_load(value) >= wanted);
}

static void bad_properties_are_refused(void **state)
{
    (void)state;
    roctracer_pool_t *pool = NULL;
    roctracer_properties_t properties = {.buffer_size = 2 * RECORD_BYTES - 1};
    FAILS(INVALID_ARGUMENT, roctracer_open_pool_expl(NULL, &pool));
    FAILS(INVALID_ARGUMENT, roctracer_open_pool_expl(&properties, &pool));
    FAILS(INVALID_ARGUMENT, roctracer_open_pool(NULL));
    FAILS(INVALID_ARGUMENT, roctracer_close_pool_expl((void *)(uintptr_t)0x100));
    FAILS(INVALID_ARGUMENT, roctracer_flush_activity_expl((void *)(uintptr_t)0x100));
    FAILS(INVALID_ARGUMENT,
          roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, (void *)(uintptr_t)0x100));
    FAILS(INVALID_ARGUMENT, roctracer_next_record(NULL, NULL));
    assert_null(pool);
}

static void records_say_what_happened(void **state)
{
    (void)state;
    struct catch c;
    roctracer_timestamp_t before, after;
    catch_open(&c, 4096);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, c.pool));
    OK(roctracer_get_timestamp(&before));
    call();
    call();
    OK(roctracer_get_timestamp(&after));
    OK(roctracer_flush_activity_expl(c.pool)); /* returns when the callback has run */
    assert_int_equal(c.count, 2);
    assert_int_equal(c.calls, 1);
    assert_int_not_equal(c.thread, syscall(SYS_gettid));
    assert_int_equal(c.end - c.begin, 2 * RECORD_BYTES);
    for (int i = 0; i < 2; i++) {
        const roctracer_record_t *r = &c.records[i];
        assert_int_equal(r->domain, ACTIVITY_DOMAIN_HSA_API);
        assert_int_equal(r->op, OP);
        assert_int_equal(r->process_id, getpid());
        assert_int_equal(r->thread_id, syscall(SYS_gettid));
        assert_in_range(r->begin_ns, before - 1000, after);
        assert_in_range(r->end_ns, r->begin_ns, after + 1000);
    }
    assert_true(c.records[0].end_ns <= c.records[1].begin_ns);
    assert_int_not_equal(c.records[0].correlation_id, c.records[1].correlation_id);
    OK(roctracer_flush_activity_expl(c.pool)); /* nothing there: no callback */
    assert_int_equal(c.calls, 1);
    OK(roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_API, OP));
    call();
    OK(roctracer_close_pool_expl(c.pool));
    assert_int_equal(c.count, 2);
}

static uint64_t id_of_callback;

static void on_call(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    (void)domain, (void)op, (void)arg;
    const hsa_api_data_t *call_data = data;
    id_of_callback = call_data->correlation_id;
}

static void a_record_has_the_id_of_its_callback(void **state)
{
    struct catch c;
    (void)state;
    catch_open(&c, 4096);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, c.pool));
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP, on_call, NULL));
    for (unsigned i = 0; i < 3; i++) {
        call();
        OK(roctracer_flush_activity_expl(c.pool));
        assert_int_equal(c.count, i + 1);
        assert_int_equal(c.records[i].correlation_id, id_of_callback);
    }
    OK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP));
    OK(roctracer_close_pool_expl(c.pool));
}

static void a_full_pool_is_delivered_without_a_flush(void **state)
{
    (void)state;
    static const size_t sizes[] = {2, 3, 4, 64, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct catch c;
        catch_open(&c, sizes[i] * RECORD_BYTES);
        OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, c.pool));
        for (size_t n = 0; n < 10 * sizes[i]; n++)
            call();
        wait_for(&c.count, (unsigned)(8 * sizes[i]));
        assert_true(c.end - c.begin <= (ptrdiff_t)(sizes[i] * RECORD_BYTES));
        OK(roctracer_close_pool_expl(c.pool));
        assert_int_equal(c.count, 10 * sizes[i]);
        for (unsigned n = 1; n < c.count && n < CATCH_MAX; n++)
            assert_true(c.records[n - 1].end_ns <= c.records[n].begin_ns);
    }
}

static void a_missing_callback_is_tolerated(void **state)
{
    (void)state;
    roctracer_properties_t properties = {.buffer_size = 2 * RECORD_BYTES};
    roctracer_pool_t *pool;
    OK(roctracer_open_pool_expl(&properties, &pool));
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, pool));
    for (int i = 0; i < 9; i++)
        call();
    OK(roctracer_flush_activity_expl(pool));
    OK(roctracer_close_pool_expl(pool));
}

/* ---- memory */

static struct {
    char *memory;
    size_t size;
    int allocations, frees, failures;
    bool fail;
} allocator;

static void allocate(char **ptr, size_t size, void *arg)
{
    assert_ptr_equal(arg, &allocator);
    if (!*ptr) {
        allocator.allocations++;
        allocator.size = size;
        *ptr = allocator.memory = allocator.fail ? NULL : malloc(size);
        return;
    }
    assert_ptr_equal(*ptr, allocator.memory);
    assert_int_equal(size, 0);
    free(*ptr);
    allocator.frees++;
}

static void memory_comes_from_the_allocator(void **state)
{
    (void)state;
    struct catch c;
    memset(&c, 0, sizeof c);
    memset(&allocator, 0, sizeof allocator);
    roctracer_properties_t properties = {.buffer_size = 1000,
                                         .alloc_fun = allocate,
                                         .alloc_arg = &allocator,
                                         .buffer_callback_fun = catch_records,
                                         .buffer_callback_arg = &c};
    OK(roctracer_open_pool_expl(&properties, &c.pool));
    assert_int_equal(allocator.allocations, 1);
    assert_int_equal(allocator.size, 1000);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, c.pool));
    call();
    OK(roctracer_flush_activity_expl(c.pool));
    assert_ptr_equal(c.begin, allocator.memory);
    OK(roctracer_close_pool_expl(c.pool));
    assert_int_equal(allocator.frees, 1);

    allocator.fail = true;
    roctracer_pool_t *none = (void *)(uintptr_t)1;
    FAILS(MEMORY_ALLOCATION, roctracer_open_pool_expl(&properties, &none));
    FAILS(MEMORY_ALLOCATION, roctracer_open_pool(&properties));
    assert_null(roctracer_default_pool());
    assert_ptr_equal(none, (void *)(uintptr_t)1);
    assert_int_equal(allocator.frees, 1);

    allocator.fail = false; /* not asked for a pool that cannot be */
    struct catch other;
    catch_open(&other, 4096);
    assert_null(roctracer_default_pool_expl(other.pool));
    int asked = allocator.allocations;
    FAILS(DEFAULT_POOL_ALREADY_DEFINED, roctracer_open_pool(&properties));
    assert_int_equal(allocator.allocations, asked);
    OK(roctracer_close_pool());
}

/* A whole domain, less what is taken out of it. */
static void a_domain_records_every_operation(void **state)
{
    static struct catch c;
    hsa_signal_t signal;
    hsa_amd_memory_pool_t none = {0};
    size_t value;
    (void)state;
    catch_open(&c, 4096);
    OK(roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_HSA_API, c.pool));
    OK(roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_API, OTHER));
    static const uint32_t expected[] = {OP, HSA_API_ID_hsa_signal_create,
                                        HSA_API_ID_hsa_amd_memory_pool_get_info,
                                        HSA_API_ID_hsa_signal_destroy};
    call();
    hsa_signal_create(1, 0, NULL, &signal);
    other_call(); /* not recorded */
    hsa_amd_memory_pool_get_info(none, HSA_AMD_MEMORY_POOL_INFO_SIZE, &value);
    hsa_signal_destroy(signal);
    OK(roctracer_disable_domain_activity(ACTIVITY_DOMAIN_HSA_API));
    call();
    hsa_signal_create(1, 0, NULL, &signal);
    hsa_signal_destroy(signal);
    OK(roctracer_close_pool_expl(c.pool));
    assert_int_equal(c.count, 4);
    for (unsigned i = 0; i < c.count; i++)
        assert_int_equal(c.records[i].op, expected[i]);
}

/* ---- several pools, closing */

static void pools_keep_to_themselves(void **state)
{
    (void)state;
    static struct catch first, second;
    catch_open(&first, 4096);
    catch_open(&second, 128);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, first.pool));
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OTHER, second.pool));
    for (int i = 0; i < 5; i++) {
        call();
        other_call();
        other_call();
    }
    OK(roctracer_flush_activity_expl(first.pool));
    OK(roctracer_flush_activity_expl(second.pool));
    assert_int_equal(first.count, 5);
    assert_int_equal(second.count, 10);
    assert_int_not_equal(first.thread, second.thread);
    for (int i = 0; i < 5; i++)
        assert_int_equal(first.records[i].op, OP);
    for (int i = 0; i < 10; i++)
        assert_int_equal(second.records[i].op, OTHER);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, second.pool)); /* moves */
    call();
    OK(roctracer_close_pool_expl(first.pool));
    OK(roctracer_close_pool_expl(second.pool));
    assert_int_equal(first.count, 5);
    assert_int_equal(second.count, 11);
}

static void closing_flushes_disables_and_invalidates(void **state)
{
    (void)state;
    static struct catch c, next;
    catch_open(&c, 4096);
    OK(roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_HSA_API, c.pool));
    call();
    OK(roctracer_close_pool_expl(c.pool));
    assert_int_equal(c.count, 1);
    call();
    FAILS(INVALID_ARGUMENT, roctracer_close_pool_expl(c.pool));
    FAILS(INVALID_ARGUMENT, roctracer_flush_activity_expl(c.pool));
    catch_open(&next, 4096); /* takes the same place, under another name */
    assert_ptr_not_equal(next.pool, c.pool);
    call();
    FAILS(INVALID_ARGUMENT, roctracer_flush_activity_expl(c.pool));
    OK(roctracer_close_pool_expl(next.pool));
    assert_int_equal(c.count, 1);
    assert_int_equal(next.count, 0);
}

static void opening_and_closing_for_long_uses_nothing_up(void **state)
{
    (void)state;
    static struct catch c;
    for (int i = 0; i < 600; i++) { /* there are 256 threads and leases, 128 pools */
        catch_open(&c, (size_t)RECORD_BYTES << (1 + i % 6));
        OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, c.pool));
        call();
        OK(roctracer_close_pool_expl(c.pool));
        assert_int_equal(c.count, 1);
    }
}

/* ---- callbacks that do things */

static struct busy {
    struct catch c;
    int todo;
} busy;

static void on_full_that_records(const char *begin, const char *end, void *arg)
{
    struct busy *b = arg;
    catch_records(begin, end, &b->c);
    if (b->todo-- > 0) {
        for (int i = 0; i < 5000; i++)
            call(); /* into the very pool, more than it holds */
        OK(roctracer_flush_activity_expl(b->c.pool));
    }
}

static void a_callback_may_fill_and_flush_its_own_pool(void **state)
{
    (void)state;
    memset(&busy, 0, sizeof busy);
    busy.todo = 2;
    roctracer_properties_t properties = {.buffer_size = 2 * RECORD_BYTES,
                                         .buffer_callback_fun = on_full_that_records,
                                         .buffer_callback_arg = &busy};
    OK(roctracer_open_pool_expl(&properties, &busy.c.pool));
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, busy.c.pool));
    call();
    OK(roctracer_flush_activity_expl(busy.c.pool));
    wait_for(&busy.c.count, 10001);
    OK(roctracer_close_pool_expl(busy.c.pool));
    assert_int_equal(busy.c.count, 10001);
}

static void on_full_that_closes(const char *begin, const char *end, void *arg)
{
    struct busy *b = arg;
    catch_records(begin, end, &b->c);
    if (b->todo-- > 0)
        OK(roctracer_close_pool_expl(b->c.pool));
    assert_memory_equal(&b->c.records[b->c.count - 1], end - RECORD_BYTES, RECORD_BYTES);
}

static void a_callback_may_close_its_own_pool(void **state)
{
    (void)state;
    memset(&busy, 0, sizeof busy);
    busy.todo = 1;
    roctracer_properties_t properties = {.buffer_size = 4096,
                                         .buffer_callback_fun = on_full_that_closes,
                                         .buffer_callback_arg = &busy};
    OK(roctracer_open_pool_expl(&properties, &busy.c.pool));
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, busy.c.pool));
    call();
    OK(roctracer_flush_activity_expl(busy.c.pool));
    call();
    assert_int_equal(busy.c.count, 1);
    FAILS(INVALID_ARGUMENT, roctracer_close_pool_expl(busy.c.pool));
}

static struct catch mutual[2];
static void on_full_that_flushes_the_other(const char *begin, const char *end, void *arg)
{
    struct catch *c = arg;
    catch_records(begin, end, c);
    roctracer_flush_activity_expl(mutual[c == mutual].pool);
}

static void callbacks_may_flush_each_others_pools(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        memset(&mutual[i], 0, sizeof mutual[i]);
        roctracer_properties_t properties = {.buffer_size = 4 * RECORD_BYTES,
                                             .buffer_callback_fun = on_full_that_flushes_the_other,
                                             .buffer_callback_arg = &mutual[i]};
        OK(roctracer_open_pool_expl(&properties, &mutual[i].pool));
    }
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, mutual[0].pool));
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OTHER, mutual[1].pool));
    for (int i = 0; i < 500; i++) {
        call();
        other_call();
    }
    OK(roctracer_close_pool_expl(mutual[0].pool));
    OK(roctracer_close_pool_expl(mutual[1].pool));
    assert_int_equal(mutual[0].count, 500);
    assert_int_equal(mutual[1].count, 500);
}

/* The callback of the first records into the second, whose own callback is slow: it waits for room
 * there, and must not be handed more meanwhile. */
static struct {
    struct catch first, second;
    _Atomic unsigned inside, overlaps, changed;
} waiting;

static void on_full_that_is_slow(const char *begin, const char *end, void *arg)
{
    static const struct timespec nap = {0, 2000000};
    catch_records(begin, end, arg);
    nanosleep(&nap, NULL);
}

static void on_full_that_waits(const char *begin, const char *end, void *arg)
{
    roctracer_record_t before;
    waiting.overlaps += waiting.inside++ != 0;
    catch_records(begin, end, arg);
    memcpy(&before, begin, sizeof before);
    for (int i = 0; i < 400; i++)
        other_call();
    waiting.changed += memcmp(&before, begin, sizeof before) != 0;
    waiting.inside--;
}

static void a_callback_that_waits_is_not_called_again(void **state)
{
    (void)state;
    memset(&waiting, 0, sizeof waiting);
    roctracer_properties_t properties = {.buffer_size = 64 * RECORD_BYTES,
                                         .buffer_callback_fun = on_full_that_waits,
                                         .buffer_callback_arg = &waiting.first};
    OK(roctracer_open_pool_expl(&properties, &waiting.first.pool));
    properties.buffer_callback_fun = on_full_that_is_slow;
    properties.buffer_callback_arg = &waiting.second;
    OK(roctracer_open_pool_expl(&properties, &waiting.second.pool));
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, waiting.first.pool));
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OTHER, waiting.second.pool));
    for (int i = 0; i < 3000; i++)
        call();
    OK(roctracer_close_pool_expl(waiting.first.pool));
    OK(roctracer_close_pool_expl(waiting.second.pool));
    assert_int_equal(waiting.overlaps, 0);
    assert_int_equal(waiting.changed, 0);
    assert_int_equal(waiting.first.count, 3000);
    assert_int_equal(waiting.second.count, 400 * waiting.first.calls);
}

/* ---- threads and signals */

enum { THREADS = 8, CALLS = 3000 };
static unsigned calls_per_thread = CALLS; /* make soak: more */
static _Atomic bool go_on;

static void *calls_of_thread(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < calls_per_thread; i++)
        call();
    return NULL;
}

static void *calls_until_told(void *arg)
{
    unsigned *made = arg;
    while (atomic_load(&go_on)) {
        call();
        (*made)++;
    }
    return NULL;
}

static void on_slow_full(const char *begin, const char *end, void *arg)
{
    static const struct timespec nap = {0, 300000};
    catch_records(begin, end, arg);
    nanosleep(&nap, NULL);
}

static void nothing_is_lost_between_threads_and_a_slow_callback(void **state)
{
    (void)state;
    static const size_t sizes[] = {64 * RECORD_BYTES, 1 << 20};
    static struct catch c;
    for (int s = 0; s < 2; s++) {
        pthread_t threads[THREADS];
        memset(&c, 0, sizeof c);
        roctracer_properties_t properties = {.buffer_size = sizes[s],
                                             .buffer_callback_fun = on_slow_full,
                                             .buffer_callback_arg = &c};
        OK(roctracer_open_pool_expl(&properties, &c.pool));
        OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, c.pool));
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, calls_of_thread, NULL), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        OK(roctracer_flush_activity_expl(c.pool));
        assert_int_equal(c.count, THREADS * calls_per_thread);
        OK(roctracer_close_pool_expl(c.pool));
        assert_int_equal(c.count, THREADS * calls_per_thread);
    }
}

static void pools_may_close_while_writers_run(void **state)
{
    (void)state;
    static struct catch c;
    pthread_t threads[2];
    unsigned made[2] = {0, 0};
    atomic_store(&go_on, true);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, calls_until_told, &made[i]), 0);
    for (int i = 0; i < 200; i++) {
        catch_open(&c, (size_t)RECORD_BYTES << (1 + i % 8));
        OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, c.pool));
        for (int n = 0; n < 10; n++)
            call();
        OK(roctracer_close_pool_expl(c.pool));
        unsigned count = c.count;
        assert_true(count >= 10);
        sched_yield();
        assert_int_equal(c.count, count); /* it is silent */
    }
    atomic_store(&go_on, false);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static struct catch signalled;
static void on_signal(int number)
{
    (void)number;
    roctracer_flush_activity_expl(signalled.pool);
}

static void a_signal_handler_may_flush(void **state)
{
    (void)state;
    enum { SIGNALS = 300 };
    catch_open(&signalled, 64 * RECORD_BYTES);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, signalled.pool));
    signal(SIGALRM, on_signal);
    pthread_t thread;
    unsigned made = 0;
    atomic_store(&go_on, true);
    assert_int_equal(pthread_create(&thread, NULL, calls_until_told, &made), 0);
    for (int i = 0; i < SIGNALS; i++) {
        static const struct timespec nap = {0, 100000};
        pthread_kill(thread, SIGALRM);
        nanosleep(&nap, NULL);
    }
    atomic_store(&go_on, false);
    pthread_join(thread, NULL);
    signal(SIGALRM, SIG_DFL);
    OK(roctracer_close_pool_expl(signalled.pool));
    assert_int_equal(signalled.count, made);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        calls_per_thread = (unsigned)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_properties_are_refused),
        cmocka_unit_test(records_say_what_happened),
        cmocka_unit_test(a_record_has_the_id_of_its_callback),
        cmocka_unit_test(a_full_pool_is_delivered_without_a_flush),
        cmocka_unit_test(a_missing_callback_is_tolerated),
        cmocka_unit_test(memory_comes_from_the_allocator),
        cmocka_unit_test(a_domain_records_every_operation),
        cmocka_unit_test(pools_keep_to_themselves),
        cmocka_unit_test(closing_flushes_disables_and_invalidates),
        cmocka_unit_test(opening_and_closing_for_long_uses_nothing_up),
        cmocka_unit_test(a_callback_may_fill_and_flush_its_own_pool),
        cmocka_unit_test(a_callback_may_close_its_own_pool),
        cmocka_unit_test(callbacks_may_flush_each_others_pools),
        cmocka_unit_test(a_callback_that_waits_is_not_called_again),
        cmocka_unit_test(nothing_is_lost_between_threads_and_a_slow_callback),
        cmocka_unit_test(pools_may_close_while_writers_run),
        cmocka_unit_test(a_signal_handler_may_flush),
    };
    return with_runtime(tests, sizeof tests / sizeof tests[0]);
}
