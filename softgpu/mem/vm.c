#include "mem/vm.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/wait.h"

/* Replaced tables wait for a moment without readers; beyond this the writer waits for one, so
 * that a program mapping thousands of buffers cannot pile up old tables. */
enum { RETIRED_BYTES_MAX = 1 << 20 };

struct vm_table {
    uint64_t generation;
    size_t count;
    struct vm_table *next_retired;
    struct vm_range range[]; /* sorted by start, disjoint */
};

struct vm {
    /* Writers: map and unmap, under `lock`, seq_cst. Readers: find and reader_enter. Pairs with
     * vm_reader.epoch in Dekker's fashion: a writer publishes here and then looks at the epochs,
     * a reader sets its epoch and then loads here, so one of them sees the other. */
    _Atomic(struct vm_table *) table;
    pthread_mutex_t lock; /* all fields below, and writing `table` */
    struct vm_table *retired;
    size_t retired_bytes;
    struct vm_reader *readers;
    uint32_t
        place_next; /* in units of VM_PLACE_BYTES; begins anew after 256 TiB, which is harmless */
    /* Writer: vm_faults_set(), release, behind fault_context; readers: vm_range_find_for(),
     * acquire. */
    _Atomic(vm_fault_fn *) fault;
    void *fault_context;
};

static size_t table_bytes(size_t count)
{
    return sizeof(struct vm_table) + count * sizeof(struct vm_range);
}

static struct vm_table *table_new(size_t count, uint64_t generation)
{
    struct vm_table *table = malloc(table_bytes(count));
    if (!table)
        return NULL;
    table->count = count;
    table->generation = generation;
    table->next_retired = NULL;
    return table;
}

/* Index of the first range that ends above `va`. */
static size_t table_lower(const struct vm_table *table, uint64_t va)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table->range[middle].end <= va)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int vm_create(struct vm **out)
{
    struct vm *vm = calloc(1, sizeof *vm);
    struct vm_table *table = table_new(0, 1);
    if (!vm || !table) {
        free(vm);
        free(table);
        return -ENOMEM;
    }
    pthread_mutex_init(&vm->lock, NULL);
    atomic_init(&vm->table, table);
    *out = vm;
    return 0;
}

static void retired_free(struct vm *vm)
{
    while (vm->retired) {
        struct vm_table *table = vm->retired;
        vm->retired = table->next_retired;
        free(table);
    }
    vm->retired_bytes = 0;
}

void vm_faults_set(struct vm *vm, vm_fault_fn *fault, void *context)
{
    if (fault && vm->fault_context != context)
        vm->fault_context = context;
    atomic_store_explicit(&vm->fault, fault, memory_order_release);
}

void vm_destroy(struct vm *vm)
{
    if (!vm)
        return;
    retired_free(vm);
    free(atomic_load_explicit(&vm->table, memory_order_relaxed));
    pthread_mutex_destroy(&vm->lock);
    free(vm);
}

/* Returns when every reader that was inside a read section at the call has left it. A section
 * lasts one time slice of the wave engine, tens of microseconds, so yielding comes first. */
static void readers_wait(struct vm *vm)
{
    for (struct vm_reader *reader = vm->readers; reader; reader = reader->next) {
        unsigned turn = 0;
        uint64_t seen = atomic_load_explicit(&reader->epoch, memory_order_seq_cst);
        while ((seen & 1) && atomic_load_explicit(&reader->epoch, memory_order_acquire) == seen)
            wait_step(&turn);
    }
}

/* Publishes `table`; the old one is freed when nobody can be reading it. */
static void table_replace(struct vm *vm, struct vm_table *table, bool wait)
{
    struct vm_table *old = atomic_load_explicit(&vm->table, memory_order_relaxed);
    atomic_store_explicit(&vm->table, table, memory_order_seq_cst);
    old->next_retired = vm->retired;
    vm->retired = old;
    vm->retired_bytes += table_bytes(old->count);
    if (!wait && vm->retired_bytes < RETIRED_BYTES_MAX)
        return;
    readers_wait(vm);
    retired_free(vm);
}

