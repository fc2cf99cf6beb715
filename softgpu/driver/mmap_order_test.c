/*
 * Who watches what a program maps, behind libcrocgpu, sees all of it: anonymous memory, files, and
 * the GPU's memory; before the driver has started and while it runs.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kfd_ioctl.h>

#include "driver/kfd_abi.h"
#include "driver/test/mmap_counter.h"
#include "driver/test/preloaded.h"

enum { SIZE_BYTES = 1 << 20 };

static void map_and_unmap(int flags, int fd, off_t offset)
{
    const struct mmap_counts before = mmap_counts();
    void *view = mmap(NULL, SIZE_BYTES, PROT_READ, flags, fd, offset);
    CHECK(view != MAP_FAILED && munmap(view, SIZE_BYTES) == 0);
    const struct mmap_counts after = mmap_counts();
    CHECK(after.maps == before.maps + 1 && after.unmaps == before.unmaps + 1);
}

int main(void)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    map_and_unmap(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    map_and_unmap(MAP_PRIVATE, file, 0);
    int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    struct kfd_ioctl_alloc_memory_of_gpu_args memory = {.va_addr = 0x7e0000000000,
                                                        .size = SIZE_BYTES,
                                                        .gpu_id = first_gpu_id(),
                                                        .flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM |
                                                                 KFD_ALLOC_WRITABLE};
    CHECK(ioctl(kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &memory) == 0);
    map_and_unmap(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    map_and_unmap(MAP_PRIVATE, file, 0);
    map_and_unmap(MAP_SHARED, kfd, (off_t)memory.mmap_offset);
    printf("%d failures\n", failures);
    return failures != 0;
}
