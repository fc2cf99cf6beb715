#include "text.h"

#include <stdio.h>

static const char *scaled(double value, double step, const char *const *units, int count,
                          char text[32])
{
    int i = 0;
    for (; i + 1 < count && value >= step; i++)
        value /= step;
    snprintf(text, 32, value >= 100 || (i == 0 && step > 1000) ? "%.0f %s" : "%.1f %s", value,
             units[i]);
    return text;
}

const char *text_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    return scaled(bytes, 1024, units, 5, text);
}

const char *text_seconds(double seconds, char text[32])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    return scaled(seconds * 1e9, 1000, units, 4, text);
}
