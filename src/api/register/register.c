/*
 * librocprofiler-register: the small library that ROCm 6.2 and later runtimes link. They hand it
 * their API tables; it hands them on to librocprofiler-sdk when a tool is in the process, and
 * otherwise costs a few look-ups at each registration.
 */
#include "register.h"

#include "base/environment.h"
#include "base/fork_lock.h"
#include "base/library.h"
#include "base/log.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTANCES_MAX = 64, REGISTRATIONS_MAX = 512, TABLES_MAX = 64 };

/* Names and the files that may register them (ROCPROFILER_REGISTER_SECURE). */
static const struct library {
    const char *name, *files[2];
} libraries[] = {
    {"hsa", {"libhsa-runtime64.so"}},
    {"hip", {"libamdhip64.so"}},
    {"roctx", {"libroctx64.so", "librocprofiler-sdk-roctx.so"}},
    {"hip_compiler", {"libamdhip64.so"}},
    {"rccl", {"librccl.so"}},
    {"rocdecode", {"librocdecode.so"}},
    {"rocjpeg", {"librocjpeg.so"}},
    {"rocshmem", {"librocshmem.so"}},
    {"hipFile", {"libhipfile.so"}},
};
enum { LIBRARY_COUNT = sizeof libraries / sizeof libraries[0] };

typedef int (*set_api_table_t)(const char *name, uint64_t lib_version, uint64_t lib_instance,
                               void **tables, uint64_t num_tables);

struct registration {
    unsigned library;
    uint32_t version, instance;
    uint64_t table_count;
    void **tables;
    const void *base; /* of the library that has them; NULL: they are in no library's memory */
    /* Given to a profiler, or about to be by the thread that registers it. Others are left over
     * from before there was a tool. */
    bool delivered;
};

/* Guards the list; never held while the profiler runs. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(lock_kept, lock)
static struct registration registrations[REGISTRATIONS_MAX];
static unsigned registration_count, instance_counts[LIBRARY_COUNT];
/* How often somebody has begun to deliver what was left over, and an attached tool. Under the lock,
 * so that a registration is either delivered by who comes, or knows of it. */
static uint64_t deliveries;
static bool tool_is_here;
static __thread bool registering;

bool register_enter(void)
{
    bool entered = !registering;
    registering = true;
    return entered;
}

void register_leave(void)
{
    registering = false;
}

void register_tool_is_here(void)
{
    pthread_mutex_lock(&lock);
    tool_is_here = true;
    pthread_mutex_unlock(&lock);
}

static bool nonempty(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value;
}

static bool enabled(void)
{
    return environment_flag("ROCPROFILER_REGISTER_ENABLED", true);
}

static bool tool_attached(uint64_t *deliveries_now)
{
    pthread_mutex_lock(&lock);
    bool attached = tool_is_here;
    *deliveries_now = deliveries;
    pthread_mutex_unlock(&lock);
    return attached;
}

/* By the environment or by a symbol, which is not asked for under the lock. */
static bool tool_present(void)
{
    return environment_flag("ROCPROFILER_REGISTER_FORCE_LOAD", false) ||
           environment_flag("ROCP_TOOL_ATTACH", false) || nonempty("ROCP_TOOL_LIBRARIES") ||
           nonempty("ROCPROFILER_REGISTER_LIBRARY") || dlsym(RTLD_DEFAULT, "rocprofiler_configure");
}

static const char *profiler_name(void)
{
    const char *wanted = secure_getenv("ROCPROFILER_REGISTER_LIBRARY");
    return wanted && *wanted ? wanted : "librocprofiler-sdk.so";
}

static void *library_open(const char *name)
{
    void *library = dlopen(name, RTLD_NOLOAD | RTLD_LAZY | RTLD_GLOBAL);
    return library ? library : dlopen(name, RTLD_LAZY | RTLD_GLOBAL);
}

/* ROCtracer is no tool of the SDK's and yet wants tables; the libraries that it depends on take
 * them as the profiler does. NULL: it is not in the process, it is another implementation's, or
 * another profiler is asked for. */
static void *tracer_find(void)
{
    void *tracer = nonempty("ROCPROFILER_REGISTER_LIBRARY")
                       ? NULL
                       : dlopen("libroctracer64.so.4", RTLD_NOLOAD | RTLD_LAZY);
    bool ours = tracer && dlsym(tracer, "rocprofiler_set_api_table");
    if (tracer)
        dlclose(tracer); /* the handle stays good: nobody unmaps the library */
    return ours ? tracer : NULL;
}

/* The name is tried as the linker finds it (library path, RPATH), then beside this library. */
static void *profiler_open(void)
{
    const char *name = profiler_name();
    void *library = library_open(name);
    Dl_info self;
    char *path = NULL;
    if (library || strchr(name, '/') || !dladdr((const void *)&profiler_open, &self))
        return library;
    const char *slash = strrchr(self.dli_fname, '/');
    int folder = slash ? (int)(slash - self.dli_fname) : 0;
    if (slash && asprintf(&path, "%.*s/%s", folder, self.dli_fname, name) > 0)
        library = library_open(path);
    free(path);
    return library;
}

