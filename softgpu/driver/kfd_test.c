/* The ioctls as a thunk calls them, and as nobody should. */
#include "driver/kfd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver/kfd_abi.h"
#include "driver/test/cp_double.h"

static struct driver *driver;
static struct vm_reader reader;
static int device;

static int setup(void **state)
{
    (void)state;
    setenv("CROCGPU_DEVICES", "gfx90a*2", 1);
    device = driver_open(O_RDWR | O_CLOEXEC);
    driver = device >= 0 ? driver_of_fd(device) : NULL;
    if (!driver)
        return -1;
    vm_reader_register(driver->gpu[0].vm, &reader);
    return 0;
}

#define CALL(request, args) kfd_ioctl(driver, request, (uint64_t)(uintptr_t)(args))

static void *translate(uint64_t va, uint32_t access)
{
    vm_reader_enter(&reader);
    void *host = vm_translate(&reader, va, 1, access);
    vm_reader_leave(&reader);
    return host;
}

static uint64_t alloc(uint64_t va, uint64_t size_bytes, uint32_t flags, uint64_t *offset)
{
    struct kfd_ioctl_alloc_memory_of_gpu_args args = {.va_addr = va,
                                                      .size = size_bytes,
                                                      .gpu_id = driver->gpu[0].gpu_id,
                                                      .flags = flags,
                                                      .mmap_offset = *offset};
    assert_int_equal(CALL(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), 0);
    assert_true(args.handle > 0);
    *offset = args.mmap_offset;
    return args.handle;
}

static int map(uint64_t handle, unsigned long request, int gpus)
{
    uint32_t ids[2] = {driver->gpu[0].gpu_id, driver->gpu[1].gpu_id};
    struct kfd_ioctl_map_memory_to_gpu_args args = {
        .handle = handle, .device_ids_array_ptr = (uintptr_t)ids, .n_devices = (uint32_t)gpus};
    int status = CALL(request, &args);
    if (!status)
        assert_int_equal(args.n_success, gpus);
    return status;
}

static void the_program_and_the_gpu_see_the_same_memory(void **state)
{
    (void)state;
    uint64_t offset = 0, va = 0x7f0000000000;
    uint64_t handle = alloc(va, 10000, KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_ALLOC_WRITABLE, &offset);
    char *view = mmap(NULL, 10000, PROT_READ | PROT_WRITE, MAP_SHARED, device, (off_t)offset);
    assert_true(view != MAP_FAILED);
    assert_null(translate(va, VM_READ));
    assert_int_equal(map(handle, AMDKFD_IOC_MAP_MEMORY_TO_GPU, 2), 0);
    strcpy(view + 5000, "hello");
    assert_string_equal((char *)translate(va + 5000, VM_READ | VM_WRITE), "hello");
    assert_null(translate(va, VM_EXEC));
    assert_null(translate(va + 12288, VM_READ));
    munmap(view, 10000); /* the GPU's view does not depend on the program's */
    assert_string_equal((char *)translate(va + 5000, VM_READ), "hello");
    assert_int_equal(map(handle, AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, 1), 0);
    assert_null(translate(va + 5000, VM_READ));
    struct kfd_ioctl_free_memory_of_gpu_args free_args = {.handle = handle};
    assert_int_equal(CALL(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &free_args), 0);
    assert_int_equal(CALL(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &free_args), -EINVAL);
}

static struct kfd_memory_exception_failure fault_of(uint64_t va, uint32_t access)
{
    const uint32_t gpu_id = driver->gpu[0].gpu_id;
    struct kfd_ioctl_create_event_args create = {.event_type = KFD_IOC_EVENT_MEMORY};
    assert_int_equal(CALL(AMDKFD_IOC_CREATE_EVENT, &create), 0);
    cp_double_memory_fault(driver->cp, gpu_id, va, access);
    struct kfd_event_data data = {.event_id = create.event_id};
    struct kfd_ioctl_wait_events_args wait = {.events_ptr = (uintptr_t)&data, .num_events = 1};
    assert_int_equal(CALL(AMDKFD_IOC_WAIT_EVENTS, &wait), 0);
    assert_int_equal(wait.wait_result, KFD_IOC_WAIT_RESULT_COMPLETE);
    assert_int_equal(data.memory_exception_data.va, va & ~4095ull);
    assert_int_equal(data.memory_exception_data.gpu_id, gpu_id);
    struct kfd_ioctl_destroy_event_args destroy = {.event_id = create.event_id};
    assert_int_equal(CALL(AMDKFD_IOC_DESTROY_EVENT, &destroy), 0);
    return data.memory_exception_data.failure;
}

