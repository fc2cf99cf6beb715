#include "intercept/hsa/completion.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { STALL_NS = 200000000 };

struct job {
    struct inflight work; /* first */
    volatile int64_t value;
    int number;
    bool failed;
    _Atomic bool completed;
};

static _Atomic int completed_count;
static int completed_order[65536];

static void job_complete(struct inflight *work, bool failed)
{
    struct job *job = (struct job *)(void *)work;
    job->failed = failed;
    completed_order[atomic_load(&completed_count)] = job->number;
    atomic_store(&job->completed, true);
    atomic_fetch_add(&completed_count, 1);
}

static bool job_ended(struct inflight *work)
{
    const struct job *job = (const struct job *)(const void *)work;
    return __atomic_load_n(&job->value, __ATOMIC_ACQUIRE) < 1;
}

static void job_post(struct job *job, struct inflight_lane *lane, int number)
{
    job->value = 1;
    job->number = number;
    job->failed = false;
    atomic_store(&job->completed, false);
    job->work = (struct inflight){
        .lane = lane, .urgent = number % 2 == 0, .ended = job_ended, .complete = job_complete};
    completion_post(&job->work);
}

static void device_end(struct job *job)
{
    __atomic_store_n(&job->value, 0, __ATOMIC_RELEASE);
}

static bool job_wait(struct job *job)
{
    for (int i = 0; i < 2000 && !atomic_load(&job->completed); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return atomic_load(&job->completed);
}

static int start(void **state)
{
    (void)state;
    atomic_store(&completed_count, 0);
    return completion_start() ? 0 : -1;
}

/* All have ended when the thread looks: one that ends behind its eyes is overtaken. */
static void one_lane_in_order(void **state)
{
    static struct job jobs[1000];
    struct inflight_lane lane = {0};
    (void)state;
    assert_true(completion_hold(STALL_NS));
    for (int i = 0; i < 1000; i++)
        job_post(&jobs[i], &lane, i);
    for (int i = 0; i < 1000; i++)
        device_end(&jobs[i]);
    completion_hold_end();
    assert_true(completion_lane_close(&lane, STALL_NS));
    assert_int_equal(atomic_load(&completed_count), 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(completed_order[i], i);
}

/* Who holds the thread and then waits, as a tool that is told of its runtime's end may do, would
 * wait for itself: until the stall limit, here longer than the test may take. */
static void the_holder_waits_for_nothing(void **state)
{
    const uint64_t for_ever_ns = 3600ull * 1000000000u;
    struct inflight_lane lane = {0};
    struct job job;
    (void)state;
    assert_true(completion_hold(STALL_NS));
    job_post(&job, &lane, 1);
    device_end(&job);
    assert_false(completion_drain(for_ever_ns));
    assert_false(completion_lane_drain(&lane, for_ever_ns));
    assert_false(completion_lane_close(&lane, for_ever_ns));
    completion_harvest(for_ever_ns);
    assert_false(atomic_load(&job.completed));
    completion_hold_end();
    assert_true(completion_drain(STALL_NS));
    assert_true(atomic_load(&job.completed));
    assert_true(completion_lane_close(&lane, STALL_NS));
}

/* A kernel without barrier bit may end before an older one, which may even wait for it. */
static void a_later_entry_overtakes(void **state)
{
    struct inflight_lane lane = {0};
    struct job first, second;
    (void)state;
    job_post(&first, &lane, 1);
    job_post(&second, &lane, 2);
    device_end(&second);
    assert_true(job_wait(&second));
    assert_false(atomic_load(&first.completed));
    device_end(&first);
    assert_true(completion_lane_close(&lane, STALL_NS));
    assert_true(atomic_load(&first.completed));
}

static void drain_gives_up_when_nothing_moves(void **state)
{
    struct inflight_lane stuck_lane = {0}, other_lane = {0};
    struct job stuck, other;
    (void)state;
    job_post(&stuck, &stuck_lane, 1);
    job_post(&other, &other_lane, 2);
    device_end(&other);
    assert_false(completion_drain(STALL_NS));
    assert_true(atomic_load(&other.completed));
    assert_false(atomic_load(&stuck.completed));
    /* The queue is declared dead: its work completes as failed. */
    uint64_t failed = completion_failed_count();
    atomic_store(&stuck_lane.failed, true);
    assert_true(completion_lane_close(&stuck_lane, STALL_NS));
    assert_true(completion_lane_close(&other_lane, STALL_NS));
    assert_true(stuck.failed);
    assert_int_equal(completion_failed_count(), failed + 1);
}

static void harvest_reports_what_has_ended(void **state)
{
    static struct job jobs[200];
    struct inflight_lane lane = {0};
    (void)state;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 200; i++)
            job_post(&jobs[i], &lane, i);
        for (int i = 0; i < 200; i += 2)
            device_end(&jobs[i]);
        completion_harvest(STALL_NS);
        for (int i = 0; i < 200; i++)
            assert_int_equal(atomic_load(&jobs[i].completed), i % 2 == 0);
        for (int i = 1; i < 200; i += 2)
            device_end(&jobs[i]);
        assert_true(completion_lane_drain(&lane, STALL_NS));
    }
    assert_true(completion_lane_close(&lane, STALL_NS));
}

