/* The commands and options of rocprofv3-avail as rows of gen/man_page.py. */
#include <stdio.h>

#include "words.h"

static void options_put(const char *section, unsigned commands)
{
    for (unsigned i = 0; i < avail_option_count; i++) {
        const struct avail_option_words *option = &avail_options[i];
        if (option->commands == commands)
            printf("%s\t%s\t%.*s\t%s\t\t\t%s%c", section, option->name, option->letter ? 1 : 0,
                   &option->letter, option->value ? option->value : "", option->help, 0);
    }
}

int main(void)
{
    for (int i = 0; i < AVAIL_COMMAND_COUNT; i++) {
        char section[32];
        printf("COMMAND\t%s\t\t%s\t\t\t%s.%c", avail_commands[i].name, avail_commands[i].operands,
               avail_commands[i].help, 0);
        snprintf(section, sizeof section, "COMMAND %s", avail_commands[i].name);
        options_put(section, 1u << i);
    }
    options_put("OWN", 0);
    return ferror(stdout) != 0;
}
