#include "snapshots.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text up to the next tab, which it moves behind; false at the end. */
static bool field_take(char **at, char **field)
{
    *field = strsep(at, "\t");
    return *field && *at;
}

/* "time DOMAIN CALLS TOTAL MIN MAX NAME" or "counter NAME LAUNCHES SUM ADDITIVE KERNEL". */
static bool row_read(char *line, struct snapshot_row *row)
{
    char *at = line, *what, *kind, *number[4];
    *row = (struct snapshot_row){0};
    if (!field_take(&at, &what) || !field_take(&at, &kind))
        return false;
    row->is_counter = strcmp(what, "counter") == 0;
    if (!row->is_counter && strcmp(what, "time") != 0)
        return false;
    for (int i = 0; i < (row->is_counter ? 3 : 4); i++)
        if (!field_take(&at, &number[i]))
            return false;
    row->kind = kind;
    row->name = at;
    row->calls = strtoull(number[0], NULL, 10);
    if (row->is_counter) {
        row->sum = strtod(number[1], NULL);
        row->additive = number[2][0] == '1';
        return true;
    }
    row->total_ns = strtoull(number[1], NULL, 10);
    row->min_ns = strtoull(number[2], NULL, 10);
    row->max_ns = strtoull(number[3], NULL, 10);
    return true;
}

static void file_read(int directory, const char *name,
                      void (*each)(const struct snapshot_row *row, void *data), void *data)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    struct snapshot_row row;
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    FILE *lines = file >= 0 ? fdopen(file, "r") : NULL;
    while (lines && (length = getline(&line, &size, lines)) > 0) {
        line[length - 1] = line[length - 1] == '\n' ? 0 : line[length - 1];
        if (row_read(line, &row))
            each(&row, data);
    }
    free(line);
    if (lines)
        fclose(lines);
    else if (file >= 0)
        close(file);
}

unsigned snapshots_read(const char *directory,
                        void (*each)(const struct snapshot_row *row, void *data), void *data)
{
    DIR *files = opendir(directory);
    struct dirent *entry;
    unsigned count = 0;
    while (files && (entry = readdir(files)))
        if (isdigit((unsigned char)entry->d_name[0])) {
            file_read(dirfd(files), entry->d_name, each, data);
            count++;
        }
    if (files)
        closedir(files);
    return count;
}

bool snapshots_directory_make(char directory[PATH_MAX], long user)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, PATH_MAX, "%s/crocprof-watch-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (mkdtemp(directory) && (user < 0 || chown(directory, (uid_t)user, (gid_t)-1) == 0))
        return true;
    fprintf(stderr, "crocprof: %s: %s\n", directory, strerror(errno));
    return false;
}

void snapshots_directory_clear(const char *directory)
{
    DIR *files = opendir(directory);
    struct dirent *entry;
    while (files && (entry = readdir(files)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(files), entry->d_name, 0);
    if (files)
        closedir(files);
}

void snapshots_directory_remove(const char *directory)
{
    snapshots_directory_clear(directory);
    rmdir(directory);
}
