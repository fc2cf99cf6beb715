#include "driver/kfd.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "driver/kfd_abi.h"
#include "driver/uaccess.h"

enum { ARGS_MAX_BYTES = 512, NR_MAX = 256 };

/* An operation whose `run` is NULL is known, and refused as a kernel without that feature does. */
struct kfd_op {
    const char *name;
    int (*run)(struct driver *driver, void *args);
};

static const struct kfd_op ops[NR_MAX] = {
    [0x01] = {"GET_VERSION", kfd_version_get},
    [0x02] = {"CREATE_QUEUE", kfd_queue_create},
    [0x03] = {"DESTROY_QUEUE", kfd_queue_destroy},
    [0x04] = {"SET_MEMORY_POLICY", kfd_accept},
    [0x05] = {"GET_CLOCK_COUNTERS", kfd_clocks_get},
    [0x06] = {"GET_PROCESS_APERTURES", kfd_apertures_get},
    [0x07] = {"UPDATE_QUEUE", kfd_queue_update},
    [0x08] = {"CREATE_EVENT", kfd_event_create},
    [0x09] = {"DESTROY_EVENT", kfd_event_destroy},
    [0x0a] = {"SET_EVENT", kfd_event_set},
    [0x0b] = {"RESET_EVENT", kfd_event_reset},
    [0x0c] = {"WAIT_EVENTS", kfd_events_wait},
    [0x0d] = {"DBG_REGISTER", NULL},
    [0x0e] = {"DBG_UNREGISTER", NULL},
    [0x0f] = {"DBG_ADDRESS_WATCH", NULL},
    [0x10] = {"DBG_WAVE_CONTROL", NULL},
    [0x11] = {"SET_SCRATCH_BACKING_VA", kfd_accept}, /* waves own their scratch memory */
    [0x12] = {"GET_TILE_CONFIG", kfd_tile_config_get},
    [0x13] = {"SET_TRAP_HANDLER", kfd_accept}, /* traps end the wave without one */
    [0x14] = {"GET_PROCESS_APERTURES_NEW", kfd_apertures_get_new},
    [0x15] = {"ACQUIRE_VM", kfd_accept},
    [0x16] = {"ALLOC_MEMORY_OF_GPU", kfd_memory_alloc},
    [0x17] = {"FREE_MEMORY_OF_GPU", kfd_memory_free},
    [0x18] = {"MAP_MEMORY_TO_GPU", kfd_memory_map},
    [0x19] = {"UNMAP_MEMORY_FROM_GPU", kfd_memory_unmap},
    [0x1a] = {"SET_CU_MASK", kfd_queue_mask_set},
    [0x1b] = {"GET_QUEUE_WAVE_STATE", NULL},
    [0x1c] = {"GET_DMABUF_INFO", kfd_dmabuf_info},
    [0x1d] = {"IMPORT_DMABUF", kfd_dmabuf_import},
    [0x1e] = {"ALLOC_QUEUE_GWS", kfd_queue_gws_set},
    [0x1f] = {"SMI_EVENTS", kfd_smi_open},
    [0x20] = {"SVM", NULL}, /* dispatched before the table: variable size */
    [0x21] = {"SET_XNACK_MODE", kfd_xnack_set},
    [0x22] = {"CRIU_OP", NULL},
    [0x23] = {"AVAILABLE_MEMORY", kfd_memory_available},
    [KFD_NR_EXPORT_DMABUF] = {"EXPORT_DMABUF", kfd_dmabuf_export},
    [KFD_NR_RUNTIME_ENABLE] = {"RUNTIME_ENABLE", kfd_runtime_enable},
    [KFD_NR_DBG_TRAP] = {"DBG_TRAP", NULL},
    [KFD_NR_IPC_IMPORT_HANDLE] = {"IPC_IMPORT_HANDLE", kfd_ipc_import},
    [KFD_NR_IPC_EXPORT_HANDLE] = {"IPC_EXPORT_HANDLE", kfd_ipc_export},
    [KFD_NR_DBG_TRAP_OLD] = {"DBG_TRAP (5.x)", NULL},
    [KFD_NR_CROSS_MEMORY_COPY] = {"CROSS_MEMORY_COPY", NULL},
    [KFD_NR_RLC_SPM] = {"RLC_SPM", NULL},
    [KFD_NR_PC_SAMPLE] = {"PC_SAMPLE", NULL},
    [KFD_NR_PROFILER] = {"PROFILER", NULL},
};

static int refuse(const struct kfd_op *op, unsigned nr)
{
    if (op->name)
        log_debug("driver", "KFD ioctl %s (0x%02x) is not supported: EINVAL", op->name, nr);
    else
        log_error("driver", "unknown KFD ioctl 0x%02x: EINVAL", nr);
    return -EINVAL;
}

static int done(const struct kfd_op *op, int status)
{
    if (log_enabled(LOG_DEBUG))
        log_debug("driver", "KFD ioctl %s: %s", op->name, status ? strerror(-status) : "ok");
    return status;
}

/* Argument structures grow from version to version, always at the end: what the program did not
 * pass reads as zero, what it has no room for is not written. */
int kfd_ioctl(struct driver *driver, unsigned long request, uint64_t user)
{
    unsigned nr = _IOC_NR(request);
    size_t size_bytes = _IOC_SIZE(request);
    const struct kfd_op *op = &ops[nr];
    if (nr == _IOC_NR(AMDKFD_IOC_SVM))
        return done(op, kfd_svm(driver, user));
    if (!op->run)
        return refuse(op, nr);
    _Alignas(16) unsigned char args[ARGS_MAX_BYTES] = {0};
    if (size_bytes > sizeof args)
        size_bytes = sizeof args;
    int status = user_read(args, user, size_bytes);
    if (status)
        return status;
    status = done(op, op->run(driver, args));
    if ((_IOC_DIR(request) & _IOC_READ) && user_write(user, args, size_bytes) != 0)
        return -EFAULT;
    return status;
}
