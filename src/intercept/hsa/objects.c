#include "intercept/hsa/objects.h"

#include <hsa/hsa_ven_amd_loader.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork_lock.h"
#include "base/log.h"
#include "codeobj/kernel_descriptor.h"
#include "intercept/hip/host_functions.h"
#include "intercept/hsa/agents.h"
#include "intercept/hsa/kernel_map.h"
#include "intercept/hsa/replay_memory.h"
#include "intercept/hsa/replay_regions.h"
#include "intercept/hsa/wrappers.h"
#include "model/trace.h"

typedef rocprofiler_callback_tracing_code_object_load_data_t object_data_t;
typedef rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t kernel_data_t;

enum { TEXT_BYTES_MAX = 1 << 24 };

struct kernel {
    struct kernel *next;
    kernel_data_t data;
    char *name;
};

struct object {
    struct object *next;
    hsa_executable_t executable;
    object_data_t data;
    char *uri;
    const struct hsa_agent_entry *agent;
    struct kernel *kernels;
    bool has_memory; /* until it is unloaded; under the lock once it is listed */
};

static hsa_ven_amd_loader_1_03_pfn_t
    loaders[HSA_INSTANCES_MAX]; /* written at start, then immutable */
static struct kernel_map kernel_ids;

/* Covers the list and the ids; never held while anything outside is called. Objects and their names
   stay after UNLOAD: tools keep the pointers. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(lock_kept, lock)
static struct object *objects, *retired; /* reachable, so that no leak checker complains */
static uint64_t object_id_last, kernel_id_last;

static bool objects_wanted(void)
{
    return trace_domain_is_configured(TRACE_CODE_OBJECT) ||
           trace_domain_is_configured(TRACE_KERNEL_DISPATCH) || trace_counting_is_configured() ||
           replay_is_configured();
}

static const hsa_ven_amd_loader_1_03_pfn_t *loader_of(const struct hsa_instance *runtime)
{
    return &loaders[hsa_instance_index(runtime)];
}

static bool objects_start(struct hsa_instance *runtime)
{
    hsa_ven_amd_loader_1_03_pfn_t *loader = &loaders[hsa_instance_index(runtime)];
    memset(loader, 0, sizeof *loader);
    return runtime->real.hsa_system_get_major_extension_table != NULL &&
           runtime->real.hsa_system_get_major_extension_table(
               HSA_EXTENSION_AMD_LOADER, 1, sizeof *loader, loader) == HSA_STATUS_SUCCESS &&
           loader->hsa_ven_amd_loader_executable_iterate_loaded_code_objects != NULL &&
           loader->hsa_ven_amd_loader_loaded_code_object_get_info != NULL;
}

uint64_t objects_kernel_id(uint64_t kernel_object)
{
    return kernel_map_get(&kernel_ids, kernel_object);
}

/* Names by kernel id, for ever: records are delivered when the kernel may be gone. */
enum { NAMES_PER_BLOCK = 4096, NAME_BLOCKS = 4096 };
struct name_block {
    /* Writer: who registers the kernel (release). Readers: any (acquire). */
    _Atomic(const char *) names[NAMES_PER_BLOCK];
};
/* Writers: who registers the first kernel of a block (compare-exchange). Readers: any (acquire). */
static _Atomic(struct name_block *) name_blocks[NAME_BLOCKS];

static struct name_block *name_block(uint64_t kernel_id)
{
    uint64_t index = kernel_id / NAMES_PER_BLOCK;
    return index < NAME_BLOCKS ? atomic_load_explicit(&name_blocks[index], memory_order_acquire)
                               : NULL;
}

static void name_keep(uint64_t kernel_id, const char *name)
{
    uint64_t index = kernel_id / NAMES_PER_BLOCK;
    struct name_block *block = name_block(kernel_id);
    if (!block && index < NAME_BLOCKS) {
        struct name_block *made = calloc(1, sizeof *made);
        if (made &&
            !atomic_compare_exchange_strong_explicit(&name_blocks[index], &block, made,
                                                     memory_order_seq_cst, memory_order_seq_cst))
            free(made);
        block = name_block(kernel_id);
    }
    if (block)
        atomic_store_explicit(&block->names[kernel_id % NAMES_PER_BLOCK], name,
                              memory_order_release);
}

