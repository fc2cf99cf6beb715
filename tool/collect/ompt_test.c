/* Words of --ompt-trace against the SDK's own names of the operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <rocprofiler-sdk/ompt.h>

#include "collect/ompt.h"

static rocprofiler_tracing_operation_t list[OMPT_OPERATIONS_MAX];
static char unknown[32];

static uint64_t bits_of(const char *words)
{
    uint64_t bits = 0;
    size_t count = ompt_operations(words, list, unknown);
    for (size_t i = 0; i < count; i++) {
        assert_in_range(list[i], 0, ROCPROFILER_OMPT_ID_callback_functions - 1);
        assert_false(bits >> list[i] & 1);
        bits |= UINT64_C(1) << list[i];
    }
    return bits;
}

/* Every word of the option is known, and every event stands behind one word, and one only. */
static void every_event_has_one_kind(void **state)
{
    (void)state;
    uint64_t together = 0;
    char words[] = OMPT_WORDS, *rest = words;
    for (char *word; (word = strsep(&rest, "|"));) {
        uint64_t bits = bits_of(word);
        assert_string_equal(unknown, "");
        if (strcmp(word, "all") == 0) {
            assert_int_equal(bits, 0); /* no list: the SDK's own "all" */
            continue;
        }
        assert_int_not_equal(bits, 0);
        assert_int_equal(together & bits, 0);
        together |= bits;
    }
    assert_int_equal(together, (UINT64_C(1) << ROCPROFILER_OMPT_ID_callback_functions) - 1);
}

/* Two kinds are described word by word in rocprofv3's manual. */
static void kinds_as_documented(void **state)
{
    (void)state;
    static const rocprofiler_ompt_operation_t parallel[] = {
        ROCPROFILER_OMPT_ID_parallel_begin, ROCPROFILER_OMPT_ID_parallel_end,
        ROCPROFILER_OMPT_ID_implicit_task,  ROCPROFILER_OMPT_ID_work,
        ROCPROFILER_OMPT_ID_dispatch,       ROCPROFILER_OMPT_ID_reduction,
        ROCPROFILER_OMPT_ID_masked};
    uint64_t wanted = 0;
    for (size_t i = 0; i < sizeof parallel / sizeof parallel[0]; i++)
        wanted |= UINT64_C(1) << parallel[i];
    assert_int_equal(bits_of("parallel"), wanted);
    wanted = UINT64_C(7) << ROCPROFILER_OMPT_ID_target_emi;
    assert_int_equal(bits_of("target"), wanted);
    assert_int_equal(bits_of("Target, target"), wanted);
    assert_int_equal(bits_of("target,parallel"), wanted | bits_of("parallel"));
    assert_int_equal(bits_of("target,all"), 0);
}

static void unknown_words_are_said(void **state)
{
    (void)state;
    assert_int_equal(bits_of("thread,nonsense,other"), bits_of("thread"));
    bits_of("thread,nonsense,other");
    assert_string_equal(unknown, "nonsense");
    assert_int_equal(bits_of(NULL), 0);
    assert_string_equal(unknown, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_has_one_kind),
        cmocka_unit_test(kinds_as_documented),
        cmocka_unit_test(unknown_words_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
