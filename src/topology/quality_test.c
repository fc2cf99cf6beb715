#include "topology/quality.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char root[] = "/tmp/quality_test-XXXXXX";

static struct node_quality *quality_of(const char *text)
{
    char path[300], command[400];
    snprintf(path, sizeof path, "%s/sys/class/kfd/kfd/topology/nodes/3", root);
    snprintf(command, sizeof command, "mkdir -p %s", path);
    assert_int_equal(system(command), 0);
    strcat(path, "/measurement_quality");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return node_quality_read(root, 3);
}

static void what_nobody_states_is_not_stated(void **state)
{
    (void)state;
    assert_null(node_quality_read(root, 2));
    assert_int_equal(node_quality_event(NULL, "SQ", 4), CROCPROF_QUALITY_NOT_STATED);
    assert_null(node_quality_times(NULL));
}

static void events_by_their_lists(void **state)
{
    (void)state;
    struct node_quality *quality = quality_of("times wall time of a test\n"
                                              "exact SQ 4,6-10\n"
                                              "modelled SQ 121\n"
                                              "approximate SQC 4-5,7\n"
                                              "marvellous SQ 11\n"
                                              "cycles 56 1700000000\n");
    uint32_t offset_bytes;
    uint64_t hz;
    assert_true(node_quality_cycles(quality, &offset_bytes, &hz));
    assert_int_equal(offset_bytes, 56);
    assert_int_equal(hz, 1700000000);
    assert_string_equal(node_quality_times(quality), "wall time of a test");
    assert_int_equal(node_quality_event(quality, "SQ", 4), CROCPROF_QUALITY_EXACT);
    assert_int_equal(node_quality_event(quality, "SQ", 5), CROCPROF_QUALITY_NOT_COUNTED);
    assert_int_equal(node_quality_event(quality, "SQ", 6), CROCPROF_QUALITY_EXACT);
    assert_int_equal(node_quality_event(quality, "SQ", 10), CROCPROF_QUALITY_EXACT);
    assert_int_equal(node_quality_event(quality, "SQ", 11), CROCPROF_QUALITY_NOT_COUNTED);
    assert_int_equal(node_quality_event(quality, "SQ", 121), CROCPROF_QUALITY_MODELLED);
    assert_int_equal(node_quality_event(quality, "SQC", 4), CROCPROF_QUALITY_APPROXIMATE);
    assert_int_equal(node_quality_event(quality, "SQC", 7), CROCPROF_QUALITY_APPROXIMATE);
    assert_int_equal(node_quality_event(quality, "S", 4), CROCPROF_QUALITY_NOT_COUNTED);
    node_quality_free(quality);
}

static void nonsense_is_no_event(void **state)
{
    static const char *const texts[] = {
        "",          "\n\n",       "exact",       "exact ",       "exact SQ",
        "exact SQ ", "exact SQ x", "exact SQ 5-", "exact SQ 9-4", "exact SQ -4"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct node_quality *quality = quality_of(texts[i]);
        assert_non_null(quality);
        assert_int_equal(node_quality_event(quality, "SQ", 4), CROCPROF_QUALITY_NOT_COUNTED);
        assert_null(node_quality_times(quality));
        uint32_t offset_bytes;
        uint64_t hz;
        assert_false(node_quality_cycles(quality, &offset_bytes, &hz));
        node_quality_free(quality);
    }
}

static int root_make(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int root_remove(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", root);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_nobody_states_is_not_stated),
                                       cmocka_unit_test(events_by_their_lists),
                                       cmocka_unit_test(nonsense_is_no_event)};
    return cmocka_run_group_tests(tests, root_make, root_remove);
}
