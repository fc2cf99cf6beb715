/* Thread trace of the first interface, used as ROC Profiler does: sizes, buffers, packets, data.
 * The GPU's part is played by hand, at the addresses that the packets name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "api/aqlprofile/guarded.h"
#include "api/aqlprofile/internal.h"
#include "api/aqlprofile/test/runtime_double.h"

enum { PAGE = 4096, TRACE_BYTES = 4 << 20, ENGINES_MAX = 32 };
enum { VM_ID_MASK = 1, MASK = 2, TOKEN_MASK = 3, TOKEN_MASK2 = 4, SAMPLE_RATE = 6, CONCURRENT = 7 };
enum { SIMD_SELECTION = 8, OCCUPANCY_MODE = 9, COUNTER_NAME = 242 };

typedef hsa_ven_amd_aqlprofile_profile_t profile_t;
typedef hsa_ven_amd_aqlprofile_parameter_t parameter_t;
typedef hsa_ext_amd_aql_pm4_packet_t packet_t;

static const hsa_agent_t gfx90a = {1}, gfx906 = {11}, nobody = {3};

static profile_t trace_of(hsa_agent_t agent, const parameter_t *parameters, uint32_t count)
{
    return (profile_t){.agent = agent,
                       .type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE,
                       .parameters = parameters,
                       .parameter_count = count};
}

#define PARAMETER(name, number)                                                                    \
    {                                                                                              \
        (hsa_ven_amd_aqlprofile_parameter_name_t)(name), (number)                                  \
    }

/* As a client does it: asks for sizes, takes exactly that much memory, makes the packet. */
static void begin(profile_t *profile, packet_t *start, uint32_t trace_bytes)
{
    assert_int_equal(hsa_ven_amd_aqlprofile_start(profile, NULL), HSA_STATUS_SUCCESS);
    assert_true(profile->output_buffer.size > 0);
    profile->command_buffer.ptr = guarded_new(profile->command_buffer.size);
    if (trace_bytes)
        profile->output_buffer.size = trace_bytes;
    profile->output_buffer.ptr = guarded_new(profile->output_buffer.size);
    assert_int_equal(hsa_ven_amd_aqlprofile_start(profile, start), HSA_STATUS_SUCCESS);
}

static void end(profile_t *profile)
{
    guarded_free(profile->command_buffer.ptr, profile->command_buffer.size);
    guarded_free(profile->output_buffer.ptr, profile->output_buffer.size);
}

static uint32_t *commands_of(const packet_t *packet, uint32_t *dwords)
{
    struct aql_pm4_packet p;
    memcpy(&p, packet, sizeof p);
    assert_int_equal(p.format, AQL_FORMAT_PM4_IB);
    *dwords = p.indirect_buffer[3] & 0xfffff;
    return (uint32_t *)(uintptr_t)(p.indirect_buffer[1] | (uint64_t)p.indirect_buffer[2] << 32);
}

/* The place to which a packet copies register `reg` of the nth engine. NULL: it does not. */
static uint32_t *copied_to(const packet_t *packet, uint32_t reg, uint32_t nth)
{
    uint32_t count;
    const uint32_t *at = commands_of(packet, &count);
    for (uint32_t i = 0; i < count; i += (at[i] >> 16 & 0x3fff) + 2) {
        if ((at[i] >> 8 & 0xff) == PM4_COPY_DATA && at[i + 2] == reg && nth-- == 0)
            return (uint32_t *)(uintptr_t)(at[i + 4] | (uint64_t)at[i + 5] << 32);
    }
    return NULL;
}

/* The last value that a packet sets a user-config register to. */
static uint32_t set_to(const packet_t *packet, uint32_t reg)
{
    uint32_t count, value = 0;
    const uint32_t *at = commands_of(packet, &count);
    for (uint32_t i = 0; i < count; i += (at[i] >> 16 & 0x3fff) + 2) {
        if ((at[i] >> 8 & 0xff) == PM4_SET_UCONFIG_REG && at[i + 1] == reg - PM4_UCONFIG_START)
            value = at[i + 2];
    }
    return value;
}

/* SQ_THREAD_TRACE_* of gfx9. */
enum { TT_BASE = 0xc330, TT_MASK = 0xc332, TT_TOKEN_MASK = 0xc333, TT_BASE2 = 0xc337 };
enum { TT_TOKEN_MASK2 = 0xc338, TT_WPTR = 0xc339, TT_STATUS = 0xc33a };
enum { USERDATA_2 = 0xc342 };

