/* Both interfaces, called as their clients call them, over a double of the HSA runtime. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/aqlprofile/internal.h"
#include "api/aqlprofile/test/runtime_double.h"

static const hsa_agent_t agent = {1}, stranger = {2}, nobody = {3};

typedef hsa_ven_amd_aqlprofile_block_name_t block_t;
static const block_t SQ = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ;
static const block_t TCC = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCC;
static const block_t TCP = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_TCP;
static const block_t SDMA = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SDMA,
                     GL2C = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL2C;

static void validate_test(void **state)
{
    hsa_ven_amd_aqlprofile_event_t event = {TCC, 31, 17};
    bool ok = false;
    const char *text = NULL;
    (void)state;
    assert_int_equal(hsa_ven_amd_aqlprofile_validate_event(agent, &event, &ok), 0);
    assert_true(ok);
    event.block_index = 32;
    assert_int_equal(hsa_ven_amd_aqlprofile_validate_event(agent, &event, &ok), 0);
    assert_false(ok);
    event = (hsa_ven_amd_aqlprofile_event_t){SDMA, 4, 35}; /* five engines */
    assert_int_equal(hsa_ven_amd_aqlprofile_validate_event(agent, &event, &ok), 0);
    assert_true(ok);
    event.block_index = 5;
    assert_int_equal(hsa_ven_amd_aqlprofile_validate_event(agent, &event, &ok), 0);
    assert_false(ok);
    event = (hsa_ven_amd_aqlprofile_event_t){GL2C, 0, 1}; /* no such block: no crash */
    assert_int_equal(hsa_ven_amd_aqlprofile_validate_event(agent, &event, &ok), 0);
    assert_false(ok);
    event.block_name = 1000;
    assert_int_equal(hsa_ven_amd_aqlprofile_validate_event(agent, &event, &ok), 0);
    assert_false(ok);
    assert_int_equal(hsa_ven_amd_aqlprofile_validate_event(stranger, &event, &ok),
                     HSA_STATUS_ERROR);
    assert_int_equal(hsa_ven_amd_aqlprofile_error_string(&text), 0);
    assert_non_null(strstr(text, "gfx000"));
    assert_int_equal(hsa_ven_amd_aqlprofile_validate_event(nobody, &event, &ok), HSA_STATUS_ERROR);
}

static void info_test(void **state)
{
    hsa_ven_amd_aqlprofile_event_t event = {TCC, 0, 17};
    hsa_ven_amd_aqlprofile_profile_t profile = {.agent = agent, .events = &event, .event_count = 1};
    hsa_ven_amd_aqlprofile_id_query_t query = {.name = "TCC"};
    uint32_t number = 0;
    (void)state;
    assert_int_equal(hsa_ven_amd_aqlprofile_get_info(
                         &profile, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_COUNTERS, &number),
                     0);
    assert_int_equal(number, 4);
    assert_int_equal(
        hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID, &query), 0);
    assert_int_equal(query.id, TCC);
    assert_int_equal(query.instance_count, 32);
    query.name = "NONSENSE";
    assert_int_equal(
        hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_BLOCK_ID, &query),
        HSA_STATUS_ERROR);
    assert_int_equal(hsa_ven_amd_aqlprofile_get_info(
                         &profile, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE, &number),
                     0);
    assert_int_equal(number, 8);
    hsa_ven_amd_aqlprofile_profile_t roomy =
        profile; /* what is needed is asked, not what is there */
    roomy.command_buffer.size = roomy.output_buffer.size = 1 << 20;
    assert_int_equal(
        hsa_ven_amd_aqlprofile_get_info(&roomy, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE, &number),
        0);
    assert_int_equal(number, 8);
    assert_int_equal(hsa_ven_amd_aqlprofile_get_info(
                         &roomy, HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE, &number),
                     0);
    uint32_t needed = 0;
    assert_int_equal(hsa_ven_amd_aqlprofile_get_info(
                         &profile, HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE, &needed),
                     0);
    assert_int_equal(number, needed);
    assert_int_equal(hsa_ven_amd_aqlprofile_get_info(&profile, 99, &number),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_ven_amd_aqlprofile_get_info(NULL, 0, &number), HSA_STATUS_ERROR);
    /* The enable command is asked for its size first, then for the packet. */
    assert_int_equal(
        hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD, NULL), 0);
    assert_int_equal(profile.command_buffer.size, 12);
    uint32_t commands[3];
    struct aql_pm4_packet packet = {0};
    profile.command_buffer.ptr = commands;
    assert_int_equal(
        hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_ENABLE_CMD, &packet),
        0);
    assert_int_equal(commands[2], 1);
    assert_int_equal(packet.indirect_buffer[3] & 0xfffff, 3);
}

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

