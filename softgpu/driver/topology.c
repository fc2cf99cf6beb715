#include "driver/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "core/time_source.h"
#include "cp/cp.h"
#include "driver/real.h"
#include "perf/perf.h"

#define ROOT "/sys/devices/virtual/kfd/kfd/topology"

enum {
    PROPERTIES_MAX_BYTES = 4096, /* the thunk reads one page */
    LINK_PCIE = 2,
    LINK_XGMI = 11,
    RENDER_MINOR_FIRST = 128,
    PCI_BUS_FIRST = 3,
    GPU_ID_FIRST = 0x5a01,
    HEAP_SYSTEM = 0,
    HEAP_VRAM_PUBLIC = 1, /* large BAR: the host may touch all of it */
    CACHE_DATA = 1,
    CACHE_INSTRUCTION = 2,
    CACHE_GPU = 8,
    SCRATCH_SLOTS_PER_CU = 32,
    CP_QUEUES = 24,
};

/* HSA_CAPABILITY bits of linux/kfd_sysfs.h, spelled out because their names differ by version. */
enum {
    CAP_QUEUE_SIZE_POW2 = 1 << 3,
    CAP_DOORBELL_TYPE_2 = 2 << 12, /* 64-bit doorbells */
    CAP_SRAM_EDC = 1 << 26,
    CAP_SVM = 1 << 27,
    CAP_DEBUG_FIRMWARE = 1 << 29,
};

struct text {
    char bytes[PROPERTIES_MAX_BYTES];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text->bytes + text->used, sizeof text->bytes - text->used, format, args);
    va_end(args);
    if (length > 0)
        text->used += (size_t)length;
}

static void put_all(struct text *text, const char *const names[], const uint64_t values[],
                    size_t count)
{
    for (size_t i = 0; i < count; i++)
        put(text, "%s %llu\n", names[i], (unsigned long long)values[i]);
}

/* Both lists in one place: PROPERTIES(P) expands P(name, value) pairs into two arrays. */
#define PROPERTY_NAME(name, value)  #name,
#define PROPERTY_VALUE(name, value) (uint64_t)(value),
#define PUT_PROPERTIES(text, LIST)                                                                 \
    do {                                                                                           \
        static const char *const names_[] = {LIST(PROPERTY_NAME)};                                 \
        const uint64_t values_[] = {LIST(PROPERTY_VALUE)};                                         \
        put_all(text, names_, values_, sizeof names_ / sizeof names_[0]);                          \
    } while (0)

__attribute__((format(printf, 3, 4))) static int
file_add(struct vtree *tree, const struct text *text, const char *format, ...)
{
    if (text->used >= sizeof text->bytes)
        return -ENAMETOOLONG;
    char path[256];
    va_list args;
    va_start(args, format);
    vsnprintf(path, sizeof path, format, args);
    va_end(args);
    return vtree_add_file(tree, path, text->bytes);
}

uint32_t topology_gpu_id(int gpu)
{
    return GPU_ID_FIRST + (uint32_t)gpu * 0x101;
}

uint32_t topology_render_minor(int gpu)
{
    return RENDER_MINOR_FIRST + (uint32_t)gpu;
}

uint32_t topology_pci_bus(int gpu)
{
    return PCI_BUS_FIRST + (uint32_t)gpu;
}

uint64_t topology_unique_id(int gpu)
{
    return 0xfea5c0de00000000u + topology_gpu_id(gpu);
}

/* GPUs of one kind form one hive, as in a real chassis. */
static uint64_t hive_id(const struct gpu_model *const models[], int count, int gpu)
{
    for (int other = 0; other < count; other++)
        if (other != gpu && models[other] == models[gpu])
            return 0xc0c0000000000000u | models[gpu]->device_id;
    return 0;
}

static int link_add(struct vtree *tree, int from, int to, int index, int type)
{
    struct text text = {.used = 0};
/* clang-format off */
#define LIST(P)                                                                                    \
    P(type, type)                                                                                  \
    P(version_major, 0)                                                                            \
    P(version_minor, 0)                                                                            \
    P(node_from, from)                                                                             \
    P(node_to, to)                                                                                 \
    P(weight, type == LINK_XGMI ? 15 : 20)                                                         \
    P(min_latency, 0) P(max_latency, 0) P(min_bandwidth, type == LINK_XGMI ? 50000 : 0)            \
        P(max_bandwidth, type == LINK_XGMI ? 100000 : 0) P(recommended_transfer_size, 0)           \
            P(recommended_sdma_engine_id_mask, 0) P(flags, 1)
    /* clang-format on */
    PUT_PROPERTIES(&text, LIST);
#undef LIST
    return file_add(tree, &text, ROOT "/nodes/%d/io_links/%d/properties", from, index);
}

