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
        cmocka_unit_test(no_file_but_a_render_node_is_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
