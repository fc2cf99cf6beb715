#include "base/ending.h"

#include "base/own_thread.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Longer than completing a report takes, short enough for somebody who waits after Ctrl-C. */
enum { FINISH_SECONDS = 10 };

/* Default action: the process ends. */
static const int ending_signals[] = {SIGABRT, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM};
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};

static struct {
    void (*finish)(void);
    _Atomic(void (*)(void)) leave; /* writer: ending_notice; NULL: nobody wants to know */
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
    own_thread_name("end");
    while (sem_wait(&ending.wanted) != 0)
        ;
    ending.finish();
    sem_post(&ending.finished);
    return NULL;
}

void ending_notice(void (*leave)(void))
{
    atomic_store(&ending.leave, leave);
}

/* In a signal handler: not by the log. */
static void incomplete_tell(void)
{
    static const char text[] = "crocprof warning: the program ends before its report is complete\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        return;
}

void ending_begin(void)
{
    if (!ending.finish || getpid() != ending.pid ||
        atomic_exchange_explicit(&ending.started, true, memory_order_acq_rel))
        return;
    void (*leave)(void) = atomic_load(&ending.leave);
    if (leave)
        leave();
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += FINISH_SECONDS;
    sem_post(&ending.wanted);
    int status;
    while ((status = sem_timedwait(&ending.finished, &until)) != 0 && errno == EINTR)
        ;
    if (status != 0)
        incomplete_tell();
}

/* SA_RESETHAND has put the default action back: raising again ends the process by this signal. */
static void signal_end(int number)
{
    int saved_errno = errno;
    ending_begin();
    errno = saved_errno;
    raise(number);
}

/* SA_RESETHAND again. A fault is left to happen once more, so that the core file and a debugger
 * show the place; a crash signal that somebody sent would be forgotten and is raised. */
static void crash_end(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved_errno = errno;
    ending_begin();
    errno = saved_errno;
    if (info->si_code <= 0)
        raise(number);
}

static void signals_take(const int *numbers, size_t count, const struct sigaction *ours)
{
    for (size_t i = 0; i < count; i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && !(before.sa_flags & SA_SIGINFO) &&
            before.sa_handler == SIG_DFL)
            sigaction(numbers[i], ours, NULL);
    }
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void all_signals_take(bool crashes)
{
    struct sigaction action = {.sa_handler = signal_end, .sa_flags = (int)SA_RESETHAND};
    signals_take(ending_signals, COUNT(ending_signals), &action);
    action.sa_sigaction = crash_end;
    action.sa_flags |= SA_SIGINFO;
    if (crashes)
        signals_take(crash_signals, COUNT(crash_signals), &action);
}

static int helper_start(void)
{
    pthread_t helper;
    int status = own_thread_create(&helper, helper_main, NULL);
    if (status == 0)
        pthread_detach(helper);
    return -status;
}

int ending_prepare(void (*finish)(void), bool crashes)
{
    if (sem_init(&ending.wanted, 0, 0) != 0 || sem_init(&ending.finished, 0, 0) != 0)
        return -errno;
    ending.pid = getpid();
    int status = helper_start();
    if (status != 0)
        return status;
    ending.finish = finish;
    at_quick_exit(ending_begin);
    all_signals_take(crashes);
    return 0;
}

void ending_done(void)
{
    atomic_store_explicit(&ending.started, true, memory_order_release);
}
