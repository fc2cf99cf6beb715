/* An agent in rocprofiler-sdk-tool's JSON: members have the names of the SDK's structure, and words
 * of bits are objects. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "results_json.h"

/* Parts of a word, from its lowest bit on; the last one has no name. */
struct bits {
    const char *name;
    unsigned count;
};
static const struct bits capability_bits[] = {{"HotPluggable", 1},
                                              {"HSAMMUPresent", 1},
                                              {"SharedWithGraphics", 1},
                                              {"QueueSizePowerOfTwo", 1},
                                              {"QueueSize32bit", 1},
                                              {"QueueIdleEvent", 1},
                                              {"VALimit", 1},
                                              {"WatchPointsSupported", 1},
                                              {"WatchPointsTotalBits", 4},
                                              {"DoorbellType", 2},
                                              {"AQLQueueDoubleMap", 1},
                                              {"DebugTrapSupported", 1},
                                              {"WaveLaunchTrapOverrideSupported", 1},
                                              {"WaveLaunchModeSupported", 1},
                                              {"PreciseMemoryOperationsSupported", 1},
                                              {"DEPRECATED_SRAM_EDCSupport", 1},
                                              {"Mem_EDCSupport", 1},
                                              {"RASEventNotify", 1},
                                              {"ASICRevision", 4},
                                              {"SRAM_EDCSupport", 1},
                                              {"SVMAPISupported", 1},
                                              {"CoherentHostAccess", 1},
                                              {"DebugSupportedFirmware", 1},
                                              {NULL, 0}};
static const struct bits sdma_version_bits[] = {{"uCodeSDMA", 10}, {"uCodeRes", 10}, {NULL, 0}};
static const struct bits version_bits[] = {
    {"uCode", 10}, {"Major", 6}, {"Minor", 8}, {"Stepping", 8}, {NULL, 0}};
static const struct bits visibility_bits[] = {
    {"hsa", 1}, {"hip", 1}, {"rccl", 1}, {"rocdecode", 1}, {NULL, 0}};
static const struct bits memory_bits[] = {{"HotPluggable", 1}, {"NonVolatile", 1}, {NULL, 0}};
static const struct bits cache_bits[] = {
    {"Data", 1}, {"Instruction", 1}, {"CPU", 1}, {"HSACU", 1}, {NULL, 0}};
static const struct bits link_bits[] = {{"Override", 1},        {"NonCoherent", 1},
                                        {"NoAtomics32bit", 1},  {"NoAtomics64bit", 1},
                                        {"NoPeerToPeerDMA", 1}, {NULL, 0}};

static void name_put(struct writer *writer, const char *name)
{
    json_raw(writer, "\"");
    json_raw(writer, name);
    json_raw(writer, "\":");
}

static void number_put(struct writer *writer, const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld,", (long long)value);
    name_put(writer, name);
    json_raw(writer, text);
}

static void unsigned_put(struct writer *writer, const char *name, uint64_t value)
{
    name_put(writer, name);
    writer_u64(writer, value);
    writer_char(writer, ',');
}

static void bits_put(struct writer *writer, const char *name, const struct bits *bits,
                     uint32_t word)
{
    const char *separator = "{";
    name_put(writer, name);
    for (; bits->name; bits++) {
        json_raw(writer, separator);
        name_put(writer, bits->name);
        writer_u64(writer, word & ((1u << bits->count) - 1));
        word >>= bits->count;
        separator = ",";
    }
    json_raw(writer, "},");
}

static void dimensions_put(struct writer *writer, const char *name, const rocprofiler_dim3_t *dim)
{
    char text[96];
    snprintf(text, sizeof text, "\"%s\":{\"x\":%u,\"y\":%u,\"z\":%u},", name, dim->x, dim->y,
             dim->z);
    json_raw(writer, text);
}

/* One of the columns that are members of the SDK's structure under the same name. */
static void column_put(struct writer *writer, const struct out_column *column,
                       const struct out_agent_row *row)
{
    char name[64] = "";
    for (size_t i = 0; column->name[i] && i < sizeof name - 1; i++)
        name[i] = (char)tolower(column->name[i]);
    if (strcmp(name, "agent_type") == 0 || strstr(name, "_dim_"))
        return;
    if (strcmp(name, "sdma_fw_version") == 0)
        bits_put(writer, name, sdma_version_bits, row->agent.sdma_fw_version.Value);
    else if (strcmp(name, "fw_version") == 0)
        bits_put(writer, name, version_bits, row->agent.fw_version.Value);
    else if (strcmp(name, "capability") == 0)
        bits_put(writer, name, capability_bits, row->agent.capability.Value);
    else if (column->type == OUT_I32)
        number_put(writer, name, out_column_i64(column, row));
    else if (column->type == OUT_U64)
        unsigned_put(writer, name, out_column_u64(column, row));
    else {
        name_put(writer, name);
        json_text(writer, out_column_text(column, row));
        writer_char(writer, ',');
    }
}

