/*
 * A profiler as ROC Profiler v1 and the SDK are: packets of both interfaces of
 * libhsa-amd-aqlprofile64, found as the runtime finds the library, around a kernel in an AQL queue.
 * usage: aqlprofile_client <code object>
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <aqlprofile-sdk/aql_profile_v2.h>
#include <hsa/hsa_ext_amd.h>

#define HSA(call)                                                                                  \
    do {                                                                                           \
        hsa_status_t status_ = (call);                                                             \
        if (status_ != HSA_STATUS_SUCCESS) {                                                       \
            fprintf(stderr, "%s:%d: %s: 0x%x: %s\n", __FILE__, __LINE__, #call, status_,           \
                    problem());                                                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { GROUPS = 100, GROUP_ITEMS = 256, ITEMS = GROUPS * GROUP_ITEMS, WAVES = ITEMS / 64 };
enum { GUARD_BYTES = 256, GUARD = 0xa5, EVENTS_MAX = 64, TRACE_BYTES = 32 << 20 };

typedef hsa_ven_amd_aqlprofile_profile_t profile_t;
typedef hsa_ext_amd_aql_pm4_packet_t packet_t;

static hsa_ven_amd_aqlprofile_pfn_t v1;
static hsa_agent_t cpu, gpu;
static hsa_amd_memory_pool_t host_pool;
static hsa_queue_t *queue;
static uint64_t kernel_object;
static uint32_t *words, **kernel_arguments, runs;

static const char *problem(void)
{
    const char *text = "";
    if (v1.hsa_ven_amd_aqlprofile_error_string)
        v1.hsa_ven_amd_aqlprofile_error_string(&text);
    return text;
}

/* ---- the GPU */

