#include "driver/events.h"

#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct events events;

static int setup(void **state)
{
    (void)state;
    events_init(&events, NULL, NULL);
    return 0;
}

static uint32_t create(bool auto_reset)
{
    uint32_t id;
    assert_int_equal(event_create(&events, KFD_IOC_EVENT_SIGNAL, auto_reset, &id), 0);
    return id;
}

static uint32_t poll_one(uint32_t id)
{
    struct kfd_event_data data = {.event_id = id};
    uint32_t result;
    assert_int_equal(events_wait(&events, &data, 1, false, 0, &result), 0);
    return result;
}

static void manual_events_stay_set_and_auto_reset_ones_are_consumed(void **state)
{
    (void)state;
    uint32_t manual = create(false), automatic = create(true);
    assert_int_equal(poll_one(manual), KFD_IOC_WAIT_RESULT_TIMEOUT);
    event_set(&events, manual);
    event_set(&events, automatic);
    assert_int_equal(poll_one(manual), KFD_IOC_WAIT_RESULT_COMPLETE);
    assert_int_equal(poll_one(manual), KFD_IOC_WAIT_RESULT_COMPLETE);
    assert_int_equal(poll_one(automatic), KFD_IOC_WAIT_RESULT_COMPLETE);
    assert_int_equal(poll_one(automatic), KFD_IOC_WAIT_RESULT_TIMEOUT);
    event_reset(&events, manual);
    assert_int_equal(poll_one(manual), KFD_IOC_WAIT_RESULT_TIMEOUT);
}

/* A waiter that tells the age it has seen misses no raise in between, though the event is consumed.
 */
