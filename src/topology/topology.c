#include "topology/topology.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "topology/product.h"
#include "topology/sysfs.h"
#include "topology/visibility.h"

/* More nodes or sub-nodes than any machine has: a corrupt count must not become an allocation. */
enum { NODES_MAX = 4096, PARTS_MAX = 4096 };

/* Handles start here so that a node number passed in place of an agent id is noticed. */
enum { AGENT_ID_FIRST = 0x1000 };

#define NODES_DIR "/sys/class/kfd/kfd/topology/nodes"

#define PROPERTY(type, name, member)                                                               \
    {                                                                                              \
        name, offsetof(type, member), sizeof(((type *)0)->member)                                  \
    }
#define AGENT(member) PROPERTY(rocprofiler_agent_v0_t, #member, member)
#define CACHE(member) PROPERTY(rocprofiler_agent_cache_t, #member, member)
#define LINK(member)  PROPERTY(rocprofiler_agent_io_link_t, #member, member)
#define BANK(member)  PROPERTY(rocprofiler_agent_mem_bank_t, #member, member)
#define COUNT(array)  (sizeof(array) / sizeof(array)[0])

static const struct sysfs_property agent_properties[] = {
    AGENT(cpu_cores_count),
    AGENT(simd_count),
    AGENT(mem_banks_count),
    AGENT(caches_count),
    AGENT(io_links_count),
    AGENT(cpu_core_id_base),
    AGENT(simd_id_base),
    AGENT(max_waves_per_simd),
    AGENT(lds_size_in_kb),
    AGENT(gds_size_in_kb),
    AGENT(num_gws),
    AGENT(wave_front_size),
    AGENT(num_xcc),
    AGENT(array_count),
    AGENT(simd_arrays_per_engine),
    AGENT(cu_per_simd_array),
    AGENT(simd_per_cu),
    AGENT(max_slots_scratch_cu),
    AGENT(gfx_target_version),
    AGENT(vendor_id),
    AGENT(device_id),
    AGENT(location_id),
    AGENT(domain),
    AGENT(drm_render_minor),
    AGENT(num_sdma_engines),
    AGENT(num_sdma_xgmi_engines),
    AGENT(num_sdma_queues_per_engine),
    AGENT(num_cp_queues),
    AGENT(max_engine_clk_ccompute),
    AGENT(max_engine_clk_fcompute),
    AGENT(sdma_fw_version),
    AGENT(fw_version),
    AGENT(capability),
    AGENT(local_mem_size),
    AGENT(hive_id),
};

static const struct sysfs_property cache_properties[] = {
    CACHE(processor_id_low),    CACHE(level),       CACHE(size),    CACHE(cache_line_size),
    CACHE(cache_lines_per_tag), CACHE(association), CACHE(latency), CACHE(type),
};

static const struct sysfs_property link_properties[] = {
    LINK(type),          LINK(version_major), LINK(version_minor), LINK(node_from),
    LINK(node_to),       LINK(weight),        LINK(min_latency),   LINK(max_latency),
    LINK(min_bandwidth), LINK(max_bandwidth), LINK(flags),         LINK(recommended_transfer_size),
};

static const struct sysfs_property bank_properties[] = {
    BANK(heap_type), BANK(size_in_bytes), BANK(flags), BANK(width), BANK(mem_clk_max),
};

/* An agent and what its public structure points to, freed together. */
struct agent {
    rocprofiler_agent_v0_t info; /* first */
    char *texts[4];              /* name, vendor, product, model */
    void *parts[3];
    uint64_t unique_id;
};

struct node_reader {
    const char *root;
    int32_t cpu_count, gpu_count, other_count;
};

/* Reads nodes/N/<kind>/0.. into one array; *count becomes what is really there. */
static void *parts_read(const char *root, uint32_t node, const char *kind,
                        const struct sysfs_property *properties, size_t property_count,
                        size_t part_size, uint32_t *count)
{
    uint32_t claimed = *count < PARTS_MAX ? *count : PARTS_MAX;
    char *parts = claimed ? calloc(claimed, part_size) : NULL;
    *count = 0;
    if (!parts)
        return NULL;
    for (uint32_t i = 0; i < claimed; i++) {
        char *text = sysfs_read("%s" NODES_DIR "/%u/%s/%u/properties", root, node, kind, i);
        if (!text)
            continue;
        sysfs_properties_store(text, properties, property_count, parts + *count * part_size);
        ++*count;
        free(text);
    }
    return parts;
}

