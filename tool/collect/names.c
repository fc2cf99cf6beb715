#include "names.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names/demangle.h"

enum { AGENTS_MAX = 64 };

/* Kernels by id in a growing array of pointers: ids are small numbers in order of registration.
 * The pointers never move a kernel_info, so a found one stays good. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel_info **kernels;
static uint64_t kernel_capacity;

static const rocprofiler_agent_v0_t *agents[AGENTS_MAX];
static unsigned agent_count;

/* Launches of kernels of one name, by position of the agent. Under `lock`. */
struct launch_counts {
    struct launch_counts *next;
    const char *name;
    uint32_t of_agent[AGENTS_MAX];
};
static struct launch_counts *all_launches;

/* All code objects there ever were; records of their kernels may come later. Under `lock`; they do
 * not move. */
struct known_object {
    struct known_object *next;
    struct out_code_object object;
};
static struct known_object *known_objects;

/* Written before the first kernel is added. */
static bool is_demangled = true, is_truncated;

void names_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

void names_fork_done(void)
{
    pthread_mutex_unlock(&lock);
}

static int capacity_reach(uint64_t id)
{
    if (id < kernel_capacity)
        return 0;
    uint64_t capacity = id * 2 + 64;
    struct kernel_info **grown = realloc(kernels, capacity * sizeof *grown);
    if (!grown)
        return -1;
    memset(grown + kernel_capacity, 0, (capacity - kernel_capacity) * sizeof *grown);
    kernels = grown;
    kernel_capacity = capacity;
    return 0;
}

static void kernel_put(struct kernel_info *kernel)
{
    pthread_mutex_lock(&lock);
    if (capacity_reach(kernel->id) == 0 && !kernels[kernel->id])
        kernels[kernel->id] = kernel;
    pthread_mutex_unlock(&lock);
}

static char *name_of(const char *symbol)
{
    if (!is_demangled && !is_truncated) /* whole, with its ".kd", as with rocprofv3 */
        return strdup(symbol);
    char *pretty = name_demangle(symbol);
    if (!pretty || !is_truncated)
        return pretty;
    size_t length;
    const char *bare = name_short(pretty, &length);
    char *kept = strndup(bare, length);
    free(pretty);
    return kept;
}

void names_code_object_add(const rocprofiler_callback_tracing_code_object_load_data_t *object)
{
    struct known_object *known = calloc(1, sizeof *known);
    if (!known)
        return;
    bool is_file = object->storage_type == ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE;
    const rocprofiler_agent_v0_t *agent = names_agent_find(object->agent_id);
    known->object = (struct out_code_object){
        .id = object->code_object_id,
        .node = agent ? agent->node_id : OUT_NO_AGENT,
        .uri = object->uri ? strdup(object->uri) : NULL,
        .storage = is_file ? "FILE" : "MEMORY",
        .load_base = object->load_base,
        .load_bytes = object->load_size,
        .memory_base = is_file ? 0 : object->memory_base,
        .memory_bytes = is_file ? 0 : object->memory_size,
        .load_delta = object->load_delta,
    };
    pthread_mutex_lock(&lock);
    known->next = known_objects;
    known_objects = known;
    pthread_mutex_unlock(&lock);
}

/* NULL: not known. */
static const struct out_code_object *code_object_find(uint64_t id)
{
    pthread_mutex_lock(&lock);
    const struct known_object *known = known_objects;
    while (known && known->object.id != id)
        known = known->next;
    pthread_mutex_unlock(&lock);
    return known ? &known->object : NULL;
}

static char *name_truncated(const char *pretty)
{
    size_t length;
    const char *bare = pretty ? name_short(pretty, &length) : NULL;
    return bare ? strndup(bare, length) : NULL;
}

void names_kernel_add(
    const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *symbol)
{
    struct kernel_info *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return;
    char *demangled = name_demangle(symbol->kernel_name);
    *kernel = (struct kernel_info){.id = symbol->kernel_id, .name = name_of(symbol->kernel_name)};
    kernel->details = (struct out_kernel){
        .id = symbol->kernel_id,
        .code_object = code_object_find(symbol->code_object_id),
        .symbol = strdup(symbol->kernel_name),
        .name = kernel->name,
        .demangled = demangled,
        .truncated = name_truncated(demangled),
        .object = symbol->kernel_object,
        .address = symbol->kernel_address.value,
        .entry_offset_bytes = symbol->kernel_code_entry_byte_offset,
        .kernarg_bytes = symbol->kernarg_segment_size,
        .kernarg_alignment_bytes = symbol->kernarg_segment_alignment,
        .lds_bytes = symbol->group_segment_size,
        .scratch_bytes = symbol->private_segment_size,
        .vgprs = symbol->arch_vgpr_count,
        .acc_vgprs = symbol->accum_vgpr_count,
        .sgprs = symbol->sgpr_count,
    };
    kernel_put(kernel);
}

