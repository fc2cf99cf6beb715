/*
 * Standard input that cannot be read twice, given to several runs of the program: what the first
 * one reads is kept on disk, and the later ones read it from there and then on from where nobody
 * has read yet. Nothing is read that no run asks for but what a pipe holds, so an input that never
 * ends, or that nobody reads, holds nobody up.
 */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include <stdbool.h>
#include <sys/types.h>

struct replay {
    int source;     /* what standard input was; -1: nothing is replayed */
    int file;       /* what has been read of it */
    int control;    /* its end tells the feeder to stop; -1: none runs */
    int input;      /* for the program to read; -1: none */
    pid_t feeder;   /* 0: none */
    bool is_broken; /* not all could be kept: later runs read the beginning only */
};

#define REPLAY_NONE ((struct replay){.source = -1, .file = -1, .control = -1, .input = -1})

/* Does nothing where standard input is neither a pipe nor a socket. 0 or -errno. */
int replay_begin(struct replay *replay);
void replay_end(struct replay *replay);

/* Before and after each run. The feeder is a process of ours. 0 or -errno. */
int replay_feed(struct replay *replay);
void replay_rest(struct replay *replay);

/* In the program's process: standard input is what is fed. */
void replay_take(const struct replay *replay);

#endif
