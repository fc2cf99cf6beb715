/*
 * What a modelled GPU looks like: one immutable description per device, chosen by
 * CROCGPU_DEVICES ("gfx90a", "gfx90a*2", "gfx906,gfx942"). The topology files, the ioctl answers,
 * the wave engine, the cache models and the counter register file all read these numbers and
 * nothing else, so they cannot disagree.
 */
#ifndef CORE_DEVICE_H
#define CORE_DEVICE_H

#include <stdint.h>

enum gpu_gen { GPU_GFX906, GPU_GFX908, GPU_GFX90A, GPU_GFX942, GPU_GEN_COUNT };

struct gpu_model {
    const char *name;           /* "gfx90a" */
    const char *codename;       /* topology "name" file: "aldebaran" */
    const char *marketing_name; /* "AMD Instinct MI210" */
    enum gpu_gen gen;
    uint32_t gfx_target_version; /* 90010: decimal major, minor, stepping in base 100 */
    uint32_t device_id;          /* PCI */
    uint32_t revision_id;        /* PCI; the product's name goes by both */
    uint32_t family_id;          /* amdgpu family, 141 = AI */
    uint32_t external_rev;

    uint32_t xcc_count; /* accelerator dies */
    uint32_t se_count;  /* shader engines per XCC */
    uint32_t sh_per_se;
    uint32_t cu_per_sh;  /* physical, per shader array */
    uint32_t cu_per_sqc; /* that share a scalar and an instruction cache, at most */
    uint32_t cu_active;  /* whole device */
    uint32_t simd_per_cu;
    uint32_t waves_per_simd;
    uint32_t lds_bytes;      /* per CU */
    uint32_t vgprs_per_simd; /* per lane; ACC registers included where unified */
    uint32_t tcp_bytes, tcp_line_bytes, tcp_ways; /* vector L1, per CU */
    uint32_t tcc_bytes, tcc_line_bytes, tcc_ways; /* L2, whole XCC */
    uint32_t tcc_channels;                        /* per XCC */
    uint8_t tcc_mixes;        /* channels and sets go by all bits of an address (perf/l2_mix.h) */
    uint8_t few_host_atomics; /* in uncached memory of the host: those of PCIe (decision 0027) */
    uint8_t scalar_types;     /* requests of scalar caches are of their memory's type; else NC */
    uint32_t side_bytes; /* cache in front of the memory, of all XCCs ("Infinity Cache"), if any: */
    uint32_t side_bytes_per_sclk; /* and what it gives at its peak */
    uint64_t vram_bytes;
    uint32_t sclk_mhz, mclk_mhz;
    uint32_t memory_bytes_per_mclk; /* at its peak: the bus, and transfers in a cycle */
    uint32_t host_mb_per_s;         /* of its link to the host, and to another GPU of its kind: */
    uint32_t peer_mb_per_s;         /* in each direction, at their peak */
    uint8_t has_acc_vgprs;          /* AGPRs exist */
    uint8_t unified_vgprs;          /* AGPRs follow the VGPRs in one file (gfx90a and later) */
    uint8_t packed_work_item_id;    /* v0 = x | y << 10 | z << 20 at wave start */
    uint8_t sram_ecc;
    uint8_t retries_faults;    /* waves may wait for page faults (XNACK), process by process */
    uint8_t reclaims_scratch;  /* firmware that gives private memory back when asked */
    uint32_t firmware_version; /* of the compute packet processor */
};

/* NULL when the name is unknown. */
const struct gpu_model *gpu_model_find(const char *name);

/* GB_ADDR_CONFIG of every gfx9: pipes and banks, by which images are laid out. */
enum { GPU_ADDRESS_CONFIG = 0x22014042 };

enum { GPU_DEVICES_MAX = 16, GPU_GWS_COUNT = 64 /* of every gfx9 */ };

/* Parses a CROCGPU_DEVICES value into models[]; returns the count or -1 with *bad pointing at
 * the part that is wrong. NULL or "" means one gfx90a. */
int gpu_models_parse(const char *text, const struct gpu_model *models[GPU_DEVICES_MAX],
                     const char **bad);

/* The GPU's constant-rate clock, as the KFD and every timestamp report it: 100 MHz derived from
 * CLOCK_BOOTTIME. */
uint64_t gpu_clock_ticks(void);
enum { GPU_CLOCK_HZ = 100000000 };

#endif
