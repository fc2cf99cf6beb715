/* Buffer objects: VRAM, system memory, user memory, doorbell and register pages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/host_memory.h"
#include "driver/kfd.h"
#include "driver/kfd_abi.h"
#include "driver/memory_type.h"
#include "driver/real.h"
#include "driver/storage.h"
#include "driver/svm.h"
#include "driver/uaccess.h"

#define PAGE_MASK   UINT64_C(4095)
#define ADDRESS_END (UINT64_C(1) << 47)

struct buffer {
    uint64_t va, size_bytes;
    uint64_t offset;         /* in the device file, of pages that are no memory */
    struct storage *storage; /* of the heap */
    uint8_t *host;           /* where the GPU's accesses go; NULL until first mapped */
    uint32_t flags;          /* KFD_IOC_ALLOC_MEM_FLAGS_* */
    struct gpu *gpu;
    uint32_t mapped; /* bit n: in the page table of GPU n */
    bool busy;       /* one thread is mapping or unmapping it */
};

static bool buffer_is_user(const struct buffer *buffer)
{
    return buffer->flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR;
}

static int slot_add(struct driver *driver, struct buffer *buffer, __u64 *handle)
{
    size_t slot = 0;
    while (slot < driver->buffer_slots && driver->buffers[slot])
        slot++;
    if (slot == driver->buffer_slots) {
        size_t slots = slot ? slot * 2 : 256;
        struct buffer **grown = realloc(driver->buffers, slots * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        memset(grown + slot, 0, (slots - slot) * sizeof *grown);
        driver->buffers = grown;
        driver->buffer_slots = slots;
    }
    driver->buffers[slot] = buffer;
    *handle = slot + 1;
    return 0;
}

/* The kernel takes user memory's pages when the buffer is made, and makes none where a page is not
 * there or may not be accessed: the host would die of what the GPU does to it. mincore() says
 * whether it is mapped; what is protected is not seen. */
static int user_check(uint64_t start, uint64_t size_bytes)
{
    enum { PAGES_AT_ONCE = 4096 };
    const uint64_t most = PAGES_AT_ONCE * (PAGE_MASK + 1);
    unsigned char resident[PAGES_AT_ONCE];
    for (uint64_t at = 0; at < size_bytes; at += most) {
        const uint64_t left = size_bytes - at;
        if (mincore((void *)(uintptr_t)(start + at), left < most ? left : most, resident) < 0)
            return -EFAULT;
    }
    return 0;
}

static int buffer_place(struct driver *driver, struct buffer *buffer, __u64 *mmap_offset)
{
    if (buffer_is_user(buffer)) {
        if (*mmap_offset == 0 || (*mmap_offset & PAGE_MASK))
            return -EINVAL;
        buffer->host = (uint8_t *)(uintptr_t)*mmap_offset;
        return user_check(*mmap_offset, buffer->size_bytes);
    }
    int status = 0;
    if (buffer->flags & KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL)
        buffer->offset = DEVICE_OFFSET_DOORBELL * (uint64_t)(buffer->gpu - driver->gpu + 1);
    else if (buffer->flags & KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP)
        buffer->offset = DEVICE_OFFSET_MMIO;
    else
        status = storage_create(driver, buffer->gpu, buffer->flags, buffer->size_bytes,
                                &buffer->storage);
    if (!status)
        *mmap_offset = buffer->storage ? buffer->storage->offset : buffer->offset;
    return status;
}

/* True when the range lies below the end of the addresses, of which both sides have 47 bits; that
 * end is a page boundary, so that a size made whole pages fits, too. */
static bool range_fits(uint64_t start, uint64_t size_bytes)
{
    return start <= ADDRESS_END && size_bytes <= ADDRESS_END - start;
}

static int buffer_check(const struct kfd_ioctl_alloc_memory_of_gpu_args *alloc)
{
    uint32_t kinds =
        alloc->flags & (KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_GTT |
                        KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL |
                        KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP);
    if (__builtin_popcount(kinds) != 1 || alloc->size == 0)
        return -EINVAL;
    if ((alloc->va_addr & PAGE_MASK) || !range_fits(alloc->va_addr, alloc->size))
        return -EINVAL;
    if ((alloc->flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR) &&
        !range_fits(alloc->mmap_offset, alloc->size))
        return -EINVAL;
    if ((alloc->flags & KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL) && alloc->size > DOORBELL_PAGE_BYTES)
        return -EINVAL;
    if ((alloc->flags & KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP) && alloc->size > PAGE_MASK + 1)
        return -EINVAL;
    return 0;
}

/* Gives the buffer its handle, or frees it when it could not be made. */
static int buffer_enter(struct driver *driver, struct buffer *buffer, int status, __u64 *handle)
{
    if (!status) {
        pthread_mutex_lock(&driver->lock);
        status = slot_add(driver, buffer, handle);
        pthread_mutex_unlock(&driver->lock);
    }
    if (!status)
        return 0;
    if (buffer->storage)
        storage_release(driver, buffer->storage);
    free(buffer);
    return status;
}

int kfd_memory_alloc(struct driver *driver, void *args)
{
    struct kfd_ioctl_alloc_memory_of_gpu_args *alloc = args;
    struct gpu *gpu = driver_gpu(driver, alloc->gpu_id);
    int status = gpu ? buffer_check(alloc) : -EINVAL;
    if (status)
        return status;
    struct buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return -ENOMEM;
    buffer->va = alloc->va_addr;
    buffer->size_bytes = (alloc->size + PAGE_MASK) & ~PAGE_MASK;
    buffer->flags = alloc->flags;
    buffer->gpu = gpu;
    status = buffer_place(driver, buffer, &alloc->mmap_offset);
    return buffer_enter(driver, buffer, status, &alloc->handle);
}

int kfd_memory_check(struct driver *driver, uint64_t start, uint64_t end)
{
    int status = 0;
    pthread_mutex_lock(&driver->lock);
    for (size_t slot = 0; slot < driver->buffer_slots && !status; slot++) {
        const struct buffer *buffer = driver->buffers[slot];
        if (!buffer)
            continue;
        const uint64_t at = buffer_is_user(buffer) ? (uintptr_t)buffer->host : buffer->va;
        if (at < end && at + buffer->size_bytes > start)
            status = buffer_is_user(buffer) ? -EADDRINUSE : -EFAULT;
    }
    pthread_mutex_unlock(&driver->lock);
    return status;
}

/* Under driver.lock. */
static struct buffer *buffer_at(const struct driver *driver, uint64_t handle)
{
    return handle && handle <= driver->buffer_slots ? driver->buffers[handle - 1] : NULL;
}

/* Takes the buffer for one operation; others wait meanwhile, as threads do for each other in the
 * kernel: runtimes lend and map a buffer by several threads at once. */
static int buffer_take(struct driver *driver, uint64_t handle, struct buffer **out)
{
    struct buffer *buffer;
    pthread_mutex_lock(&driver->lock);
    while ((buffer = buffer_at(driver, handle)) && buffer->busy)
        pthread_cond_wait(&driver->released, &driver->lock);
    if (buffer)
        buffer->busy = true;
    pthread_mutex_unlock(&driver->lock);
    *out = buffer;
    return buffer ? 0 : -EINVAL;
}

static void buffer_release(struct driver *driver, struct buffer *buffer)
{
    pthread_mutex_lock(&driver->lock);
    buffer->busy = false;
    pthread_cond_broadcast(&driver->released);
    pthread_mutex_unlock(&driver->lock);
}

/* The GPU gets its own view of the pages: the program may protect or unmap its view as it likes
 * (5.2 keeps device-private memory PROT_NONE), and no access of the GPU can raise a signal. */
static int buffer_host_map(struct driver *driver, struct buffer *buffer)
{
    if (buffer->host)
        return 0;
    if (buffer->storage)
        return storage_view_take(driver, buffer->storage, &buffer->host);
    void *host = real_mmap(NULL, buffer->size_bytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_NORESERVE, driver->file, (off_t)buffer->offset);
    if (host == MAP_FAILED)
        return -errno;
    madvise(host, buffer->size_bytes, MADV_DONTFORK);
    buffer->host = host;
    return 0;
}

static uint32_t vm_flags_of(const struct buffer *buffer, const struct gpu *gpu)
{
    uint32_t rights = VM_READ | (buffer->flags & KFD_ALLOC_WRITABLE ? VM_WRITE : 0) |
                      (buffer->flags & KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE ? VM_EXEC : 0);
    if (buffer->storage)
        return rights | storage_vm_flags(gpu, buffer->storage);
    return rights | memory_vm_flags(gpu, HOME_HOST, buffer->flags & KFD_COHERENCE_FLAGS);
}

static int buffer_vm_map(struct buffer *buffer, struct gpu *gpu)
{
    return vm_map(gpu->vm, buffer->va, buffer->size_bytes, buffer->host, vm_flags_of(buffer, gpu));
}

static bool buffer_is_doorbell(const struct buffer *buffer)
{
    return buffer->flags & KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL;
}

static int buffer_map(struct driver *driver, struct buffer *buffer, struct gpu *gpu)
{
    uint32_t bit = 1u << (gpu - driver->gpu);
    if (buffer->mapped & bit)
        return 0;
    int status = buffer_host_map(driver, buffer);
    if (!status)
        status = buffer_vm_map(buffer, gpu);
    if (status == -EEXIST) { /* the program freed shared virtual memory there and did not say so */
        svm_forget(driver, buffer->va, buffer->va + buffer->size_bytes);
        status = buffer_vm_map(buffer, gpu);
    }
    if (status)
        return status;
    if (buffer_is_doorbell(buffer) && !buffer->mapped) {
        doorbell_watch_add(driver->watch, (void *)(uintptr_t)buffer->va, buffer->size_bytes);
        /* The runtime maps the page after it made the queue: the command processor may be asleep
         * without a limit by now, and the page is not armed until it looks again. */
        cp_kick(driver->cp);
    }
    buffer->mapped |= bit;
    return 0;
}

static int buffer_unmap(struct driver *driver, struct buffer *buffer, struct gpu *gpu)
{
    uint32_t bit = 1u << (gpu - driver->gpu);
    if (!(buffer->mapped & bit))
        return 0;
    buffer->mapped &= ~bit;
    if (buffer_is_doorbell(buffer) && !buffer->mapped)
        doorbell_watch_remove(driver->watch, (void *)(uintptr_t)buffer->va);
    return vm_unmap(gpu->vm, buffer->va);
}

int kfd_memory_free(struct driver *driver, void *args)
{
    struct kfd_ioctl_free_memory_of_gpu_args *free_args = args;
    struct buffer *buffer;
    int status = buffer_take(driver, free_args->handle, &buffer);
    if (status)
        return status;
    for (int i = 0; i < driver->gpu_count; i++)
        buffer_unmap(driver, buffer, &driver->gpu[i]);
    if (buffer->host && buffer->storage)
        storage_view_release(driver, buffer->storage);
    else if (buffer->host && !buffer_is_user(buffer))
        host_unmap(buffer->host, buffer->size_bytes);
    pthread_mutex_lock(&driver->lock);
    driver->buffers[free_args->handle - 1] = NULL;
    pthread_cond_broadcast(&driver->released);
    pthread_mutex_unlock(&driver->lock);
    if (buffer->storage)
        storage_release(driver, buffer->storage);
    free(buffer);
    return 0;
}

/* Map and unmap share their argument layout, and the rule that *n_success counts the devices done,
 * so that a retry goes on from there. */
static int buffer_each(struct driver *driver, struct kfd_ioctl_map_memory_to_gpu_args *map,
                       int (*each)(struct driver *, struct buffer *, struct gpu *))
{
    uint32_t ids[GPU_DEVICES_MAX];
    struct buffer *buffer;
    if (map->n_devices == 0 || map->n_devices > GPU_DEVICES_MAX || map->n_success > map->n_devices)
        return -EINVAL;
    int status = user_read(ids, map->device_ids_array_ptr, map->n_devices * sizeof ids[0]);
    if (!status)
        status = buffer_take(driver, map->handle, &buffer);
    if (status)
        return status;
    while (!status && map->n_success < map->n_devices) {
        struct gpu *gpu = driver_gpu(driver, ids[map->n_success]);
        status = gpu ? each(driver, buffer, gpu) : -EINVAL;
        map->n_success += status == 0;
    }
    buffer_release(driver, buffer);
    return status;
}

int kfd_memory_map(struct driver *driver, void *args)
{
    return buffer_each(driver, args, buffer_map);
}

int kfd_memory_unmap(struct driver *driver, void *args)
{
    return buffer_each(driver, args, buffer_unmap);
}

int kfd_memory_available(struct driver *driver, void *args)
{
    struct kfd_ioctl_get_available_memory_args *memory = args;
    struct gpu *gpu = driver_gpu(driver, memory->gpu_id);
    if (!gpu)
        return -EINVAL;
    storage_reap(driver);
    pthread_mutex_lock(&driver->lock);
    memory->available = gpu->model->vram_bytes - gpu->vram_used_bytes;
    pthread_mutex_unlock(&driver->lock);
    return 0;
}

int kfd_dmabuf_export(struct driver *driver, void *args)
{
    struct kfd_export_dmabuf_args *export = args;
    struct buffer *buffer;
    int fd = -1, status = buffer_take(driver, export->handle, &buffer);
    if (status)
        return status;
    status = buffer->storage ? storage_export(driver, buffer->storage, (int)export->flags, &fd)
                             : -EINVAL;
    buffer_release(driver, buffer);
    if (!status)
        export->dmabuf_fd = (uint32_t)fd;
    return status;
}

static uint32_t heap_flag(const struct storage *storage)
{
    return storage->vram ? KFD_IOC_ALLOC_MEM_FLAGS_VRAM : KFD_IOC_ALLOC_MEM_FLAGS_GTT;
}

/* Copies the program's own description of the contents; a buffer that is too small learns the size.
 */
static int metadata_copy(const struct storage *storage, struct kfd_ioctl_get_dmabuf_info_args *info)
{
    struct storage_metadata metadata;
    uint32_t room_bytes = info->metadata_size;
    int status = storage_metadata_read(storage, &metadata);
    if (status)
        return status;
    info->metadata_size = metadata.size_bytes;
    if (room_bytes < metadata.size_bytes)
        return -EINVAL;
    return metadata.size_bytes ? user_write(info->metadata_ptr, metadata.bytes, metadata.size_bytes)
                               : 0;
}

int kfd_dmabuf_info(struct driver *driver, void *args)
{
    struct kfd_ioctl_get_dmabuf_info_args *info = args;
    struct storage *storage;
    int status = storage_import(driver, (int)info->dmabuf_fd, &storage);
    if (status)
        return status;
    info->size = storage->size_bytes;
    info->gpu_id = storage->gpu_id;
    info->flags = heap_flag(storage);
    status = metadata_copy(storage, info);
    storage_release(driver, storage);
    return status;
}

/* A buffer that shares memory which somebody else allocated; takes over the reference. */
static int buffer_share(struct driver *driver, struct gpu *gpu, uint64_t va,
                        struct storage *storage, __u64 *handle)
{
    struct buffer *buffer = calloc(1, sizeof *buffer);
    int status = range_fits(va, storage->size_bytes) ? 0 : -EINVAL;
    if (!buffer || status) {
        storage_release(driver, storage);
        free(buffer);
        return status ? status : -ENOMEM;
    }
    *buffer = (struct buffer){.va = va,
                              .size_bytes = storage->size_bytes,
                              .storage = storage,
                              .flags = heap_flag(storage) | KFD_ALLOC_WRITABLE |
                                       KFD_IOC_ALLOC_MEM_FLAGS_EXECUTABLE,
                              .gpu = gpu};
    return buffer_enter(driver, buffer, 0, handle);
}

int kfd_dmabuf_import(struct driver *driver, void *args)
{
    struct kfd_ioctl_import_dmabuf_args *import = args;
    struct gpu *gpu = driver_gpu(driver, import->gpu_id);
    struct storage *storage;
    if (!gpu || (import->va_addr & PAGE_MASK))
        return -EINVAL;
    int status = storage_import(driver, (int)import->dmabuf_fd, &storage);
    return status ? status : buffer_share(driver, gpu, import->va_addr, storage, &import->handle);
}

int kfd_ipc_export(struct driver *driver, void *args)
{
    struct kfd_ipc_export_args *export = args;
    struct buffer *buffer;
    int status = buffer_take(driver, export->handle, &buffer);
    if (status)
        return status;
    status = buffer->storage ? storage_publish(driver, buffer->storage, &export->name) : -EINVAL;
    if (!status && !buffer->storage->foreign)
        status = storage_flags_say(buffer->storage, export->flags);
    buffer_release(driver, buffer);
    return status;
}

/* Where mmap() of a render node finds another process's memory: its buffer's number is in the
 * offset. So many are below DRM_FOREIGN_BEGIN; more have none, and libhsakmt no view of them. */
enum { FOREIGN_NUMBERS = 1 << 20 };

static uint64_t foreign_offset(uint64_t handle)
{
    return handle < FOREIGN_NUMBERS ? KFD_FOREIGN_BEGIN + (handle << STORAGE_SIZE_BITS) : 0;
}

void *kfd_foreign_map(struct driver *driver, void *address, size_t size_bytes, int rights,
                      int flags, uint64_t offset)
{
    struct buffer *buffer;
    const int status =
        buffer_take(driver, (offset - KFD_FOREIGN_BEGIN) >> STORAGE_SIZE_BITS, &buffer);
    if (status) {
        errno = -status;
        return MAP_FAILED;
    }
    void *view = storage_foreign_map(buffer->storage, address, size_bytes, rights, flags, offset);
    buffer_release(driver, buffer);
    return view;
}

/* libhsakmt knows whose memory it is only if there is an offset, which it maps. The flags are its
 * own: those that the exporter gave. */
int kfd_ipc_import(struct driver *driver, void *args)
{
    struct kfd_ipc_import_args *import = args;
    struct gpu *gpu = driver_gpu(driver, import->gpu_id);
    struct storage *storage;
    __u64 handle = 0;
    if (!gpu || (import->va_addr & PAGE_MASK))
        return -EINVAL;
    int status = storage_find(driver, &import->name, &storage);
    if (status)
        return status;
    const bool foreign = storage->foreign;
    const uint64_t offset = storage->offset;
    import->flags = storage_flags_said(storage);
    status = buffer_share(driver, gpu, import->va_addr, storage, &handle);
    import->handle = handle;
    import->mmap_offset = foreign ? foreign_offset(handle) : offset;
    return status;
}