struct seen {
    uint32_t engines, calls, stop_after;
    hsa_ven_amd_aqlprofile_descriptor_t data[ENGINES_MAX];
};

static hsa_status_t see(hsa_ven_amd_aqlprofile_info_type_t type,
                        hsa_ven_amd_aqlprofile_info_data_t *info, void *data)
{
    struct seen *seen = data;
    assert_int_equal(type, HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA);
    assert_true(info->sample_id < ENGINES_MAX);
    assert_int_equal(seen->engines >> info->sample_id & 1, 0);
    seen->engines |= 1u << info->sample_id;
    seen->data[info->sample_id] = info->trace_data;
    return ++seen->calls == seen->stop_after ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

static void data_test(void **state)
{
    const parameter_t parameters[] = {PARAMETER(5, 0xffffff21), PARAMETER(0, 3),
                                      PARAMETER(SIMD_SELECTION, 5), PARAMETER(SAMPLE_RATE, 1600),
                                      PARAMETER(VM_ID_MASK, 1)};
    profile_t profile = trace_of(gfx90a, parameters, 5);
    packet_t start = {.header = 0x1234, .completion_signal = {77}}, stop = start, read = start;
    hsa_ven_amd_aqlprofile_info_data_t one = {.sample_id = 5};
    struct seen seen = {0};
    (void)state;
    begin(&profile, &start, TRACE_BYTES + 123); /* not at a page's begin, thanks to the guard */
    assert_int_equal(hsa_ven_amd_aqlprofile_stop(&profile, &stop), 0);
    assert_int_equal(hsa_ven_amd_aqlprofile_read(&profile, &read), 0);
    assert_int_equal(start.header, 0x1234); /* the client's, as is the signal */
    assert_int_equal(stop.completion_signal.handle, 77);
    assert_int_equal(set_to(&start, TT_MASK), 0xd583); /* VMIDs 1, SIMDs 5, unit 3, may stall */
    assert_ptr_equal(copied_to(&stop, TT_WPTR, 1), copied_to(&read, TT_WPTR, 1));
    assert_null(copied_to(&stop, TT_WPTR, 2)); /* engines 0 and 5; there is none above 7 */

    /* Nothing is written yet. */
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&profile, see, &seen), 0);
    assert_int_equal(seen.engines, 0x21);
    assert_int_equal(seen.data[0].size + seen.data[5].size, 0);

    *copied_to(&stop, TT_WPTR, 1) = 3; /* units of 32 bytes */
    seen = (struct seen){0};
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&profile, see, &seen), 0);
    assert_int_equal(seen.data[5].size, 96);
    uint64_t base = (uint64_t)set_to(&start, TT_BASE2) << 44 | (uint64_t)set_to(&start, TT_BASE)
                                                                   << 12;
    assert_int_equal((uint64_t)(uintptr_t)seen.data[5].ptr, base);
    assert_true((char *)seen.data[0].ptr >= (char *)profile.output_buffer.ptr);
    assert_int_equal(
        hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA, &one), 0);
    assert_memory_equal(&one.trace_data, &seen.data[5], sizeof one.trace_data);
    one.sample_id = 1;
    assert_int_equal(
        hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA, &one),
        HSA_STATUS_ERROR);

    /* A callback that has seen enough is no error. */
    seen = (struct seen){.stop_after = 1};
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&profile, see, &seen), 0);
    assert_int_equal(seen.engines, 1);

    /* A full buffer: all of it is reported, and the status says that more did not fit. */
    *copied_to(&stop, TT_WPTR, 0) = 0x3fffffff;
    seen = (struct seen){0};
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&profile, see, &seen),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_int_equal(seen.engines, 0x21);
    memset(seen.data[0].ptr, 1, seen.data[0].size); /* inside the buffer */

    /* Nor does a callback that has seen enough make it whole; the other engine's is. */
    seen = (struct seen){.stop_after = 1};
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&profile, see, &seen),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_int_equal(seen.engines, 1);
    one.sample_id = 0;
    assert_int_equal(
        hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA, &one),
        HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_memory_equal(&one.trace_data, &seen.data[0], sizeof one.trace_data);
    one.sample_id = 5;
    assert_int_equal(
        hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA, &one), 0);
    *copied_to(&stop, TT_STATUS, 1) = 1 << 28;
    seen = (struct seen){0};
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&profile, see, &seen),
                     HSA_STATUS_ERROR_EXCEPTION);
    end(&profile);
}

/* The parts of all engines lie in the buffer one after the other, on every generation, also in the
 * smallest buffer, which is what the library says it needs. */
