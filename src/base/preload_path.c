#include "base/preload_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 64 };

bool preload_path_is_plain(const char *library)
{
    return !strpbrk(library, " :$\t\n\v\f\r");
}

/* Nobody else can put links into it. */
static bool is_ours_alone(const char *directory)
{
    struct stat status;
    return lstat(directory, &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH));
}

/* Others may look: a program that gives its rights up still starts programs. */
static bool directory_make(const char *parent, char directory[PATH_MAX])
{
    if (!parent || parent[0] != '/' || !preload_path_is_plain(parent) ||
        snprintf(directory, PATH_MAX, "%s/crocprof-%u", parent, (unsigned)geteuid()) >=
            PATH_MAX - NAME_BYTES)
        return false;
    if (mkdir(directory, 0755) == 0)
        chmod(directory, 0755); /* mkdir() obeyed the umask */
    return is_ours_alone(directory) && access(directory, W_OK) == 0;
}

static bool directory_find(char directory[PATH_MAX])
{
    const char *const parents[] = {secure_getenv("XDG_RUNTIME_DIR"), secure_getenv("TMPDIR"),
                                   "/tmp", "/var/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++)
        if (directory_make(parents[i], directory))
            return true;
    return false;
}

static bool leads_to(const char *link, const char *folder)
{
    char target[PATH_MAX];
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0)
        return false;
    target[length] = 0;
    return strcmp(target, folder) == 0;
}

static uint64_t hash(const char *text)
{
    uint64_t value = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * 0x100000001b3u;
    return value;
}

/* One link for each folder, found again by the next process. Several may make it at once. */
static int link_make(const char *directory, const char *folder, char link[PATH_MAX])
{
    enum { ATTEMPTS = 100 };
    for (int i = 0; i < ATTEMPTS; i++) {
        if (snprintf(link, PATH_MAX, "%s/%016llx-%d", directory, (unsigned long long)hash(folder),
                     i) >= PATH_MAX)
            return -ENAMETOOLONG;
        int status = symlink(folder, link) == 0 ? 0 : -errno;
        if (status == 0 || leads_to(link, folder))
            return 0;
        if (status != -EEXIST)
            return status;
    }
    return -EEXIST;
}

int preload_path(const char *library, char path[PATH_MAX], char *error, unsigned error_size)
{
    char folder[PATH_MAX], directory[PATH_MAX], link[PATH_MAX];
    const char *name = strrchr(library, '/');
    int status = name && strlen(library) < PATH_MAX ? 0 : -EINVAL;
    if (status == 0 && preload_path_is_plain(library)) {
        strcpy(path, library);
        return 0;
    }
    if (status == 0 && (!preload_path_is_plain(name) || !directory_find(directory)))
        status = -ENOENT;
    if (status == 0) {
        snprintf(folder, sizeof folder, "%.*s", (int)(name - library), library);
        status = link_make(directory, folder, link);
    }
    if (status == 0 && snprintf(path, PATH_MAX, "%s%s", link, name) >= PATH_MAX)
        status = -ENAMETOOLONG;
    if (status != 0)
        snprintf(error, error_size,
                 "LD_PRELOAD cannot hold the path \"%s\" (spaces, colons and dollar signs), and no "
                 "link to it can be made in XDG_RUNTIME_DIR, TMPDIR or /tmp: %s",
                 library, strerror(-status));
    return status;
}
