#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/ending.h"
#include "base/own_thread.h"

/* The same file as another library of the process has it, with a patience of one's choice. */
static int second_limit_ms = 10000;
#define ENDING_LIMIT_MS    second_limit_ms
#define ending_prepare     second_prepare
#define ending_notice      second_notice
#define ending_begin       second_begin
#define ending_done        second_done
#define ending_aside       second_aside
#define ending_is_prepared second_is_prepared
#undef BASE_ENDING_H
#include "base/ending.c"
#undef ending_prepare
#undef ending_notice
#undef ending_begin
#undef ending_done
#undef ending_aside
#undef ending_is_prepared

/* signal(7): whose default action is Term or Core, but SIGKILL. */
static const int deadly[] = {SIGABRT, SIGALRM, SIGBUS,  SIGFPE,    SIGHUP,  SIGILL,
                             SIGINT,  SIGIO,   SIGPIPE, SIGPROF,   SIGPWR,  SIGQUIT,
                             SIGSEGV, SIGSYS,  SIGTERM, SIGSTKFLT, SIGTRAP, SIGUSR1,
                             SIGUSR2, SIGXCPU, SIGXFSZ, SIGVTALRM};

/* ---- a child that says what happens to it */

static int report_pipe[2];

static void report(char what)
{
    if (write(report_pipe[1], &what, 1) != 1)
        _exit(98);
}

static void finish(void)
{
    void *volatile memory = malloc(100); /* finishing allocates, and takes its time */
    free(memory);
    usleep(20000);
    report('f');
}

static void finish_of_second(void)
{
    usleep(20000);
    report('s');
}

struct outcome {
    int signal, status; /* status when signal is 0 */
    char reports[16];
};

static pid_t child_start(void (*end)(void), bool prepared)
{
    assert_int_equal(pipe(report_pipe), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0) {
        close(report_pipe[1]);
        return child;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    close(report_pipe[0]);
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        signal(deadly[i], SIG_DFL); /* cmocka has some */
    if (!prepared || ending_prepare(finish, true) == 0)
        end();
    _exit(99);
}

/* One that goes round in circles is killed: its outcome is SIGKILL. */
static struct outcome child_outcome(pid_t child)
{
    enum { PATIENCE_MS = 9000 };
    struct outcome outcome = {0};
    struct pollfd ready = {.fd = report_pipe[0], .events = POLLIN};
    for (size_t got = 0; got < sizeof outcome.reports - 1;) {
        ssize_t more =
            poll(&ready, 1, PATIENCE_MS) == 1 ? read(report_pipe[0], outcome.reports + got, 1) : -1;
        if (more < 0)
            kill(child, SIGKILL);
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    close(report_pipe[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        outcome.signal = WTERMSIG(status);
    else
        outcome.status = WEXITSTATUS(status);
    return outcome;
}

static struct outcome run(void (*end)(void))
{
    return child_outcome(child_start(end, true));
}

#define ENDS(end, by_signal, what)                                                                 \
    do {                                                                                           \
        struct outcome outcome_ = run(end);                                                        \
        assert_string_equal(outcome_.reports, what);                                               \
        assert_int_equal(outcome_.signal, by_signal);                                              \
    } while (0)

/* ---- every signal, in every way to send it */

static int number;

static void by_raise(void)
{
    raise(number);
}

static void by_kill(void)
{
    kill(getpid(), number);
    pause();
}

static void by_queue(void)
{
    sigqueue(getpid(), number, (union sigval){.sival_int = 3});
    pause();
}

static void *thread_waits(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void by_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_waits, NULL);
    pthread_kill(thread, number);
    pthread_join(thread, NULL);
}

static void every_signal_finishes_and_then_ends_the_process(void **state)
{
    static void (*const ways[])(void) = {by_raise, by_kill, by_queue, by_thread};
    (void)state;
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) {
        number = deadly[i];
        assert_int_equal(child_outcome(child_start(by_raise, false)).signal, number);
        ENDS(ways[i % 4], number, "f");
        ENDS(ways[(i + 1) % 4], number, "f");
    }
}

/* Nobody but threads of ours can take it. */
static void by_kill_past_all_others(void)
{
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, number);
    pthread_sigmask(SIG_BLOCK, &mask, NULL);
    kill(getpid(), number);
    pause();
}

static void a_signal_that_comes_to_our_thread_ends_the_process(void **state)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        number = faults[i];
        ENDS(by_kill_past_all_others, number, "f");
    }
}