static void profile_test(void **state)
{
    hsa_ven_amd_aqlprofile_event_t events[] = {{SQ, 0, 4}, {TCC, 3, 17}};
    hsa_ven_amd_aqlprofile_profile_t profile = {.agent = agent, .events = events, .event_count = 2};
    struct aql_pm4_packet start = {0}, stop = {0}, read = {0};
    (void)state;
    assert_int_equal(hsa_ven_amd_aqlprofile_start(&profile, NULL), 0); /* asks for sizes */
    assert_int_equal(profile.output_buffer.size, 9 * 8);
    assert_true(profile.command_buffer.size >= 52 * 4);
    profile.command_buffer.ptr = aligned_alloc(4096, profile.command_buffer.size);
    profile.output_buffer.ptr = calloc(1, profile.output_buffer.size);
    profile.command_buffer.size /= 2;
    assert_int_equal(hsa_ven_amd_aqlprofile_start(&profile, (void *)&start),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT); /* too small: the size is told */
    assert_int_equal(hsa_ven_amd_aqlprofile_start(&profile, (void *)&start), 0);
    assert_int_equal(hsa_ven_amd_aqlprofile_read(&profile, (void *)&read), 0);
    assert_int_equal(hsa_ven_amd_aqlprofile_stop(&profile, (void *)&stop), 0);
    assert_int_equal(stop.indirect_buffer[3], 0x10800000 | 11);
    const uint32_t *dwords =
        (uint32_t *)(uintptr_t)(read.indirect_buffer[1] | (uint64_t)read.indirect_buffer[2] << 32);
    assert_int_equal(dwords[2], 0x401);
    uint64_t *samples = profile.output_buffer.ptr;
    for (int i = 0; i < 9; i++)
        samples[i] = 1ull << (4 * i);
    struct seen seen = {0};
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&profile, see, &seen), 0);
    assert_int_equal(seen.samples, 9);
    assert_true(seen.sum == 0x111111111);
    hsa_ven_amd_aqlprofile_info_data_t data = {.sample_id = UINT32_MAX};
    data.pmc_data.event = events[0];
    hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &data);
    assert_int_equal(data.pmc_data.result, 0x11111111);
    data.sample_id = 3;
    hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &data);
    assert_int_equal(data.pmc_data.result, 0x1000);
    free(profile.command_buffer.ptr);
    free(profile.output_buffer.ptr);
}

static void over_capacity_test(void **state)
{
    hsa_ven_amd_aqlprofile_event_t events[5] = {
        {TCC, 0, 1}, {TCC, 0, 2}, {TCC, 0, 3}, {TCC, 0, 4}, {TCC, 0, 5}};
    hsa_ven_amd_aqlprofile_profile_t profile = {.agent = agent, .events = events, .event_count = 5};
    const char *text;
    (void)state;
    assert_int_equal(hsa_ven_amd_aqlprofile_start(&profile, NULL), HSA_STATUS_ERROR);
    hsa_ven_amd_aqlprofile_error_string(&text);
    assert_string_equal(text, "more events than the block has counters");
}

/* ---- second interface */

static int live, allocations_left = 1000;

static hsa_status_t allocate(void **ptr, uint64_t size, aqlprofile_buffer_desc_flags_t flags,
                             void *userdata)
{
    assert_ptr_equal(userdata, &live);
    assert_true(flags.device_access);
    if (allocations_left-- == 0)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    live++;
    *ptr = calloc(1, size);
    return HSA_STATUS_SUCCESS;
}

