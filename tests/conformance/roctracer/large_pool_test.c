/* Records of calls in a pool that is large enough for its producers to convert them: each as it
 * would be by itself, in the order of its thread, whoever does it. */
#include "common.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>

enum {
    THREADS = 4,
    CALLS = 120000,
    OTHER_EVERY = 1000,   /* calls of another function */
    NAMED_EVERY = 5000,   /* calls with an external id */
    POOL_BYTES = 4 << 20, /* leases, not single records */
    REOPENINGS = 20,
};

static const uint32_t OP = HSA_API_ID_hsa_signal_load_relaxed;
static const uint32_t OTHER_OP = HSA_API_ID_hsa_signal_load_scacquire;
static hsa_signal_t the_signal;

/* What a thread's records have been up to now; filled on the pool's thread. */
static struct seen {
    uint32_t thread_id;
    uint64_t calls, correlation_id, end_ns, external_id, externals;
} threads_seen[THREADS];
static _Atomic uint64_t wrong, delivered;
static uint64_t opened_ns;
static bool is_counted; /* else calls were made before and after, too */

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition) && atomic_fetch_add(&wrong, 1) < 20)                                      \
            fprintf(stderr, "large_pool_test.c:%d: %s\n", __LINE__, #condition);                   \
    } while (0)

static struct seen *seen_of(uint32_t thread_id)
{
    for (int i = 0; i < THREADS; i++)
        if (threads_seen[i].thread_id == thread_id || threads_seen[i].thread_id == 0) {
            threads_seen[i].thread_id = thread_id;
            return &threads_seen[i];
        }
    EXPECT(!"a thread that makes no calls");
    return &threads_seen[0];
}

static bool is_other(uint64_t call)
{
    return call % OTHER_EVERY == OTHER_EVERY - 1;
}

static void call_check(const roctracer_record_t *record, uint64_t external, uint64_t external_call)
{
    struct seen *seen = seen_of(record->thread_id);
    uint64_t call = seen->calls++;
    EXPECT(record->domain == ACTIVITY_DOMAIN_HSA_API && record->kind == 0);
    EXPECT(record->process_id == (uint32_t)getpid());
    EXPECT(record->begin_ns >= opened_ns && record->begin_ns >= seen->end_ns);
    EXPECT(record->end_ns >= record->begin_ns);
    EXPECT(record->correlation_id > seen->correlation_id);
    EXPECT(external == 0 || external_call == record->correlation_id);
    seen->end_ns = record->end_ns;
    seen->correlation_id = record->correlation_id;
    if (!is_counted)
        return;
    EXPECT(record->op == (is_other(call) ? OTHER_OP : OP));
    EXPECT((external != 0) == (call % NAMED_EVERY == 0));
    EXPECT(external == 0 || external == call + 1);
}

static void on_records(const char *begin, const char *end, void *arg)
{
    const roctracer_record_t *record = (const void *)begin;
    static uint64_t external, external_call; /* the pair may be in two buffers */
    (void)arg;
    EXPECT((size_t)(end - begin) <= POOL_BYTES);
    for (; (const char *)record < end; record++) {
        if (record->domain == ACTIVITY_DOMAIN_EXT_API) {
            EXPECT(external == 0 && record->op == ACTIVITY_EXT_OP_EXTERN_ID);
            external = record->external_id;
            external_call = record->correlation_id;
            continue;
        }
        call_check(record, external, external_call);
        external = 0;
        delivered++;
    }
}

static void *calls_make(void *unused)
{
    activity_correlation_id_t last;
    for (uint64_t i = 0; i < CALLS; i++) {
        bool named = i % NAMED_EVERY == 0;
        if (named)
            EXPECT(!roctracer_activity_push_external_correlation_id(i + 1));
        if (is_other(i))
            hsa_signal_load_scacquire(the_signal);
        else
            hsa_signal_load_relaxed(the_signal);
        if (named)
            EXPECT(!roctracer_activity_pop_external_correlation_id(&last) && last == i + 1);
    }
    return unused;
}

