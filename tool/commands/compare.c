#include "compare.h"

#include <limits.h>
#include <math.h>

#include "cli/refuse.h"

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
    return status == 0 ? 0 : refuse(EXIT_TROUBLE, "%s", error);
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

double compare_percent(double before, double after)
{
    if (before == after)
        return 0;
    return before == 0 ? copysign(INFINITY, after) : 100 * (after - before) / fabs(before);
}
