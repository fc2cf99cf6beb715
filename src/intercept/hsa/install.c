#include "intercept/hsa/install.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/code_table.h"
#include "base/log.h"
#include "intercept/hsa/agents.h"
#include "intercept/hsa/completion.h"
#include "intercept/hsa/copies.h"
#include "intercept/hsa/objects.h"
#include "intercept/hsa/scratch.h"
#include "intercept/hsa/wrappers.h"
#include "intercept/kfd/smi.h"
#include "model/trace.h"

struct hsa_runtime hsa_real;
struct hsa_runtime hsa_next;

/* Offsets let one loop fill the typed structures. */
static const uint16_t runtime_offset[HSA_FN_COUNT] = {
#define X(name, ...) [HSA_FN_##name] = offsetof(struct hsa_runtime, name),
    HSA_FUNCTIONS(X)
#undef X
};

static void pointer_set(struct hsa_runtime *runtime, enum hsa_function function, void *pointer)
{
    memcpy((char *)runtime + runtime_offset[function], &pointer, sizeof pointer);
}

static void *pointer_get(const struct hsa_runtime *runtime, enum hsa_function function)
{
    void *pointer;

    memcpy(&pointer, (const char *)runtime + runtime_offset[function], sizeof pointer);
    return pointer;
}

static void real_functions_read(const struct hsa_tables *tables)
{
    for (int i = 0; i < HSA_FN_COUNT; i++) {
        void **slot = hsa_tables_slot(tables, (enum hsa_function)i);
        pointer_set(&hsa_real, (enum hsa_function)i, slot ? *slot : NULL);
    }
    hsa_next = hsa_real;
}

static const struct hsa_api_wrappers *const api_tables[] = {
    &hsa_wrappers_core,
    &hsa_wrappers_amd_ext,
    &hsa_wrappers_image_ext,
    &hsa_wrappers_finalize_ext,
};

