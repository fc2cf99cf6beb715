/* `top`: what a program does, every second, as long as it runs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/wait.h"
#include "cli/complete.h"
#include "cli/refuse.h"
#include "out/out.h"
#include "table.h"
#include "watch/refused.h"
#include "watch/screen.h"
#include "watch/snapshots.h"
#include "watch/top.h"

enum { INTERVAL_MS = 1000, INTERVAL_MIN_MS = 20 };
enum { OWN_INTERVAL, OWN_COUNT };
static const struct command_option own[] = {
    {"interval", 0, OPTION_NUMBER, "MS", "how often (1000)"},
    {"count", 'n', OPTION_NUMBER, "N", "end after so many updates"},
    {0},
};

struct watching {
    char directory[PATH_MAX]; /* of snapshots */
    char output[PATH_MAX];    /* what the program prints meanwhile; "": it goes where it goes */
    struct top top;
    uint64_t interval_ms, updates_left; /* the latter 0: for ever */
    bool on_screen;
    int signals;
};

enum ending { ENDING_NONE, ENDING_ASKED, ENDING_GONE };

/* ---- updates */

static void signals_hold(struct watching *watching)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    watching->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Stopped from the keyboard the terminal is the shell's, as it was. */
static void stop(const struct watching *watching)
{
    screen_leave();
    raise(SIGSTOP);
    if (watching->on_screen)
        screen_enter();
}

