#include "compare.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/refuse.h"
#include "cli/runs.h"
#include "launch/settings.h"
#include "launch/temporary.h"
#include "out/place.h"

static int file_add(struct totals *totals, const char *path, const struct recording_ask *ask)
{
    char error[PATH_MAX + 200];
    struct recording *recording;
    int status = recording_open(&recording, path, error, sizeof error);
    if (status == 0) {
        status = totals_add(totals, recording, ask, error, sizeof error);
        inputs_damage_tell(recording);
        recording_close(recording);
    }
    if (status == 0)
        return 0;
    return refuse(EXIT_TROUBLE, "%s%s", error,
                  access(path, X_OK) == 0 ? " (a program goes behind --)" : "");
}

struct totals *compare_read(const char *word, const struct recording_ask *ask)
{
    char *words[] = {(char *)(uintptr_t)word, NULL};
    struct inputs inputs;
    struct totals *totals = totals_create();
    int status = totals ? inputs_find(&inputs, words) : refuse(EXIT_TROUBLE, "out of memory");
    if (totals && status == 0) {
        for (unsigned i = 0; i < inputs.count && status == 0; i++)
            status = file_add(totals, inputs.paths[i], ask);
        inputs_free(&inputs);
    }
    if (status == 0)
        return totals;
    totals_destroy(totals);
    return NULL;
}

/* ---- a program instead of a recording */

static int counter_add(struct compare_counters *counters, const char *name)
{
    for (unsigned i = 0; i < counters->count; i++)
        if (strcmp(counters->names[i], name) == 0)
            return 0;
    const char **grown = realloc(counters->names, (counters->count + 1) * sizeof *counters->names);
    char *copy = strdup(name);
    counters->names = grown ? grown : counters->names;
    if (!grown || !copy) {
        free(copy);
        return -ENOMEM;
    }
    grown[counters->count++] = copy;
    return 0;
}

int compare_counters_add(struct compare_counters *counters, const char *list)
{
    char name[256];
    int status = 0;
    while (status == 0 && settings_list_next(&list, name, sizeof name))
        status = counter_add(counters, name);
    return status;
}

void compare_counters_free(struct compare_counters *counters)
{
    for (unsigned i = 0; i < counters->count; i++)
        free((char *)(uintptr_t)counters->names[i]);
    free(counters->names);
    *counters = (struct compare_counters){0};
}

static int run_become(void *words)
{
    execv("/proc/self/exe", words);
    return refuse(EXIT_NOT_STARTED, "%s", strerror(errno));
}

/* `record`, as anybody would call it. The wait status, or -1 after a line. */
static int program_run(char *const *program, const struct compare_counters *counters,
                       const char *directory)
{
    enum { FIXED = 10 };
    const char *const head[] = {"crocprof", "record", "-d",          directory,
                                "-f",       "rocpd",  "--no-summary"};
    unsigned count = 0, words_count = 0;
    int status = -1;
    while (program[words_count])
        words_count++;
    const char **words = calloc(FIXED + counters->count + words_count, sizeof *words);
    if (!words)
        return refuse(-1, "out of memory");
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++)
        words[count++] = head[i];
    if (counters->count > 0)
        words[count++] = "--pmc";
    for (unsigned i = 0; i < counters->count; i++)
        words[count++] = counters->names[i];
    words[count++] = "--";
    for (unsigned i = 0; i < words_count; i++)
        words[count++] = program[i];
    runs_begin();
    runs_once(run_become, words, &status);
    runs_end();
    free(words);
    return status;
}

struct totals *compare_run(char *const *program, const struct compare_counters *counters,
                           const struct recording_ask *ask)
{
    char directory[PATH_MAX];
    struct totals *totals = NULL;
    int status = temporary_directory(directory);
    if (status != 0) {
        refuse(EXIT_TROUBLE, "%s: %s", directory, strerror(-status));
        return NULL;
    }
    status = program_run(program, counters, directory);
    if (status == 0)
        totals = compare_read(directory, ask);
    else if (status > 0 && WIFSIGNALED(status))
        refuse(EXIT_TROUBLE, "%s: ended by signal %d: nothing is compared", program[0],
               WTERMSIG(status));
    else if (status > 0)
        refuse(EXIT_TROUBLE, "%s: ended with status %d: nothing is compared", program[0],
               WEXITSTATUS(status));
    place_tree_remove(directory);
    return totals;
}

double compare_percent(double before, double after)
{
    if (before == after)
        return 0;
    return before == 0 ? copysign(INFINITY, after) : 100 * (after - before) / fabs(before);
}
