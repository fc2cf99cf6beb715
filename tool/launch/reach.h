/* Whether LD_PRELOAD brings our library into a program, as far as its file says. */
#ifndef LAUNCH_REACH_H
#define LAUNCH_REACH_H

enum reach {
    REACH_YES,     /* or not known */
    REACH_STATIC,  /* no dynamic loader comes in */
    REACH_SETUID,  /* it runs as somebody else, and the loader does not listen */
    REACH_32_BIT,  /* our library is of 64 bits */
    REACH_FOREIGN, /* another machine's, or another C library than glibc */
};

/* Of a file that may begin with "#!": then of what that names. Calls only what a child of vfork()
 * may. */
enum reach reach_of(const char *path);

/* A half sentence: "is linked statically". */
const char *reach_word(enum reach reach);
/* What to do about it. */
const char *reach_advice(enum reach reach);

#endif
