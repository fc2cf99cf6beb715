/* What the libdrm functions of this library share. */
#ifndef DRIVER_DRM_H
#define DRIVER_DRM_H

#include <libdrm/amdgpu.h>

#include "driver/driver.h"

#define EXPORT __attribute__((visibility("default")))

/* The GPU behind a device handle of ours, while the driver runs that made it; else NULL. */
struct gpu *drm_device_gpu(amdgpu_device_handle handle, struct driver **driver);

#endif
