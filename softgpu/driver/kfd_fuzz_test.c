/*
 * Every ioctl with arguments that nobody should give: numbers, structure sizes, ids, sizes near
 * 2^64, pointers to nowhere, to memory that may not be written and to pages' ends; from several
 * threads at once. Each call answers 0 or an errno, and the driver serves a right call afterwards.
 * The same calls for the same CROC_FUZZ_SEED; CROC_FUZZ_CALLS a thread.
 */
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

#include "driver/kfd.h"
#include "driver/kfd_abi.h"

enum { THREADS = 4, WORDS = 64, PAGE = 4096, ARENA_BYTES = 1 << 20, NR_KNOWN = 0x30 };

static struct driver *driver;
static uint8_t *arena;    /* the program's memory, which calls may fill as they like */
static uint8_t *constant; /* a page that may only be read, and one that is not there */

static int setup(void **state)
{
    (void)state;
    setenv("CROCGPU_DEVICES", "gfx90a*2", 1);
    int device = driver_open(O_RDWR | O_CLOEXEC);
    driver = device >= 0 ? driver_of_fd(device) : NULL;
    arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    constant = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(constant + PAGE, PAGE);
    return driver ? 0 : -1;
}

static uint64_t number_from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

static uint64_t next(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

static uint64_t address(uint64_t *random)
{
    uint64_t in_arena = next(random) % ARENA_BYTES;
    const uint64_t choices[] = {
        0,
        1,
        PAGE,
        (uintptr_t)arena + in_arena,
        (uintptr_t)arena + (in_arena & ~UINT64_C(4095)),
        (uintptr_t)arena + (in_arena & ~UINT64_C(4095)),
        (uintptr_t)arena + ARENA_BYTES - 4,
        (uintptr_t)constant,
        (uintptr_t)constant + PAGE - 8,
        (uintptr_t)constant + PAGE,
        (UINT64_C(1) << 47) - PAGE,
        UINT64_C(1) << 47,
        UINT64_MAX - PAGE + 1,
        UINT64_MAX,
    };
    return choices[next(random) % (sizeof choices / sizeof choices[0])];
}

static uint32_t small(uint64_t *random)
{
    const uint32_t choices[] = {driver->gpu[0].gpu_id,
                                driver->gpu[1].gpu_id,
                                driver->gpu[0].gpu_id,
                                0,
                                1,
                                2,
                                3,
                                100,
                                1024,
                                4096,
                                0x7fffffff,
                                0x80000000,
                                UINT32_MAX,
                                (uint32_t)next(random) % 16,
                                (uint32_t)next(random) % 16,
                                1u << next(random) % 32,
                                (uint32_t)next(random)};
    return choices[next(random) % (sizeof choices / sizeof choices[0])];
}

static uint64_t word(uint64_t *random)
{
    switch (next(random) % 4) {
    case 0:
        return address(random);
    case 1:
        return small(random);
    case 2:
        return next(random) >> next(random) % 64;
    default:
        return small(random) | (uint64_t)small(random) << 32;
    }
}

/* Waits that end, and no descriptors of the test's own surroundings. */
static void tame(unsigned nr, uint64_t words[WORDS])
{
    if (nr == _IOC_NR(AMDKFD_IOC_WAIT_EVENTS))
        ((struct kfd_ioctl_wait_events_args *)words)->timeout &= 1;
    if (nr == KFD_NR_IPC_IMPORT_HANDLE) /* else it would look into other processes */
        ((struct kfd_ipc_import_args *)words)->name.words[1] = 0;
}

/* Descriptors that the driver gave out would fill the table. */
static void returned_close(unsigned nr, const uint64_t words[WORDS])
{
    if (nr == _IOC_NR(AMDKFD_IOC_SMI_EVENTS))
        close((int)((const struct kfd_ioctl_smi_events_args *)words)->anon_fd);
    if (nr == KFD_NR_EXPORT_DMABUF)
        close((int)((const struct kfd_export_dmabuf_args *)words)->dmabuf_fd);
}

static const unsigned long right[] = {
    AMDKFD_IOC_CREATE_QUEUE,
    AMDKFD_IOC_UPDATE_QUEUE,
    AMDKFD_IOC_DESTROY_QUEUE,
    AMDKFD_IOC_ALLOC_MEMORY_OF_GPU,
    AMDKFD_IOC_FREE_MEMORY_OF_GPU,
    AMDKFD_IOC_MAP_MEMORY_TO_GPU,
    AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU,
    AMDKFD_IOC_CREATE_EVENT,
    AMDKFD_IOC_DESTROY_EVENT,
    AMDKFD_IOC_WAIT_EVENTS,
    AMDKFD_IOC_SET_EVENT,
    AMDKFD_IOC_GET_DMABUF_INFO,
    AMDKFD_IOC_IMPORT_DMABUF,
    AMDKFD_IOC_SVM,
    AMDKFD_IOC_GET_TILE_CONFIG,
    AMDKFD_IOC_SMI_EVENTS,
    AMDKFD_IOC_GET_PROCESS_APERTURES_NEW,
    AMDKFD_IOC_ALLOC_QUEUE_GWS,
    _IOC(3u, 'K', KFD_NR_EXPORT_DMABUF, 16),
    _IOC(3u, 'K', KFD_NR_IPC_EXPORT_HANDLE, sizeof(struct kfd_ipc_export_args)),
};

static unsigned long request_of(uint64_t *random)
{
    if (next(random) % 4)
        return right[next(random) % (sizeof right / sizeof right[0])];
    unsigned long nr = next(random) % 4 ? next(random) % NR_KNOWN : next(random) & 0xff;
    return _IOC(next(random) & 3, 'K', nr, next(random) % 600);
}

/* Now and then a call is nearly right, or hardly anything would get past the first check. */
static void queue_ask(uint64_t *random, struct kfd_ioctl_create_queue_args *create)
{
    create->gpu_id = driver->gpu[next(random) & 1].gpu_id;
    create->queue_type =
        next(random) & 1 ? KFD_IOC_QUEUE_TYPE_COMPUTE_AQL : KFD_IOC_QUEUE_TYPE_SDMA;
    create->queue_percentage = 100;
    create->queue_priority = 0;
    create->ring_size = 4096;
}

static void memory_ask(uint64_t *random, struct kfd_ioctl_alloc_memory_of_gpu_args *alloc)
{
    alloc->gpu_id = driver->gpu[next(random) & 1].gpu_id;
    alloc->flags = (1u << next(random) % 5) | KFD_ALLOC_WRITABLE;
    alloc->va_addr &= ~UINT64_C(4095);
}

static int call(uint64_t *random)
{
    _Alignas(16) uint64_t words[WORDS + 16];
    unsigned long request = request_of(random);
    for (int i = 0; i < WORDS + 16; i++)
        words[i] = word(random);
    if (request == AMDKFD_IOC_CREATE_QUEUE && next(random) & 1)
        queue_ask(random, (struct kfd_ioctl_create_queue_args *)words);
    if (request == AMDKFD_IOC_ALLOC_MEMORY_OF_GPU && next(random) & 1)
        memory_ask(random, (struct kfd_ioctl_alloc_memory_of_gpu_args *)words);
    tame(_IOC_NR(request), words);
    if (_IOC_NR(request) != _IOC_NR(AMDKFD_IOC_WAIT_EVENTS) && next(random) % 8 == 0)
        return kfd_ioctl(driver, request, address(random));
    int status = kfd_ioctl(driver, request, (uintptr_t)words);
    if (status == 0 && (_IOC_DIR(request) & _IOC_READ) && _IOC_SIZE(request) >= 16)
        returned_close(_IOC_NR(request), words);
    return status;
}

static void *calls_make(void *seed)
{
    uint64_t random = (uintptr_t)seed, calls = number_from_environment("CROC_FUZZ_CALLS", 20000);
    uintptr_t bad = 0;
    for (uint64_t i = 0; i < calls; i++) {
        int status = call(&random);
        bad += status > 0 || status < -4095;
    }
    return (void *)bad;
}

static void a_right_call_is_served(void)
{
    struct kfd_ioctl_get_version_args version = {0};
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_GET_VERSION, (uintptr_t)&version), 0);
    assert_int_equal(version.major_version, KFD_MAJOR);
    struct kfd_ioctl_alloc_memory_of_gpu_args alloc = {.va_addr = 0x500000000000,
                                                       .size = PAGE,
                                                       .gpu_id = driver->gpu[0].gpu_id,
                                                       .flags = KFD_IOC_ALLOC_MEM_FLAGS_GTT};
    int status = kfd_ioctl(driver, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, (uintptr_t)&alloc);
    struct kfd_ioctl_free_memory_of_gpu_args give = {.handle = alloc.handle};
    if (status != -ENOMEM) { /* hundreds of thousands of calls use up the device's 2^50 bytes */
        assert_int_equal(status, 0);
        assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_FREE_MEMORY_OF_GPU, (uintptr_t)&give), 0);
    }
}