struct poster {
    struct inflight_lane lane;
    struct inflight_ring ring;
    struct job jobs[4000];
    pthread_t thread;
};

static void *poster_main(void *data)
{
    struct poster *poster = data;
    for (int i = 0; i < 4000; i++) {
        job_post(&poster->jobs[i], &poster->lane, i);
        if (i >= 64)
            device_end(&poster->jobs[i - 64]);
    }
    for (int i = 4000 - 64; i < 4000; i++)
        device_end(&poster->jobs[i]);
    return NULL;
}

/* Two of them with rings, which are too small while the thread naps. */
static void many_posters_lose_nothing(void **state)
{
    enum { POSTERS = 4 };
    struct poster *posters = aligned_alloc(64, POSTERS * sizeof *posters);

    (void)state;
    memset(posters, 0, POSTERS * sizeof *posters);
    for (int p = 0; p < POSTERS; p++)
        posters[p].lane.ring = p % 2 == 0 ? &posters[p].ring : NULL;
    for (int p = 0; p < POSTERS; p++)
        pthread_create(&posters[p].thread, NULL, poster_main, &posters[p]);
    for (int p = 0; p < POSTERS; p++)
        pthread_join(posters[p].thread, NULL);
    assert_true(completion_drain(STALL_NS));
    assert_int_equal(atomic_load(&completed_count), POSTERS * 4000);
    for (int p = 0; p < POSTERS; p++)
        assert_true(completion_lane_close(&posters[p].lane, STALL_NS));
    free(posters);
}

/* The completion thread is busy until the test lets it go, as with a tool's slow callback. */
static _Atomic bool thread_held, thread_is_held;

static void holding_complete(struct inflight *work, bool failed)
{
    atomic_store(&thread_is_held, true);
    while (atomic_load(&thread_held))
        sched_yield();
    job_complete(work, failed);
}

static void thread_hold(struct job *job, struct inflight_lane *lane)
{
    atomic_store(&thread_held, true);
    atomic_store(&thread_is_held, false);
    *job = (struct job){.work = {.lane = lane, .ended = job_ended, .complete = holding_complete}};
    completion_post(&job->work);
    while (!atomic_load(&thread_is_held))
        sched_yield();
}

/* An error stops a queue; kernels before the one that caused it had ended, and somebody waits. */
static void a_failed_lane_completes_what_has_ended(void **state)
{
    struct inflight_lane lane = {0}, holder_lane = {0};
    struct job holder, ended, lost, ended_too;
    (void)state;
    thread_hold(&holder, &holder_lane);
    job_post(&ended, &lane, 1);
    job_post(&lost, &lane, 2);
    job_post(&ended_too, &lane, 3);
    device_end(&ended);
    device_end(&ended_too);
    atomic_store(&lane.failed, true);
    atomic_store(&thread_held, false);
    assert_true(completion_lane_close(&lane, STALL_NS));
    assert_true(completion_lane_close(&holder_lane, STALL_NS));
    assert_false(ended.failed);
    assert_false(ended_too.failed);
    assert_true(lost.failed);
}

