/*
 * A program that maps a dmabuf, and whose child maps its memory through libdrm and through KFD,
 * while libcrocgpu is preloaded: each sees what the other wrote. (The child of a fork has a
 * software GPU of its own, so the memory is another process's.)
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libdrm/amdgpu.h>
#include <libdrm/amdgpu_drm.h>
#include <linux/kfd_ioctl.h>

#include "driver/kfd_abi.h"
#include "driver/test/preloaded.h"

int drmOpenRender(int minor);
int drmCommandWriteRead(int fd, unsigned long index, void *data, unsigned long size_bytes);

enum { SIZE_BYTES = 5 << 20, PLACE = 3 << 20, RENDER_MINOR = 128, CHILD_FAILED = 10 };
enum { FLAGS_SAID = 0x1234567 };

#define LIBDRM(name) ((__typeof__(&name))dlsym(RTLD_DEFAULT, #name))

/* The device's own view of new memory, and a dmabuf and a name for it. */
static uint8_t *memory_make(int *dmabuf, struct storage_name *name)
{
    int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    struct kfd_ioctl_alloc_memory_of_gpu_args memory = {.va_addr = 0x7e0000000000,
                                                        .size = SIZE_BYTES,
                                                        .gpu_id = first_gpu_id(),
                                                        .flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM |
                                                                 KFD_ALLOC_WRITABLE};
    CHECK(ioctl(kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &memory) == 0);
    struct kfd_export_dmabuf_args export = {.handle = memory.handle, .flags = O_CLOEXEC};
    CHECK(ioctl(kfd, _IOC(3u, 'K', KFD_NR_EXPORT_DMABUF, sizeof export), &export) == 0);
    *dmabuf = (int)export.dmabuf_fd;
    struct kfd_ipc_export_args named = {
        .handle = memory.handle, .gpu_id = memory.gpu_id, .flags = FLAGS_SAID};
    CHECK(ioctl(kfd, _IOC(3u, 'K', KFD_NR_IPC_EXPORT_HANDLE, sizeof named), &named) == 0);
    *name = named.name;
    uint8_t *view =
        mmap(NULL, SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, kfd, (off_t)memory.mmap_offset);
    CHECK(view != MAP_FAILED);
    return view;
}

static void dmabuf_is_mapped(int dmabuf, uint8_t *view)
{
    uint8_t *all = mmap(NULL, SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, 0);
    uint8_t *part = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, dmabuf, SIZE_BYTES - 4096);
    CHECK(all != MAP_FAILED && part != MAP_FAILED);
    view[PLACE] = 1;
    view[SIZE_BYTES - 1] = 2;
    CHECK(all[PLACE] == 1 && part[4095] == 2);
    part[0] = 3;
    CHECK(view[SIZE_BYTES - 4096] == 3);
    CHECK(mmap(NULL, 8192, PROT_READ, MAP_SHARED, dmabuf, SIZE_BYTES - 4096) == MAP_FAILED &&
          errno == EINVAL);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, dmabuf, 123) == MAP_FAILED && errno == EINVAL);
    munmap(all, SIZE_BYTES);
    munmap(part, 4096);
}

/* How programs ask for a dmabuf's size; it has no position. */
static void dmabuf_tells_its_size(int dmabuf)
{
    CHECK(lseek(dmabuf, 0, SEEK_END) == SIZE_BYTES && lseek64(dmabuf, 0, SEEK_END) == SIZE_BYTES);
    CHECK(lseek(dmabuf, 0, SEEK_SET) == 0);
    CHECK(lseek(dmabuf, 0, SEEK_CUR) == -1 && errno == EINVAL);
    CHECK(lseek(dmabuf, 1, SEEK_SET) == -1 && errno == EINVAL);
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CHECK(lseek(file, 7, SEEK_SET) == 7 && lseek(file, 0, SEEK_CUR) == 7);
    close(file);
}

static int object_import(int dmabuf, int *render, amdgpu_bo_handle *bo)
{
    uint32_t major, minor, handle = 0, again = 0;
    amdgpu_device_handle device;
    struct amdgpu_bo_import_result result;
    *render = LIBDRM(drmOpenRender)(RENDER_MINOR);
    CHECK(LIBDRM(amdgpu_device_initialize)(*render, &major, &minor, &device) == 0);
    CHECK(LIBDRM(amdgpu_bo_import)(device, amdgpu_bo_handle_type_dma_buf_fd, (uint32_t)dmabuf,
                                   &result) == 0);
    CHECK(result.alloc_size == SIZE_BYTES);
    CHECK(LIBDRM(amdgpu_bo_export)(result.buf_handle, amdgpu_bo_handle_type_kms, &handle) == 0);
    CHECK(LIBDRM(amdgpu_bo_export)(result.buf_handle, amdgpu_bo_handle_type_dma_buf_fd, &again) ==
          0);
    CHECK(fcntl((int)again, F_GETFD) == FD_CLOEXEC); /* as libdrm asks for it */
    close((int)again);
    *bo = result.buf_handle;
    return (int)handle;
}

/* What libdrm's callers do with an object: views of the host's, places in the GPU's address space.
 */
