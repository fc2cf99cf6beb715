#include "runs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "refuse.h"

/*
 * What would have reached the program if it ran once, in this process. A signal that the caller
 * ignores (nohup, a background job of a shell) stays ignored here and in the program. The terminal
 * sends its own to the program, too, and those are not sent on. Whoever asks for the end means all
 * runs.
 */
static const struct {
    int number;
    bool ends; /* the run in which it came is the last */
} watched[] = {{SIGINT, true},   {SIGQUIT, true},  {SIGTERM, true},  {SIGHUP, false},
               {SIGUSR1, false}, {SIGUSR2, false}, {SIGALRM, false}, {SIGXCPU, false}};
enum { WATCHED_COUNT = sizeof watched / sizeof watched[0] };
static struct sigaction found[WATCHED_COUNT]; /* the caller's */

/* Written with the watched signals blocked; read by the handler. */
static volatile sig_atomic_t program_pid;
/* Writer: the handler. Reader: the loop over the runs. */
static volatile sig_atomic_t end_asked, between_runs;
/* SIGHUP came: to many programs a word between friends, unless it ends them. Writer: the handler;
 * reader: who waits for the program. */
static volatile sig_atomic_t has_hung_up;

static bool ends_all(int number)
{
    for (int i = 0; i < WATCHED_COUNT; i++)
        if (watched[i].number == number)
            return watched[i].ends;
    return false;
}

/* Between two runs there is no program: it gets the signal when it would not have a handler yet. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    (void)context;
    if (program_pid <= 0)
        between_runs = number;
    else if (info->si_code <= 0) /* not the terminal's: sent to this process */
        kill((pid_t)program_pid, number);
    bool is_closed = number == SIGHUP && info->si_code > 0; /* its terminal is gone */
    if (ends_all(number) || is_closed)
        end_asked = number;
    has_hung_up |= number == SIGHUP;
    errno = saved_errno;
}

static sigset_t watched_set(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < WATCHED_COUNT; i++)
        sigaddset(&set, watched[i].number);
    return set;
}

void runs_begin(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    action.sa_mask = watched_set();
    for (int i = 0; i < WATCHED_COUNT; i++) {
        sigaction(watched[i].number, NULL, &found[i]);
        if ((found[i].sa_flags & SA_SIGINFO) || found[i].sa_handler != SIG_IGN)
            sigaction(watched[i].number, &action, NULL);
    }
}

void runs_end(void)
{
    for (int i = 0; i < WATCHED_COUNT; i++)
        sigaction(watched[i].number, &found[i], NULL);
}

int runs_end_asked(void)
{
    return end_asked;
}

/* The child stays until program_wait has taken its number from the handler: nobody else can have
 * it. */
static int program_wait(pid_t child)
{
    siginfo_t info;
    sigset_t watched_signals = watched_set(), before;
    int status = -1;
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    sigprocmask(SIG_BLOCK, &watched_signals, &before);
    program_pid = 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    while (waitpid(child, &status, 0) < 0) {
        if (errno == EINTR)
            continue;
        fprintf(stderr, "crocprof: waitpid: %s\n", strerror(errno));
        return -1;
    }
    if (has_hung_up && WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP)
        end_asked = SIGHUP;
    return status;
}

static bool is_pending(const sigset_t *but_for)
{
    sigset_t pending;
    sigpending(&pending);
    for (int i = 0; i < WATCHED_COUNT; i++)
        if (!sigismember(but_for, watched[i].number) && sigismember(&pending, watched[i].number))
            return true;
    return false;
}

/* Who kills this process means the program: without us nobody could pass a signal on to it. */
static bool child_tie(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return getppid() == parent;
}

static int child_main(int (*become)(void *data), void *data, const sigset_t *unblocked,
                      pid_t parent)
{
    runs_end();
    if (!child_tie(parent))
        return EXIT_SIGNAL + SIGKILL;
    program_pid = end_asked = between_runs = has_hung_up = 0; /* it may have runs of its own */
    sigprocmask(SIG_SETMASK, unblocked, NULL);
    return become(data);
}

/* A signal that comes meanwhile waits until the program can have it. */
bool runs_once(int (*become)(void *data), void *data, int *status)
{
    sigset_t watched_signals = watched_set(), before;
    sigprocmask(SIG_BLOCK, &watched_signals, &before);
    if (between_runs || is_pending(&before)) {
        sigprocmask(SIG_SETMASK, &before, NULL); /* the handler runs now */
        *status = between_runs;                  /* a bare number: killed by that signal */
        return false;
    }
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        _exit(child_main(become, data, &before, parent));
    int error = errno;
    program_pid = child > 0 ? child : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    *status = child > 0 ? program_wait(child) : -1;
    if (child < 0)
        fprintf(stderr, "crocprof: fork: %s\n", strerror(error));
    return true;
}

int runs_end_like(int status)
{
    if (status < 0)
        return EXIT_NOT_STARTED;
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, WTERMSIG(status));
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* the program has left its own */
    signal(WTERMSIG(status), SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(WTERMSIG(status));
    return EXIT_SIGNAL + WTERMSIG(status);
}
