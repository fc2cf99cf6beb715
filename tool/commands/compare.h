/* What commands that compare recordings share. */
#ifndef COMMANDS_COMPARE_H
#define COMMANDS_COMPARE_H

#include "inputs.h"
#include "statistics/totals.h"

/* Exit statuses as diff's: something differs that must not; the comparison could not be made. */
enum { EXIT_DIFFERENT = 1, EXIT_TROUBLE = 2 };

/* Everything that the word (as inputs_find() takes it) names, added up. NULL after a line. */
struct totals *compare_read(const char *word, const struct recording_ask *ask);

/* Change in percent; infinite from 0 to something. */
double compare_percent(double before, double after);

#endif
