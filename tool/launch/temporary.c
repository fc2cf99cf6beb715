#include "temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void template_make(char path[PATH_MAX])
{
    const char *temporary = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/crocprof-XXXXXX", temporary && *temporary ? temporary : "/tmp");
}

int temporary_file(void)
{
    char path[PATH_MAX];
    template_make(path);
    int file = mkostemp(path, O_CLOEXEC);
    if (file < 0)
        return -errno;
    unlink(path);
    return file;
}

int temporary_directory(char path[PATH_MAX])
{
    template_make(path);
    return mkdtemp(path) ? 0 : -errno;
}

void temporary_directory_remove(const char *path)
{
    DIR *files = opendir(path);
    struct dirent *entry;
    while (files && (entry = readdir(files)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(files), entry->d_name, 0);
    if (files)
        closedir(files);
    rmdir(path);
}
