/*
 * The 64-byte AMDHSA kernel descriptor ("<name>.kd", what a dispatch packet's kernel_object points
 * at) and the register counts it encodes, which depend on the GPU family.
 */
#ifndef CODEOBJ_KERNEL_DESCRIPTOR_H
#define CODEOBJ_KERNEL_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

struct kernel_descriptor {
    uint32_t group_segment_size_bytes;
    uint32_t private_segment_size_bytes;
    uint32_t kernarg_size_bytes;
    uint8_t reserved0[4];
    int64_t code_entry_offset_bytes; /* from the descriptor's own address */
    uint8_t reserved1[20];
    uint32_t compute_pgm_rsrc3;
    uint32_t compute_pgm_rsrc1;
    uint32_t compute_pgm_rsrc2;
    uint16_t kernel_code_properties;
    uint8_t reserved2[6];
};
_Static_assert(sizeof(struct kernel_descriptor) == 64, "the hardware's layout");

struct kernel_registers {
    uint32_t sgpr_count;
    uint32_t arch_vgpr_count;
    uint32_t accum_vgpr_count;
};

/* `gfx_target_version` as KFD spells it: 90010 is gfx90a, 100300 is gfx1030. Counts are what the
   hardware allocates (granules), not what the compiler used. */
struct kernel_registers kernel_descriptor_registers(const struct kernel_descriptor *descriptor,
                                                    uint32_t gfx_target_version);

#endif
