#include "filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/pattern.h"

/* Written by filter_open() before the first launch; read by any thread. */
static struct pattern *include, *exclude;
static struct filter_range ranges[FILTER_RANGES_MAX];
static unsigned range_count;

/* "N" or "N-M" at *at, which moves behind it. */
static bool range_read(const char **at, struct filter_range *range)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    range->first = range->last = (uint32_t)strtoul(*at, &end, 10);
    if (*end == '-') {
        const char *second = end + 1;
        if (*second < '0' || *second > '9')
            return false;
        range->last = (uint32_t)strtoul(second, &end, 10);
    }
    *at = end;
    return range->first <= range->last;
}

bool filter_ranges_read(const char *text, struct filter_range *found, unsigned max, unsigned *count)
{
    *count = 0;
    for (;;) {
        text += strspn(text, "[], \t");
        if (!*text)
            return *count > 0;
        if (*count == max || !range_read(&text, &found[*count]))
            return false;
        ++*count;
    }
}

static struct pattern *pattern_open(const struct settings *settings, enum option_id id)
{
    const char *text = settings_text(settings, id);
    char message[128];
    if (!text)
        return NULL;
    struct pattern *pattern = pattern_create(text, message, sizeof message);
    if (!pattern)
        fprintf(stderr, "crocprof: %s: %s\n", text, message);
    return pattern;
}

void filter_open(const struct settings *settings)
{
    const char *text = settings_text(settings, OPTION_KERNEL_ITERATION_RANGE);
    include = pattern_open(settings, OPTION_KERNEL_INCLUDE_REGEX);
    exclude = pattern_open(settings, OPTION_KERNEL_EXCLUDE_REGEX);
    if (text && !filter_ranges_read(text, ranges, FILTER_RANGES_MAX, &range_count)) {
        fprintf(stderr, "crocprof: %s: not a list of launches\n", text);
        range_count = 0;
    }
}

bool filter_wants_kernel(const char *name)
{
    if (include && !pattern_found(include, name))
        return false;
    return !exclude || !pattern_found(exclude, name);
}

bool filter_wants_launch(uint32_t number)
{
    for (unsigned i = 0; i < range_count; i++)
        if (number >= ranges[i].first && number <= ranges[i].last)
            return true;
    return range_count == 0;
}
