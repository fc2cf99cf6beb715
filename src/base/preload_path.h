/*
 * The linker splits LD_PRELOAD at spaces and colons, replaces words behind a dollar sign, and knows
 * no quotes: a library in a folder named so cannot be preloaded by its own path. It gets another
 * one, by a link to its folder in a directory of the user's, which stays for the processes that
 * come later.
 */
#ifndef BASE_PRELOAD_PATH_H
#define BASE_PRELOAD_PATH_H

#include <limits.h>
#include <stdbool.h>

/* LD_PRELOAD can hold the path as it is. */
bool preload_path_is_plain(const char *library);

/* A path of the same file that LD_PRELOAD can hold. 0, or -errno with a line for the user. */
int preload_path(const char *library, char path[PATH_MAX], char *error, unsigned error_size);

#endif
