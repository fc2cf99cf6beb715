/*
 * A program that looks at the GPUs as rocm_smi and amd_smi do, while libcrocgpu is preloaded (the
 * test's environment does that, with a gfx90a and a gfx906): the graphics driver's files and
 * ioctls, asked by the libdrm of the machine, against what the KFD says of the same GPUs.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libdrm/amdgpu.h>
#include <libdrm/amdgpu_drm.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <xf86drm.h>

#include <linux/kfd_ioctl.h>

#include "driver/test/preloaded.h"

#define CARDS "/sys/class/drm/card%d/device/"
#define NODES "/sys/class/kfd/kfd/topology/nodes/%d/"

enum { GPUS = 2, TEXT_BYTES = 4096, RENDER_FIRST = 128 };

static size_t file_read(const char *format, int number, const char *name, char text[TEXT_BYTES])
{
    char path[256];
    int used = snprintf(path, sizeof path, format, number);
    snprintf(path + used, sizeof path - (size_t)used, "%s", name);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(text, 1, TEXT_BYTES - 1, file) : 0;
    text[length] = 0;
    if (file)
        fclose(file);
    return length;
}

static uint64_t card_number(int gpu, const char *name)
{
    char text[TEXT_BYTES];
    return file_read(CARDS, gpu, name, text) ? strtoull(text, NULL, 0) : UINT64_MAX;
}

/* What the KFD says: "name value" in a file of GPU number n. */
static uint64_t node_number(int gpu, const char *file, const char *name)
{
    char text[TEXT_BYTES], wanted[64];
    file_read(NODES, gpu + 1, file, text);
    snprintf(wanted, sizeof wanted, "%s ", name);
    const char *at = strstr(text, wanted);
    return at ? strtoull(at + strlen(wanted), NULL, 0) : UINT64_MAX - 1;
}

