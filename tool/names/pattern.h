/* Regular expressions of kernels' names and domains, in Perl's dialect, which has all that
 * rocprofv3's (ECMAScript's) patterns use. */
#ifndef NAMES_PATTERN_H
#define NAMES_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct pattern;

/* NULL with a message when the text is no pattern, or memory is out. */
struct pattern *pattern_create(const char *text, char *message, size_t message_size);
/* NULL does nothing. */
void pattern_destroy(struct pattern *pattern);

/* True when the pattern is found anywhere in the text. A search that takes longer than any sensible
 * one is given up: false. Any thread. */
bool pattern_found(const struct pattern *pattern, const char *text);
/* True when the pattern describes the whole text. */
bool pattern_matches(const struct pattern *pattern, const char *text);

#endif