/* Compiled as they stand: each does what the kernel answers with that signal. */
__attribute__((no_sanitize("address", "undefined"))) static void by_bad_pointer(void)
{
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
}

static void by_bad_instruction(void)
{
    __asm__ volatile("ud2");
}

static void by_breakpoint(void)
{
    __asm__ volatile("int3");
}

static void by_closed_pipe(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return;
    close(ends[0]);
    if (write(ends[1], "x", 1) < 0)
        _exit(1);
}

static void by_file_limit(void)
{
    FILE *file = tmpfile();
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1, 1});
    if (file && write(fileno(file), "xyz", 3) == 1 && write(fileno(file), "z", 1) < 0)
        _exit(1);
}

static void by_abort(void)
{
    abort();
}

static void what_the_kernel_sends_too(void **state)
{
    (void)state;
    ENDS(by_bad_pointer, SIGSEGV, "f");
    ENDS(by_bad_instruction, SIGILL, "f");
    ENDS(by_breakpoint, SIGTRAP, "f");
    ENDS(by_closed_pipe, SIGPIPE, "f");
    ENDS(by_file_limit, SIGXFSZ, "f");
    ENDS(by_abort, SIGABRT, "f");
}

/* ---- signals that are the program's */

static void ignored(void)
{
    signal(SIGHUP, SIG_IGN);
    raise(SIGHUP);
    quick_exit(7);
}

static void awaited(void)
{
    sigset_t set;
    int got = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGUSR1);
    sigwait(&set, &got);
    quick_exit(got == SIGUSR1 ? 7 : 8);
}

static void real_time_signals(void)
{
    for (int i = SIGRTMIN; i <= SIGRTMAX; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action) != 0 || action.sa_handler != SIG_DFL)
            quick_exit(8);
    }
    quick_exit(7);
}

static void the_programs_signals_stay_its_own(void **state)
{
    void (*const ways[])(void) = {ignored, awaited, real_time_signals};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct outcome outcome = run(ways[i]);
        assert_int_equal(outcome.signal, 0);
        assert_int_equal(outcome.status, 7);
        assert_string_equal(outcome.reports, "f"); /* at quick_exit() */
    }
}

static void nothing_ignored_is_taken(void)
{
    signal(SIGHUP, SIG_IGN);
    if (ending_prepare(finish, true) != 0)
        _exit(1);
    raise(SIGHUP);
    report('l');
    quick_exit(0);
}

static void what_was_ignored_at_the_start_stays_so(void **state)
{
    (void)state;
    struct outcome outcome = child_outcome(child_start(nothing_ignored_is_taken, false));
    assert_int_equal(outcome.signal, 0);
    assert_string_equal(outcome.reports, "lf");
}

/* ---- handlers of the program's that call the one they found */

static struct sigaction found_there;
static sigjmp_buf way_out;

static void chain(int at, siginfo_t *info, void *context)
{
    report('p');
    if (found_there.sa_flags & SA_SIGINFO)
        found_there.sa_sigaction(at, info, context);
    else if (found_there.sa_handler != SIG_DFL && found_there.sa_handler != SIG_IGN)
        found_there.sa_handler(at);
}

/* signal() tells nothing of flags: one argument, whatever the handler takes. */
static void chain_plain(int at)
{
    report('p');
    ((void (*)(int, void *, void *))(void *)found_there.sa_sigaction)(at, (void *)1, (void *)1);
}

