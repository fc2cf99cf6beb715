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

static hsa_status_t place_ignore(int position, int id, int extent, int coordinate, const char *name,
                                 void *data)
{
    (void)position, (void)id, (void)name, (void)data;
    return coordinate >= 0 && coordinate < extent ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

/* A block of every die has samples on each, one outside of the dies has them once. */
static void no_places_for_samples_that_do_not_exist(void **state)
{
    enum { DIES = 8, INSTANCES_OUTSIDE = 4, INSTANCES_TCC = 16 };
    static const struct {
        hsa_ven_amd_aqlprofile_block_name_t block;
        uint64_t samples;
    } rows[] = {{HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_RPB, INSTANCES_OUTSIDE},
                {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCC, INSTANCES_TCC * DIES}};
    const aqlprofile_agent_info_t info = {"gfx942", DIES, 32, 304, 1};
    aqlprofile_agent_handle_t agent;
    (void)state;
    assert_int_equal(aqlprofile_register_agent(&agent, &info), HSA_STATUS_SUCCESS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const aqlprofile_pmc_event_t event = {.event_id = 1, .block_name = rows[i].block};
        for (uint64_t sample = 0; sample < rows[i].samples; sample++)
            assert_int_equal(
                aqlprofile_iterate_event_coord(agent, event, sample, place_ignore, NULL),
                HSA_STATUS_SUCCESS);
        assert_int_equal(
            aqlprofile_iterate_event_coord(agent, event, rows[i].samples, place_ignore, NULL),
            HSA_STATUS_ERROR_INVALID_INDEX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_told),
        cmocka_unit_test(a_callback_ends_it),
        cmocka_unit_test(no_places_for_samples_that_do_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
