#include "intercept/hsa/replay_thread.h"

#include <pthread.h>
#include <stddef.h>

#include "base/own_thread.h"
#include "base/thread.h"

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
    bool is_there; /* the thread */
} worker = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .posted = PTHREAD_COND_INITIALIZER,
            .done = PTHREAD_COND_INITIALIZER};

static void fork_prepare(void)
{
    pthread_mutex_lock(&worker.lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&worker.lock);
}

/* Thread and jobs are the parent's. */
static void fork_child(void)
{
    worker.first = NULL;
    worker.is_there = false;
    pthread_cond_init(&worker.posted, NULL);
    pthread_cond_init(&worker.done, NULL);
    pthread_mutex_unlock(&worker.lock);
}

static void fork_watch(void)
{
    pthread_atfork(fork_prepare, fork_parent, fork_child);
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
            pthread_cond_wait(&worker.posted, &worker.lock);
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
    pthread_t thread;
    if (worker.is_there)
        return true;
    worker.is_there = own_thread_create(&thread, worker_main, NULL) == 0;
    if (worker.is_there)
        pthread_detach(thread);
    return worker.is_there;
}

bool replay_thread_run(void (*run)(void *data), void *data)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct job job = {.run = run, .data = data};
    int cancel_state;
    pthread_once(&once, fork_watch);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state); /* the job is on our stack */
    pthread_mutex_lock(&worker.lock);
    bool is_there = worker_start();
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