static void generations_test(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DOUBLE_GPUS; i++) {
        const parameter_t parameters[] = {PARAMETER(5, UINT32_MAX), PARAMETER(OCCUPANCY_MODE, 1)};
        profile_t profile = trace_of((hsa_agent_t){double_gpus[i].handle}, parameters, 2);
        packet_t start = {0}, stop = {0};
        struct seen seen = {0};
        if (strcmp(double_gpus[i].name, "gfx000") == 0)
            continue;
        for (uint32_t bytes = 0; bytes <= 64 << 20; bytes += 64 << 20) {
            profile.output_buffer.ptr = profile.command_buffer.ptr = NULL;
            profile.output_buffer.size = profile.command_buffer.size = 0;
            begin(&profile, &start, bytes);
            assert_int_equal(hsa_ven_amd_aqlprofile_stop(&profile, &stop), 0);
            seen = (struct seen){0};
            hsa_ven_amd_aqlprofile_iterate_data(&profile, see, &seen);
            assert_int_equal(seen.calls, double_gpus[i].engines);
            char *last = profile.output_buffer.ptr;
            for (uint32_t e = 0; e < double_gpus[i].engines; e++) {
                assert_true((char *)seen.data[e].ptr >= last);
                assert_int_equal((uintptr_t)seen.data[e].ptr % PAGE, 0);
                last = (char *)seen.data[e].ptr + (1 << 17);
            }
            assert_true(last <= (char *)profile.output_buffer.ptr + profile.output_buffer.size);
            end(&profile);
        }
    }
}

static void raw_test(void **state)
{
    const parameter_t parameters[] = {PARAMETER(MASK, 0xcf85), PARAMETER(TOKEN_MASK, 0x1234),
                                      PARAMETER(TOKEN_MASK2, 0x77), PARAMETER(CONCURRENT, 1)};
    const parameter_t bad[] = {PARAMETER(MASK, 0x10), PARAMETER(TOKEN_MASK, 0x1000000)};
    profile_t profile = trace_of(gfx906, parameters, 4);
    packet_t start = {0};
    (void)state;
    begin(&profile, &start, TRACE_BYTES);
    assert_int_equal(set_to(&start, TT_MASK), 0xcf85);
    assert_int_equal(set_to(&start, TT_TOKEN_MASK), 0x1234);
    assert_int_equal(set_to(&start, TT_TOKEN_MASK2), 0x77);
    end(&profile);
    for (int i = 0; i < 2; i++) {
        profile = trace_of(gfx906, &bad[i], 1);
        assert_int_equal(hsa_ven_amd_aqlprofile_start(&profile, &start), HSA_STATUS_ERROR);
    }
}

static void expect_refused(profile_t profile, hsa_status_t expected)
{
    packet_t packet = {.header = 9}, untouched = packet;
    const char *text = "";
    assert_int_equal(hsa_ven_amd_aqlprofile_start(&profile, &packet), expected);
    assert_int_equal(hsa_ven_amd_aqlprofile_error_string(&text), 0);
    assert_true(strlen(text) > 0);
    assert_memory_equal(&packet, &untouched, sizeof packet);
}

