/* Where the geometry of a GPU comes from: the HSA runtime, or the caller's description. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa_ext_amd.h>

#include "api/aqlprofile/internal.h"
#include "base/fork_lock.h"

static _Thread_local char last_error[256];

hsa_status_t aqlprofile_fail(hsa_status_t status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    return status;
}

const char *aqlprofile_last_error(void)
{
    return last_error;
}

/* HSA_AMD_AGENT_INFO_NUM_XCC and _TIMESTAMP_FREQUENCY, which old headers lack; old runtimes refuse
 * them. */
enum { AGENT_DIES = 0xA111, AGENT_CLOCK_HZ = 0xA016 };

/* The runtime loads this library, so its symbols are somewhere, but not always in global scope.
 * We link no runtime: a program may use any generation of it. */
static void *runtime_symbol(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    if (symbol)
        return symbol;
    void *library = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return NULL;
    symbol = dlsym(library, name);
    dlclose(library);
    return symbol;
}

/* The bounds are what commands can address: a die is one of eight bits of a predicate, an engine or
 * array an index of eight bits, and every die has as many engines. They also keep the sizes of
 * buffers far below 32 bits. */
static int is_plausible(const struct gpu_geometry *g)
{
    enum { DIES_MAX = 8, ENGINES_MAX = 64, ARRAYS_MAX = 16, UNITS_MAX = 4096 };
    return g->xcc_count >= 1 && g->xcc_count <= DIES_MAX && g->se_count >= g->xcc_count &&
           g->se_count <= ENGINES_MAX && g->se_count % g->xcc_count == 0 &&
           g->sa_per_se <= ARRAYS_MAX && g->cu_count <= UNITS_MAX;
}

static hsa_status_t target_make(const char *name, const struct gpu_geometry *geometry,
                                struct gpu_target *target)
{
    if (gpu_target_find(name, geometry, target))
        return aqlprofile_fail(HSA_STATUS_ERROR, "no counters are known for %s", name);
    if (!is_plausible(&target->geometry))
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT,
                               "no GPU has %u engines on %u dies, %u arrays in each, %u units",
                               geometry->se_count, geometry->xcc_count, geometry->sa_per_se,
                               geometry->cu_count);
    return HSA_STATUS_SUCCESS;
}

int aqlprofile_target_of_hsa(hsa_agent_t agent, struct gpu_target *target)
{
    __typeof__(hsa_agent_get_info) *get_info =
        (__typeof__(get_info))runtime_symbol("hsa_agent_get_info");
    char name[64] = "";
    struct gpu_geometry g = {.xcc_count = 1};
    if (!get_info) {
        aqlprofile_fail(HSA_STATUS_ERROR, "no HSA runtime is loaded");
        return -1;
    }
    if (get_info(agent, HSA_AGENT_INFO_NAME, name) != HSA_STATUS_SUCCESS ||
        get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &g.cu_count) !=
            HSA_STATUS_SUCCESS ||
        get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES, &g.se_count) !=
            HSA_STATUS_SUCCESS ||
        get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE,
                 &g.sa_per_se) != HSA_STATUS_SUCCESS) {
        aqlprofile_fail(HSA_STATUS_ERROR, "agent %llx is not known to the HSA runtime",
                        (unsigned long long)agent.handle);
        return -1;
    }
    if (get_info(agent, (hsa_agent_info_t)AGENT_DIES, &g.xcc_count) != HSA_STATUS_SUCCESS)
        g.xcc_count = 1;
    name[sizeof name - 1] = '\0';
    return target_make(name, &g, target) == HSA_STATUS_SUCCESS ? 0 : -1;
}

uint32_t aqlprofile_clock_khz(hsa_agent_t agent)
{
    enum { KHZ_MAX = (1 << 20) - 1 };
    __typeof__(hsa_agent_get_info) *get_info =
        (__typeof__(get_info))runtime_symbol("hsa_agent_get_info");
    uint64_t hz = 0;
    if (!get_info || get_info(agent, (hsa_agent_info_t)AGENT_CLOCK_HZ, &hz) != HSA_STATUS_SUCCESS ||
        hz / 1000 > KHZ_MAX)
        return 0;
    return (uint32_t)(hz / 1000);
}

/* Described agents; handles are positions + 1 and stay valid. */
static struct {
    pthread_mutex_t lock;
    struct gpu_target *targets;
    uint32_t count, capacity;
} described = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(described_kept, described.lock)

int aqlprofile_target_of_handle(aqlprofile_agent_handle_t agent, struct gpu_target *target)
{
    int status = -1;
    pthread_mutex_lock(&described.lock);
    if (agent.handle >= 1 && agent.handle <= described.count) {
        *target = described.targets[agent.handle - 1];
        status = 0;
    }
    pthread_mutex_unlock(&described.lock);
    if (status)
        aqlprofile_fail(HSA_STATUS_ERROR_INVALID_AGENT, "agent %llu was never registered",
                        (unsigned long long)agent.handle);
    return status;
}

static int same_target(const struct gpu_target *a, const struct gpu_target *b)
{
    return a->family == b->family && memcmp(&a->geometry, &b->geometry, sizeof a->geometry) == 0;
}

/* Equal agents get equal handles, so registering for ever does not grow anything. */
static hsa_status_t target_register(const struct gpu_target *target, uint64_t *handle)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    uint32_t i = 0;
    pthread_mutex_lock(&described.lock);
    while (i < described.count && !same_target(&described.targets[i], target))
        i++;
    if (i == described.capacity) {
        uint32_t capacity = i ? i * 2 : 8;
        struct gpu_target *grown = realloc(described.targets, capacity * sizeof *described.targets);
        if (grown) {
            described.targets = grown;
            described.capacity = capacity;
        } else {
            status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        }
    }
    if (status == HSA_STATUS_SUCCESS) {
        if (i == described.count)
            described.targets[described.count++] = *target;
        *handle = i + 1;
    }
    pthread_mutex_unlock(&described.lock);
    return status;
}

EXPORT hsa_status_t aqlprofile_register_agent_info(aqlprofile_agent_handle_t *agent_id,
                                                   const void *agent_info,
                                                   aqlprofile_agent_version_t version)
{
    /* The first members of both versions are the same. */
    const aqlprofile_agent_info_t *info = agent_info;
    struct gpu_target target;
    if (!agent_id || !info || !info->agent_gfxip ||
        (version != AQLPROFILE_AGENT_VERSION_V0 && version != AQLPROFILE_AGENT_VERSION_V1))
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "bad agent description");
    struct gpu_geometry geometry = {.xcc_count = info->xcc_num ? info->xcc_num : 1,
                                    .se_count = info->se_num,
                                    .sa_per_se = info->shader_arrays_per_se,
                                    .cu_count = info->cu_num};
    hsa_status_t status = target_make(info->agent_gfxip, &geometry, &target);
    return status == HSA_STATUS_SUCCESS ? target_register(&target, &agent_id->handle) : status;
}

EXPORT hsa_status_t aqlprofile_register_agent(aqlprofile_agent_handle_t *agent_id,
                                              const aqlprofile_agent_info_t *agent_info)
{
    return aqlprofile_register_agent_info(agent_id, agent_info, AQLPROFILE_AGENT_VERSION_V0);
}
