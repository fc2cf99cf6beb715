/* What the environment asks for. */
#ifndef ROCTRACER_TOOL_SETTINGS_H
#define ROCTRACER_TOOL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_list {
    char **names;
    size_t count;
};

struct settings {
    bool roctx;
    bool hsa_api, hsa_activity;
    bool hip_api, hip_activity;
    bool kfd_api;
    struct name_list hsa_functions, hip_functions, kfd_functions; /* empty: all */
    size_t buffer_size_bytes;
    bool has_periods; /* trace length_us of every rate_us, after delay_us */
    uint32_t delay_us, length_us, rate_us;
    uint32_t flush_us;  /* 0: no regular flush */
    const char *plugin; /* file name or path */
    const char *plugin_folders;
};

enum { PERIODS_NEVER_START = UINT32_MAX };

/* Reads the environment and the input file. What makes no sense is reported and left at its
 * default. The strings are the environment's. */
void settings_read(struct settings *settings);
void settings_free(struct settings *settings);

bool settings_want_anything(const struct settings *settings);

/* Adds the words of a list whose separators are commas and spaces. False: no memory. */
bool name_list_add(struct name_list *list, const char *words);
void name_list_free(struct name_list *list);

#endif