/* What runtimes print of it: that there is nothing, or what may not be done with it. */
static void a_fault_tells_what_was_not_allowed(void **state)
{
    (void)state;
    uint64_t offset[2] = {0, 0}, va = 0x7f1000000000, writable_va = va + 65536;
    uint64_t handle[2] = {
        alloc(va, 4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &offset[0]),
        alloc(writable_va, 4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_ALLOC_WRITABLE, &offset[1])};
    const struct {
        uint64_t va;
        uint32_t access, not_present, read_only, no_execute;
    } cases[] = {
        {va + 8, VM_WRITE, 0, 1, 0},     {va + 8, VM_EXEC, 0, 0, 1},
        {writable_va, VM_EXEC, 0, 0, 1}, {writable_va, VM_WRITE, 0, 0, 0},
        {va + 4096, VM_WRITE, 1, 0, 0},  {va + 4096, VM_EXEC, 1, 0, 0},
        {va + 4096, VM_READ, 1, 0, 0},
    };
    for (int i = 0; i < 2; i++)
        assert_int_equal(map(handle[i], AMDKFD_IOC_MAP_MEMORY_TO_GPU, 1), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kfd_memory_exception_failure failure = fault_of(cases[i].va, cases[i].access);
        assert_int_equal(failure.NotPresent, cases[i].not_present);
        assert_int_equal(failure.ReadOnly, cases[i].read_only);
        assert_int_equal(failure.NoExecute, cases[i].no_execute);
    }
    for (int i = 0; i < 2; i++) {
        struct kfd_ioctl_free_memory_of_gpu_args free_args = {.handle = handle[i]};
        assert_int_equal(map(handle[i], AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU, 1), 0);
        assert_int_equal(CALL(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &free_args), 0);
    }
}

static void user_memory_has_its_own_gpu_address(void **state)
{
    (void)state;
    static char memory[8192] __attribute__((aligned(4096)));
    uint64_t offset = (uintptr_t)memory, va = 0x7e0000000000;
    uint64_t handle =
        alloc(va, sizeof memory, KFD_IOC_ALLOC_MEM_FLAGS_USERPTR | KFD_ALLOC_WRITABLE, &offset);
    assert_int_equal(map(handle, AMDKFD_IOC_MAP_MEMORY_TO_GPU, 1), 0);
    assert_ptr_equal(translate(va + 4097, VM_WRITE), memory + 4097);
    struct kfd_ioctl_free_memory_of_gpu_args free_args = {.handle = handle};
    assert_int_equal(CALL(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &free_args), 0);
    assert_null(translate(va, VM_READ));
    memory[0] = 1; /* still the program's */
}