static void chain_install(int at, int flags)
{
    struct sigaction action = {.sa_sigaction = chain, .sa_flags = SA_SIGINFO | flags};
    sigaction(at, &action, &found_there);
}

static void chain_and_go_on(void)
{
    chain_install(SIGHUP, 0);
    raise(SIGHUP);
    raise(SIGHUP);
    report('l');
    quick_exit(0);
}

static void chain_once(void)
{
    chain_install(SIGHUP, (int)SA_RESETHAND);
    raise(SIGHUP);
    report('l');
    raise(SIGHUP);
}

static void chain_of_fault(void)
{
    chain_install(SIGSEGV, 0);
    by_bad_pointer();
}

static void chain_of_fault_unblocked(void)
{
    chain_install(SIGSEGV, SA_NODEFER);
    by_bad_pointer();
}

static void chain_plain_of_fault(void)
{
    struct sigaction action = {.sa_handler = chain_plain};
    sigaction(SIGSEGV, &action, &found_there);
    by_bad_pointer();
}

static void chain_of_sent_fault(void)
{
    chain_install(SIGSEGV, 0);
    kill(getpid(), SIGSEGV);
    pause();
}

static void chain_of_abort(void)
{
    chain_install(SIGABRT, 0);
    abort();
}

static void restore_and_raise(int at)
{
    report('p');
    sigaction(at, &found_there, NULL);
    raise(at);
}

static void restored(void)
{
    struct sigaction action = {.sa_handler = restore_and_raise};
    sigaction(SIGTERM, &action, &found_there);
    raise(SIGTERM);
    for (;;)
        pause();
}

static void recover(int at)
{
    (void)at;
    report('p');
    siglongjmp(way_out, 1);
}

static void recovered(void)
{
    struct sigaction action = {.sa_handler = recover};
    sigaction(SIGSEGV, &action, &found_there);
    for (volatile int i = 0; i < 2; i++)
        if (sigsetjmp(way_out, 1) == 0)
            by_bad_pointer();
    report('l');
    sigaction(SIGSEGV, &found_there, NULL);
    by_bad_pointer();
}

static void a_handler_may_call_the_one_it_found(void **state)
{
    (void)state;
    ENDS(chain_and_go_on, 0, "pplf");
    ENDS(chain_once, SIGHUP, "plf");
    ENDS(chain_of_fault, SIGSEGV, "pf");
    ENDS(chain_of_fault_unblocked, SIGSEGV, "pf");
    ENDS(chain_plain_of_fault, SIGSEGV, "pf");
    ENDS(chain_of_sent_fault, SIGSEGV, "pf");
    ENDS(chain_of_abort, SIGABRT, "pf");
    ENDS(restored, SIGTERM, "pf");
    ENDS(recovered, SIGSEGV, "pplf");
}

/* ---- threads */

static pthread_barrier_t together;

static void *one_of_many(void *which)
{
    pthread_barrier_wait(&together);
    pthread_kill(pthread_self(), *(int *)which);
    return NULL;
}

static void many_at_once(void)
{
    static int numbers[] = {SIGTERM, SIGHUP, SIGTERM, SIGSEGV, SIGINT, SIGSEGV, SIGABRT, SIGUSR1};
    pthread_t threads[8];
    pthread_barrier_init(&together, NULL, 8);
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, one_of_many, &numbers[i]);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

static void who_comes_second_waits_for_the_first(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct outcome outcome = run(many_at_once);
        assert_string_equal(outcome.reports, "f");
        assert_int_not_equal(outcome.signal, 0);
        assert_int_not_equal(outcome.signal, SIGKILL);
    }
}

static void *crash(void *unused)
{
    by_bad_pointer();
    return unused;
}

static void *named_crash(void *unused)
{
    own_thread_name("test");
    return crash(unused);
}

static void on_a_thread_of_ours(void)
{
    pthread_t thread;
    own_thread_create(&thread, named_crash, NULL);
    pthread_join(thread, NULL);
}

