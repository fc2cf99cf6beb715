/* Fills a file tree with what the kernel's graphics driver shows of each GPU beside the KFD: the
 * PCI function, its DRM nodes and its sensors, for rocm_smi, amd_smi and libdrm. */
#ifndef DRIVER_SYSFS_H
#define DRIVER_SYSFS_H

#include "core/device.h"
#include "driver/vtree.h"

int sysfs_fill(struct vtree *tree, const struct gpu_model *const models[], int count);

/* What is true at this moment of a GPU by its number, of this process's use of it: no other
 * process is seen. */
uint64_t gauge_vram_used_bytes(int gpu);
uint32_t gauge_busy_percent(int gpu);
/* Files whose content changes; see vtree_add_live(). */
vnode_live gauge_vram_used, gauge_busy, gauge_metrics;

#endif
