/*
 * Writing on the program's threads: a pipe without a reader, or a file at the program's size limit,
 * sends SIGPIPE or SIGXFSZ, which would end the program for an output that is not its own. Between
 * begin and end they do not come; write() says EPIPE and EFBIG.
 */
#ifndef BASE_WRITE_GUARD_H
#define BASE_WRITE_GUARD_H

#include <signal.h>

struct write_guard {
    sigset_t blocked;         /* the thread's before */
    sigset_t already_pending; /* of ours; they stay the program's */
};

/* On the thread that writes. They nest. In signal handlers, too. */
void write_guard_begin(struct write_guard *guard);
void write_guard_end(const struct write_guard *guard);

#endif
