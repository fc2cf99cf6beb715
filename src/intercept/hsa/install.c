#include "intercept/hsa/install.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/code_table.h"
#include "base/fork_lock.h"
#include "base/log.h"
#include "intercept/hsa/agents.h"
#include "intercept/hsa/lifecycle.h"
#include "intercept/hsa/objects.h"
#include "intercept/hsa/scratch.h"
#include "intercept/hsa/wrappers.h"
#include "intercept/kfd/smi.h"
#include "model/trace.h"

/* Offsets let one loop fill the typed structures. */
static const uint16_t call_offset[HSA_FN_COUNT] = {
#define X(name, ...) [HSA_FN_##name] = offsetof(struct hsa_calls, name),
    HSA_FUNCTIONS(X)
#undef X
};

static void pointer_set(struct hsa_calls *calls, enum hsa_function function, void *pointer)
{
    memcpy((char *)calls + call_offset[function], &pointer, sizeof pointer);
}

static void *pointer_get(const struct hsa_calls *calls, enum hsa_function function)
{
    void *pointer;
    memcpy(&pointer, (const char *)calls + call_offset[function], sizeof pointer);
    return pointer;
}

static void real_functions_read(struct hsa_instance *runtime)
{
    for (int i = 0; i < HSA_FN_COUNT; i++) {
        void **slot = hsa_tables_slot(&runtime->tables, (enum hsa_function)i);
        pointer_set(&runtime->real, (enum hsa_function)i, slot ? *slot : NULL);
    }
    runtime->next = runtime->real;
}

static const struct hsa_api_wrappers *const api_tables[] = {
    &hsa_wrappers_core,
    &hsa_wrappers_amd_ext,
    &hsa_wrappers_image_ext,
    &hsa_wrappers_finalize_ext,
};

