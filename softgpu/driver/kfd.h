/* The AMDKFD ioctls. Every handler returns 0 or -errno and fills its arguments in place. */
#ifndef DRIVER_KFD_H
#define DRIVER_KFD_H

#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"

/* `request` and `user` as the program gave them to ioctl(2); 0 or -errno. */
int kfd_ioctl(struct driver *driver, unsigned long request, uint64_t user);

int kfd_version_get(struct driver *driver, void *args);
int kfd_clocks_get(struct driver *driver, void *args);
int kfd_apertures_get(struct driver *driver, void *args);
int kfd_apertures_get_new(struct driver *driver, void *args);
int kfd_tile_config_get(struct driver *driver, void *args);
int kfd_xnack_set(struct driver *driver, void *args);
int kfd_memory_available(struct driver *driver, void *args);
int kfd_runtime_enable(struct driver *driver, void *args);
int kfd_accept(struct driver *driver, void *args); /* has no effect on a modelled GPU */

int kfd_event_create(struct driver *driver, void *args);
int kfd_event_destroy(struct driver *driver, void *args);
int kfd_event_set(struct driver *driver, void *args);
int kfd_event_reset(struct driver *driver, void *args);
int kfd_events_wait(struct driver *driver, void *args);

int kfd_memory_alloc(struct driver *driver, void *args);
int kfd_memory_free(struct driver *driver, void *args);
int kfd_memory_map(struct driver *driver, void *args);
int kfd_memory_unmap(struct driver *driver, void *args);
int kfd_dmabuf_export(struct driver *driver, void *args);
int kfd_dmabuf_info(struct driver *driver, void *args);
int kfd_dmabuf_import(struct driver *driver, void *args);
/* 0, or what shared virtual memory of [start, end) is refused with for a buffer there. */
int kfd_memory_check(struct driver *driver, uint64_t start, uint64_t end);
int kfd_ipc_export(struct driver *driver, void *args);
int kfd_ipc_import(struct driver *driver, void *args);
/* mmap() of a render node from there on, below DRM_FOREIGN_BEGIN (drm.h): memory of another
 * process that kfd_ipc_import() has brought. */
#define KFD_FOREIGN_BEGIN (UINT64_C(1) << 60)
void *kfd_foreign_map(struct driver *driver, void *address, size_t size_bytes, int rights,
                      int flags, uint64_t offset);

int kfd_queue_create(struct driver *driver, void *args);
int kfd_queue_update(struct driver *driver, void *args);
int kfd_queue_destroy(struct driver *driver, void *args);
int kfd_queue_mask_set(struct driver *driver, void *args);
int kfd_queue_gws_set(struct driver *driver, void *args);

/* Its arguments have a variable size, so that it reads its attributes from the program itself. */
int kfd_svm(struct driver *driver, uint64_t user);

#endif
