#include "driver/drm_info.h"

#include <errno.h>
#include <libdrm/amdgpu_drm.h>
#include <stdio.h>
#include <string.h>

#include "driver/driver.h"
#include "driver/sysfs.h"
#include "driver/topology.h"
#include "driver/uaccess.h"

enum { VERSION_MAJOR = 3, VERSION_MINOR = 57, GB_ADDR_CONFIG = 0x263e, VRAM_TYPE_HBM = 6 };

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The kernel writes as much of an answer as the program has room for, and says nothing of the rest.
 */
static int answer(const struct drm_amdgpu_info *ask, const void *value, size_t size_bytes)
{
    return user_write(ask->return_pointer, value, smaller(ask->return_size, size_bytes));
}

static int text_answer(uint64_t to, uint64_t room, const char *text)
{
    return room && to ? user_write(to, text, smaller(room, strlen(text))) : 0;
}

static int version_tell(uint64_t args)
{
    static const char name[] = "amdgpu", date[] = "20150101", about[] = "AMD GPU";
    struct drm_version version;
    int status = user_read(&version, args, sizeof version);
    if (!status)
        status = text_answer((uintptr_t)version.name, version.name_len, name);
    if (!status)
        status = text_answer((uintptr_t)version.date, version.date_len, date);
    if (!status)
        status = text_answer((uintptr_t)version.desc, version.desc_len, about);
    version.version_major = VERSION_MAJOR;
    version.version_minor = VERSION_MINOR;
    version.version_patchlevel = 0;
    version.name_len = sizeof name - 1;
    version.date_len = sizeof date - 1;
    version.desc_len = sizeof about - 1;
    return status ? status : user_write(args, &version, sizeof version);
}

static int client_tell(uint64_t args)
{
    struct drm_client client;
    int status = user_read(&client, args, sizeof client);
    client.auth = 1; /* whoever opened a render node may use it */
    return status ? status : user_write(args, &client, sizeof client);
}

void drm_compute_units_fill(const struct gpu_model *model, uint32_t bitmap[4][4])
{
    uint32_t engines = model->xcc_count * model->se_count * model->sh_per_se;
    for (uint32_t engine = 0; engine < engines; engine++) {
        uint32_t units = model->cu_active / engines + (engine < model->cu_active % engines);
        uint32_t column = engine / 4 * model->sh_per_se % 4;
        bitmap[engine % 4][column] = (1u << units) - 1;
    }
}

static int device_tell(const struct drm_amdgpu_info *ask, const struct gpu_model *model)
{
    struct drm_amdgpu_info_device info = {
        .device_id = model->device_id,
        .external_rev = model->external_rev,
        .pci_rev = model->revision_id,
        .family = model->family_id,
        .num_shader_engines = model->se_count,
        .num_shader_arrays_per_engine = model->sh_per_se,
        .gpu_counter_freq = GPU_CLOCK_HZ / 1000,
        .max_engine_clock = (uint64_t)model->sclk_mhz * 1000,
        .max_memory_clock = (uint64_t)model->mclk_mhz * 1000,
        .cu_active_number = model->cu_active,
        .num_hw_gfx_contexts = 8,
        .virtual_address_offset = 1 << 21,
        .virtual_address_max = UINT64_C(1) << 47,
        .virtual_address_alignment = 4096,
        .gart_page_size = 4096,
        .vram_type = VRAM_TYPE_HBM,
        .vram_bit_width = 4096,
        .wave_front_size = 64,
        .num_shader_visible_vgprs = 256,
        .num_cu_per_sh = model->cu_per_sh,
        .num_tcc_blocks = model->tcc_channels * model->xcc_count,
    };
    drm_compute_units_fill(model, info.cu_bitmap);
    return answer(ask, &info, sizeof info);
}

static int memory_tell(const struct drm_amdgpu_info *ask, const struct gpu_model *model, int gpu)
{
    struct drm_amdgpu_heap_info heap = {
        .total_heap_size = model->vram_bytes,
        .usable_heap_size = model->vram_bytes,
        .heap_usage = gauge_vram_used_bytes(gpu),
        .max_allocation = model->vram_bytes / 4 * 3,
    };
    struct drm_amdgpu_memory_info info = {.vram = heap, .cpu_accessible_vram = heap};
    struct drm_amdgpu_info_vram_gtt sizes = {model->vram_bytes, model->vram_bytes, 0};
    return ask->query == AMDGPU_INFO_MEMORY ? answer(ask, &info, sizeof info)
                                            : answer(ask, &sizes, sizeof sizes);
}

static int firmware_tell(const struct drm_amdgpu_info *ask, const struct gpu_model *model)
{
    struct drm_amdgpu_info_firmware firmware = {0};
    if (ask->query_fw.fw_type == AMDGPU_INFO_FW_GFX_MEC)
        firmware.ver = model->firmware_version;
    else if (ask->query_fw.fw_type == AMDGPU_INFO_FW_SDMA)
        firmware.ver = TOPOLOGY_SDMA_FIRMWARE;
    else if (ask->query_fw.fw_type > AMDGPU_INFO_FW_TOC)
        return -EINVAL;
    return answer(ask, &firmware, sizeof firmware); /* the others are not there: version 0 */
}

