/*
 * What a libhsa-amd-aqlprofile64 makes of the lines on the standard input, in numbers: ours and
 * AMD's are asked the same by beside_amd_test.py. Argument: the library.
 *
 *   gpu NAME DIES ENGINES UNITS ARRAYS       every later line is about it
 *   block NAME                               its instances and counters
 *   case BLOCK:INSTANCE:EVENT:FLAGS ...      counter packets, and what reading their data reports
 *   trace PARAMETER:VALUE ...                thread trace packets
 *
 * The HSA runtime's functions that AMD's library asks of its agents are answered here.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <aqlprofile-sdk/aql_profile_v2.h>
#include <hsa/hsa_ext_amd.h>

enum { EVENTS_MAX = 512, BUFFERS_MAX = 4, LINE_BYTES = 1 << 16, BUFFER_SHIFT = 28 };
/* As HSA's newer headers name them: HSA_AMD_AGENT_INFO_NUM_XCC, _TIMESTAMP_FREQUENCY. */
enum { AGENT_DIES = 0xA111, AGENT_CLOCK_HZ = 0xA016 };
enum { CPU_AGENT = 2, GPU_AGENT = 1 };

static struct {
    __typeof__(aqlprofile_register_agent_info) *register_agent;
    __typeof__(aqlprofile_get_pmc_info) *info;
    __typeof__(aqlprofile_iterate_event_coord) *coordinates;
    __typeof__(aqlprofile_pmc_create_packets) *create;
    __typeof__(aqlprofile_pmc_delete_packets) *delete;
    __typeof__(aqlprofile_pmc_iterate_data) *data;
    __typeof__(aqlprofile_att_create_packets) *trace;
    __typeof__(aqlprofile_att_delete_packets) *trace_delete;
} api;

static struct {
    char name[16];
    uint32_t dies, engines, units, arrays;
    aqlprofile_agent_handle_t handle;
} gpu;

static const uint64_t FIRST_BUFFER = 0x100000000000;
static struct {
    char *address;
    uint64_t bytes;
} buffers[BUFFERS_MAX];
static unsigned buffer_count;

/* Of a case; blocks have other numbers in other libraries. */
static aqlprofile_pmc_event_t events[EVENTS_MAX];
static char names[EVENTS_MAX][16];

/* ---- the runtime */
#define RUNTIME __attribute__((visibility("default"))) hsa_status_t

RUNTIME hsa_agent_get_info(hsa_agent_t agent, hsa_agent_info_t attribute, void *value)
{
    switch ((uint32_t)attribute) {
    case HSA_AGENT_INFO_NAME:
        strcpy(value, gpu.name);
        return HSA_STATUS_SUCCESS;
    case AGENT_CLOCK_HZ:
        *(uint64_t *)value = 100000000;
        return HSA_STATUS_SUCCESS;
    default:
        break;
    }
    const uint32_t numbers[][2] = {{HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, gpu.units},
                                   {HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, gpu.engines},
                                   {HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE, gpu.arrays},
                                   {AGENT_DIES, gpu.dies},
                                   {HSA_AGENT_INFO_DEVICE, agent.handle == GPU_AGENT
                                                               ? HSA_DEVICE_TYPE_GPU
                                                               : HSA_DEVICE_TYPE_CPU}};
    *(uint32_t *)value = 0;
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i][0] == (uint32_t)attribute)
            *(uint32_t *)value = numbers[i][1];
    return HSA_STATUS_SUCCESS;
}

/* The header declares these two without a prototype. */
RUNTIME hsa_init(void);
RUNTIME hsa_shut_down(void);

RUNTIME hsa_init(void)
{
    return HSA_STATUS_SUCCESS;
}

RUNTIME hsa_shut_down(void)
{
    return HSA_STATUS_SUCCESS;
}

RUNTIME hsa_iterate_agents(hsa_status_t (*callback)(hsa_agent_t, void *), void *data)
{
    callback((hsa_agent_t){CPU_AGENT}, data);
    return callback((hsa_agent_t){GPU_AGENT}, data);
}

/* One for kernel arguments and one for the rest. */
RUNTIME hsa_amd_agent_iterate_memory_pools(hsa_agent_t agent,
                                           hsa_status_t (*callback)(hsa_amd_memory_pool_t, void *),
                                           void *data)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (uint64_t i = 0; i < 2 && status == HSA_STATUS_SUCCESS; i++)
        status = callback((hsa_amd_memory_pool_t){agent.handle << 1 | i}, data);
    return status;
}

RUNTIME hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t what,
                                     void *value)
{
    *(uint32_t *)value = what == HSA_AMD_MEMORY_POOL_INFO_SEGMENT ? (uint32_t)HSA_AMD_SEGMENT_GLOBAL
                         : pool.handle & 1 ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT
                                           : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
    return HSA_STATUS_SUCCESS;
}

