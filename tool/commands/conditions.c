#include "conditions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static int wrong(const char *text, char *error, size_t error_size)
{
    snprintf(error, error_size,
             "--fail-if: %s is no condition such as 'SQ_INSTS_VALU>+1%%' or 'KERNEL:time>+5%%'",
             text);
    return -EINVAL;
}

/* Names of kernels have brackets of their own: the last operator is the condition's. */
static const char *operator_find(const char *text)
{
    const char *found = NULL;
    for (const char *at = text; *at; at++)
        if (*at == '<' || *at == '>' || (*at == '!' && at[1] == '='))
            found = at;
    return found;
}

int condition_read(struct condition *condition, const char *text, char *error, size_t error_size)
{
    const char *at = operator_find(text), *colon = NULL;
    char *end;
    if (!at || at == text)
        return wrong(text, error, error_size);
    for (const char *c = text; c < at; c++)
        colon = *c == ':' ? c : colon;
    const char *metric = colon ? colon + 1 : text;
    *condition = (struct condition){.text = text, .operator= * at };
    int kernel_length = colon ? (int)(colon - text) : 0;
    if (metric == at || kernel_length >= (int)sizeof condition->kernel ||
        at - metric >= (int)sizeof condition->metric)
        return wrong(text, error, error_size);
    snprintf(condition->kernel, sizeof condition->kernel, "%.*s", kernel_length, text);
    snprintf(condition->metric, sizeof condition->metric, "%.*s", (int)(at - metric), metric);
    at += *at == '!' ? 2 : 1;
    condition->change = strtod(at, &end);
    if (end == at)
        return wrong(text, error, error_size);
    condition->is_percent = *end == '%';
    return end[condition->is_percent] ? wrong(text, error, error_size) : 0;
}

bool condition_is_about(const struct condition *condition, const char *kernel, const char *metric)
{
    return strcmp(condition->metric, metric) == 0 && strstr(kernel, condition->kernel);
}

bool condition_holds(const struct condition *condition, double before, double after)
{
    double change = condition->is_percent ? compare_percent(before, after) : after - before;
    switch (condition->operator) {
    case '<':
        return change < condition->change;
    case '>':
        return change > condition->change;
    default:
        return change != condition->change;
    }
}