static uint32_t place_take(struct vm *vm, uint64_t size_bytes)
{
    enum { LARGE = VM_PLACE_LARGE / VM_PLACE_BYTES };
    uint32_t place = vm->place_next;
    if (size_bytes >= VM_PLACE_LARGE)
        place = (place + LARGE - 1) / LARGE * LARGE;
    vm->place_next = place + (uint32_t)((size_bytes - 1) / VM_PLACE_BYTES + 1);
    return place;
}

static int map_locked(struct vm *vm, const struct vm_range *range)
{
    struct vm_table *old = atomic_load_explicit(&vm->table, memory_order_relaxed);
    size_t at = table_lower(old, range->start);
    if (at < old->count && old->range[at].start < range->end)
        return -EEXIST;
    struct vm_table *table = table_new(old->count + 1, old->generation + 1);
    if (!table)
        return -ENOMEM;
    memcpy(table->range, old->range, at * sizeof *range);
    table->range[at] = *range;
    table->range[at].place = place_take(vm, range->end - range->start);
    memcpy(table->range + at + 1, old->range + at, (old->count - at) * sizeof *range);
    table_replace(vm, table, false);
    return 0;
}

int vm_map(struct vm *vm, uint64_t va, uint64_t size_bytes, void *host, uint32_t flags)
{
    if (size_bytes == 0 || va + size_bytes < va || !host)
        return -EINVAL;
    struct vm_range range = {.start = va, .end = va + size_bytes, .host = host, .flags = flags};
    pthread_mutex_lock(&vm->lock);
    int status = map_locked(vm, &range);
    pthread_mutex_unlock(&vm->lock);
    return status;
}

static int set_flags_locked(struct vm *vm, uint64_t va, uint32_t flags)
{
    struct vm_table *old = atomic_load_explicit(&vm->table, memory_order_relaxed);
    size_t at = table_lower(old, va);
    if (at == old->count || old->range[at].start != va)
        return -ENOENT;
    uint32_t before = old->range[at].flags;
    if (before == flags)
        return 0;
    struct vm_table *table = table_new(old->count, old->generation + 1);
    if (!table)
        return -ENOMEM;
    memcpy(table->range, old->range, old->count * sizeof old->range[0]);
    table->range[at].flags = flags;
    table_replace(vm, table, before & ~flags & (VM_READ | VM_WRITE | VM_EXEC));
    return 0;
}

int vm_set_flags(struct vm *vm, uint64_t va, uint32_t flags)
{
    pthread_mutex_lock(&vm->lock);
    int status = set_flags_locked(vm, va, flags);
    pthread_mutex_unlock(&vm->lock);
    return status;
}

static int split_locked(struct vm *vm, uint64_t va)
{
    struct vm_table *old = atomic_load_explicit(&vm->table, memory_order_relaxed);
    size_t at = table_lower(old, va);
    if (at == old->count || old->range[at].start >= va)
        return -ENOENT;
    struct vm_table *table = table_new(old->count + 1, old->generation + 1);
    if (!table)
        return -ENOMEM;
    memcpy(table->range, old->range, (at + 1) * sizeof old->range[0]);
    memcpy(table->range + at + 1, old->range + at, (old->count - at) * sizeof old->range[0]);
    struct vm_range *head = &table->range[at], *tail = head + 1;
    head->end = tail->start = va;
    tail->host += va - head->start;
    tail->place = place_take(vm, tail->end - va);
    table_replace(vm, table, false);
    return 0;
}

int vm_split(struct vm *vm, uint64_t at)
{
    pthread_mutex_lock(&vm->lock);
    int status = split_locked(vm, at);
    pthread_mutex_unlock(&vm->lock);
    return status;
}

static int unmap_locked(struct vm *vm, uint64_t va)
{
    struct vm_table *old = atomic_load_explicit(&vm->table, memory_order_relaxed);
    size_t at = table_lower(old, va);
    if (at == old->count || old->range[at].start != va)
        return -ENOENT;
    struct vm_table *table = table_new(old->count - 1, old->generation + 1);
    if (!table)
        return -ENOMEM;
    memcpy(table->range, old->range, at * sizeof old->range[0]);
    memcpy(table->range + at, old->range + at + 1, (old->count - at - 1) * sizeof old->range[0]);
    table_replace(vm, table, true);
    return 0;
}

