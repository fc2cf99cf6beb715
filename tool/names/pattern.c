#define PCRE2_CODE_UNIT_WIDTH 8
#include "pattern.h"

#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pattern {
    pcre2_code *code;
};

struct pattern *pattern_create(const char *text, char *message, size_t message_size)
{
    struct pattern *pattern = malloc(sizeof *pattern);
    int error;
    PCRE2_SIZE at;
    if (!pattern) {
        snprintf(message, message_size, "out of memory");
        return NULL;
    }
    pattern->code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, &error, &at, NULL);
    if (pattern->code)
        return pattern;
    PCRE2_UCHAR why[100] = "";
    pcre2_get_error_message(error, why, sizeof why);
    snprintf(message, message_size, "%s at character %zu", (const char *)why, (size_t)at + 1);
    free(pattern);
    return NULL;
}

void pattern_destroy(struct pattern *pattern)
{
    if (!pattern)
        return;
    pcre2_code_free(pattern->code);
    free(pattern);
}

static bool match(const struct pattern *pattern, const char *text, uint32_t options)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    if (!data)
        return false;
    int status = pcre2_match(pattern->code, (PCRE2_SPTR)text, strlen(text), 0, options, data, NULL);
    pcre2_match_data_free(data);
    return status >= 0;
}

bool pattern_found(const struct pattern *pattern, const char *text)
{
    return match(pattern, text, 0);
}

bool pattern_matches(const struct pattern *pattern, const char *text)
{
    return match(pattern, text, PCRE2_ANCHORED | PCRE2_ENDANCHORED);
}