RUNTIME hsa_system_get_major_extension_table(uint16_t extension, uint16_t major, size_t bytes,
                                             void *table)
{
    (void)extension, (void)major;
    memset(table, 0, bytes);
    return HSA_STATUS_SUCCESS;
}

RUNTIME hsa_system_get_info(hsa_system_info_t attribute, void *value)
{
    (void)attribute;
    *(uint64_t *)value = 100000000;
    return HSA_STATUS_SUCCESS;
}

RUNTIME hsa_status_string(hsa_status_t status, const char **text)
{
    (void)status;
    *text = "a status";
    return HSA_STATUS_SUCCESS;
}

/* ---- memory */

static hsa_status_t allocate(void **ptr, uint64_t size, aqlprofile_buffer_desc_flags_t flags,
                             void *userdata)
{
    (void)flags, (void)userdata;
    if (buffer_count == BUFFERS_MAX)
        return HSA_STATUS_ERROR;
    /* Both libraries ask in the same order, and get the same places: what they write of these can
     * be compared. */
    *ptr = mmap((void *)(FIRST_BUFFER + ((uint64_t)buffer_count << 36)), size,
                PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (*ptr == MAP_FAILED)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    buffers[buffer_count].address = *ptr;
    buffers[buffer_count++].bytes = size;
    return HSA_STATUS_SUCCESS;
}

static void deallocate(void *ptr, void *userdata)
{
    (void)ptr, (void)userdata;
}

static void buffers_free(void)
{
    while (buffer_count--)
        munmap(buffers[buffer_count].address, buffers[buffer_count].bytes);
    buffer_count = 0;
}

static hsa_status_t copy(void *to, const void *from, size_t size, void *userdata)
{
    (void)userdata;
    memcpy(to, from, size);
    return HSA_STATUS_SUCCESS;
}

/* ---- what is printed */

static uint64_t commands_of(const hsa_ext_amd_aql_pm4_packet_t *packet, uint32_t *dwords)
{
    uint32_t words[5];
    memcpy(words, packet, sizeof words);
    *dwords = words[4] & 0xfffff;
    return words[2] | (uint64_t)words[3] << 32;
}

static void packet_print(const char *what, const hsa_ext_amd_aql_pm4_packet_t *packet)
{
    uint32_t dwords;
    const uint32_t *at = (const uint32_t *)(uintptr_t)commands_of(packet, &dwords);
    printf("%s", what);
    for (uint32_t i = 0; i < dwords; i++)
        printf(" %x", at[i]);
    printf("\n");
}

/* All but the commands' get their own offsets as content, and are told to the reader. */
static void buffers_mark(const hsa_ext_amd_aql_pm4_packet_t *packet, int fills)
{
    uint32_t dwords;
    uint64_t commands = commands_of(packet, &dwords);
    for (unsigned i = 0; i < buffer_count; i++) {
        uint64_t begin = (uint64_t)(uintptr_t)buffers[i].address;
        if (commands >= begin && commands < begin + buffers[i].bytes)
            continue;
        printf("buffer %u %" PRIx64 " %" PRIu64 "\n", i, begin, buffers[i].bytes);
        for (uint64_t at = 0; fills && at + 4 <= buffers[i].bytes; at += 4)
            *(uint32_t *)(uintptr_t)(begin + at) = (uint32_t)at | i << BUFFER_SHIFT;
    }
}

static hsa_status_t coordinate_print(int position, int id, int extent, int coordinate,
                                     const char *name, void *userdata)
{
    (void)position, (void)id, (void)userdata;
    printf(" %s=%d/%d", name, coordinate, extent);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t data_print(aqlprofile_pmc_event_t event, uint64_t id, uint64_t value,
                               void *userdata)
{
    unsigned i = 0;
    (void)userdata;
    while (i < EVENTS_MAX - 1 && events[i].block_name != event.block_name)
        i++;
    printf("data %s:%u:%u:%x %" PRIx64, names[i], event.block_index, event.event_id,
           event.flags.raw, value);
    api.coordinates(gpu.handle, event, id, coordinate_print, NULL);
    printf("\n");
    return HSA_STATUS_SUCCESS;
}

/* ---- lines */

/* Returns 0 when the library does not know the block by this name. */
static int block_find(const char *name, hsa_ven_amd_aqlprofile_id_query_t *query)
{
    aqlprofile_pmc_profile_t profile = {gpu.handle, NULL, 0};
    *query = (hsa_ven_amd_aqlprofile_id_query_t){.name = name};
    return api.info(&profile, AQLPROFILE_INFO_BLOCK_ID, query) == HSA_STATUS_SUCCESS;
}

static void gpu_take(const char *line)
{
    sscanf(line, "%15s %u %u %u %u", gpu.name, &gpu.dies, &gpu.engines, &gpu.units, &gpu.arrays);
    aqlprofile_agent_info_v1_t info = {gpu.name, gpu.dies, gpu.engines, gpu.units, gpu.arrays,
                                       0,        0};
    printf("status %d\n", (int)api.register_agent(&gpu.handle, &info, AQLPROFILE_AGENT_VERSION_V1));
}

static void block_take(const char *name)
{
    hsa_ven_amd_aqlprofile_id_query_t query;
    uint32_t counters = 0;
    if (!block_find(name, &query))
        return;
    aqlprofile_pmc_event_t event = {.event_id = 1,
                                    .block_name = (hsa_ven_amd_aqlprofile_block_name_t)query.id};
    aqlprofile_pmc_profile_t profile = {gpu.handle, &event, 1};
    api.info(&profile, AQLPROFILE_INFO_BLOCK_COUNTERS, &counters);
    printf("has %u %u\n", query.instance_count, counters);
}

static void case_take(char *line)
{
    aqlprofile_pmc_profile_t profile = {gpu.handle, events, 0};
    aqlprofile_pmc_aql_packets_t packets;
    aqlprofile_handle_t handle;
    char *save = NULL;
    for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        hsa_ven_amd_aqlprofile_id_query_t query;
        if (profile.event_count == EVENTS_MAX)
            return;
        aqlprofile_pmc_event_t *e = &events[profile.event_count];
        char *name = names[profile.event_count];
        if (sscanf(word, "%15[^:]:%u:%u:%x", name, &e->block_index, &e->event_id, &e->flags.raw) !=
                4 ||
            !block_find(name, &query))
            return; /* AMD's library does not survive a block that it does not know */
        e->block_name = (hsa_ven_amd_aqlprofile_block_name_t)query.id;
        profile.event_count++;
    }
    hsa_status_t status = api.create(&handle, &packets, profile, allocate, deallocate, copy, NULL);
    printf("status %d\n", (int)status);
    if (status != HSA_STATUS_SUCCESS)
        return;
    buffers_mark(&packets.start_packet, 1);
    packet_print("start", &packets.start_packet);
    packet_print("read", &packets.read_packet);
    packet_print("stop", &packets.stop_packet);
    api.data(handle, data_print, NULL);
    api.delete(handle);
}

static void trace_take(char *line)
{
    aqlprofile_att_parameter_t parameters[16];
    aqlprofile_att_profile_t profile = {{GPU_AGENT}, parameters, 0};
    aqlprofile_att_control_aql_packets_t packets;
    aqlprofile_handle_t handle;
    char *save = NULL;
    for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        uint32_t name, value;
        if (profile.parameter_count == 16 || sscanf(word, "%u:%x", &name, &value) != 2)
            return;
        parameters[profile.parameter_count].parameter_name =
            (hsa_ven_amd_aqlprofile_parameter_name_t)name;
        parameters[profile.parameter_count++].value = value;
    }
    hsa_status_t status = api.trace(&handle, &packets, profile, allocate, deallocate, copy, NULL);
    printf("status %d\n", (int)status);
    if (status != HSA_STATUS_SUCCESS)
        return;
    buffers_mark(&packets.start_packet, 0);
    packet_print("start", &packets.start_packet);
    packet_print("stop", &packets.stop_packet);
    api.trace_delete(handle);
}

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