/* The kernel takes its pages at once. */
static void user_memory_must_be_there(void **state)
{
    (void)state;
    enum { PAGES = 6000, PAGE = 4096 };
    char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct kfd_ioctl_alloc_memory_of_gpu_args args = {.va_addr = 0x7e0000000000,
                                                      .size = PAGES * PAGE,
                                                      .gpu_id = driver->gpu[0].gpu_id,
                                                      .flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR |
                                                               KFD_ALLOC_WRITABLE};
    assert_true(memory != MAP_FAILED);
    for (unsigned hole = 0; hole < PAGES; hole += PAGES / 2 - 1) {
        assert_int_equal(munmap(memory + (size_t)hole * PAGE, PAGE), 0);
        args.mmap_offset = (uintptr_t)memory;
        assert_int_equal(CALL(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), -EFAULT);
        assert_ptr_equal(mmap(memory + (size_t)hole * PAGE, PAGE, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                         memory + (size_t)hole * PAGE);
    }
    args.mmap_offset = (uintptr_t)memory;
    assert_int_equal(CALL(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &args), 0);
    struct kfd_ioctl_free_memory_of_gpu_args free_args = {.handle = args.handle};
    assert_int_equal(CALL(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &free_args), 0);
    munmap(memory, PAGES * PAGE);
}

static uint64_t available(void)
{
    struct kfd_ioctl_get_available_memory_args args = {.gpu_id = driver->gpu[0].gpu_id};
    assert_int_equal(CALL(AMDKFD_IOC_AVAILABLE_MEMORY, &args), 0);
    return args.available;
}

static void device_memory_is_finite(void **state)
{
    (void)state;
    uint64_t total = driver->gpu[0].model->vram_bytes, offset = 0;
    assert_int_equal(available(), total);
    uint64_t handle = alloc(0x600000000000, total - 4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &offset);
    assert_int_equal(available(), 4096);
    struct kfd_ioctl_alloc_memory_of_gpu_args more = {.va_addr = 0x100000000000,
                                                      .size = 8192,
                                                      .gpu_id = driver->gpu[0].gpu_id,
                                                      .flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM};
    assert_int_equal(CALL(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &more), -ENOMEM);
    struct kfd_ioctl_free_memory_of_gpu_args free_args = {.handle = handle};
    assert_int_equal(CALL(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &free_args), 0);
    assert_int_equal(available(), total);
}

/* Programs allocate and free as long as they run: more than the device file has room for. */
static void memory_comes_back(void **state)
{
    (void)state;
    enum { ROUNDS = 100 };
    const uint64_t size_bytes = UINT64_C(1) << 45, va = 0x100000000000;
    uint64_t kept_offset = 0;
    uint64_t kept = alloc(0x600000000000, 4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &kept_offset);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t offset = 0;
        struct kfd_ioctl_free_memory_of_gpu_args gone = {
            .handle = alloc(va, size_bytes, KFD_IOC_ALLOC_MEM_FLAGS_GTT, &offset)};
        assert_true(offset + size_bytes <= kept_offset || offset > kept_offset);
        assert_int_equal(CALL(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &gone), 0);
    }
    struct kfd_ioctl_free_memory_of_gpu_args gone = {.handle = kept};
    assert_int_equal(CALL(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &gone), 0);
}

/* A descriptor gives the same memory a second GPU address, and keeps it when the first is freed. */
static void shared_memory_lives_as_long_as_its_descriptor(void **state)
{
    (void)state;
    uint64_t offset = 0, va = 0x7d0000000000, other = 0x7c0000000000, free_bytes = available();
    uint64_t handle = alloc(va, 8192, KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_ALLOC_WRITABLE, &offset);
    assert_int_equal(map(handle, AMDKFD_IOC_MAP_MEMORY_TO_GPU, 1), 0);
    strcpy(translate(va + 100, VM_WRITE), "shared");
    struct kfd_export_dmabuf_args export = {.handle = handle, .flags = O_CLOEXEC};
    assert_int_equal(CALL(_IOC(3u, 'K', KFD_NR_EXPORT_DMABUF, sizeof export), &export), 0);
    struct kfd_ioctl_get_dmabuf_info_args info = {.dmabuf_fd = export.dmabuf_fd};
    assert_int_equal(CALL(AMDKFD_IOC_GET_DMABUF_INFO, &info), 0);
    assert_int_equal(info.size, 8192);
    assert_int_equal(info.gpu_id, driver->gpu[0].gpu_id);
    assert_int_equal(info.flags, KFD_IOC_ALLOC_MEM_FLAGS_VRAM);
    struct kfd_ioctl_free_memory_of_gpu_args free_args = {.handle = handle};
    assert_int_equal(CALL(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &free_args), 0);
    assert_null(translate(va, VM_READ));
    assert_int_equal(available(), free_bytes - 8192); /* the descriptor holds it */
    struct kfd_ioctl_import_dmabuf_args import = {
        .va_addr = other, .gpu_id = driver->gpu[0].gpu_id, .dmabuf_fd = export.dmabuf_fd};
    assert_int_equal(CALL(AMDKFD_IOC_IMPORT_DMABUF, &import), 0);
    close((int)export.dmabuf_fd);
    assert_int_equal(map(import.handle, AMDKFD_IOC_MAP_MEMORY_TO_GPU, 1), 0);
    assert_string_equal((char *)translate(other + 100, VM_READ), "shared");
    free_args.handle = import.handle;
    assert_int_equal(CALL(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &free_args), 0);
    assert_int_equal(available(), free_bytes);
}

