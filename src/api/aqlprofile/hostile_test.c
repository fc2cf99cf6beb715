/*
 * Both interfaces with what nobody should ask for: random GPUs, events, parameters, sizes and NULL,
 * many threads. Whatever is accepted works in memory of exactly the size asked for, before a page
 * that nobody may touch; whatever is refused has a message.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/aqlprofile/guarded.h"
#include "api/aqlprofile/internal.h"
#include "api/aqlprofile/test/runtime_double.h"

enum { LIST_MAX = 24, THREADS = 4 };

typedef hsa_ven_amd_aqlprofile_profile_t profile_t;
typedef hsa_ven_amd_aqlprofile_event_t event_t;
typedef hsa_ven_amd_aqlprofile_parameter_t parameter_t;
typedef hsa_ext_amd_aql_pm4_packet_t packet_t;

static uint32_t below(uint64_t *seed, uint32_t limit)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % limit);
}

/* A number that is mostly small and sometimes anything. */
static uint32_t number(uint64_t *seed, uint32_t usual)
{
    return below(seed, 20) ? below(seed, usual) : (uint32_t)(*seed >> 20);
}

static hsa_agent_t some_agent(uint64_t *seed)
{
    uint32_t i = below(seed, DOUBLE_GPUS + 1);
    return (hsa_agent_t){i < DOUBLE_GPUS ? double_gpus[i].handle : 99};
}

/* What was accepted, so that the rounds are known to be about something. Relaxed: read after the
 * threads were joined. */
enum { COUNTERS_V1, TRACE_V1, COUNTERS_V2, TRACE_V2, SORTS };
static atomic_uint accepted[SORTS];

static void accept(int sort)
{
    atomic_fetch_add_explicit(&accepted[sort], 1, memory_order_relaxed);
}

/* Threads cannot fail a test, so what goes wrong is counted. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)

static uint32_t refused(void)
{
    const char *text = NULL;
    return hsa_ven_amd_aqlprofile_error_string(&text) != HSA_STATUS_SUCCESS || !text || !*text;
}

/* ---- first interface */

struct sums {
    uint64_t calls, bytes;
};

static hsa_status_t take(hsa_ven_amd_aqlprofile_info_type_t type,
                         hsa_ven_amd_aqlprofile_info_data_t *info, void *data)
{
    struct sums *sums = data;
    sums->calls++;
    if (type == HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA)
        sums->bytes += info->trace_data.size;
    else
        sums->bytes += info->pmc_data.result;
    return HSA_STATUS_SUCCESS;
}

static uint32_t packet_wrong(const packet_t *packet, const profile_t *profile)
{
    struct aql_pm4_packet p;
    memcpy(&p, packet, sizeof p);
    uint64_t va = p.indirect_buffer[1] | (uint64_t)p.indirect_buffer[2] << 32;
    uint64_t begin = (uint64_t)(uintptr_t)profile->command_buffer.ptr;
    uint64_t bytes = (p.indirect_buffer[3] & 0xfffff) * 4ull;
    uint32_t wrong = 0;
    CHECK(p.format == AQL_FORMAT_PM4_IB && bytes > 0);
    CHECK(va >= begin && va + bytes <= begin + profile->command_buffer.size);
    return wrong;
}

/* The profile was accepted: it works in buffers of the sizes told, and not in smaller ones. */
static uint32_t profile_use(profile_t *profile, uint64_t *seed)
{
    const uint32_t command_bytes = profile->command_buffer.size;
    const uint32_t output_bytes = profile->output_buffer.size;
    packet_t packets[3] = {{0}};
    struct sums sums = {0};
    uint32_t wrong = 0;
    profile->command_buffer.ptr = guarded_new(command_bytes);
    profile->output_buffer.ptr = guarded_new(output_bytes);
    profile->command_buffer.size -= 1 + below(seed, command_bytes);
    CHECK(hsa_ven_amd_aqlprofile_start(profile, packets) != HSA_STATUS_SUCCESS && !refused());
    CHECK(profile->command_buffer.size == command_bytes);
    CHECK(hsa_ven_amd_aqlprofile_start(profile, NULL) != HSA_STATUS_SUCCESS);
    CHECK(hsa_ven_amd_aqlprofile_start(profile, &packets[0]) == HSA_STATUS_SUCCESS);
    CHECK(hsa_ven_amd_aqlprofile_stop(profile, &packets[1]) == HSA_STATUS_SUCCESS);
    CHECK(hsa_ven_amd_aqlprofile_read(profile, &packets[2]) == HSA_STATUS_SUCCESS);
    for (int i = 0; i < 3; i++)
        wrong += packet_wrong(&packets[i], profile);
    CHECK(hsa_ven_amd_aqlprofile_iterate_data(profile, take, &sums) == HSA_STATUS_SUCCESS ||
          profile->type == HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE);
    CHECK(hsa_ven_amd_aqlprofile_iterate_data(profile, NULL, &sums) != HSA_STATUS_SUCCESS);
    CHECK(profile->event_count == 0 || sums.calls >= profile->event_count);
    guarded_free(profile->command_buffer.ptr, command_bytes);
    guarded_free(profile->output_buffer.ptr, output_bytes);
    return wrong;
}

