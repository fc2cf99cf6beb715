/* The options of crocgpu. One list makes --help and the manual page (man_rows.c). */
#ifndef LAUNCH_OPTIONS_H
#define LAUNCH_OPTIONS_H

#include <stdio.h>

/*  option, short option or 0, what the value is or NULL, help (lines) */
#define LAUNCH_OPTIONS(X)                                                                          \
    X("devices", 0, "LIST",                                                                        \
      "which GPUs it sees: gfx90a (default), gfx906, gfx908, gfx942;\n"                            \
      "gfx90a*2,gfx942 means two of one and one of another")                                       \
    X("time", 0, "WHICH",                                                                          \
      "what the times of kernels are: wall (default), this machine's, or\n"                        \
      "model: cycles of the counters' clock, the same in every run")                               \
    X("help", 'h', NULL, "this text")

/* These stand behind `crocgpu pm4`. */
#define PM4_OPTIONS(X)                                                                             \
    X("gfx", 0, "NAME",                                                                            \
      "whose registers: gfx9, gfx90a (default), gfx1010, gfx1030, gfx1100, gfx1200 ...")           \
    X("help", 'h', NULL, "this text")

/* Prints one option of --help, further lines of its text below the first one. */
void launch_option_print(FILE *file, const char *option, char letter, const char *value,
                         const char *help);

#endif