static struct kernel_info *kernel_get(uint64_t id)
{
    pthread_mutex_lock(&lock);
    struct kernel_info *kernel = id < kernel_capacity ? kernels[id] : NULL;
    pthread_mutex_unlock(&lock);
    return kernel;
}

const struct kernel_info *names_kernel_find(uint64_t id)
{
    static struct kernel_info nameless = {.name = "(unknown kernel)"};
    struct kernel_info *kernel = kernel_get(id);
    if (kernel && kernel->name)
        return kernel;
    kernel = calloc(1, sizeof *kernel);
    if (!kernel || asprintf(&kernel->name, "kernel %llu", (unsigned long long)id) < 0)
        return &nameless;
    kernel->id = id;
    kernel_put(kernel);
    kernel = kernel_get(id);
    return kernel ? kernel : &nameless;
}

/* Under `lock`; NULL when memory is exhausted. */
static struct launch_counts *launches_of(struct kernel_info *kernel)
{
    for (struct launch_counts *of = all_launches; of && !kernel->launches; of = of->next)
        if (strcmp(of->name, kernel->name) == 0)
            kernel->launches = of;
    if (kernel->launches || !(kernel->launches = calloc(1, sizeof *kernel->launches)))
        return kernel->launches;
    kernel->launches->name = kernel->name;
    kernel->launches->next = all_launches;
    all_launches = kernel->launches;
    return kernel->launches;
}

uint32_t names_kernel_launch(uint64_t id, rocprofiler_agent_id_t agent)
{
    uint32_t before = 0;
    unsigned position = 0;
    names_kernel_find(id); /* gives it a name if it has none */
    while (position < agent_count && agents[position]->id.handle != agent.handle)
        position++;
    pthread_mutex_lock(&lock);
    struct kernel_info *kernel = id < kernel_capacity ? kernels[id] : NULL;
    struct launch_counts *launches = kernel ? launches_of(kernel) : NULL;
    if (launches && position < AGENTS_MAX)
        before = launches->of_agent[position]++;
    pthread_mutex_unlock(&lock);
    return before;
}

bool names_kernel_wanted(uint64_t id, bool (*wants)(const char *name))
{
    const char *name = names_kernel_find(id)->name;
    pthread_mutex_lock(&lock);
    struct kernel_info *kernel = id < kernel_capacity ? kernels[id] : NULL;
    int wanted = kernel ? kernel->wanted : 0;
    pthread_mutex_unlock(&lock);
    if (wanted != 0)
        return wanted > 0;
    bool answer = wants(name);
    pthread_mutex_lock(&lock);
    if (kernel)
        kernel->wanted = answer ? 1 : -1;
    pthread_mutex_unlock(&lock);
    return answer;
}

void names_style_set(bool demangle, bool truncate)
{
    is_demangled = demangle;
    is_truncated = truncate;
}

static rocprofiler_status_t agents_take(rocprofiler_agent_version_t version, const void **list,
                                        size_t count, void *data)
{
    (void)version;
    (void)data;
    for (size_t i = 0; i < count && agent_count < AGENTS_MAX; i++)
        agents[agent_count++] = list[i];
    return ROCPROFILER_STATUS_SUCCESS;
}

void names_agents_load(void)
{
    agent_count = 0;
    rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, agents_take,
                                       sizeof(rocprofiler_agent_v0_t), NULL);
}

const rocprofiler_agent_v0_t *names_agent_find(rocprofiler_agent_id_t id)
{
    for (unsigned i = 0; i < agent_count; i++)
        if (agents[i]->id.handle == id.handle)
            return agents[i];
    return NULL;
}

const rocprofiler_agent_v0_t *names_agent_at(unsigned index)
{
    return index < agent_count ? agents[index] : NULL;
}