static const struct hsa_service *const services[] = {
    &hsa_service_lifecycle, &hsa_service_queues,  &hsa_service_copies,
    &hsa_service_memory,    &hsa_service_objects,
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A later round finds our outer wrapper there, which calls hsa_next, or another tool's on top of
 * it: both stay. Calls may be under way on other threads: who finds the wrapper (the runtime reads
 * the slot as it is) finds hsa_next and hsa_real, too, so the store is a release. */
static bool slot_wrap(const struct hsa_tables *tables, enum hsa_function function, void *wrapper)
{
    void **slot = hsa_tables_slot(tables, function);

    if (slot == NULL || *slot == NULL)
        return false;
    if (*slot == pointer_get(&hsa_real, function) || *slot == pointer_get(&hsa_next, function))
        __atomic_store_n(slot, wrapper, __ATOMIC_RELEASE);
    return true;
}

/* Of the table installed last; under `installing`. */
static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;
static struct hsa_tables installed;
static bool is_installed, service_installed[COUNT(services)];

static uint32_t service_install(const struct hsa_tables *tables, size_t which)
{
    const struct hsa_service *service = services[which];
    uint32_t wrapped = 0;

    if (service_installed[which] || !service->wanted())
        return 0;
    service_installed[which] = true;
    if (service->start != NULL && !service->start()) {
        log_warning("intercept", "%s cannot be traced under this HSA runtime", service->name);
        return 0;
    }
    for (uint32_t i = 0; i < service->wrapper_count; i++) {
        const struct hsa_wrapper *wrapper = &service->wrappers[i];
        if (!slot_wrap(tables, wrapper->function, wrapper->wrapper))
            continue;
        pointer_set(&hsa_next, wrapper->function, wrapper->wrapper);
        wrapped++;
    }
    if (service->wrappers_are_in != NULL)
        service->wrappers_are_in();
    return wrapped;
}

/* After the services, so that a traced call is outermost. */
static uint32_t api_install(const struct hsa_tables *tables)
{
    uint32_t wrapped = 0;

    for (size_t t = 0; t < COUNT(api_tables); t++) {
        const struct hsa_api_wrappers *table = api_tables[t];
        for (uint32_t i = 0; i < table->count; i++) {
            enum hsa_function function = (enum hsa_function)(table->first + i);
            if (trace_is_configured(table->domain, (int32_t)i) &&
                pointer_get(&hsa_next, function) != NULL)
                wrapped += slot_wrap(tables, function, code_table_at(table->wrappers, i));
        }
    }
    return wrapped;
}

/* What our own code calls everywhere; every runtime since ROCm 4 has them. */
#define NEEDED(X)                                                                                  \
    X(hsa_agent_get_info)                                                                          \
    X(hsa_iterate_agents)                                                                          \
    X(hsa_system_get_info)                                                                         \
    X(hsa_signal_create)                                                                           \
    X(hsa_signal_destroy)                                                                          \
    X(hsa_signal_subtract_screlease)                                                               \
    X(hsa_executable_freeze)                                                                       \
    X(hsa_executable_destroy)                                                                      \
    X(hsa_shut_down)                                                                               \
    X(hsa_amd_agent_iterate_memory_pools)                                                          \
    X(hsa_amd_memory_pool_allocate)

static const struct {
    enum hsa_function function;
    const char *name;
} needed[] = {
#define X(name) {HSA_FN_##name, #name},
    NEEDED(X)
#undef X
};

static bool needed_present(void)
{
    for (size_t i = 0; i < COUNT(needed); i++) {
        if (pointer_get(&hsa_real, needed[i].function) == NULL) {
            log_error("intercept", "the HSA runtime's table has no %s: HSA is not traced",
                      needed[i].name);
            return false;
        }
    }
    return true;
}

static void work_drain(void)
{
    /* A kernel that never ends must not keep the program from ending. */
    enum { STALL_NS = 2000000000 };

    if (!completion_drain(STALL_NS))
        log_warning("intercept", "device work was still running at the end and is not reported");
    copies_release();
    intercept_kfd_drain();
}

static bool work_wait(void)
{
    enum { STALL_NS = 2000000000 };

    bool complete = completion_drain(STALL_NS);
    intercept_kfd_drain();
    return complete;
}

static void work_collect(void)
{
    /* Long enough for a loaded machine; a callback of a tool may wait for who asked us. */
    enum { STALL_NS = 1000000000 };

    completion_harvest(STALL_NS);
    intercept_kfd_drain();
}

static const struct trace_runtime_ops runtime_ops = {
    .name = "hsa",
    .work_collect = work_collect,
    .work_wait = work_wait,
    .work_drain = work_drain,
    .objects_unload = objects_unload_all,
    .objects_announce = objects_announce,
};

/* The table that has our wrappers. Its shut-down function always has one: a runtime that was
   started anew has put its own back. */
static void *installed_table;

static bool table_is_free(const struct hsa_tables *tables)
{
    void **slot = hsa_tables_slot(tables, HSA_FN_hsa_shut_down);
    void *real = pointer_get(&hsa_real, HSA_FN_hsa_shut_down);

    return installed_table == NULL || (slot != NULL && *slot == real);
}

static uint32_t wrappers_install(const struct hsa_tables *tables)
{
    uint32_t wrapped = 0;

    for (size_t i = 0; i < COUNT(services); i++)
        wrapped += service_install(tables, i);
    return wrapped + api_install(tables);
}

void intercept_hsa_refresh(void)
{
    pthread_mutex_lock(&installing);
    if (is_installed)
        wrappers_install(&installed);
    pthread_mutex_unlock(&installing);
}

void intercept_hsa_forget(void)
{
    pthread_mutex_lock(&installing);
    is_installed = false;
    pthread_mutex_unlock(&installing);
}

static uint32_t first_install(const struct hsa_tables *tables)
{
    pthread_mutex_lock(&installing);
    memset(service_installed, 0, sizeof service_installed);
    installed = *tables;
    is_installed = true;
    uint32_t wrapped = wrappers_install(tables);
    pthread_mutex_unlock(&installing);
    return wrapped;
}

bool intercept_hsa_install(void *api_table, uint64_t runtime_version)
{
    struct hsa_tables tables;

    if (!hsa_tables_read(&tables, api_table)) {
        log_error("intercept", "unknown HSA API table (%p): HSA is not traced", api_table);
        return false;
    }
    if (!table_is_free(&tables)) {
        if (api_table != installed_table)
            log_warning("intercept", "a second HSA runtime in this process is not traced");
        return api_table == installed_table;
    }
    real_functions_read(&tables);
    if (!needed_present() || !agents_read())
        return false;
    uint32_t wrapped = first_install(&tables);
    installed_table = api_table;
    wrapped += scratch_install(api_table);
    intercept_kfd_start();
    trace_runtime_register(&runtime_ops);
    log_info("intercept",
             "HSA runtime %llu, core table %u.%u, AMD table %u.%u: %u functions wrapped",
             (unsigned long long)runtime_version, tables.table[HSA_TABLE_CORE].major,
             tables.table[HSA_TABLE_CORE].step, tables.table[HSA_TABLE_AMD_EXT].major,
             tables.table[HSA_TABLE_AMD_EXT].step, wrapped);
    return true;
}