const char *objects_kernel_name(uint64_t kernel_id)
{
    struct name_block *block = name_block(kernel_id);
    return block ? atomic_load_explicit(&block->names[kernel_id % NAMES_PER_BLOCK],
                                        memory_order_acquire)
                 : NULL;
}

/* A code object as its runtime's loader knows it. */
struct loaded {
    const struct hsa_instance *runtime;
    hsa_loaded_code_object_t handle;
};

static bool object_info(const struct loaded *object,
                        hsa_ven_amd_loader_loaded_code_object_info_t what, void *value)
{
    return loader_of(object->runtime)
               ->hsa_ven_amd_loader_loaded_code_object_get_info(object->handle, what, value) ==
           HSA_STATUS_SUCCESS;
}

#define OBJECT_INFO(name) HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_##name

static char *object_uri(const struct loaded *object)
{
    uint32_t length = 0;
    if (!object_info(object, OBJECT_INFO(URI_LENGTH), &length) || length > TEXT_BYTES_MAX)
        return NULL;
    char *uri = calloc(1, (size_t)length + 1);
    if (uri && !object_info(object, OBJECT_INFO(URI), uri))
        uri[0] = '\0';
    return uri;
}

static void storage_read(const struct loaded *object, object_data_t *data)
{
    uint32_t storage = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_NONE;
    object_info(object, OBJECT_INFO(CODE_OBJECT_STORAGE_TYPE), &storage);
    data->storage_type = (rocprofiler_code_object_storage_type_t)storage;
    if (storage == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE)
        object_info(object, OBJECT_INFO(CODE_OBJECT_STORAGE_FILE), &data->storage_file);
    if (storage == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY) {
        object_info(object, OBJECT_INFO(CODE_OBJECT_STORAGE_MEMORY_BASE), &data->memory_base);
        object_info(object, OBJECT_INFO(CODE_OBJECT_STORAGE_MEMORY_SIZE), &data->memory_size);
    }
}

static char *symbol_name(const struct hsa_calls *real, hsa_executable_symbol_t symbol)
{
    uint32_t length = 0;
    real->hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length);
    char *name = length <= TEXT_BYTES_MAX ? calloc(1, (size_t)length + 1) : NULL;
    if (name)
        real->hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name);
    return name;
}

/* The descriptor may lie in memory that the host cannot read; the loader keeps a copy. */
static void descriptor_read(kernel_data_t *data, const struct hsa_agent_entry *agent)
{
    const void *host = NULL;
    struct kernel_descriptor descriptor;
    const hsa_ven_amd_loader_1_03_pfn_t *loader = loader_of(agent->runtime);
    if (!loader->hsa_ven_amd_loader_query_host_address ||
        loader->hsa_ven_amd_loader_query_host_address((const void *)(uintptr_t)data->kernel_object,
                                                      &host) != HSA_STATUS_SUCCESS ||
        !host)
        return;
    memcpy(&descriptor, host, sizeof descriptor);
    struct kernel_registers registers =
        kernel_descriptor_registers(&descriptor, agent->info->gfx_target_version);
    data->sgpr_count = registers.sgpr_count;
    data->arch_vgpr_count = registers.arch_vgpr_count;
    data->accum_vgpr_count = registers.accum_vgpr_count;
    data->kernel_code_entry_byte_offset = descriptor.code_entry_offset_bytes;
    data->kernel_address.value = data->kernel_object + (uint64_t)descriptor.code_entry_offset_bytes;
}

static void symbol_read(const struct hsa_calls *real, hsa_executable_symbol_t symbol,
                        kernel_data_t *data)
{
    static const struct {
        hsa_executable_symbol_info_t what;
        size_t offset;
    } members[] = {
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, offsetof(kernel_data_t, kernel_object)},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
         offsetof(kernel_data_t, kernarg_segment_size)},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_ALIGNMENT,
         offsetof(kernel_data_t, kernarg_segment_alignment)},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE,
         offsetof(kernel_data_t, group_segment_size)},
        {HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
         offsetof(kernel_data_t, private_segment_size)},
    };

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        real->hsa_executable_symbol_get_info(symbol, members[i].what,
                                             (char *)data + members[i].offset);
}