void *register_profiler_function(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    void *tracer = function ? NULL : tracer_find();
    if (tracer)
        function = dlsym(tracer, name);
    if (function)
        return function;
    void *library = profiler_open();
    if (!library) {
        log_error("register", "the profiler cannot be loaded: %s", dlerror());
        return NULL;
    }
    function = dlsym(library, name);
    if (!function)
        log_error("register", "%s", dlerror());
    return function;
}

static int library_index(const char *name)
{
    for (unsigned i = 0; name && i < LIBRARY_COUNT; i++)
        if (!strcmp(libraries[i].name, name))
            return (int)i;
    return -1;
}

/* The file may have any version (libamdhip64.so, .so.6, .so.7.0.2 ...) and be in any folder. */
static bool path_is_of(const char *path, const char *file)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(file);
    return !strncmp(name, file, length) && (name[length] == 0 || name[length] == '.');
}

static bool address_is_of(const void *address, const struct library *library)
{
    Dl_info info;
    if (!address || !dladdr(address, &info) || !info.dli_fname)
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (library->files[i] && path_is_of(info.dli_fname, library->files[i]))
            return true;
    return false;
}

/* A library that was shut down and starts again, as ROCr does at each hsa_init, is no further
 * instance. NULL: it is a new one. Under the lock. */
static struct registration *registration_of(const struct registration *wanted)
{
    for (unsigned i = 0; i < registration_count; i++) {
        struct registration *r = &registrations[i];
        if (r->library == wanted->library && r->version == wanted->version &&
            r->table_count == wanted->table_count &&
            !memcmp(r->tables, wanted->tables, r->table_count * sizeof *r->tables))
            return r;
    }
    return NULL;
}

/* Handles are numbered as in AMD's library, eight instances to a library, so the order of
 * `libraries` is fixed (its tests compare: hsa 0, hip 8, roctx 16). AMD's library refuses further
 * instances; here their numbers follow far above. */
static uint64_t handle_of(const struct registration *registration)
{
    uint64_t instance = registration->instance;
    return (instance / 8) << 32 | (registration->library * 8 + instance % 8);
}

/* `deliveries_before`: what the number was before `wanted->delivered` was decided. If a tool has
 * come since, its thread may have been through the list already: the tables are its, too. NULL:
 * nothing is ever delivered. */