static uint32_t v1_round(uint64_t *seed)
{
    event_t events[LIST_MAX];
    parameter_t parameters[LIST_MAX];
    profile_t profile = {.agent = some_agent(seed),
                         .type = (hsa_ven_amd_aqlprofile_event_type_t)number(seed, 2),
                         .events = below(seed, 10) ? events : NULL,
                         .parameters = below(seed, 10) ? parameters : NULL};
    int is_trace = profile.type == HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE;
    uint32_t wrong = 0, sizes[2] = {0};
    bool valid;
    profile.event_count = is_trace && below(seed, 10) ? 0 : below(seed, 6);
    profile.parameter_count = below(seed, 4);
    for (int i = 0; i < LIST_MAX; i++) {
        events[i] = (event_t){(hsa_ven_amd_aqlprofile_block_name_t)number(seed, 36),
                              number(seed, 3), number(seed, 60)};
        parameters[i] = (parameter_t){(hsa_ven_amd_aqlprofile_parameter_name_t)number(seed, 12),
                                      number(seed, 17)};
    }
    hsa_status_t status = hsa_ven_amd_aqlprofile_validate_event(profile.agent, events, &valid);
    CHECK(status == HSA_STATUS_SUCCESS || (!valid && !refused()));
    hsa_ven_amd_aqlprofile_get_info(&profile, (hsa_ven_amd_aqlprofile_info_type_t)below(seed, 2),
                                    sizes);
    status = hsa_ven_amd_aqlprofile_start(&profile, NULL);
    if (status != HSA_STATUS_SUCCESS)
        return wrong + refused();
    if (!profile.event_count && !is_trace)
        return wrong; /* a profile that counts nothing has no output to try */
    accept(is_trace ? TRACE_V1 : COUNTERS_V1);
    return wrong + profile_use(&profile, seed);
}

/* ---- second interface */

struct heap {
    uint64_t sizes[4];
    void *blocks[4];
    uint32_t live, allocations_left;
};