static void object_is_mapped(amdgpu_bo_handle bo)
{
    const uint64_t va = UINT64_C(1) << 40;
    __typeof__(&amdgpu_bo_va_op) va_op = LIBDRM(amdgpu_bo_va_op);
    void *one = NULL, *two = NULL;
    CHECK(LIBDRM(amdgpu_bo_cpu_unmap)(bo) == -EINVAL);
    CHECK(LIBDRM(amdgpu_bo_cpu_map)(bo, &one) == 0 && LIBDRM(amdgpu_bo_cpu_map)(bo, &two) == 0);
    CHECK(one == two && ((const uint8_t *)one)[PLACE] == 77);
    CHECK(LIBDRM(amdgpu_bo_cpu_unmap)(bo) == 0 && ((const uint8_t *)one)[PLACE] == 77);
    CHECK(LIBDRM(amdgpu_bo_cpu_unmap)(bo) == 0 && LIBDRM(amdgpu_bo_cpu_unmap)(bo) == -EINVAL);
    CHECK(va_op(bo, 0, SIZE_BYTES, va, 0, AMDGPU_VA_OP_MAP) == 0);
    CHECK(va_op(bo, 0, 4096, va + SIZE_BYTES - 4096, 0, AMDGPU_VA_OP_MAP) == -EEXIST);
    CHECK(va_op(bo, 4096, SIZE_BYTES, va + SIZE_BYTES, 0, AMDGPU_VA_OP_MAP) == -EINVAL);
    CHECK(va_op(bo, SIZE_BYTES - 4096, 4096, va + SIZE_BYTES, 0, AMDGPU_VA_OP_MAP) == 0);
    CHECK(va_op(bo, 0, 4096, va + 1, 0, AMDGPU_VA_OP_MAP) == -EINVAL);
    CHECK(va_op(bo, 0, SIZE_BYTES, va, 0, AMDGPU_VA_OP_UNMAP) == 0);
    CHECK(va_op(bo, 0, SIZE_BYTES, va, 0, AMDGPU_VA_OP_UNMAP) == -EINVAL);
}

static void child_maps(int dmabuf)
{
    int render;
    amdgpu_bo_handle bo;
    union drm_amdgpu_gem_mmap place = {.in.handle = (uint32_t)object_import(dmabuf, &render, &bo)};
    __typeof__(&drmCommandWriteRead) command = LIBDRM(drmCommandWriteRead);
    CHECK(command(render, DRM_AMDGPU_GEM_MMAP, &place, sizeof place) == 0);
    off_t offset = (off_t)place.out.addr_ptr;
    uint8_t *view = mmap(NULL, SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, render, offset);
    CHECK(view != MAP_FAILED && view[PLACE] == 77);
    if (view != MAP_FAILED)
        view[PLACE + 1] = 78;
    view = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, render, offset + PLACE);
    CHECK(view != MAP_FAILED && view[0] == 77 && view[1] == 78);
    CHECK(mmap(NULL, SIZE_BYTES, PROT_READ, MAP_SHARED, render, offset + 4096) == MAP_FAILED &&
          errno == EINVAL);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, render, offset + ((off_t)9 << 40)) ==
              MAP_FAILED &&
          errno == EINVAL);
    object_is_mapped(bo);
    CHECK(LIBDRM(amdgpu_bo_free)(bo) == 0);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, render, offset) == MAP_FAILED);
    CHECK(view[1] == 78); /* a view outlives its object */
}

/* As libhsakmt does: what KFD brings by its name is mapped where the GPU has it. */
static void child_attaches(struct storage_name name)
{
    int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC), render = LIBDRM(drmOpenRender)(RENDER_MINOR);
    struct kfd_ipc_import_args import = {
        .va_addr = 0x7e1000000000, .name = name, .gpu_id = first_gpu_id()};
    void *place = mmap((void *)import.va_addr, SIZE_BYTES, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    CHECK(ioctl(kfd, _IOC(3u, 'K', KFD_NR_IPC_IMPORT_HANDLE, sizeof import), &import) == 0);
    CHECK(import.mmap_offset != 0);
    CHECK(import.flags == FLAGS_SAID);
    const off_t offset = (off_t)import.mmap_offset;
    uint8_t *view =
        mmap(place, SIZE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, render, offset);
    CHECK(view == place && view[PLACE] == 77);
    if (view == place)
        view[PLACE + 2] = 79;
    CHECK(mmap(NULL, SIZE_BYTES, PROT_READ, MAP_SHARED, render, offset + 4096) == MAP_FAILED &&
          errno == EINVAL);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, render, offset + ((off_t)9 << 40)) ==
              MAP_FAILED &&
          errno == EINVAL);
    struct kfd_ioctl_free_memory_of_gpu_args free_it = {.handle = import.handle};
    CHECK(ioctl(kfd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &free_it) == 0);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED, render, offset) == MAP_FAILED);
    CHECK(view[PLACE] == 77); /* a view outlives its buffer */
}

/* A program's limit is for its files. */
static void file_size_limit(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

int main(void)
{
    int dmabuf, status = 0;
    struct storage_name name;
    file_size_limit(1 << 20);
    uint8_t *view = memory_make(&dmabuf, &name);
    if (view == MAP_FAILED)
        return 1;
    dmabuf_tells_its_size(dmabuf);
    dmabuf_is_mapped(dmabuf, view);
    view[PLACE] = 77;
    pid_t child = fork();
    if (child == 0) {
        failures = 0;
        child_maps(dmabuf);
        child_attaches(name);
        fflush(stdout);
        _exit(failures ? CHILD_FAILED : 0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(view[PLACE + 1] == 78 && view[PLACE + 2] == 79);
    printf("%d failures\n", failures);
    return failures != 0;
}
