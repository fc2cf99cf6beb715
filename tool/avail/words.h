/* The commands and options of rocprofv3-avail: its help, its manual page and what it takes. */
#ifndef AVAIL_WORDS_H
#define AVAIL_WORDS_H

#include <stdbool.h>

enum avail_command { AVAIL_LIST, AVAIL_INFO, AVAIL_PMC_CHECK, AVAIL_COMMAND_COUNT };

struct avail_command_words {
    const char *name, *operands, *help;
};
extern const struct avail_command_words avail_commands[AVAIL_COMMAND_COUNT];

enum avail_option {
    AVAIL_DEVICE,
    AVAIL_HELP,
    AVAIL_AGENT,
    AVAIL_PMC,
    AVAIL_PC_SAMPLING,
    AVAIL_SPM
};

struct avail_option_words {
    enum avail_option option;
    const char *name;
    char letter;       /* 0: none */
    unsigned commands; /* a bit for each; 0: it stands in front of the command */
    const char *value; /* what follows; NULL: nothing, or yes and no */
    const char *help;
};
extern const struct avail_option_words avail_options[];
extern const unsigned avail_option_count;

/* "--NAME" and "--NAME=VALUE", or the letter. NULL: it is none of that command. */
const struct avail_option_words *avail_option_find(const char *word, unsigned commands);
void avail_help_print(void);

#endif