static void errors_test(void **state)
{
    const hsa_ven_amd_aqlprofile_event_t event = {HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ, 0, 4};
    parameter_t counters[9], bad[] = {PARAMETER(0, 16), PARAMETER(5, 0), PARAMETER(99, 0)};
    static char commands[1 << 16];
    profile_t good = trace_of(gfx90a, NULL, 0), profile;
    packet_t packet = {0};
    struct seen seen = {0};
    (void)state;
    for (int i = 0; i < 3; i++)
        expect_refused(trace_of(gfx90a, &bad[i], 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    for (int i = 0; i < 9; i++)
        counters[i] = (parameter_t)PARAMETER(COUNTER_NAME, 4);
    expect_refused(trace_of(gfx90a, counters, 9), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    expect_refused(trace_of(gfx90a, NULL, 1), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    expect_refused(trace_of(nobody, NULL, 0), HSA_STATUS_ERROR);
    profile = good, profile.events = &event, profile.event_count = 1;
    expect_refused(profile, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    profile = good, profile.event_count = UINT32_MAX;
    expect_refused(profile, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    profile = good, profile.output_buffer = (hsa_ven_amd_aqlprofile_descriptor_t){commands, 4096};
    expect_refused(profile, HSA_STATUS_ERROR_INVALID_ARGUMENT); /* too small for a trace */
    profile = good;
    profile.command_buffer = (hsa_ven_amd_aqlprofile_descriptor_t){commands, sizeof commands};
    expect_refused(profile, HSA_STATUS_ERROR_INVALID_ARGUMENT); /* nowhere to write the trace to */
    profile.type = 7;
    expect_refused(profile, HSA_STATUS_ERROR_INVALID_ARGUMENT);
    profile.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE;
    assert_int_equal(hsa_ven_amd_aqlprofile_stop(&profile, &packet), HSA_STATUS_ERROR);
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&profile, see, &seen), HSA_STATUS_ERROR);
    assert_int_equal(hsa_ven_amd_aqlprofile_stop(&good, &packet),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_ven_amd_aqlprofile_stop(NULL, &packet), HSA_STATUS_ERROR_INVALID_ARGUMENT);

    profile = good;
    begin(&profile, &packet, TRACE_BYTES);
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&profile, NULL, &seen),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_ven_amd_aqlprofile_stop(&profile, NULL),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    profile_t other = profile;
    other.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC;
    assert_int_equal(hsa_ven_amd_aqlprofile_read(&other, &packet), HSA_STATUS_ERROR);
    other = profile, other.agent = gfx906; /* has fewer engines */
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&other, see, &seen), HSA_STATUS_ERROR);
    other = profile, other.command_buffer.size = 300;
    assert_int_equal(hsa_ven_amd_aqlprofile_iterate_data(&other, see, &seen), HSA_STATUS_ERROR);
    assert_int_equal(seen.calls, 0);
    end(&profile);
}

/* A marker puts words for the trace's reader into the trace; ROC Profiler gives each a buffer of
 * its own. */
static void marker_test(void **state)
{
    profile_t profile = trace_of(gfx90a, NULL, 0);
    packet_t packet = {.header = 5};
    uint32_t count;
    (void)state;
    assert_int_equal(hsa_ven_amd_aqlprofile_att_marker(&profile, NULL, 1, 0), 0);
    const uint32_t bytes = profile.command_buffer.size;
    assert_int_equal(bytes, 9 * 4); /* broadcast, header, data */
    profile.command_buffer.ptr = guarded_new(bytes);
    assert_int_equal(hsa_ven_amd_aqlprofile_att_marker(&profile, &packet, 0xabcd, 4), 0);
    const uint32_t *at = commands_of(&packet, &count);
    assert_int_equal(count, 9);
    assert_int_equal(packet.header, 5);
    assert_int_equal(at[4], USERDATA_2 - PM4_UCONFIG_START);
    assert_int_equal(at[5], 0x404);
    assert_int_equal(at[8], 0xabcd);
    assert_int_equal(hsa_ven_amd_aqlprofile_att_marker(&profile, &packet, 0, 7),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_ven_amd_aqlprofile_att_marker(&profile, NULL, 0, 0),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    profile.command_buffer.size = bytes - 1;
    assert_int_equal(hsa_ven_amd_aqlprofile_att_marker(&profile, &packet, 0, 0),
                     HSA_STATUS_ERROR_OUT_OF_RESOURCES);
    assert_int_equal(profile.command_buffer.size, bytes); /* told */
    profile.type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_PMC;
    assert_int_equal(hsa_ven_amd_aqlprofile_att_marker(&profile, &packet, 0, 0),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(hsa_ven_amd_aqlprofile_att_marker(NULL, &packet, 0, 0),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
    guarded_free(profile.command_buffer.ptr, bytes);
}

/* Sizes that get_info tells are those that start() asks for. */
static void sizes_test(void **state)
{
    profile_t profile = trace_of(gfx90a, NULL, 0), copy = profile;
    hsa_ven_amd_aqlprofile_info_data_t value = {0};
    uint32_t commands = 0, output = 0;
    (void)state;
    assert_int_equal(hsa_ven_amd_aqlprofile_start(&copy, NULL), 0);
    assert_int_equal(hsa_ven_amd_aqlprofile_get_info(
                         &profile, HSA_VEN_AMD_AQLPROFILE_INFO_COMMAND_BUFFER_SIZE, &commands),
                     0);
    assert_int_equal(hsa_ven_amd_aqlprofile_get_info(
                         &profile, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA_SIZE, &output),
                     0);
    assert_int_equal(commands, copy.command_buffer.size);
    assert_int_equal(output, copy.output_buffer.size);
    assert_int_equal(
        hsa_ven_amd_aqlprofile_get_info(&profile, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &value),
        HSA_STATUS_ERROR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_test),   cmocka_unit_test(generations_test),
        cmocka_unit_test(raw_test),    cmocka_unit_test(errors_test),
        cmocka_unit_test(marker_test), cmocka_unit_test(sizes_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
