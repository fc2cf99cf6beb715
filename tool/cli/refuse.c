#include "refuse.h"

#include <stdarg.h>
#include <stdio.h>

int refuse(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("crocprof: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return status;
}
