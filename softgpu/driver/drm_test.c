/* The functions of libdrm that runtimes call, in one program with the driver behind them: what the
 * GPU may do with memory that was mapped by them, and which files are no device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <libdrm/amdgpu_drm.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/drm.h"
#include "driver/kfd_abi.h"
#include "driver/topology.h"
#include "mem/vm.h"

enum { SIZE_BYTES = 1 << 20 };
static const uint64_t OWN_VA = 0x7e0000000000, VA = UINT64_C(1) << 40;

int drmOpenRender(int minor);

static int dmabuf_make(int kfd)
{
    struct kfd_ioctl_alloc_memory_of_gpu_args memory = {.va_addr = OWN_VA,
                                                        .size = SIZE_BYTES,
                                                        .gpu_id = topology_gpu_id(0),
                                                        .flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM |
                                                                 KFD_ALLOC_WRITABLE};
    assert_int_equal(ioctl(kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &memory), 0);
    struct kfd_export_dmabuf_args export = {.handle = memory.handle, .flags = O_CLOEXEC};
    assert_int_equal(ioctl(kfd, _IOC(3u, 'K', KFD_NR_EXPORT_DMABUF, sizeof export), &export), 0);
    return (int)export.dmabuf_fd;
}

/* Kernels lie there as well as what they write; libdrm asks for all rights by default. */
static void the_gpu_reads_writes_and_executes_what_is_mapped(void **state)
{
    static struct vm_reader reader;
    (void)state;
    int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    int dmabuf = dmabuf_make(kfd), render = drmOpenRender((int)topology_render_minor(0));
    uint32_t major, minor;
    amdgpu_device_handle device;
    struct amdgpu_bo_import_result object;
    struct driver *driver;
    assert_int_equal(amdgpu_device_initialize(render, &major, &minor, &device), 0);
    assert_int_equal(
        amdgpu_bo_import(device, amdgpu_bo_handle_type_dma_buf_fd, (uint32_t)dmabuf, &object), 0);
    assert_int_equal(amdgpu_bo_va_op(object.buf_handle, 0, SIZE_BYTES, VA, 0, AMDGPU_VA_OP_MAP), 0);
    vm_reader_register(drm_device_gpu(device, &driver)->vm, &reader);
    vm_reader_enter(&reader);
    const uint32_t rights[] = {VM_READ, VM_WRITE, VM_EXEC};
    for (int i = 0; i < 3; i++)
        assert_non_null(vm_translate(&reader, VA, SIZE_BYTES, rights[i]));
    assert_null(vm_translate(&reader, VA + SIZE_BYTES, 4, VM_READ));
    vm_reader_leave(&reader);
    assert_int_equal(amdgpu_bo_va_op(object.buf_handle, 0, SIZE_BYTES, VA, 0, AMDGPU_VA_OP_UNMAP),
                     0);
    vm_reader_enter(&reader);
    assert_null(vm_translate(&reader, VA, 4, VM_READ));
    vm_reader_leave(&reader);
    vm_reader_unregister(&reader);
    assert_int_equal(amdgpu_bo_free(object.buf_handle), 0);
    close(render);
    close(dmabuf);
    close(kfd);
}

/* Where the host has what the GPU has at these two addresses. */
static void host_pointers(struct vm *vm, uint64_t a, uint64_t b, const void *hosts[2])
{
    static struct vm_reader reader;
    vm_reader_register(vm, &reader);
    vm_reader_enter(&reader);
    hosts[0] = vm_translate(&reader, a, SIZE_BYTES, VM_READ);
    hosts[1] = vm_translate(&reader, b, SIZE_BYTES, VM_READ);
    vm_reader_leave(&reader);
    vm_reader_unregister(&reader);
}

