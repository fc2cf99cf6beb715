#include "base/ending.h"

#include "base/futex.h"
#include "base/own_thread.h"
#include "base/wait.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

/* Longer than completing a report takes, short enough for somebody who waits after Ctrl-C. */
#ifndef ENDING_LIMIT_MS
#define ENDING_LIMIT_MS 10000 /* a test of what is behind it has less time */
#endif

/*
 * What a signal means when the program's own handler, installed after ours, calls ours: it found
 * us in the place of the default action.
 *   SENT   the program has seen it and decides by itself: nothing to do
 *   ABORT  abort() goes on to end the process whatever handlers do: last chance to finish
 *   FAULT  happens again as soon as the handler returns, for ever, unless the process ends
 */
enum kind { SENT, ABORT, FAULT };

/* Every signal whose default action ends the process, but SIGKILL, and the real-time signals:
 * nobody ends programs by those, and runtimes (Mono's) look for some whose disposition is the
 * default, and give up when there is none. */
static const struct fatal {
    int number;
    enum kind kind;
    const char *sender;
} fatal_signals[] = {
    {SIGHUP, SENT, "a terminal that closes"},
    {SIGINT, SENT, "Ctrl-C"},
    {SIGQUIT, SENT, "Ctrl-\\"},
    {SIGTERM, SENT, "kill, time limits of shells and batch systems"},
    {SIGUSR1, SENT, "batch systems, before a time limit"},
    {SIGUSR2, SENT, "batch systems, before a time limit"},
    {SIGPIPE, SENT, "a write to a reader that has gone: ./app | head"},
    {SIGALRM, SENT, "alarm(), which limits a program's time"},
    {SIGVTALRM, SENT, "setitimer()"},
    {SIGPROF, SENT, "setitimer(), by a profiler that has left"},
    {SIGXCPU, SENT, "ulimit -t"},
    {SIGXFSZ, SENT, "ulimit -f"},
    {SIGIO, SENT, "a descriptor that is ready"},
    {SIGPWR, SENT, "power failure"},
    {SIGSTKFLT, SENT, "nobody but kill"},
    {SIGTRAP, SENT, "a breakpoint without a debugger; execution goes on behind it"},
    {SIGSYS, SENT, "a system call that a sandbox forbids; execution goes on behind it"},
    {SIGABRT, ABORT, "abort()"},
    {SIGSEGV, FAULT, "an address"},
    {SIGBUS, FAULT, "an address behind a file's end"},
    {SIGILL, FAULT, "an instruction"},
    {SIGFPE, FAULT, "a division"},
};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Bits of `state`. They are set and stay set, but for the last two. */
enum {
    STARTED = 1,     /* somebody ends the program */
    WANTED = 2,      /* the helper shall finish */
    FINISHED = 4,    /* the helper has finished */
    DONE = 8,        /* nothing is left to do, or is being done elsewhere */
    DEFERRED = 16,   /* a signal waits for a thread that is finishing by itself */
    ENDING_NOW = 32, /* the deferred signal ends the program now */
    ASIDE = 64,      /* the helper shall do what `aside` says */
    ASIDE_DONE = 128,
};

static struct {
    void (*finish)(void);
    /* Writer: ending_notice. Readers: whoever ends the program (both seq_cst: a program that is
     * ending may be on any thread). NULL: nobody wants to know. */
    _Atomic(void (*)(void)) leave;
    _Atomic(bool (*)(void)) busy;
    pid_t pid; /* of the process that prepared; a forked child has no helper thread */
    /* Futex word. Writers: whoever ends the program, the helper (acq_rel). Readers: the same
     * (acquire). */
    _Atomic uint32_t state;
    _Atomic int deferred; /* writer: a handler, before DEFERRED; reader: who finds that */
    /* Writer: the thread that has taken it (exchange), before ASIDE. Reader: the helper, after
     * that. */
    void (*aside)(void);
    /* Writers: who wants something done aside takes it (exchange) and gives it back; who waited
     * too long keeps it for ever. seq_cst, since handlers of signals take it, too. */
    _Atomic bool aside_taken;
    /* What was there before ours: the default, or another of ours. Immutable once taken. */
    struct sigaction found[COUNT(fatal_signals)];
    bool taken[COUNT(fatal_signals)];
} ending;

