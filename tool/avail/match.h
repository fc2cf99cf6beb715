/* Which names a pattern of `crocprof list` means. A word is a part of a name; with '*' or '?' it is
 * the whole name; with other marks a regular expression that is found in it. In any case. */
#ifndef AVAIL_MATCH_H
#define AVAIL_MATCH_H

#include <stdbool.h>
#include <stddef.h>

struct match;

/* NULL with a message when it is no pattern. */
struct match *match_create(const char *text, char *message, size_t message_size);
void match_destroy(struct match *match); /* NULL does nothing */
bool match_is(const struct match *match, const char *name);

#endif
