#include "words.h"

#include <stdio.h>
#include <string.h>

const struct avail_command_words avail_commands[AVAIL_COMMAND_COUNT] = {
    [AVAIL_LIST] = {"list", "", "names of the counters of each GPU"},
    [AVAIL_INFO] = {"info", "", "GPUs with their counters"},
    [AVAIL_PMC_CHECK] = {"pmc-check", "NAME[:device=N] ...",
                         "whether one run of a program collects them"},
};

enum { OF_LIST = 1 << AVAIL_LIST, OF_INFO = 1 << AVAIL_INFO };

const struct avail_option_words avail_options[] = {
    {AVAIL_DEVICE, "device", 'd', 0, "N", "one GPU, by its number among the GPUs"},
    {AVAIL_HELP, "help", 'h', 0, NULL, "shows the commands and options"},
    {AVAIL_PMC, "pmc", 0, OF_LIST, NULL, "counters: what it lists where nothing else is asked for"},
    {AVAIL_AGENT, "agent", 0, OF_LIST, NULL, "GPUs without their counters"},
    {AVAIL_PC_SAMPLING, "pc-sampling", 0, OF_LIST, NULL, "GPUs that sample program counters"},
    {AVAIL_SPM, "spm", 0, OF_LIST, NULL, "GPUs that stream counters"},
    {AVAIL_PMC, "pmc", 0, OF_INFO, "[NAME ...]",
     "counters, all or these, with description, block or expression, and dimensions"},
    {AVAIL_PC_SAMPLING, "pc-sampling", 0, OF_INFO, NULL, "how program counters are sampled"},
    {AVAIL_SPM, "spm", 0, OF_INFO, NULL, "how counters are streamed"},
    {AVAIL_SPM, "spm-config", 0, OF_INFO, NULL, "the same"},
};
const unsigned avail_option_count = sizeof avail_options / sizeof avail_options[0];

const struct avail_option_words *avail_option_find(const char *word, unsigned commands)
{
    size_t length = strcspn(word, "=");
    for (unsigned i = 0; i < avail_option_count; i++) {
        const struct avail_option_words *option = &avail_options[i];
        bool is_letter = option->letter && word[0] == '-' && word[1] == option->letter && !word[2];
        bool is_name = length > 2 && strncmp(word, "--", 2) == 0 &&
                       strlen(option->name) == length - 2 &&
                       strncmp(word + 2, option->name, length - 2) == 0;
        if ((is_letter || is_name) && (!option->commands || option->commands & commands))
            return option;
    }
    return NULL;
}

static void options_print(unsigned commands, const char *margin)
{
    for (unsigned i = 0; i < avail_option_count; i++) {
        const struct avail_option_words *option = &avail_options[i];
        char words[64], letter[8] = "";
        if (option->commands != commands)
            continue;
        if (option->letter)
            snprintf(letter, sizeof letter, "-%c, ", option->letter);
        snprintf(words, sizeof words, "%s%s--%s%s%s", margin, letter, option->name,
                 option->value ? " " : "", option->value ? option->value : "");
        printf("%-30s %s\n", words, option->help);
    }
}

void avail_help_print(void)
{
    puts("usage: rocprofv3-avail [-d N] COMMAND [options]\n");
    options_print(0, "  ");
    puts("\nCommands:");
    for (int i = 0; i < AVAIL_COMMAND_COUNT; i++) {
        char words[64];
        snprintf(words, sizeof words, "  %s %s", avail_commands[i].name,
                 avail_commands[i].operands);
        printf("%-30s %s\n", words, avail_commands[i].help);
        options_print(1u << i, "      ");
    }
}