static int links_add(struct vtree *tree, const struct gpu_model *const models[], int count)
{
    int status = 0;
    for (int gpu = 0; gpu < count && !status; gpu++) {
        int index = 0;
        status = link_add(tree, 0, gpu + 1, gpu, LINK_PCIE);
        if (!status)
            status = link_add(tree, gpu + 1, 0, index++, LINK_PCIE);
        for (int other = 0; other < count && !status; other++)
            if (other != gpu && models[other] == models[gpu])
                status = link_add(tree, gpu + 1, other + 1, index++, LINK_XGMI);
    }
    return status;
}

static int links_of(const struct gpu_model *const models[], int count, int gpu)
{
    int links = 1;
    for (int other = 0; other < count; other++)
        links += other != gpu && models[other] == models[gpu];
    return links;
}

static int bank_add(struct vtree *tree, int node, int heap, uint64_t size_bytes, int width,
                    uint32_t clock_mhz)
{
    struct text text = {.used = 0};
/* clang-format off */
#define LIST(P)                                                                                    \
    P(heap_type, heap)                                                                             \
    P(size_in_bytes, size_bytes) P(flags, 0) P(width, width) P(mem_clk_max, clock_mhz)
    /* clang-format on */
    PUT_PROPERTIES(&text, LIST);
#undef LIST
    return file_add(tree, &text, ROOT "/nodes/%d/mem_banks/0/properties", node);
}

struct cache {
    int level, type;
    uint32_t size_kib, line_bytes, ways;
};

static int cache_add(struct vtree *tree, int node, int index, uint64_t simd_base,
                     const struct cache *cache)
{
    struct text text = {.used = 0};
/* clang-format off */
#define LIST(P)                                                                                    \
    P(processor_id_low, simd_base)                                                                 \
    P(level, cache->level)                                                                         \
    P(size, cache->size_kib)                                                                       \
    P(cache_line_size, cache->line_bytes)                                                          \
    P(cache_lines_per_tag, 1) P(association, cache->ways) P(latency, 0) P(type, cache->type)
    /* clang-format on */
    PUT_PROPERTIES(&text, LIST);
#undef LIST
    put(&text, "sibling_map 1,0\n");
    return file_add(tree, &text, ROOT "/nodes/%d/caches/%d/properties", node, index);
}

/* Of those with a cache in front of the memory one more. */
enum { CACHES_PER_GPU = 4 };
static int cache_count(const struct gpu_model *model)
{
    return CACHES_PER_GPU + (model->side_bytes != 0);
}

/* Each kind of cache has one entry. The kernel lists every instance; no reader needs more than the
 * sizes, and two hundred files would cost each program's start milliseconds. */
static int caches_add(struct vtree *tree, const struct gpu_model *model, int node,
                      uint64_t simd_base)
{
    const struct cache caches[CACHES_PER_GPU + 1] = {
        {1, CACHE_DATA | CACHE_GPU, model->tcp_bytes >> 10, model->tcp_line_bytes, model->tcp_ways},
        {1, CACHE_DATA | CACHE_GPU, 16, 64, 4}, /* scalar data */
        {1, CACHE_INSTRUCTION | CACHE_GPU, 32, 64, 4},
        {2, CACHE_DATA | CACHE_GPU, model->tcc_bytes >> 10, model->tcc_line_bytes, model->tcc_ways},
        {3, CACHE_DATA | CACHE_GPU, model->side_bytes >> 10, 64, 0},
    };
    int status = 0;
    for (int i = 0; i < cache_count(model) && !status; i++)
        status = cache_add(tree, node, i, simd_base, &caches[i]);
    return status;
}

static int cpu_add(struct vtree *tree, int gpus)
{
    struct text text = {.used = 0}, id = {.bytes = "0\n"}, name = {.bytes = "\n"};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct sysinfo info = {.totalram = 1u << 30, .mem_unit = 1};
    sysinfo(&info);
/* clang-format off */
#define LIST(P)                                                                                    \
    P(cpu_cores_count, cores > 0 ? cores : 1)                                                      \
    P(simd_count, 0)                                                                               \
    P(mem_banks_count, 1)                                                                          \
    P(caches_count, 0)                                                                             \
    P(io_links_count, gpus)                                                                        \
    P(p2p_links_count, 0)                                                                          \
    P(cpu_core_id_base, 0) P(simd_id_base, 0) P(max_waves_per_simd, 0) P(lds_size_in_kb, 0)        \
        P(gds_size_in_kb, 0) P(num_gws, 0) P(wave_front_size, 0) P(array_count, 0)                 \
            P(simd_arrays_per_engine, 0) P(cu_per_simd_array, 0) P(simd_per_cu, 0)                 \
                P(max_slots_scratch_cu, 0) P(gfx_target_version, 0) P(vendor_id, 0)                \
                    P(device_id, 0) P(location_id, 0) P(domain, 0) P(drm_render_minor, 0)          \
                        P(hive_id, 0) P(num_sdma_engines, 0) P(num_sdma_xgmi_engines, 0)           \
                            P(num_sdma_queues_per_engine, 0) P(num_cp_queues, 0)                   \
                                P(max_engine_clk_ccompute, 2000)
    /* clang-format on */
    PUT_PROPERTIES(&text, LIST);
#undef LIST
    int status = file_add(tree, &id, ROOT "/nodes/0/gpu_id");
    if (!status)
        status = file_add(tree, &name, ROOT "/nodes/0/name");
    if (!status)
        status = file_add(tree, &text, ROOT "/nodes/0/properties");
    if (!status)
        status = bank_add(tree, 0, HEAP_SYSTEM, (uint64_t)info.totalram * info.mem_unit, 64, 2400);
    return status;
}

