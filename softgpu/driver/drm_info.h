/* The DRM ioctls of a render node that ask and change nothing: what libdrm, amd_smi and Mesa's
 * tools learn about a GPU. */
#ifndef DRIVER_DRM_INFO_H
#define DRIVER_DRM_INFO_H

#include <stdint.h>

#include "core/device.h"

/* `request` is the whole ioctl number, `args` a user address. 0 or a negative errno; -ENOTTY: not
 * one of these. */
int drm_info_ioctl(uint32_t render_minor, unsigned long request, uint64_t args);

/* libdrm has room for four shader engines; the kernel folds engine n into row n % 4. */
void drm_compute_units_fill(const struct gpu_model *model, uint32_t bitmap[4][4]);

#endif