/* Symbols of one executable and agent: an executable with several code objects for one agent has
   its kernels told apart by address. */
static bool object_holds(const struct object *object, uint64_t address)
{
    return address - object->data.load_base < object->data.load_size;
}

static hsa_status_t symbol_visit(hsa_executable_t executable, hsa_agent_t agent,
                                 hsa_executable_symbol_t symbol, void *data)
{
    struct object *object = data;
    const struct hsa_calls *real = &object->agent->runtime->real;
    hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_VARIABLE;
    (void)executable;
    (void)agent;
    real->hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind);
    if (kind != HSA_SYMBOL_KIND_KERNEL)
        return HSA_STATUS_SUCCESS;
    struct kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    kernel->data.size = sizeof kernel->data;
    kernel->data.code_object_id = object->data.code_object_id;
    symbol_read(real, symbol, &kernel->data);
    if (object->data.load_size > 0 && !object_holds(object, kernel->data.kernel_object)) {
        free(kernel);
        return HSA_STATUS_SUCCESS;
    }
    kernel->name = symbol_name(real, symbol);
    kernel->data.kernel_name = kernel->name ? kernel->name : "";
    descriptor_read(&kernel->data, object->agent);
    pthread_mutex_lock(&lock);
    kernel->data.kernel_id = ++kernel_id_last;
    bool mapped = kernel_map_put(&kernel_ids, kernel->data.kernel_object, kernel->data.kernel_id);
    pthread_mutex_unlock(&lock);
    name_keep(kernel->data.kernel_id, kernel->data.kernel_name);
    if (!mapped)
        log_warning("intercept", "dispatches of %s carry no kernel id", kernel->data.kernel_name);
    kernel->next = object->kernels;
    object->kernels = kernel;
    return HSA_STATUS_SUCCESS;
}

struct freeze {
    struct hsa_instance *runtime;
    struct object *loaded;
};

static bool object_known(hsa_executable_t executable, uint64_t load_base)
{
    bool known = false;
    pthread_mutex_lock(&lock);
    for (const struct object *o = objects; o && !known; o = o->next)
        known = o->executable.handle == executable.handle && o->data.load_base == load_base;
    pthread_mutex_unlock(&lock);
    return known;
}

static hsa_status_t object_visit(hsa_executable_t executable, hsa_loaded_code_object_t handle,
                                 void *data)
{
    struct freeze *freeze = data;
    const struct loaded loaded = {freeze->runtime, handle};
    struct object *object = calloc(1, sizeof *object);
    if (!object)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    object->executable = executable;
    object->data.size = sizeof object->data;
    object_info(&loaded, OBJECT_INFO(AGENT), &object->data.hsa_agent);
    object_info(&loaded, OBJECT_INFO(LOAD_BASE), &object->data.load_base);
    object_info(&loaded, OBJECT_INFO(LOAD_SIZE), &object->data.load_size);
    object_info(&loaded, OBJECT_INFO(LOAD_DELTA), &object->data.load_delta);
    object->agent = agents_find(freeze->runtime, object->data.hsa_agent);
    if (!object->agent || object_known(executable, object->data.load_base)) {
        free(object);
        return HSA_STATUS_SUCCESS;
    }
    object->data.agent_id = object->agent->id;
    storage_read(&loaded, &object->data);
    replay_regions_loaded(object->agent, (const void *)(uintptr_t)object->data.memory_base,
                          object->data.memory_size, object->data.load_base, object->data.load_size,
                          object->data.load_delta);
    object->has_memory = true;
    object->uri = object_uri(&loaded);
    object->data.uri = object->uri ? object->uri : "";
    pthread_mutex_lock(&lock);
    object->data.code_object_id = ++object_id_last;
    pthread_mutex_unlock(&lock);
    freeze->runtime->real.hsa_executable_iterate_agent_symbols(executable, object->data.hsa_agent,
                                                               symbol_visit, object);
    object->next = freeze->loaded;
    freeze->loaded = object;
    return HSA_STATUS_SUCCESS;
}