static rocprofiler_register_error_code_t
registration_add(struct registration *wanted, const uint64_t *deliveries_before, void **tables,
                 rocprofiler_register_library_indentifier_t *id)
{
    rocprofiler_register_error_code_t status = ROCP_REG_EXCESS_API_INSTANCES;
    void **copy = malloc(wanted->table_count * sizeof *copy);
    if (!copy)
        return ROCP_REG_ROCPROFILER_ERROR;
    memcpy(copy, tables, wanted->table_count * sizeof *copy);
    wanted->tables = copy;
    pthread_mutex_lock(&lock);
    wanted->delivered |= deliveries_before && deliveries != *deliveries_before;
    struct registration *known = registration_of(wanted);
    if (known) {
        wanted->instance = known->instance;
        wanted->tables = known->tables;
        known->delivered = wanted->delivered;
        status = ROCP_REG_SUCCESS;
    } else if (instance_counts[wanted->library] < INSTANCES_MAX &&
               registration_count < REGISTRATIONS_MAX) {
        wanted->instance = instance_counts[wanted->library]++;
        registrations[registration_count++] = *wanted;
        copy = NULL;
        status = ROCP_REG_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    if (status == ROCP_REG_SUCCESS)
        id->handle = handle_of(wanted);
    free(copy);
    return status;
}

static void delivery_note(void)
{
    pthread_mutex_lock(&lock);
    deliveries++;
    pthread_mutex_unlock(&lock);
}

/* The next registration that no profiler was given, in their order; it counts as given now. */
static bool left_over_take(struct registration *taken)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < registration_count && !found; i++) {
        found = !registrations[i].delivered;
        registrations[i].delivered = true;
        *taken = registrations[i];
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Nobody is told of a library that was closed meanwhile: its tables are unmapped. */
static bool deliver(set_api_table_t entry, const struct registration *registration)
{
    if (library_base(registration->tables[0]) != registration->base)
        return true;
    return entry(libraries[registration->library].name, registration->version,
                 registration->instance, registration->tables, registration->table_count) == 0;
}

/* First the tables of runtimes that started before a tool came, then `own`, unless it is NULL.
 * Every thread delivers its own, so that a runtime never goes on before its tables are ready. */
static rocprofiler_register_error_code_t deliver_all(const struct registration *own)
{
    set_api_table_t entry =
        (set_api_table_t)register_profiler_function("rocprofiler_set_api_table");
    struct registration left;
    bool accepted = entry != NULL;
    if (entry)
        delivery_note();
    while (entry && left_over_take(&left))
        accepted &= deliver(entry, &left);
    if (entry && own)
        accepted = deliver(entry, own);
    return accepted ? ROCP_REG_SUCCESS : ROCP_REG_ROCPROFILER_ERROR;
}

rocprofiler_register_error_code_t register_deliver(void)
{
    return deliver_all(NULL);
}

rocprofiler_register_error_code_t rocprofiler_register_library_api_table(
    const char *lib_name, rocprofiler_register_import_func_t import_func, uint32_t lib_version,
    void **api_tables, uint64_t api_table_length,
    rocprofiler_register_library_indentifier_t *register_id)
{
    if (registering)
        return ROCP_REG_DEADLOCK;
    if (api_table_length < 1 || api_table_length > TABLES_MAX || !api_tables)
        return ROCP_REG_BAD_API_TABLE_LENGTH;
    if (!register_id)
        return ROCP_REG_INVALID_API_ADDRESS;
    int library = library_index(lib_name);
    if (library < 0)
        return ROCP_REG_UNSUPPORTED_API;
    if (environment_flag("ROCPROFILER_REGISTER_SECURE", false) &&
        !address_is_of((const void *)import_func, &libraries[library]))
        return ROCP_REG_INVALID_API_ADDRESS;
    uint64_t deliveries_before, deliveries_after;
    bool tool = tool_attached(&deliveries_before) || tool_present(), deliverable = enabled();
    struct registration own = {.library = (unsigned)library,
                               .base = library_base(api_tables[0]),
                               .version = lib_version,
                               .table_count = api_table_length,
                               .delivered = deliverable && (tool || tracer_find())};
    register_listener_start_if_asked();
    rocprofiler_register_error_code_t status =
        registration_add(&own, deliverable ? &deliveries_before : NULL, api_tables, register_id);
    if (status != ROCP_REG_SUCCESS)
        return status;
    if (!own.delivered)
        return ROCP_REG_NO_TOOLS;
    register_enter();
    status = deliver_all(&own);
    register_leave();
    /* ROCr takes success as the order to leave out the tools of HSA_TOOLS_LIB. */
    return tool || tool_attached(&deliveries_after) ? status : ROCP_REG_NO_TOOLS;
}

/* A profiler that gets its first tool after runtimes registered asks for their tables: those that
 * no profiler was given yet, or all. No installed header declares these two. */
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t
rocprofiler_register_invoke_nonpropagated_registrations(void);
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t
rocprofiler_register_invoke_all_registrations(void);

rocprofiler_register_error_code_t rocprofiler_register_invoke_nonpropagated_registrations(void)
{
    if (!register_enter())
        return ROCP_REG_DEADLOCK;
    rocprofiler_register_error_code_t status = deliver_all(NULL);
    register_leave();
    return status;
}

rocprofiler_register_error_code_t rocprofiler_register_invoke_all_registrations(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < registration_count; i++)
        registrations[i].delivered = false;
    pthread_mutex_unlock(&lock);
    return rocprofiler_register_invoke_nonpropagated_registrations();
}

const char *rocprofiler_register_error_string(rocprofiler_register_error_code_t code)
{
    static const char *const texts[] = {
        [ROCP_REG_SUCCESS] = "registered",
        [ROCP_REG_NO_TOOLS] = "no tool wants the tables",
        [ROCP_REG_DEADLOCK] = "called again from inside a registration on the same thread",
        [ROCP_REG_BAD_API_TABLE_LENGTH] = "no API table was given",
        [ROCP_REG_UNSUPPORTED_API] = "the library's name is not known",
        [ROCP_REG_INVALID_API_ADDRESS] = "the caller is not the library it claims to be",
        [ROCP_REG_ROCPROFILER_ERROR] = "the profiler could not be loaded or refused the tables",
        [ROCP_REG_EXCESS_API_INSTANCES] = "too many instances of the library",
        [ROCP_REG_INVALID_ARGUMENT] = "an argument is not valid",
        [ROCP_REG_ATTACHMENT_NOT_AVAILABLE] = "no tool can be attached to this process",
    };
    return (unsigned)code < sizeof texts / sizeof texts[0] ? texts[code] : "unknown error";
}

rocprofiler_register_error_code_t
rocprofiler_register_iterate_registration_info(rocprofiler_register_registration_info_cb_t callback,
                                               void *data)
{
    for (unsigned i = 0; callback; i++) {
        pthread_mutex_lock(&lock);
        struct registration r = registrations[i < REGISTRATIONS_MAX ? i : 0];
        bool more = i < registration_count;
        pthread_mutex_unlock(&lock);
        if (!more)
            break;
        rocprofiler_register_registration_info_t info = {
            .size = sizeof info,
            .common_name = libraries[r.library].name,
            .lib_version = r.version,
            .api_table_length = r.table_count,
        };
        if (callback(&info, data) != 0)
            break;
    }
    return ROCP_REG_SUCCESS;
}
