/*
 * The program's limit of file sizes, which is meant for files on disk, put out of the way while a
 * file in memory is written or grown: passing it would send the program SIGXFSZ. Where the hard
 * limit is too low as well, the call says EFBIG and no signal comes.
 */
#ifndef SOFTGPU_DRIVER_SIZE_LIMIT_H
#define SOFTGPU_DRIVER_SIZE_LIMIT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

struct size_limit {
    struct rlimit before;
    sigset_t signals_before;
    bool is_lifted;
};

/* One thread at a time has lifted it; end at once after begin. */
void size_limit_begin(struct size_limit *limit, uint64_t size_bytes);
/* Keeps errno. */
void size_limit_end(const struct size_limit *limit);

#endif
