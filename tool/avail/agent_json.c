#include "agent_json.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

void json_text_print(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *at = (const unsigned char *)(text ? text : ""); *at; at++)
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20)
            fprintf(file, "\\u%04x", *at);
        else
            fputc(*at, file);
    fputc('"', file);
}

enum member_type { MEMBER_U16, MEMBER_U32, MEMBER_I32, MEMBER_U64, MEMBER_TEXT };

#define MEMBER(name, type)                                                                         \
    {                                                                                              \
#name, offsetof(rocprofiler_agent_v0_t, name), MEMBER_##type                               \
    }
static const struct {
    const char *name;
    size_t offset;
    enum member_type type;
} members[] = {
    MEMBER(size, U64),
    MEMBER(type, U32),
    MEMBER(cpu_cores_count, U32),
    MEMBER(simd_count, U32),
    MEMBER(mem_banks_count, U32),
    MEMBER(caches_count, U32),
    MEMBER(io_links_count, U32),
    MEMBER(cpu_core_id_base, U32),
    MEMBER(simd_id_base, U32),
    MEMBER(max_waves_per_simd, U32),
    MEMBER(lds_size_in_kb, U32),
    MEMBER(gds_size_in_kb, U32),
    MEMBER(num_gws, U32),
    MEMBER(wave_front_size, U32),
    MEMBER(num_xcc, U32),
    MEMBER(cu_count, U32),
    MEMBER(array_count, U32),
    MEMBER(num_shader_banks, U32),
    MEMBER(simd_arrays_per_engine, U32),
    MEMBER(cu_per_simd_array, U32),
    MEMBER(simd_per_cu, U32),
    MEMBER(max_slots_scratch_cu, U32),
    MEMBER(gfx_target_version, U32),
    MEMBER(vendor_id, U16),
    MEMBER(device_id, U16),
    MEMBER(location_id, U32),
    MEMBER(domain, U32),
    MEMBER(drm_render_minor, U32),
    MEMBER(num_sdma_engines, U32),
    MEMBER(num_sdma_xgmi_engines, U32),
    MEMBER(num_sdma_queues_per_engine, U32),
    MEMBER(num_cp_queues, U32),
    MEMBER(max_engine_clk_ccompute, U32),
    MEMBER(max_engine_clk_fcompute, U32),
    MEMBER(cu_per_engine, U32),
    MEMBER(max_waves_per_cu, U32),
    MEMBER(family_id, U32),
    MEMBER(workgroup_max_size, U32),
    MEMBER(grid_max_size, U32),
    MEMBER(local_mem_size, U64),
    MEMBER(hive_id, U64),
    MEMBER(gpu_id, U64),
    MEMBER(name, TEXT),
    MEMBER(vendor_name, TEXT),
    MEMBER(product_name, TEXT),
    MEMBER(model_name, TEXT),
    MEMBER(node_id, U32),
    MEMBER(logical_node_id, I32),
    MEMBER(logical_node_type_id, I32),
};

static void member_print(FILE *file, const void *at, enum member_type type)
{
    switch (type) {
    case MEMBER_U16:
        fprintf(file, "%" PRIu16, *(const uint16_t *)at);
        return;
    case MEMBER_U32:
        fprintf(file, "%" PRIu32, *(const uint32_t *)at);
        return;
    case MEMBER_I32:
        fprintf(file, "%" PRId32, *(const int32_t *)at);
        return;
    case MEMBER_U64:
        fprintf(file, "%" PRIu64, *(const uint64_t *)at);
        return;
    case MEMBER_TEXT:
        json_text_print(file, *(const char *const *)at);
        return;
    }
}

static void dimensions_print(FILE *file, const char *name, const rocprofiler_dim3_t *of)
{
    fprintf(file, ",\"%s\":{\"x\":%" PRIu32 ",\"y\":%" PRIu32 ",\"z\":%" PRIu32 "}", name, of->x,
            of->y, of->z);
}

void agent_json_print(FILE *file, const rocprofiler_agent_v0_t *agent)
{
    const rocprofiler_agent_runtime_visiblity_t *seen = &agent->runtime_visibility;
    fprintf(file, "{\"id\":{\"handle\":%" PRIu64 "}", agent->id.handle);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        fprintf(file, ",\"%s\":", members[i].name);
        member_print(file, (const char *)agent + members[i].offset, members[i].type);
    }
    dimensions_print(file, "workgroup_max_dim", &agent->workgroup_max_dim);
    dimensions_print(file, "grid_max_dim", &agent->grid_max_dim);
    fprintf(file, ",\"runtime_visibility\":{\"hsa\":%u,\"hip\":%u,\"rccl\":%u,\"rocdecode\":%u}}",
            seen->hsa, seen->hip, seen->rccl, seen->rocdecode);
}