int vm_unmap(struct vm *vm, uint64_t va)
{
    pthread_mutex_lock(&vm->lock);
    int status = unmap_locked(vm, va);
    pthread_mutex_unlock(&vm->lock);
    return status;
}

void vm_reader_register(struct vm *vm, struct vm_reader *reader)
{
    memset(reader->way, 0, sizeof reader->way);
    reader->vm = vm;
    reader->generation = 0;
    reader->has_faulted = false;
    atomic_init(&reader->epoch, 0);
    pthread_mutex_lock(&vm->lock);
    reader->next = vm->readers;
    vm->readers = reader;
    pthread_mutex_unlock(&vm->lock);
}

void vm_reader_unregister(struct vm_reader *reader)
{
    struct vm *vm = reader->vm;
    pthread_mutex_lock(&vm->lock);
    for (struct vm_reader **at = &vm->readers; *at; at = &(*at)->next) {
        if (*at == reader) {
            *at = reader->next;
            break;
        }
    }
    pthread_mutex_unlock(&vm->lock);
}

void vm_reader_enter(struct vm_reader *reader)
{
    /* Only this thread writes the epoch. seq_cst: see vm.table. */
    uint64_t epoch = atomic_load_explicit(&reader->epoch, memory_order_relaxed);
    atomic_store_explicit(&reader->epoch, epoch + 1, memory_order_seq_cst);
    const struct vm_table *table = atomic_load_explicit(&reader->vm->table, memory_order_seq_cst);
    if (table->generation == reader->generation && !reader->has_faulted)
        return;
    memset(reader->way, 0, sizeof reader->way);
    reader->generation = table->generation;
    reader->has_faulted = false;
}

void vm_reader_leave(struct vm_reader *reader)
{
    /* release: the accesses of the section are over before vm_unmap goes on. */
    uint64_t epoch = atomic_load_explicit(&reader->epoch, memory_order_relaxed);
    atomic_store_explicit(&reader->epoch, epoch + 1, memory_order_release);
}

/* `next`: the range behind the gap. */
static bool fault_find(struct vm_reader *reader, const struct vm_table *table, size_t next,
                       struct vm_fault *fault, struct vm_range *out)
{
    struct vm *vm = reader->vm;
    vm_fault_fn *find = atomic_load_explicit(&vm->fault, memory_order_acquire);
    if (__builtin_expect(!find, 1))
        return false;
    fault->low = next ? table->range[next - 1].end : 0;
    fault->high = next < table->count ? table->range[next].start : UINT64_MAX;
    reader->has_faulted = true;
    return find(vm->fault_context, fault, out);
}

bool vm_range_find_for(struct vm_reader *reader, uint64_t va, uint32_t access, struct vm_range *out)
{
    const struct vm_table *table = atomic_load_explicit(&reader->vm->table, memory_order_acquire);
    size_t at = table_lower(table, va);
    if (at == table->count || table->range[at].start > va)
        return fault_find(reader, table, at, &(struct vm_fault){.va = va, .access = access}, out);
    *out = table->range[at];
    return true;
}

void *vm_translate_across(struct vm_reader *reader, uint64_t va, uint32_t size_bytes,
                          uint32_t access)
{
    struct vm_range range, next;
    if (size_bytes > UINT64_MAX - va || !vm_range_find_for(reader, va, access, &range))
        return NULL;
    uint8_t *host = range.host + (va - range.start);
    for (; range.end < va + size_bytes && (range.flags & access) == access; range = next)
        if (!vm_range_find_for(reader, range.end, access, &next) ||
            next.host != range.host + (range.end - range.start))
            return NULL;
    return (range.flags & access) == access ? host : NULL;
}

uint64_t vm_place(struct vm_reader *reader, uint64_t va)
{
    const struct vm_range *way = vm_way(reader, va);
    struct vm_range found;
    if (va - way->start >= way->end - way->start) {
        if (!vm_range_find(reader, va, &found))
            return va;
        way = &found;
    }
    return vm_place_memory(way->flags) |
           (((uint64_t)way->place << VM_PLACE_BITS) + (va - way->start));
}
