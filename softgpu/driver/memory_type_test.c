/* What page tables say of memory, by how it was allocated and where it is. */
#include "driver/memory_type.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "driver/kfd.h"
#include "driver/kfd_abi.h"

enum { COHERENT = KFD_IOC_ALLOC_MEM_FLAGS_COHERENT, UNCACHED = KFD_IOC_ALLOC_MEM_FLAGS_UNCACHED };
enum { EXT = KFD_ALLOC_EXT_COHERENT };

static struct driver *driver;
static struct vm_reader readers[3]; /* of two gfx90a and a gfx906 */

static int setup(void **state)
{
    (void)state;
    setenv("CROCGPU_DEVICES", "gfx90a*2,gfx906", 1);
    int device = driver_open(O_RDWR | O_CLOEXEC);
    driver = device >= 0 ? driver_of_fd(device) : NULL;
    if (!driver)
        return -1;
    for (int i = 0; i < 3; i++)
        vm_reader_register(driver->gpu[i].vm, &readers[i]);
    return 0;
}

/* The columns: own, host's, peer's memory. */
static void rules_are_those_of_the_kernel(void **state)
{
    static const struct {
        enum gpu_gen gen;
        uint32_t coherence;
        enum memory_type types[3];
    } rows[] = {
        {GPU_GFX90A, 0, {MEMORY_RW, MEMORY_NC, MEMORY_NC}},
        {GPU_GFX90A, COHERENT, {MEMORY_CC, MEMORY_UC, MEMORY_UC}},
        {GPU_GFX90A, UNCACHED, {MEMORY_UC, MEMORY_UC, MEMORY_UC}},
        {GPU_GFX90A, COHERENT | UNCACHED, {MEMORY_UC, MEMORY_UC, MEMORY_UC}},
        {GPU_GFX908, 0, {MEMORY_RW, MEMORY_NC, MEMORY_NC}},
        {GPU_GFX908, COHERENT, {MEMORY_CC, MEMORY_UC, MEMORY_UC}},
        {GPU_GFX942, 0, {MEMORY_RW, MEMORY_UC, MEMORY_NC}},
        {GPU_GFX942, COHERENT, {MEMORY_RW, MEMORY_UC, MEMORY_NC}},
        {GPU_GFX942, COHERENT | EXT, {MEMORY_CC, MEMORY_UC, MEMORY_UC}},
        {GPU_GFX942, UNCACHED, {MEMORY_UC, MEMORY_UC, MEMORY_UC}},
        {GPU_GFX906, 0, {MEMORY_RW, MEMORY_NC, MEMORY_NC}},
        {GPU_GFX906, COHERENT, {MEMORY_UC, MEMORY_UC, MEMORY_UC}},
        {GPU_GFX906, UNCACHED, {MEMORY_UC, MEMORY_UC, MEMORY_UC}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int home = HOME_OWN; home <= HOME_PEER; home++)
            assert_int_equal(memory_type_of(rows[i].gen, (enum memory_home)home, rows[i].coherence),
                             rows[i].types[home]);
}

/* What GPU `gpu` sees at `va`. */
static void expect(int gpu, uint64_t va, enum memory_type type, enum memory_home home)
{
    vm_reader_enter(&readers[gpu]);
    uint64_t place = vm_place(&readers[gpu], va);
    vm_reader_leave(&readers[gpu]);
    assert_int_not_equal(place, va);
    assert_int_equal(vm_place_type(place), type);
    assert_int_equal(vm_place_home(place), home);
}

/* Memory of GPU 0, mapped to all. */
static uint64_t memory_make(uint64_t va, uint32_t flags, uint64_t offset)
{
    uint32_t ids[3];
    struct kfd_ioctl_alloc_memory_of_gpu_args alloc = {.va_addr = va,
                                                       .size = 8192,
                                                       .gpu_id = driver->gpu[0].gpu_id,
                                                       .flags = flags,
                                                       .mmap_offset = offset};
    assert_int_equal(kfd_memory_alloc(driver, &alloc), 0);
    struct kfd_ioctl_map_memory_to_gpu_args map = {
        .handle = alloc.handle, .device_ids_array_ptr = (uintptr_t)ids, .n_devices = 3};
    for (int i = 0; i < 3; i++)
        ids[i] = driver->gpu[i].gpu_id;
    assert_int_equal(kfd_memory_map(driver, &map), 0);
    return alloc.handle;
}

static void flags_of_allocations_reach_the_page_tables(void **state)
{
    uint64_t va = UINT64_C(0x7d0000000000);
    static uint8_t user[8192] __attribute__((aligned(4096)));
    (void)state;
    memory_make(va, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, 0);
    expect(0, va, MEMORY_RW, HOME_OWN);
    expect(1, va, MEMORY_NC, HOME_PEER);
    expect(2, va, MEMORY_NC, HOME_PEER);
    memory_make(va + 0x10000, KFD_IOC_ALLOC_MEM_FLAGS_VRAM | COHERENT, 0);
    expect(0, va + 0x11000, MEMORY_CC, HOME_OWN);
    expect(1, va + 0x11000, MEMORY_UC, HOME_PEER);
    memory_make(va + 0x20000, KFD_IOC_ALLOC_MEM_FLAGS_GTT | COHERENT, 0);
    expect(0, va + 0x20000, MEMORY_UC, HOME_HOST);
    expect(2, va + 0x20000, MEMORY_UC, HOME_HOST);
    memory_make(va + 0x30000, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR, (uintptr_t)user);
    expect(0, va + 0x30000, MEMORY_NC, HOME_HOST);
    memory_make(va + 0x40000, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | COHERENT, (uintptr_t)user);
    expect(1, va + 0x40000, MEMORY_UC, HOME_HOST);
}

static void shared_memory_keeps_its_flags(void **state)
{
    uint64_t va = UINT64_C(0x7c0000000000);
    (void)state;
    struct kfd_export_dmabuf_args export = {
        .handle = memory_make(va, KFD_IOC_ALLOC_MEM_FLAGS_VRAM | COHERENT, 0), .flags = O_CLOEXEC};
    assert_int_equal(kfd_dmabuf_export(driver, &export), 0);
    struct kfd_ioctl_import_dmabuf_args import = {
        .va_addr = va + 0x10000, .gpu_id = driver->gpu[1].gpu_id, .dmabuf_fd = export.dmabuf_fd};
    assert_int_equal(kfd_dmabuf_import(driver, &import), 0);
    struct kfd_ioctl_map_memory_to_gpu_args map = {.handle = import.handle,
                                                   .device_ids_array_ptr =
                                                       (uintptr_t)&driver->gpu[1].gpu_id,
                                                   .n_devices = 1};
    assert_int_equal(kfd_memory_map(driver, &map), 0);
    expect(1, va + 0x10000, MEMORY_UC, HOME_PEER);
}

static void svm_set(void *memory, uint32_t type, uint32_t value)
{
    struct {
        struct kfd_ioctl_svm_args args;
        struct kfd_ioctl_svm_attribute attribute;
    } call = {.args = {.start_addr = (uintptr_t)memory,
                       .size = 4096,
                       .op = KFD_IOCTL_SVM_OP_SET_ATTR,
                       .nattr = 1},
              .attribute = {type, value}};
    assert_int_equal(kfd_svm(driver, (uintptr_t)&call), 0);
}

/* Shared virtual memory is where it was last brought to, and coherent unless the program says
 * otherwise. */
static void shared_virtual_memory_moves(void **state)
{
    uint8_t *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t va = (uintptr_t)memory;
    (void)state;
    assert_true(memory != MAP_FAILED);
    for (int i = 0; i < 2; i++)
        svm_set(memory, KFD_IOCTL_SVM_ATTR_ACCESS, driver->gpu[i].gpu_id);
    expect(0, va, MEMORY_UC, HOME_HOST);
    svm_set(memory, KFD_IOCTL_SVM_ATTR_CLR_FLAGS, KFD_IOCTL_SVM_FLAG_COHERENT);
    expect(0, va, MEMORY_NC, HOME_HOST);
    svm_set(memory, KFD_IOCTL_SVM_ATTR_SET_FLAGS, KFD_IOCTL_SVM_FLAG_COHERENT);
    expect(0, va, MEMORY_UC, HOME_HOST);
    svm_set(memory, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, driver->gpu[0].gpu_id);
    expect(0, va, MEMORY_CC, HOME_OWN);
    expect(1, va, MEMORY_UC, HOME_PEER);
    svm_set(memory, KFD_IOCTL_SVM_ATTR_CLR_FLAGS, KFD_IOCTL_SVM_FLAG_COHERENT);
    expect(0, va, MEMORY_RW, HOME_OWN);
    expect(1, va, MEMORY_NC, HOME_PEER);
    svm_set(memory, KFD_IOCTL_SVM_ATTR_PREFETCH_LOC, KFD_IOCTL_SVM_LOCATION_SYSMEM);
    expect(0, va, MEMORY_NC, HOME_HOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_those_of_the_kernel),
        cmocka_unit_test(flags_of_allocations_reach_the_page_tables),
        cmocka_unit_test(shared_memory_keeps_its_flags),
        cmocka_unit_test(shared_virtual_memory_moves),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
