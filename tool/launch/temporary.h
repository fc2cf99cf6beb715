/* Files and directories that nobody keeps, in $TMPDIR or /tmp. */
#ifndef LAUNCH_TEMPORARY_H
#define LAUNCH_TEMPORARY_H

#include <limits.h>

/* A file without a name: a descriptor or -errno. */
int temporary_file(void);

/* An empty directory of our own. 0 or -errno; the path is there in both cases. */
int temporary_directory(char path[PATH_MAX]);
/* With the files in it. */
void temporary_directory_remove(const char *path);

#endif
