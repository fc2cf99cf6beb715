#include <errno.h>
#include <sys/mman.h>

#include "driver/kfd.h"
#include "driver/kfd_abi.h"
#include "driver/real.h"
#include "driver/uaccess.h"

/* The topology reports as many; the driver spreads SDMA queues over them. */
enum { SDMA_ENGINES = 2 };

static int queue_type(uint32_t kfd_type, enum cp_queue_type *type)
{
    switch (kfd_type) {
    case KFD_IOC_QUEUE_TYPE_COMPUTE:
        *type = CP_QUEUE_PM4;
        return 0;
    case KFD_IOC_QUEUE_TYPE_COMPUTE_AQL:
        *type = CP_QUEUE_AQL;
        return 0;
    case KFD_IOC_QUEUE_TYPE_SDMA:
    case KFD_IOC_QUEUE_TYPE_SDMA_XGMI:
    case KFD_QUEUE_TYPE_SDMA_BY_ENGINE:
        *type = CP_QUEUE_SDMA;
        return 0;
    }
    return -EINVAL;
}

static bool ring_size_usable(uint32_t bytes)
{
    return bytes >= KFD_MIN_QUEUE_RING_SIZE && (bytes & (bytes - 1)) == 0;
}

static int queue_check(const struct kfd_ioctl_create_queue_args *create)
{
    if (create->queue_percentage > KFD_MAX_QUEUE_PERCENTAGE ||
        create->queue_priority > KFD_MAX_QUEUE_PRIORITY)
        return -EINVAL;
    return create->ring_base_address && ring_size_usable(create->ring_size) ? 0 : -EINVAL;
}

/* Under driver.lock. */
static int doorbells_map(struct driver *driver, struct gpu *gpu)
{
    if (gpu->doorbells)
        return 0;
    off_t offset = (off_t)(DEVICE_OFFSET_DOORBELL * (uint64_t)(gpu - driver->gpu + 1));
    void *page = real_mmap(NULL, DOORBELL_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                           driver->file, offset);
    if (page == MAP_FAILED)
        return -errno;
    madvise(page, DOORBELL_PAGE_BYTES, MADV_DONTFORK);
    gpu->doorbells = page;
    return 0;
}

/* Ids count over all GPUs, each id's doorbell lies in its own GPU's page. The queue is busy until
 * it is made. */
static int queue_reserve(struct driver *driver, struct gpu *gpu, uint32_t *id)
{
    pthread_mutex_lock(&driver->lock);
    int status = doorbells_map(driver, gpu);
    uint32_t free_id = 1;
    while (free_id < DOORBELLS_PER_PAGE && driver->queues[free_id].used)
        free_id++;
    if (!status && free_id == DOORBELLS_PER_PAGE)
        status = -ENOMEM;
    if (!status)
        driver->queues[free_id] = (struct queue){.used = true, .busy = true};
    pthread_mutex_unlock(&driver->lock);
    *id = free_id;
    return status;
}

/* Takes the queue for one operation; others wait meanwhile, as threads do for each other in the
 * kernel. */
static int queue_take(struct driver *driver, uint32_t id, struct queue **out)
{
    if (id >= DOORBELLS_PER_PAGE)
        return -EINVAL;
    struct queue *queue = &driver->queues[id];
    pthread_mutex_lock(&driver->lock);
    while (queue->used && queue->busy)
        pthread_cond_wait(&driver->released, &driver->lock);
    const bool found = queue->used;
    if (found)
        queue->busy = true;
    pthread_mutex_unlock(&driver->lock);
    *out = queue;
    return found ? 0 : -EINVAL;
}

static void queue_release(struct driver *driver, struct queue *queue)
{
    pthread_mutex_lock(&driver->lock);
    queue->busy = false;
    pthread_cond_broadcast(&driver->released);
    pthread_mutex_unlock(&driver->lock);
}

static void queue_forget(struct driver *driver, uint32_t id)
{
    pthread_mutex_lock(&driver->lock);
    driver->queues[id] = (struct queue){0};
    pthread_cond_broadcast(&driver->released);
    pthread_mutex_unlock(&driver->lock);
}

/* Sets the values of an idle queue: no doorbell yet, and SDMA pointers at the start of the ring. */
static int queue_pointers_reset(const struct cp_queue_config *config)
{
    static const uint64_t zero;
    uint64_t probe;
    if (config->type == CP_QUEUE_AQL) {
        *config->doorbell = UINT64_MAX;
        int status = user_read(&probe, config->read_pointer_va, sizeof probe);
        return status ? status : user_read(&probe, config->write_pointer_va, sizeof probe);
    }
    *config->doorbell = 0;
    int status = user_write(config->read_pointer_va, &zero, sizeof zero);
    return status ? status : user_write(config->write_pointer_va, &zero, sizeof zero);
}

static bool runtime_is_enabled(struct driver *driver)
{
    pthread_mutex_lock(&driver->lock);
    bool enabled = driver->runtimes > 0;
    pthread_mutex_unlock(&driver->lock);
    return enabled;
}