static const struct hsa_service *const services[] = {
    &hsa_service_lifecycle, &hsa_service_queues, &hsa_service_copies,
    &hsa_service_replay,    &hsa_service_memory, &hsa_service_objects,
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A later round finds our outer wrapper there, which calls `next`, or another tool's on top of it:
 * both stay. Calls may be under way on other threads: who finds the wrapper (the runtime reads the
 * slot as it is) finds `next` and `real`, too, so the store is a release. */
static bool slot_wrap(struct hsa_instance *runtime, enum hsa_function function, void *wrapper)
{
    void **slot = hsa_tables_slot(&runtime->tables, function);
    if (!slot || !*slot)
        return false;
    if (*slot == pointer_get(&runtime->real, function) ||
        *slot == pointer_get(&runtime->next, function))
        __atomic_store_n(slot, wrapper, __ATOMIC_RELEASE);
    return true;
}

/* Guards which place is whose, and the stores into tables. A leaf: nothing is called under it. */
static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(installing_kept, installing)

/* Services that a runtime without known agents cannot have, for one message. */
struct refusal {
    char names[200];
};

static bool service_is_possible(const struct hsa_instance *runtime,
                                const struct hsa_service *service, struct refusal *refusal)
{
    size_t length = strlen(refusal->names);
    if (!service->needs_agents || runtime->agents.count > 0)
        return true;
    snprintf(refusal->names + length, sizeof refusal->names - length, "%s%s", length ? ", " : "",
             service->name);
    return false;
}

/* Services are the parts of an instance (runtime/places.h), in the order of their list. */
static uint32_t services_wanted(void)
{
    uint32_t wanted = 0;
    for (size_t i = 0; i < COUNT(services); i++)
        wanted |= services[i]->wanted() ? 1u << i : 0;
    return wanted;
}

/* What they know of the runtime beforehand, which is asked for it. Returns those that can be. */
static uint32_t services_start(struct hsa_instance *runtime, uint32_t parts,
                               struct refusal *refusal)
{
    for (size_t i = 0; i < COUNT(services); i++) {
        const struct hsa_service *service = services[i];
        if (!(parts >> i & 1))
            continue;
        if (!service_is_possible(runtime, service, refusal)) {
            parts &= ~(1u << i);
        } else if (service->start && !service->start(runtime)) {
            log_warning("intercept", "%s cannot be traced under this HSA runtime", service->name);
            parts &= ~(1u << i);
        }
    }
    return parts;
}

static uint32_t service_wrap(struct hsa_instance *runtime, const struct hsa_service *service)
{
    uint32_t wrapped = 0;
    for (uint32_t i = 0; i < service->function_count; i++) {
        enum hsa_function function = service->functions[i];
        void *entry = hsa_service_entry(function, hsa_instance_index(runtime));
        if (!slot_wrap(runtime, function, entry))
            continue;
        pointer_set(&runtime->next, function, entry);
        wrapped++;
    }
    return wrapped;
}

static void services_look_back(struct hsa_instance *runtime, uint32_t parts)
{
    for (size_t i = 0; i < COUNT(services); i++)
        if (parts >> i & 1 && services[i]->wrappers_are_in)
            services[i]->wrappers_are_in(runtime);
}

/* Those that were there before may be wanted for more now. */
static void services_renew(struct hsa_instance *runtime, uint32_t parts)
{
    for (size_t i = 0; i < COUNT(services); i++)
        if (parts >> i & 1 && services[i]->renew)
            services[i]->renew(runtime);
}

/* After the services, so that a traced call is outermost. */
static uint32_t api_install(struct hsa_instance *runtime)
{
    uint32_t wrapped = 0, instance = hsa_instance_index(runtime);
    for (size_t t = 0; t < COUNT(api_tables); t++) {
        const struct hsa_api_wrappers *table = api_tables[t];
        for (uint32_t i = 0; i < table->count; i++) {
            enum hsa_function function = (enum hsa_function)(table->first + i);
            if (trace_is_configured(table->domain, (int32_t)i) &&
                pointer_get(&runtime->next, function))
                wrapped +=
                    slot_wrap(runtime, function,
                              code_table_at(table->wrappers, i * HSA_INSTANCES_MAX + instance));
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

static bool needed_present(const struct hsa_tables *tables)
{
    for (size_t i = 0; i < COUNT(needed); i++) {
        void **slot = hsa_tables_slot(tables, needed[i].function);
        if (!slot || !*slot) {
            log_error("intercept", "the HSA runtime's table has no %s: HSA is not traced",
                      needed[i].name);
            return false;
        }
    }
    return true;
}

static void *shut_down_now(const struct hsa_tables *tables)
{
    void **slot = hsa_tables_slot(tables, HSA_FN_hsa_shut_down);
    return slot ? __atomic_load_n(slot, __ATOMIC_RELAXED) : NULL;
}

/* Has our wrappers. The shut-down function always has one: a runtime that was started anew has put
 * its own back. While the runtime lives, what is neither is another tool's, around ours. */
static bool table_is_wrapped(const struct hsa_instance *runtime, const struct hsa_tables *tables)
{
    void *now = shut_down_now(tables);
    bool ours = now == hsa_service_entry(HSA_FN_hsa_shut_down, hsa_instance_index(runtime));
    return ours || (hsa_instance_lives(runtime) &&
                    now != pointer_get(&runtime->real, HSA_FN_hsa_shut_down));
}

static uint32_t tables_wrap(struct hsa_instance *runtime, uint32_t parts)
{
    uint32_t wrapped = 0;
    pthread_mutex_lock(&installing);
    for (size_t i = 0; i < COUNT(services); i++)
        if (parts >> i & 1)
            wrapped += service_wrap(runtime, services[i]);
    wrapped += api_install(runtime);
    pthread_mutex_unlock(&installing);
    return wrapped;
}

/* Several threads may want something: each puts in what nobody has begun, and waits for what others
 * have. The runtime is asked with no lock held. */
static uint32_t wrappers_install(struct hsa_instance *runtime)
{
    struct runtime_place *place = atomic_load_explicit(&runtime->place, memory_order_acquire);
    struct refusal refusal = {""};
    uint32_t wanted = services_wanted(), mine = runtime_parts_begin(place, wanted);
    uint32_t started = services_start(runtime, mine, &refusal);
    uint32_t wrapped = tables_wrap(runtime, started);
    services_look_back(runtime, started);
    runtime_parts_end(place, mine);
    runtime_parts_wait(place, wanted);
    services_renew(runtime, wanted & ~mine);
    if (refusal.names[0] != '\0')
        log_warning("intercept",
                    "the HSA runtime shows no agent that the topology knows (is there a /sys of "
                    "the kernel driver's here?): not traced: %s",
                    refusal.names);
    return wrapped;
}

void intercept_hsa_refresh(void)
{
    for (uint32_t i = 0; i < HSA_INSTANCES_MAX; i++)
        if (hsa_instance_lives(&hsa_instances[i]))
            wrappers_install(&hsa_instances[i]);
}

static struct hsa_instance *instance_take(void *api_table, struct runtime_place *place)
{
    pthread_mutex_lock(&installing);
    struct hsa_instance *runtime = hsa_instance_of_table(api_table);
    if (runtime) {
        atomic_store_explicit(&runtime->place, place, memory_order_release);
        atomic_store_explicit(&runtime->api_table, api_table, memory_order_release);
    }
    pthread_mutex_unlock(&installing);
    return runtime;
}

static void too_many_tell(void)
{
    /* Writers: any (relaxed: it stands for nothing else). */
    static _Atomic bool told; /* writers: any (exchange); only the first one tells */
    if (!atomic_exchange_explicit(&told, true, memory_order_relaxed))
        log_warning("intercept", "more than %d HSA runtimes in this process: one is not traced",
                    HSA_INSTANCES_MAX);
}

/* The table comes for the first time, or its runtime has started anew. False: it has gone already.
 */
static bool table_take_over(struct hsa_instance *runtime, const struct hsa_tables *tables)
{
    runtime->tables = *tables;
    if (!table_is_wrapped(runtime, tables))
        real_functions_read(runtime);
    agents_read(runtime);
    return runtime_place_install(atomic_load_explicit(&runtime->place, memory_order_acquire));
}

bool hsa_install(void *api_table, uint64_t runtime_version)
{
    struct hsa_tables tables;
    if (!hsa_tables_read(&tables, api_table)) {
        log_error("intercept", "unknown HSA API table (%p): HSA is not traced", api_table);
        return false;
    }
    if (!needed_present(&tables))
        return false;
    struct runtime_place *place = runtime_place_hold(RUNTIME_HSA, api_table);
    struct hsa_instance *runtime = place ? instance_take(api_table, place) : NULL;
    if (!runtime) {
        if (place)
            too_many_tell();
        return false;
    }
    if (hsa_instance_lives(runtime) && table_is_wrapped(runtime, &tables))
        return true;
    if (!table_take_over(runtime, &tables))
        return false;
    uint32_t wrapped = wrappers_install(runtime);
    wrapped += scratch_install(runtime, api_table);
    intercept_kfd_start();
    log_info("intercept",
             "HSA runtime %llu, core table %u.%u, AMD table %u.%u: %u functions wrapped",
             (unsigned long long)runtime_version, tables.table[HSA_TABLE_CORE].major,
             tables.table[HSA_TABLE_CORE].step, tables.table[HSA_TABLE_AMD_EXT].major,
             tables.table[HSA_TABLE_AMD_EXT].step, wrapped);
    return true;
}

bool intercept_hsa_serves_devices(const void *api_table)
{
    const struct hsa_instance *primary = hsa_instance_primary();
    return hsa_instance_lives(primary) && primary->agents.count > 0 &&
           (!api_table ||
            atomic_load_explicit(&primary->api_table, memory_order_acquire) == api_table);
}

static bool library_is_of(const struct hsa_instance *runtime, const void *caller)
{
    Dl_info caller_info, own_info;
    void *own = pointer_get(&runtime->real, HSA_FN_hsa_shut_down);
    return own && dladdr(caller, &caller_info) != 0 && dladdr(own, &own_info) != 0 &&
           caller_info.dli_fbase == own_info.dli_fbase;
}

/* Who has left may say so twice, once for each of our libraries in its list of tools. */
void *intercept_hsa_leaving(const void *caller)
{
    struct hsa_instance *found = lifecycle_leaving();
    for (uint32_t i = 0; i < HSA_INSTANCES_MAX && !found; i++)
        if (library_is_of(&hsa_instances[i], caller))
            found = &hsa_instances[i];
    if (!found)
        found = hsa_instance_alone();
    return found ? atomic_load_explicit(&found->api_table, memory_order_acquire) : NULL;
}