static void gpu_properties(struct text *text, const struct gpu_model *m, int gpu, int links,
                           uint64_t hive, uint64_t simd_base)
{
    uint32_t capability = CAP_QUEUE_SIZE_POW2 | CAP_DOORBELL_TYPE_2 | CAP_SVM | CAP_DEBUG_FIRMWARE |
                          (m->sram_ecc ? CAP_SRAM_EDC : 0);
/* clang-format off */
#define LIST(P)                                                                                    \
    P(cpu_cores_count, 0)                                                                          \
    P(simd_count, m->cu_active * m->simd_per_cu)                                                   \
    P(mem_banks_count, 1)                                                                          \
    P(caches_count, cache_count(m))                                                                \
    P(io_links_count, links)                                                                       \
    P(p2p_links_count, 0)                                                                          \
    P(cpu_core_id_base, 0) P(simd_id_base, simd_base) P(max_waves_per_simd, m->waves_per_simd)     \
        P(lds_size_in_kb, m->lds_bytes >> 10) P(gds_size_in_kb, 0) P(num_gws, GPU_GWS_COUNT)                   \
            P(wave_front_size, 64) P(array_count, m->xcc_count * m->se_count * m->sh_per_se)       \
                P(simd_arrays_per_engine, m->sh_per_se) P(cu_per_simd_array, m->cu_per_sh)         \
                    P(simd_per_cu, m->simd_per_cu) P(max_slots_scratch_cu, SCRATCH_SLOTS_PER_CU)   \
                        P(gfx_target_version, m->gfx_target_version) P(vendor_id, 0x1002) P(       \
                            device_id, m->device_id) P(location_id, topology_pci_bus(gpu) << 8) P(domain, 0)   \
                            P(drm_render_minor, topology_render_minor(gpu)) P(hive_id, hive)       \
                                P(num_sdma_engines, 2) P(num_sdma_xgmi_engines, 0) P(              \
                                    num_sdma_queues_per_engine, 8) P(num_cp_queues, CP_QUEUES)     \
                                    P(max_engine_clk_fcompute, m->sclk_mhz) P(local_mem_size, 0)   \
                                        P(fw_version, m->firmware_version) P(capability, capability)                \
                                            P(debug_prop, 0) P(sdma_fw_version, TOPOLOGY_SDMA_FIRMWARE)                 \
                                                P(unique_id,                                       \
                                                  topology_unique_id(gpu))      \
                                                    P(num_xcc, m->xcc_count)                       \
                                                        P(family_id, m->family_id)                 \
                                                            P(max_engine_clk_ccompute, 2000)
    /* clang-format on */
    PUT_PROPERTIES(text, LIST);
#undef LIST
}

/* "4,6-10": the events of one block and class. */
static void events_put(struct text *text, enum gpu_gen gen, const char *block, const char *klass)
{
    struct perf_event event;
    uint32_t first = 0, last = 0;
    bool any = false;
    for (size_t at = 0; perf_event_next(gen, &at, &event);) {
        if (strcmp(event.block, block) != 0 || strcmp(event.klass, klass) != 0)
            continue;
        if (any && event.number == last + 1) {
            last = event.number;
            continue;
        }
        if (!any)
            put(text, "%s %s ", klass, block);
        else
            put(text, last > first ? "%u-%u," : "%u,", first, last);
        first = last = event.number;
        any = true;
    }
    if (any)
        put(text, last > first ? "%u-%u\n" : "%u\n", first, last);
}

/* What is true of every reading of this device, for whoever wants to know: hardware's driver has no
 * such file. Blocks stand together in the list. */
