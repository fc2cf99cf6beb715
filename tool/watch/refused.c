#include "refused.h"

#include <stddef.h>

#include "cli/refuse.h"

static const char *why_not(enum option_id id)
{
    switch (id) {
    case OPTION_PID:
        return "a process is watched by 'crocprof top PID'";
    case OPTION_LIST_AVAIL:
        return "that is 'crocprof list'";
    default:
        break;
    }
    if (options_table[id].group == OPTION_GROUP_FILES)
        return "no files are read or written";
    if (options_table[id].group == OPTION_GROUP_SUMMARY)
        return "there are no other tables";
    return NULL;
}

int watch_options_check(const char *command, const struct cli_options *line)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        const char *why = options_table[id].name ? why_not((enum option_id)id) : NULL;
        if (why && line->settings.value[id])
            return refuse(EXIT_USAGE, "%s: --%s: %s", command, options_table[id].name, why);
    }
    return 0;
}