static void library_open(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define TAKE(member, name) *(void **)(&api.member) = symbol(library, #name)
    TAKE(register_agent, aqlprofile_register_agent_info);
    TAKE(info, aqlprofile_get_pmc_info);
    TAKE(coordinates, aqlprofile_iterate_event_coord);
    TAKE(create, aqlprofile_pmc_create_packets);
    TAKE(delete, aqlprofile_pmc_delete_packets);
    TAKE(data, aqlprofile_pmc_iterate_data);
    TAKE(trace, aqlprofile_att_create_packets);
    TAKE(trace_delete, aqlprofile_att_delete_packets);
#undef TAKE
}

int main(int argc, char **argv)
{
    static char line[LINE_BYTES];
    if (argc != 2)
        return 2;
    library_open(argv[1]);
    for (unsigned number = 0; fgets(line, sizeof line, stdin); number++) {
        char word[8], *rest = strchr(line, ' ');
        line[strcspn(line, "\n")] = '\0';
        printf("line %u\n", number);
        if (!rest || sscanf(line, "%7s", word) != 1)
            continue;
        if (strcmp(word, "gpu") == 0)
            gpu_take(rest + 1);
        else if (strcmp(word, "block") == 0)
            block_take(rest + 1);
        else if (strcmp(word, "case") == 0)
            case_take(rest + 1);
        else if (strcmp(word, "trace") == 0)
            trace_take(rest + 1);
        buffers_free();
    }
    return 0;
}
