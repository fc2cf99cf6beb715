#include "manifest.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/wait.h"

enum { LINE_BYTES = NAME_MAX + 256, LOCK_TRIES = 100, LOCK_STEP_NS = WAIT_NS_PER_MS };

/* What a file is, as far as its directory entry's owner can be told by it. */
struct identity {
    uint64_t device, number, born_ns; /* born 0: the file system does not say */
    uint64_t size, changed_ns;        /* when it was finished */
    bool is_finished;
};

struct known {
    struct known *next;
    struct identity identity;
    char name[];
};

/* In a process of the run. Written and read by who works on the report (turn.h). */
static int list_file = -1;

static uint64_t nanoseconds(struct statx_timestamp time)
{
    return (uint64_t)time.tv_sec * 1000000000u + time.tv_nsec;
}

/* Of a file or a directory as it is now, links not followed. A directory has changed when names in
 * it have. */
static bool identity_read(int directory, const char *name, struct identity *identity)
{
    struct statx now;
    if (statx(directory, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &now) != 0 ||
        !(S_ISREG(now.stx_mode) || S_ISDIR(now.stx_mode)))
        return false;
    *identity = (struct identity){
        .device = makedev(now.stx_dev_major, now.stx_dev_minor),
        .number = now.stx_ino,
        .born_ns = now.stx_mask & STATX_BTIME ? nanoseconds(now.stx_btime) : 0,
        .size = now.stx_size,
        .changed_ns = nanoseconds(now.stx_mtime),
    };
    return true;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int directory_open(const char *stem)
{
    char directory[PATH_MAX];
    const char *name = name_of(stem);
    snprintf(directory, sizeof directory, "%.*s", name > stem ? (int)(name - stem) : 1,
             name > stem ? stem : ".");
    return open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The list, if it can only be ours. A descriptor or -1. */
static int list_open(int directory, const char *name, int flags)
{
    char list[NAME_MAX + 16];
    struct stat status;
    snprintf(list, sizeof list, ".%.*s.crocprof", NAME_MAX, name);
    int file = openat(directory, list, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (file >= 0 && (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
                      status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)))) {
        close(file);
        return -1;
    }
    return file;
}

/* ---- in a process of the run */

void manifest_forget(void)
{
    if (list_file >= 0)
        close(list_file);
    list_file = -1;
}

/* A crocprof that looks at the list holds it for a moment. */
static void lock_share(int file)
{
    for (int i = 0; i < LOCK_TRIES && flock(file, LOCK_SH | LOCK_NB) != 0; i++)
        wait_pause(LOCK_STEP_NS);
}

void manifest_hold(const char *stem)
{
    manifest_forget();
    int directory = directory_open(stem);
    if (directory < 0)
        return;
    list_file = list_open(directory, name_of(stem), O_WRONLY | O_APPEND);
    close(directory);
    if (list_file >= 0)
        lock_share(list_file);
}

static void line_put(char kind, int directory, const char *path)
{
    struct identity now;
    char line[LINE_BYTES];
    if (list_file < 0 || !identity_read(directory, path, &now))
        return;
    int length = snprintf(line, sizeof line, "%c %llx %llx %llx %llx %llx %s\n", kind,
                          (unsigned long long)now.device, (unsigned long long)now.number,
                          (unsigned long long)now.born_ns, (unsigned long long)now.size,
                          (unsigned long long)now.changed_ns, name_of(path));
    if (length < (int)sizeof line && write(list_file, line, (size_t)length) != length)
        manifest_forget(); /* files that the next run will leave alone */
}

void manifest_add(const char *path)
{
    line_put('+', AT_FDCWD, path);
}

void manifest_finish(const char *prefix)
{
    const char *name = name_of(prefix);
    int directory = list_file < 0 ? -1 : directory_open(prefix);
    DIR *files = directory < 0 ? NULL : fdopendir(directory);
    struct dirent *entry;
    while (files && (entry = readdir(files)))
        if (strncmp(entry->d_name, name, strlen(name)) == 0 && entry->d_name[strlen(name)] == '_')
            line_put('=', dirfd(files), entry->d_name);
    if (files)
        closedir(files);
    else if (directory >= 0)
        close(directory);
}

/* ---- in crocprof */

static struct known *known_find(struct known *known, const char *name, size_t length)
{
    while (known && (strncmp(known->name, name, length) != 0 || known->name[length]))
        known = known->next;
    return known;
}

/* A finished file is one that was made. */
static void line_take(struct known **all, char *line)
{
    unsigned long long value[5];
    char kind;
    int at = 0;
    if (sscanf(line, "%c %llx %llx %llx %llx %llx %n", &kind, &value[0], &value[1], &value[2],
               &value[3], &value[4], &at) < 6 ||
        at == 0 || !line[at])
        return;
    struct known *known = known_find(*all, line + at, strlen(line + at));
    if (!known && kind == '+') {
        known = calloc(1, sizeof *known + strlen(line + at) + 1);
        if (!known)
            return;
        strcpy(known->name, line + at);
        known->next = *all;
        *all = known;
    }
    if (known &&
        (kind == '+' || (known->identity.device == value[0] && known->identity.number == value[1])))
        known->identity =
            (struct identity){value[0], value[1], value[2], value[3], value[4], kind == '='};
}

static struct known *list_read(int file)
{
    struct known *all = NULL;
    char line[LINE_BYTES];
    int copy = dup(file);
    FILE *list = copy < 0 ? NULL : fdopen(copy, "r");
    while (list && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = 0;
        line_take(&all, line);
    }
    if (list)
        fclose(list);
    else if (copy >= 0)
        close(copy);
    return all;
}

/* Which number of NAME a file has, and where that ends: "NAME_" 1, "NAME-7_" 7; 0: none. */
static unsigned long number_of(const char *file, const char *name, size_t *prefix)
{
    size_t length = strlen(name);
    char *end = NULL;
    if (strncmp(file, name, length) != 0)
        return 0;
    *prefix = length;
    if (file[length] == '_')
        return 1;
    if (file[length] != '-' || !isdigit((unsigned char)file[length + 1]))
        return 0;
    unsigned long number = strtoul(file + length + 1, &end, 10);
    *prefix = (size_t)(end - file);
    return *end == '_' ? number : 0;
}

/* A database's journal has its owner. */
static size_t owned_length(const char *file)
{
    static const char journal[] = "-journal";
    size_t length = strlen(file), tail = sizeof journal - 1;
    return length > tail && strcmp(file + length - tail, journal) == 0 ? length - tail : length;
}

static bool is_ours(struct known *all, int directory, const char *file)
{
    struct identity now;
    size_t length = owned_length(file);
    const struct known *known = known_find(all, file, length);
    if (!known)
        return false;
    if (file[length])
        return true;
    const struct identity *then = &known->identity;
    if (!identity_read(directory, file, &now) || now.device != then->device ||
        now.number != then->number)
        return false;
    if (then->is_finished)
        return now.size == then->size && now.changed_ns == then->changed_ns;
    return now.born_ns != 0 && now.born_ns == then->born_ns; /* its process was killed */
}

/* Directories of ours hold files only. */
static void entry_remove(int directory, const char *name)
{
    if (unlinkat(directory, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
        return;
    int inner = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *files = inner < 0 ? NULL : fdopendir(inner);
    struct dirent *entry;
    while (files && (entry = readdir(files)))
        unlinkat(dirfd(files), entry->d_name, 0);
    if (files)
        closedir(files);
    else if (inner >= 0)
        close(inner);
    unlinkat(directory, name, AT_REMOVEDIR);
}

/* Visits the files of one number of NAME; 0: of any. False: one was not ours. */
static bool files_of(struct known *all, DIR *files, const char *name, unsigned long number,
                     bool removes)
{
    struct dirent *entry;
    bool all_ours = true;
    size_t prefix;
    rewinddir(files);
    while ((entry = readdir(files))) {
        unsigned long found = number_of(entry->d_name, name, &prefix);
        if (found == 0 || (number != 0 && found != number))
            continue;
        if (removes)
            entry_remove(dirfd(files), entry->d_name);
        else
            all_ours &= is_ours(all, dirfd(files), entry->d_name);
    }
    return all_ours;
}

/* All that can be told: whole numbers. True: nothing of NAME is left. */
static bool files_remove(struct known *all, DIR *files, const char *name)
{
    enum { NUMBERS_MAX = 4096 };
    unsigned long numbers[NUMBERS_MAX];
    size_t count = 0, prefix;
    struct dirent *entry;
    bool none_left = true;
    while ((entry = readdir(files))) {
        unsigned long found = number_of(entry->d_name, name, &prefix);
        size_t at = 0;
        while (at < count && numbers[at] != found)
            at++;
        if (found != 0 && at == count && count < NUMBERS_MAX)
            numbers[count++] = found;
    }
    for (size_t i = 0; i < count; i++) {
        bool is_free = files_of(all, files, name, numbers[i], false);
        if (is_free)
            files_of(all, files, name, numbers[i], true);
        none_left &= is_free;
    }
    return none_left;
}

static void list_renew(int directory, int list, const char *name)
{
    struct known *all = list_read(list), *next;
    int copy = dup(directory);
    DIR *files = copy < 0 ? NULL : fdopendir(copy);
    if (files && files_remove(all, files, name) && ftruncate(list, 0) != 0)
        fprintf(stderr, "crocprof: .%s.crocprof: %s\n", name, strerror(errno));
    if (files)
        closedir(files);
    else if (copy >= 0)
        close(copy);
    for (; all; all = next) {
        next = all->next;
        free(all);
    }
}

void manifest_renew(const char *stem)
{
    int directory = directory_open(stem);
    if (directory < 0)
        return;
    int list = list_open(directory, name_of(stem), O_RDWR | O_CREAT);
    if (list >= 0) {
        if (flock(list, LOCK_EX | LOCK_NB) == 0)
            list_renew(directory, list, name_of(stem));
        close(list);
    }
    close(directory);
}

static bool has_files(int directory, const char *name)
{
    int copy = dup(directory);
    DIR *files = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry = NULL;
    size_t prefix;
    while (files && (entry = readdir(files)) && number_of(entry->d_name, name, &prefix) == 0)
        ;
    bool found = !files || entry;
    if (files)
        closedir(files);
    else if (copy >= 0)
        close(copy);
    return found;
}

void manifest_settle(const char *stem)
{
    char path[NAME_MAX + 16];
    int directory = directory_open(stem);
    int list = directory < 0 ? -1 : list_open(directory, name_of(stem), O_RDWR);
    snprintf(path, sizeof path, ".%.*s.crocprof", NAME_MAX, name_of(stem));
    if (list >= 0 && flock(list, LOCK_EX | LOCK_NB) == 0 && !has_files(directory, name_of(stem)))
        unlinkat(directory, path, 0);
    if (list >= 0)
        close(list);
    if (directory >= 0)
        close(directory);
}
