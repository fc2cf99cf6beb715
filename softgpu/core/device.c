#include "core/device.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"

#define GIB(n) ((uint64_t)(n) << 30)
#define MIB(n) ((uint32_t)(n) << 20)
#define KIB(n) ((uint32_t)(n) << 10)

/* The first entry is the default device. Physical and active compute units differ because every
 * product is sold with some units harvested. */
static const struct gpu_model models_known[] = {
    {
        .name = "gfx90a",
        .codename = "aldebaran",
        .marketing_name = "AMD Instinct MI210",
        .gen = GPU_GFX90A,
        .gfx_target_version = 90010,
        .device_id = 0x740f,
        .revision_id = 0x02,
        .family_id = 141,
        .external_rev = 0x3d,
        .xcc_count = 1,
        .se_count = 8,
        .sh_per_se = 1,
        .cu_per_sh = 14,
        .cu_per_sqc = 2,
        .cu_active = 104,
        .simd_per_cu = 4,
        .waves_per_simd = 8,
        .lds_bytes = KIB(64),
        .vgprs_per_simd = 512,
        .tcp_bytes = KIB(16),
        .tcp_line_bytes = 64,
        .tcp_ways = 64,
        .tcc_bytes = MIB(8),
        .tcc_line_bytes = 128,
        .tcc_ways = 16,
        .tcc_channels = 32,
        .few_host_atomics = 1,
        .vram_bytes = GIB(64),
        .sclk_mhz = 1700,
        .mclk_mhz = 1600,
        .memory_bytes_per_mclk = 1024,
        .host_mb_per_s = 31508,
        .peer_mb_per_s = 50000,
        .has_acc_vgprs = 1,
        .unified_vgprs = 1,
        .packed_work_item_id = 1,
        .sram_ecc = 1,
        .retries_faults = 1,
        .firmware_version = 60,
    },
    {
        .name = "gfx906",
        .codename = "vega20",
        .marketing_name = "AMD Instinct MI60",
        .gen = GPU_GFX906,
        .gfx_target_version = 90006,
        .device_id = 0x66a1,
        .revision_id = 0x02,
        .family_id = 141,
        .external_rev = 0x28,
        .xcc_count = 1,
        .se_count = 4,
        .sh_per_se = 1,
        .cu_per_sh = 16,
        .cu_per_sqc = 3,
        .cu_active = 64,
        .simd_per_cu = 4,
        .waves_per_simd = 10,
        .lds_bytes = KIB(64),
        .vgprs_per_simd = 256,
        .tcp_bytes = KIB(16),
        .tcp_line_bytes = 64,
        .tcp_ways = 4,
        .tcc_bytes = MIB(4),
        .tcc_line_bytes = 64,
        .tcc_ways = 16,
        .tcc_channels = 16,
        .few_host_atomics = 1,
        .vram_bytes = GIB(32),
        .sclk_mhz = 1800,
        .mclk_mhz = 1000,
        .memory_bytes_per_mclk = 1024,
        .host_mb_per_s = 31508,
        .peer_mb_per_s = 50000,

        .sram_ecc = 1,
        .firmware_version = 60,
    },
    {
        .name = "gfx908",
        .codename = "arcturus",
        .marketing_name = "AMD Instinct MI100",
        .gen = GPU_GFX908,
        .gfx_target_version = 90008,
        .device_id = 0x738c,
        .revision_id = 0x01,
        .family_id = 141,
        .external_rev = 0x32,
        .xcc_count = 1,
        .se_count = 8,
        .sh_per_se = 1,
        .cu_per_sh = 16,
        .cu_per_sqc = 3,
        .cu_active = 120,
        .simd_per_cu = 4,
        .waves_per_simd = 10,
        .lds_bytes = KIB(64),
        .vgprs_per_simd = 256,
        .tcp_bytes = KIB(16),
        .tcp_line_bytes = 64,
        .tcp_ways = 64,
        .tcc_bytes = MIB(8),
        .tcc_line_bytes = 64,
        .tcc_ways = 16,
        .tcc_channels = 32,
        .few_host_atomics = 1,
        .vram_bytes = GIB(32),
        .sclk_mhz = 1502,
        .mclk_mhz = 1200,
        .memory_bytes_per_mclk = 1024,
        .host_mb_per_s = 31508,
        .peer_mb_per_s = 46000,
        .has_acc_vgprs = 1,
        .sram_ecc = 1,
        .firmware_version = 60,
    },
    {
        .name = "gfx942",
        .codename = "aqua_vanjaram",
        .marketing_name = "AMD Instinct MI300X",
        .gen = GPU_GFX942,
        .gfx_target_version = 90402,
        .device_id = 0x74a1,
        .family_id = 141,
        .external_rev = 0x46,
        .xcc_count = 8,
        .se_count = 4,
        .sh_per_se = 1,
        .cu_per_sh = 10,
        .cu_per_sqc = 2,
        .cu_active = 304,
        .simd_per_cu = 4,
        .waves_per_simd = 8,
        .lds_bytes = KIB(64),
        .vgprs_per_simd = 512,
        .tcp_bytes = KIB(32),
        .tcp_line_bytes = 128,
        .tcp_ways = 64,
        .tcc_bytes = MIB(4),
        .tcc_line_bytes = 128,
        .tcc_ways = 16,
        .tcc_channels = 16,
        .tcc_mixes = 1,
        .scalar_types = 1,
        .side_bytes = MIB(256),
        .side_bytes_per_sclk = 8192,
        .vram_bytes = GIB(192),
        .sclk_mhz = 2100,
        .mclk_mhz = 1300,
        .memory_bytes_per_mclk = 4096,
        .host_mb_per_s = 63015,
        .peer_mb_per_s = 64000,
        .has_acc_vgprs = 1,
        .unified_vgprs = 1,
        .packed_work_item_id = 1,
        .sram_ecc = 1,
        .retries_faults = 1,
        .reclaims_scratch = 1,
        .firmware_version = 177,
    },
};