static void report(int32_t operation, rocprofiler_callback_phase_t phase, void *data)
{
    struct trace_event event;
    if (!trace_set_load(TRACE_CODE_OBJECT, operation) ||
        !trace_event_open(&event, TRACE_CODE_OBJECT, operation))
        return;
    trace_event_call(&event, operation, phase, data);
    trace_event_release(&event);
}

/* Ids are per kernel: the same function launches kernels of several devices. False: nothing that
   HIP compiled launches it. */
static bool host_data_of(const struct kernel *kernel, host_function_data_t *data)
{
    if (!host_function_find(kernel->data.kernel_name, data))
        return false;
    data->host_function_id = kernel->data.kernel_id;
    data->kernel_id = kernel->data.kernel_id;
    data->code_object_id = kernel->data.code_object_id;
    return true;
}

typedef void (*tell_fn)(int32_t operation, void *payload, void *data);

/* Listeners get copies: what they scribble stays theirs. */
static void kernels_tell(const struct object *object, bool load, tell_fn tell, void *data)
{
    for (const struct kernel *kernel = object->kernels; kernel; kernel = kernel->next) {
        kernel_data_t kernel_data = kernel->data;
        host_function_data_t host_data;
        tell(ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER, &kernel_data, data);
        if (load && host_data_of(kernel, &host_data))
            tell(ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER, &host_data, data);
    }
}

static void report_load(int32_t operation, void *payload, void *data)
{
    (void)data;
    report(operation, ROCPROFILER_CALLBACK_PHASE_LOAD, payload);
}

static void report_unload(int32_t operation, void *payload, void *data)
{
    (void)data;
    report(operation, ROCPROFILER_CALLBACK_PHASE_UNLOAD, payload);
}

/* The code object before its kernels on loading, after them on unloading. */
static void object_report_load(const struct object *object)
{
    object_data_t object_data = object->data;
    report_load(ROCPROFILER_CODE_OBJECT_LOAD, &object_data, NULL);
    kernels_tell(object, true, report_load, NULL);
}

static void object_report_unload(const struct object *object)
{
    object_data_t object_data = object->data;
    kernels_tell(object, false, report_unload, NULL);
    report_unload(ROCPROFILER_CODE_OBJECT_LOAD, &object_data, NULL);
}

static void objects_list(struct freeze *freeze, bool tell)
{
    while (freeze->loaded) {
        struct object *object = freeze->loaded;
        freeze->loaded = object->next;
        if (tell)
            object_report_load(object);
        pthread_mutex_lock(&lock);
        object->next = objects;
        objects = object;
        pthread_mutex_unlock(&lock);
    }
}

hsa_status_t service_hsa_executable_freeze(struct hsa_instance *runtime,
                                           hsa_executable_t executable, const char *options)
{
    struct freeze freeze = {.runtime = runtime};
    hsa_status_t status = runtime->real.hsa_executable_freeze(executable, options);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    loader_of(runtime)->hsa_ven_amd_loader_executable_iterate_loaded_code_objects(
        executable, object_visit, &freeze);
    objects_list(&freeze, true);
    return status;
}

/* The runtime's loader is locked during the visit: its objects are looked at afterwards. */
enum { EXECUTABLES_MAX = 4096 };
struct executables {
    uint32_t count;
    hsa_executable_t found[EXECUTABLES_MAX];
};

static hsa_status_t executable_visit(hsa_executable_t executable, void *data)
{
    struct executables *all = data;
    if (all->count < EXECUTABLES_MAX)
        all->found[all->count++] = executable;
    return HSA_STATUS_SUCCESS;
}

static bool is_frozen(const struct hsa_calls *real, hsa_executable_t executable)
{
    hsa_executable_state_t state = HSA_EXECUTABLE_STATE_UNFROZEN;
    return real->hsa_executable_get_info != NULL &&
           real->hsa_executable_get_info(executable, HSA_EXECUTABLE_INFO_STATE, &state) ==
               HSA_STATUS_SUCCESS &&
           state == HSA_EXECUTABLE_STATE_FROZEN;
}

/* Takes in what was loaded before our wrappers were there. Nobody is told yet: see
 * objects_announce. */