/* The helper's own: the signal that the kernel gave to it although it was for the process. It ends
 * the program by that one when it has finished. */
static __thread bool helper_here __attribute__((tls_model("initial-exec")));
static __thread size_t helper_signal __attribute__((tls_model("initial-exec"))); /* index + 1 */

static uint32_t state_now(void)
{
    return atomic_load_explicit(&ending.state, memory_order_acquire);
}

/* Returns the state as it was before. */
static uint32_t state_add(uint32_t bits)
{
    uint32_t before = atomic_fetch_or_explicit(&ending.state, bits, memory_order_acq_rel);
    futex_wake_all(&ending.state);
    return before;
}

static void state_remove(uint32_t bits)
{
    atomic_fetch_and_explicit(&ending.state, ~bits, memory_order_acq_rel);
}

/* Returns when one of `bits` is set. */
static void state_wait(uint32_t bits)
{
    for (uint32_t state; !((state = state_now()) & bits);)
        futex_wait(&ending.state, state, NULL);
}

/* The same, but false when none is set for ENDING_LIMIT_MS. */
static bool state_wait_limited(uint32_t bits)
{
    uint64_t until_ns = wait_now_ns() + ENDING_LIMIT_MS * (uint64_t)WAIT_NS_PER_MS;
    for (uint32_t state; !((state = state_now()) & bits);) {
        uint64_t now_ns = wait_now_ns();
        if (now_ns >= until_ns)
            return false;
        struct timespec left = wait_timespec(until_ns - now_ns);
        futex_wait(&ending.state, state, &left);
    }
    return true;
}

/* ---- dispositions */

static void on_signal(int number, siginfo_t *info, void *context);

/* Our handlers block the other signals of the table, so that the first one counts, and some that
 * nobody sends: by this mask a library of ours knows the handlers of another. */
static void family_mask(sigset_t *mask)
{
    static const int marks[] = {3, 5, 8, 13, 21};
    sigemptyset(mask);
    for (size_t i = 0; i < COUNT(fatal_signals); i++)
        if (fatal_signals[i].kind == SENT)
            sigaddset(mask, fatal_signals[i].number);
    for (size_t i = 0; i < COUNT(marks); i++)
        sigaddset(mask, SIGRTMAX - marks[i]);
}

/* The handler alone decides: SA_RESETHAND restores it and leaves the flags as they were. */
static bool is_default(const struct sigaction *action)
{
    return action->sa_handler == SIG_DFL;
}

static bool is_of_family(const struct sigaction *action)
{
    sigset_t mask;
    family_mask(&mask);
    for (int number = 1; number <= SIGRTMAX; number++)
        if (sigismember(&mask, number) != sigismember(&action->sa_mask, number))
            return false;
    return !is_default(action) && (action->sa_flags & SA_SIGINFO);
}

static void signal_take(int number)
{
    /* Runtimes with small stacks demand of every handler that it uses the alternate one. */
    struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    family_mask(&ours.sa_mask);
    sigaction(number, &ours, NULL);
}

/* The first process of a container: the kernel drops what its default action would be. Who stops
 * the container sends SIGTERM and, some time later, SIGKILL. */
static bool ends_the_process(const struct fatal *fatal)
{
    return getpid() != 1 || fatal->kind != SENT || fatal->number == SIGTERM;
}

