/* The "stat" files of /proc: of a process, or of one of its threads. */
#ifndef BASE_PROC_STAT_H
#define BASE_PROC_STAT_H

#include <stddef.h>

/* What stands behind the name, which may hold anything, brackets and spaces too: the state's letter
 * and numbers, with a space between each two, as far as the buffer has room. NULL: there is no such
 * file, or the buffer is too small for the name. Allocates nothing. */
const char *proc_stat_read(const char *path, char *buffer, size_t size_bytes);

#endif
