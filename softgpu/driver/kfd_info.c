/* The ioctls that only tell something. */
#include <errno.h>
#include <string.h>

#include "driver/kfd.h"
#include "driver/kfd_abi.h"
#include "driver/uaccess.h"

/* Generic addresses in these ranges mean LDS and scratch memory; the same numbers as the kernel's
 * for gfx9, so that pointers look familiar. */
#define LDS_BASE             UINT64_C(0x1000000000000)
#define SCRATCH_BASE         UINT64_C(0x2000000000000)
#define APERTURE_LIMIT(base) ((base) + UINT64_C(0xffffffff))
/* A limit of 2^47 - 1 makes the thunk take addresses from plain mmap. */
#define GPUVM_BASE  UINT64_C(0x1000000)
#define GPUVM_LIMIT UINT64_C(0x7fffffffffff)

int kfd_version_get(struct driver *driver, void *args)
{
    (void)driver;
    struct kfd_ioctl_get_version_args *version = args;
    version->major_version = KFD_MAJOR;
    version->minor_version = KFD_MINOR;
    return 0;
}

int kfd_clocks_get(struct driver *driver, void *args)
{
    (void)driver;
    struct kfd_ioctl_get_clock_counters_args *clocks = args;
    /* One reading for all: with two, an interrupt between them would put the runtime's conversion,
     * which such pairs make, off by as long. */
    uint64_t ticks = gpu_clock_ticks();
    uint64_t ns = ticks * (1000000000u / GPU_CLOCK_HZ);
    clocks->gpu_clock_counter = ticks;
    clocks->cpu_clock_counter = ns;
    clocks->system_clock_counter = ns;
    clocks->system_clock_freq = 1000000000;
    return 0;
}

static struct kfd_process_device_apertures apertures_of(const struct gpu *gpu)
{
    return (struct kfd_process_device_apertures){
        .lds_base = LDS_BASE,
        .lds_limit = APERTURE_LIMIT(LDS_BASE),
        .scratch_base = SCRATCH_BASE,
        .scratch_limit = APERTURE_LIMIT(SCRATCH_BASE),
        .gpuvm_base = GPUVM_BASE,
        .gpuvm_limit = GPUVM_LIMIT,
        .gpu_id = gpu->gpu_id,
    };
}

int kfd_apertures_get(struct driver *driver, void *args)
{
    struct kfd_ioctl_get_process_apertures_args *out = args;
    int count =
        driver->gpu_count < NUM_OF_SUPPORTED_GPUS ? driver->gpu_count : NUM_OF_SUPPORTED_GPUS;
    for (int i = 0; i < count; i++)
        out->process_apertures[i] = apertures_of(&driver->gpu[i]);
    out->num_of_nodes = (uint32_t)count;
    return 0;
}

int kfd_apertures_get_new(struct driver *driver, void *args)
{
    struct kfd_ioctl_get_process_apertures_new_args *out = args;
    struct kfd_process_device_apertures list[GPU_DEVICES_MAX];
    uint32_t count = (uint32_t)driver->gpu_count;
    if (out->num_of_nodes == 0) { /* asks for the number only */
        out->num_of_nodes = count;
        return 0;
    }
    if (count > out->num_of_nodes)
        count = out->num_of_nodes;
    for (uint32_t i = 0; i < count; i++)
        list[i] = apertures_of(&driver->gpu[i]);
    out->num_of_nodes = count;
    return user_write(out->kfd_process_device_apertures_ptr, list, count * sizeof list[0]);
}

int kfd_tile_config_get(struct driver *driver, void *args)
{
    enum { TILES = 32, MACRO_TILES = 16 };
    static const uint32_t zeros[TILES];
    struct kfd_ioctl_get_tile_config_args *config = args;
    if (!driver_gpu(driver, config->gpu_id))
        return -EINVAL;
    if (config->num_tile_configs > TILES)
        config->num_tile_configs = TILES;
    if (config->num_macro_tile_configs > MACRO_TILES)
        config->num_macro_tile_configs = MACRO_TILES;
    config->gb_addr_config = GPU_ADDRESS_CONFIG;
    int status = user_write(config->tile_config_ptr, zeros, config->num_tile_configs * 4);
    if (!status)
        status =
            user_write(config->macro_tile_config_ptr, zeros, config->num_macro_tile_configs * 4);
    return status;
}

static bool has_queues(const struct driver *driver)
{
    for (int id = 0; id < DOORBELLS_PER_PAGE; id++)
        if (driver->queues[id].used)
            return true;
    return false;
}

static bool all_retry_faults(const struct driver *driver)
{
    for (int i = 0; i < driver->gpu_count; i++)
        if (!driver->gpu[i].model->retries_faults)
            return false;
    return true;
}

/* Under driver.lock. */
static int xnack_set(struct driver *driver, bool wanted)
{
    if (has_queues(driver))
        return -EBUSY;
    if (wanted && !all_retry_faults(driver))
        return -EPERM;
    driver->has_xnack = wanted;
    for (int i = 0; i < driver->gpu_count; i++)
        vm_faults_set(driver->gpu[i].vm, wanted ? page_fault_find : NULL, &driver->gpu[i]);
    return 0;
}

/* Negative: asks. */
int kfd_xnack_set(struct driver *driver, void *args)
{
    struct kfd_ioctl_set_xnack_mode_args *mode = args;
    int status = 0;
    pthread_mutex_lock(&driver->lock);
    if (mode->xnack_enabled >= 0)
        status = xnack_set(driver, mode->xnack_enabled);
    else
        mode->xnack_enabled = driver->has_xnack;
    pthread_mutex_unlock(&driver->lock);
    return status;
}

/* Queues that are made from now on tell their runtime of exceptions; no debugger waits for it. The
 * kernel's driver takes one runtime of a process, we take all: programs with two work on GPUs whose
 * firmware cannot be debugged. */
int kfd_runtime_enable(struct driver *driver, void *args)
{
    struct kfd_runtime_enable_args *enable = args;
    pthread_mutex_lock(&driver->lock);
    if (enable->mode_mask & KFD_RUNTIME_ENABLE)
        driver->runtimes++;
    else if (driver->runtimes > 0)
        driver->runtimes--;
    pthread_mutex_unlock(&driver->lock);
    enable->capabilities_mask = KFD_RUNTIME_CAN_DUMP_CORE; /* the runtime need not do it itself */
    return 0;
}

int kfd_accept(struct driver *driver, void *args)
{
    (void)driver;
    (void)args;
    return 0;
}
