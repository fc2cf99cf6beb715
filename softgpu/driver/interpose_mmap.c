/* mmap() of a render node or a dmabuf where the memory is not at that place of that file, lseek()
 * of a dmabuf, and munmap() of memory that GPUs share. */
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "driver/drm.h"
#include "driver/kfd.h"
#include "driver/real.h"
#include "driver/storage.h"
#include "driver/svm.h"

typedef void *mmap_fn(void *, size_t, int, int, int, off_t);
typedef int munmap_fn(void *, size_t);
typedef off_t lseek_fn(int, off_t, int);

/* The next libraries', for others look there at what a program maps: UCX patches the C library's,
 * and refuses its caches if no call comes by. Written before main(), by one thread; NULL until
 * then. They are not looked up later: somebody's malloc, under its lock, may be what maps. */
static mmap_fn *next_mmap;
static munmap_fn *next_munmap;
static lseek_fn *next_lseek; /* signal handlers may call it */

__attribute__((constructor)) static void next_find(void)
{
    next_mmap = (mmap_fn *)dlsym(RTLD_NEXT, "mmap");
    next_munmap = (munmap_fn *)dlsym(RTLD_NEXT, "munmap");
    next_lseek = (lseek_fn *)dlsym(RTLD_NEXT, "lseek");
}

static void *pass_on(void *address, size_t size_bytes, int rights, int flags, int fd, off_t offset)
{
    return (next_mmap ? next_mmap : real_mmap)(address, size_bytes, rights, flags, fd, offset);
}

static void *dmabuf_map(void *address, size_t size_bytes, int rights, int flags, int fd,
                        off_t offset)
{
    uint64_t place, room_bytes;
    if (!storage_dmabuf_place(fd, &place, &room_bytes))
        return pass_on(address, size_bytes, rights, flags, fd, offset);
    if (offset < 0 || (uint64_t)offset > room_bytes || size_bytes > room_bytes - (uint64_t)offset) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    return pass_on(address, size_bytes, rights, flags, fd, (off_t)place + offset);
}

EXPORT void *mmap(void *address, size_t size_bytes, int rights, int flags, int fd, off_t offset)
{
    struct driver *driver = driver_running();
    if (!driver || fd < 0 || (flags & MAP_ANONYMOUS))
        return pass_on(address, size_bytes, rights, flags, fd, offset);
    if ((uint64_t)offset >= DRM_FOREIGN_BEGIN && driver_of_fd(fd) == driver)
        return drm_bo_foreign_map(address, size_bytes, rights, flags, (uint64_t)offset);
    if ((uint64_t)offset >= KFD_FOREIGN_BEGIN && driver_of_fd(fd) == driver)
        return kfd_foreign_map(driver, address, size_bytes, rights, flags, (uint64_t)offset);
    return dmabuf_map(address, size_bytes, rights, flags, fd, offset);
}

EXPORT void *mmap64(void *address, size_t size_bytes, int rights, int flags, int fd, off64_t offset)
{
    return mmap(address, size_bytes, rights, flags, fd, offset);
}

/* A dmabuf tells its size and has no position, as in the kernel; the file's, which names the memory
 * (storage.h), stays where it is. */
static off_t dmabuf_seek(uint64_t size_bytes, off_t offset, int whence)
{
    if (offset == 0 && whence == SEEK_END)
        return (off_t)size_bytes;
    if (offset == 0 && whence == SEEK_SET)
        return 0;
    errno = EINVAL;
    return -1;
}

EXPORT off_t lseek(int fd, off_t offset, int whence)
{
    uint64_t place, size_bytes;
    const int saved = errno;
    if (driver_running() && real_lseek(fd, 0, SEEK_CUR) > (off_t)DEVICE_OFFSET_HEAP &&
        storage_dmabuf_place(fd, &place, &size_bytes))
        return dmabuf_seek(size_bytes, offset, whence);
    errno = saved;
    return (next_lseek ? next_lseek : real_lseek)(fd, offset, whence);
}

EXPORT off64_t lseek64(int fd, off64_t offset, int whence)
{
    return lseek(fd, offset, whence);
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
    return next_munmap ? next_munmap(address, size_bytes)
                       : (int)syscall(SYS_munmap, address, size_bytes);
}
