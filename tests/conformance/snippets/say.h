// One line to standard output, unbuffered, from a tool inside any program.
#pragma once
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...)
{
    char line[300] = "snippet: ";
    size_t length = strlen(line);
    va_list args;
    va_start(args, format);
    length += (size_t)vsnprintf(line + length, sizeof line - length - 1, format, args);
    va_end(args);
    line[length++] = '\n';
    if (write(STDOUT_FILENO, line, length) < 0)
        _exit(99);
}
