/* Names of where a sample was taken, as both interfaces tell them one after another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/aqlprofile/internal.h"

static struct {
    const char *names[COORDINATE_KINDS];
    int count, stop_at; /* stop_at: none behind that one is asked for */
} told;

static hsa_status_t take(int id, const char *name)
{
    assert_true(id == told.count && id < COORDINATE_KINDS);
    assert_non_null(name);
    told.names[told.count++] = name;
    return id == told.stop_at ? HSA_STATUS_ERROR_EXCEPTION : HSA_STATUS_SUCCESS;
}

static hsa_status_t take_with_data(int id, const char *name, void *data)
{
    assert_ptr_equal(data, &told);
    return take(id, name);
}

static void all_are_told(void **state)
{
    static const char *const known[] = {"XCD", "AID", "SE", "SA", "WGP", "INSTANCE"};
    enum { KNOWN = sizeof known / sizeof known[0] };
    (void)state;
    for (int version = 1; version <= 2; version++) {
        told.count = 0;
        told.stop_at = -1;
        assert_int_equal(version == 1 ? hsa_ven_amd_aqlprofile_iterate_event_ids(take)
                                      : aqlprofile_iterate_event_ids(take_with_data, &told),
                         HSA_STATUS_SUCCESS);
        assert_int_equal(told.count, KNOWN);
        for (int i = 0; i < KNOWN; i++) {
            int same = 0;
            for (int k = 0; k < KNOWN; k++)
                same += !strcmp(told.names[k], known[i]);
            assert_int_equal(same, 1);
        }
    }
}

/* The newer interface says what the callback said. */
static void a_callback_ends_it(void **state)
{
    (void)state;
    for (int i = 0; i < COORDINATE_KINDS; i++) {
        told.count = 0;
        told.stop_at = i;
        assert_int_equal(hsa_ven_amd_aqlprofile_iterate_event_ids(take), HSA_STATUS_SUCCESS);
        assert_int_equal(told.count, i + 1);
        told.count = 0;
        assert_int_equal(aqlprofile_iterate_event_ids(take_with_data, &told),
                         HSA_STATUS_ERROR_EXCEPTION);
        assert_int_equal(told.count, i + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_told),
        cmocka_unit_test(a_callback_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