/* A full ring's entries and those that found it full come in their order, round after round. */
static void an_overflowing_ring_keeps_the_order(void **state)
{
    enum { JOBS = INFLIGHT_RING_SLOTS * 2 };
    static struct inflight_ring ring;
    static struct job jobs[JOBS];
    struct inflight_lane lane = {.ring = &ring}, holder_lane = {0};
    struct job holder;

    (void)state;
    for (int round = 0; round < 20; round++) {
        thread_hold(&holder, &holder_lane);
        for (int i = 0; i < JOBS; i++) {
            job_post(&jobs[i], &lane, i);
            device_end(&jobs[i]);
            if (i == JOBS - JOBS / 4)
                atomic_store(&thread_held, false);
        }
        assert_true(completion_lane_drain(&lane, STALL_NS));
        assert_true(completion_lane_drain(&holder_lane, STALL_NS));
        assert_int_equal(atomic_load(&completed_count), JOBS + 1); /* the holder first */
        for (int i = 0; i < JOBS; i++)
            assert_int_equal(completed_order[i + 1], i);
        atomic_store(&completed_count, 0);
    }
    assert_true(completion_lane_close(&lane, STALL_NS));
    assert_true(completion_lane_close(&holder_lane, STALL_NS));
}

struct drainer {
    struct job *before;
    _Atomic bool begun;
    bool result, before_was_completed;
};

static void *drainer_main(void *data)
{
    struct drainer *drainer = data;
    atomic_store(&drainer->begun, true);
    drainer->result = completion_drain(20ull * STALL_NS);
    drainer->before_was_completed = atomic_load(&drainer->before->completed);
    return NULL;
}

/* Drain is about certain entries, not about as many others. */
static void drain_waits_for_what_was_there_before(void **state)
{
    struct inflight_lane slow_lane = {0}, quick_lane = {0};
    struct job slow, quick[10];
    struct drainer drainer = {.before = &slow};
    pthread_t thread;
    (void)state;
    job_post(&slow, &slow_lane, 1);
    pthread_create(&thread, NULL, drainer_main, &drainer);
    while (!atomic_load(&drainer.begun))
        sched_yield();
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* lets it ask; may be too short */
    for (int i = 0; i < 10; i++) {
        job_post(&quick[i], &quick_lane, 2);
        device_end(&quick[i]);
        assert_true(job_wait(&quick[i]));
    }
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    device_end(&slow);
    pthread_join(thread, NULL);
    assert_true(drainer.result);
    assert_true(drainer.before_was_completed);
    assert_true(completion_lane_close(&slow_lane, STALL_NS));
    assert_true(completion_lane_close(&quick_lane, STALL_NS));
}

/* A program that goes on launching. */
static _Atomic bool launching, launch_ends;

static void *launcher_main(void *unused)
{
    struct inflight_lane lane = {0};
    struct job job;
    (void)unused;
    for (int i = 0; i < 20000 && !atomic_load(&launch_ends); i++) {
        job_post(&job, &lane, 2);
        atomic_store(&launching, true);
        device_end(&job);
        job_wait(&job);
    }
    atomic_store(&launching, false);
    assert_true(completion_lane_close(&lane, STALL_NS));
    return NULL;
}

/* Others' progress is none for who waits for work that hangs: the program's threads that destroy
 * such a queue, or end the process, go on. */
static void waiting_ends_though_others_go_on(void **state)
{
    struct inflight_lane stuck_lane = {0};
    struct job stuck;
    pthread_t thread;
    (void)state;
    atomic_store(&launching, false);
    atomic_store(&launch_ends, false);
    job_post(&stuck, &stuck_lane, 1);
    pthread_create(&thread, NULL, launcher_main, NULL);
    while (!atomic_load(&launching))
        sched_yield();
    assert_false(completion_lane_drain(&stuck_lane, STALL_NS));
    assert_true(atomic_load(&launching));
    assert_false(completion_drain(STALL_NS));
    assert_true(atomic_load(&launching));
    atomic_store(&launch_ends, true);
    pthread_join(thread, NULL);
    device_end(&stuck);
    assert_true(completion_lane_close(&stuck_lane, STALL_NS));
}

/* A tenth of a second in which the process takes no more than 2 ms of processor time; a thread that
 * looks again and again takes all of each. On a busy machine one or the other is charged more. */
static bool sleeps_for_once(void)
{
    int64_t used_ns = INT64_MAX;
    for (int i = 0; i < 50 && used_ns >= 2000000; i++) {
        struct timespec before, after;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
        used_ns = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    }
    return used_ns < 2000000;
}

/* An idle thread costs nothing and still wakes, from naps and from sleep. */
static void idle_and_again(void **state)
{
    static struct inflight_ring ring;
    struct inflight_lane lane = {.ring = &ring};
    struct job job;
    (void)state;
    for (int i = 0; i < 20; i++) {
        job_post(&job, &lane, i);
        device_end(&job);
        assert_true(job_wait(&job));
        assert_true(completion_lane_drain(&lane, STALL_NS));
        nanosleep(&(struct timespec){.tv_nsec = i % 4 == 0 ? 30000000 : 3000000}, NULL);
    }
    assert_true(sleeps_for_once());
    assert_true(completion_lane_close(&lane, STALL_NS));
}

