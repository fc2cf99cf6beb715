/*
 * For tests: a kernel made by hand on two engines, of which one translates what is hot, and so
 * makes series of its groups (series.h), and the other one nothing. Memory, faults, modelled time
 * and what all counters are made of are the same.
 */
#ifndef WAVE_TWO_ENGINES_H
#define WAVE_TWO_ENGINES_H

#include <stdint.h>

#include "wave/engine.h"
#include "wave/kernel_runner.h"

enum { WAVE = 64, LAUNCHES = 3, LAUNCH_UNTIMED = 1, LAUNCH_COUNTED = 2, WORDS = 8 };
enum { ARGUMENTS_AT = 0x100, TABLE_AT = 0x1000, DATA_AT = 0x4000, BUFFER_BYTES = 4 << 20 };
enum { THIRD = 5 << 18, FROM_AT = DATA_AT, TO_AT = DATA_AT + THIRD };
/* Groups of one wave, whose last one is behind the first one by a power of two. */
enum { GROUPS = 1025, TABLE_ITEMS = 2 * 1024 };
/* The group that a series is first looked for behind, by how batches grow, of one thread: the
 * numbers are what they should be there, in the next group and in the dispatch's last one. */
enum { FIRST_TRIED = 15 };

/* s[8:15] and s[16:23] of all kernels; addresses are relative to the buffer at first. */
struct arguments {
    uint64_t from, to, table, other;
    uint32_t words[WORDS];
};

struct side { /* translates, or does not */
    struct kernel_runner *runner;
    struct dispatch_result result;
};

struct trial {
    struct arguments arguments;
    uint32_t groups, waves;
};

/* How the kernels begin: with their arguments. */
#define BEGIN                                                                                      \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"                                   \
    "s_load_dwordx8 s[8:15], s[4:5], 0x100\ns_load_dwordx8 s[16:23], s[4:5], 0x120\n"              \
    "s_waitcnt lgkmcnt(0)\n"

void sides_begin(struct side sides[2], const char *text);
void sides_end(struct side sides[2]);
/* Data, a table and the arguments; the kernel, to its end. */
void side_fill(struct side *side, const struct trial *trial);
void side_run(struct side *side, const struct trial *trial);
/* Fails the test where they differ. */
void sides_compare(const struct side sides[2], const char *name, unsigned launch);
/* All of it, a launch whose time nobody sees in the middle, the last one with counters that want
 * memory and fetches. */
void text_try(const char *name, const char *text, const struct trial *trial);

#endif
