#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0: not of this name. */
static unsigned number_of(const char *file, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(file, name, length) != 0)
        return 0;
    if (file[length] == '_')
        return 1;
    char *end;
    unsigned long number = file[length] == '-' ? strtoul(file + length + 1, &end, 10) : 0;
    return number > 0 && number < PLACE_NUMBER_MAX && *end == '_' ? (unsigned)number : 0;
}

/* The directory that "DIR/NAME" is in. NULL when it cannot be read. */
static DIR *directory_open(const char *stem)
{
    const char *slash = strrchr(stem, '/');
    char directory[PATH_MAX];
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - stem) : 1,
             slash ? stem : ".");
    return opendir(*directory ? directory : "/");
}

unsigned place_number(const char *stem)
{
    const char *slash = strrchr(stem, '/');
    unsigned last = 0;
    DIR *files = directory_open(stem);
    struct dirent *entry;
    while (files && (entry = readdir(files))) {
        unsigned number = number_of(entry->d_name, slash ? slash + 1 : stem);
        last = number > last ? number : last;
    }
    if (files)
        closedir(files);
    return last + 1;
}

/* `name` in the directory `at`. */
static void tree_remove(int at, const char *name)
{
    int directory = unlinkat(at, name, 0) == 0
                        ? -1
                        : openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *files = directory >= 0 ? fdopendir(directory) : NULL;
    struct dirent *entry;
    while (files && (entry = readdir(files)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            tree_remove(directory, entry->d_name);
    if (files)
        closedir(files);
    else if (directory >= 0)
        close(directory);
    if (directory >= 0)
        unlinkat(at, name, AT_REMOVEDIR);
}

void place_tree_remove(const char *path)
{
    tree_remove(AT_FDCWD, path);
}

static bool is_empty_file(int at, const char *name)
{
    struct stat status;
    return fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
           status.st_size == 0;
}

static void files_remove(const char *prefix, bool only_empty)
{
    const char *slash = strrchr(prefix, '/'), *name = slash ? slash + 1 : prefix;
    DIR *files = directory_open(prefix);
    struct dirent *entry;
    while (files && (entry = readdir(files)))
        if (strncmp(entry->d_name, name, strlen(name)) == 0 && entry->d_name[strlen(name)] == '_' &&
            (!only_empty || is_empty_file(dirfd(files), entry->d_name)))
            tree_remove(dirfd(files), entry->d_name);
    if (files)
        closedir(files);
}

void place_remove(const char *prefix)
{
    files_remove(prefix, false);
}

void place_empty_remove(const char *prefix)
{
    files_remove(prefix, true);
}

void place_stem(const char *directory, long pid, char stem[PATH_MAX + 32])
{
    snprintf(stem, PATH_MAX + 32, "%s/%ld", directory, pid);
}

void place_tidy(char *path)
{
    char *to = path;
    for (const char *from = path; *from;) {
        if (from[0] == '/' && from[1] == '/')
            from++;
        else if (from[0] == '/' && from[1] == '.' && from[2] == '/')
            from += 2;
        else
            *to++ = *from++;
    }
    *to = 0;
}

int place_prefix(const char *stem, unsigned number, char prefix[PATH_MAX])
{
    int length = number == 1 ? snprintf(prefix, PATH_MAX, "%s", stem)
                             : snprintf(prefix, PATH_MAX, "%s-%u", stem, number);
    return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int place_directory_make(const char *path)
{
    char part[PATH_MAX];
    if (strlen(path) >= sizeof part)
        return -ENAMETOOLONG;
    strcpy(part, path);
    for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST && errno != EROFS)
            return -errno;
        *slash = '/';
    }
    return mkdir(part, 0777) == 0 || errno == EEXIST ? 0 : -errno;
}

int place_parent_make(const char *path)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return 0;
    if (slash - path >= PATH_MAX)
        return -ENAMETOOLONG;
    snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
    return place_directory_make(parent);
}
