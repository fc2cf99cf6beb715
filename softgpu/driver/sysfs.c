#include "driver/sysfs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "driver/topology.h"

#define PCI_ROOT "/sys/devices/pci0000:00"

enum { PATH_MAX_BYTES = 160, TEXT_MAX_BYTES = 512, NAME_MAX_BYTES = 40 };

/* The first failure is kept, so that the callers below read as the lists they are. */
struct filler {
    struct vtree *tree;
    const struct gpu_model *model;
    int gpu;
    int status;
    char device[PATH_MAX_BYTES]; /* the PCI function's directory */
};

static bool path_make(struct filler *fill, char path[PATH_MAX_BYTES], const char *name)
{
    int length = snprintf(path, PATH_MAX_BYTES, "%s/%s", fill->device, name);
    if (length < 0 || length >= PATH_MAX_BYTES)
        fill->status = -ENAMETOOLONG;
    return fill->status == 0;
}

__attribute__((format(printf, 3, 4))) static void file_put(struct filler *fill, const char *name,
                                                           const char *format, ...)
{
    char path[PATH_MAX_BYTES], text[TEXT_MAX_BYTES];
    va_list args;
    if (fill->status || !path_make(fill, path, name))
        return;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fill->status = length >= 0 && (size_t)length < sizeof text
                       ? vtree_add_file(fill->tree, path, text)
                       : -ENAMETOOLONG;
}

static void live_put(struct filler *fill, const char *name, vnode_live *live)
{
    char path[PATH_MAX_BYTES];
    if (!fill->status && path_make(fill, path, name))
        fill->status = vtree_add_live(fill->tree, path, live, fill->gpu);
}

static void link_put(struct filler *fill, const char *path, const char *target)
{
    if (!fill->status)
        fill->status = vtree_add_link(fill->tree, path, target);
}

static void identity_put(struct filler *fill)
{
    const struct gpu_model *m = fill->model;
    uint32_t bus = topology_pci_bus(fill->gpu);
    file_put(fill, "vendor", "0x1002\n");
    file_put(fill, "device", "0x%04x\n", m->device_id);
    file_put(fill, "subsystem_vendor", "0x1002\n");
    file_put(fill, "subsystem_device", "0x%04x\n", m->device_id);
    file_put(fill, "revision", "0x%02x\n", m->revision_id);
    file_put(fill, "class", "0x038000\n");
    file_put(fill, "uevent",
             "DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_ID=1002:%04X\nPCI_SUBSYS_ID=1002:%04X\n"
             "PCI_SLOT_NAME=0000:%02x:00.0\n",
             m->device_id, m->device_id, bus);
    file_put(fill, "numa_node", "-1\n");
    file_put(fill, "unique_id", "%016" PRIx64 "\n", topology_unique_id(fill->gpu));
    file_put(fill, "serial_number", "%016" PRIx64 "\n", topology_unique_id(fill->gpu));
    file_put(fill, "product_name", "%s\n", m->marketing_name);
    file_put(fill, "product_number", "CROCGPU\n");
    file_put(fill, "vbios_version", "113-CROCGPU-%s\n", m->name);
    file_put(fill, "fw_version/mec_fw_version", "0x%08x\n", m->firmware_version);
    file_put(fill, "fw_version/mec2_fw_version", "0x%08x\n", m->firmware_version);
    file_put(fill, "fw_version/sdma_fw_version", "0x%08x\n", TOPOLOGY_SDMA_FIRMWARE);
    file_put(fill, "fw_version/sdma2_fw_version", "0x%08x\n", TOPOLOGY_SDMA_FIRMWARE);
}

/* The modelled GPU runs at one clock, its highest; the star marks it. */
static void clocks_put(struct filler *fill)
{
    const struct gpu_model *m = fill->model;
    file_put(fill, "pp_dpm_sclk", "0: 500Mhz \n1: %uMhz *\n", m->sclk_mhz);
    file_put(fill, "pp_dpm_mclk", "0: 400Mhz \n1: %uMhz *\n", m->mclk_mhz);
    file_put(fill, "pp_dpm_pcie", "0: 16.0GT/s, x16 *\n");
    file_put(fill, "power_dpm_state", "performance\n");
    file_put(fill, "power_dpm_force_performance_level", "auto\n");
    file_put(fill, "current_link_speed", "16.0 GT/s PCIe\n");
    file_put(fill, "current_link_width", "16\n");
    file_put(fill, "max_link_speed", "16.0 GT/s PCIe\n");
    file_put(fill, "max_link_width", "16\n");
    file_put(fill, "pcie_replay_count", "0\n");
    live_put(fill, "gpu_busy_percent", gauge_busy);
    live_put(fill, "gpu_metrics", gauge_metrics);
}

/* The whole memory is visible to the host, as behind a large BAR. GTT is what the host lends: the
 * model sets no bound to it and does not count it. */
