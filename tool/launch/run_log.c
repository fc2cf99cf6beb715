#include "run_log.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/wait.h"
#include "base/write_guard.h"

#define VARIABLE  "CROCPROF_RUN"
#define FILE_NAME "crocprof-run"

enum { LINE_BYTES = PATH_MAX + 64 };

/* Where the run's file is; written before the program runs, or by crocprof. */
static char place[64];

void run_log_attach(void)
{
    const char *found = secure_getenv(VARIABLE);
    snprintf(place, sizeof place, "%s", found ? found : "");
}

int run_log_create(void)
{
    int file = memfd_create(FILE_NAME, MFD_CLOEXEC);
    if (file < 0)
        return -errno;
    snprintf(place, sizeof place, "/proc/%ld/fd/%d", (long)getpid(), file);
    if (setenv(VARIABLE, place, 1) == 0)
        return file;
    close(file);
    return -ENOMEM;
}

static size_t number_put(char *at, unsigned long number)
{
    char digits[24];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    for (size_t i = 0; i < count; i++)
        at[i] = digits[count - 1 - i];
    return count;
}

/* A daemon may live longer than crocprof, whose number is another's then: only the file that was
 * meant is written to. */
static int place_open(void)
{
    static const char wanted[] = "/memfd:" FILE_NAME;
    char target[sizeof wanted];
    ssize_t length = place[0] ? readlink(place, target, sizeof target - 1) : -1;
    if (length < (ssize_t)sizeof wanted - 1 || memcmp(target, wanted, sizeof wanted - 1) != 0)
        return -1;
    return open(place, O_WRONLY | O_APPEND | O_CLOEXEC);
}

/* One write a line: appends of different processes do not mix. */
void run_log_put(enum run_log_key key, const char *text)
{
    char line[LINE_BYTES];
    size_t used = 0;
    int saved_errno = errno;
    int file = place_open();
    if (file >= 0) {
        line[used++] = (char)key;
        line[used++] = '\t';
        used += number_put(line + used, (unsigned long)getpid());
        line[used++] = '\t';
        for (; *text && used < LINE_BYTES - 1; text++)
            line[used++] = (char)(*text == '\n' ? RUN_LOG_BREAK : *text);
        line[used++] = '\n';
        struct write_guard guard; /* the program's limit of sizes is one for this file, too */
        write_guard_begin(&guard);
        ssize_t wrote = write(file, line, used);
        (void)wrote; /* a run whose last lines say less */
        write_guard_end(&guard);
        close(file);
    }
    errno = saved_errno;
}

/* Its environment, as it was started with, names this run. *empty: it has none, as kernel threads,
 * and as a process for the moment in which it becomes another program. */
static bool environment_names_run(const char *pid, bool *empty)
{
    char path[64], *line = NULL;
    size_t size = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%.20s/environ", pid);
    FILE *file = fopen(path, "re");
    *empty = true;
    while (file && !found && getdelim(&line, &size, 0, file) > 0) {
        *empty = false;
        found = strncmp(line, VARIABLE "=", sizeof VARIABLE) == 0 &&
                strcmp(line + sizeof VARIABLE, place) == 0;
    }
    if (file)
        fclose(file);
    free(line);
    return found;
}

/* Neither a kernel thread nor one that has ended. */
static bool has_program(const char *pid)
{
    char path[64], target[8];
    snprintf(path, sizeof path, "/proc/%.20s/exe", pid);
    return readlink(path, target, sizeof target) > 0;
}

/* *pauses are left for all processes together: some have no environment at all. */
static bool is_of_run(const char *pid, int *pauses)
{
    bool empty, found = environment_names_run(pid, &empty);
    for (; *pauses > 0 && empty && has_program(pid); --*pauses) {
        wait_pause(WAIT_NS_PER_MS);
        found = environment_names_run(pid, &empty);
    }
    return found;
}

void run_log_living(void (*visit)(long pid, void *data), void *data)
{
    DIR *processes = place[0] ? opendir("/proc") : NULL;
    struct dirent *entry;
    int pauses = 20;
    while (processes && (entry = readdir(processes)))
        if (isdigit((unsigned char)entry->d_name[0]) && atol(entry->d_name) != (long)getpid() &&
            is_of_run(entry->d_name, &pauses))
            visit(atol(entry->d_name), data);
    if (processes)
        closedir(processes);
}

char *run_log_read(int file)
{
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0)
        return NULL;
    char *text = malloc((size_t)status.st_size + 1);
    ssize_t size = text ? pread(file, text, (size_t)status.st_size, 0) : -1;
    if (size < 0) {
        free(text);
        return NULL;
    }
    text[size] = 0;
    return text;
}
