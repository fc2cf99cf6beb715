/* A process that the profiler is to be attached to. */
#ifndef ATTACH_TARGET_H
#define ATTACH_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

struct target {
    pid_t pid;
    uid_t user;
    gid_t group;
    int handle; /* a file descriptor that is readable when the process has ended; -1: not here */
};

/* 0, or an exit status after a line that says why not. */
int target_find(struct target *target, const char *pid);
void target_close(struct target *target);

bool target_has_ended(const struct target *target);

/* 0, or an exit status after a line: the process's user cannot make files there. */
int target_directory_check(const struct target *target, const char *directory);

#endif