__attribute__((noinline)) static int overflow(volatile char *caller)
{
    volatile char room[4096];
    room[0] = caller[0];
    return caller[0] ? overflow(room) + room[0] : 0;
}

static void *overflow_with_another_stack(void *unused)
{
    static char stack[65536];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    overflow((volatile char[]){1});
    return unused;
}

static void by_stack_overflow(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, overflow_with_another_stack, NULL);
    pthread_join(thread, NULL);
}

static void in_a_forked_child(void)
{
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        raise(SIGTERM);
        _exit(1);
    }
    waitpid(child, &status, 0);
    report(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM ? 't' : '?');
    quick_exit(0);
}

static void crashes_happen_on_any_thread(void **state)
{
    (void)state;
    ENDS(on_a_thread_of_ours, SIGSEGV, "f");
    ENDS(by_stack_overflow, SIGSEGV, "f");
    ENDS(in_a_forked_child, 0, "tf");
}

/* ---- a signal while its thread is finishing */

static bool busy;

static bool is_busy(void)
{
    return busy;
}

static void while_finishing(void)
{
    ending_notice(NULL, is_busy);
    busy = true;
    raise(SIGTERM);
    report('l');
    busy = false;
    ending_done();
    report('?');
}

/* The program's threads, and what they were at, are the parent's. */
static void a_child_of_a_finishing_thread(void)
{
    int status = 0;
    ending_notice(NULL, is_busy);
    busy = true;
    pid_t child = fork();
    if (child == 0) {
        raise(SIGTERM);
        report('?');
        _exit(1);
    }
    if (waitpid(child, &status, 0) == child && WIFSIGNALED(status))
        report(WTERMSIG(status) == SIGTERM ? 't' : '?');
    busy = false;
    _exit(0);
}

static void fault_while_finishing(void)
{
    ending_notice(NULL, is_busy);
    busy = true;
    raise(SIGTERM);
    report('l');
    by_bad_pointer();
}

static _Atomic bool others_wait, first_thread_busy;
static pthread_t first_thread;

static bool is_first_busy(void)
{
    return first_thread_busy && pthread_equal(pthread_self(), first_thread);
}

static void finish_after_first(void)
{
    others_wait = true;
    while (first_thread_busy)
        usleep(1000);
    report('f');
}

static void *terminate(void *unused)
{
    raise(SIGTERM);
    return unused;
}

/* The other thread's signal is the first one, and waits for what this one does. */
static void while_another_waits(void)
{
    pthread_t thread;
    first_thread = pthread_self();
    first_thread_busy = true;
    ending_notice(NULL, is_first_busy);
    if (ending_prepare(finish_after_first, true) != 0)
        _exit(1);
    pthread_create(&thread, NULL, terminate, NULL);
    while (!others_wait)
        usleep(1000);
    raise(SIGHUP);
    report('l');
    first_thread_busy = false;
    for (;;)
        pause();
}

static void a_thread_that_finishes_is_not_torn_off(void **state)
{
    (void)state;
    ENDS(while_finishing, SIGTERM, "l");
    ENDS(fault_while_finishing, SIGSEGV, "lf");
    ENDS(a_child_of_a_finishing_thread, 0, "t");
    struct outcome outcome = child_outcome(child_start(while_another_waits, false));
    assert_string_equal(outcome.reports, "lf");
    assert_int_equal(outcome.signal, SIGTERM);
}

/* ---- who never finishes, where the limit is short */

static void finish_never(void)
{
    for (;;)
        pause();
}

static void busy_for_ever(void)
{
    second_notice(NULL, is_busy);
    if (second_prepare(finish_of_second, true) != 0)
        _exit(1);
    busy = true;
    raise(SIGTERM);
    report('l');
    finish_never();
}

static void finishing_for_ever(void)
{
    if (second_prepare(finish_never, true) == 0)
        raise(SIGTERM);
}