/* The driver says what it does not know, thousands of times. */
static int complaints_drop(void)
{
    int before = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
    return before;
}

static void hostile_calls_get_an_answer(void **state)
{
    (void)state;
    int complaints = complaints_drop();
    pthread_t thread[THREADS];
    uint64_t seed = number_from_environment("CROC_FUZZ_SEED", 1);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&thread[i], NULL, calls_make,
                           (void *)(uintptr_t)((seed * THREADS + i + 1) * 2654435761u)),
            0);
    for (int i = 0; i < THREADS; i++) {
        void *bad = NULL;
        pthread_join(thread[i], &bad);
        assert_null(bad);
    }
    dup2(complaints, STDERR_FILENO);
    close(complaints);
    a_right_call_is_served();
}

/* The sizes and numbers that once were let through. */
static void sizes_that_wrap_are_refused(void **state)
{
    (void)state;
    const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - PAGE + 2, UINT64_MAX - 2 * PAGE,
                              UINT64_C(1) << 63, UINT64_C(1) << 47};
    const uint32_t kinds[] = {KFD_IOC_ALLOC_MEM_FLAGS_USERPTR, KFD_IOC_ALLOC_MEM_FLAGS_GTT,
                              KFD_IOC_ALLOC_MEM_FLAGS_VRAM};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            struct kfd_ioctl_alloc_memory_of_gpu_args alloc = {.va_addr = i & 1 ? 0 : PAGE,
                                                               .size = sizes[i],
                                                               .gpu_id = driver->gpu[0].gpu_id,
                                                               .mmap_offset = (uintptr_t)arena,
                                                               .flags = kinds[k]};
            assert_true(kfd_ioctl(driver, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, (uintptr_t)&alloc) < 0);
        }
}

