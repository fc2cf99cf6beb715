/*
 * Internal correlation ids of marker calls: nobody's twice, growing on each thread, and without
 * gaps: the greatest one is the number of calls. With CROCPROF_DENSE_IDS always; without it unless
 * threads that make millions of calls a second still hold blocks of ids.
 */
#include "../client.h"

#include <sched.h>
#include <signal.h>

enum { IDS_MAX = 1 << 23, FAST = 100000, SLOW = 400 };

static rocprofiler_context_id_t context, other;
static _Atomic uint8_t seen[IDS_MAX];
static _Atomic uint64_t calls, greatest, twice, shrunk;
static __thread uint64_t last_here;

static void greatest_raise(uint64_t id)
{
    uint64_t known = greatest;
    while (known < id && !atomic_compare_exchange_weak(&greatest, &known, id))
        ;
}

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                    void *data)
{
    (void)user, (void)data;
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER)
        return;
    uint64_t id = record.correlation_id.internal;
    calls++;
    twice += id == 0 || id >= IDS_MAX || atomic_exchange(&seen[id % IDS_MAX], 1) != 0;
    greatest_raise(id);
}

/* Callbacks of calls that a signal handler makes come inside of others. */
static void on_call_in_order(rocprofiler_callback_tracing_record_t record,
                             rocprofiler_user_data_t *user, void *data)
{
    (void)user, (void)data;
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER)
        return;
    shrunk += record.correlation_id.internal <= last_here;
    last_here = record.correlation_id.internal;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    const rocprofiler_callback_tracing_kind_t kind = ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API;
    OK(rocprofiler_create_context(&context));
    OK(rocprofiler_create_context(&other));
    OK(rocprofiler_configure_callback_tracing_service(context, kind, NULL, 0, on_call, NULL));
    OK(rocprofiler_configure_callback_tracing_service(other, kind, NULL, 0, on_call_in_order,
                                                      NULL));
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *name, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}

static int start(void **state)
{
    (void)state;
    OK(rocprofiler_force_configure(configure));
    marks(1);
    OK(rocprofiler_start_context(context));
    OK(rocprofiler_start_context(other));
    return 0;
}

static void no_gap(void)
{
    assert_int_equal(twice, 0);
    assert_int_equal(shrunk, 0);
    assert_int_equal(greatest, calls);
}

static void *mark_some(void *count)
{
    marks((unsigned)(uintptr_t)count);
    return NULL;
}

static void on_threads(unsigned threads, unsigned count)
{
    pthread_t ids[16];
    for (unsigned i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, mark_some, (void *)(uintptr_t)count);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

static void one_thread_leaves_no_gap(void **state)
{
    (void)state;
    marks(FAST);
    no_gap();
    OK(rocprofiler_stop_context(context)); /* what it still had of a block */
    OK(rocprofiler_start_context(context));
}

static void threads_with_few_calls_leave_no_gap(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        on_threads(8, SLOW);
        no_gap();
    }
}

static void threads_one_after_the_other_leave_no_gap(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        on_threads(1, FAST / 10 + (unsigned)i);
        no_gap();
    }
}

static void what_ended_threads_left_is_handed_on(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        on_threads(4, FAST / 2 + (unsigned)i);
        on_threads(1, 500); /* more than four blocks */
        no_gap();
    }
}

struct holder {
    pthread_barrier_t *here;
    unsigned count;
};

static void *mark_and_wait(void *data)
{
    struct holder *holder = data;
    marks(holder->count);
    pthread_barrier_wait(holder->here); /* all have theirs */
    pthread_barrier_wait(holder->here); /* the test has looked */
    return NULL;
}

static void what_threads_hold_when_a_context_stops_is_handed_on(void **state)
{
    (void)state;
    enum { HOLDERS = 4 };
    static pthread_barrier_t here; /* still used by the threads when a look fails */
    static struct holder holders[HOLDERS];
    pthread_t threads[HOLDERS];
    pthread_barrier_init(&here, NULL, HOLDERS + 1);
    for (unsigned i = 0; i < HOLDERS; i++) {
        holders[i] = (struct holder){&here, FAST + 7 * i};
        pthread_create(&threads[i], NULL, mark_and_wait, &holders[i]);
    }
    pthread_barrier_wait(&here);
    OK(rocprofiler_stop_context(context));
    OK(rocprofiler_start_context(context));
    on_threads(1, 500);
    no_gap();
    pthread_barrier_wait(&here);
    for (int i = 0; i < HOLDERS; i++)
        pthread_join(threads[i], NULL);
    no_gap();
}

static void fast_threads_at_once_leave_no_gap(void **state)
{
    (void)state;
    on_threads(3, FAST);
    no_gap();
}

static _Atomic bool stopping;
static void *stop_and_start(void *unused)
{
    while (stopping) {
        OK(rocprofiler_stop_context(other));
        OK(rocprofiler_start_context(other));
    }
    return unused;
}

/* Blocks are taken away from threads in the middle of their calls. */
static void stops_give_nobody_an_id_twice(void **state)
{
    (void)state;
    pthread_t stopper;
    uint64_t before = calls;
    stopping = true;
    pthread_create(&stopper, NULL, stop_and_start, NULL);
    on_threads(3, 3 * FAST);
    stopping = false;
    pthread_join(stopper, NULL);
    assert_int_equal(calls - before, 9 * FAST);
    assert_int_equal(twice, 0);
    assert_int_equal(shrunk, 0);
}

static void on_signal(int number)
{
    (void)number;
    roctxMark("in a handler");
}

/* So many for each signal, and no more: a machine that is busy elsewhere must not run the table of
 * ids over before all signals are sent. */
enum { SIGNALS = 3000, MARKS_PER_SIGNAL = 1000 };
static _Atomic unsigned signals_sent;
static void *mark_between_signals(void *unused)
{
    for (uint64_t i = 0; i < (uint64_t)SIGNALS * MARKS_PER_SIGNAL; i++) {
        while (i >= (uint64_t)signals_sent * MARKS_PER_SIGNAL)
            sched_yield();
        marks(1);
    }
    return unused;
}

static void a_handler_gets_nobodys_id(void **state)
{
    (void)state;
    pthread_t marker;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    OK(rocprofiler_stop_context(other));
    pthread_create(&marker, NULL, mark_between_signals, NULL);
    for (int i = 0; i < SIGNALS; i++) {
        pthread_kill(marker, SIGUSR1);
        signals_sent++;
        nanosleep(&(struct timespec){0, 1000}, NULL);
    }
    pthread_join(marker, NULL);
    assert_int_equal(twice, 0);
}

int main(void)
{
    const struct CMUnitTest always[] = {
        cmocka_unit_test(one_thread_leaves_no_gap),
        cmocka_unit_test(fast_threads_at_once_leave_no_gap),
        cmocka_unit_test(stops_give_nobody_an_id_twice),
    };
    const struct CMUnitTest usually[] = {
        cmocka_unit_test(one_thread_leaves_no_gap),
        cmocka_unit_test(threads_with_few_calls_leave_no_gap),
        cmocka_unit_test(threads_one_after_the_other_leave_no_gap),
        cmocka_unit_test(what_ended_threads_left_is_handed_on),
        cmocka_unit_test(what_threads_hold_when_a_context_stops_is_handed_on),
        cmocka_unit_test(stops_give_nobody_an_id_twice),
        cmocka_unit_test(a_handler_gets_nobodys_id),
    };
    if (getenv("CROCPROF_DENSE_IDS"))
        return cmocka_run_group_tests_name("always", always, start, NULL);
    return cmocka_run_group_tests_name("usually", usually, start, NULL);
}