static void only_shared_memory_is_imported(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    const int wrong[] = {-1, fileno(file), device, 100000};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct kfd_ioctl_import_dmabuf_args import = {.va_addr = 0x7c0000000000,
                                                      .gpu_id = driver->gpu[0].gpu_id,
                                                      .dmabuf_fd = (uint32_t)wrong[i]};
        assert_int_equal(CALL(AMDKFD_IOC_IMPORT_DMABUF, &import), -EINVAL);
    }
    struct kfd_ipc_import_args import = {.gpu_id = driver->gpu[0].gpu_id, .name = {{1, 2, 0, 4}}};
    assert_int_equal(CALL(_IOC(3u, 'K', KFD_NR_IPC_IMPORT_HANDLE, sizeof import), &import),
                     -EINVAL);
    fclose(file);
}

static void queues_get_doorbells_of_their_gpu(void **state)
{
    (void)state;
    static uint64_t ring[512] __attribute__((aligned(4096))), pointers[2];
    struct kfd_ioctl_create_queue_args create = {.ring_base_address = (uintptr_t)ring,
                                                 .ring_size = sizeof ring,
                                                 .read_pointer_address = (uintptr_t)&pointers[0],
                                                 .write_pointer_address = (uintptr_t)&pointers[1],
                                                 .queue_type = KFD_IOC_QUEUE_TYPE_SDMA,
                                                 .queue_percentage = 100};
    uint64_t doorbell[2];
    uint32_t ids[2];
    for (int i = 0; i < 2; i++) {
        pointers[0] = pointers[1] = 99;
        create.gpu_id = driver->gpu[i].gpu_id;
        assert_int_equal(CALL(AMDKFD_IOC_CREATE_QUEUE, &create), 0);
        assert_int_equal(pointers[0] | pointers[1], 0);
        doorbell[i] = create.doorbell_offset;
        ids[i] = create.queue_id;
    }
    assert_int_equal(doorbell[0] >> 32, 1); /* what the 5.2 thunk leaves of the offset */
    assert_int_equal(doorbell[1] >> 32, 2);
    assert_int_not_equal(ids[0], ids[1]);
    struct kfd_ioctl_update_queue_args update = {.queue_id = ids[0], .queue_percentage = 0};
    assert_int_equal(CALL(AMDKFD_IOC_UPDATE_QUEUE, &update), 0);
    for (int i = 0; i < 2; i++) {
        struct kfd_ioctl_destroy_queue_args destroy = {.queue_id = ids[i]};
        assert_int_equal(CALL(AMDKFD_IOC_DESTROY_QUEUE, &destroy), 0);
        assert_int_equal(CALL(AMDKFD_IOC_DESTROY_QUEUE, &destroy), -EINVAL);
    }
}

/* Of packets, for the first GPU. */
static struct kfd_ioctl_create_queue_args queue_of(uint64_t ring[512], uint64_t pointers[2])
{
    return (struct kfd_ioctl_create_queue_args){.ring_base_address = (uintptr_t)ring,
                                                .ring_size = 512 * sizeof *ring,
                                                .read_pointer_address = (uintptr_t)&pointers[0],
                                                .write_pointer_address = (uintptr_t)&pointers[1],
                                                .queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
                                                .gpu_id = driver->gpu[0].gpu_id,
                                                .queue_percentage = 100};
}