enum { MODELS_KNOWN = sizeof models_known / sizeof models_known[0] };

static const struct gpu_model *model_find(const char *name, size_t length)
{
    for (int i = 0; i < MODELS_KNOWN; i++)
        if (strlen(models_known[i].name) == length && !memcmp(models_known[i].name, name, length))
            return &models_known[i];
    return NULL;
}

const struct gpu_model *gpu_model_find(const char *name)
{
    return name ? model_find(name, strlen(name)) : NULL;
}

/* "*3" up to `end`: 3. Nothing: 1. Anything else: 0. */
static int count_parse(const char *text, const char *end)
{
    if (text == end)
        return 1;
    if (*text++ != '*' || text == end)
        return 0;
    int count = 0;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || count > GPU_DEVICES_MAX)
            return 0;
        count = count * 10 + (*text - '0');
    }
    return count;
}

int gpu_models_parse(const char *text, const struct gpu_model *models[GPU_DEVICES_MAX],
                     const char **bad)
{
    int total = 0;
    if (!text || !*text)
        text = models_known[0].name;
    for (const char *item = text;; item++) {
        const char *end = item + strcspn(item, ",");
        size_t name_length = strcspn(item, ",*");
        const struct gpu_model *model = model_find(item, name_length);
        int count = model ? count_parse(item + name_length, end) : 0;
        if (count == 0 || total + count > GPU_DEVICES_MAX) {
            *bad = item;
            return -1;
        }
        while (count--)
            models[total++] = model;
        item = end;
        if (!*item)
            return total;
    }
}

uint64_t gpu_clock_ticks(void)
{
    /* BOOTTIME, because that is what the kernel driver reports as system clock and what the
     * runtimes convert GPU ticks into. */
    return clock_now_ns() / (1000000000u / GPU_CLOCK_HZ);
}
