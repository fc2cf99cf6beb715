#include "periods.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/wait.h"
#include "callbacks.h"

/* How long the end of the program waits for a plugin that does not return. */
enum { END_SECONDS = 30 };

struct worker {
    pthread_t thread;
    _Atomic bool is_running; /* whoever starts and ends it (they do not overlap); relaxed: wakers */
    sem_t wake;
};

static struct {
    struct worker worker;
    void (*write)(bool is_period);
    uint32_t period_us;
} writer;

static struct {
    struct worker worker;
    void (*on)(void);
    void (*off)(void);
    uint32_t delay_us, length_us, rate_us;
} switcher;

static _Atomic bool ending; /* set before the workers are woken (release), read by them (acquire) */

static bool is_ending(void)
{
    return atomic_load_explicit(&ending, memory_order_acquire);
}

static struct timespec time_after(uint64_t us)
{
    return wait_deadline(CLOCK_MONOTONIC, us * WAIT_NS_PER_US);
}

/* True: the time has passed; false: woken. */
static bool sleep_until(sem_t *wake, const struct timespec *time)
{
    int status;
    do
        status = time ? sem_clockwait(wake, CLOCK_MONOTONIC, time) : sem_wait(wake);
    while (status != 0 && errno == EINTR);
    return status != 0;
}

static void *writer_main(void *unused)
{
    (void)unused;
    callbacks_ignore_thread(true);
    while (!is_ending()) {
        struct timespec next = time_after(writer.period_us);
        bool is_period = sleep_until(&writer.worker.wake, writer.period_us ? &next : NULL);
        if (!is_ending())
            writer.write(is_period);
    }
    return NULL;
}

static void *switcher_main(void *unused)
{
    (void)unused;
    callbacks_ignore_thread(true);
    struct timespec next = time_after(switcher.delay_us);
    while (sleep_until(&switcher.worker.wake, &next) && !is_ending()) {
        switcher.on();
        next = time_after(switcher.length_us);
        sleep_until(&switcher.worker.wake, &next);
        switcher.off();
        if (is_ending())
            break;
        next = time_after(switcher.rate_us - switcher.length_us);
    }
    return NULL;
}

static bool worker_start(struct worker *worker, void *(*run)(void *))
{
    sigset_t all, before;
    if (sem_init(&worker->wake, 0, 0) != 0)
        return false;
    atomic_store_explicit(&ending, false, memory_order_release);
    sigfillset(&all); /* the program's signals are for the program's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    worker->is_running = pthread_create(&worker->thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return worker->is_running;
}

bool writer_start(void (*write)(bool is_period), uint32_t period_us)
{
    writer.write = write;
    writer.period_us = period_us;
    return worker_start(&writer.worker, writer_main);
}

void writer_wake(void)
{
    if (writer.worker.is_running)
        sem_post(&writer.worker.wake);
}

bool switcher_start(void (*on)(void), void (*off)(void), uint32_t delay_us, uint32_t length_us,
                    uint32_t rate_us)
{
    switcher.on = on;
    switcher.off = off;
    switcher.delay_us = delay_us;
    switcher.length_us = length_us;
    switcher.rate_us = rate_us;
    return worker_start(&switcher.worker, switcher_main);
}

static bool worker_end(struct worker *worker)
{
    if (!worker->is_running)
        return true;
    if (pthread_equal(worker->thread, pthread_self())) /* a plugin ends the program */
        return false;
    sem_post(&worker->wake);
    struct timespec limit = time_after((uint64_t)END_SECONDS * 1000000);
    if (pthread_clockjoin_np(worker->thread, NULL, CLOCK_MONOTONIC, &limit) != 0)
        return false;
    worker->is_running = false;
    return true;
}

bool periods_end(void)
{
    atomic_store_explicit(&ending, true, memory_order_release);
    bool switcher_ended = worker_end(&switcher.worker);
    return worker_end(&writer.worker) && switcher_ended;
}

void periods_forget(void)
{
    switcher.worker.is_running = writer.worker.is_running = false;
}
