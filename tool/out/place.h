/*
 * Names of a process's files: DIR/PID_..., or DIR/PID-2_... and so on where files of that number
 * are somebody else's: of a process with the same number on another host, in another container or
 * earlier, or of the program that this process was before an exec.
 */
#ifndef OUT_PLACE_H
#define OUT_PLACE_H

#include <limits.h>

enum { PLACE_NUMBER_MAX = 1000000 };

/* The first number, from 1, behind those that have files now. Another process may take it at the
 * same time: files are then created exclusively, and the next number is tried. */
unsigned place_number(const char *directory, long pid);

/* "DIR/PID" or "DIR/PID-NUMBER". 0 or -ENAMETOOLONG. */
int place_prefix(const char *directory, long pid, unsigned number, char prefix[PATH_MAX]);

#endif
