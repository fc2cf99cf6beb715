/* `list`: the counters of the machine's GPUs. */
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "avail/inside.h"
#include "avail/list.h"
#include "cli/complete.h"
#include "cli/refuse.h"
#include "counting/choice.h"
#include "table.h"

enum { OWN_JSON, OWN_AGENT, OWN_FITS, OWN_DETAILS };
static const struct command_option own[] = {
    {"json", 0, OPTION_FLAG, NULL, "as JSON, with everything that is known"},
    {"agent", 0, OPTION_TEXT, "AGENT", "one GPU: the number of its node, or a part of its name"},
    {"fits", 0, OPTION_FLAG, NULL,
     "whether one run of a program collects these counters, or how many do; exit status 1: not "
     "one"},
    {"details", 0, OPTION_FLAG, NULL, "dimensions and expression of each counter, too"},
    {0},
};

/* Names of counters may be joined by commas, as those of --pmc. NULL: no memory. */
static char **names_part(char *const *words, unsigned *count)
{
    size_t room = 1;
    for (char *const *word = words; *word; word++)
        room += strlen(*word) + 1;
    char **names = calloc(room, sizeof *names);
    *count = 0;
    for (; names && *words; words++)
        for (char *name = strtok(*words, ","); name; name = strtok(NULL, ","))
            names[(*count)++] = name;
    return names;
}

static int fits_print(struct cli_options *line, struct list_request request)
{
    char **names = names_part(line->operands, &request.pattern_count);
    if (!names)
        return refuse(EXIT_NOT_STARTED, "out of memory");
    request.patterns = names;
    int status = list_print(&request);
    free(names);
    return status;
}

static int list_run(struct cli_options *line)
{
    char error[PATH_MAX + CLI_ERROR_BYTES];
    if (cli_options_complete(line, error, sizeof error) != 0)
        return refuse(EXIT_USAGE, "%s", error);
    if (!inside_enter())
        return EXIT_NOT_STARTED;
    rocprofiler_status_t status = choice_definitions_load(&line->settings);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return refuse(EXIT_USAGE, "--extra-counters: %s", rocprofiler_get_status_string(status));
    const struct list_request request = {
        .patterns = line->operands,
        .pattern_count = line->operand_count,
        .agent = command_text(line, OWN_AGENT),
        .json = command_flag(line, OWN_JSON),
        .details = command_flag(line, OWN_DETAILS),
        .fits = command_flag(line, OWN_FITS),
    };
    return request.fits ? fits_print(line, request) : list_print(&request);
}

static const enum option_id takes[] = {OPTION_EXTRA_COUNTERS, OPTION_LOG_LEVEL, OPTION_COUNT};

const struct command command_list = {
    .name = "list",
    .operands = "[PATTERN ...]",
    .help = "the counters of the machine's GPUs, with what each one counts",
    .text =
        "A pattern is a part of a name, a whole name with * and ?, or a regular expression.\n"
        "A GPU that says so, as the software GPU does, has a class for each counter: exact (what\n"
        "happened), modelled, approximate, or not counted (it stays 0); a computed one has the\n"
        "worst of those that it is computed from. Exit status 1: nothing matches.",
    .options = own,
    .takes = takes,
    .operands_max = 4096,
    .run = list_run,
};
