/* Which option a word of the command line names. */
#ifndef CLI_FIND_H
#define CLI_FIND_H

#include <stddef.h>

#include "command.h"

/* What a word of the command line names. */
enum found_kind {
    FOUND_NOTHING,
    FOUND_OWN,
    FOUND_OPTION,
    FOUND_MOOT,
    FOUND_MISSING,
    FOUND_COMMAND
};

struct found {
    enum found_kind kind;
    int index; /* of its table, of `find_moot`, `find_missing` */
};

struct moot_option {
    const char *name;
    enum option_kind kind;
    const char *why;
};
extern const struct moot_option find_moot[];

struct missing_option {
    const char *name;
    char letter;
    const char *why;
};
extern const struct missing_option find_missing[];

/* '_' is as good as '-'. What the line's command does not take is not found. */
struct found find_name(const struct cli_options *options, const char *text, size_t length);
struct found find_letter(const struct cli_options *options, char letter);

/* The line may have this option of `record`. */
bool find_is_taken(const struct cli_options *options, enum option_id id);
/* How many options of its own the line's command has. */
int find_own_count(const struct cli_options *options);

/* What FOUND_COMMAND asks for. */
enum cli_command find_command(struct found found);

#endif