static int kfd_map(int kfd, uint64_t handle)
{
    uint32_t gpu = topology_gpu_id(0);
    struct kfd_ioctl_map_memory_to_gpu_args map = {
        .handle = handle, .device_ids_array_ptr = (uintptr_t)&gpu, .n_devices = 1};
    return ioctl(kfd, AMDKFD_IOC_MAP_MEMORY_TO_GPU, &map);
}

/* What came as a descriptor, mapped by libdrm and by the driver: one memory, of which all that
 * looks at the host's addresses sees that it is one. Whoever goes first leaves it to the other. */
static bool one_memory_has_one_place(int kfd, int dmabuf, bool driver_first)
{
    struct kfd_ioctl_import_dmabuf_args import = {
        .va_addr = OWN_VA, .gpu_id = topology_gpu_id(0), .dmabuf_fd = (uint32_t)dmabuf};
    int render = drmOpenRender((int)topology_render_minor(0));
    uint32_t major, minor;
    amdgpu_device_handle device;
    struct amdgpu_bo_import_result object;
    struct driver *driver;
    const void *hosts[2], *left[2];
    if (ioctl(kfd, AMDKFD_IOC_IMPORT_DMABUF, &import) || kfd_map(kfd, import.handle) ||
        amdgpu_device_initialize(render, &major, &minor, &device) ||
        amdgpu_bo_import(device, amdgpu_bo_handle_type_dma_buf_fd, (uint32_t)dmabuf, &object) ||
        amdgpu_bo_va_op(object.buf_handle, 0, SIZE_BYTES, VA, 0, AMDGPU_VA_OP_MAP))
        return false;
    struct vm *vm = drm_device_gpu(device, &driver)->vm;
    struct kfd_ioctl_free_memory_of_gpu_args unused = {.handle = import.handle};
    host_pointers(vm, OWN_VA, VA, hosts);
    if (driver_first ? ioctl(kfd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &unused)
                     : amdgpu_bo_free(object.buf_handle))
        return false;
    host_pointers(vm, OWN_VA, VA, left);
    if (left[driver_first])
        *(volatile char *)(uintptr_t)left[driver_first] = 1;
    bool gone = !left[!driver_first];
    if (driver_first ? amdgpu_bo_free(object.buf_handle)
                     : ioctl(kfd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &unused))
        return false;
    close(render);
    return hosts[0] && hosts[0] == hosts[1] && left[driver_first] == hosts[0] && gone;
}

static void memory_of_its_own_has_one_place(void **state)
{
    (void)state;
    int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    int dmabuf = dmabuf_make(kfd);
    assert_true(one_memory_has_one_place(kfd, dmabuf, false));
    assert_true(one_memory_has_one_place(kfd, dmabuf, true));
    close(dmabuf);
    close(kfd);
}

/* The child of a fork has a software GPU of its own: to it the memory is another process's. */
static void memory_of_others_has_one_place(void **state)
{
    int wait_status = 0;
    (void)state;
    int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    int dmabuf = dmabuf_make(kfd);
    pid_t child = fork();
    if (child == 0) {
        int own = open("/dev/kfd", O_RDWR | O_CLOEXEC);
        bool first = one_memory_has_one_place(own, dmabuf, false);
        _exit(first && one_memory_has_one_place(own, dmabuf, true) ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &wait_status, 0) == child);
    assert_int_equal(wait_status, 0);
    close(dmabuf);
    close(kfd);
}

static void no_file_but_a_render_node_is_a_device(void **state)
{
    (void)state;
    uint32_t major, minor;
    amdgpu_device_handle device;
    int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    assert_true(kfd >= 0);
    assert_int_equal(amdgpu_device_initialize(kfd, &major, &minor, &device), -ENODEV);
    close(kfd);
}

int main(void)
{
    setenv("CROCGPU_DEVICES", "gfx90a", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gpu_reads_writes_and_executes_what_is_mapped),
        cmocka_unit_test(memory_of_its_own_has_one_place),
        cmocka_unit_test(memory_of_others_has_one_place),
        cmocka_unit_test(no_file_but_a_render_node_is_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