static hsa_status_t agent_seen(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
    if (type == HSA_DEVICE_TYPE_CPU)
        cpu = agent;
    else if (type == HSA_DEVICE_TYPE_GPU && gpu.handle == 0)
        gpu = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pool_seen(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_segment_t segment;
    (void)data;
    HSA(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
    if (segment == HSA_AMD_SEGMENT_GLOBAL && host_pool.handle == 0)
        host_pool = pool;
    return HSA_STATUS_SUCCESS;
}

/* Followed by bytes that nobody may write. */
static void *memory_new(size_t bytes)
{
    void *memory = NULL;
    HSA(hsa_amd_memory_pool_allocate(host_pool, bytes + GUARD_BYTES, 0, &memory));
    HSA(hsa_amd_agents_allow_access(1, &gpu, NULL, memory));
    memset(memory, 0, bytes);
    memset((char *)memory + bytes, GUARD, GUARD_BYTES);
    return memory;
}

static void memory_check(const void *memory, size_t bytes)
{
    for (size_t i = 0; i < GUARD_BYTES; i++)
        EXPECT(((const uint8_t *)memory)[bytes + i] == GUARD);
}

static void kernel_load(const char *path)
{
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa_executable_symbol_t symbol;
    int file = open(path, O_RDONLY);
    EXPECT(file >= 0);
    HSA(hsa_code_object_reader_create_from_file(file, &reader));
    HSA(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL,
                                  &executable));
    HSA(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    HSA(hsa_executable_freeze(executable, NULL));
    HSA(hsa_executable_get_symbol_by_name(executable, "add.kd", &gpu, &symbol));
    HSA(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                       &kernel_object));
    close(file);
}

/* Writes a packet of the queue, its first word last, and waits until it is done. */
static void submit(const void *packet, uint32_t first)
{
    hsa_signal_t done;
    char copy[64];
    HSA(hsa_signal_create(1, 0, NULL, &done));
    memcpy(copy, packet, sizeof copy);
    memcpy(copy + 56, &done, sizeof done);
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    char *slot = (char *)queue->base_address + index % queue->size * 64;
    memcpy(slot + 4, copy + 4, sizeof copy - 4);
    __atomic_store_n((uint32_t *)(void *)slot, first, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
    EXPECT(hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, 60000000000u,
                                     HSA_WAIT_STATE_BLOCKED) == 0);
    HSA(hsa_signal_destroy(done));
}

enum { FENCES = 1 << 8 | 2 << 9 | 2 << 11 }; /* barrier bit, system scope on both sides */

static void submit_vendor(const packet_t *packet)
{
    uint16_t format = packet->pm4_command[0];
    EXPECT(format == 1);
    submit(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC | FENCES | (uint32_t)format << 16);
}

static void run_kernel(void)
{
    const hsa_kernel_dispatch_packet_t packet = {.workgroup_size_x = GROUP_ITEMS,
                                                 .workgroup_size_y = 1,
                                                 .workgroup_size_z = 1,
                                                 .grid_size_x = ITEMS,
                                                 .grid_size_y = 1,
                                                 .grid_size_z = 1,
                                                 .kernel_object = kernel_object,
                                                 .kernarg_address = kernel_arguments};
    submit(&packet, HSA_PACKET_TYPE_KERNEL_DISPATCH | FENCES | 1 << 16);
    runs++;
    for (uint32_t i = 0; i < ITEMS; i++)
        EXPECT(words[i] == runs * i);
}

/* ---- counters, first interface */

enum { SQ_WAVES = 4, SQ_ITEMS = 14 };
static const hsa_ven_amd_aqlprofile_block_name_t SQ = HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_SQ;

/* Waves, items, and an event of every block that the GPU has. */
static uint32_t events_make(hsa_ven_amd_aqlprofile_event_t *events)
{
    uint32_t count = 0;
    events[count++] = (hsa_ven_amd_aqlprofile_event_t){SQ, 0, SQ_WAVES};
    events[count++] = (hsa_ven_amd_aqlprofile_event_t){SQ, 0, SQ_ITEMS};
    for (int block = 0; block < HSA_VEN_AMD_AQLPROFILE_BLOCKS_NUMBER; block++) {
        bool valid = false;
        events[count] =
            (hsa_ven_amd_aqlprofile_event_t){(hsa_ven_amd_aqlprofile_block_name_t)block, 0, 1};
        HSA(v1.hsa_ven_amd_aqlprofile_validate_event(gpu, &events[count], &valid));
        count += valid;
    }
    EXPECT(count >= 15);
    return count;
}

static uint64_t sum_of(profile_t *profile, hsa_ven_amd_aqlprofile_event_t event)
{
    hsa_ven_amd_aqlprofile_info_data_t data = {.sample_id = UINT32_MAX};
    data.pmc_data.event = event;
    HSA(v1.hsa_ven_amd_aqlprofile_get_info(profile, HSA_VEN_AMD_AQLPROFILE_INFO_PMC_DATA, &data));
    return data.pmc_data.result;
}

static void begin(profile_t *profile, packet_t *start, packet_t *stop, packet_t *read)
{
    HSA(v1.hsa_ven_amd_aqlprofile_start(profile, NULL));
    if (profile->type == HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE)
        profile->output_buffer.size = TRACE_BYTES;
    profile->command_buffer.ptr = memory_new(profile->command_buffer.size);
    profile->output_buffer.ptr = memory_new(profile->output_buffer.size);
    HSA(v1.hsa_ven_amd_aqlprofile_start(profile, start));
    HSA(v1.hsa_ven_amd_aqlprofile_stop(profile, stop));
    HSA(v1.hsa_ven_amd_aqlprofile_read(profile, read));
}

static void end(profile_t *profile)
{
    memory_check(profile->command_buffer.ptr, profile->command_buffer.size);
    memory_check(profile->output_buffer.ptr, profile->output_buffer.size);
    HSA(hsa_amd_memory_pool_free(profile->command_buffer.ptr));
    HSA(hsa_amd_memory_pool_free(profile->output_buffer.ptr));
}

static void counters_v1(bool stop_first)
{
    hsa_ven_amd_aqlprofile_event_t events[EVENTS_MAX];
    profile_t profile = {.agent = gpu, .events = events, .event_count = events_make(events)};
    packet_t start = {0}, stop = {0}, read = {0};
    begin(&profile, &start, &stop, &read);
    run_kernel(); /* not counted */
    submit_vendor(&start);
    run_kernel();
    submit_vendor(stop_first ? &stop : &read);
    if (stop_first)
        run_kernel(); /* not counted */
    submit_vendor(stop_first ? &read : &stop);
    EXPECT(sum_of(&profile, events[0]) == WAVES);
    EXPECT(sum_of(&profile, events[1]) == ITEMS);
    end(&profile);
}

/* ---- counters, second interface */

static hsa_status_t allocate(void **ptr, uint64_t size, aqlprofile_buffer_desc_flags_t flags,
                             void *userdata)
{
    (void)flags;
    ++*(int *)userdata;
    *ptr = memory_new(size);
    return HSA_STATUS_SUCCESS;
}

static void deallocate(void *ptr, void *userdata)
{
    --*(int *)userdata;
    HSA(hsa_amd_memory_pool_free(ptr));
}

static hsa_status_t copy(void *to, const void *from, size_t size, void *userdata)
{
    (void)userdata;
    memcpy(to, from, size);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t sample_add(aqlprofile_pmc_event_t event, uint64_t id, uint64_t value,
                               void *userdata)
{
    uint64_t *sums = userdata;
    (void)id;
    if (event.block_name == SQ && event.event_id == SQ_WAVES)
        sums[0] += value;
    if (event.block_name == SQ && event.event_id == SQ_ITEMS)
        sums[1] += value;
    return HSA_STATUS_SUCCESS;
}

static aqlprofile_agent_handle_t describe(void)
{
    char name[64] = "";
    aqlprofile_agent_info_v1_t info = {.agent_gfxip = name, .xcc_num = 1};
    aqlprofile_agent_handle_t handle;
    HSA(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name));
    HSA(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT,
                           &info.cu_num));
    HSA(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES,
                           &info.se_num));
    HSA(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE,
                           &info.shader_arrays_per_se));
    if (hsa_agent_get_info(gpu, (hsa_agent_info_t)0xA111, &info.xcc_num) != HSA_STATUS_SUCCESS)
        info.xcc_num = 1;
    HSA(aqlprofile_register_agent_info(&handle, &info, AQLPROFILE_AGENT_VERSION_V1));
    return handle;
}

