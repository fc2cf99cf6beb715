/* For programs that look at a preloaded libcrocgpu without a test library: a check that says where
 * it failed, and counts. */
#ifndef DRIVER_TEST_PRELOADED_H
#define DRIVER_TEST_PRELOADED_H

#include <errno.h>
#include <stdio.h>

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno);               \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* Of the first GPU. */
static inline unsigned first_gpu_id(void)
{
    unsigned id = 0;
    FILE *file = fopen("/sys/class/kfd/kfd/topology/nodes/1/gpu_id", "r");
    CHECK(file && fscanf(file, "%u", &id) == 1);
    if (file)
        fclose(file);
    return id;
}

#endif