static void deallocate(void *ptr, void *userdata)
{
    assert_ptr_equal(userdata, &live);
    live--;
    free(ptr);
}

static hsa_status_t copy(void *to, const void *from, size_t size, void *userdata)
{
    assert_ptr_equal(userdata, &live);
    memcpy(to, from, size);
    return HSA_STATUS_SUCCESS;
}

static aqlprofile_agent_handle_t register_arrays(const char *name, uint32_t xcc, uint32_t se,
                                                 uint32_t cu, uint32_t arrays)
{
    aqlprofile_agent_info_v1_t info = {name, xcc, se, cu, arrays, 0, 0};
    aqlprofile_agent_handle_t handle = {0};
    assert_int_equal(aqlprofile_register_agent_info(&handle, &info, AQLPROFILE_AGENT_VERSION_V1),
                     0);
    return handle;
}

static aqlprofile_agent_handle_t register_gpu(const char *name, uint32_t xcc, uint32_t se,
                                              uint32_t cu)
{
    return register_arrays(name, xcc, se, cu, 1);
}

/* Where every sample says that it was taken: all places differ and lie within their extents. */
struct places {
    aqlprofile_agent_handle_t agent;
    uint32_t samples;
    int xcd, instance, se, sa, wgp;
    char seen[8][40][32][2][8];
};