/* Of an agent that was read from a database nothing is known of these. */
static uint32_t memories_put(struct writer *writer, const rocprofiler_agent_v0_t *agent)
{
    uint32_t count = agent->mem_banks ? agent->mem_banks_count : 0;
    json_raw(writer, "\"mem_banks\":[");
    for (uint32_t i = 0; i < count; i++) {
        const rocprofiler_agent_mem_bank_t *bank = &agent->mem_banks[i];
        json_raw(writer, i ? ",{" : "{");
        unsigned_put(writer, "heap_type", (uint32_t)bank->heap_type);
        bits_put(writer, "flags", memory_bits, bank->flags.MemoryProperty);
        unsigned_put(writer, "width", bank->width);
        unsigned_put(writer, "mem_clk_max", bank->mem_clk_max);
        name_put(writer, "size_in_bytes");
        writer_u64(writer, bank->size_in_bytes);
        json_raw(writer, "}");
    }
    json_raw(writer, "],");
    return count;
}

static uint32_t caches_put(struct writer *writer, const rocprofiler_agent_v0_t *agent)
{
    uint32_t count = agent->caches ? agent->caches_count : 0;
    json_raw(writer, "\"caches\":[");
    for (uint32_t i = 0; i < count; i++) {
        const rocprofiler_agent_cache_t *cache = &agent->caches[i];
        json_raw(writer, i ? ",{" : "{");
        unsigned_put(writer, "processor_id_low", cache->processor_id_low);
        unsigned_put(writer, "size", cache->size);
        unsigned_put(writer, "level", cache->level);
        unsigned_put(writer, "cache_line_size", cache->cache_line_size);
        unsigned_put(writer, "cache_lines_per_tag", cache->cache_lines_per_tag);
        unsigned_put(writer, "association", cache->association);
        bits_put(writer, "type", cache_bits, cache->type.Value);
        name_put(writer, "latency");
        writer_u64(writer, cache->latency);
        json_raw(writer, "}");
    }
    json_raw(writer, "],");
    return count;
}

static uint32_t links_put(struct writer *writer, const rocprofiler_agent_v0_t *agent)
{
    uint32_t count = agent->io_links ? agent->io_links_count : 0;
    json_raw(writer, "\"io_links\":[");
    for (uint32_t i = 0; i < count; i++) {
        const rocprofiler_agent_io_link_t *link = &agent->io_links[i];
        json_raw(writer, i ? ",{" : "{");
        unsigned_put(writer, "type", (uint32_t)link->type);
        unsigned_put(writer, "version_major", link->version_major);
        unsigned_put(writer, "version_minor", link->version_minor);
        unsigned_put(writer, "node_from", link->node_from);
        unsigned_put(writer, "node_to", link->node_to);
        unsigned_put(writer, "weight", link->weight);
        unsigned_put(writer, "min_latency", link->min_latency);
        unsigned_put(writer, "max_latency", link->max_latency);
        unsigned_put(writer, "min_bandwidth", link->min_bandwidth);
        unsigned_put(writer, "max_bandwidth", link->max_bandwidth);
        bits_put(writer, "flags", link_bits, link->flags.LinkProperty);
        name_put(writer, "recommended_transfer_size");
        writer_u64(writer, link->recommended_transfer_size);
        json_raw(writer, "}");
    }
    json_raw(writer, "],");
    return count;
}

static void uuid_put(struct writer *writer, const rocprofiler_uuid_t *uuid)
{
    json_raw(writer, "\"uuid\":{\"bytes\":[");
    for (size_t i = 0; i < sizeof uuid->bytes; i++) {
        json_raw(writer, i ? "," : "");
        writer_u64(writer, uuid->bytes[i]);
    }
    json_raw(writer, "]},");
}

void results_agent_put(struct writer *writer, const struct out_agent_row *row, uint64_t handle)
{
    const rocprofiler_agent_v0_t *agent = &row->agent;
    const struct out_table *table = &out_tables[OUT_AGENT_INFO];
    bool is_gpu = strcmp(row->type, "GPU") == 0;
    uint32_t visibility;
    memcpy(&visibility, &agent->runtime_visibility, sizeof visibility);
    json_raw(writer, "{");
    unsigned_put(writer, "size", sizeof *agent);
    json_raw(writer, "\"id\":{\"handle\":");
    writer_u64(writer, handle);
    json_raw(writer, "},");
    unsigned_put(writer, "type", is_gpu ? ROCPROFILER_AGENT_TYPE_GPU : ROCPROFILER_AGENT_TYPE_CPU);
    for (size_t i = 0; i < table->column_count; i++)
        column_put(writer, &table->columns[i], row);
    number_put(writer, "logical_node_type_id", agent->logical_node_type_id);
    dimensions_put(writer, "workgroup_max_dim", &agent->workgroup_max_dim);
    dimensions_put(writer, "grid_max_dim", &agent->grid_max_dim);
    bits_put(writer, "runtime_visibility", visibility_bits, visibility);
    uuid_put(writer, &agent->uuid);
    unsigned_put(writer, "mem_banks_count", memories_put(writer, agent));
    unsigned_put(writer, "caches_count", caches_put(writer, agent));
    unsigned_put(writer, "io_links_count", links_put(writer, agent));
    json_raw(writer, "\"gpu_index\":");
    if (is_gpu)
        writer_u64(writer, (uint64_t)agent->logical_node_type_id);
    else
        json_raw(writer, "-1");
    if (row->times) { /* ours: what they are by the device's own word */
        json_raw(writer, ",\"times\":");
        json_text(writer, row->times);
    }
    json_raw(writer, "}");
}