static void objects_catch_up(struct hsa_instance *runtime)
{
    const hsa_ven_amd_loader_1_03_pfn_t *loader = loader_of(runtime);
    struct executables *all = calloc(1, sizeof *all);
    if (all && loader->hsa_ven_amd_loader_iterate_executables)
        loader->hsa_ven_amd_loader_iterate_executables(executable_visit, all);
    for (uint32_t i = 0; all && i < all->count; i++) {
        struct freeze freeze = {.runtime = runtime};
        if (!is_frozen(&runtime->real, all->found[i]))
            continue;
        loader->hsa_ven_amd_loader_executable_iterate_loaded_code_objects(all->found[i],
                                                                          object_visit, &freeze);
        objects_list(&freeze, false);
        if (replay_is_watched())
            replay_memory_unknown(); /* the device was in use before we came */
    }
    if (all && all->count == EXECUTABLES_MAX)
        log_warning("intercept", "more than %d executables are loaded: later ones are not known",
                    EXECUTABLES_MAX);
    free(all);
}

/* Takes one object out of the list: of one executable, or any when `executable` is NULL. */
static struct object *object_unlist(const hsa_executable_t *executable)
{
    struct object *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct object **link = &objects; *link; link = &(*link)->next) {
        if (!executable || (*link)->executable.handle == executable->handle) {
            found = *link;
            *link = found->next;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Keeps what tools may still point to. */
static void object_retire(struct object *object)
{
    pthread_mutex_lock(&lock);
    object->next = retired;
    retired = object;
    pthread_mutex_unlock(&lock);
}

static void objects_report_unload(const hsa_executable_t *executable)
{
    for (struct object *object; (object = object_unlist(executable));) {
        object_report_unload(object);
        object_retire(object);
    }
}

/* One that was reported and whose memory was not given back yet, once; NULL: there is none. */
static struct object *object_with_memory(hsa_executable_t executable)
{
    pthread_mutex_lock(&lock);
    struct object *object = retired;
    while (object && !(object->has_memory && object->executable.handle == executable.handle))
        object = object->next;
    if (object)
        object->has_memory = false;
    pthread_mutex_unlock(&lock);
    return object;
}

static void objects_unload(hsa_executable_t executable)
{
    objects_report_unload(&executable);
    for (struct object *object; (object = object_with_memory(executable));)
        replay_regions_unloaded(object->data.load_base, object->data.load_size);
}

/* They are reported, and keep their memory: it may be being copied by a thread that the signal
 * which ends the process has interrupted. */
void objects_unload_all(void)
{
    objects_report_unload(NULL);
}

static size_t objects_copy(struct object **to, size_t room)
{
    size_t count = 0;
    pthread_mutex_lock(&lock);
    for (struct object *object = objects; object; object = object->next) {
        if (count < room)
            to[count] = object;
        count++;
    }
    pthread_mutex_unlock(&lock);
    return count;
}

/* Objects are never freed; the list was made by putting new ones in front. */
void objects_announce(tell_fn tell, void *data)
{
    size_t room = objects_copy(NULL, 0);
    struct object **all = calloc(room ? room : 1, sizeof *all);
    size_t count = all ? objects_copy(all, room) : 0;
    for (size_t i = count < room ? count : room; i > 0; i--) {
        object_data_t object_data = all[i - 1]->data;
        tell(ROCPROFILER_CODE_OBJECT_LOAD, &object_data, data);
        kernels_tell(all[i - 1], true, tell, data);
    }
    free(all);
}

hsa_status_t service_hsa_executable_destroy(struct hsa_instance *runtime,
                                            hsa_executable_t executable)
{
    objects_unload(executable);
    return runtime->real.hsa_executable_destroy(executable);
}

static const enum hsa_function functions[] = {
    HSA_FN_hsa_executable_freeze,
    HSA_FN_hsa_executable_destroy,
};

const struct hsa_service hsa_service_objects = {
    .name = "code objects",
    .wanted = objects_wanted,
    .start = objects_start,
    .wrappers_are_in = objects_catch_up,
    .needs_agents = true,
    .functions = functions,
    .function_count = sizeof functions / sizeof functions[0],
};
