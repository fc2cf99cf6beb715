#include "base/proc_stat.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

const char *proc_stat_read(const char *path, char *buffer, size_t size_bytes)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, buffer, size_bytes - 1);
    if (file >= 0)
        close(file);
    buffer[length > 0 ? length : 0] = '\0';
    const char *end = strrchr(buffer, ')');
    return end && end[1] == ' ' && end[2] ? end + 2 : NULL;
}