/* One queue of a GPU has its global wave sync, until it gives it back or goes. */
static void wave_sync_belongs_to_one_queue(void **state)
{
    (void)state;
    static uint64_t ring[2][512] __attribute__((aligned(4096))), pointers[2][2];
    uint32_t ids[2];
    for (int i = 0; i < 2; i++) {
        struct kfd_ioctl_create_queue_args create = queue_of(ring[i], pointers[i]);
        assert_int_equal(CALL(AMDKFD_IOC_CREATE_QUEUE, &create), 0);
        ids[i] = create.queue_id;
    }
    struct kfd_ioctl_alloc_queue_gws_args first = {.queue_id = ids[0],
                                                   .num_gws = 1,
                                                   .first_gws = 9},
                                          second = {.queue_id = ids[1], .num_gws = 64},
                                          none = {.queue_id = 1000, .num_gws = 1};
    assert_int_equal(CALL(AMDKFD_IOC_ALLOC_QUEUE_GWS, &none), -EINVAL);
    assert_int_equal(CALL(AMDKFD_IOC_ALLOC_QUEUE_GWS, &first), 0);
    assert_int_equal(first.first_gws, 0);
    assert_int_equal(CALL(AMDKFD_IOC_ALLOC_QUEUE_GWS, &second), -EBUSY);
    first.num_gws = 0;
    assert_int_equal(CALL(AMDKFD_IOC_ALLOC_QUEUE_GWS, &first), 0);
    assert_int_equal(CALL(AMDKFD_IOC_ALLOC_QUEUE_GWS, &first), -EINVAL);
    assert_int_equal(CALL(AMDKFD_IOC_ALLOC_QUEUE_GWS, &second), 0);
    struct kfd_ioctl_destroy_queue_args destroy = {.queue_id = ids[1]};
    assert_int_equal(CALL(AMDKFD_IOC_DESTROY_QUEUE, &destroy), 0);
    first.num_gws = 1;
    assert_int_equal(CALL(AMDKFD_IOC_ALLOC_QUEUE_GWS, &first), 0);
    destroy.queue_id = ids[0];
    assert_int_equal(CALL(AMDKFD_IOC_DESTROY_QUEUE, &destroy), 0);
}

/* What the software GPU makes of the units is softgpu/wave's (place_test). */
static void a_queue_takes_masks_of_units(void **state)
{
    (void)state;
    static uint64_t ring[512] __attribute__((aligned(4096))), pointers[2];
    static const uint32_t words[32] = {0xff};
    struct kfd_ioctl_create_queue_args create = queue_of(ring, pointers);
    assert_int_equal(CALL(AMDKFD_IOC_CREATE_QUEUE, &create), 0);
    const struct {
        uint32_t queue_id, bits;
        uint64_t at;
        int status;
    } cases[] = {
        {create.queue_id, 32, (uintptr_t)words, 0},
        {create.queue_id, 1024, (uintptr_t)words, 0},
        {create.queue_id, UINT32_MAX - 31, (uintptr_t)words, 0}, /* more than any GPU has */
        {create.queue_id, 0, (uintptr_t)words, -EINVAL},
        {create.queue_id, 104, (uintptr_t)words, -EINVAL}, /* no whole words */
        {create.queue_id, 32, 8, -EFAULT},
        {1000, 32, (uintptr_t)words, -EFAULT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct kfd_ioctl_set_cu_mask_args set = {cases[i].queue_id, cases[i].bits, cases[i].at};
        assert_int_equal(CALL(AMDKFD_IOC_SET_CU_MASK, &set), cases[i].status);
    }
    const struct unit_mask *mask = &driver->queues[create.queue_id].config.units;
    assert_int_equal(unit_mask_count(mask, GPU_UNITS_MAX), 8);
    struct kfd_ioctl_destroy_queue_args destroy = {.queue_id = create.queue_id};
    assert_int_equal(CALL(AMDKFD_IOC_DESTROY_QUEUE, &destroy), 0);
}

/* Every ioctl number with hostile arguments: an errno each time, and still alive at the end. */
static int xnack_set(int wanted)
{
    struct kfd_ioctl_set_xnack_mode_args mode = {.xnack_enabled = wanted};
    const int status = CALL(AMDKFD_IOC_SET_XNACK_MODE, &mode);
    return status ? status : mode.xnack_enabled;
}

/* The kernel's header: 1 wants retries of page faults, 0 wants none, less asks. Off at first;
 * while there is a queue nothing changes, nor where one of the GPUs has to be told at boot. */
static void retries_of_page_faults_are_chosen_before_queues(void **state)
{
    (void)state;
    struct gpu *gpu = &driver->gpu[0];
    const struct gpu_model *model = gpu->model;
    static uint64_t ring[512] __attribute__((aligned(4096))), pointers[2];
    struct kfd_ioctl_create_queue_args create = queue_of(ring, pointers);
    assert_int_equal(xnack_set(-1), 0);
    assert_int_equal(CALL(AMDKFD_IOC_CREATE_QUEUE, &create), 0);
    assert_int_equal(xnack_set(1), -EBUSY);
    assert_int_equal(xnack_set(-1), 0);
    struct kfd_ioctl_destroy_queue_args destroy = {.queue_id = create.queue_id};
    assert_int_equal(CALL(AMDKFD_IOC_DESTROY_QUEUE, &destroy), 0);
    assert_int_equal(xnack_set(1), 1);
    assert_int_equal(xnack_set(-1), 1);
    assert_int_equal(xnack_set(0), 0);
    gpu->model = gpu_model_find("gfx908");
    assert_int_equal(xnack_set(1), -EPERM);
    assert_int_equal(xnack_set(0), 0);
    gpu->model = model;
}

static void hostile_arguments_give_errors(void **state)
{
    (void)state;
    static const uint64_t pointers[] = {0, 1, 8, UINT64_MAX - 7, 0x7fffffffe000, 1ull << 60};
    static unsigned char bytes[4096];
    for (unsigned nr = 0; nr < 256; nr++) {
        if (nr == 0x0c) /* waits for as long as its arguments say */
            continue;
        for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++)
            assert_true(kfd_ioctl(driver, _IOC(3u, 'K', nr, 64), pointers[i]) < 0);
        memset(bytes, 0xff, sizeof bytes);
        int status = kfd_ioctl(driver, _IOC(3u, 'K', nr, 16383), (uintptr_t)bytes);
        assert_true(status <= 0);
        assert_true(kfd_ioctl(driver, _IOC(3u, 'K', nr, 0), (uintptr_t)bytes) <= 0);
    }
}

