#include "runtime/watchers.h"

#include "base/callback.h"

#include <stdatomic.h>

enum { WATCHERS_MAX = 64 };
static struct {
    rocprofiler_intercept_library_cb_t callback;
    int tables;
    void *data;
} watchers[WATCHERS_MAX];

/* Writers: watcher_add, under runtime_lock (release, after the row). Readers: any (acquire). */
static _Atomic uint32_t watcher_count;

bool watcher_add(rocprofiler_intercept_library_cb_t callback, int tables, void *data)
{
    pthread_mutex_lock(&runtime_lock);
    uint32_t count = atomic_load_explicit(&watcher_count, memory_order_relaxed);
    bool room = count < WATCHERS_MAX;
    if (room) {
        watchers[count].callback = callback;
        watchers[count].tables = tables;
        watchers[count].data = data;
        atomic_store_explicit(&watcher_count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&runtime_lock);
    return room;
}

static void watcher_tell(uint32_t i, struct runtime_instance *instance, uint32_t table)
{
    rocprofiler_intercept_table_t kind = instance->row->tables[table];
    if (watchers[i].tables == 0 || (watchers[i].tables & (int)kind))
        CALLBACK(watchers[i].callback(kind, instance->version, instance->number,
                                      &instance->tables[table], 1, watchers[i].data));
}

void watchers_tell(struct runtime_instance *instance)
{
    uint32_t count = atomic_load_explicit(&watcher_count, memory_order_acquire);
    uint32_t first = runtime_watchers_tell(instance, count);
    for (uint32_t table = 0; table < instance->row->table_count; table++)
        for (uint32_t i = first; i < count; i++)
            watcher_tell(i, instance, table);
}