static void ages_tell_what_was_missed(void **state)
{
    (void)state;
    struct kfd_event_data data = {.event_id = create(true)};
    struct kfd_event_age *age = (struct kfd_event_age *)&data.memory_exception_data;
    uint32_t result;
    age->last = 1; /* of a new event */
    assert_int_equal(events_wait(&events, &data, 1, false, 0, &result), 0);
    assert_int_equal(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
    event_set(&events, data.event_id);
    assert_int_equal(poll_one(data.event_id), KFD_IOC_WAIT_RESULT_COMPLETE); /* another waiter */
    assert_int_equal(poll_one(data.event_id), KFD_IOC_WAIT_RESULT_TIMEOUT);
    assert_int_equal(events_wait(&events, &data, 1, false, 0, &result), 0);
    assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
    assert_int_equal(age->last, 2);
    assert_int_equal(events_wait(&events, &data, 1, false, 0, &result), 0);
    assert_int_equal(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
    event_destroy(&events, data.event_id);
}

static void sleep_count(void *count)
{
    ++*(int *)count;
}

/* An age that its thread has left behind ends a wait, but not before the thread has slept; one of
 * which it has not seen the raise ends it at once. */
static void a_stale_age_ends_a_wait_behind_a_sleep(void **state)
{
    enum { EVENTS = 2 };
    (void)state;
    static struct events own;
    int sleeps = 0;
    uint32_t result;
    struct kfd_event_data data[EVENTS] = {{.event_id = 0}};
    events_init(&own, sleep_count, &sleeps);
    for (int n = 0; n < EVENTS; n++)
        event_create(&own, KFD_IOC_EVENT_SIGNAL, true, &data[n].event_id);
    struct kfd_event_age *age = (struct kfd_event_age *)&data[0].memory_exception_data;
    static const uint64_t given[] = {1, 1, 7};
    event_set(&own, data[0].event_id);
    event_reset(&own, data[0].event_id);
    for (int n = 0; n < 3; n++) {
        age->last = given[n];
        assert_int_equal(events_wait(&own, data, EVENTS, false, UINT32_MAX, &result), 0);
        assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
        assert_int_equal(age->last, 2);
        assert_int_equal(sleeps, n); /* the first had not seen the raise */
    }
    event_set(&own, data[1].event_id); /* one that is set ends it */
    age->last = 1;
    assert_int_equal(events_wait(&own, data, EVENTS, false, UINT32_MAX, &result), 0);
    assert_int_equal(sleeps, 2);
    age->last = 1; /* all: the other one has still to come */
    assert_int_equal(events_wait(&own, data, EVENTS, true, 10, &result), 0);
    assert_int_equal(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
    assert_int_equal(sleeps, 3);
}

static void any_and_all(void **state)
{
    (void)state;
    struct kfd_event_data data[2] = {{.event_id = create(false)}, {.event_id = create(false)}};
    uint32_t result;
    event_set(&events, data[1].event_id);
    assert_int_equal(events_wait(&events, data, 2, false, 0, &result), 0);
    assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
    assert_int_equal(events_wait(&events, data, 2, true, 20, &result), 0);
    assert_int_equal(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
    event_set(&events, data[0].event_id);
    assert_int_equal(events_wait(&events, data, 2, true, UINT32_MAX, &result), 0);
    assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
}

static void timeout_takes_its_time(void **state)
{
    (void)state;
    struct kfd_event_data data = {.event_id = create(true)};
    struct timespec before, after;
    uint32_t result;
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert_int_equal(events_wait(&events, &data, 1, false, 30, &result), 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    double ms = (double)(after.tv_sec - before.tv_sec) * 1e3 +
                (double)(after.tv_nsec - before.tv_nsec) / 1e6;
    assert_int_equal(result, KFD_IOC_WAIT_RESULT_TIMEOUT);
    assert_true(ms >= 29.9);
}

struct sleeper {
    pthread_t thread;
    struct kfd_event_data data;
    uint32_t result;
    int status;
};

static void *sleep_on_event(void *arg)
{
    struct sleeper *sleeper = arg;
    sleeper->status = events_wait(&events, &sleeper->data, 1, false, UINT32_MAX, &sleeper->result);
    return NULL;
}

/* Who came last. */
static const struct event_wait *latest_wait(uint32_t id)
{
    pthread_mutex_lock(&events.lock);
    const struct event_wait *latest = events.slot[id].waits;
    pthread_mutex_unlock(&events.lock);
    return latest;
}

static void sleeper_start(struct sleeper *sleeper, uint32_t id)
{
    const struct event_wait *before = latest_wait(id);
    *sleeper = (struct sleeper){.data.event_id = id};
    assert_int_equal(pthread_create(&sleeper->thread, NULL, sleep_on_event, sleeper), 0);
    while (latest_wait(id) == before)
        usleep(200);
}

static void an_auto_reset_event_with_a_waiter_does_not_stay_set(void **state)
{
    (void)state;
    struct sleeper sleeper;
    uint32_t id = create(true);
    sleeper_start(&sleeper, id);
    event_set(&events, id);
    pthread_join(sleeper.thread, NULL);
    assert_int_equal(sleeper.status, 0);
    assert_int_equal(sleeper.result, KFD_IOC_WAIT_RESULT_COMPLETE);
    assert_int_equal(poll_one(id), KFD_IOC_WAIT_RESULT_TIMEOUT);
}

static sem_t held, may_go;

static void hold(int number)
{
    (void)number;
    sem_post(&held);
    while (sem_wait(&may_go) != 0)
        ;
}

/* The sleeper is kept from running by a signal's handler. */
static void a_woken_thread_counts_as_called_until_it_runs(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* it keeps a signal until the thread calls what it knows */
#endif
    struct sleeper sleeper;
    uint32_t id = create(true);
    sem_init(&held, 0, 0);
    sem_init(&may_go, 0, 0);
    struct sigaction action = {.sa_handler = hold}, before;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    event_set(&events, create(true)); /* nobody waits for it */
    assert_false(events_called(&events));
    sleeper_start(&sleeper, id);
    assert_false(events_called(&events));
    pthread_kill(sleeper.thread, SIGUSR1);
    sem_wait(&held);
    event_set(&events, id);
    event_set(&events, id);
    assert_true(events_called(&events));
    sem_post(&may_go);
    pthread_join(sleeper.thread, NULL);
    assert_false(events_called(&events));
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

static uint32_t sleeps;

static void raise_before_sleep(void *id)
{
    sleeps++;
    assert_int_equal(event_set(&events, *(uint32_t *)id), 0);
}

/* Whoever is told that a thread goes to sleep may wake it at once, and only that thread. */
static void what_comes_just_before_the_sleep_counts(void **state)
{
    (void)state;
    uint32_t id, result;
    events_init(&events, raise_before_sleep, &id);
    sleeps = 0;
    id = create(true);
    struct kfd_event_data data = {.event_id = id};
    assert_int_equal(events_wait(&events, &data, 1, true, UINT32_MAX, &result), 0);
    assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
    assert_int_equal(sleeps, 1);
    assert_int_equal(poll_one(id), KFD_IOC_WAIT_RESULT_TIMEOUT);
    assert_int_equal(sleeps, 1); /* nobody slept */
}

static void *take(void *id)
{
    assert_int_equal(poll_one(*(uint32_t *)id), KFD_IOC_WAIT_RESULT_COMPLETE);
    return NULL;
}

/* What another thread took is not lost for one that was about to wait, but comes once. */
static void an_endless_wait_ends_for_a_raise_it_missed(void **state)
{
    (void)state;
    struct sleeper sleeper;
    pthread_t taker;
    uint32_t id = create(true), result;
    struct kfd_event_data data = {.event_id = id};
    event_set(&events, id);
    assert_int_equal(pthread_create(&taker, NULL, take, &id), 0);
    pthread_join(taker, NULL);
    assert_int_equal(events_wait(&events, &data, 1, true, UINT32_MAX, &result), 0);
    assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
    assert_int_equal(events_wait(&events, &data, 1, true, 1, &result), 0);
    assert_int_equal(result,
                     KFD_IOC_WAIT_RESULT_TIMEOUT); /* limited waits keep to the kernel's rule */
    id = create(true);                             /* whoever has missed nothing sleeps */
    sleeper_start(&sleeper, id);
    event_set(&events, id);
    pthread_join(sleeper.thread, NULL);
    assert_int_equal(sleeper.result, KFD_IOC_WAIT_RESULT_COMPLETE);
}

/* Also where as many threads as are remembered have waited for the event, and are gone: runtimes
 * use events again and again. */
static void threads_of_the_past_are_forgotten(void **state)
{
    (void)state;
    enum { GUARD_S = 20 };
    struct sleeper sleepers[EVENT_WITNESSES_MAX];
    pthread_t taker;
    uint32_t id = create(true), result;
    struct kfd_event_data data = {.event_id = id};
    for (int i = 0; i < EVENT_WITNESSES_MAX; i++)
        sleeper_start(&sleepers[i], id);
    event_set(&events, id);
    for (int i = 0; i < EVENT_WITNESSES_MAX; i++)
        pthread_join(sleepers[i].thread, NULL);
    event_set(&events, id);
    assert_int_equal(pthread_create(&taker, NULL, take, &id), 0);
    pthread_join(taker, NULL);
    alarm(GUARD_S);
    assert_int_equal(events_wait(&events, &data, 1, true, UINT32_MAX, &result), 0);
    alarm(0);
    assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
}

/* A thread more than is remembered waits as the kernel lets it. */
static void many_threads_wait_for_one_event(void **state)
{
    enum { THREADS = EVENT_WITNESSES_MAX + 2 };
    (void)state;
    struct sleeper sleepers[THREADS];
    uint32_t id = create(true);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < THREADS; i++) {
            sleepers[i] = (struct sleeper){.data.event_id = id};
            assert_int_equal(
                pthread_create(&sleepers[i].thread, NULL, sleep_on_event, &sleepers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            while (pthread_tryjoin_np(sleepers[i].thread, NULL) != 0) {
                event_set(&events, id);
                usleep(100);
            }
            assert_int_equal(sleepers[i].result, KFD_IOC_WAIT_RESULT_COMPLETE);
        }
    }
}

/* At once, who waits for an event that stays set; more of them than are noted under the lock. */
static void one_raise_wakes_all(void **state)
{
    enum { THREADS = 12 };
    (void)state;
    struct sleeper sleepers[THREADS];
    uint32_t id = create(false);
    for (int i = 0; i < THREADS; i++)
        sleeper_start(&sleepers[i], id);
    event_set(&events, id);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(sleepers[i].thread, NULL);
        assert_int_equal(sleepers[i].result, KFD_IOC_WAIT_RESULT_COMPLETE);
    }
}

static void destroying_an_awaited_event_ends_the_wait(void **state)
{
    (void)state;
    struct sleeper sleeper;
    uint32_t id = create(true);
    sleeper_start(&sleeper, id);
    assert_int_equal(event_destroy(&events, id), 0);
    pthread_join(sleeper.thread, NULL);
    assert_int_equal(sleeper.status, -EIO);
    assert_int_equal(sleeper.result, KFD_IOC_WAIT_RESULT_FAIL);
}

static void a_memory_fault_reaches_every_memory_event_with_its_data(void **state)
{
    (void)state;
    uint32_t id, signal = create(false), result;
    assert_int_equal(event_create(&events, KFD_IOC_EVENT_MEMORY, true, &id), 0);
    struct kfd_hsa_memory_exception_data fault = {
        .failure.NotPresent = 1, .va = 0x123000, .gpu_id = 77};
    assert_int_equal(events_memory_fault(&events, &fault), 1);
    struct kfd_event_data data[2] = {{.event_id = signal}, {.event_id = id}};
    assert_int_equal(events_wait(&events, data, 2, false, 0, &result), 0);
    assert_int_equal(result, KFD_IOC_WAIT_RESULT_COMPLETE);
    assert_int_equal(data[1].memory_exception_data.va, 0x123000);
    assert_int_equal(data[1].memory_exception_data.gpu_id, 77);
    assert_int_equal(data[1].memory_exception_data.failure.NotPresent, 1);
    assert_int_equal(data[0].memory_exception_data.gpu_id, 0);
}

static void wrong_ids_and_too_many_events(void **state)
{
    (void)state;
    uint32_t id, result;
    struct kfd_event_data data = {.event_id = 5};
    assert_int_equal(event_set(&events, 0), -EINVAL);
    assert_int_equal(event_set(&events, UINT32_MAX), -EINVAL);
    assert_int_equal(event_destroy(&events, 5), -EINVAL);
    assert_int_equal(events_wait(&events, &data, 1, false, 0, &result), -EINVAL);
    assert_int_equal(event_create(&events, 99, true, &id), -EINVAL);
    for (uint32_t i = 1; i < KFD_SIGNAL_EVENT_LIMIT; i++)
        create(true);
    assert_int_equal(event_create(&events, 0, true, &id), -ENOSPC);
    assert_int_equal(event_destroy(&events, 100), 0);
    assert_int_equal(create(true), 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(manual_events_stay_set_and_auto_reset_ones_are_consumed, setup),
        cmocka_unit_test_setup(ages_tell_what_was_missed, setup),
        cmocka_unit_test_setup(a_stale_age_ends_a_wait_behind_a_sleep, setup),
        cmocka_unit_test_setup(any_and_all, setup),
        cmocka_unit_test_setup(timeout_takes_its_time, setup),
        cmocka_unit_test_setup(an_auto_reset_event_with_a_waiter_does_not_stay_set, setup),
        cmocka_unit_test_setup(a_woken_thread_counts_as_called_until_it_runs, setup),
        cmocka_unit_test_setup(what_comes_just_before_the_sleep_counts, setup),
        cmocka_unit_test_setup(an_endless_wait_ends_for_a_raise_it_missed, setup),
        cmocka_unit_test_setup(threads_of_the_past_are_forgotten, setup),
        cmocka_unit_test_setup(many_threads_wait_for_one_event, setup),
        cmocka_unit_test_setup(one_raise_wakes_all, setup),
        cmocka_unit_test_setup(destroying_an_awaited_event_ends_the_wait, setup),
        cmocka_unit_test_setup(a_memory_fault_reaches_every_memory_event_with_its_data, setup),
        cmocka_unit_test_setup(wrong_ids_and_too_many_events, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
