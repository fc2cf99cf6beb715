#include "driver/svm.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver/driver.h"
#include "driver/kfd.h"
#include "driver/kfd_abi.h"
#include "driver/memory_type.h"
#include "driver/uaccess.h"

#define PAGE_MASK UINT64_C(4095)
enum { ATTRIBUTES_MAX = 256, GRANULARITY_DEFAULT = 9 /* 2 MiB */ };

struct svm_attributes {
    uint32_t preferred, prefetch, flags, granularity;
    uint32_t access, in_place; /* bit n: GPU n may; in_place: without migration */
};

/* Sorted, disjoint; under driver.svm_lock. */
struct svm_range {
    uint64_t start, end;
    struct svm_attributes attributes;
    uint32_t mapped;   /* bit n: in the page table of GPU n */
    uint32_t location; /* gpu_id, or 0: where a driver that migrates would have it */
    struct svm_range *next;
};

static const struct svm_attributes defaults = {
    .preferred = KFD_IOCTL_SVM_LOCATION_UNDEFINED,
    .prefetch = KFD_IOCTL_SVM_LOCATION_UNDEFINED,
    .granularity = GRANULARITY_DEFAULT,
    .flags = KFD_IOCTL_SVM_FLAG_HOST_ACCESS | KFD_IOCTL_SVM_FLAG_COHERENT,
};

/* Where waves wait for page faults all GPUs have access until it is taken away. */
static struct svm_attributes defaults_of(struct driver *driver)
{
    struct svm_attributes attributes = defaults;
    pthread_mutex_lock(&driver->lock);
    if (driver->has_xnack)
        attributes.access = (1u << driver->gpu_count) - 1;
    pthread_mutex_unlock(&driver->lock);
    return attributes;
}

