#include "intercept/hsa/replay_thread.h"

#include <pthread.h>
#include <stddef.h>

#include "base/own_thread.h"
#include "base/thread.h"
#include "base/wait.h"

#define IDLE_NS WAIT_NS_PER_S

struct job {
    struct job *next;
    void (*run)(void *data);
    void *data;
    bool is_done;
};

/* Under the lock, which is given up while a job runs. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t posted, done;
    struct job *first;
    void (*when_idle)(void);
    bool is_there; /* the thread */
    pthread_t thread;
} worker = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void fork_prepare(void)
{
    pthread_mutex_lock(&worker.lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&worker.lock);
}

/* Waits by CLOCK_MONOTONIC. */
static void posted_make(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&worker.posted, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Thread and jobs are the parent's. */
static void fork_child(void)
{
    worker.first = NULL;
    worker.when_idle = NULL;
    worker.is_there = false;
    posted_make();
    pthread_cond_init(&worker.done, NULL);
    pthread_mutex_unlock(&worker.lock);
}

static void first_time(void)
{
    posted_make();
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* Under the lock, which it gives up. Nothing is to be done. */
static void worker_rest(void)
{
    const struct timespec limit = wait_deadline(CLOCK_MONOTONIC, IDLE_NS);
    if (!worker.when_idle) {
        pthread_cond_wait(&worker.posted, &worker.lock);
        return;
    }
    void (*run)(void) = worker.when_idle;
    int error = 0;
    while (!worker.first && error == 0)
        error = pthread_cond_timedwait(&worker.posted, &worker.lock, &limit);
    if (worker.first)
        return;
    worker.when_idle = NULL;
    pthread_mutex_unlock(&worker.lock);
    run();
    pthread_mutex_lock(&worker.lock);
}

static void *worker_main(void *unused)
{
    (void)unused;
    own_thread_name("replay");
    thread_own_work_begin(); /* all that it does */
    pthread_mutex_lock(&worker.lock);
    for (;;) {
        struct job *job = worker.first;
        if (!job) {
            worker_rest();
            continue;
        }
        worker.first = job->next;
        pthread_mutex_unlock(&worker.lock);
        job->run(job->data);
        pthread_mutex_lock(&worker.lock);
        job->is_done = true;
        pthread_cond_broadcast(&worker.done);
    }
    return NULL;
}

/* Under the lock. */
static bool worker_start(void)
{
    if (worker.is_there)
        return true;
    worker.is_there = own_thread_create(&worker.thread, worker_main, NULL) == 0;
    if (worker.is_there)
        pthread_detach(worker.thread);
    return worker.is_there;
}

bool replay_thread_run(void (*run)(void *data), void *data)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct job job = {.run = run, .data = data};
    int cancel_state;
    pthread_once(&once, first_time);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* the job is on our stack */
    pthread_mutex_lock(&worker.lock);
    bool is_there = worker_start();
    if (is_there && pthread_equal(worker.thread, pthread_self())) {
        pthread_mutex_unlock(&worker.lock);
        pthread_setcancelstate(cancel_state, NULL);
        run(data);
        return true;
    }
    if (is_there) {
        struct job **link = &worker.first;
        while (*link)
            link = &(*link)->next;
        *link = &job;
        pthread_cond_signal(&worker.posted);
    }
    while (is_there && !job.is_done)
        pthread_cond_wait(&worker.done, &worker.lock);
    pthread_mutex_unlock(&worker.lock);
    pthread_setcancelstate(cancel_state, NULL);
    return is_there;
}

void replay_thread_when_idle(void (*run)(void))
{
    pthread_mutex_lock(&worker.lock);
    bool is_known = worker.when_idle != NULL;
    worker.when_idle = run;
    if (worker.is_there && !is_known)
        pthread_cond_signal(&worker.posted);
    pthread_mutex_unlock(&worker.lock);
}
