#include "match.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/pattern.h"

struct match {
    char *text;
    struct pattern *pattern; /* NULL: no regular expression */
    bool is_glob;
};

struct match *match_create(const char *text, char *message, size_t message_size)
{
    struct match *match = calloc(1, sizeof *match);
    bool is_regex = strpbrk(text, "^$.+(){}|\\") != NULL;
    char *insensitive = NULL;
    snprintf(message, message_size, "out of memory");
    if (!match || asprintf(&insensitive, "(?i)%s", text) < 0 || !(match->text = strdup(text))) {
        match_destroy(match);
        return NULL;
    }
    match->is_glob = !is_regex && strpbrk(text, "*?[") != NULL;
    match->pattern = is_regex ? pattern_create(insensitive, message, message_size) : NULL;
    free(insensitive);
    if (is_regex && !match->pattern) {
        match_destroy(match);
        return NULL;
    }
    return match;
}

void match_destroy(struct match *match)
{
    if (!match)
        return;
    pattern_destroy(match->pattern);
    free(match->text);
    free(match);
}

bool match_is(const struct match *match, const char *name)
{
    if (match->pattern)
        return pattern_found(match->pattern, name);
    return match->is_glob ? fnmatch(match->text, name, FNM_CASEFOLD) == 0
                          : strcasestr(name, match->text) != NULL;
}