static roctracer_pool_t *pool_begin(void)
{
    roctracer_pool_t *pool = NULL;
    const roctracer_properties_t properties = {.buffer_size = POOL_BYTES,
                                               .buffer_callback_fun = on_records};
    EXPECT(roctracer_get_timestamp(&opened_ns) == ROCTRACER_STATUS_SUCCESS);
    EXPECT(roctracer_open_pool_expl(&properties, &pool) == ROCTRACER_STATUS_SUCCESS);
    EXPECT(!roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OP, pool));
    EXPECT(!roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OTHER_OP, pool));
    return pool;
}

static void pool_end(roctracer_pool_t *pool)
{
    roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_API, OP);
    roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_API, OTHER_OP);
    EXPECT(roctracer_close_pool_expl(pool) == ROCTRACER_STATUS_SUCCESS);
}

static void seen_clear(void)
{
    memset(threads_seen, 0, sizeof threads_seen);
    delivered = 0;
}

static void each_call_has_its_record(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    is_counted = true;
    seen_clear();
    roctracer_pool_t *pool = pool_begin();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, calls_make, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pool_end(pool);
    roctracer_timestamp_t now_ns;
    OK(roctracer_get_timestamp(&now_ns));
    assert_int_equal(delivered, THREADS * CALLS);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(threads_seen[i].calls, CALLS);
        assert_true(threads_seen[i].end_ns <= now_ns);
    }
    assert_int_equal(wrong, 0);
}

/* A pool gets no call that began before it was opened, whoever converts. */
static void a_pool_that_is_opened_anew_has_calls_of_its_time(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    is_counted = false;
    seen_clear();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, calls_make, NULL);
    for (int i = 0; i < REOPENINGS; i++) {
        roctracer_pool_t *pool = pool_begin();
        usleep(1000);
        pool_end(pool);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
}

static _Atomic bool is_busy;

static void *enable_again_and_again(void *pool)
{
    while (is_busy) {
        EXPECT(!roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, OTHER_OP, pool));
        EXPECT(!roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_API, OTHER_OP));
        roctracer_start();
    }
    return NULL;
}

static int child_trace(roctracer_pool_t *pool)
{
    enum { LIMIT_S = 20, CHILDS_CALLS = 5 };
    uint16_t major;
    alarm(LIMIT_S);
    seen_clear();
    wrong = 0;
    for (int i = 0; i < CHILDS_CALLS; i++) /* the signal's memory is the parent's */
        hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
    EXPECT(roctracer_flush_activity_expl(pool) == ROCTRACER_STATUS_SUCCESS);
    EXPECT(roctracer_close_pool_expl(pool) == ROCTRACER_STATUS_SUCCESS);
    roctracer_stop();
    EXPECT(delivered == CHILDS_CALLS);
    return wrong == 0 ? 0 : 1;
}

/* What waits in a pool at a fork is the parent's to hand over. */
static void a_child_gets_its_own_calls_only(void **state)
{
    enum { CHILDREN = 20, WAITING = 40000 };
    pthread_t thread;
    (void)state;
    is_counted = false;
    seen_clear();
    roctracer_pool_t *pool = pool_begin();
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_API, HSA_API_ID_hsa_system_get_info,
                                         pool));
    for (int i = 0; i < WAITING; i++)
        hsa_signal_load_relaxed(the_signal);
    usleep(100000); /* the pool's thread has most of them */
    assert_int_equal(delivered, 0);
    is_busy = true;
    assert_int_equal(pthread_create(&thread, NULL, enable_again_and_again, pool), 0);
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            _exit(child_trace(pool));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    is_busy = false;
    pthread_join(thread, NULL);
    pool_end(pool);
    assert_int_equal(delivered, WAITING);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    if (hsa_init() != HSA_STATUS_SUCCESS || hsa_signal_create(1, 0, NULL, &the_signal))
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_has_its_record),
        cmocka_unit_test(a_pool_that_is_opened_anew_has_calls_of_its_time),
        cmocka_unit_test(a_child_gets_its_own_calls_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
