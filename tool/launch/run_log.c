#include "run_log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define VARIABLE "CROCPROF_RUN"

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
    int file = memfd_create("crocprof-run", MFD_CLOEXEC);
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

/* One write a line: appends of different processes do not mix. */
void run_log_put(enum run_log_key key, const char *text)
{
    char line[LINE_BYTES];
    size_t used = 0;
    int saved_errno = errno;
    int file = place[0] ? open(place, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file >= 0) {
        line[used++] = (char)key;
        line[used++] = '\t';
        used += number_put(line + used, (unsigned long)getpid());
        line[used++] = '\t';
        for (; *text && used < LINE_BYTES - 1; text++)
            line[used++] = (char)(*text == '\n' ? ' ' : *text);
        line[used++] = '\n';
        ssize_t wrote = write(file, line, used);
        (void)wrote; /* a run whose last lines say less */
        close(file);
    }
    errno = saved_errno;
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