static void aside_for_ever(void)
{
    if (second_prepare(finish_of_second, true) == 0)
        report(second_aside(finish_never) ? 'd' : '-');
    report(second_aside(finish_never) ? 'd' : '-'); /* the helper is still away */
    raise(SIGTERM);
}

static void the_limit_ends_what_never_finishes(void **state)
{
    static void (*const ways[])(void) = {busy_for_ever, finishing_for_ever, aside_for_ever};
    static const char *const reports[] = {"l", "", "--"};
    (void)state;
    second_limit_ms = 200;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct outcome outcome = child_outcome(child_start(ways[i], false));
        assert_string_equal(outcome.reports, reports[i]);
        assert_int_equal(outcome.signal, SIGTERM);
    }
    second_limit_ms = 10000;
}

/* ---- two libraries */

static void two(int at)
{
    if (second_prepare(finish_of_second, at == SIGSEGV) != 0)
        _exit(1);
    raise(at);
}

static void two_by_terminate(void)
{
    two(SIGTERM);
}

static void two_by_crash(void)
{
    two(SIGSEGV);
}

static void two_and_done(void)
{
    ending_done();
    two(SIGHUP);
}

static void each_library_finishes(void **state)
{
    (void)state;
    ENDS(two_by_terminate, SIGTERM, "sf");
    ENDS(two_by_crash, SIGSEGV, "sf");
    ENDS(two_and_done, SIGHUP, "s");
}

/* ---- what a debugger and a core file show */

static void traced(void)
{
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    by_bad_pointer();
}

/* Each time the signal comes: where, and with what. */
static void the_second_time_looks_like_the_first(void **state)
{
    (void)state;
    siginfo_t infos[2];
    struct user_regs_struct registers[2];
    pid_t child = child_start(traced, true);
    int status, times = 0;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        if (WSTOPSIG(status) == SIGSEGV && times < 2) {
            assert_int_equal(ptrace(PTRACE_GETSIGINFO, child, NULL, &infos[times]), 0);
            assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &registers[times]), 0);
            times++;
        }
        ptrace(PTRACE_CONT, child, NULL, WSTOPSIG(status));
    }
    close(report_pipe[0]);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    assert_int_equal(times, 2);
    assert_int_equal(infos[1].si_code, infos[0].si_code);
    assert_ptr_equal(infos[1].si_addr, infos[0].si_addr);
    assert_int_equal(registers[1].rip, registers[0].rip);
    assert_int_equal(registers[1].rsp, registers[0].rsp);
}

/* ---- the first process of a container */

static void as_first_process(void)
{
    if (unshare(CLONE_NEWPID) != 0)
        _exit(77);
    pid_t first = fork();
    int status;
    if (first != 0) {
        waitpid(first, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    if (ending_prepare(finish, true) != 0)
        _exit(2);
    kill(1, SIGHUP);
    report('l');
    kill(1, SIGTERM);
    report('l');
    _exit(0);
}

static void the_first_process_of_a_container_survives(void **state)
{
    (void)state;
    struct outcome outcome = child_outcome(child_start(as_first_process, false));
    if (outcome.status == 77)
        skip();
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.reports, "lfl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_signal_finishes_and_then_ends_the_process),
        cmocka_unit_test(a_signal_that_comes_to_our_thread_ends_the_process),
        cmocka_unit_test(what_the_kernel_sends_too),
        cmocka_unit_test(the_programs_signals_stay_its_own),
        cmocka_unit_test(what_was_ignored_at_the_start_stays_so),
        cmocka_unit_test(a_handler_may_call_the_one_it_found),
        cmocka_unit_test(who_comes_second_waits_for_the_first),
        cmocka_unit_test(crashes_happen_on_any_thread),
        cmocka_unit_test(a_thread_that_finishes_is_not_torn_off),
        cmocka_unit_test(the_limit_ends_what_never_finishes),
        cmocka_unit_test(each_library_finishes),
        cmocka_unit_test(the_second_time_looks_like_the_first),
        cmocka_unit_test(the_first_process_of_a_container_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
