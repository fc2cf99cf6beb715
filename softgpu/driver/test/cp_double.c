/* A command processor that accepts queues and executes nothing: stands in for cp/ in this folder's
 * tests, which look at the driver's side only. */
#include "driver/test/cp_double.h"

#include <stdatomic.h>
#include <stdlib.h>

struct cp {
    struct cp_driver_ops ops;
    void *driver;
    int kicks;
};
struct cp_device {
    int queues;
};

int cp_create(const struct cp_driver_ops *ops, void *driver, struct cp **cp)
{
    *cp = calloc(1, sizeof **cp);
    if (!*cp)
        return -12;
    (*cp)->ops = *ops;
    (*cp)->driver = driver;
    return 0;
}

void cp_destroy(struct cp *cp)
{
    free(cp);
}

int cp_device_create(struct cp *cp, uint32_t gpu_id, const struct gpu_model *model, struct vm *vm,
                     struct cp_device **device)
{
    (void)cp;
    (void)gpu_id;
    (void)model;
    (void)vm;
    *device = calloc(1, sizeof **device);
    return *device ? 0 : -12;
}

void cp_device_destroy(struct cp_device *device)
{
    free(device);
}

int cp_queue_create(struct cp_device *device, const struct cp_queue_config *config)
{
    (void)config;
    device->queues++;
    return 0;
}

int cp_queue_update(struct cp_device *device, const struct cp_queue_config *config)
{
    (void)device;
    (void)config;
    return 0;
}

int cp_queue_destroy(struct cp_device *device, uint32_t queue_id)
{
    (void)queue_id;
    device->queues--;
    return 0;
}

bool cp_device_busy(const struct cp_device *device)
{
    (void)device;
    return false;
}

void cp_kick(struct cp *cp)
{
    cp->kicks++;
}

void cp_after_fork_child(struct cp *cp)
{
    (void)cp;
}

void cp_double_memory_fault(struct cp *cp, uint32_t gpu_id, uint64_t va, uint32_t access)
{
    cp->ops.memory_fault(cp->driver, gpu_id, va, access);
}