/* Who unmaps memory while it holds one of these itself (an allocator, a signal handler) is told. */
void svm_locks_init(struct driver *driver)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&driver->svm_lock, &kind);
    pthread_mutex_init(&driver->svm_links_lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

/* Puts `range` where `*at` is; under driver.svm_lock. */
static void range_link(struct driver *driver, struct svm_range **at, struct svm_range *range)
{
    pthread_mutex_lock(&driver->svm_links_lock);
    *at = range;
    pthread_mutex_unlock(&driver->svm_links_lock);
}

static struct svm_range *range_new(uint64_t start, uint64_t end,
                                   const struct svm_attributes *attributes, struct svm_range *next)
{
    struct svm_range *range = calloc(1, sizeof *range);
    if (!range)
        return NULL;
    range->start = start;
    range->end = end;
    range->attributes = *attributes;
    range->next = next;
    return range;
}

static void range_unmap(struct driver *driver, struct svm_range *range)
{
    for (int i = 0; i < driver->gpu_count; i++)
        if (range->mapped & 1u << i)
            vm_unmap(driver->gpu[i].vm, range->start);
    range->mapped = 0;
}

static uint32_t range_vm_flags(const struct svm_range *range, const struct gpu *gpu)
{
    uint32_t flags = range->attributes.flags, vm_flags = VM_READ, coherence = 0;
    if (!(flags & KFD_IOCTL_SVM_FLAG_GPU_RO))
        vm_flags |= VM_WRITE;
    if (flags & KFD_IOCTL_SVM_FLAG_GPU_EXEC)
        vm_flags |= VM_EXEC;
    if (flags & KFD_IOCTL_SVM_FLAG_COHERENT)
        coherence |= KFD_IOC_ALLOC_MEM_FLAGS_COHERENT;
    if (flags & KFD_SVM_FLAG_EXT_COHERENT)
        coherence |= KFD_ALLOC_EXT_COHERENT;
    return vm_flags |
           memory_vm_flags(gpu, memory_home_of(gpu, range->location != 0, range->location),
                           coherence);
}

/* Brings the page tables in line with the access rights, and with where it is. */
static int range_apply(struct driver *driver, struct svm_range *range)
{
    uint32_t wanted = range->attributes.access | range->attributes.in_place;
    int status = 0;
    for (int i = 0; i < driver->gpu_count && !status; i++) {
        struct gpu *gpu = &driver->gpu[i];
        uint32_t bit = 1u << i;
        if (!(wanted & bit) && (range->mapped & bit))
            status = vm_unmap(gpu->vm, range->start);
        else if (wanted & range->mapped & bit)
            status = vm_set_flags(gpu->vm, range->start, range_vm_flags(range, gpu));
        else if (wanted & bit)
            status = vm_map(gpu->vm, range->start, range->end - range->start,
                            (void *)(uintptr_t)range->start, range_vm_flags(range, gpu));
        if (!status)
            range->mapped = (range->mapped & ~bit) | (wanted & bit);
    }
    return status;
}

/* Cuts a range in two at `at`; both halves stay mapped, also while kernels run. */
static int range_split(struct driver *driver, struct svm_range *range, uint64_t at)
{
    struct svm_range *tail = range_new(at, range->end, &range->attributes, range->next);
    int status = 0;
    if (!tail)
        return -ENOMEM;
    for (int i = 0; i < driver->gpu_count && !status; i++) {
        if (!(range->mapped & 1u << i))
            continue;
        status = vm_split(driver->gpu[i].vm, at);
        tail->mapped |= status ? 0 : 1u << i;
    }
    if (status) { /* a page table is in halves, the range is not */
        range_unmap(driver, tail);
        range_unmap(driver, range);
        free(tail);
        return status;
    }
    tail->location = range->location;
    pthread_mutex_lock(&driver->svm_links_lock);
    range->end = at;
    range->next = tail;
    pthread_mutex_unlock(&driver->svm_links_lock);
    return 0;
}

/* Afterwards `start` and `end` cut no range, and with `fill` no gap is left between them. */
static int ranges_carve(struct driver *driver, uint64_t start, uint64_t end, bool fill)
{
    struct svm_range **at = &driver->svm;
    int status = 0;
    while (*at && (*at)->end <= start)
        at = &(*at)->next;
    if (*at && (*at)->start < start) {
        status = range_split(driver, *at, start);
        at = &(*at)->next;
    }
    uint64_t position = start;
    while (!status && position < end) {
        struct svm_range *range = *at;
        uint64_t gap_end = range && range->start < end ? range->start : end;
        if (gap_end > position && fill) {
            const struct svm_attributes attributes = defaults_of(driver);
            struct svm_range *filler = range_new(position, gap_end, &attributes, range);
            if (!filler)
                return -ENOMEM;
            range_link(driver, at, filler);
            range = filler;
        } else if (gap_end > position) {
            position = gap_end;
            continue;
        }
        if (range->end > end)
            status = range_split(driver, range, end);
        position = range->end;
        at = &range->next;
    }
    return status;
}

static int attribute_set(struct driver *driver, struct svm_attributes *to,
                         const struct kfd_ioctl_svm_attribute *attribute)
{
    struct gpu *gpu = driver_gpu(driver, attribute->value);
    uint32_t bit = gpu ? 1u << (gpu - driver->gpu) : 0;
    switch (attribute->type) {
    case KFD_IOCTL_SVM_ATTR_PREFERRED_LOC:
    case KFD_IOCTL_SVM_ATTR_PREFETCH_LOC:
        if (!gpu && attribute->value != KFD_IOCTL_SVM_LOCATION_SYSMEM &&
            attribute->value != KFD_IOCTL_SVM_LOCATION_UNDEFINED)
            return -EINVAL;
        if (attribute->type == KFD_IOCTL_SVM_ATTR_PREFERRED_LOC)
            to->preferred = attribute->value;
        else
            to->prefetch = attribute->value;
        return 0;
    case KFD_IOCTL_SVM_ATTR_ACCESS:
    case KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE:
    case KFD_IOCTL_SVM_ATTR_NO_ACCESS:
        to->access &= ~bit;
        to->in_place &= ~bit;
        if (attribute->type == KFD_IOCTL_SVM_ATTR_ACCESS)
            to->access |= bit;
        if (attribute->type == KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE)
            to->in_place |= bit;
        return gpu ? 0 : -EINVAL;
    case KFD_IOCTL_SVM_ATTR_SET_FLAGS:
        to->flags |= attribute->value;
        return 0;
    case KFD_IOCTL_SVM_ATTR_CLR_FLAGS:
        to->flags &= ~attribute->value;
        return 0;
    case KFD_IOCTL_SVM_ATTR_GRANULARITY:
        to->granularity = attribute->value & 0x3f;
        return 0;
    }
    return -EINVAL;
}

/* Nothing moves, but whoever traces migrations sees the ones that the program asks for. */
static void range_move(struct driver *driver, struct svm_range *range)
{
    uint32_t from = range->location, to = range->attributes.prefetch;
    if (to == KFD_IOCTL_SVM_LOCATION_UNDEFINED || to == from)
        return;
    if (from != KFD_IOCTL_SVM_LOCATION_SYSMEM && to != KFD_IOCTL_SVM_LOCATION_SYSMEM) {
        /* between GPUs by way of the program's memory, as the kernel does without a direct link */
        smi_migrated(driver, from, KFD_IOCTL_SVM_LOCATION_SYSMEM, range->start, range->end, to,
                     range->attributes.preferred);
        from = KFD_IOCTL_SVM_LOCATION_SYSMEM;
    }
    smi_migrated(driver, from, to, range->start, range->end, to, range->attributes.preferred);
    range->location = to;
}

static bool asks_to_prefetch(const struct kfd_ioctl_svm_attribute *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i].type == KFD_IOCTL_SVM_ATTR_PREFETCH_LOC)
            return true;
    return false;
}