/* Lanes come and go while the thread naps, parks and sleeps; their memory goes at once. */
static void lanes_come_and_go(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct poster *poster = aligned_alloc(64, sizeof *poster);
        memset(poster, 0, sizeof *poster);
        poster->lane.ring = i % 2 == 0 ? &poster->ring : NULL;
        for (int j = 0; j < i % 7; j++) {
            job_post(&poster->jobs[j], &poster->lane, j);
            device_end(&poster->jobs[j]);
        }
        if (i % 50 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 11000000}, NULL);
        assert_true(completion_lane_close(&poster->lane, STALL_NS));
        memset(poster, 0x55, sizeof *poster);
        free(poster);
    }
}

/* A row is asked, completed and handed back as a whole. */
static _Atomic int rows_asked, rows_completed;
static _Atomic bool row_is_open;

static void row_asking(void)
{
    atomic_store(&row_is_open, true);
}

static void row_asked(void)
{
    atomic_store(&row_is_open, false);
    atomic_fetch_add(&rows_asked, 1);
}

static bool row_job_ended(struct inflight *work)
{
    assert_true(atomic_load(&row_is_open));
    return job_ended(work);
}

static void row_completed(struct inflight_lane *lane)
{
    atomic_fetch_add(&rows_completed, 1);
    assert_true(atomic_load(&lane->finished) < atomic_load(&lane->posted));
    assert_false(atomic_load(&row_is_open));
}

static void rows_have_a_begin_and_an_end(void **state)
{
    static const struct inflight_ops ops = {row_asking, row_asked, row_completed};
    static struct inflight_ring ring;
    static struct job jobs[3000];
    struct inflight_lane lane = {.ops = &ops, .ring = &ring};
    (void)state;
    for (int i = 0; i < 3000; i++) {
        jobs[i] = (struct job){.number = i};
        jobs[i].work =
            (struct inflight){.lane = &lane, .ended = row_job_ended, .complete = job_complete};
        completion_post(&jobs[i].work);
    }
    assert_true(completion_lane_close(&lane, STALL_NS));
    assert_int_equal(atomic_load(&completed_count), 3000);
    assert_true(atomic_load(&rows_completed) >= 1);
    assert_true(atomic_load(&rows_completed) <= atomic_load(&rows_asked));
}

/* The parent's work in flight is not the child's, which may use the same lanes. */
static void a_child_starts_anew(void **state)
{
    static struct inflight_ring ring;
    static struct inflight_lane lane = {.ring = &ring};
    struct job of_parent, of_child;
    int status = -1;
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* its runtime makes no threads in the child of a program with threads */
#endif
    job_post(&of_parent, &lane, 1);
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    pid_t child = fork();
    if (child == 0) {
        bool good = completion_drain(STALL_NS) && completion_start();
        device_end(&of_parent);
        job_post(&of_child, &lane, 2);
        device_end(&of_child);
        good &= completion_lane_close(&lane, STALL_NS) && atomic_load(&of_child.completed);
        _exit(good && !atomic_load(&of_parent.completed) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    device_end(&of_parent);
    assert_true(completion_lane_close(&lane, STALL_NS));
    assert_true(atomic_load(&of_parent.completed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_lane_in_order, start),
        cmocka_unit_test_setup(a_later_entry_overtakes, start),
        cmocka_unit_test_setup(drain_gives_up_when_nothing_moves, start),
        cmocka_unit_test_setup(harvest_reports_what_has_ended, start),
        cmocka_unit_test_setup(many_posters_lose_nothing, start),
        cmocka_unit_test_setup(a_failed_lane_completes_what_has_ended, start),
        cmocka_unit_test_setup(an_overflowing_ring_keeps_the_order, start),
        cmocka_unit_test_setup(drain_waits_for_what_was_there_before, start),
        cmocka_unit_test_setup(waiting_ends_though_others_go_on, start),
        cmocka_unit_test_setup(idle_and_again, start),
        cmocka_unit_test_setup(the_holder_waits_for_nothing, start),
        cmocka_unit_test_setup(lanes_come_and_go, start),
        cmocka_unit_test_setup(rows_have_a_begin_and_an_end, start),
        cmocka_unit_test_setup(a_child_starts_anew, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