static void hostile_nested_pointers_give_efault(void **state)
{
    (void)state;
    struct kfd_ioctl_wait_events_args wait = {.events_ptr = 16, .num_events = 2};
    assert_int_equal(CALL(AMDKFD_IOC_WAIT_EVENTS, &wait), -EFAULT);
    wait.num_events = UINT32_MAX;
    assert_int_equal(CALL(AMDKFD_IOC_WAIT_EVENTS, &wait), -EINVAL);
    struct kfd_ioctl_get_process_apertures_new_args apertures = {
        .kfd_process_device_apertures_ptr = 64, .num_of_nodes = 4};
    assert_int_equal(CALL(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &apertures), -EFAULT);
    struct kfd_ioctl_create_queue_args create = {.ring_base_address = 4096,
                                                 .ring_size = 4096,
                                                 .read_pointer_address = 16,
                                                 .write_pointer_address = 16,
                                                 .queue_type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL,
                                                 .queue_percentage = 100,
                                                 .gpu_id = driver->gpu[0].gpu_id};
    assert_int_equal(CALL(AMDKFD_IOC_CREATE_QUEUE, &create), -EFAULT);
    struct kfd_ioctl_svm_args svm = {.start_addr = 1 << 20, .size = 4096, .nattr = UINT32_MAX};
    assert_int_equal(CALL(AMDKFD_IOC_SVM, &svm), -EINVAL);
}

static void structures_of_older_and_newer_versions(void **state)
{
    (void)state;
    struct {
        struct kfd_ioctl_get_version_args args;
        uint32_t canary;
    } version = {.canary = 0x5a5a5a5a};
    assert_int_equal(kfd_ioctl(driver, _IOC(2u, 'K', 1, 4), (uintptr_t)&version), 0);
    assert_int_equal(version.args.major_version, 1);
    assert_int_equal(version.args.minor_version, 0); /* no room was given for it */
    assert_int_equal(CALL(AMDKFD_IOC_GET_VERSION, &version), 0);
    assert_int_equal(version.args.minor_version, 17);
    assert_int_equal(version.canary, 0x5a5a5a5a);
}

/* A runtime that is told so leaves the dump of a fault to us. */
static void a_runtime_is_told_what_we_do(void **state)
{
    (void)state;
    struct kfd_runtime_enable_args enable = {.mode_mask = KFD_RUNTIME_ENABLE};
    const unsigned long request = _IOC(3u, 'K', KFD_NR_RUNTIME_ENABLE, sizeof enable);
    for (int i = 0; i < 2; i++) { /* on, and off again */
        enable.capabilities_mask = 0;
        assert_int_equal(CALL(request, &enable), 0);
        assert_int_equal(enable.capabilities_mask, KFD_RUNTIME_CAN_DUMP_CORE);
        enable.mode_mask = 0;
    }
}