static int quality_add(struct vtree *tree, const struct gpu_model *model, int node)
{
    static const char *const classes[] = {"exact", "modelled", "approximate"};
    struct text text = {.used = 0};
    struct perf_event event;
    const char *block = "";
    put(&text, "times %s time of a software GPU\n", time_is_modelled() ? "modelled" : "wall");
    if (!time_is_modelled())
        put(&text, "cycles %u %u000000\n", (unsigned)SIGNAL_CYCLES_OFFSET, model->sclk_mhz);
    for (size_t at = 0; perf_event_next(model->gen, &at, &event);) {
        if (strcmp(event.block, block) == 0)
            continue;
        block = event.block;
        for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
            events_put(&text, model->gen, block, classes[i]);
    }
    return file_add(tree, &text, ROOT "/nodes/%d/measurement_quality", node);
}

static int gpu_add(struct vtree *tree, const struct gpu_model *const models[], int count, int gpu)
{
    const struct gpu_model *m = models[gpu];
    int node = gpu + 1;
    uint64_t simd_base = 0x80001000u + 0x1000u * (uint64_t)gpu;
    struct text text = {.used = 0}, id = {.used = 0}, name = {.used = 0};
    put(&id, "%u\n", topology_gpu_id(gpu));
    put(&name, "%s\n", m->codename);
    gpu_properties(&text, m, gpu, links_of(models, count, gpu), hive_id(models, count, gpu),
                   simd_base);
    char device[64];
    snprintf(device, sizeof device, "/dev/dri/renderD%u", topology_render_minor(gpu));
    int status = file_add(tree, &id, ROOT "/nodes/%d/gpu_id", node);
    if (!status)
        status = file_add(tree, &name, ROOT "/nodes/%d/name", node);
    if (!status)
        status = file_add(tree, &text, ROOT "/nodes/%d/properties", node);
    if (!status)
        status = bank_add(tree, node, HEAP_VRAM_PUBLIC, m->vram_bytes, 4096, m->mclk_mhz);
    if (!status)
        status = caches_add(tree, m, node, simd_base);
    if (!status)
        status = quality_add(tree, m, node);
    if (!status)
        status =
            vtree_add_device(tree, device, TOPOLOGY_DRM_MAJOR << 8 | topology_render_minor(gpu));
    return status;
}

/* rocminfo asks lsmod whether amdgpu is loaded, so the list is the machine's own and that line.
 * Where it is longer than the buffer its end is missing, which nothing of ours reads. */
static int modules_add(struct vtree *tree)
{
    enum { LIST_MAX_BYTES = 64 << 10 };
    static const char line[] = "amdgpu 9437184 1 - Live 0x0000000000000000\n";
    char *list = malloc(LIST_MAX_BYTES + sizeof line);
    if (!list)
        return -ENOMEM;
    size_t used = 0;
    int fd = real_open("/proc/modules", O_RDONLY | O_CLOEXEC, 0);
    for (ssize_t got = 1; fd >= 0 && got > 0 && used < LIST_MAX_BYTES; used += (size_t)got)
        got = (got = read(fd, list + used, LIST_MAX_BYTES - used)) > 0 ? got : 0;
    if (fd >= 0)
        close(fd);
    while (used && list[used - 1] != '\n')
        used--;
    memcpy(list + used, line, sizeof line);
    int status = vtree_add_file(tree, "/proc/modules", list);
    free(list);
    return status;
}

static int module_add(struct vtree *tree)
{
    static const char *const files[][2] = {
        {"/sys/module/amdgpu/initstate", "live\n"},
        {"/sys/module/amdgpu/refcnt", "1\n"},
        {"/sys/module/amdgpu/coresize", "9437184\n"},
    };
    int status = modules_add(tree);
    for (size_t i = 0; i < sizeof files / sizeof files[0] && !status; i++)
        status = vtree_add_file(tree, files[i][0], files[i][1]);
    return status ? status : vtree_add_dir(tree, "/sys/module/amdgpu/holders");
}

static int system_add(struct vtree *tree)
{
    static const char *const shared[] = {
        "/dev", "/sys", "/sys/class", "/sys/devices", "/sys/devices/virtual", "/sys/module"};
    int status = 0;
    for (size_t i = 0; i < sizeof shared / sizeof shared[0] && !status; i++)
        status = vtree_share(tree, shared[i]);
    if (!status)
        status = vtree_add_file(tree, ROOT "/generation_id", "1\n");
    if (!status)
        status = vtree_add_file(tree, ROOT "/system_properties",
                                "platform_oem 0\nplatform_id 0\nplatform_rev 1\n");
    if (!status)
        status = vtree_add_link(tree, "/sys/class/kfd/kfd", "/sys/devices/virtual/kfd/kfd");
    if (!status)
        status = module_add(tree);
    if (!status)
        status = vtree_add_device(tree, "/dev/kfd", 0);
    return status;
}

int topology_fill(struct vtree *tree, const struct gpu_model *const models[], int count)
{
    int status = system_add(tree);
    if (!status)
        status = cpu_add(tree, count);
    for (int gpu = 0; gpu < count && !status; gpu++)
        status = gpu_add(tree, models, count, gpu);
    return status ? status : links_add(tree, models, count);
}
