/*
 * Changes of the environment while other threads read it. setenv() may free the array that a
 * getenv() elsewhere walks through; here a new array takes the old one's place, and neither it nor
 * any string is ever freed. A setenv() at the very same moment may be lost. Costs the array's size
 * each time: for what happens a few times in a process.
 */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

struct environment_variable {
    const char *name;  /* it is not empty and has no '=' */
    const char *value; /* NULL: the variable goes */
};

/* All or nothing. Later variables win over earlier ones of the same name. What is that way already
 * costs nothing. False: no memory. Any thread; calls must not overlap each other. */
bool environment_change(const struct environment_variable *variables, size_t count);

/* A switch: everything but 0, off, false and no is on; not set, or empty, is `otherwise`. */
bool environment_flag(const char *name, bool otherwise);

#endif
