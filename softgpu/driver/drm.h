/* What the libdrm functions of this library share. */
#ifndef DRIVER_DRM_H
#define DRIVER_DRM_H

#include <libdrm/amdgpu.h>

#include "driver/driver.h"

#define EXPORT __attribute__((visibility("default")))

/* The GPU behind a device handle of ours, while the driver runs that made it; else NULL. */
struct gpu *drm_device_gpu(amdgpu_device_handle handle, struct driver **driver);

/* Where GEM_MMAP says that objects of another process's memory are: behind everything that the
 * device file can hold. mmap() there is served by this. */
#define DRM_FOREIGN_BEGIN (UINT64_C(1) << 61)
void *drm_bo_foreign_map(void *address, size_t size_bytes, int rights, int flags, uint64_t offset);

#endif
