/* Kernels of a code object on the first GPU, through HSA alone: what tests need that bring machine
 * code of their own. One thread. Every function that can fail says so by its result, and
 * hsa_kernel_error() why. */
#ifndef CROC_TESTS_HSA_KERNEL_H
#define CROC_TESTS_HSA_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

bool hsa_kernel_open(void);
void hsa_kernel_close(void);
const char *hsa_kernel_error(void);

/* Memory of the host, coarse-grained, that the GPU sees too, zeroed; NULL when there is none. */
void *hsa_kernel_memory_new(size_t bytes);
void hsa_kernel_memory_free(void *memory);

struct hsa_kernel_work {
    const char *object; /* path of the code object */
    const char *kernel; /* its name, without .kd */
    const void *arguments;
    size_t argument_bytes;
    uint32_t groups, items; /* items of a group */
};
/* Loads, runs, waits, unloads. */
bool hsa_kernel_run(const struct hsa_kernel_work *work);

#ifdef __cplusplus
}
#endif
#endif
