#include "replay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/temporary.h"

enum { PART_BYTES = 1 << 16, BROKEN_STATUS = 1 };
static const off_t limit_default_bytes = (off_t)1 << 30;

static bool is_needed(void)
{
    struct stat status;
    return fstat(STDIN_FILENO, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

int replay_begin(struct replay *replay)
{
    *replay = REPLAY_NONE;
    if (!is_needed())
        return 0;
    replay->file = temporary_file();
    if (replay->file < 0)
        return replay->file;
    replay->source = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (replay->source >= 0)
        return 0;
    int status = -errno;
    close(replay->file);
    return status;
}

void replay_end(struct replay *replay)
{
    if (replay->source >= 0) {
        close(replay->source);
        close(replay->file);
    }
}

/* ---- the feeder */

struct feeder {
    int source, file, control, input; /* input: -1 when all has been said */
    off_t limit, kept, given;         /* bytes: kept of the source, given to the program */
    bool source_ended, is_broken;
    char part[PART_BYTES];
};

/* False: the run is over, or nobody reads any more. */
static bool give(struct feeder *feeder, const char *bytes, size_t size)
{
    while (size > 0) {
        struct pollfd wait[] = {{feeder->control, 0, 0}, {feeder->input, POLLOUT, 0}};
        if (poll(wait, 2, -1) < 0 && errno != EINTR)
            return false;
        if (wait[0].revents || (wait[1].revents & POLLERR))
            return false;
        ssize_t wrote = write(feeder->input, bytes, size);
        if (wrote < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        bytes += wrote > 0 ? wrote : 0;
        size -= wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

static bool keep(struct feeder *feeder, size_t size)
{
    size_t done = 0;
    while (!feeder->is_broken && done < size) {
        ssize_t wrote = feeder->kept + (off_t)size > feeder->limit
                            ? -1
                            : pwrite(feeder->file, feeder->part + done, size - done,
                                     feeder->kept + (off_t)done);
        if (wrote > 0)
            done += (size_t)wrote;
        else
            feeder->is_broken = true;
    }
    if (!feeder->is_broken)
        feeder->kept += (off_t)size;
    return !feeder->is_broken;
}

/* What was kept by earlier runs, and by this one. */
static bool kept_give(struct feeder *feeder)
{
    while (feeder->given < feeder->kept) {
        ssize_t size = pread(feeder->file, feeder->part, PART_BYTES, feeder->given);
        if (size <= 0 || !give(feeder, feeder->part, (size_t)size))
            return false;
        feeder->given += size;
    }
    return true;
}

/* Reads on only when the program has been given all that there was. */
static bool source_take(struct feeder *feeder)
{
    struct pollfd wait[] = {
        {feeder->control, 0, 0}, {feeder->source, POLLIN, 0}, {feeder->input, 0, 0}};
    if (poll(wait, 3, -1) < 0)
        return errno == EINTR;
    if (wait[0].revents || (wait[2].revents & POLLERR))
        return false;
    ssize_t size = read(feeder->source, feeder->part, PART_BYTES);
    if (size < 0)
        return errno == EINTR || errno == EAGAIN;
    feeder->source_ended = size == 0;
    if (keep(feeder, (size_t)size))
        return kept_give(feeder);
    return give(feeder, feeder->part, (size_t)size);
}

/* An input that an earlier run could not keep ends where that was. */
static int feeder_run(struct feeder *feeder)
{
    bool was_broken = feeder->is_broken;
    bool goes_on = kept_give(feeder);
    while (goes_on && !feeder->source_ended && !was_broken)
        goes_on = source_take(feeder);
    return feeder->is_broken ? BROKEN_STATUS : 0;
}

static off_t limit_bytes(void)
{
    const char *text = getenv("CROCPROF_INPUT_MAX_BYTES");
    return text && *text ? (off_t)strtoull(text, NULL, 10) : limit_default_bytes;
}

/* Signals of the terminal are meant for the program. */
static void feeder_signals(void)
{
    static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE};
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
}

static int feeder_main(const struct replay *replay, int control, int input)
{
    static struct feeder feeder;
    struct stat status;
    feeder_signals();
    close(replay->input);
    close(replay->control);
    fcntl(input, F_SETFL, O_NONBLOCK);
    feeder.source = replay->source;
    feeder.file = replay->file;
    feeder.control = control;
    feeder.input = input;
    feeder.limit = limit_bytes();
    feeder.kept = fstat(replay->file, &status) == 0 ? status.st_size : 0;
    feeder.is_broken = replay->is_broken;
    return feeder_run(&feeder);
}

int replay_feed(struct replay *replay)
{
    int control[2], input[2];
    if (pipe2(control, O_CLOEXEC) != 0)
        return -errno;
    if (pipe2(input, O_CLOEXEC) != 0) {
        int status = -errno;
        close(control[0]);
        close(control[1]);
        return status;
    }
    replay->control = control[1];
    replay->input = input[0];
    replay->feeder = fork();
    if (replay->feeder == 0)
        _exit(feeder_main(replay, control[0], input[1]));
    int status = replay->feeder < 0 ? -errno : 0;
    close(control[0]);
    close(input[1]);
    if (status != 0)
        replay->feeder = 0;
    return status;
}

void replay_rest(struct replay *replay)
{
    int status = 0;
    if (replay->control < 0)
        return;
    close(replay->control);
    close(replay->input);
    replay->control = replay->input = -1;
    while (replay->feeder > 0 && waitpid(replay->feeder, &status, 0) < 0 && errno == EINTR)
        ;
    replay->feeder = 0;
    if (replay->is_broken || !WIFEXITED(status) || WEXITSTATUS(status) != BROKEN_STATUS)
        return;
    replay->is_broken = true;
    fprintf(stderr,
            "crocprof: standard input cannot be kept whole (at most %lld MB, in "
            "$TMPDIR): later passes read only its beginning\n",
            (long long)(limit_bytes() >> 20));
}

void replay_take(const struct replay *replay)
{
    if (replay->input < 0)
        return;
    dup2(replay->input, STDIN_FILENO);
    close(replay->input);
    close(replay->control);
    close(replay->source);
    close(replay->file);
}