static hsa_status_t take_coordinate(int position, int id, int extent, int coordinate,
                                    const char *name, void *data)
{
    struct places *p = data;
    (void)position;
    assert_true(coordinate >= 0 && coordinate < extent);
    if (strcmp(name, "XCD") == 0 && id == 0)
        p->xcd = coordinate;
    else if (strcmp(name, "INSTANCE") == 0 && id == 5)
        p->instance = coordinate;
    else if (strcmp(name, "SE") == 0 && id == 2)
        p->se = coordinate;
    else if (strcmp(name, "SA") == 0 && id == 3)
        p->sa = coordinate;
    else if (strcmp(name, "WGP") == 0 && id == 4)
        p->wgp = coordinate;
    else
        fail_msg("coordinate %s %d", name, id);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_sample(aqlprofile_pmc_event_t event, uint64_t id, uint64_t value,
                                void *data)
{
    struct places *p = data;
    (void)value;
    p->xcd = p->instance = p->se = p->sa = p->wgp = 0;
    assert_int_equal(aqlprofile_iterate_event_coord(p->agent, event, id, take_coordinate, p), 0);
    assert_int_equal(p->instance, event.block_index);
    assert_int_equal(p->seen[p->xcd][p->instance][p->se][p->sa][p->wgp]++, 0);
    p->samples++;
    return HSA_STATUS_SUCCESS;
}

static void collect(aqlprofile_agent_handle_t gpu, block_t block, uint32_t instances,
                    uint32_t expected_samples)
{
    aqlprofile_pmc_event_t events[40] = {0};
    static struct places places;
    memset(&places, 0, sizeof places);
    places.agent = gpu;
    aqlprofile_pmc_aql_packets_t packets;
    aqlprofile_handle_t handle;
    for (uint32_t i = 0; i < instances; i++)
        events[i] = (aqlprofile_pmc_event_t){.block_index = i, .event_id = 1, .block_name = block};
    aqlprofile_pmc_profile_t profile = {gpu, events, instances};
    assert_int_equal(aqlprofile_pmc_create_packets(&handle, &packets, profile, allocate, deallocate,
                                                   copy, &live),
                     0);
    assert_int_equal(aqlprofile_pmc_iterate_data(handle, take_sample, &places), 0);
    assert_int_equal(places.samples, expected_samples);
    aqlprofile_pmc_delete_packets(handle);
    aqlprofile_pmc_delete_packets(handle); /* twice: no effect */
    assert_int_equal(live, 0);
    assert_int_equal(aqlprofile_pmc_iterate_data(handle, take_sample, &places),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static void packets_test(void **state)
{
    (void)state;
    aqlprofile_agent_handle_t mi210 = register_gpu("gfx90a", 1, 8, 104);
    aqlprofile_agent_handle_t mi300x = register_gpu("gfx942", 8, 32, 304);
    assert_int_equal(register_gpu("gfx90a", 1, 8, 104).handle, mi210.handle);
    collect(mi210, SQ, 1, 8);
    collect(mi210, TCC, 32, 32);
    collect(mi210, TCP, 14, 14 * 8);
    collect(mi300x, TCC, 16, 128);
    collect(mi300x, SQ, 1, 32);
    collect(mi300x, HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_RPB, 4, 4);
}

/* RDNA has shader arrays and work-group processors, and blocks that the first interface has no
 * number for. */
static void rdna_packets_test(void **state)
{
    (void)state;
    aqlprofile_agent_handle_t w6800 = register_arrays("gfx1030", 1, 4, 80, 2);
    aqlprofile_agent_handle_t w7900 = register_arrays("gfx1100", 1, 6, 96, 2);
    aqlprofile_agent_handle_t r9700 = register_arrays("gfx1201", 1, 4, 64, 2);
    collect(w6800, SQ, 1, 4);
    collect(w6800, HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL1C, 8, 8 * 4 * 2);
    collect(w6800, HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_GL2C, 32, 32);
    collect(w7900, SQ, 1, 6 * 2 * 4);
    collect(w7900, TCP, 16, 16 * 6 * 2);
    collect(r9700, SQ, 1, 4 * 2 * 4);
    collect(r9700, TCP, 2, 2 * 4 * 2 * 4);
    collect(r9700, (block_t)AQLPROFILE_BLOCK_NAME_CHC, 4, 4);
    collect(r9700, (block_t)AQLPROFILE_BLOCK_NAME_GCEA_SE, 4, 4 * 4);
    collect(r9700, HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SDMA, 2, 2);
}

/* ---- thread trace: what the GPU would have written is put there by hand */
/* SQ_THREAD_TRACE_BASE, BASE2 and WPTR of gfx9. */
enum { SQTT_BASE_REGISTER = 0xc330, SQTT_BASE2_REGISTER = 0xc337, SQTT_WPTR_REGISTER = 0xc339 };

struct trace_seen {
    uint32_t engines;
    uint64_t bytes[8];
    unsigned char data[8][64];
};

static hsa_status_t take_trace(uint32_t engine, void *data, uint64_t bytes, void *userdata)
{
    struct trace_seen *seen = userdata;
    seen->engines |= 1u << engine;
    seen->bytes[engine] = bytes;
    memcpy(seen->data[engine], data, bytes < 64 ? bytes : 64);
    return HSA_STATUS_SUCCESS;
}

static const uint32_t *commands_of(const hsa_ext_amd_aql_pm4_packet_t *packet)
{
    struct aql_pm4_packet p;
    memcpy(&p, packet, sizeof p);
    assert_int_equal(p.format, AQL_FORMAT_PM4_IB);
    return (const uint32_t *)(uintptr_t)(p.indirect_buffer[1] | (uint64_t)p.indirect_buffer[2]
                                                                    << 32);
}

static uint32_t dwords_of(const hsa_ext_amd_aql_pm4_packet_t *packet)
{
    struct aql_pm4_packet p;
    memcpy(&p, packet, sizeof p);
    return p.indirect_buffer[3] & 0xfffff;
}

/* The place to which the stop packet copies the write pointer (WPTR) of the nth traced engine. */
static uint32_t *written_to(const hsa_ext_amd_aql_pm4_packet_t *stop, uint32_t nth)
{
    const uint32_t *at = commands_of(stop);
    for (uint32_t i = 0, count = dwords_of(stop); i < count; i += (at[i] >> 16 & 0x3fff) + 2) {
        if ((at[i] >> 8 & 0xff) == PM4_COPY_DATA && at[i + 2] == SQTT_WPTR_REGISTER && nth-- == 0)
            return (uint32_t *)(uintptr_t)(at[i + 4] | (uint64_t)at[i + 5] << 32);
    }
    fail_msg("no write pointer is read");
    return NULL;
}

/* The place where the start packet makes the nth traced engine write (BASE, BASE2). */
static char *base_of(const hsa_ext_amd_aql_pm4_packet_t *start, uint32_t nth)
{
    const uint32_t *at = commands_of(start);
    uint64_t page = 0;
    for (uint32_t i = 0, count = dwords_of(start); i < count; i += (at[i] >> 16 & 0x3fff) + 2) {
        if ((at[i] >> 8 & 0xff) != PM4_SET_UCONFIG_REG)
            continue;
        if (at[i + 1] == SQTT_BASE_REGISTER - PM4_UCONFIG_START)
            page = at[i + 2];
        if (at[i + 1] == SQTT_BASE2_REGISTER - PM4_UCONFIG_START && nth-- == 0)
            return (char *)(uintptr_t)((page | (uint64_t)at[i + 2] << 32) << 12);
    }
    fail_msg("no base is written");
    return NULL;
}

static void trace_test(void **state)
{
    const aqlprofile_att_parameter_t parameters[] = {
        {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK, {0x12}},
        {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET, {3}},
        {(hsa_ven_amd_aqlprofile_parameter_name_t)10, {4 << 20}}, /* bytes of the buffer */
        {(hsa_ven_amd_aqlprofile_parameter_name_t)8, {0x1}}};     /* SIMDs */
    aqlprofile_att_profile_t profile = {agent, parameters, 4};
    aqlprofile_att_control_aql_packets_t packets;
    aqlprofile_handle_t handle;
    struct trace_seen seen = {0};
    (void)state;
    assert_int_equal(aqlprofile_att_create_packets(&handle, &packets, profile, allocate, deallocate,
                                                   copy, &live),
                     0);
    memset(base_of(&packets.start_packet, 1), 0x77, 96);
    *written_to(&packets.stop_packet, 1) = 3; /* units of 32 bytes */
    assert_int_equal(aqlprofile_att_iterate_data(handle, take_trace, &seen), 0);
    assert_int_equal(seen.engines, 0x12);
    assert_int_equal(seen.bytes[1], 8); /* the header alone */
    assert_int_equal(seen.bytes[4], 8 + 96);
    uint64_t header;
    memcpy(&header, seen.data[4], 8);
    assert_int_equal(header, 0x11 | 4 << 13 | 1 << 16 | 3 << 20 | 4u << 26);
    assert_int_equal(seen.data[4][8], 0x77);
    *written_to(&packets.stop_packet, 0) = 0x3fffffff;
    assert_int_equal(aqlprofile_att_iterate_data(handle, take_trace, &seen),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_int_equal(aqlprofile_att_iterate_data(handle, NULL, &seen),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    aqlprofile_att_delete_packets(handle);
    aqlprofile_att_delete_packets(handle); /* twice: no effect */
    assert_int_equal(live, 0);
    assert_int_equal(aqlprofile_att_iterate_data(handle, take_trace, &seen),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

static hsa_status_t value_ignore(aqlprofile_pmc_event_t event, uint64_t id, uint64_t value,
                                 void *userdata)
{
    (void)event, (void)id, (void)value, (void)userdata;
    return HSA_STATUS_SUCCESS;
}

/* Counters keep their packets whatever is done with the handles of traces, and traces theirs. */
static void handles_of_the_other_sort_test(void **state)
{
    enum { TRACES = 256 }; /* more than there were counter handles in this process */
    const aqlprofile_att_parameter_t small = {(hsa_ven_amd_aqlprofile_parameter_name_t)10,
                                              {1 << 20}};
    aqlprofile_pmc_event_t event = {.event_id = 4, .block_name = SQ};
    aqlprofile_pmc_profile_t counters = {register_gpu("gfx90a", 1, 8, 104), &event, 1};
    aqlprofile_att_profile_t traces = {agent, &small, 1};
    aqlprofile_pmc_aql_packets_t counter_packets;
    aqlprofile_att_control_aql_packets_t trace_packets;
    aqlprofile_handle_t counter, trace;
    struct trace_seen seen = {0};
    (void)state;
    assert_int_equal(aqlprofile_pmc_create_packets(&counter, &counter_packets, counters, allocate,
                                                   deallocate, copy, &live),
                     0);
    for (int i = 0; i < TRACES; i++) {
        assert_int_equal(aqlprofile_att_create_packets(&trace, &trace_packets, traces, allocate,
                                                       deallocate, copy, &live),
                         0);
        aqlprofile_pmc_delete_packets(trace);
        assert_int_equal(aqlprofile_pmc_iterate_data(counter, value_ignore, NULL), 0);
        aqlprofile_att_delete_packets(counter);
        assert_int_equal(aqlprofile_att_iterate_data(trace, take_trace, &seen), 0);
        aqlprofile_att_delete_packets(trace);
    }
    aqlprofile_pmc_delete_packets(counter);
    assert_int_equal(live, 0);
}

static void trace_errors_test(void **state)
{
    aqlprofile_att_parameter_t bad[] = {
        {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK, {0}},
        {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET, {16}},
        {(hsa_ven_amd_aqlprofile_parameter_name_t)10, {4096}},
        {(hsa_ven_amd_aqlprofile_parameter_name_t)99, {0}}};
    aqlprofile_att_profile_t profile = {stranger, NULL, 0};
    aqlprofile_att_control_aql_packets_t packets;
    aqlprofile_handle_t handle;
    (void)state;
    assert_int_not_equal(aqlprofile_att_create_packets(&handle, &packets, profile, allocate,
                                                       deallocate, copy, &live),
                         0);
    profile = (aqlprofile_att_profile_t){agent, NULL, 1};
    assert_int_not_equal(aqlprofile_att_create_packets(&handle, &packets, profile, allocate,
                                                       deallocate, copy, &live),
                         0);
    for (unsigned i = 0; i < 4; i++) {
        profile = (aqlprofile_att_profile_t){agent, &bad[i], 1};
        assert_int_equal(aqlprofile_att_create_packets(&handle, &packets, profile, allocate,
                                                       deallocate, copy, &live),
                         HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
    profile = (aqlprofile_att_profile_t){agent, NULL, 0};
    for (int left = 0; left < 3; left++) { /* each allocation fails once */
        allocations_left = left;
        assert_int_equal(aqlprofile_att_create_packets(&handle, &packets, profile, allocate,
                                                       deallocate, copy, &live),
                         HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        assert_int_equal(live, 0);
    }
    allocations_left = 1000;
}

/* A marker has four words of where and how large, and one of the state; each is a pair of writes
 * behind a broadcast. */
static void marker_test(void **state)
{
    aqlprofile_att_codeobj_data_t data = {
        .id = 5, .addr = 0x7f0012340000, .size = 0x1000, .agent = agent, .fromStart = 1};
    hsa_ext_amd_aql_pm4_packet_t packet;
    aqlprofile_handle_t handle;
    static const uint32_t expected[][2] = {
        {0x204, 0x12340000}, {0x304, 0x7f00}, {0x104, 0x1000}, {0x404, 0}, {0x004, 5 << 2 | 2}};
    (void)state;
    assert_int_equal(
        aqlprofile_att_codeobj_marker(&packet, &handle, data, allocate, deallocate, &live), 0);
    assert_int_equal(dwords_of(&packet), 5 * 9);
    for (uint32_t i = 0; i < 5; i++) {
        const uint32_t *at = commands_of(&packet) + 9 * i;
        assert_int_equal(at[2], 0xe0000000);
        assert_int_equal(at[5], expected[i][0]);
        assert_int_equal(at[8], expected[i][1]);
    }
    aqlprofile_att_delete_packets(handle);
    data = (aqlprofile_att_codeobj_data_t){.id = 1ull << 40, .agent = agent, .isUnload = 1};
    assert_int_equal(
        aqlprofile_att_codeobj_marker(&packet, &handle, data, allocate, deallocate, &live), 0);
    assert_int_equal(dwords_of(&packet), 3 * 9);
    assert_int_equal(commands_of(&packet)[9 + 8], 1 << 8); /* the id's high half */
    assert_int_equal(commands_of(&packet)[18 + 8], 1);
    aqlprofile_att_delete_packets(handle);
    assert_int_equal(live, 0);
    data.agent = nobody;
    assert_int_not_equal(
        aqlprofile_att_codeobj_marker(&packet, &handle, data, allocate, deallocate, &live), 0);
}

static void v2_errors_test(void **state)
{
    aqlprofile_agent_handle_t mi210 = register_gpu("gfx90a", 1, 8, 104), none = {77};
    aqlprofile_pmc_event_t event = {.block_index = 0, .event_id = 17, .block_name = TCC};
    aqlprofile_pmc_profile_t profile = {mi210, &event, 1};
    aqlprofile_pmc_aql_packets_t packets;
    aqlprofile_handle_t handle;
    aqlprofile_agent_info_t info = {"gfx000", 1, 8, 104, 1};
    hsa_ven_amd_aqlprofile_id_query_t query = {.name = "TCP"};
    bool ok;
    (void)state;
    assert_int_equal(aqlprofile_register_agent(&none, &info), HSA_STATUS_ERROR);
    assert_int_equal(aqlprofile_register_agent_info(&none, &info, 9),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    none.handle = 77;
    assert_int_equal(aqlprofile_validate_pmc_event(none, &event, &ok),
                     HSA_STATUS_ERROR_INVALID_AGENT);
    assert_int_equal(aqlprofile_validate_pmc_event(mi210, &event, &ok), 0);
    assert_true(ok);
    assert_int_equal(aqlprofile_get_pmc_info(&profile, AQLPROFILE_INFO_BLOCK_ID, &query), 0);
    assert_int_equal(query.instance_count, 14); /* compute units of an engine, plus one */
    event.flags.sq_flags.accum = AQLPROFILE_ACCUMULATION_HI_RES;
    assert_int_equal(aqlprofile_pmc_create_packets(&handle, &packets, profile, allocate, deallocate,
                                                   copy, &live),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    event = (aqlprofile_pmc_event_t){.event_id = 5, .block_name = SQ};
    event.flags.sq_flags.accum = AQLPROFILE_ACCUMULATION_HI_RES;
    assert_int_equal(aqlprofile_pmc_create_packets(&handle, &packets, profile, allocate, deallocate,
                                                   copy, &live),
                     0);
    aqlprofile_pmc_delete_packets(handle);
    for (int left = 0; left < 2; left++) { /* each allocation fails once */
        allocations_left = left;
        assert_int_equal(aqlprofile_pmc_create_packets(&handle, &packets, profile, allocate,
                                                       deallocate, copy, &live),
                         HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        assert_int_equal(live, 0);
    }
    allocations_left = 1000;
    assert_int_equal(aqlprofile_iterate_event_coord(mi210, event, 8, take_coordinate, NULL),
                     HSA_STATUS_ERROR_INVALID_INDEX);
}

static void version_test(void **state)
{
    aqlprofile_version_t version = {9, 9, 9};
    (void)state;
    assert_int_equal(aqlprofile_get_version(&version), 0);
    assert_true(version.major == 1 && version.minor == 0 && version.patch == 0);
    assert_int_equal(AQLPROFILE_VERSION, 10000);
    assert_int_equal(aqlprofile_get_version(NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(validate_test),     cmocka_unit_test(info_test),
        cmocka_unit_test(profile_test),      cmocka_unit_test(over_capacity_test),
        cmocka_unit_test(packets_test),      cmocka_unit_test(rdna_packets_test),
        cmocka_unit_test(trace_test),        cmocka_unit_test(handles_of_the_other_sort_test),
        cmocka_unit_test(trace_errors_test), cmocka_unit_test(marker_test),
        cmocka_unit_test(v2_errors_test),    cmocka_unit_test(version_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
