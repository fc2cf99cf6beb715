#include "plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/wait.h"

static struct {
    /* Of the calls and of the rest. Error-checking: a plugin that ends the process, or calls what
     * is traced, does so inside of one of its functions. */
    pthread_mutex_t lock;
    bool is_open;
    uint64_t failures;
    int (*initialize)(uint32_t major, uint32_t minor);
    void (*finalize)(void);
    int (*write_callback)(const roctracer_record_t *record, const void *data);
    int (*write_activity)(const roctracer_record_t *begin, const roctracer_record_t *end);
} plugin = {.lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP};

/* How many forks want the lock. Writers: they, up before they take it and down after; a forked
 * child. Readers: threads that write. Relaxed: one that is missed waits once more. */
static _Atomic unsigned forks_waiting;
static __thread bool fork_has_lock __attribute__((tls_model("initial-exec")));

static void *open_in(const char *folder, size_t length, const char *name)
{
    char path[PATH_MAX];
    int size = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name);
    if (size < 0 || (size_t)size >= sizeof path || access(path, F_OK) != 0)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_beside_us(const char *name)
{
    Dl_info us;
    if (!dladdr(&plugin, &us) || !us.dli_fname)
        return NULL;
    const char *end = strrchr(us.dli_fname, '/');
    return end ? open_in(us.dli_fname, (size_t)(end - us.dli_fname), name) : NULL;
}

static void *library_open(const char *name, const char *folders)
{
    void *library = NULL;
    dlerror();
    if (!strchr(name, '/')) {
        library = open_beside_us(name);
        while (!library && folders && *folders) {
            size_t length = strcspn(folders, ":");
            library = open_in(folders, length, name);
            folders += length + (folders[length] == ':');
        }
    }
    return library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static bool functions_find(void *library, const char *name)
{
    const struct {
        const char *name;
        void *function;
    } functions[] = {
        {"roctracer_plugin_initialize", &plugin.initialize},
        {"roctracer_plugin_finalize", &plugin.finalize},
        {"roctracer_plugin_write_callback_record", &plugin.write_callback},
        {"roctracer_plugin_write_activity_records", &plugin.write_activity},
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);
        if (!function) {
            log_warning("roctracer", "plugin %s has no %s: nothing is traced", name,
                        functions[i].name);
            return false;
        }
        memcpy(functions[i].function, &function, sizeof function);
    }
    return true;
}

bool plugin_open(const char *name, const char *folders)
{
    void *library = library_open(name, folders);
    if (!library) {
        const char *reason = dlerror();
        log_warning("roctracer", "plugin %s: %s: nothing is traced", name,
                    reason ? reason : "not found");
        return false;
    }
    if (!functions_find(library, name)) {
        dlclose(library);
        return false;
    }
    if (plugin.initialize(ROCTRACER_VERSION_MAJOR, ROCTRACER_VERSION_MINOR) != 0) {
        log_warning("roctracer", "plugin %s refuses to start for version %d.%d: nothing is traced",
                    name, ROCTRACER_VERSION_MAJOR, ROCTRACER_VERSION_MINOR);
        dlclose(library);
        return false;
    }
    plugin.is_open = true;
    return true;
}

static void result_note(int status)
{
    if (status != 0 && plugin.failures++ == 0)
        log_warning("roctracer", "the plugin could not write: the trace is not complete");
}

static bool no_fork_waits(void *unused)
{
    (void)unused;
    return atomic_load_explicit(&forks_waiting, memory_order_relaxed) == 0;
}

/* A writer with many records would take the lock again before a fork has it. */
static bool write_begin(void)
{
    wait_until(no_fork_waits, NULL, WAIT_FOREVER, 50 * WAIT_NS_PER_US);
    return pthread_mutex_lock(&plugin.lock) == 0;
}

void plugin_fork_prepare(void)
{
    atomic_fetch_add_explicit(&forks_waiting, 1, memory_order_relaxed);
    int status = pthread_mutex_lock(&plugin.lock); /* not when the plugin itself forks */
    atomic_fetch_sub_explicit(&forks_waiting, 1, memory_order_relaxed);
    fork_has_lock = status == 0;
}

void plugin_fork_parent(void)
{
    if (fork_has_lock)
        pthread_mutex_unlock(&plugin.lock);
}

void plugin_fork_child(void)
{
    plugin.lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    plugin.is_open = false;
    plugin.failures = 0;
    atomic_store_explicit(&forks_waiting, 0, memory_order_relaxed);
}

void plugin_callback_write(const roctracer_record_t *record, const void *data)
{
    if (!write_begin())
        return;
    if (plugin.is_open)
        result_note(plugin.write_callback(record, data));
    pthread_mutex_unlock(&plugin.lock);
}

void plugin_activity_write(const roctracer_record_t *begin, const roctracer_record_t *end)
{
    if (!write_begin())
        return;
    if (plugin.is_open)
        result_note(plugin.write_activity(begin, end));
    pthread_mutex_unlock(&plugin.lock);
}

void plugin_close(void)
{
    if (pthread_mutex_lock(&plugin.lock) != 0)
        return;
    bool was_open = plugin.is_open;
    plugin.is_open = false;
    if (was_open)
        plugin.finalize();
    if (plugin.failures > 1)
        log_warning("roctracer", "the plugin failed to write %llu times",
                    (unsigned long long)plugin.failures);
    plugin.failures = 0;
    pthread_mutex_unlock(&plugin.lock);
}
