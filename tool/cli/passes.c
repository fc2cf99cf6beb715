#include "passes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_NOT_STARTED = 127, EXIT_SIGNAL = 128 };

/*
 * What would have reached the program if it ran once, in this process. A signal that the caller
 * ignores (nohup, a background job of a shell) stays ignored here and in the program. The terminal
 * sends its own to the program, too, and those are not sent on. Whoever asks for the end means all
 * runs.
 */
static const struct {
    int number;
    bool ends; /* the run in which it came is the last */
} watched[] = {{SIGINT, true},  {SIGQUIT, true},  {SIGTERM, true},
               {SIGHUP, false}, {SIGUSR1, false}, {SIGUSR2, false}};
enum { WATCHED_COUNT = sizeof watched / sizeof watched[0] };
static struct sigaction found[WATCHED_COUNT]; /* the caller's */

/* Written with the watched signals blocked; read by the handler. */
static volatile sig_atomic_t program_pid;
/* Writer: the handler. Reader: the loop over the runs. */
static volatile sig_atomic_t end_asked, between_runs;

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
    if (ends_all(number))
        end_asked = number;
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

static void signals_watch(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    action.sa_mask = watched_set();
    for (int i = 0; i < WATCHED_COUNT; i++) {
        sigaction(watched[i].number, NULL, &found[i]);
        if ((found[i].sa_flags & SA_SIGINFO) || found[i].sa_handler != SIG_IGN)
            sigaction(watched[i].number, &action, NULL);
    }
}

static void signals_restore(void)
{
    for (int i = 0; i < WATCHED_COUNT; i++)
        sigaction(watched[i].number, &found[i], NULL);
}

/* Counts only: no trace, no summary, no files but its values. */
static void settings_reduce(struct settings *settings)
{
    struct settings counting = {.counters = settings->counters,
                                .pass = settings->pass,
                                .pass_count = settings->pass_count,
                                .pass_directory = settings->pass_directory};
    *settings = counting;
}

/* Each run reads its input from where this one's is; what is not a file is left to the last. */
static void input_rewind(void)
{
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    int file = at < 0 ? open("/dev/null", O_RDONLY) : open("/proc/self/fd/0", O_RDONLY);
    if (file < 0)
        return;
    if (at > 0)
        lseek(file, at, SEEK_SET);
    dup2(file, STDIN_FILENO);
    close(file);
}

static void output_hide(void)
{
    int file = open("/dev/null", O_WRONLY);
    if (file < 0)
        return;
    dup2(file, STDOUT_FILENO);
    close(file);
}

/* In the child; returns only on failure. */
static int program_become(const struct launch *launch, struct settings settings,
                          char *const arguments[], unsigned pass, const sigset_t *unblocked)
{
    char number[16];
    snprintf(number, sizeof number, "%u", pass);
    settings.pass = number;
    signals_restore();
    sigprocmask(SIG_SETMASK, unblocked, NULL);
    if (pass > 0) {
        settings_reduce(&settings);
        input_rewind();
        output_hide();
    }
    int status = launch_environment(launch, &settings);
    if (status == 0)
        status = launch_program(launch, arguments);
    fprintf(stderr, "crocprof: %s: %s\n", arguments[0], strerror(-status));
    return EXIT_NOT_STARTED;
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

/* False: a signal has come that would have killed the program before it began. *status: the wait
 * status, or -1 with a message. A signal that comes meanwhile waits until the program can have it.
 */
static bool run_once(const struct launch *launch, const struct settings *settings,
                     char *const arguments[], unsigned pass, int *status)
{
    sigset_t watched_signals = watched_set(), before;
    sigprocmask(SIG_BLOCK, &watched_signals, &before);
    if (between_runs || is_pending(&before)) {
        sigprocmask(SIG_SETMASK, &before, NULL); /* the handler runs now */
        *status = between_runs;                  /* a bare number: killed by that signal */
        return false;
    }
    pid_t child = fork();
    if (child == 0)
        _exit(program_become(launch, *settings, arguments, pass, &before));
    int error = errno;
    program_pid = child > 0 ? child : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    *status = child > 0 ? program_wait(child) : -1;
    if (child < 0)
        fprintf(stderr, "crocprof: fork: %s\n", strerror(error));
    return true;
}

static void directory_remove(const char *directory)
{
    DIR *files = opendir(directory);
    struct dirent *entry;
    while (files && (entry = readdir(files)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(files), entry->d_name, 0);
    if (files)
        closedir(files);
    rmdir(directory);
}

/* As if the program had been run directly. */
static int end_like(int status)
{
    if (status < 0)
        return EXIT_NOT_STARTED;
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    return EXIT_SIGNAL + WTERMSIG(status);
}

/* The runs, until one is the last: the wait status of that one, or as if the signal had killed it.
 */
static int all_run(const struct launch *launch, const struct settings *settings,
                   char *const arguments[], unsigned count)
{
    for (unsigned pass = 1;; pass++) {
        int status;
        bool ran = run_once(launch, settings, arguments, pass % count, &status);
        if (status < 0 || (ran && pass == count))
            return status;
        int number = WIFSIGNALED(status) ? WTERMSIG(status) : end_asked;
        if (number == 0)
            continue;
        fprintf(stderr, "crocprof: ended in run %u of %u (%s): there are no results\n", pass, count,
                strsignal(number));
        return status;
    }
}

int passes_run(const struct launch *launch, const struct settings *settings,
               char *const arguments[], unsigned count)
{
    const char *temporary = getenv("TMPDIR");
    char directory[PATH_MAX], total[16];
    struct settings every = *settings;
    snprintf(directory, sizeof directory, "%s/crocprof-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(directory)) {
        fprintf(stderr, "crocprof: %s: %s\n", directory, strerror(errno));
        return EXIT_NOT_STARTED;
    }
    snprintf(total, sizeof total, "%u", count);
    every.pass_count = total;
    every.pass_directory = directory;
    fprintf(
        stderr,
        "crocprof: these counters take %u runs of the program; the last one's output is shown\n",
        count);
    signals_watch();
    int status = all_run(launch, &every, arguments, count);
    signals_restore();
    directory_remove(directory);
    return end_like(status);
}