static void memory_put(struct filler *fill)
{
    uint64_t bytes = fill->model->vram_bytes;
    file_put(fill, "mem_info_vram_total", "%" PRIu64 "\n", bytes);
    file_put(fill, "mem_info_vis_vram_total", "%" PRIu64 "\n", bytes);
    live_put(fill, "mem_info_vram_used", gauge_vram_used);
    live_put(fill, "mem_info_vis_vram_used", gauge_vram_used);
    file_put(fill, "mem_info_vram_vendor", "unknown\n");
}

/* Clocks only: no temperature, no power and no voltage is modelled, and a value that nobody
 * measured is not shown. The label of the voltage is what rocm_smi 5.2 cannot do without. */
static void sensors_put(struct filler *fill)
{
    char name[NAME_MAX_BYTES];
    const struct {
        const char *file;
        uint64_t value_hz;
        const char *label;
    } clocks[] = {{"freq1", (uint64_t)fill->model->sclk_mhz * 1000000, "sclk"},
                  {"freq2", (uint64_t)fill->model->mclk_mhz * 1000000, "mclk"}};
    snprintf(name, sizeof name, "hwmon/hwmon%d/name", fill->gpu);
    file_put(fill, name, "amdgpu\n");
    snprintf(name, sizeof name, "hwmon/hwmon%d/in0_label", fill->gpu);
    file_put(fill, name, "vddgfx\n");
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        snprintf(name, sizeof name, "hwmon/hwmon%d/%s_input", fill->gpu, clocks[i].file);
        file_put(fill, name, "%" PRIu64 "\n", clocks[i].value_hz);
        snprintf(name, sizeof name, "hwmon/hwmon%d/%s_label", fill->gpu, clocks[i].file);
        file_put(fill, name, "%s\n", clocks[i].label);
    }
}

/* One DRM node of the function: its directory, and the links by which class and number lead to it.
 */
static void node_put(struct filler *fill, const char *node, uint32_t minor)
{
    char name[NAME_MAX_BYTES], path[PATH_MAX_BYTES], target[PATH_MAX_BYTES];
    snprintf(name, sizeof name, "drm/%s/dev", node);
    file_put(fill, name, "%d:%u\n", TOPOLOGY_DRM_MAJOR, minor);
    snprintf(name, sizeof name, "drm/%s/uevent", node);
    file_put(fill, name, "MAJOR=%d\nMINOR=%u\nDEVNAME=dri/%s\nDEVTYPE=drm_minor\n",
             TOPOLOGY_DRM_MAJOR, minor, node);
    snprintf(name, sizeof name, "drm/%s/device", node);
    if (path_make(fill, path, name))
        link_put(fill, path, fill->device);
    snprintf(name, sizeof name, "drm/%s", node);
    if (!path_make(fill, target, name))
        return;
    snprintf(path, sizeof path, "/sys/class/drm/%s", node);
    link_put(fill, path, target);
    snprintf(path, sizeof path, "/sys/dev/char/%d:%u", TOPOLOGY_DRM_MAJOR, minor);
    link_put(fill, path, target);
}

static void function_put(struct filler *fill)
{
    char name[NAME_MAX_BYTES], path[PATH_MAX_BYTES];
    snprintf(path, sizeof path, "/sys/bus/pci/devices/0000:%02x:00.0", topology_pci_bus(fill->gpu));
    link_put(fill, path, fill->device);
    if (path_make(fill, path, "subsystem"))
        link_put(fill, path, "/sys/bus/pci");
    if (path_make(fill, path, "driver"))
        link_put(fill, path, "/sys/bus/pci/drivers/amdgpu");
    snprintf(name, sizeof name, "card%d", fill->gpu);
    node_put(fill, name, (uint32_t)fill->gpu);
    snprintf(name, sizeof name, "renderD%u", topology_render_minor(fill->gpu));
    node_put(fill, name, topology_render_minor(fill->gpu));
}

static int shared_add(struct vtree *tree)
{
    static const char *const shared[] = {PCI_ROOT,
                                         "/sys/dev",
                                         "/sys/dev/char",
                                         "/sys/bus",
                                         "/sys/bus/pci",
                                         "/sys/bus/pci/devices",
                                         "/sys/bus/pci/drivers"};
    int status = 0;
    for (size_t i = 0; i < sizeof shared / sizeof shared[0] && !status; i++)
        status = vtree_share(tree, shared[i]);
    if (!status)
        status = vtree_add_dir(tree, "/sys/bus/pci/drivers/amdgpu");
    /* rocm_smi lists processes from here; another process's use of its own software GPU is nobody's
     * business, and a process that asks uses none. */
    return status ? status : vtree_add_dir(tree, "/sys/devices/virtual/kfd/kfd/proc");
}

int sysfs_fill(struct vtree *tree, const struct gpu_model *const models[], int count)
{
    struct filler fill = {.tree = tree, .status = shared_add(tree)};
    for (int gpu = 0; gpu < count && !fill.status; gpu++) {
        fill.gpu = gpu;
        fill.model = models[gpu];
        snprintf(fill.device, sizeof fill.device, PCI_ROOT "/0000:%02x:00.0",
                 topology_pci_bus(gpu));
        identity_put(&fill);
        clocks_put(&fill);
        memory_put(&fill);
        sensors_put(&fill);
        function_put(&fill);
    }
    return fill.status;
}
