#include "statistics/tolerance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <crocprof/quality.h>

/* What the software GPU counts, with its classes: cycles are never exact, instructions always. */
static void the_list_of_events(void **state)
{
    (void)state;
    char line[1024], name[128], class[32];
    unsigned events = 0;
    FILE *file = fopen(CROC_EVENTS, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%*s %127s %31s", name, class) != 2)
            continue;
        double percent = tolerance_default(name);
        if (strcmp(class, "approximate") == 0 && percent < 10)
            fail_msg("%s is approximate, and may move by %g %%", name, percent);
        if (strcmp(class, "modelled") == 0 && percent <= 0)
            fail_msg("%s is modelled, and must be equal", name);
        if (strncmp(name, "SQ_INSTS_", 9) == 0 && strcmp(class, "exact") == 0 && percent > 0)
            fail_msg("%s is exact, and may move by %g %%", name, percent);
        events++;
    }
    fclose(file);
    assert_true(events > 300);
    assert_true(tolerance_default("a counter of tomorrow") == 2);
}

/* What the device says counts more than the name. */
static void the_devices_word(void **state)
{
    (void)state;
    assert_true(tolerance_of("SQ_BUSY_CYCLES", CROCPROF_QUALITY_EXACT) == 0);
    assert_true(tolerance_of("SQ_WAVES", CROCPROF_QUALITY_MODELLED) == 2);
    assert_true(tolerance_of("SQ_WAVES", CROCPROF_QUALITY_APPROXIMATE) == 10);
    assert_true(tolerance_of("SQ_WAVES", CROCPROF_QUALITY_NOT_STATED) == 0);
    assert_true(tolerance_of("SQ_BUSY_CYCLES", CROCPROF_QUALITY_NOT_STATED) == 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_list_of_events),
                                       cmocka_unit_test(the_devices_word)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