static enum ending signal_take(const struct watching *watching)
{
    struct signalfd_siginfo info;
    if (read(watching->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return ENDING_NONE;
    if (info.ssi_signo != SIGTSTP)
        return ENDING_ASKED;
    stop(watching);
    return ENDING_NONE;
}

/* False at the end of the input. */
static bool key_take(enum ending *ending)
{
    char key;
    if (read(STDIN_FILENO, &key, 1) != 1)
        return false;
    if (key == 'q' || key == 'Q')
        *ending = ENDING_ASKED;
    return true;
}

/* Waits for the time of the next update. */
static enum ending interval_wait(const struct watching *watching, int process, bool *has_keys)
{
    uint64_t until_ns = wait_now_ns() + watching->interval_ms * 1000000;
    enum ending ending = ENDING_NONE;
    for (uint64_t now_ns; ending == ENDING_NONE && (now_ns = wait_now_ns()) < until_ns;) {
        struct pollfd files[] = {{watching->signals, POLLIN, 0},
                                 {process, POLLIN, 0},
                                 {*has_keys ? STDIN_FILENO : -1, POLLIN, 0}};
        if (poll(files, 3, (int)((until_ns - now_ns + 999999) / 1000000)) <= 0)
            continue;
        if (files[0].revents)
            ending = signal_take(watching);
        if (ending == ENDING_NONE && files[2].revents)
            *has_keys = key_take(&ending);
        if (ending == ENDING_NONE && files[1].revents)
            ending = ENDING_GONE;
    }
    return ending;
}

static enum ending updates_run(struct watching *watching, int process)
{
    enum ending ending = ENDING_NONE;
    bool has_keys = watching->on_screen && isatty(STDIN_FILENO);
    if (watching->on_screen)
        screen_enter();
    while (ending == ENDING_NONE) {
        ending = interval_wait(watching, process, &has_keys);
        top_look(&watching->top);
        if (watching->on_screen)
            top_draw(&watching->top);
        else
            top_line(&watching->top);
        if (ferror(stdout) ||
            (watching->updates_left > 0 && --watching->updates_left == 0 && ending == ENDING_NONE))
            ending = ENDING_ASKED;
    }
    screen_leave();
    return ending;
}

/* ---- what is watched */

static int settings_put(struct cli_options *line, const struct watching *watching)
{
    char interval[32];
    const struct {
        enum option_id id;
        const char *value;
    } values[] = {{OPTION_OUTPUT_FORMAT, OUT_NO_FORMAT},
                  {OPTION_SUMMARY, "0"},
                  {OPTION_SUMMARY_PER_DOMAIN, "0"},
                  {OPTION_STATS, "0"},
                  {OPTION_SNAPSHOT_DIRECTORY, watching->directory},
                  {OPTION_SNAPSHOT_INTERVAL_MS, interval}};
    snprintf(interval, sizeof interval, "%llu", (unsigned long long)watching->interval_ms);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (cli_option_set(line, values[i].id, values[i].value) != 0)
            return refuse(EXIT_NOT_STARTED, "out of memory");
    return 0;
}

/* On a page the program's own lines would have no place: they come behind it. */
static void output_redirect(const struct watching *watching)
{
    int file =
        watching->output[0] ? open(watching->output, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (file < 0)
        return;
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    close(file);
}

static void output_show(const struct watching *watching)
{
    char bytes[4096];
    size_t length;
    FILE *file = watching->output[0] ? fopen(watching->output, "re") : NULL;
    while (file && (length = fread(bytes, 1, sizeof bytes, file)) > 0)
        fwrite(bytes, 1, length, stdout);
    if (file)
        fclose(file);
    fflush(stdout);
}

static int program_become(struct cli_options *line, const struct watching *watching,
                          const sigset_t *signals)
{
    sigprocmask(SIG_SETMASK, signals, NULL);
    output_redirect(watching);
    return command_record.run(line);
}

/* The program ends with us: nobody would see what it does. */
static int program_wait(pid_t child, enum ending ending)
{
    int status = 0;
    if (ending == ENDING_ASKED)
        kill(child, SIGTERM);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (ending == ENDING_ASKED)
        return 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status);
}

static int program_watch(struct cli_options *line, struct watching *watching)
{
    struct target target;
    char number[16];
    sigset_t before;
    sigprocmask(SIG_SETMASK, NULL, &before);
    if (watching->on_screen)
        snprintf(watching->output, sizeof watching->output, "%.*s/.output", PATH_MAX - 16,
                 watching->directory);
    fflush(NULL);
    signals_hold(watching);
    pid_t child = fork();
    if (child == 0)
        _exit(program_become(line, watching, &before));
    if (child < 0)
        return refuse(EXIT_NOT_STARTED, "fork: %s", strerror(errno));
    snprintf(number, sizeof number, "%ld", (long)child);
    int status = target_find(&target, number);
    enum ending ending = status == 0 ? updates_run(watching, target.handle) : ENDING_ASKED;
    target_close(&target);
    status = program_wait(child, ending);
    output_show(watching);
    return status;
}

static int process_watch(struct cli_options *line, struct watching *watching)
{
    struct target target;
    int status = target_find(&target, line->program[0]);
    struct attach *attach = status == 0 ? attach_open() : NULL;
    bool children = settings_flag(&line->settings, OPTION_ATTACH_CHILDREN);
    if (status == 0 && !attach)
        status = EXIT_NOT_STARTED;
    if (status == 0 && target.user != geteuid() &&
        chown(watching->directory, target.user, target.group) != 0)
        status = refuse(EXIT_USAGE, "%s: %s", watching->directory, strerror(errno));
    signals_hold(watching);
    if (status == 0)
        status = attach_begin(attach, &target, &line->settings, children);
    if (status == 0) {
        updates_run(watching, target.handle);
        status = attach_end(attach, &target, children);
    }
    attach_close(attach);
    target_close(&target);
    return status;
}

static bool is_number(const char *word)
{
    return *word && word[strspn(word, "0123456789")] == 0;
}

static int watch(struct cli_options *line, struct watching *watching)
{
    char error[PATH_MAX + CLI_ERROR_BYTES];
    bool is_process = is_number(line->program[0]) && !line->is_certain;
    int status = settings_put(line, watching);
    if (status != 0)
        return status;
    if (!is_process)
        return program_watch(line, watching);
    if (line->program[1])
        return refuse(EXIT_USAGE, "top: %s is a process, and %s too much", line->program[0],
                      line->program[1]);
    if (cli_options_complete(line, error, sizeof error) != 0)
        return refuse(EXIT_USAGE, "%s", error);
    return process_watch(line, watching);
}

static int top_run(struct cli_options *line)
{
    static struct watching watching = {.signals = -1};
    watching.interval_ms = command_number(line, OWN_INTERVAL, INTERVAL_MS);
    watching.updates_left = command_number(line, OWN_COUNT, 0);
    watching.on_screen = screen_is_there();
    if (watching.interval_ms < INTERVAL_MIN_MS || watching.interval_ms > INT_MAX)
        return refuse(EXIT_USAGE, "top: an interval of at least %d ms", INTERVAL_MIN_MS);
    int status = watch_options_check("top", line);
    if (status != 0)
        return status;
    if (!snapshots_directory_make(watching.directory, -1))
        return EXIT_NOT_STARTED;
    status = EXIT_NOT_STARTED;
    if (top_begin(&watching.top, watching.directory, line->program[0]))
        status = watch(line, &watching);
    top_free(&watching.top);
    snapshots_directory_remove(watching.directory);
    return status;
}

const struct command command_top = {
    .name = "top",
    .operands = "PID | [--] PROGRAM [ARGUMENTS]",
    .help = "shows what a program does while it runs, every second",
    .text =
        "Kernels, copies and HIP calls by the time that they took since the last update; kernels\n"
        "by their modelled time, where a device says how long they take by its own model. On a\n"
        "terminal q or Ctrl-C ends it, and the program with it, unless it is a process that ran\n"
        "already; elsewhere each update is a line.",
    .options = own,
    .takes_all = true,
    .takes_program = true,
    .operands_min = 1,
    .run = top_run,
};
