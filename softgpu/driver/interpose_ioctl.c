#include <errno.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "driver/drm_info.h"
#include "driver/kfd.h"
#include "driver/kfd_abi.h"
#include "driver/real.h"
#include "driver/vfs.h"

static int status_to_errno(int status)
{
    if (status >= 0)
        return status;
    errno = -status;
    return -1;
}

static int drm_ioctl(int fd, unsigned long request, uint64_t args)
{
    int status = drm_info_ioctl(driver_render_minor_of_fd(fd), request, args);
    if (status != -ENOTTY)
        return status;
    log_error("driver", "DRM ioctl 0x%02lx on a render node is not supported: EINVAL",
              _IOC_NR(request));
    return -EINVAL;
}

/* Looks at the descriptor only when the request's type byte is one of the two that concern us. */
EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    va_start(args, request);
    void *user = va_arg(args, void *);
    va_end(args);
    if (_IOC_TYPE(request) == AMDKFD_IOCTL_BASE || _IOC_TYPE(request) == DRM_IOCTL_BASE) {
        struct driver *driver = driver_of_fd(fd);
        if (driver && _IOC_TYPE(request) == AMDKFD_IOCTL_BASE)
            return status_to_errno(kfd_ioctl(driver, request, (uint64_t)(uintptr_t)user));
        if (driver)
            return status_to_errno(drm_ioctl(fd, request, (uint64_t)(uintptr_t)user));
    }
    return (int)syscall(SYS_ioctl, fd, request, user);
}
