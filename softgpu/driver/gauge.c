/* What changes in sysfs while a program runs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "driver/driver.h"
#include "driver/sysfs.h"

/* The table of metrics, version 1.3, as the kernel's driver lays it out for discrete GPUs. A field
 * whose bits are all set is not available on this GPU, there as here. */
struct metrics_1_3 {
    uint16_t table_bytes;
    uint8_t format, content;
    uint16_t temperature[6]; /* edge, hot spot, memory, three regulators */
    uint16_t gfx_percent, memory_percent, media_percent;
    uint16_t socket_watts;
    uint64_t energy;
    uint64_t clock_ns;
    uint16_t average_mhz[7], current_mhz[7]; /* gfx, soc, memory, then video */
    uint32_t throttle;
    uint16_t fan_rpm;
    uint16_t pcie_lanes, pcie_speed; /* in 0.1 GT/s */
    uint16_t padding;
    uint32_t gfx_sum, memory_sum;
    uint16_t temperature_hbm[4];
    uint64_t firmware_ticks; /* of 10 ns */
    uint16_t millivolts[3];
    uint16_t padding_1;
    uint64_t throttle_bits;
};
_Static_assert(sizeof(struct metrics_1_3) == 120, "as in the kernel");

static struct gpu *gpu_running(struct driver *driver, int gpu)
{
    return driver && gpu < driver->gpu_count ? &driver->gpu[gpu] : NULL;
}

uint64_t gauge_vram_used_bytes(int gpu)
{
    struct driver *driver = driver_running();
    struct gpu *device = gpu_running(driver, gpu);
    if (!device)
        return 0;
    pthread_mutex_lock(&driver->lock);
    uint64_t bytes = device->vram_used_bytes;
    pthread_mutex_unlock(&driver->lock);
    return bytes;
}

/* Hardware averages over some milliseconds; this is the moment. */
uint32_t gauge_busy_percent(int gpu)
{
    const struct gpu *device = gpu_running(driver_running(), gpu);
    return device && cp_device_busy(device->cp) ? 100 : 0;
}

static size_t text_length(int length, size_t size_bytes)
{
    return length < 0 || (size_t)length >= size_bytes ? 0 : (size_t)length;
}

size_t gauge_vram_used(int gpu, char *out, size_t size_bytes)
{
    return text_length(snprintf(out, size_bytes, "%" PRIu64 "\n", gauge_vram_used_bytes(gpu)),
                       size_bytes);
}

size_t gauge_busy(int gpu, char *out, size_t size_bytes)
{
    return text_length(snprintf(out, size_bytes, "%" PRIu32 "\n", gauge_busy_percent(gpu)),
                       size_bytes);
}

size_t gauge_metrics(int gpu, char *out, size_t size_bytes)
{
    enum { GFX, SOC, MEMORY, PCIE_LANES = 16, PCIE_GEN4 = 160 };
    const struct gpu_model *model = driver_model_of_number(gpu);
    struct metrics_1_3 metrics;
    if (!model || size_bytes < sizeof metrics)
        return 0;
    memset(&metrics, 0xff, sizeof metrics);
    metrics.table_bytes = sizeof metrics;
    metrics.format = 1;
    metrics.content = 3;
    metrics.gfx_percent = (uint16_t)gauge_busy_percent(gpu);
    metrics.clock_ns = gpu_clock_ticks() * (1000000000u / GPU_CLOCK_HZ);
    metrics.firmware_ticks = metrics.clock_ns / 10;
    metrics.average_mhz[GFX] = metrics.current_mhz[GFX] = (uint16_t)model->sclk_mhz;
    metrics.average_mhz[MEMORY] = metrics.current_mhz[MEMORY] = (uint16_t)model->mclk_mhz;
    metrics.throttle = 0;
    metrics.throttle_bits = 0;
    metrics.pcie_lanes = PCIE_LANES;
    metrics.pcie_speed = PCIE_GEN4;
    memcpy(out, &metrics, sizeof metrics);
    return sizeof metrics;
}