static void all_signals_take(bool crashes)
{
    for (size_t i = 0; i < COUNT(fatal_signals); i++) {
        const struct fatal *fatal = &fatal_signals[i];
        struct sigaction found;
        if ((fatal->kind == FAULT && !crashes) || !ends_the_process(fatal) ||
            sigaction(fatal->number, NULL, &found) != 0 ||
            (!is_default(&found) && !is_of_family(&found)))
            continue;
        if (ending.taken[i] && is_of_family(&found))
            continue; /* this is a forked child, and ours is in that chain already */
        ending.found[i] = found;
        ending.taken[i] = true;
        signal_take(fatal->number);
    }
}

/* ---- the end */

/* By the disposition that was there before ours. It may be pending on this thread, which then is in
 * its handler: it takes effect where that returns to, so that a core file shows the place. With
 * `info` as if it came for the first time. */
static void signal_repeat(size_t index, siginfo_t *info)
{
    int number = fatal_signals[index].number;
    sigaction(number, &ending.found[index], NULL);
    if (!info || syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), number, info) != 0)
        raise(number);
}

/* The deferred signal, outside of any handler, once. Comes back only in a container's first
 * process. */
static void deferred_end(void)
{
    int number = atomic_load_explicit(&ending.deferred, memory_order_seq_cst);
    sigset_t mask;
    if (state_add(ENDING_NOW) & ENDING_NOW)
        return;
    for (size_t i = 0; i < COUNT(fatal_signals); i++)
        if (fatal_signals[i].number == number)
            signal_repeat(i, NULL);
    sigemptyset(&mask);
    sigaddset(&mask, number);
    pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
}

/* A signal handler calls this, so it does not use the log. */
static void incomplete_tell(void)
{
    static const char text[] = "crocprof warning: the program ends before its report is complete\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        return;
}

/*
 * A signal handler may interrupt malloc, and finishing allocates. So it runs here; the handler only
 * posts and waits, and if the interrupted thread holds a lock that finishing needs, the wait ends
 * by time and only the rest of the report is lost.
 */
static bool aside_do(void)
{
    state_wait(WANTED | DEFERRED | ASIDE);
    if (!(state_now() & ASIDE))
        return false;
    state_remove(ASIDE);
    ending.aside();
    state_add(ASIDE_DONE);
    return true;
}

static void *helper_main(void *unused)
{
    (void)unused;
    helper_here = true;
    own_thread_name("end"); /* signals come to this thread only from now on */
    while (aside_do())
        ;
    if (!(state_now() & WANTED) && !state_wait_limited(WANTED | ENDING_NOW)) {
        incomplete_tell();
        deferred_end();
    }
    state_wait(WANTED);
    ending.finish();
    state_add(FINISHED);
    if (helper_signal)
        signal_repeat(helper_signal - 1, NULL);
    return NULL;
}

void ending_notice(void (*leave)(void), bool (*busy)(void))
{
    atomic_store_explicit(&ending.leave, leave, memory_order_seq_cst);
    atomic_store_explicit(&ending.busy, busy, memory_order_seq_cst);
}

/* Threads of ours are what the first one waits for. */
static void second_end(uint32_t state)
{
    bool helper_finishes = (state & WANTED) || !(state & DONE);
    if (helper_finishes && !own_thread_is_current())
        state_wait_limited(FINISHED);
}

void ending_begin(void)
{
    if (!ending.finish || getpid() != ending.pid || helper_here)
        return;
    uint32_t before = state_add(STARTED);
    if (before & (STARTED | DONE)) {
        second_end(before);
        return;
    }
    void (*leave)(void) = atomic_load_explicit(&ending.leave, memory_order_seq_cst);
    if (leave)
        leave();
    state_add(WANTED);
    if (!state_wait_limited(FINISHED))
        incomplete_tell();
}

static bool aside_try(void *unused)
{
    (void)unused;
    return !atomic_exchange_explicit(&ending.aside_taken, true, memory_order_seq_cst);
}

/* Whoever has the helper before us gives it back. */
static bool aside_take(void)
{
    return wait_until(aside_try, NULL, (uint64_t)ENDING_LIMIT_MS * WAIT_NS_PER_MS, WAIT_NS_PER_MS);
}