static void counters_v2(bool stop_first)
{
    hsa_ven_amd_aqlprofile_event_t v1_events[EVENTS_MAX];
    aqlprofile_pmc_event_t events[EVENTS_MAX] = {0};
    aqlprofile_pmc_profile_t profile = {describe(), events, events_make(v1_events)};
    aqlprofile_pmc_aql_packets_t packets;
    aqlprofile_handle_t handle;
    uint64_t sums[2] = {0};
    int live = 0;
    for (uint32_t i = 0; i < profile.event_count; i++)
        events[i] = (aqlprofile_pmc_event_t){.block_index = v1_events[i].block_index,
                                             .event_id = v1_events[i].counter_id,
                                             .block_name = v1_events[i].block_name};
    HSA(aqlprofile_pmc_create_packets(&handle, &packets, profile, allocate, deallocate, copy,
                                      &live));
    submit_vendor(&packets.start_packet);
    run_kernel();
    submit_vendor(stop_first ? &packets.stop_packet : &packets.read_packet);
    if (stop_first)
        run_kernel(); /* not counted */
    submit_vendor(stop_first ? &packets.read_packet : &packets.stop_packet);
    HSA(aqlprofile_pmc_iterate_data(handle, sample_add, sums));
    EXPECT(sums[0] == WAVES && sums[1] == ITEMS);
    aqlprofile_pmc_delete_packets(handle);
    EXPECT(live == 0);
}

/* ---- thread trace */

struct trace {
    uint64_t waves_begun, waves_ended, items, insts, markers;
};

static void tokens_count(struct trace *t, const uint8_t *bytes, uint64_t count)
{
    static const uint8_t sizes[16] = {2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6};
    enum { REG = 2, WAVE_START = 3, WAVE_END = 6, INST = 10 };
    uint64_t token, at = 0;
    for (; at < count; at += sizes[bytes[at] & 15]) {
        uint32_t type = bytes[at] & 15;
        EXPECT(at + sizes[type] <= count);
        token = 0;
        memcpy(&token, bytes + at, sizes[type]);
        t->waves_begun += type == WAVE_START;
        t->waves_ended += type == WAVE_END;
        t->items += type == WAVE_START ? token >> 22 & 0x7f : 0;
        t->insts += type == INST;
        t->markers += type == REG && token >> 32 == 0xfeedbeef;
    }
}

static hsa_status_t v1_trace_seen(hsa_ven_amd_aqlprofile_info_type_t type,
                                  hsa_ven_amd_aqlprofile_info_data_t *info, void *data)
{
    EXPECT(type == HSA_VEN_AMD_AQLPROFILE_INFO_TRACE_DATA);
    tokens_count(data, info->trace_data.ptr, info->trace_data.size);
    return HSA_STATUS_SUCCESS;
}

/* The kernel has at least: two loads, an add, a store, an end. */
static void trace_check(const struct trace *t, uint64_t kernels, uint64_t engines)
{
    EXPECT(t->waves_begun == WAVES * kernels && t->waves_ended == t->waves_begun);
    EXPECT(t->items == ITEMS * kernels);
    EXPECT(t->insts >= 5 * kernels);
    EXPECT(t->markers == engines);
}

static hsa_status_t (*att_marker)(profile_t *, packet_t *, uint32_t, uint32_t);

/* A word for the reader, in a command buffer of its own. */
static void submit_marker(void)
{
    profile_t profile = {.agent = gpu, .type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE};
    packet_t packet = {0};
    HSA(att_marker(&profile, NULL, 0, 0));
    profile.command_buffer.ptr = memory_new(profile.command_buffer.size);
    HSA(att_marker(&profile, &packet, 0xfeedbeef, 0));
    submit_vendor(&packet);
    HSA(hsa_amd_memory_pool_free(profile.command_buffer.ptr));
}

