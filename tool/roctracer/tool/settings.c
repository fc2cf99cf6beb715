#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "input.h"

enum { BUFFER_BYTES_DEFAULT = 2 << 20, BUFFER_BYTES_MIN = 4096 };
#define BUFFER_BYTES_MAX ((size_t)1 << 32)

bool name_list_add(struct name_list *list, const char *words)
{
    static const char separators[] = ", \t\n";
    for (words += strspn(words, separators); *words; words += strspn(words, separators)) {
        size_t length = strcspn(words, separators);
        char **larger = realloc(list->names, (list->count + 1) * sizeof *larger);
        if (!larger)
            return false;
        list->names = larger;
        char *name = strndup(words, length);
        if (!name)
            return false;
        list->names[list->count++] = name;
        words += length;
    }
    return true;
}

void name_list_free(struct name_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct name_list){0};
}

static void domains_read(struct settings *settings)
{
    const char *domains = getenv("ROCTRACER_DOMAIN");
    if (!domains)
        return;
    bool sys = strstr(domains, "sys"), hsa = strstr(domains, "hsa"), hip = strstr(domains, "hip");
    settings->roctx = strstr(domains, "roctx");
    settings->hsa_api = hsa || sys;
    settings->hsa_activity = hsa;
    settings->hip_api = settings->hip_activity = hip || sys;
    settings->kfd_api = strstr(domains, "kfd");
    if (strstr(domains, "pcs"))
        log_warning("roctracer", "ROCTRACER_DOMAIN=%s: pcs cannot be traced", domains);
    else if (!sys && !hsa && !hip && !settings->roctx && !settings->kfd_api)
        log_warning("roctracer", "ROCTRACER_DOMAIN=%s: none of hsa, hip, kfd, roctx, sys", domains);
}

/* A number of microseconds or bytes; false for anything else. */
static bool number_parse(const char *text, uint64_t max, char end, uint64_t *number,
                         const char **rest)
{
    char *after;
    errno = 0;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long value = strtoull(text, &after, 10);
    if (errno != 0 || value > max || *after != end)
        return false;
    *number = value;
    *rest = after + (end != 0);
    return true;
}

static void buffer_size_read(struct settings *settings)
{
    const char *text = getenv("ROCTRACER_BUFFER_SIZE"), *rest;
    uint64_t number;
    if (!text)
        return;
    if (number_parse(text, BUFFER_BYTES_MAX, 0, &number, &rest) && number >= BUFFER_BYTES_MIN)
        settings->buffer_size_bytes = (size_t)number;
    else
        log_warning("roctracer", "ROCTRACER_BUFFER_SIZE=%s is not a size of %d bytes or more", text,
                    BUFFER_BYTES_MIN);
}

static void periods_read(struct settings *settings)
{
    const char *text = getenv("ROCP_CTRL_RATE"), *rest = text;
    uint64_t delay, length, rate;
    if (!text)
        return;
    if (strcmp(text, "-1:0:0") == 0) { /* how rocprof says "not before the program starts it" */
        settings->has_periods = true;
        settings->delay_us = PERIODS_NEVER_START;
        return;
    }
    if (!number_parse(rest, UINT32_MAX, ':', &delay, &rest) ||
        !number_parse(rest, UINT32_MAX, ':', &length, &rest) ||
        !number_parse(rest, UINT32_MAX, 0, &rate, &rest) || length > rate || rate == 0) {
        log_warning("roctracer",
                    "ROCP_CTRL_RATE=%s is not delay:length:rate in microseconds, with "
                    "length up to rate",
                    text);
        return;
    }
    settings->has_periods = true;
    settings->delay_us = (uint32_t)delay;
    settings->length_us = (uint32_t)length;
    settings->rate_us = (uint32_t)rate;
}

static void flush_rate_read(struct settings *settings)
{
    const char *text = getenv("ROCP_FLUSH_RATE"), *rest;
    uint64_t number;
    if (!text)
        return;
    if (number_parse(text, UINT32_MAX, 0, &number, &rest) && number > 0)
        settings->flush_us = (uint32_t)number;
    else
        log_warning("roctracer", "ROCP_FLUSH_RATE=%s is not a number of microseconds", text);
}

void settings_read(struct settings *settings)
{
    *settings = (struct settings){.buffer_size_bytes = BUFFER_BYTES_DEFAULT,
                                  .plugin = secure_getenv("ROCTRACER_PLUGIN_LIB"),
                                  .plugin_folders = secure_getenv("ROCTRACER_LIB_PATH")};
    if (!settings->plugin || !*settings->plugin)
        settings->plugin = "libfile_plugin.so";
    domains_read(settings);
    const char *input = secure_getenv("ROCP_INPUT");
    if (input && *input)
        input_read(settings, input);
    if (settings->hsa_activity)
        settings->hip_activity = false;
    buffer_size_read(settings);
    periods_read(settings);
    flush_rate_read(settings);
}

void settings_free(struct settings *settings)
{
    name_list_free(&settings->hsa_functions);
    name_list_free(&settings->hip_functions);
    name_list_free(&settings->kfd_functions);
}

bool settings_want_anything(const struct settings *settings)
{
    return settings->roctx || settings->hsa_api || settings->hsa_activity || settings->hip_api ||
           settings->hip_activity || settings->kfd_api;
}