static hsa_status_t allocate(void **ptr, uint64_t size, aqlprofile_buffer_desc_flags_t flags,
                             void *userdata)
{
    struct heap *heap = userdata;
    (void)flags;
    if (heap->allocations_left-- == 0 || size > 1ull << 34)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    for (int i = 0; i < 4; i++) {
        if (heap->blocks[i])
            continue;
        heap->sizes[i] = size;
        *ptr = heap->blocks[i] = guarded_new(size);
        heap->live += *ptr != NULL;
        return *ptr ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static void deallocate(void *ptr, void *userdata)
{
    struct heap *heap = userdata;
    for (int i = 0; i < 4; i++) {
        if (heap->blocks[i] != ptr)
            continue;
        guarded_free(ptr, heap->sizes[i]);
        heap->blocks[i] = NULL;
        heap->live--;
        return;
    }
    heap->live = 1000; /* not ours */
}

static hsa_status_t copy(void *to, const void *from, size_t size, void *userdata)
{
    (void)userdata;
    memcpy(to, from, size);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t sample_take(aqlprofile_pmc_event_t event, uint64_t id, uint64_t value,
                                void *userdata)
{
    (void)event, (void)id, (void)value;
    ++*(uint64_t *)userdata;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t trace_take(uint32_t engine, void *data, uint64_t bytes, void *userdata)
{
    (void)engine, (void)data;
    *(uint64_t *)userdata += bytes + 1;
    return HSA_STATUS_SUCCESS;
}

static aqlprofile_agent_handle_t some_handle(uint64_t *seed)
{
    const struct double_gpu *gpu = &double_gpus[below(seed, DOUBLE_GPUS)];
    aqlprofile_agent_info_v1_t info = {.agent_gfxip = below(seed, 30) ? gpu->name : NULL,
                                       .xcc_num = below(seed, 9) ? gpu->dies : number(seed, 10),
                                       .se_num = below(seed, 9) ? gpu->engines : number(seed, 70),
                                       .cu_num = below(seed, 9) ? gpu->units : number(seed, 400),
                                       .shader_arrays_per_se = gpu->arrays};
    aqlprofile_agent_handle_t handle = {number(seed, 40)};
    aqlprofile_register_agent_info(&handle, &info, (aqlprofile_agent_version_t)number(seed, 3));
    return handle;
}

static uint32_t counters_round(uint64_t *seed)
{
    aqlprofile_pmc_event_t events[LIST_MAX];
    aqlprofile_pmc_profile_t profile = {some_handle(seed), events, number(seed, 6)};
    aqlprofile_pmc_aql_packets_t packets;
    aqlprofile_handle_t handle = {0};
    struct heap heap = {.allocations_left = below(seed, 8)};
    uint64_t samples = 0;
    uint32_t wrong = 0;
    if (profile.event_count > LIST_MAX && profile.event_count <= EVENTS_MAX)
        profile.event_count = 0;
    for (int i = 0; i < LIST_MAX; i++) {
        events[i] = (aqlprofile_pmc_event_t){
            .block_index = number(seed, 3),
            .event_id = number(seed, 60),
            .block_name = (hsa_ven_amd_aqlprofile_block_name_t)number(seed, 60)};
        events[i].flags.raw = below(seed, 8) ? 0 : number(seed, 8);
    }
    hsa_status_t status = aqlprofile_pmc_create_packets(
        &handle, &packets, profile, below(seed, 40) ? allocate : NULL, deallocate, copy, &heap);
    if (status != HSA_STATUS_SUCCESS) {
        CHECK(heap.live == 0);
        return wrong;
    }
    accept(COUNTERS_V2);
    CHECK(aqlprofile_pmc_iterate_data(handle, sample_take, &samples) == HSA_STATUS_SUCCESS);
    CHECK(samples >= profile.event_count);
    aqlprofile_att_delete_packets(handle); /* of the other sort */
    CHECK(heap.live == 2);
    aqlprofile_pmc_delete_packets(handle);
    aqlprofile_pmc_delete_packets(handle);
    CHECK(heap.live == 0);
    return wrong;
}

static uint32_t trace_round(uint64_t *seed)
{
    aqlprofile_att_parameter_t parameters[LIST_MAX];
    aqlprofile_att_profile_t profile = {some_agent(seed), parameters, below(seed, 5)};
    aqlprofile_att_codeobj_data_t object = {
        .id = number(seed, 9), .agent = profile.agent, .isUnload = below(seed, 2) & 1};
    aqlprofile_att_control_aql_packets_t packets;
    aqlprofile_handle_t handle = {0}, marker = {0};
    packet_t packet;
    struct heap heap = {.allocations_left = below(seed, 8)};
    uint64_t bytes = 0;
    uint32_t wrong = 0;
    for (int i = 0; i < LIST_MAX; i++) {
        static const uint32_t names[] = {0, 5, 8, 9, 10, 11, 12, 240, 241, 242, 3, 77};
        parameters[i].parameter_name =
            (hsa_ven_amd_aqlprofile_parameter_name_t)names[below(seed, 12)];
        parameters[i].value = below(seed, 2) ? number(seed, 17) : below(seed, 300u << 20);
    }
    if (aqlprofile_att_create_packets(&handle, &packets, profile, allocate, deallocate, copy,
                                      &heap) == HSA_STATUS_SUCCESS) {
        accept(TRACE_V2);
        CHECK(heap.live == 3);
        aqlprofile_att_iterate_data(handle, trace_take, &bytes);
        CHECK(bytes > 0);
        aqlprofile_pmc_delete_packets(handle); /* of the other sort */
        aqlprofile_att_delete_packets(handle);
    }
    CHECK(heap.live == 0);
    heap.allocations_left = below(seed, 4);
    if (aqlprofile_att_codeobj_marker(&packet, &marker, object, allocate, deallocate, &heap) ==
        HSA_STATUS_SUCCESS) {
        CHECK(aqlprofile_att_iterate_data(marker, trace_take, &bytes) != HSA_STATUS_SUCCESS);
        aqlprofile_att_delete_packets(marker);
    }
    CHECK(heap.live == 0);
    return wrong;
}

/* ---- rounds of both, on many threads */

static void *rounds(void *arg)
{
    enum { ROUNDS = 800 };
    uint64_t seed = (uint64_t)(uintptr_t)arg, wrong = 0;
    for (int i = 0; i < ROUNDS; i++)
        wrong += v1_round(&seed) + counters_round(&seed) + (i % 8 == 0 ? trace_round(&seed) : 0);
    return (void *)(uintptr_t)wrong;
}

static void threads_test(void **state)
{
    pthread_t threads[THREADS];
    void *wrong;
    (void)state;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, rounds, (void *)(i + 11)), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    for (int i = 0; i < SORTS; i++)
        assert_true(atomic_load_explicit(&accepted[i], memory_order_relaxed) > 20);
}

static hsa_status_t coordinate_take(int position, int id, int extent, int value, const char *name,
                                    void *userdata)
{
    (void)position, (void)id, (void)userdata;
    assert_non_null(name);
    assert_true(value >= 0 && value < extent);
    return HSA_STATUS_SUCCESS;
}

/* Coordinates lie within their extents, whatever sample is asked for. */
static void coordinates_test(void **state)
{
    uint32_t known = 0;
    (void)state;
    for (unsigned g = 0; g < DOUBLE_GPUS; g++)
        for (int block = 0; block < 32; block++)
            for (uint32_t i = 0; i < 200; i++) {
                const event_t event = {(hsa_ven_amd_aqlprofile_block_name_t)block, i % 5, 1};
                uint32_t sample = i < 190 ? i : UINT32_MAX - i;
                known += hsa_ven_amd_aqlprofile_iterate_event_coord(
                             (hsa_agent_t){double_gpus[g].handle}, event, sample, coordinate_take,
                             NULL) == HSA_STATUS_SUCCESS;
            }
    assert_true(known > 200);
}

static void null_test(void **state)
{
    const hsa_agent_t gfx90a = {1};
    aqlprofile_agent_info_t info = {"gfx90a", 1, 8, 104, 1};
    aqlprofile_agent_handle_t agent;
    profile_t profile = {.agent = gfx90a};
    packet_t packet;
    bool valid;
    (void)state;
    assert_int_not_equal(hsa_ven_amd_aqlprofile_error_string(NULL), 0);
    assert_int_not_equal(hsa_ven_amd_aqlprofile_validate_event(gfx90a, NULL, &valid), 0);
    assert_int_not_equal(hsa_ven_amd_aqlprofile_start(NULL, NULL), 0);
    assert_int_not_equal(hsa_ven_amd_aqlprofile_stop(NULL, NULL), 0);
    assert_int_not_equal(hsa_ven_amd_aqlprofile_read(&profile, NULL), 0);
    assert_int_not_equal(hsa_ven_amd_aqlprofile_legacy_get_pm4(&packet, NULL), 0);
    assert_int_not_equal(hsa_ven_amd_aqlprofile_iterate_data(NULL, take, NULL), 0);
    assert_int_not_equal(hsa_ven_amd_aqlprofile_iterate_event_ids(NULL), 0);
    assert_int_not_equal(hsa_ven_amd_aqlprofile_att_marker(NULL, NULL, 0, 0), 0);
    for (uint32_t attribute = 0; attribute < 6; attribute++)
        assert_int_not_equal(hsa_ven_amd_aqlprofile_get_info(
                                 &profile, (hsa_ven_amd_aqlprofile_info_type_t)attribute, NULL),
                             0);
    profile.event_count = UINT32_MAX;
    assert_int_not_equal(hsa_ven_amd_aqlprofile_start(&profile, NULL), 0);
    assert_int_not_equal(aqlprofile_register_agent(NULL, &info), 0);
    assert_int_not_equal(aqlprofile_register_agent(&agent, NULL), 0);
    assert_int_not_equal(aqlprofile_iterate_event_ids(NULL, NULL), 0);
    assert_int_not_equal(aqlprofile_get_pmc_info(NULL, AQLPROFILE_INFO_BLOCK_ID, NULL), 0);
    /* No command can address these machines. */
    const uint32_t bad[][3] = {{9, 9, 100},     {8, 4, 304},     {8, 33, 304},
                               {1, 0, 104},     {1, 65, 104},    {UINT32_MAX, UINT32_MAX, 1},
                               {1, 8, 1 << 20}, {2, 1u << 31, 8}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        info = (aqlprofile_agent_info_t){"gfx90a", bad[i][0], bad[i][1], bad[i][2], 1};
        assert_int_equal(aqlprofile_register_agent(&agent, &info),
                         HSA_STATUS_ERROR_INVALID_ARGUMENT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_test),
        cmocka_unit_test(coordinates_test),
        cmocka_unit_test(threads_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
