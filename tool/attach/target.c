#include "target.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/refuse.h"

static int user_read(struct target *target)
{
    char path[64];
    struct stat found;
    snprintf(path, sizeof path, "/proc/%d", (int)target->pid);
    if (stat(path, &found) != 0)
        return refuse(EXIT_USAGE, "process %d: there is no such process", (int)target->pid);
    target->user = found.st_uid;
    target->group = found.st_gid;
    return 0;
}

int target_find(struct target *target, const char *pid)
{
    char *end;
    long number = strtol(pid, &end, 10);
    *target = (struct target){.handle = -1};
    if (end == pid || *end || number <= 0 || number > (1 << 30))
        return refuse(EXIT_USAGE, "%s is not the number of a process", pid);
    target->pid = (pid_t)number;
    if (target->pid == getpid())
        return refuse(EXIT_USAGE, "process %ld is this one", number);
    target->handle = (int)syscall(SYS_pidfd_open, target->pid, 0);
    if (target->handle < 0 && errno == ESRCH)
        return refuse(EXIT_USAGE, "process %ld: there is no such process", number);
    if (kill(target->pid, 0) != 0 && errno == EPERM)
        return refuse(EXIT_USAGE, "process %ld belongs to another user", number);
    return user_read(target);
}

void target_close(struct target *target)
{
    if (target->handle >= 0)
        close(target->handle);
    target->handle = -1;
}

bool target_has_ended(const struct target *target)
{
    struct pollfd handle = {target->handle, POLLIN, 0};
    if (target->handle >= 0)
        return poll(&handle, 1, 0) > 0;
    return kill(target->pid, 0) != 0 && errno == ESRCH;
}

/* In a child of its own, as that user. */
static int write_try(const struct target *target, const char *directory)
{
    if (setgroups(0, NULL) != 0 || setgid(target->group) != 0 || setuid(target->user) != 0)
        return 1;
    return access(directory, W_OK | X_OK) != 0;
}

int target_directory_check(const struct target *target, const char *directory)
{
    int status = 0;
    if (target->user == geteuid() || target->user == 0)
        return 0;
    pid_t child = fork();
    if (child == 0)
        _exit(write_try(target, directory));
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child > 0 && status == 0)
        return 0;
    return refuse(EXIT_USAGE,
                  "%s: process %d cannot write there, for it belongs to user %u; choose another "
                  "directory (-d)",
                  directory, (int)target->pid, (unsigned)target->user);
}
