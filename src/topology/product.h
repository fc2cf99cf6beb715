/* Finds names and families that sysfs does not spell out. Internal to this folder. */
#ifndef TOPOLOGY_PRODUCT_H
#define TOPOLOGY_PRODUCT_H

#include <rocprofiler-sdk/agent.h>

/* The marketing name (malloc'ed), or NULL when neither the driver nor libdrm's list knows it. */
char *product_name_find(const char *root, const rocprofiler_agent_v0_t *agent);

/* AMDGPU_FAMILY_* of the kernel's amdgpu_drm.h for a gfx target version; 0 when unknown. */
uint32_t product_family(uint32_t gfx_target_version);

/* Reads name and family of the processor whose APIC id is `apic_id` (else of the first one) from
 * /proc/cpuinfo. The name is malloc'ed, or NULL. */
char *product_cpu_name(const char *root, uint32_t apic_id, uint32_t *family);

#endif
