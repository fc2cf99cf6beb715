/* Fills a file tree with the KFD topology of a list of modelled GPUs. */
#ifndef DRIVER_TOPOLOGY_H
#define DRIVER_TOPOLOGY_H

#include "core/device.h"
#include "driver/vtree.h"

/* GPU number n is topology node n + 1 (node 0 is the CPU). */
enum { TOPOLOGY_SDMA_FIRMWARE = 8, TOPOLOGY_DRM_MAJOR = 226, TOPOLOGY_KFD_MAJOR = 240 };
uint32_t topology_gpu_id(int gpu);
uint32_t topology_render_minor(int gpu);
/* GPU number n is function 0000:BUS:00.0. */
uint32_t topology_pci_bus(int gpu);
uint64_t topology_unique_id(int gpu);
int topology_fill(struct vtree *tree, const struct gpu_model *const models[], int count);

#endif