static void a_queue_without_a_ring_stops(void **state)
{
    (void)state;
    struct kfd_ioctl_create_queue_args create = {.ring_base_address = (uintptr_t)arena,
                                                 .ring_size = 4096,
                                                 .read_pointer_address = (uintptr_t)arena + 8192,
                                                 .write_pointer_address = (uintptr_t)arena + 8200,
                                                 .gpu_id = driver->gpu[0].gpu_id,
                                                 .queue_type = KFD_IOC_QUEUE_TYPE_SDMA,
                                                 .queue_percentage = 100};
    struct kfd_ioctl_update_queue_args update = {.ring_base_address = (uintptr_t)arena,
                                                 .queue_percentage = 100};
    struct kfd_ioctl_alloc_memory_of_gpu_args memory = {.va_addr = (uintptr_t)arena,
                                                        .size = ARENA_BYTES,
                                                        .gpu_id = driver->gpu[0].gpu_id,
                                                        .mmap_offset = (uintptr_t)arena,
                                                        .flags = KFD_IOC_ALLOC_MEM_FLAGS_USERPTR |
                                                                 KFD_ALLOC_WRITABLE};
    struct kfd_ioctl_map_memory_to_gpu_args map = {
        .device_ids_array_ptr = (uintptr_t)&driver->gpu[0].gpu_id, .n_devices = 1};
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, (uintptr_t)&memory), 0);
    map.handle = memory.handle;
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_MAP_MEMORY_TO_GPU, (uintptr_t)&map), 0);
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_CREATE_QUEUE, (uintptr_t)&create), 0);
    update.queue_id = create.queue_id;
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_UPDATE_QUEUE, (uintptr_t)&update), 0);
    assert_int_equal(driver->queues[create.queue_id].config.percent, 0);
    update.ring_size = 3;
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_UPDATE_QUEUE, (uintptr_t)&update), -EINVAL);
    update.ring_size = 4096;
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_UPDATE_QUEUE, (uintptr_t)&update), 0);
    assert_int_equal(driver->queues[create.queue_id].config.percent, 100);
    assert_int_equal(driver->queues[create.queue_id].config.ring_bytes, 4096);
    struct kfd_ioctl_destroy_queue_args destroy = {.queue_id = create.queue_id};
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_DESTROY_QUEUE, (uintptr_t)&destroy), 0);
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_UPDATE_QUEUE, (uintptr_t)&update), -EINVAL);
    struct kfd_ioctl_free_memory_of_gpu_args give = {.handle = memory.handle};
    assert_int_equal(kfd_ioctl(driver, AMDKFD_IOC_FREE_MEMORY_OF_GPU, (uintptr_t)&give), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_wrap_are_refused),
        cmocka_unit_test(a_queue_without_a_ring_stops),
        cmocka_unit_test(hostile_calls_get_an_answer),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
