#include "base/log.h"

#include "base/write_guard.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1000 };

static const char *const level_names[] = {"error", "warning", "info", "debug"};

/* -1 until the environment was read. Writers: any thread, always the same value; relaxed. */
static _Atomic int log_threshold = -1;

static int threshold_read(void)
{
    const char *wanted = getenv("CROC_LOG_LEVEL");
    for (int level = LOG_ERROR; wanted && level <= LOG_DEBUG; level++)
        if (strcmp(wanted, level_names[level]) == 0)
            return level;
    return LOG_WARNING;
}

int log_enabled(enum log_level level)
{
    int threshold = atomic_load_explicit(&log_threshold, memory_order_relaxed);
    if (threshold < 0) {
        threshold = threshold_read();
        atomic_store_explicit(&log_threshold, threshold, memory_order_relaxed);
    }
    return (int)level <= threshold;
}

void log_write(enum log_level level, const char *module, const char *format, ...)
{
    if (!log_enabled(level))
        return;
    int saved_errno = errno;
    char line[LINE_MAX_BYTES + 1];
    int head = snprintf(line, LINE_MAX_BYTES, "crocprof %s: %s: ", level_names[level], module);
    va_list args;
    va_start(args, format);
    int body = vsnprintf(line + head, (size_t)(LINE_MAX_BYTES - head), format, args);
    va_end(args);
    size_t length = strnlen(line, LINE_MAX_BYTES - 1);
    if (body >= 0)
        line[length++] = '\n';
    struct write_guard guard;
    write_guard_begin(&guard);
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written; /* nobody left to tell */
    write_guard_end(&guard);
    errno = saved_errno;
}