static void agent_parts_read(struct agent *agent, const char *root)
{
    rocprofiler_agent_v0_t *info = &agent->info;
    agent->parts[0] =
        parts_read(root, info->node_id, "mem_banks", bank_properties, COUNT(bank_properties),
                   sizeof(rocprofiler_agent_mem_bank_t), &info->mem_banks_count);
    agent->parts[1] =
        parts_read(root, info->node_id, "caches", cache_properties, COUNT(cache_properties),
                   sizeof(rocprofiler_agent_cache_t), &info->caches_count);
    agent->parts[2] =
        parts_read(root, info->node_id, "io_links", link_properties, COUNT(link_properties),
                   sizeof(rocprofiler_agent_io_link_t), &info->io_links_count);
    info->mem_banks = info->mem_banks_count ? agent->parts[0] : NULL;
    info->caches = info->caches_count ? agent->parts[1] : NULL;
    info->io_links = info->io_links_count ? agent->parts[2] : NULL;
}

static char *gfx_name(uint32_t version)
{
    char name[32];
    snprintf(name, sizeof name, "gfx%u%u%x", version / 10000, version / 100 % 100, version % 100);
    return strdup(name);
}

static char *model_name_read(const char *root, uint32_t node)
{
    char *text = sysfs_read("%s" NODES_DIR "/%u/name", root, node);
    if (text)
        text[strcspn(text, "\n")] = '\0';
    return text ? text : strdup("");
}

/* The limits that ROCr reports for every GPU; KFD does not publish them. */
static void gpu_limits_set(rocprofiler_agent_v0_t *info)
{
    info->workgroup_max_size = 1024;
    info->workgroup_max_dim = (rocprofiler_dim3_t){1024, 1024, 1024};
    info->grid_max_size = UINT32_MAX;
    info->grid_max_dim = (rocprofiler_dim3_t){INT32_MAX, UINT16_MAX, UINT16_MAX};
}

static void gpu_complete(struct agent *agent, struct node_reader *reader)
{
    rocprofiler_agent_v0_t *info = &agent->info;
    info->logical_node_type_id = reader->gpu_count++;
    gpu_limits_set(info);
    info->cu_count = info->simd_per_cu ? info->simd_count / info->simd_per_cu : 0;
    info->max_waves_per_cu = info->simd_per_cu * info->max_waves_per_simd;
    if (info->simd_arrays_per_engine > 0)
        info->num_shader_banks = info->array_count / info->simd_arrays_per_engine;
    if (info->num_shader_banks > 0)
        info->cu_per_engine = info->cu_count / info->num_shader_banks;
    /* KFD packs more than the version into these words; its low ten bits are the version. */
    info->fw_version.Value &= 0x3ff;
    info->sdma_fw_version.Value &= 0x3ff;
    info->family_id = product_family(info->gfx_target_version);
    memcpy(&info->uuid, &agent->unique_id, sizeof agent->unique_id);
    agent->texts[0] = gfx_name(info->gfx_target_version);
    agent->texts[1] = strdup("AMD");
    agent->texts[2] = product_name_find(reader->root, info);
    if (!agent->texts[2])
        agent->texts[2] = strdup(agent->texts[3] && *agent->texts[3] ? agent->texts[3] : "unknown");
}

static void cpu_complete(struct agent *agent, struct node_reader *reader)
{
    rocprofiler_agent_v0_t *info = &agent->info;
    info->logical_node_type_id = reader->cpu_count++;
    info->cu_count = info->cpu_cores_count;
    agent->texts[0] = product_cpu_name(reader->root, info->cpu_core_id_base, &info->family_id);
    agent->texts[1] = strdup("CPU");
    agent->texts[2] = agent->texts[0] ? strdup(agent->texts[0]) : NULL;
}

static void visibility_set(struct agent *agent)
{
    rocprofiler_agent_v0_t *info = &agent->info;
    rocprofiler_agent_runtime_visiblity_t all = {.hsa = 1, .hip = 1, .rccl = 1, .rocdecode = 1};
    info->runtime_visibility = all;
    if (info->type != ROCPROFILER_AGENT_TYPE_GPU)
        return;
    int32_t hsa = visibility_position(getenv("ROCR_VISIBLE_DEVICES"), info->logical_node_type_id,
                                      agent->unique_id);
    /* HIP numbers what HSA shows. Its three variables are filters that must all agree. */
    static const char *const hip_lists[] = {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                                            "GPU_DEVICE_ORDINAL"};
    bool hip = hsa >= 0;
    for (size_t i = 0; i < COUNT(hip_lists) && hip; i++)
        hip = visibility_position(getenv(hip_lists[i]), hsa, agent->unique_id) >= 0;
    info->runtime_visibility.hsa = hsa >= 0;
    info->runtime_visibility.hip = hip;
    info->runtime_visibility.rccl = hip;
    info->runtime_visibility.rocdecode = hip;
}

