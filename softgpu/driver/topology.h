/* Fills a file tree with the KFD topology of a list of modelled GPUs. */
#ifndef DRIVER_TOPOLOGY_H
#define DRIVER_TOPOLOGY_H

#include "core/device.h"
#include "driver/vtree.h"

/* GPU number n is topology node n + 1 (node 0 is the CPU). */
uint32_t topology_gpu_id(int gpu);
uint32_t topology_render_minor(int gpu);
int topology_fill(struct vtree *tree, const struct gpu_model *const models[], int count);

#endif
