#include "process.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Set before writers are opened, by their thread. */
static const struct out_process *recorded;

const struct out_process *out_process(void)
{
    return recorded;
}

void out_process_set(const struct out_process *process)
{
    recorded = process;
}

const char *out_thread_name(uint64_t thread_id, char name[THREAD_NAME_BYTES])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%llu/comm", (unsigned long long)thread_id);
    int file = recorded ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, name, THREAD_NAME_BYTES - 1);
    if (file >= 0)
        close(file);
    name[length < 0 ? 0 : length] = 0;
    name[strcspn(name, "\n")] = 0;
    return name;
}