static int range_update(struct driver *driver, struct svm_range *range,
                        const struct kfd_ioctl_svm_attribute *list, uint32_t count)
{
    int status = 0;
    for (uint32_t i = 0; i < count && !status; i++)
        status = attribute_set(driver, &range->attributes, &list[i]);
    if (!status && asks_to_prefetch(list, count))
        range_move(driver, range);
    return status ? status : range_apply(driver, range);
}

/* Every page must belong to the program, which msync tells without touching anything, and be none
 * that it has from a GPU's driver or has lent to it. */
static int range_check(struct driver *driver, uint64_t start, uint64_t end)
{
    if (msync((void *)(uintptr_t)start, end - start, MS_ASYNC) != 0)
        return -EFAULT;
    return kfd_memory_check(driver, start, end);
}

static int attributes_set(struct driver *driver, uint64_t start, uint64_t end,
                          const struct kfd_ioctl_svm_attribute *list, uint32_t count)
{
    struct svm_attributes scratch = defaults;
    int status = 0;
    for (uint32_t i = 0; i < count && !status; i++) /* all or nothing: try them first */
        status = attribute_set(driver, &scratch, &list[i]);
    if (!status)
        status = range_check(driver, start, end);
    if (!status)
        atomic_store_explicit(&driver->has_svm, true, memory_order_relaxed);
    if (!status)
        status = ranges_carve(driver, start, end, true);
    for (struct svm_range *range = driver->svm; range && !status; range = range->next)
        if (range->start >= start && range->end <= end)
            status = range_update(driver, range, list, count);
    return status;
}

/* What all ranges in [start, end) agree on. The kernel does not look at what lies between them. */
struct svm_summary {
    struct svm_attributes all;
    uint32_t flags_any;
    bool first;
};

static void summary_add(struct svm_summary *sum, const struct svm_attributes *part)
{
    if (sum->first) {
        sum->all = *part;
        sum->flags_any = part->flags;
        sum->first = false;
        return;
    }
    if (sum->all.preferred != part->preferred)
        sum->all.preferred = KFD_IOCTL_SVM_LOCATION_UNDEFINED;
    if (sum->all.prefetch != part->prefetch)
        sum->all.prefetch = KFD_IOCTL_SVM_LOCATION_UNDEFINED;
    if (sum->all.granularity > part->granularity)
        sum->all.granularity = part->granularity;
    sum->all.flags &= part->flags;
    sum->flags_any |= part->flags;
    /* Each for itself, as the kernel does: a GPU with mixed rights has none. */
    sum->all.access &= part->access;
    sum->all.in_place &= part->in_place;
}

static struct svm_summary summary_of(struct driver *driver, uint64_t start, uint64_t end)
{
    struct svm_summary sum = {.first = true};
    for (struct svm_range *range = driver->svm; range; range = range->next)
        if (range->end > start && range->start < end)
            summary_add(&sum, &range->attributes);
    const struct svm_attributes attributes = defaults_of(driver);
    if (sum.first)
        summary_add(&sum, &attributes);
    return sum;
}

static int attribute_get(struct driver *driver, const struct svm_summary *sum,
                         struct kfd_ioctl_svm_attribute *attribute)
{
    struct gpu *gpu;
    switch (attribute->type) {
    case KFD_IOCTL_SVM_ATTR_PREFERRED_LOC:
        attribute->value = sum->all.preferred;
        return 0;
    case KFD_IOCTL_SVM_ATTR_PREFETCH_LOC:
        attribute->value = sum->all.prefetch;
        return 0;
    case KFD_IOCTL_SVM_ATTR_ACCESS:
        gpu = driver_gpu(driver, attribute->value);
        if (!gpu)
            return -EINVAL;
        if (sum->all.access & 1u << (gpu - driver->gpu))
            attribute->type = KFD_IOCTL_SVM_ATTR_ACCESS;
        else if (sum->all.in_place & 1u << (gpu - driver->gpu))
            attribute->type = KFD_IOCTL_SVM_ATTR_ACCESS_IN_PLACE;
        else
            attribute->type = KFD_IOCTL_SVM_ATTR_NO_ACCESS;
        return 0;
    case KFD_IOCTL_SVM_ATTR_SET_FLAGS:
        attribute->value = sum->all.flags;
        return 0;
    case KFD_IOCTL_SVM_ATTR_CLR_FLAGS:
        attribute->value = ~sum->flags_any;
        return 0;
    case KFD_IOCTL_SVM_ATTR_GRANULARITY:
        attribute->value = sum->all.granularity;
        return 0;
    }
    return -EINVAL;
}

