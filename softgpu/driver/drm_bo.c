/*
 * libdrm's buffer objects, as the runtimes use them for virtual memory (hsa_amd_vmem_*) and for
 * system memory of other processes: import of a dmabuf, mapping into the GPU's and the program's
 * address space. As in libdrm, one buffer imported twice is one object.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <libdrm/amdgpu_drm.h>

#include "base/log.h"
#include "core/host_memory.h"
#include "driver/drm.h"
#include "driver/memory_type.h"
#include "driver/real.h"
#include "driver/storage.h"
#include "driver/svm.h"

int drmCommandWriteRead(int fd, unsigned long index, void *data, unsigned long size_bytes);

struct mapping {
    struct mapping *next;
    uint64_t va;
};

struct amdgpu_bo {
    struct amdgpu_bo *next;
    struct driver *driver;
    struct gpu *gpu;
    struct storage *storage;
    uint32_t refs, gem_handle;
    uint8_t *host; /* what the GPU accesses; NULL until first mapped */
    void *cpu;     /* what the program was given */
    unsigned cpu_maps;
    struct mapping *mappings;
};

/* `objects` and everything in them; held while vm_* wait for readers, which take no lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct amdgpu_bo *objects;
static uint32_t last_gem_handle;

/* Under lock. */
static struct amdgpu_bo *ours(amdgpu_bo_handle handle)
{
    struct amdgpu_bo *bo = objects;
    while (bo && bo != handle)
        bo = bo->next;
    return bo;
}

/* Runs in a forked child: a thread that is not there may have held the lock. The list is whole at
 * every moment. */
static void lock_renew(void)
{
    pthread_mutex_init(&lock, NULL);
}

static void fork_watch(void)
{
    pthread_atfork(NULL, NULL, lock_renew);
}

/* Takes over the storage's reference. */
static int object_for(struct driver *driver, struct gpu *gpu, struct storage *storage,
                      struct amdgpu_bo **out)
{
    for (struct amdgpu_bo *bo = objects; bo; bo = bo->next) {
        if (bo->storage != storage || bo->gpu != gpu || bo->driver != driver)
            continue;
        bo->refs++;
        storage_release(driver, storage);
        *out = bo;
        return 0;
    }
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fork_watch);
    struct amdgpu_bo *bo = calloc(1, sizeof *bo);
    if (!bo) {
        storage_release(driver, storage);
        return -ENOMEM;
    }
    *bo = (struct amdgpu_bo){.next = objects,
                             .driver = driver,
                             .gpu = gpu,
                             .storage = storage,
                             .refs = 1,
                             .gem_handle = ++last_gem_handle};
    objects = bo;
    *out = bo;
    return 0;
}

EXPORT int amdgpu_bo_import(amdgpu_device_handle device, enum amdgpu_bo_handle_type type,
                            uint32_t shared_handle, struct amdgpu_bo_import_result *result)
{
    struct driver *driver;
    struct storage *storage;
    struct gpu *gpu = drm_device_gpu(device, &driver);
    if (!gpu) {
        __typeof__(&amdgpu_bo_import) real = REAL(amdgpu_bo_import);
        return real ? real(device, type, shared_handle, result) : -EINVAL;
    }
    if (type != amdgpu_bo_handle_type_dma_buf_fd)
        return -EPERM; /* libdrm's answer for what cannot be imported */
    int status = storage_import(driver, (int)shared_handle, &storage);
    if (status)
        return status;
    uint64_t size_bytes = storage->size_bytes;
    pthread_mutex_lock(&lock);
    status = object_for(driver, gpu, storage, &result->buf_handle);
    pthread_mutex_unlock(&lock);
    result->alloc_size = size_bytes;
    return status;
}

static int export_kms(const struct amdgpu_bo *bo, enum amdgpu_bo_handle_type type, uint32_t *handle)
{
    int fd, status;
    switch (type) {
    case amdgpu_bo_handle_type_kms:
    case amdgpu_bo_handle_type_kms_noimport:
        *handle = bo->gem_handle;
        return 0;
    case amdgpu_bo_handle_type_dma_buf_fd:
        status = storage_export(bo->driver, bo->storage, O_CLOEXEC, &fd);
        if (!status)
            *handle = (uint32_t)fd;
        return status;
    default:
        return -EINVAL;
    }
}

EXPORT int amdgpu_bo_export(amdgpu_bo_handle handle, enum amdgpu_bo_handle_type type,
                            uint32_t *shared_handle)
{
    pthread_mutex_lock(&lock);
    struct amdgpu_bo *bo = ours(handle);
    int status = bo ? export_kms(bo, type, shared_handle) : 0;
    pthread_mutex_unlock(&lock);
    if (bo)
        return status;
    __typeof__(&amdgpu_bo_export) real = REAL(amdgpu_bo_export);
    return real ? real(handle, type, shared_handle) : -EINVAL;
}