static bool aside_ask(void (*work)(void))
{
    uint32_t state = state_now();
    if (state & (STARTED | DONE)) {
        second_end(state);
        return false;
    }
    if (!aside_take())
        return false;
    ending.aside = work;
    state_remove(ASIDE_DONE);
    state_add(ASIDE);
    if (!state_wait_limited(ASIDE_DONE)) {
        incomplete_tell();
        return false;
    }
    atomic_store_explicit(&ending.aside_taken, false, memory_order_seq_cst);
    return true;
}

bool ending_aside(void (*work)(void))
{
    int saved_errno = errno;
    bool done = ending_is_prepared() && !own_thread_is_current() && aside_ask(work);
    errno = saved_errno;
    return done;
}

/* ---- handlers */

/* True: this thread is finishing, what it does is not to be torn off. */
static bool signal_defer(int number)
{
    bool (*busy)(void) = atomic_load_explicit(&ending.busy, memory_order_seq_cst);
    if (!busy || getpid() != ending.pid || (state_now() & DONE) || !busy())
        return false;
    if (state_now() & STARTED)
        return true; /* who ends the program waits for this thread */
    int none = 0;
    atomic_compare_exchange_strong_explicit(&ending.deferred, &none, number, memory_order_seq_cst,
                                            memory_order_seq_cst);
    state_add(DEFERRED);
    return true;
}

/* True: this is the helper, and it finishes first, for nobody else would. Before it begins with
 * that it does nothing that could fault: somebody has sent the signal. `info` NULL: not known. */
static bool helper_takes(size_t index, const siginfo_t *info)
{
    if (!helper_here || (state_now() & DONE))
        return false;
    if (state_add(STARTED) & STARTED)
        return info && info->si_code <= 0; /* the program ends already */
    helper_signal = index + 1;
    state_add(WANTED);
    return true;
}

/* By the kernel, and nobody else has a handler. */
static void end_by_signal(size_t index, siginfo_t *info)
{
    const struct fatal *fatal = &fatal_signals[index];
    if (helper_takes(index, info) || (fatal->kind == SENT && signal_defer(fatal->number)))
        return;
    ending_begin();
    signal_repeat(index, info);
}

/* By the program's own handler. With how many arguments is not known. */
static void called_by_program(size_t index, const struct sigaction *now)
{
    switch (fatal_signals[index].kind) {
    case SENT:
        if (is_default(now)) /* its handler was for one signal, the next one ends the program */
            signal_take(fatal_signals[index].number);
        break;
    case ABORT:
        ending_begin();
        break;
    case FAULT:
        if (helper_takes(index, NULL))
            break;
        ending_begin();
        signal_repeat(index, NULL);
        break;
    }
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved_errno = errno;
    struct sigaction now;
    for (size_t i = 0; i < COUNT(fatal_signals); i++) {
        if (fatal_signals[i].number != number || !ending.taken[i] ||
            sigaction(number, NULL, &now) != 0)
            continue;
        if (is_of_family(&now))
            end_by_signal(i, info);
        else
            called_by_program(i, &now);
    }
    errno = saved_errno;
}

/* ---- preparation */

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
    static bool quick_exit_watched; /* a forked child has its parent's true */
    atomic_store_explicit(&ending.state, 0, memory_order_seq_cst);
    atomic_store_explicit(&ending.aside_taken, false, memory_order_seq_cst);
    ending.pid = getpid();
    int status = helper_start();
    if (status != 0)
        return status;
    ending.finish = finish;
    if (!quick_exit_watched)
        quick_exit_watched = at_quick_exit(ending_begin) == 0;
    all_signals_take(crashes);
    return 0;
}

bool ending_is_prepared(void)
{
    return ending.finish && ending.pid == getpid();
}

void ending_done(void)
{
    if (state_add(DONE) & DEFERRED)
        deferred_end();
}