/* What the threads do, again and again; the number of refusals goes to `refused`. */
struct crowd {
    pthread_barrier_t start;
    uint64_t handle;
    uint32_t queue_id;
    atomic_int refused;
};

static void *crowd_member(void *arg)
{
    enum { ROUNDS = 4000 };
    struct crowd *crowd = arg;
    pthread_barrier_wait(&crowd->start);
    for (int i = 0; i < ROUNDS; i++) {
        struct kfd_ipc_export_args export = {.handle = crowd->handle};
        struct kfd_ioctl_update_queue_args update = {.queue_id = crowd->queue_id};
        crowd->refused +=
            CALL(_IOC(3u, 'K', KFD_NR_IPC_EXPORT_HANDLE, sizeof export), &export) != 0;
        crowd->refused += CALL(AMDKFD_IOC_UPDATE_QUEUE, &update) != 0;
    }
    return NULL;
}

/* Threads that lend one buffer, and change one queue, do it one after the other, as in the kernel.
 */
static void threads_wait_for_each_other(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    static uint64_t ring[512] __attribute__((aligned(4096))), pointers[2];
    struct kfd_ioctl_create_queue_args create = queue_of(ring, pointers);
    struct crowd crowd = {.refused = 0};
    uint64_t offset = 0;
    pthread_t threads[THREADS];
    crowd.handle = alloc(0x700000, 4096, KFD_IOC_ALLOC_MEM_FLAGS_VRAM, &offset);
    assert_int_equal(CALL(AMDKFD_IOC_CREATE_QUEUE, &create), 0);
    crowd.queue_id = create.queue_id;
    pthread_barrier_init(&crowd.start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, crowd_member, &crowd), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&crowd.start);
    assert_int_equal(crowd.refused, 0);
    struct kfd_ioctl_destroy_queue_args destroy = {.queue_id = create.queue_id};
    assert_int_equal(CALL(AMDKFD_IOC_DESTROY_QUEUE, &destroy), 0);
    struct kfd_ioctl_free_memory_of_gpu_args gone = {.handle = crowd.handle};
    assert_int_equal(CALL(AMDKFD_IOC_FREE_MEMORY_OF_GPU, &gone), 0);
}

/* Runtimes draw a line through two such pairs. */
static void the_clocks_are_read_as_one(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct kfd_ioctl_get_clock_counters_args clocks = {.gpu_id = driver->gpu[0].gpu_id};
        assert_int_equal(CALL(AMDKFD_IOC_GET_CLOCK_COUNTERS, &clocks), 0);
        assert_int_equal(clocks.system_clock_freq, 1000000000);
        assert_int_equal(clocks.gpu_clock_counter * (1000000000 / GPU_CLOCK_HZ),
                         clocks.system_clock_counter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_and_the_gpu_see_the_same_memory),
        cmocka_unit_test(a_fault_tells_what_was_not_allowed),
        cmocka_unit_test(user_memory_has_its_own_gpu_address),
        cmocka_unit_test(user_memory_must_be_there),
        cmocka_unit_test(device_memory_is_finite),
        cmocka_unit_test(memory_comes_back),
        cmocka_unit_test(shared_memory_lives_as_long_as_its_descriptor),
        cmocka_unit_test(only_shared_memory_is_imported),
        cmocka_unit_test(queues_get_doorbells_of_their_gpu),
        cmocka_unit_test(wave_sync_belongs_to_one_queue),
        cmocka_unit_test(a_queue_takes_masks_of_units),
        cmocka_unit_test(retries_of_page_faults_are_chosen_before_queues),
        cmocka_unit_test(hostile_arguments_give_errors),
        cmocka_unit_test(hostile_nested_pointers_give_efault),
        cmocka_unit_test(structures_of_older_and_newer_versions),
        cmocka_unit_test(a_runtime_is_told_what_we_do),
        cmocka_unit_test(threads_wait_for_each_other),
        cmocka_unit_test(the_clocks_are_read_as_one),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
