#include "passes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_NOT_STARTED = 127, EXIT_SIGNAL = 128 };

/* Signals meant for the program; those of the terminal reach it by themselves. */
static const int forwarded[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
static const int ignored[] = {SIGINT, SIGQUIT};

static volatile sig_atomic_t program_pid;

static void forward(int signal)
{
    if (program_pid > 0)
        kill((pid_t)program_pid, signal);
}

static void signals_set(void (*forwarding)(int), void (*ignoring)(int))
{
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
        signal(forwarded[i], forwarding);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], ignoring);
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
                          char *const arguments[], unsigned pass)
{
    char number[16];
    snprintf(number, sizeof number, "%u", pass);
    settings.pass = number;
    signals_set(SIG_DFL, SIG_DFL);
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

/* The wait status, or -1 with a message. */
static int run_once(const struct launch *launch, const struct settings *settings,
                    char *const arguments[], unsigned pass)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(program_become(launch, *settings, arguments, pass));
    if (child < 0) {
        fprintf(stderr, "crocprof: fork: %s\n", strerror(errno));
        return -1;
    }
    program_pid = child;
    while (waitpid(child, &status, 0) < 0) {
        if (errno == EINTR)
            continue;
        fprintf(stderr, "crocprof: waitpid: %s\n", strerror(errno));
        return -1;
    }
    program_pid = 0;
    return status;
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
    signals_set(forward, SIG_IGN);
    int status = 0;
    for (unsigned pass = 1; pass <= count && status >= 0 && !WIFSIGNALED(status); pass++)
        status = run_once(launch, &every, arguments, pass % count);
    signals_set(SIG_DFL, SIG_DFL);
    directory_remove(directory);
    return end_like(status);
}