static int bios_tell(const struct drm_amdgpu_info *ask, const struct gpu_model *model)
{
    struct drm_amdgpu_info_vbios bios = {0};
    if (ask->vbios_info.type != AMDGPU_INFO_VBIOS_INFO)
        return -EINVAL;
    snprintf((char *)bios.name, sizeof bios.name, "%s", model->marketing_name);
    snprintf((char *)bios.vbios_pn, sizeof bios.vbios_pn, "113-CROCGPU-%s", model->name);
    snprintf((char *)bios.vbios_ver_str, sizeof bios.vbios_ver_str, "113-CROCGPU-%s", model->name);
    return answer(ask, &bios, sizeof bios);
}

/* Temperature, power and voltage are not modelled: the kernel too refuses what a GPU cannot tell.
 */
static int sensor_tell(const struct drm_amdgpu_info *ask, const struct gpu_model *model, int gpu)
{
    uint32_t value;
    switch (ask->sensor_info.type) {
    case AMDGPU_INFO_SENSOR_GFX_SCLK:
    case AMDGPU_INFO_SENSOR_STABLE_PSTATE_GFX_SCLK:
        value = model->sclk_mhz;
        break;
    case AMDGPU_INFO_SENSOR_GFX_MCLK:
    case AMDGPU_INFO_SENSOR_STABLE_PSTATE_GFX_MCLK:
        value = model->mclk_mhz;
        break;
    case AMDGPU_INFO_SENSOR_GPU_LOAD:
        value = gauge_busy_percent(gpu);
        break;
    default:
        return -EINVAL;
    }
    return answer(ask, &value, sizeof value);
}

static int register_tell(const struct drm_amdgpu_info *ask)
{
    static const uint32_t value = GPU_ADDRESS_CONFIG;
    if (ask->read_mmr_reg.dword_offset != GB_ADDR_CONFIG || ask->read_mmr_reg.count != 1)
        return -EFAULT; /* what the kernel says of a register that is not on its list */
    return answer(ask, &value, sizeof value);
}

static int engines_tell(const struct drm_amdgpu_info *ask)
{
    uint32_t type = ask->query_hw_ip.type;
    uint32_t count = type == AMDGPU_HW_IP_COMPUTE || type == AMDGPU_HW_IP_DMA;
    if (ask->query == AMDGPU_INFO_HW_IP_COUNT)
        return answer(ask, &count, sizeof count);
    struct drm_amdgpu_info_hw_ip info = {.hw_ip_version_major = count ? 9 : 0};
    return answer(ask, &info, sizeof info); /* no rings: kernels come by the KFD alone */
}

static int info_tell(const struct gpu_model *model, int gpu, uint64_t args)
{
    struct drm_amdgpu_info ask;
    uint32_t yes = 1;
    uint64_t ticks = gpu_clock_ticks(), used = gauge_vram_used_bytes(gpu);
    if (user_read(&ask, args, sizeof ask))
        return -EFAULT;
    switch (ask.query) {
    case AMDGPU_INFO_ACCEL_WORKING:
        return answer(&ask, &yes, sizeof yes);
    case AMDGPU_INFO_HW_IP_COUNT:
    case AMDGPU_INFO_HW_IP_INFO:
        return engines_tell(&ask);
    case AMDGPU_INFO_TIMESTAMP:
        return answer(&ask, &ticks, sizeof ticks);
    case AMDGPU_INFO_FW_VERSION:
        return firmware_tell(&ask, model);
    case AMDGPU_INFO_VRAM_USAGE:
    case AMDGPU_INFO_VIS_VRAM_USAGE:
        return answer(&ask, &used, sizeof used);
    case AMDGPU_INFO_VRAM_GTT:
    case AMDGPU_INFO_MEMORY:
        return memory_tell(&ask, model, gpu);
    case AMDGPU_INFO_READ_MMR_REG:
        return register_tell(&ask);
    case AMDGPU_INFO_DEV_INFO:
        return device_tell(&ask, model);
    case AMDGPU_INFO_VBIOS:
        return bios_tell(&ask, model);
    case AMDGPU_INFO_SENSOR:
        return sensor_tell(&ask, model, gpu);
    }
    return -EINVAL;
}

int drm_info_ioctl(uint32_t render_minor, unsigned long request, uint64_t args)
{
    const struct gpu_model *model = driver_model_of_minor(render_minor);
    if (!model)
        return -ENOTTY;
    if (_IOC_NR(request) == _IOC_NR(DRM_IOCTL_VERSION))
        return version_tell(args);
    if (_IOC_NR(request) == _IOC_NR(DRM_IOCTL_GET_CLIENT))
        return client_tell(args);
    if (_IOC_NR(request) == DRM_COMMAND_BASE + DRM_AMDGPU_INFO)
        return info_tell(model, (int)(render_minor - topology_render_minor(0)), args);
    return -ENOTTY;
}
