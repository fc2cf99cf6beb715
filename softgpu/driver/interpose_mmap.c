/* mmap() of a render node or a dmabuf where the memory is not at that place of that file, and
 * munmap() of memory that GPUs share. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver/drm.h"
#include "driver/real.h"
#include "driver/storage.h"
#include "driver/svm.h"

static void *dmabuf_map(void *address, size_t size_bytes, int rights, int flags, int fd,
                        off_t offset)
{
    uint64_t place, room_bytes;
    if (!storage_dmabuf_place(fd, &place, &room_bytes))
        return real_mmap(address, size_bytes, rights, flags, fd, offset);
    if (offset < 0 || (uint64_t)offset > room_bytes || size_bytes > room_bytes - (uint64_t)offset) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    return real_mmap(address, size_bytes, rights, flags, fd, (off_t)place + offset);
}

EXPORT void *mmap(void *address, size_t size_bytes, int rights, int flags, int fd, off_t offset)
{
    struct driver *driver = driver_running();
    if (!driver || fd < 0 || (flags & MAP_ANONYMOUS))
        return real_mmap(address, size_bytes, rights, flags, fd, offset);
    if ((uint64_t)offset >= DRM_FOREIGN_BEGIN && driver_of_fd(fd) == driver)
        return drm_bo_foreign_map(address, size_bytes, rights, flags, (uint64_t)offset);
    return dmabuf_map(address, size_bytes, rights, flags, fd, offset);
}

EXPORT void *mmap64(void *address, size_t size_bytes, int rights, int flags, int fd, off64_t offset)
{
    return mmap(address, size_bytes, rights, flags, fd, offset);
}

/* As the kernel does, before the memory goes: a GPU that comes for it later faults, and nothing
 * that the host maps there is taken for it. What the kernel refuses is no reason to. */
EXPORT int munmap(void *address, size_t size_bytes)
{
    enum { PAGE_BYTES = 4096 };
    const uint64_t end_of_all = UINT64_C(1) << 47, start = (uintptr_t)address;
    const uint64_t room = (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    struct driver *driver = driver_running();
    if (driver && room && start % PAGE_BYTES == 0 && start < end_of_all &&
        room <= end_of_all - start)
        svm_unmapped(driver, start, start + room);
    return (int)syscall(SYS_munmap, address, size_bytes);
}
