/* A program that loads the library itself, with no HSA runtime in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/aqlprofile/internal.h"

static void agents_need_a_runtime(void **state)
{
    const char *text = NULL;
    bool known = true;
    hsa_ven_amd_aqlprofile_event_t event = {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ, 0, 4};
    hsa_ven_amd_aqlprofile_profile_t profile = {.agent = {1}, .events = &event, .event_count = 1};
    (void)state;
    assert_int_not_equal(hsa_ven_amd_aqlprofile_start(NULL, NULL), HSA_STATUS_SUCCESS);
    assert_int_equal(hsa_ven_amd_aqlprofile_start(&profile, NULL), HSA_STATUS_ERROR);
    assert_int_equal(hsa_ven_amd_aqlprofile_error_string(&text), HSA_STATUS_SUCCESS);
    assert_string_equal(text, "no HSA runtime is loaded");
    assert_int_equal(hsa_ven_amd_aqlprofile_start(NULL, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_ven_amd_aqlprofile_validate_event((hsa_agent_t){1}, &event, &known),
                     HSA_STATUS_ERROR);
    hsa_ven_amd_aqlprofile_error_string(&text);
    assert_string_equal(text, "no HSA runtime is loaded");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agents_need_a_runtime)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
