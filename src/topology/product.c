#include "topology/product.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/sysfs.h"

/* Ranges of gfx target versions; the first that holds the version wins. Values are the kernel's
   uAPI (amdgpu_drm.h). */
static const struct family_range {
    uint32_t first, last, family;
} family_ranges[] = {
    {70000, 70000, 125},   /* KV */
    {70001, 70002, 120},   /* CI */
    {80001, 80001, 135},   /* CZ */
    {80002, 80099, 130},   /* VI */
    {90002, 90002, 142},   /* RV */
    {90009, 90009, 142},   /* RV */
    {90012, 90012, 142},   /* RV: gfx90c */
    {90000, 99999, 141},   /* AI */
    {100303, 100303, 144}, /* VGH */
    {100305, 100305, 146}, /* YC */
    {100306, 100306, 149}, /* GC 10.3.6 */
    {100307, 100307, 151}, /* GC 10.3.7 */
    {100000, 109999, 143}, /* NV */
    {110003, 110003, 148}, /* GC 11.0.1 */
    {110500, 110599, 150}, /* GC 11.5.0 */
    {110000, 119999, 145}, /* GC 11.0.0 */
    {120000, 129999, 152}, /* GC 12.0.0 */
};

uint32_t product_family(uint32_t gfx_target_version)
{
    for (size_t i = 0; i < sizeof family_ranges / sizeof family_ranges[0]; i++)
        if (gfx_target_version >= family_ranges[i].first &&
            gfx_target_version <= family_ranges[i].last)
            return family_ranges[i].family;
    return 0;
}

static char *text_trimmed(const char *begin, const char *end)
{
    while (begin < end && isspace((unsigned char)*begin))
        begin++;
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    return end > begin ? strndup(begin, (size_t)(end - begin)) : NULL;
}

/* Lines of libdrm's amdgpu.ids are "DEVICE, REVISION, name", both numbers in hex. */
static char *ids_line_match(const char *line, const char *end, unsigned device, unsigned revision)
{
    char *at;
    if (strtoul(line, &at, 16) != device)
        return NULL;
    at += strspn(at, " \t");
    if (*at != ',' || strtoul(at + 1, &at, 16) != revision)
        return NULL;
    at += strspn(at, " \t");
    return *at == ',' && at < end ? text_trimmed(at + 1, end) : NULL;
}

static char *ids_name(const char *root, unsigned device, unsigned revision)
{
    char *ids = sysfs_read("%s/usr/share/libdrm/amdgpu.ids", root);
    char *name = NULL;
    for (const char *line = ids; line && *line != '\0' && !name;) {
        const char *end = line + strcspn(line, "\n");
        name = isxdigit((unsigned char)*line) ? ids_line_match(line, end, device, revision) : NULL;
        line = *end ? end + 1 : end;
    }
    free(ids);
    return name;
}

char *product_name_find(const char *root, const rocprofiler_agent_v0_t *agent)
{
    char *text =
        sysfs_read("%s/sys/class/drm/renderD%u/device/product_name", root, agent->drm_render_minor);
    char *name = text ? text_trimmed(text, text + strlen(text)) : NULL;

    free(text);
    if (name)
        return name;
    text = sysfs_read("%s/sys/class/drm/renderD%u/device/revision", root, agent->drm_render_minor);
    unsigned revision = text ? (unsigned)strtoul(text, NULL, 16) : 0;
    free(text);
    return ids_name(root, agent->device_id, revision);
}

/* The value of "label<tabs>: value" inside one processor's block, or NULL. */
static const char *cpuinfo_value(const char *block, const char *block_end, const char *label)
{
    size_t label_size = strlen(label);
    for (const char *line = block; line < block_end;) {
        const char *end = line + strcspn(line, "\n");
        if (strncmp(line, label, label_size) == 0) {
            const char *colon = line + label_size + strspn(line + label_size, " \t");
            if (*colon == ':')
                return colon + 1;
        }
        line = *end ? end + 1 : block_end;
    }
    return NULL;
}

static const char *cpuinfo_block_end(const char *block)
{
    const char *end = strstr(block, "\n\n");
    return end ? end + 1 : block + strlen(block);
}

static const char *cpuinfo_block_find(const char *text, uint32_t apic_id)
{
    for (const char *block = text; *block != '\0';) {
        const char *end = cpuinfo_block_end(block);
        const char *value = cpuinfo_value(block, end, "apicid");
        if (value && strtoul(value, NULL, 10) == apic_id)
            return block;
        block = end + strspn(end, "\n");
    }
    return text;
}

char *product_cpu_name(const char *root, uint32_t apic_id, uint32_t *family)
{
    char *text = sysfs_read("%s/proc/cpuinfo", root);
    if (!text)
        return NULL;
    const char *block = cpuinfo_block_find(text, apic_id);
    const char *block_end = cpuinfo_block_end(block);
    const char *value = cpuinfo_value(block, block_end, "model name");
    char *name = value ? text_trimmed(value, value + strcspn(value, "\n")) : NULL;
    value = cpuinfo_value(block, block_end, "cpu family");
    if (value)
        *family = (uint32_t)strtoul(value, NULL, 10);
    free(text);
    return name;
}