static void same_as_kfd(int gpu)
{
    char text[TEXT_BYTES], path[64], target[256] = "";
    unsigned domain, bus, device, function;
    CHECK(card_number(gpu, "vendor") == node_number(gpu, "properties", "vendor_id"));
    CHECK(card_number(gpu, "device") == node_number(gpu, "properties", "device_id"));
    file_read(CARDS, gpu, "unique_id", text);
    CHECK(strtoull(text, NULL, 16) == node_number(gpu, "properties", "unique_id"));
    uint64_t bytes = node_number(gpu, "mem_banks/0/properties", "size_in_bytes");
    CHECK(card_number(gpu, "mem_info_vram_total") == bytes);
    CHECK(card_number(gpu, "mem_info_vis_vram_total") == bytes);
    /* The class's link leads to the function whose number the KFD gives. */
    snprintf(path, sizeof path, "/sys/class/drm/card%d", gpu);
    CHECK(readlink(path, target, sizeof target - 1) > 0);
    const char *drm = strstr(target, "/drm/");
    CHECK(drm && sscanf(drm - 12, "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4);
    CHECK((bus << 8 | device << 3 | function) == node_number(gpu, "properties", "location_id"));
    /* The marked clock is the one that the KFD calls the highest. */
    file_read(CARDS, gpu, "pp_dpm_sclk", text);
    const char *star = strchr(text, '*');
    while (star && star > text && star[-1] != ':')
        star--;
    CHECK(star &&
          strtoull(star, NULL, 10) == node_number(gpu, "properties", "max_engine_clk_fcompute"));
}

/* The table says its own size, and holds the clock at byte 54, as in version 1.3. */
static void metrics(int gpu)
{
    char bytes[TEXT_BYTES];
    uint16_t size, mhz;
    size_t length = file_read(CARDS, gpu, "gpu_metrics", bytes);
    memcpy(&size, bytes, sizeof size);
    memcpy(&mhz, bytes + 54, sizeof mhz);
    CHECK(length == 120 && size == length && bytes[2] == 1 && bytes[3] == 3);
    CHECK(mhz == node_number(gpu, "properties", "max_engine_clk_fcompute"));
    for (int at = 4; at < 16; at++) /* no temperature is modelled: all ones */
        CHECK((uint8_t)bytes[at] == 0xff);
}

static void cards(void)
{
    DIR *dir = opendir("/sys/class/drm");
    int count = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += strncmp(entry->d_name, "card", 4) == 0;
    if (dir)
        closedir(dir);
    CHECK(count == GPUS);
    for (int gpu = 0; gpu < GPUS; gpu++) {
        same_as_kfd(gpu);
        metrics(gpu);
        CHECK(node_number(gpu, "properties", "hive_id") == 0); /* alone of its kind */
        CHECK(access("/sys/class/drm/card0/../renderD128", F_OK) == 0);
    }
    CHECK(open("/sys/class/drm/card0/device/pp_dpm_sclk", O_WRONLY) < 0 && errno == EACCES);
    CHECK(access("/sys/class/drm/card2", F_OK) != 0 && errno == ENOENT);
}

/* Memory of one GPU is taken and given back: its file follows, the other's does not. */
static void memory_used(void)
{
    enum { BYTES = 4 << 20 };
    int kfd = open("/dev/kfd", O_RDWR), render = open("/dev/dri/renderD128", O_RDWR);
    char text[TEXT_BYTES];
    file_read(NODES, 1, "gpu_id", text);
    uint32_t gpu_id = (uint32_t)strtoul(text, NULL, 10);
    struct kfd_ioctl_acquire_vm_args acquire = {.drm_fd = (uint32_t)render, .gpu_id = gpu_id};
    struct kfd_ioctl_alloc_memory_of_gpu_args alloc = {.va_addr = UINT64_C(1) << 32,
                                                       .size = BYTES,
                                                       .gpu_id = gpu_id,
                                                       .flags = KFD_IOC_ALLOC_MEM_FLAGS_VRAM |
                                                                KFD_IOC_ALLOC_MEM_FLAGS_WRITABLE};
    uint64_t before = card_number(0, "mem_info_vram_used");
    CHECK(ioctl(kfd, AMDKFD_IOC_ACQUIRE_VM, &acquire) == 0);
    CHECK(ioctl(kfd, AMDKFD_IOC_ALLOC_MEMORY_OF_GPU, &alloc) == 0);
    CHECK(card_number(0, "mem_info_vram_used") == before + BYTES);
    CHECK(card_number(1, "mem_info_vram_used") == 0);
    CHECK(card_number(0, "gpu_busy_percent") == 0);
    struct kfd_ioctl_free_memory_of_gpu_args gone = {.handle = alloc.handle};
    CHECK(ioctl(kfd, AMDKFD_IOC_FREE_MEMORY_OF_GPU, &gone) == 0);
    CHECK(card_number(0, "mem_info_vram_used") == before);
    close(render);
    close(kfd);
}

#define FUNCTION(library, name)                                                                    \
    __typeof__(&name) p_##name = (__typeof__(&name))dlsym(library, #name)

/* amd_smi takes these out of the library itself, past every interposed one. */
static void through_libdrm(int gpu)
{
    void *drm = dlopen("libdrm.so.2", RTLD_NOW), *amd = dlopen("libdrm_amdgpu.so.1", RTLD_NOW);
    CHECK(drm && amd);
    if (!drm || !amd)
        return;
    FUNCTION(drm, drmGetVersion);
    FUNCTION(drm, drmFreeVersion);
    FUNCTION(drm, drmGetDevice);
    FUNCTION(drm, drmFreeDevice);
    FUNCTION(amd, amdgpu_device_initialize);
    FUNCTION(amd, amdgpu_query_gpu_info);
    FUNCTION(amd, amdgpu_device_deinitialize);
    char path[32];
    snprintf(path, sizeof path, "/dev/dri/renderD%d", RENDER_FIRST + gpu);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat info;
    CHECK(fstat(fd, &info) == 0 && S_ISCHR(info.st_mode) &&
          info.st_rdev == makedev(226, RENDER_FIRST + gpu));
    drmVersionPtr version = p_drmGetVersion(fd);
    CHECK(version && strcmp(version->name, "amdgpu") == 0);
    p_drmFreeVersion(version);
    drmDevicePtr device = NULL;
    CHECK(p_drmGetDevice(fd, &device) == 0 && device && device->bustype == DRM_BUS_PCI);
    CHECK(device &&
          device->businfo.pci->bus << 8 == (int)node_number(gpu, "properties", "location_id"));
    CHECK(device && device->deviceinfo.pci->device_id == card_number(gpu, "device"));
    p_drmFreeDevice(&device);
    uint32_t major_number, minor_number;
    amdgpu_device_handle handle;
    struct amdgpu_gpu_info gpu_info;
    CHECK(p_amdgpu_device_initialize(fd, &major_number, &minor_number, &handle) == 0);
    CHECK(p_amdgpu_query_gpu_info(handle, &gpu_info) == 0);
    CHECK(gpu_info.asic_id == card_number(gpu, "device"));
    CHECK(gpu_info.cu_active_number * 4 == node_number(gpu, "properties", "simd_count"));
    uint32_t units = 0;
    for (int at = 0; at < 16; at++)
        units += (uint32_t)__builtin_popcount(gpu_info.cu_bitmap[at / 4][at % 4]);
    CHECK(units == gpu_info.cu_active_number);
    p_amdgpu_device_deinitialize(handle);
    close(fd);
}

static int ask(int fd, uint32_t query, void *to, uint32_t room)
{
    struct drm_amdgpu_info info = {
        .return_pointer = (uintptr_t)to, .return_size = room, .query = query};
    info.sensor_info.type = AMDGPU_INFO_SENSOR_GPU_TEMP;
    return ioctl(fd, DRM_IOCTL_AMDGPU_INFO, &info);
}

/* amd_smi shows the BIOS's name and version, and asks for no image of it. */
static void bios(void)
{
    struct drm_amdgpu_info_vbios bios = {0};
    struct drm_amdgpu_info info = {.return_pointer = (uintptr_t)&bios,
                                   .return_size = sizeof bios,
                                   .query = AMDGPU_INFO_VBIOS,
                                   .vbios_info.type = AMDGPU_INFO_VBIOS_INFO};
    char text[TEXT_BYTES];
    int fd = open("/dev/dri/renderD128", O_RDWR);
    CHECK(ioctl(fd, DRM_IOCTL_AMDGPU_INFO, &info) == 0);
    CHECK(file_read(CARDS, 0, "vbios_version", text) &&
          strncmp(text, (const char *)bios.vbios_ver_str, strlen(text) - 1) == 0);
    info.vbios_info.type = AMDGPU_INFO_VBIOS_IMAGE;
    CHECK(ioctl(fd, DRM_IOCTL_AMDGPU_INFO, &info) < 0 && errno == EINVAL);
    close(fd);
}

static void bad_questions(void)
{
    int fd = open("/dev/dri/renderD128", O_RDWR), kfd = open("/dev/kfd", O_RDWR);
    uint8_t answer[8];
    memset(answer, 0x5a, sizeof answer);
    CHECK(ask(fd, AMDGPU_INFO_DEV_INFO, answer, 3) == 0 && answer[2] == 0 && answer[3] == 0x5a);
    CHECK(ask(fd, AMDGPU_INFO_DEV_INFO, (void *)8, 64) < 0 && errno == EFAULT);
    CHECK(ask(fd, 0xffff, answer, sizeof answer) < 0 && errno == EINVAL);
    CHECK(ask(fd, AMDGPU_INFO_SENSOR, answer, sizeof answer) < 0 && errno == EINVAL);
    CHECK(ioctl(fd, DRM_IOCTL_AMDGPU_INFO, NULL) < 0 && errno == EFAULT);
    CHECK(ioctl(fd, DRM_IOCTL_VERSION, NULL) < 0 && errno == EFAULT);
    CHECK(ask(kfd, AMDGPU_INFO_DEV_INFO, answer, 3) < 0); /* not a render node */
    close(fd);
    close(kfd);
}

int main(void)
{
    cards();
    memory_used();
    for (int gpu = 0; gpu < GPUS; gpu++)
        through_libdrm(gpu);
    bios();
    bad_questions();
    printf("%d failures\n", failures);
    return failures != 0;
}