static void agent_complete(struct agent *agent, struct node_reader *reader)
{
    rocprofiler_agent_v0_t *info = &agent->info;
    agent->texts[3] = model_name_read(reader->root, info->node_id);
    if (info->num_xcc == 0) /* kernels before 6.5 do not publish it */
        info->num_xcc = 1;
    if (info->cpu_cores_count > 0) { /* an APU's node is reported as its CPU, as upstream does */
        info->type = ROCPROFILER_AGENT_TYPE_CPU;
        cpu_complete(agent, reader);
    } else if (info->simd_count > 0) {
        info->type = ROCPROFILER_AGENT_TYPE_GPU;
        gpu_complete(agent, reader);
    } else {
        info->logical_node_type_id = reader->other_count++;
        log_warning("topology", "node %u is neither a CPU nor a GPU", info->node_id);
    }
    visibility_set(agent);
    info->name = agent->texts[0] ? agent->texts[0] : "";
    info->vendor_name = agent->texts[1] ? agent->texts[1] : "";
    info->product_name = agent->texts[2] ? agent->texts[2] : "";
    info->model_name = agent->texts[3] ? agent->texts[3] : "";
}

static struct agent *agent_read(struct node_reader *reader, uint32_t node, uint32_t logical)
{
    char *text = sysfs_read("%s" NODES_DIR "/%u/properties", reader->root, node);
    struct agent *agent = text && *text ? calloc(1, sizeof *agent) : NULL;
    if (agent) {
        sysfs_properties_store(text, agent_properties, COUNT(agent_properties), &agent->info);
        sysfs_number(text, "unique_id", &agent->unique_id);
        agent->info.size = sizeof agent->info;
        agent->info.node_id = node;
        agent->info.logical_node_id = (int32_t)logical;
        agent->info.id.handle = AGENT_ID_FIRST + logical;
        char *gpu_id = sysfs_read("%s" NODES_DIR "/%u/gpu_id", reader->root, node);
        agent->info.gpu_id = gpu_id ? strtoull(gpu_id, NULL, 10) : 0;
        free(gpu_id);
        agent_parts_read(agent, reader->root);
        agent_complete(agent, reader);
    }
    free(text);
    return agent;
}

static int number_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Node numbers in order; they may have gaps. */
static uint32_t nodes_list(const char *root, uint32_t *nodes)
{
    char path[PATH_MAX];
    uint32_t count = 0;
    snprintf(path, sizeof path, "%s" NODES_DIR, root);
    DIR *directory = opendir(path);
    if (!directory)
        return 0;
    for (struct dirent *entry; (entry = readdir(directory)) && count < NODES_MAX;) {
        char *end;
        unsigned long node = strtoul(entry->d_name, &end, 10);
        if (end != entry->d_name && *end == '\0' && node <= UINT32_MAX)
            nodes[count++] = (uint32_t)node;
    }
    closedir(directory);
    qsort(nodes, count, sizeof *nodes, number_compare);
    return count;
}

enum topology_status topology_read(const char *root, struct topology *topology)
{
    struct node_reader reader = {.root = root ? root : ""};
    uint32_t *nodes = calloc(NODES_MAX, sizeof *nodes);
    enum topology_status status = TOPOLOGY_NO_MEMORY;
    memset(topology, 0, sizeof *topology);
    if (!nodes)
        return status;
    uint32_t count = nodes_list(reader.root, nodes);
    topology->agents = calloc(count ? count : 1, sizeof *topology->agents);
    if (!topology->agents)
        goto done;
    for (uint32_t i = 0; i < count; i++) {
        struct agent *agent = agent_read(&reader, nodes[i], topology->agent_count);
        if (agent)
            topology->agents[topology->agent_count++] = &agent->info;
    }
    status = topology->agent_count ? TOPOLOGY_OK : TOPOLOGY_NONE;
done:
    free(nodes);
    if (status != TOPOLOGY_OK)
        topology_free(topology);
    return status;
}

void topology_free(struct topology *topology)
{
    for (uint32_t i = 0; i < topology->agent_count; i++) {
        struct agent *agent = (struct agent *)(uintptr_t)topology->agents[i];
        for (size_t t = 0; t < COUNT(agent->texts); t++)
            free(agent->texts[t]);
        for (size_t p = 0; p < COUNT(agent->parts); p++)
            free(agent->parts[p]);
        free(agent);
    }
    free(topology->agents);
    memset(topology, 0, sizeof *topology);
}

static struct topology system_topology;

static void system_topology_read(void)
{
    topology_read(NULL, &system_topology);
}

const struct topology *topology_system(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, system_topology_read);
    return &system_topology;
}

const rocprofiler_agent_v0_t *topology_agent_by_node(const struct topology *topology,
                                                     uint32_t node_id)
{
    for (uint32_t i = 0; i < topology->agent_count; i++)
        if (topology->agents[i]->node_id == node_id)
            return topology->agents[i];
    return NULL;
}

const rocprofiler_agent_v0_t *topology_agent_by_id(const struct topology *topology,
                                                   rocprofiler_agent_id_t id)
{
    for (uint32_t i = 0; i < topology->agent_count; i++)
        if (topology->agents[i]->id.handle == id.handle)
            return topology->agents[i];
    return NULL;
}
