/* What a process leaves that was killed, where a format exists only at its end: its rows
 * (out/journal.h), of which the formats are made here. */
#ifndef CLI_UNFINISHED_H
#define CLI_UNFINISHED_H

#include <stdbool.h>

/* The path is called as such a file is. */
bool unfinished_is(const char *path);

/* Makes those of the formats ("json,csv"; NULL: the default ones) that the process of these files
 * could not complete, says so, and takes the rows away, as well as files without a byte. Does
 * nothing while their process still lives. */
void unfinished_complete(const char *prefix, long pid, const char *formats);

/* Makes files of all formats, whose names begin with `prefix`, and says so. An exit status. */
int unfinished_convert(const char *path, const char *formats, const char *prefix);

#endif
