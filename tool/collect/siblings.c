#include "siblings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/wait.h"
#include "launch/launch.h"

enum { LIMIT_S = 60, POLL_NS = 5000000 };

static int file = -1; /* a descriptor of a forked child is its parent's lock, too */
static char path[PATH_MAX];
static dev_t
    device; /* of the file, and its number: the program may have closed the descriptor and */
static ino_t number; /* have another file there */

static bool is_open(void)
{
    struct stat found;
    return file >= 0 && fstat(file, &found) == 0 && found.st_dev == device &&
           found.st_ino == number;
}

/* The command that runs the program is nobody's parent. */
static pid_t parent_find(void)
{
    const char *text = secure_getenv(LAUNCH_PARENT_VARIABLE);
    long launcher, parent;
    if (text && sscanf(text, "%ld %ld", &launcher, &parent) == 2 && launcher == getppid())
        return (pid_t)parent;
    return getppid();
}

/* Processes of one parent have the same name for it; another user's file is left alone. */
static int file_open(void)
{
    const char *temporary = secure_getenv("TMPDIR");
    struct stat found;
    snprintf(path, sizeof path, "%s/crocprof-siblings-%u-%ld",
             temporary && *temporary ? temporary : "/tmp", (unsigned)getuid(), (long)parent_find());
    int opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (opened < 0)
        return -1;
    if (fstat(opened, &found) != 0 || found.st_uid != getuid()) {
        close(opened);
        return -1;
    }
    device = found.st_dev;
    number = found.st_ino;
    return opened;
}

void siblings_join(void)
{
    if (is_open())
        close(file);
    file = file_open();
    if (file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0) {
        close(file); /* the others are done, and just taking the file away */
        file = -1;
    }
}

static void limit_tell(void)
{
    fprintf(stderr,
            "crocprof: --process-sync: a process of the same parent has not ended for %d s; "
            "this one ends\n",
            LIMIT_S);
}

/* The lock that was ours is given up by the try: two that wait must not wait for each other. */
static bool is_last(void *nothing)
{
    (void)nothing;
    return flock(file, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR);
}

/* Whoever gets the file alone is the last, and takes it away; the others get it after that. */
void siblings_wait(void)
{
    if (!is_open())
        return;
    if (!wait_until(is_last, NULL, LIMIT_S * UINT64_C(1000000000), POLL_NS))
        limit_tell();
    unlink(path);
    close(file);
    file = -1;
}
