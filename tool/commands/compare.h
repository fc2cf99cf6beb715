/* What commands that compare recordings share. */
#ifndef COMMANDS_COMPARE_H
#define COMMANDS_COMPARE_H

#include "inputs.h"
#include "statistics/totals.h"

/* Exit statuses as diff's: something differs that must not; the comparison could not be made. */
enum { EXIT_DIFFERENT = 1, EXIT_TROUBLE = 2 };

/* Everything that the word (as inputs_find() takes it) names, added up. NULL after a line. */
struct totals *compare_read(const char *word, const struct recording_ask *ask);

/* Counters that a run is to have. */
struct compare_counters {
    const char **names; /* once each */
    unsigned count;
};
/* Adds a name that is not there yet; of a list with commas or blanks each. 0 or -ENOMEM. */
int compare_counters_add(struct compare_counters *counters, const char *list);
void compare_counters_free(struct compare_counters *counters);

/* Records the program in a directory that nobody keeps, and reads what it recorded. NULL after a
 * line: also where the program fails. */
struct totals *compare_run(char *const *program, const struct compare_counters *counters,
                           const struct recording_ask *ask);

/* Change in percent; infinite from 0 to something. */
double compare_percent(double before, double after);

#endif