int kfd_queue_create(struct driver *driver, void *args)
{
    struct kfd_ioctl_create_queue_args *create = args;
    struct gpu *gpu = driver_gpu(driver, create->gpu_id);
    struct cp_queue_config config = {
        .gpu_id = create->gpu_id,
        .ring_va = create->ring_base_address,
        .ring_bytes = create->ring_size,
        .read_pointer_va = create->read_pointer_address,
        .write_pointer_va = create->write_pointer_address,
        .percent = create->queue_percentage,
    };
    int status = gpu ? queue_check(create) : -EINVAL;
    if (!status)
        status = queue_type(create->queue_type, &config.type);
    if (!status && config.type == CP_QUEUE_AQL && runtime_is_enabled(driver))
        config.exception_area_va = create->ctx_save_restore_address;
    if (!status)
        status = queue_reserve(driver, gpu, &config.queue_id);
    if (status)
        return status;
    config.doorbell = &gpu->doorbells[config.queue_id];
    config.sdma_engine = config.queue_id % SDMA_ENGINES;
    status = queue_pointers_reset(&config);
    if (!status) {
        driver->queues[config.queue_id].config = config;
        status = cp_queue_create(gpu->cp, &config);
    }
    if (status) {
        queue_forget(driver, config.queue_id);
        return status;
    }
    queue_release(driver, &driver->queues[config.queue_id]);
    create->queue_id = config.queue_id;
    create->doorbell_offset =
        DEVICE_OFFSET_DOORBELL * (uint64_t)(gpu - driver->gpu + 1) + 8 * (uint64_t)config.queue_id;
    return 0;
}

/* A queue without a ring stops, as one with percentage zero does; the ring that it has stays its
 * own: no runtime gives it another one. */
int kfd_queue_update(struct driver *driver, void *args)
{
    struct kfd_ioctl_update_queue_args *update = args;
    struct queue *queue;
    bool has_ring = update->ring_base_address && update->ring_size;
    if (update->queue_percentage > KFD_MAX_QUEUE_PERCENTAGE ||
        update->queue_priority > KFD_MAX_QUEUE_PRIORITY ||
        (has_ring && !ring_size_usable(update->ring_size)))
        return -EINVAL;
    int status = queue_take(driver, update->queue_id, &queue);
    if (status)
        return status;
    struct cp_queue_config config = queue->config;
    config.percent = has_ring ? update->queue_percentage : 0;
    status = cp_queue_update(driver_gpu(driver, config.gpu_id)->cp, &config);
    if (!status)
        queue->config = config;
    queue_release(driver, queue);
    return status;
}

int kfd_queue_destroy(struct driver *driver, void *args)
{
    struct kfd_ioctl_destroy_queue_args *destroy = args;
    struct queue *queue;
    int status = queue_take(driver, destroy->queue_id, &queue);
    if (status)
        return status;
    status = cp_queue_destroy(driver_gpu(driver, queue->config.gpu_id)->cp, destroy->queue_id);
    queue_forget(driver, destroy->queue_id);
    return status;
}

/* As many words as the program names; units behind them are off, those that no GPU has are
 * ignored. A mask of no unit is as good as none here; hardware would never start a kernel. */
static int mask_read(const struct kfd_ioctl_set_cu_mask_args *set, struct unit_mask *mask)
{
    uint32_t bits = set->num_cu_mask < GPU_UNITS_MAX ? set->num_cu_mask : GPU_UNITS_MAX;
    uint32_t words[GPU_UNITS_MAX / 32] = {0};
    if (bits == 0 || set->num_cu_mask % 32 != 0)
        return -EINVAL;
    int status = user_read(words, set->cu_mask_ptr, bits / 8);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        mask->words[i / 2] |= (uint64_t)words[i] << i % 2 * 32;
    return status;
}

/* An unknown queue gives EFAULT, as with the kernel's driver. */
int kfd_queue_mask_set(struct driver *driver, void *args)
{
    const struct kfd_ioctl_set_cu_mask_args *set = args;
    struct queue *queue;
    struct unit_mask mask = {{0}};
    int status = mask_read(set, &mask);
    if (status)
        return status;
    status = queue_take(driver, set->queue_id, &queue);
    if (status)
        return status == -EINVAL ? -EFAULT : status;
    struct cp_queue_config config = queue->config;
    config.units = mask;
    status = cp_queue_update(driver_gpu(driver, config.gpu_id)->cp, &config);
    if (!status)
        queue->config = config;
    queue_release(driver, queue);
    return status;
}

/* Under driver.lock. */
static bool gws_taken(const struct driver *driver, uint32_t gpu_id)
{
    for (uint32_t id = 1; id < DOORBELLS_PER_PAGE; id++) {
        const struct queue *queue = &driver->queues[id];
        if (queue->used && queue->config.gws && queue->config.gpu_id == gpu_id)
            return true;
    }
    return false;
}

/* Takes or gives back (num_gws 0) all of the GPU's: one queue of a process has them, as with the
 * kernel's driver, which looks at no count. */
int kfd_queue_gws_set(struct driver *driver, void *args)
{
    struct kfd_ioctl_alloc_queue_gws_args *alloc = args;
    struct queue *queue;
    bool wanted = alloc->num_gws > 0;
    int status = queue_take(driver, alloc->queue_id, &queue);
    if (status)
        return status;
    pthread_mutex_lock(&driver->lock);
    if (queue->config.type != CP_QUEUE_AQL || (!wanted && !queue->config.gws))
        status = -EINVAL;
    else if (wanted && gws_taken(driver, queue->config.gpu_id))
        status = -EBUSY;
    else
        queue->config.gws = wanted;
    struct cp_queue_config config = queue->config;
    pthread_mutex_unlock(&driver->lock);
    if (!status)
        status = cp_queue_update(driver_gpu(driver, config.gpu_id)->cp, &config);
    queue_release(driver, queue);
    alloc->first_gws = 0;
    return status;
}