static int va_map(struct amdgpu_bo *bo, uint64_t offset, uint64_t size_bytes, uint64_t va)
{
    struct mapping *mapping = malloc(sizeof *mapping);
    int status = !mapping   ? -ENOMEM
                 : bo->host ? 0
                            : storage_view_take(bo->driver, bo->storage, &bo->host);
    if (!status) {
        /* libdrm asks for all three rights, whatever its caller says. */
        uint32_t flags = VM_READ | VM_WRITE | VM_EXEC | storage_vm_flags(bo->gpu, bo->storage);
        status = vm_map(bo->gpu->vm, va, size_bytes, bo->host + offset, flags);
        if (status == -EEXIST) { /* shared virtual memory that the program freed and did not say */
            svm_forget(bo->driver, va, va + size_bytes);
            status = vm_map(bo->gpu->vm, va, size_bytes, bo->host + offset, flags);
        }
    }
    if (status) {
        free(mapping);
        return status;
    }
    *mapping = (struct mapping){.next = bo->mappings, .va = va};
    bo->mappings = mapping;
    return 0;
}

static int va_unmap(struct amdgpu_bo *bo, uint64_t va)
{
    struct mapping **at = &bo->mappings;
    while (*at && (*at)->va != va)
        at = &(*at)->next;
    struct mapping *mapping = *at;
    if (!mapping)
        return -EINVAL;
    *at = mapping->next;
    free(mapping);
    return vm_unmap(bo->gpu->vm, va);
}

static int va_op(struct amdgpu_bo *bo, uint64_t offset, uint64_t size_bytes, uint64_t va,
                 uint32_t op)
{
    if ((offset | size_bytes | va) & 4095 || size_bytes == 0 || offset > bo->storage->size_bytes ||
        size_bytes > bo->storage->size_bytes - offset)
        return -EINVAL;
    if (op == AMDGPU_VA_OP_MAP)
        return va_map(bo, offset, size_bytes, va);
    return op == AMDGPU_VA_OP_UNMAP ? va_unmap(bo, va) : -EINVAL;
}

EXPORT int amdgpu_bo_va_op(amdgpu_bo_handle handle, uint64_t offset, uint64_t size_bytes,
                           uint64_t va, uint64_t flags, uint32_t op)
{
    pthread_mutex_lock(&lock);
    struct amdgpu_bo *bo = ours(handle);
    int status = bo ? va_op(bo, offset, size_bytes, va, op) : 0;
    pthread_mutex_unlock(&lock);
    if (bo)
        return status;
    __typeof__(&amdgpu_bo_va_op) real = REAL(amdgpu_bo_va_op);
    return real ? real(handle, offset, size_bytes, va, flags, op) : -EINVAL;
}

static int cpu_map(struct amdgpu_bo *bo, void **cpu)
{
    uint8_t *view = bo->cpu;
    int status = bo->cpu_maps ? 0 : storage_map(bo->storage, &view);
    if (status)
        return status;
    bo->cpu = *cpu = view;
    bo->cpu_maps++;
    return 0;
}

EXPORT int amdgpu_bo_cpu_map(amdgpu_bo_handle handle, void **cpu)
{
    pthread_mutex_lock(&lock);
    struct amdgpu_bo *bo = ours(handle);
    int status = bo ? cpu_map(bo, cpu) : 0;
    pthread_mutex_unlock(&lock);
    if (bo)
        return status;
    __typeof__(&amdgpu_bo_cpu_map) real = REAL(amdgpu_bo_cpu_map);
    return real ? real(handle, cpu) : -EINVAL;
}

static int cpu_unmap(struct amdgpu_bo *bo)
{
    if (bo->cpu_maps == 0)
        return -EINVAL;
    if (--bo->cpu_maps == 0)
        host_unmap(bo->cpu, bo->storage->size_bytes);
    return 0;
}

EXPORT int amdgpu_bo_cpu_unmap(amdgpu_bo_handle handle)
{
    pthread_mutex_lock(&lock);
    struct amdgpu_bo *bo = ours(handle);
    int status = bo ? cpu_unmap(bo) : 0;
    pthread_mutex_unlock(&lock);
    if (bo)
        return status;
    __typeof__(&amdgpu_bo_cpu_unmap) real = REAL(amdgpu_bo_cpu_unmap);
    return real ? real(handle) : -EINVAL;
}

static void object_free(struct amdgpu_bo *bo)
{
    struct amdgpu_bo **at = &objects;
    while (*at != bo)
        at = &(*at)->next;
    *at = bo->next;
    while (bo->mappings)
        va_unmap(bo, bo->mappings->va);
    if (bo->cpu_maps)
        host_unmap(bo->cpu, bo->storage->size_bytes);
    if (bo->host)
        storage_view_release(bo->driver, bo->storage);
    storage_release(bo->driver, bo->storage);
    free(bo);
}

