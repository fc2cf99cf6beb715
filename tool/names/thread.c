#include "thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *thread_name(uint64_t thread_id, char name[THREAD_NAME_BYTES])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%llu/comm", (unsigned long long)thread_id);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, name, THREAD_NAME_BYTES - 1);
    if (file >= 0)
        close(file);
    name[length < 0 ? 0 : length] = 0;
    name[strcspn(name, "\n")] = 0;
    return name;
}