static int attributes_get(struct driver *driver, uint64_t start, uint64_t end,
                          struct kfd_ioctl_svm_attribute *list, uint32_t count)
{
    struct svm_summary sum = summary_of(driver, start, end);
    int status = range_check(driver, start, end);
    for (uint32_t i = 0; i < count && !status; i++)
        status = attribute_get(driver, &sum, &list[i]);
    return status;
}

int kfd_svm(struct driver *driver, uint64_t user)
{
    struct kfd_ioctl_svm_args args;
    struct kfd_ioctl_svm_attribute list[ATTRIBUTES_MAX];
    int status = user_read(&args, user, sizeof args);
    if (status)
        return status;
    if (args.nattr > ATTRIBUTES_MAX || args.size == 0 ||
        ((args.start_addr | args.size) & PAGE_MASK) ||
        args.start_addr + args.size < args.start_addr)
        return -EINVAL;
    status = user_read(list, user + sizeof args, args.nattr * sizeof list[0]);
    if (status)
        return status;
    uint64_t end = args.start_addr + args.size;
    pthread_mutex_lock(&driver->svm_lock);
    if (args.op == KFD_IOCTL_SVM_OP_SET_ATTR)
        status = attributes_set(driver, args.start_addr, end, list, args.nattr);
    else if (args.op == KFD_IOCTL_SVM_OP_GET_ATTR)
        status = attributes_get(driver, args.start_addr, end, list, args.nattr);
    else
        status = -EINVAL;
    pthread_mutex_unlock(&driver->svm_lock);
    if (!status && args.op == KFD_IOCTL_SVM_OP_GET_ATTR)
        status = user_write(user + sizeof args, list, args.nattr * sizeof list[0]);
    return status;
}

void svm_forget(struct driver *driver, uint64_t start, uint64_t end)
{
    if (pthread_mutex_lock(&driver->svm_lock) != 0)
        return; /* from inside: what there is of it stays until something else is mapped there */
    ranges_carve(driver, start, end, false);
    for (struct svm_range **at = &driver->svm; *at;) {
        struct svm_range *range = *at;
        if (range->start < start || range->end > end) {
            at = &range->next;
            continue;
        }
        for (int i = 0; i < driver->gpu_count; i++)
            if (range->mapped & 1u << i)
                smi_unmapped(driver, driver->gpu[i].gpu_id, range->start, range->end);
        range_unmap(driver, range);
        range_link(driver, at, range->next);
        free(range);
    }
    atomic_store_explicit(&driver->has_svm, driver->svm != NULL, memory_order_relaxed);
    pthread_mutex_unlock(&driver->svm_lock);
}

static bool any_range(struct driver *driver, uint64_t start, uint64_t end)
{
    if (pthread_mutex_lock(&driver->svm_links_lock) != 0)
        return false; /* a signal handler */
    const struct svm_range *range = driver->svm;
    while (range && range->end <= start)
        range = range->next;
    const bool found = range && range->start < end;
    pthread_mutex_unlock(&driver->svm_links_lock);
    return found;
}

void svm_unmapped(struct driver *driver, uint64_t start, uint64_t end)
{
    const int saved = errno;
    if (atomic_load_explicit(&driver->has_svm, memory_order_relaxed) &&
        any_range(driver, start, end))
        svm_forget(driver, start, end);
    page_faults_forget(driver, start, end);
    errno = saved;
}

bool svm_gap_find(struct driver *driver, uint64_t va, uint64_t *low, uint64_t *high)
{
    if (pthread_mutex_lock(&driver->svm_links_lock) != 0)
        return false;
    const struct svm_range *range = driver->svm;
    for (; range && range->end <= va; range = range->next)
        *low = range->end > *low ? range->end : *low;
    const bool found = !range || range->start > va;
    if (range && range->start < *high)
        *high = range->start;
    pthread_mutex_unlock(&driver->svm_links_lock);
    return found;
}
