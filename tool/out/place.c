#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 0: not of this process. */
static unsigned number_of(const char *name, const char *pid)
{
    size_t length = strlen(pid);
    if (strncmp(name, pid, length) != 0)
        return 0;
    if (name[length] == '_')
        return 1;
    char *end;
    unsigned long number = name[length] == '-' ? strtoul(name + length + 1, &end, 10) : 0;
    return number > 0 && number < PLACE_NUMBER_MAX && *end == '_' ? (unsigned)number : 0;
}

unsigned place_number(const char *directory, long pid)
{
    char text[32];
    unsigned last = 0;
    DIR *files = opendir(directory);
    struct dirent *entry;
    snprintf(text, sizeof text, "%ld", pid);
    while (files && (entry = readdir(files))) {
        unsigned number = number_of(entry->d_name, text);
        last = number > last ? number : last;
    }
    if (files)
        closedir(files);
    return last + 1;
}

int place_prefix(const char *directory, long pid, unsigned number, char prefix[PATH_MAX])
{
    int length = number == 1 ? snprintf(prefix, PATH_MAX, "%s/%ld", directory, pid)
                             : snprintf(prefix, PATH_MAX, "%s/%ld-%u", directory, pid, number);
    return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}
