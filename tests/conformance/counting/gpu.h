/*
 * The program under the counting tests: HSA without HIP. Failures end the test (cmocka asserts).
 * gpus_open and gpus_close on one thread, the others on any.
 */
#ifndef CONFORMANCE_COUNTING_GPU_H
#define CONFORMANCE_COUNTING_GPU_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    GPUS_MAX = 8,
    GROUP_ITEMS = 256,
    WAVE_ITEMS = 64,
    WAVES_OF_GROUP = GROUP_ITEMS / WAVE_ITEMS
};

struct gpu {
    hsa_agent_t agent;
    uint32_t node;
    char name[64];
    hsa_queue_t *queue;
    uint64_t store_index, wait_for, tell_and_wait; /* kernel objects */
    uint32_t *memory;                              /* host memory that it sees */
    uint32_t **kernarg;                            /* arguments: `memory` */
};

extern struct gpu gpus[GPUS_MAX];
extern uint32_t gpu_count;

/* hsa_init, agents, one queue each; kernels from DIRECTORY/kernels_<gfx>.co. */
void gpus_open(const char *directory);
void gpus_close(void);
/* The same with queues, work in flight and memory left to the runtime. */
void gpus_abandon(void);

/* Another queue; hsa_queue_destroy it. */
hsa_queue_t *gpu_queue(const struct gpu *gpu);

/* A launch of `groups` work-groups of GROUP_ITEMS; `argument` is the kernel's pointer. */
hsa_signal_t gpu_launch(struct gpu *gpu, hsa_queue_t *queue, uint64_t kernel, uint32_t groups,
                        uint32_t *argument);
/* The same with kernel arguments and signal of the caller's. */
void gpu_submit(hsa_queue_t *queue, uint64_t kernel, uint32_t groups, void *kernarg,
                hsa_signal_t done);
/* Waits and destroys the signal. */
void gpu_finish(hsa_signal_t signal);
/* store_index on the GPU's own queue, finished. */
void gpu_run(struct gpu *gpu, uint32_t groups);

#endif