EXPORT int amdgpu_bo_free(amdgpu_bo_handle handle)
{
    pthread_mutex_lock(&lock);
    struct amdgpu_bo *bo = ours(handle);
    if (bo && --bo->refs == 0)
        object_free(bo);
    pthread_mutex_unlock(&lock);
    if (bo)
        return 0;
    __typeof__(&amdgpu_bo_free) real = REAL(amdgpu_bo_free);
    return real ? real(handle) : -EINVAL;
}

static int info_fill(const struct amdgpu_bo *bo, struct amdgpu_bo_info *info)
{
    struct storage_metadata metadata;
    int status = storage_metadata_read(bo->storage, &metadata);
    if (status)
        return status;
    memset(info, 0, sizeof *info);
    info->alloc_size = bo->storage->size_bytes;
    info->phys_alignment = 4096;
    info->preferred_heap = bo->storage->vram ? AMDGPU_GEM_DOMAIN_VRAM : AMDGPU_GEM_DOMAIN_GTT;
    info->metadata.flags = metadata.flags;
    info->metadata.tiling_info = metadata.tiling;
    info->metadata.size_metadata = metadata.size_bytes;
    memcpy(info->metadata.umd_metadata, metadata.bytes, metadata.size_bytes);
    return 0;
}

EXPORT int amdgpu_bo_query_info(amdgpu_bo_handle handle, struct amdgpu_bo_info *info)
{
    pthread_mutex_lock(&lock);
    struct amdgpu_bo *bo = ours(handle);
    int status = bo ? info_fill(bo, info) : 0;
    pthread_mutex_unlock(&lock);
    if (bo)
        return status;
    __typeof__(&amdgpu_bo_query_info) real = REAL(amdgpu_bo_query_info);
    return real ? real(handle, info) : -EINVAL;
}

EXPORT int amdgpu_bo_set_metadata(amdgpu_bo_handle handle, struct amdgpu_bo_metadata *info)
{
    _Static_assert(sizeof info->umd_metadata == METADATA_BYTES_MAX, "all of it is kept");
    struct storage_metadata metadata = {.flags = info->flags, .tiling = info->tiling_info};
    int status = info->size_metadata <= METADATA_BYTES_MAX ? 0 : -EINVAL;
    pthread_mutex_lock(&lock);
    struct amdgpu_bo *bo = ours(handle);
    if (bo && !status) {
        metadata.size_bytes = info->size_metadata;
        memcpy(metadata.bytes, info->umd_metadata, info->size_metadata);
        status = storage_metadata_write(bo->driver, bo->storage, &metadata);
    }
    pthread_mutex_unlock(&lock);
    if (bo)
        return status;
    __typeof__(&amdgpu_bo_set_metadata) real = REAL(amdgpu_bo_set_metadata);
    return real ? real(handle, info) : -EINVAL;
}

/* Where mmap() of the render node finds the object. Another process's memory is not in our file. */
static int gem_mmap(const struct driver *driver, union drm_amdgpu_gem_mmap *args)
{
    int status = -ENOENT;
    pthread_mutex_lock(&lock);
    for (const struct amdgpu_bo *bo = objects; bo && status == -ENOENT; bo = bo->next) {
        if (bo->driver != driver || bo->gem_handle != args->in.handle)
            continue;
        status = 0;
        args->out.addr_ptr = bo->storage->foreign ? DRM_FOREIGN_BEGIN + ((uint64_t)bo->gem_handle
                                                                         << STORAGE_SIZE_BITS)
                                                  : bo->storage->offset;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

/* Under the lock: the object's file stays open meanwhile. */
void *drm_bo_foreign_map(void *address, size_t size_bytes, int rights, int flags, uint64_t offset)
{
    uint64_t handle = (offset - DRM_FOREIGN_BEGIN) >> STORAGE_SIZE_BITS;
    pthread_mutex_lock(&lock);
    const struct amdgpu_bo *bo = objects;
    while (bo && (!bo->storage->foreign || bo->gem_handle != handle))
        bo = bo->next;
    void *view =
        storage_foreign_map(bo ? bo->storage : NULL, address, size_bytes, rights, flags, offset);
    pthread_mutex_unlock(&lock);
    return view;
}

EXPORT int drmCommandWriteRead(int fd, unsigned long index, void *data, unsigned long size_bytes)
{
    struct driver *driver = driver_of_fd(fd);
    if (!driver) {
        __typeof__(&drmCommandWriteRead) real = REAL(drmCommandWriteRead);
        return real ? real(fd, index, data, size_bytes) : -EINVAL;
    }
    if (index == DRM_AMDGPU_GEM_MMAP && size_bytes >= sizeof(union drm_amdgpu_gem_mmap))
        return gem_mmap(driver, data);
    log_error("driver", "DRM command 0x%02lx on a render node is not supported: EINVAL", index);
    return -EINVAL;
}
