/*
 * The few libdrm functions the runtimes use on a render node, defined here so that they win over
 * libdrm's by symbol order. Below them the render node is the driver's device file and answers
 * only the DRM ioctls that ask (drm_info.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "driver/drm.h"
#include "driver/drm_info.h"
#include "driver/real.h"
#include "driver/topology.h"

int drmOpenRender(int minor);
int drmClose(int fd);

struct amdgpu_device {
    const struct gpu_model *model; /* writers: initialize, always the same value */
    _Atomic int fd; /* its own descriptor of the render node; relaxed, checked before use */
};

static struct amdgpu_device devices[GPU_DEVICES_MAX];

/* The device's own descriptor of its render node, as libdrm keeps one: the program's may be closed,
 * and its number taken by another file. Made again after a fork. */
static int device_fd(struct amdgpu_device *device)
{
    int fd = atomic_load_explicit(&device->fd, memory_order_relaxed);
    if (fd > 0 && driver_of_fd(fd))
        return fd;
    int low =
        driver_open_render(topology_render_minor((int)(device - devices)), O_RDWR | O_CLOEXEC);
    if (low < 0)
        return -errno;
    fd = fcntl(low, F_DUPFD_CLOEXEC, FILE_NUMBER_MIN);
    if (fd < 0)
        fd = low; /* fewer descriptors allowed than that */
    else
        close(low);
    atomic_store_explicit(&device->fd, fd, memory_order_relaxed);
    return fd;
}

EXPORT int drmOpenRender(int minor)
{
    if (minor >= 0 && driver_model_of_minor((uint32_t)minor))
        return driver_open_render((uint32_t)minor, O_RDWR | O_CLOEXEC);
    __typeof__(&drmOpenRender) real = REAL(drmOpenRender);
    return real ? real(minor) : -ENOENT;
}

EXPORT int drmClose(int fd)
{
    return close(fd);
}

EXPORT int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor,
                                    amdgpu_device_handle *handle)
{
    if (!driver_of_fd(fd)) {
        __typeof__(&amdgpu_device_initialize) real = REAL(amdgpu_device_initialize);
        return real ? real(fd, major, minor, handle) : -ENODEV;
    }
    for (int i = 0; i < GPU_DEVICES_MAX; i++) {
        uint32_t render_minor = topology_render_minor(i);
        const struct gpu_model *model = driver_model_of_minor(render_minor);
        if (!model || driver_render_minor_of_fd(fd) != render_minor)
            continue;
        devices[i].model = model;
        *major = 3;
        *minor = 57;
        *handle = &devices[i];
        return 0;
    }
    return -ENODEV;
}

static bool ours(amdgpu_device_handle handle)
{
    return handle >= devices && handle < devices + GPU_DEVICES_MAX;
}

struct gpu *drm_device_gpu(amdgpu_device_handle handle, struct driver **driver)
{
    if (!ours(handle))
        return NULL;
    int fd = device_fd(handle);
    *driver = fd >= 0 ? driver_of_fd(fd) : NULL;
    return *driver ? driver_gpu(*driver, topology_gpu_id((int)(handle - devices))) : NULL;
}

EXPORT int amdgpu_device_deinitialize(amdgpu_device_handle handle)
{
    if (ours(handle))
        return 0;
    __typeof__(&amdgpu_device_deinitialize) real = REAL(amdgpu_device_deinitialize);
    return real ? real(handle) : -EINVAL;
}

EXPORT int amdgpu_device_get_fd(amdgpu_device_handle handle)
{
    if (ours(handle))
        return device_fd(handle);
    __typeof__(&amdgpu_device_get_fd) real = REAL(amdgpu_device_get_fd);
    return real ? real(handle) : -EINVAL;
}

EXPORT const char *amdgpu_get_marketing_name(amdgpu_device_handle handle)
{
    if (ours(handle))
        return handle->model->marketing_name;
    __typeof__(&amdgpu_get_marketing_name) real = REAL(amdgpu_get_marketing_name);
    return real ? real(handle) : NULL;
}

EXPORT int amdgpu_query_gpu_info(amdgpu_device_handle handle, struct amdgpu_gpu_info *info)
{
    if (!ours(handle)) {
        __typeof__(&amdgpu_query_gpu_info) real = REAL(amdgpu_query_gpu_info);
        return real ? real(handle, info) : -EINVAL;
    }
    const struct gpu_model *model = handle->model;
    memset(info, 0, sizeof *info);
    info->asic_id = model->device_id;
    info->pci_rev_id = model->revision_id;
    info->chip_external_rev = model->external_rev;
    info->family_id = model->family_id;
    info->max_engine_clk = (uint64_t)model->sclk_mhz * 1000;
    info->max_memory_clk = (uint64_t)model->mclk_mhz * 1000;
    info->num_shader_engines = model->se_count;
    info->num_shader_arrays_per_engine = model->sh_per_se;
    info->gpu_counter_freq = GPU_CLOCK_HZ / 1000;
    info->gb_addr_cfg = GPU_ADDRESS_CONFIG;
    info->vram_bit_width = 4096;
    info->cu_active_number = model->cu_active;
    drm_compute_units_fill(model, info->cu_bitmap);
    return 0;
}
