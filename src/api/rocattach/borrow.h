/* A thread of another process, stopped where it waits, that makes calls for us and waits on. */
#ifndef ROCATTACH_BORROW_H
#define ROCATTACH_BORROW_H

#include <rocprofiler-sdk-rocattach/types.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

enum { BORROW_STATE_BYTES = 16384 };

/* Where the thread is, as seen from here. */
enum borrowed_place { BORROWED_WAITS, BORROWED_CALLS, BORROWED_RETURNS };

struct borrowed {
    pid_t tid;
    int memory;             /* of its process, writable; the caller's */
    uint64_t signal_return; /* libc's, where calls return to */
    enum borrowed_place place;
    bool in_system_call; /* stopped at its entry: the next stop is its exit */
    uint64_t frame;      /* on its stack: what it restores itself from */
    /* What is put back: registers, vector state, signal mask. */
    struct user_regs_struct registers;
    _Alignas(64) unsigned char state[BORROW_STATE_BYTES];
    size_t state_size;
    uint64_t signals;
};

/* Waits some seconds for a thread that may be taken. `memory` and `signal_return` are to be set
 * before the first call. After success the same thread of ours makes the calls and ends it. */
rocattach_status_t borrow_begin(struct borrowed *borrowed, pid_t pid);

/* Calls a function of libc that returns soon. *result: what the last of these system calls in it
 * gave back, -EAGAIN when it made none. */
rocattach_status_t borrow_call(struct borrowed *borrowed, uint64_t function,
                               const uint64_t arguments[6], const long results[2],
                               uint64_t *result);

/* The thread waits on. One that did not come back from a call does so when it comes back. */
void borrow_end(struct borrowed *borrowed);

#endif