static void trace_v1(uint32_t engines)
{
    const hsa_ven_amd_aqlprofile_parameter_t parameters[] = {
        {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK, UINT32_MAX},
        {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET, 1}};
    profile_t profile = {.agent = gpu,
                         .type = HSA_VEN_AMD_AQLPROFILE_EVENT_TYPE_TRACE,
                         .parameters = parameters,
                         .parameter_count = 2};
    packet_t start = {0}, stop = {0}, read = {0};
    struct trace seen = {0};
    begin(&profile, &start, &stop, &read);
    run_kernel(); /* not traced */
    submit_vendor(&start);
    submit_marker();
    run_kernel();
    submit_vendor(&read); /* so far */
    HSA(v1.hsa_ven_amd_aqlprofile_iterate_data(&profile, v1_trace_seen, &seen));
    trace_check(&seen, 1, engines);
    run_kernel();
    submit_vendor(&stop);
    run_kernel(); /* not traced */
    seen = (struct trace){0};
    HSA(v1.hsa_ven_amd_aqlprofile_iterate_data(&profile, v1_trace_seen, &seen));
    trace_check(&seen, 2, engines);
    end(&profile);
}

static hsa_status_t v2_trace_seen(uint32_t engine, void *data, uint64_t bytes, void *userdata)
{
    uint64_t prefix;
    EXPECT(bytes >= sizeof prefix);
    memcpy(&prefix, data, sizeof prefix);
    EXPECT((prefix & 0x1fff) == 0x11 && prefix >> 26 == engine); /* what comes before the tokens */
    tokens_count(userdata, (uint8_t *)data + sizeof prefix, bytes - sizeof prefix);
    return HSA_STATUS_SUCCESS;
}

static void trace_v2(uint32_t engines)
{
    const aqlprofile_att_parameter_t parameters[] = {
        {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK, {UINT32_MAX}},
        {(hsa_ven_amd_aqlprofile_parameter_name_t)10, {TRACE_BYTES}}};
    aqlprofile_att_profile_t profile = {gpu, parameters, 2};
    aqlprofile_att_control_aql_packets_t packets;
    aqlprofile_att_codeobj_data_t object = {.id = 1, .addr = 0xfeedbeef, .size = 9, .agent = gpu};
    aqlprofile_handle_t handle, marker;
    packet_t packet;
    struct trace seen = {0};
    int live = 0;
    HSA(aqlprofile_att_create_packets(&handle, &packets, profile, allocate, deallocate, copy,
                                      &live));
    HSA(aqlprofile_att_codeobj_marker(&packet, &marker, object, allocate, deallocate, &live));
    submit_vendor(&packets.start_packet);
    submit_vendor(&packet);
    run_kernel();
    submit_vendor(&packets.stop_packet);
    HSA(aqlprofile_att_iterate_data(handle, v2_trace_seen, &seen));
    trace_check(&seen, 1, engines);
    aqlprofile_att_delete_packets(marker);
    aqlprofile_att_delete_packets(handle);
    EXPECT(live == 0);
}

int main(int argc, char **argv)
{
    uint32_t engines;
    EXPECT(argc == 2);
    HSA(hsa_init());
    HSA(hsa_iterate_agents(agent_seen, NULL));
    HSA(hsa_amd_agent_iterate_memory_pools(cpu, pool_seen, NULL));
    HSA(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX,
                         &queue));
    HSA(hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_AQLPROFILE, 1, sizeof v1, &v1));
    EXPECT(v1.hsa_ven_amd_aqlprofile_version_major() >= 1);
    /* The runtime's table has no place for this one. */
    att_marker = (hsa_status_t(*)(profile_t *, packet_t *, uint32_t, uint32_t))dlsym(
        RTLD_DEFAULT, "hsa_ven_amd_aqlprofile_att_marker");
    EXPECT(att_marker);
    HSA(hsa_agent_get_info(gpu, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, &engines));
    kernel_load(argv[1]);
    words = memory_new(ITEMS * sizeof *words);
    kernel_arguments = memory_new(sizeof *kernel_arguments);
    *kernel_arguments = words;
    for (int stop_first = 0; stop_first < 2; stop_first++) {
        counters_v1(stop_first);
        counters_v2(stop_first);
    }
    trace_v1(engines);
    trace_v2(engines);
    memory_check(words, ITEMS * sizeof *words);
    HSA(hsa_queue_destroy(queue));
    HSA(hsa_shut_down());
    puts("aqlprofile_client: ok");
    return 0;
}
