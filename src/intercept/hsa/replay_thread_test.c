/* The thread that does what a replay may not do on the program's: whose thread a job runs on. */
#include "intercept/hsa/replay_thread.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>

#include <cmocka.h>

enum { THREADS = 4, JOBS = 200 };

struct seen {
    pthread_t thread;
    unsigned count;
    struct seen *inner; /* asked for by the job itself */
};

static _Atomic unsigned running, overlaps;

static void job(void *data)
{
    struct seen *seen = data;
    seen->thread = pthread_self();
    seen->count++;
    if (seen->inner) {
        assert_true(replay_thread_run(job, seen->inner));
        return;
    }
    overlaps += running++ > 0;
    running--;
}

/* The caller's is inside of the runtime's interceptor. */
static void a_job_runs_on_a_thread_of_ours(void **state)
{
    struct seen first = {0}, second = {0};
    (void)state;
    assert_true(replay_thread_run(job, &first));
    assert_int_equal(first.count, 1);
    assert_false(pthread_equal(first.thread, pthread_self()));
    assert_true(replay_thread_run(job, &second));
    assert_true(pthread_equal(second.thread, first.thread));
}

/* It would wait for itself. */
static void a_job_of_a_job_runs_within_it(void **state)
{
    struct seen inner = {0}, outer = {.inner = &inner};
    (void)state;
    assert_true(replay_thread_run(job, &outer));
    assert_int_equal(outer.count, 1);
    assert_int_equal(inner.count, 1);
    assert_true(pthread_equal(inner.thread, outer.thread));
}

static void *jobs_post(void *data)
{
    for (int i = 0; i < JOBS; i++)
        replay_thread_run(job, data);
    return NULL;
}

static void jobs_of_several_threads_run_one_by_one(void **state)
{
    pthread_t threads[THREADS];
    struct seen seen[THREADS] = {0};
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, jobs_post, &seen[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(seen[i].count, JOBS);
        assert_true(pthread_equal(seen[i].thread, seen[0].thread));
    }
    assert_int_equal(overlaps, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_runs_on_a_thread_of_ours),
        cmocka_unit_test(a_job_of_a_job_runs_within_it),
        cmocka_unit_test(jobs_of_several_threads_run_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
