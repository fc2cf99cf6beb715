/* What a trace of the second interface is given beside the trace's own registers: the clock's
 * frequency, and memory for markers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/aqlprofile/internal.h"
#include "api/aqlprofile/test/runtime_double.h"
#include "gpu/pm4/packet.h"

/* Of the double: one whose runtime knows no frequency, and one that runs at 100 MHz. */
static const hsa_agent_t mi210 = {1}, r9700 = {17};

static aqlprofile_buffer_desc_flags_t last_flags;

static hsa_status_t allocate(void **ptr, uint64_t size, aqlprofile_buffer_desc_flags_t flags,
                             void *userdata)
{
    (void)userdata;
    last_flags = flags;
    *ptr = malloc(size);
    return *ptr ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

static void deallocate(void *ptr, void *userdata)
{
    (void)userdata;
    free(ptr);
}

static hsa_status_t copy(void *to, const void *from, size_t size, void *userdata)
{
    (void)userdata;
    memcpy(to, from, size);
    return HSA_STATUS_SUCCESS;
}

/* How often the start of a trace of 16 MiB writes the value to a user config register. */
static int writes_of(hsa_agent_t agent, uint32_t value, uint32_t timestamps)
{
    const aqlprofile_att_parameter_t parameters[] = {
        {(hsa_ven_amd_aqlprofile_parameter_name_t)10, {16 << 20}},
        {(hsa_ven_amd_aqlprofile_parameter_name_t)AQLPROFILE_ATT_PARAMETER_NAME_RT_TIMESTAMP,
         {timestamps}}};
    aqlprofile_att_control_aql_packets_t packets;
    aqlprofile_handle_t handle;
    struct aql_pm4_packet start;
    int found = 0;
    assert_int_equal(aqlprofile_att_create_packets(&handle, &packets,
                                                   (aqlprofile_att_profile_t){agent, parameters, 2},
                                                   allocate, deallocate, copy, NULL),
                     HSA_STATUS_SUCCESS);
    memcpy(&start, &packets.start_packet, sizeof start);
    const uint32_t *at = (const uint32_t *)(uintptr_t)(start.indirect_buffer[1] |
                                                       (uint64_t)start.indirect_buffer[2] << 32);
    for (uint32_t i = 0; i < (start.indirect_buffer[3] & 0xfffff); i += (at[i] >> 16 & 0x3fff) + 2)
        found += (at[i] >> 8 & 0xff) == PM4_SET_UCONFIG_REG && at[i + 2] == value;
    aqlprofile_att_delete_packets(handle);
    return found;
}

static void frequency_test(void **state)
{
    enum { FREQUENCY = 100000 << 12 | 6, NO_FREQUENCY = 6 };
    (void)state;
    assert_int_equal(writes_of(r9700, FREQUENCY, AQLPROFILE_ATT_PARAMETER_RT_TIMESTAMP_DEFAULT), 1);
    assert_int_equal(writes_of(r9700, FREQUENCY, AQLPROFILE_ATT_PARAMETER_RT_TIMESTAMP_ENABLE), 1);
    assert_int_equal(writes_of(r9700, FREQUENCY, AQLPROFILE_ATT_PARAMETER_RT_TIMESTAMP_DISABLE), 0);
    assert_int_equal(writes_of(mi210, FREQUENCY, AQLPROFILE_ATT_PARAMETER_RT_TIMESTAMP_ENABLE), 0);
    assert_int_equal(writes_of(mi210, NO_FREQUENCY, AQLPROFILE_ATT_PARAMETER_RT_TIMESTAMP_ENABLE),
                     1); /* HIWATER alone */
}

/* A marker's caller gives no function to copy to the device's memory. */
static void marker_memory_test(void **state)
{
    const aqlprofile_att_codeobj_data_t data = {.id = 5, .size = 0x1000, .agent = mi210};
    hsa_ext_amd_aql_pm4_packet_t packet;
    aqlprofile_handle_t handle;
    (void)state;
    assert_int_equal(
        aqlprofile_att_codeobj_marker(&packet, &handle, data, allocate, deallocate, NULL), 0);
    assert_true(last_flags.host_access && last_flags.device_access);
    assert_int_equal(last_flags.memory_hint, AQLPROFILE_MEMORY_HINT_NONE);
    aqlprofile_att_delete_packets(handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frequency_test),
                                       cmocka_unit_test(marker_memory_test)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
