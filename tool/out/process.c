#include "process.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
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

/* The first bytes of a file, without the end of the line; "" if it cannot be read. */
static void line_read(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, size - 1);
    if (file >= 0)
        close(file);
    text[length < 0 ? 0 : length] = 0;
    text[strcspn(text, "\n")] = 0;
}

struct out_machine out_machine(void)
{
    struct out_machine machine = {.hash = 14695981039346656037u}; /* FNV-1a */
    struct utsname name = {0};
    uname(&name);
    line_read("/etc/machine-id", machine.id, sizeof machine.id);
    if (recorded || !machine.id[0])
        snprintf(machine.id, sizeof machine.id, "%s",
                 recorded ? recorded->machine_id : name.nodename);
    for (const char *at = machine.id; *at; at++)
        machine.hash = (machine.hash ^ (uint8_t)*at) * 1099511628211u;
    machine.hash %= INT64_MAX;
    machine.node = machine.hash % UINT32_MAX;
    return machine;
}

const char *out_thread_name(uint64_t thread_id, char name[THREAD_NAME_BYTES])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%llu/comm", (unsigned long long)thread_id);
    name[0] = 0;
    if (!recorded)
        line_read(path, name, THREAD_NAME_BYTES);
    else if (recorded->thread_name)
        snprintf(name, THREAD_NAME_BYTES, "%s", recorded->thread_name(recorded->of, thread_id));
    return name;
}
