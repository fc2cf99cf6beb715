/* Counters of a GPU of several dies by the first interface. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/aqlprofile/internal.h"
#include "api/aqlprofile/test/runtime_double.h"

typedef hsa_ven_amd_aqlprofile_block_name_t block_t;
static const hsa_agent_t gfx942 = {13}; /* eight dies */
static const block_t RPB = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_RPB;
static const block_t SQ = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ;

struct seen {
    uint32_t samples;
    uint64_t sum;
};

static hsa_status_t see(hsa_ven_amd_aqlprofile_info_type_t type,
                        hsa_ven_amd_aqlprofile_info_data_t *info, void *data)
{
    struct seen *seen = data;
    assert_int_equal(type, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA);
    seen->samples++;
    seen->sum += info->pmc_data.result;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t see_outside(hsa_ven_amd_aqlprofile_info_type_t type,
                                hsa_ven_amd_aqlprofile_info_data_t *info, void *data)
{
    if (info->pmc_data.event.block_name != RPB)
        return HSA_STATUS_SUCCESS;
    assert_int_equal(info->sample_id, 2); /* its instance */
    return see(type, info, data);
}

/* Of a GPU of several dies: each has its engines, but there is one RPB for all. */
static void blocks_outside_of_the_dies_test(void **state)
{
    enum { ENGINES = 32 };
    hsa_ven_amd_aqlprofile_event_t events[] = {{RPB, 2, 5}, {SQ, 0, 4}};
    hsa_ven_amd_aqlprofile_profile_t profile = {
        .agent = gfx942, .events = events, .event_count = 2};
    struct aql_pm4_packet start = {0};
    struct seen all = {0}, outside = {0};
    (void)state;
    assert_int_equal(hsa_ven_amd_aqlprofile_start(&profile, NULL), 0);
    assert_int_equal(profile.output_buffer.size, (ENGINES + 1) * sizeof(uint64_t));
    profile.command_buffer.ptr = aligned_alloc(4096, profile.command_buffer.size);
    uint64_t *samples = profile.output_buffer.ptr = malloc(profile.output_buffer.size);
    assert_int_equal(hsa_ven_amd_aqlprofile_start(&profile, (void *)&start), 0);
    for (int i = 0; i <= ENGINES; i++)
        samples[i] = UINT64_C(1) << i;
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&profile, see, &all), 0);
    assert_int_equal(all.samples, ENGINES + 1);
    assert_int_equal(all.sum, (UINT64_C(2) << ENGINES) - 1); /* each once */
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&profile, see_outside, &outside), 0);
    assert_int_equal(outside.samples, 1);
    free(profile.command_buffer.ptr);
    free(samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_outside_of_the_dies_test)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
