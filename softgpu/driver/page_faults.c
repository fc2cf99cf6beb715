#include "driver/page_faults.h"

#include <sys/mman.h>

#include "driver/driver.h"
#include "driver/kfd_abi.h"
#include "driver/memory_type.h"
#include "driver/real.h"
#include "driver/smi.h"
#include "driver/svm.h"

/* The kernel's driver brings as much at a time, unless the program says otherwise. */
enum { PART_SHIFT = 21, ROOM_LEAST = 1024 };
enum { NONE = 0 };
#define GONE UINT64_MAX

static uint64_t part_key(unsigned gpu, uint64_t part)
{
    return (part * GPU_DEVICES_MAX + gpu) + 1;
}

void page_faults_init(struct page_faults *faults)
{
    *faults = (struct page_faults){0};
    process_memory_init(&faults->memory);
    /* A signal handler may unmap memory while its thread holds it. */
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&faults->lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

void page_faults_free(struct page_faults *faults)
{
    if (faults->parts)
        real_munmap(faults->parts, faults->room * sizeof *faults->parts);
    pthread_mutex_destroy(&faults->lock);
    process_memory_free(&faults->memory);
}

/* Where the key is, or else could be. There is always room for one. */
static uint64_t *slot_of(uint64_t *parts, size_t room, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);
    while (parts[at] != NONE && parts[at] != key)
        at = (at + 1) & (room - 1);
    return &parts[at];
}

static bool is_key(uint64_t entry)
{
    return entry != NONE && entry != GONE;
}

/* Without those that are gone; larger if there are many others. */
static bool parts_renew(struct page_faults *faults)
{
    size_t keys = 0, room = faults->room ? faults->room : ROOM_LEAST;
    for (size_t i = 0; i < faults->room; i++)
        keys += is_key(faults->parts[i]);
    room *= keys > room / 4 ? 2 : 1;
    uint64_t *parts = real_mmap(NULL, room * sizeof *parts, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (parts == MAP_FAILED)
        return false;
    for (size_t i = 0; i < faults->room; i++)
        if (is_key(faults->parts[i]))
            *slot_of(parts, room, faults->parts[i]) = faults->parts[i];
    if (faults->parts)
        real_munmap(faults->parts, faults->room * sizeof *faults->parts);
    faults->parts = parts;
    faults->room = room;
    faults->used = keys;
    return true;
}

/* Whether it was not there yet. Without memory everything is told again. */
static bool part_add(struct page_faults *faults, uint64_t key)
{
    if (faults->used >= faults->room / 2 && !parts_renew(faults))
        return true;
    uint64_t *slot = slot_of(faults->parts, faults->room, key);
    const bool is_new = *slot == NONE;
    faults->used += is_new;
    *slot = key;
    atomic_store_explicit(&faults->any, true, memory_order_relaxed);
    return is_new;
}

static void fault_tell(const struct gpu *gpu, const struct vm_fault *fault)
{
    struct page_faults *faults = &gpu->driver->page_faults;
    const unsigned number = (unsigned)(gpu - gpu->driver->gpu);
    pthread_mutex_lock(&faults->lock);
    const bool is_new = part_add(faults, part_key(number, fault->va >> PART_SHIFT));
    pthread_mutex_unlock(&faults->lock);
    if (is_new)
        smi_page_faulted(gpu->driver, gpu->gpu_id, fault->va, fault->access & VM_WRITE);
}

bool page_fault_find(void *context, const struct vm_fault *fault, struct vm_range *out)
{
    const struct gpu *gpu = context;
    struct driver *driver = gpu->driver;
    uint64_t low = fault->low, high = fault->high;
    struct process_area area;
    if (!svm_gap_find(driver, fault->va, &low, &high) ||
        !process_memory_find(&driver->page_faults.memory, fault->va, low, high, &area))
        return false;
    const uint32_t rights = VM_READ | (area.writable ? VM_WRITE : 0);
    if ((rights & fault->access) == fault->access)
        fault_tell(gpu, fault);
    *out = (struct vm_range){
        .start = area.start,
        .end = area.end,
        .host = (uint8_t *)(uintptr_t)area.start,
        .flags =
            VM_FAULTED | rights | memory_vm_flags(gpu, HOME_HOST, KFD_IOC_ALLOC_MEM_FLAGS_COHERENT),
        .place = vm_place_by_address(area.start),
    };
    return true;
}

static void parts_remove(struct page_faults *faults, uint64_t first, uint64_t last, unsigned gpus)
{
    const uint64_t parts = last - first + 1;
    for (uint64_t n = 0; parts < faults->room && n < parts * gpus; n++) {
        const uint64_t key = part_key((unsigned)(n % gpus), first + n / gpus);
        uint64_t *slot = slot_of(faults->parts, faults->room, key);
        *slot = *slot == key ? GONE : *slot;
    }
    for (size_t i = 0; parts >= faults->room && i < faults->room; i++) {
        const uint64_t part = (faults->parts[i] - 1) / GPU_DEVICES_MAX;
        if (is_key(faults->parts[i]) && part >= first && part <= last)
            faults->parts[i] = GONE;
    }
}

void page_faults_forget(struct driver *driver, uint64_t start, uint64_t end)
{
    struct page_faults *faults = &driver->page_faults;
    if (!atomic_load_explicit(&faults->any, memory_order_relaxed) ||
        pthread_mutex_lock(&faults->lock) != 0)
        return; /* from inside: it is not told anew */
    parts_remove(faults, start >> PART_SHIFT, (end - 1) >> PART_SHIFT, (unsigned)driver->gpu_count);
    pthread_mutex_unlock(&faults->lock);
}
