#include "ending.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Longer than completing a report takes, short enough for somebody who waits after Ctrl-C. */
enum { FINISH_SECONDS = 10 };

/* Default action: the process ends. SIGSEGV and its like are left alone: the runtime's and the
 * kernel's own reports of them must not be delayed or lost. */
static const int ending_signals[] = {SIGABRT, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM};

static struct {
    void (*finish)(void);
    sem_t wanted, finished;
    pid_t pid; /* of the process that prepared; a forked child has no helper thread */
    /* Set by whoever starts the end, read by all others: acq_rel exchange; one winner. */
    atomic_bool started;
} ending;

/*
 * A signal handler may interrupt malloc, and finishing allocates. So it runs here; the handler only
 * posts and waits, and if the interrupted thread holds a lock that finishing needs, the wait ends
 * by time and only the rest of the report is lost.
 */
static void *helper_main(void *unused)
{
    (void)unused;
    while (sem_wait(&ending.wanted) != 0)
        ;
    ending.finish();
    sem_post(&ending.finished);
    return NULL;
}

static void end_begin(void)
{
    if (!ending.finish || getpid() != ending.pid ||
        atomic_exchange_explicit(&ending.started, true, memory_order_acq_rel))
        return;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FINISH_SECONDS;
    sem_post(&ending.wanted);
    while (sem_timedwait(&ending.finished, &until) != 0 && errno == EINTR)
        ;
}

/* SA_RESETHAND has put the default action back: raising again ends the process by this signal. */
static void signal_end(int number)
{
    int saved_errno = errno;
    end_begin();
    errno = saved_errno;
    raise(number);
}

static void signals_take(void)
{
    for (size_t i = 0; i < sizeof ending_signals / sizeof ending_signals[0]; i++) {
        struct sigaction before;
        if (sigaction(ending_signals[i], NULL, &before) != 0 || before.sa_handler != SIG_DFL)
            continue;
        struct sigaction ours = {.sa_handler = signal_end, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&ours.sa_mask);
        sigaction(ending_signals[i], &ours, NULL);
    }
}

static int helper_start(void)
{
    pthread_t helper;
    sigset_t all, before;
    sigfillset(&all); /* the program's signals are for the program's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(&helper, NULL, helper_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == 0)
        pthread_detach(helper);
    return -status;
}

int ending_prepare(void (*finish)(void))
{
    if (sem_init(&ending.wanted, 0, 0) != 0 || sem_init(&ending.finished, 0, 0) != 0)
        return -errno;
    ending.pid = getpid();
    int status = helper_start();
    if (status != 0)
        return status;
    ending.finish = finish;
    at_quick_exit(end_begin);
    signals_take();
    return 0;
}

void ending_done(void)
{
    atomic_store_explicit(&ending.started, true, memory_order_release);
}

/* Found before libc's, because this library is preloaded. libc's own exit() does not come here. */
__attribute__((visibility("default"), noreturn)) void _exit(int status)
{
    end_begin();
    for (;;)
        syscall(SYS_exit_group, status);
}

__attribute__((visibility("default"), noreturn)) void _Exit(int status)
{
    _exit(status);
}
