#include "attached.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool attached_is(void)
{
    const char *pid = secure_getenv("ROCPROF_ATTACH_PID");
    return pid && *pid;
}

/* What services are made of. */
static bool is_fixed(enum option_id id)
{
    switch (options_table[id].group) {
    case OPTION_GROUP_BASIC:
    case OPTION_GROUP_COUNTERS:
    case OPTION_GROUP_FILTER:
        return options_table[id].variable != NULL;
    default:
        return id == OPTION_DEMANGLE || id == OPTION_TRUNCATE_KERNELS ||
               id == OPTION_KERNEL_RENAME || id == OPTION_BENCHMARK_MODE;
    }
}

static bool same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Texts of the environment belong to the program, which may change it. They are few, and those of
 * earlier attachments are left: somebody may still read them. */
static void keep(struct settings *settings)
{
    for (int id = 0; id < OPTION_COUNT; id++)
        if (settings->value[id])
            settings->value[id] = strdup(settings->value[id]);
}

void attached_first(struct settings *settings)
{
    keep(settings);
}

bool attached_again(struct settings *settings)
{
    struct settings now;
    settings_from_environment(&now);
    for (int id = 0; id < OPTION_COUNT; id++)
        if (is_fixed((enum option_id)id) && !same(now.value[id], settings->value[id])) {
            fprintf(stderr,
                    "crocprof: this process was attached to before, and %s was something else: "
                    "what is collected stays as it was configured first\n",
                    options_table[id].variable);
            return false;
        }
    keep(&now);
    *settings = now;
    return true;
}
