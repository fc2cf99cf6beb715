#include "intercept/table/table.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/fork_lock.h"
#include "base/log.h"

enum { TABLE_BYTES_MAX = 1 << 16 };

/* Guards every `next` and `tables`. A leaf; runtimes start from any thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(lock_kept, lock)

static uint32_t slots_of(void *table)
{
    if (!table || (uintptr_t)table % sizeof(void *) != 0)
        return 0;
    uint64_t size_bytes = *(const uint64_t *)table;
    return size_bytes < sizeof size_bytes || size_bytes > TABLE_BYTES_MAX
               ? 0
               : (uint32_t)((size_bytes - sizeof size_bytes) / sizeof(void *));
}

/* Its number, a new one for a new table; -1: no room. */
static int copy_find(const struct table_wrappers *wrappers, const void *table)
{
    for (int i = 0; i < TABLE_COPIES_MAX; i++)
        if (wrappers->tables[i] == table || !wrappers->tables[i])
            return i;
    return -1;
}

/* What stands in the slot may be our wrapper still, or somebody's who calls ours: wrapping it again
 * would make our wrapper call itself. */
static bool slot_wants_wrapper(void *now, void *wrapper, void *next, bool known_table)
{
    return now != NULL && now != wrapper && (!known_table || !next || now == next);
}

static bool is_configured(const struct table_wrappers *wrappers, int32_t operation)
{
    return trace_is_configured(wrappers->domain, operation) ||
           (wrappers->also_configured != NULL && wrappers->also_configured(operation));
}

static int slots_wrap(const struct table_wrappers *wrappers, void *table, int copy)
{
    void **slots = (void **)table + 1;
    uint32_t slot_count = slots_of(table);
    bool known = wrappers->tables[copy] != NULL;
    int wrapped = 0;
    wrappers->tables[copy] = table;
    for (uint32_t i = 0; i < wrappers->function_count; i++) {
        const struct table_function *function = &wrappers->functions[i];
        void **next = &wrappers->next[i * TABLE_COPIES_MAX + (uint32_t)copy];
        void *wrapper = wrappers->wrapper(i, copy);
        if (function->slot >= slot_count ||
            !slot_wants_wrapper(slots[function->slot], wrapper, *next, known) ||
            !is_configured(wrappers, function->operation))
            continue;
        *next = slots[function->slot];
        /* Readers: the library's entry functions, any thread; they call through the pointer, which
           orders their load of `next`. */
        __atomic_store_n(&slots[function->slot], wrapper, __ATOMIC_RELEASE);
        wrapped++;
    }
    return wrapped;
}

int table_wrap(const struct table_wrappers *wrappers, void *table)
{
    if (slots_of(table) == 0) {
        log_error("intercept", "%s: not an API table (%p): it is not traced", wrappers->name,
                  table);
        return -1;
    }
    pthread_mutex_lock(&lock);
    int copy = copy_find(wrappers, table);
    int wrapped = copy < 0 ? -1 : slots_wrap(wrappers, table, copy);
    pthread_mutex_unlock(&lock);
    if (wrapped < 0)
        log_warning("intercept", "%s: more than %d copies in the process: this one is not traced",
                    wrappers->name, TABLE_COPIES_MAX);
    return wrapped;
}
