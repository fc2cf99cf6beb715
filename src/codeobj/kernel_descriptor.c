#include "codeobj/kernel_descriptor.h"

static uint32_t bits(uint32_t word, unsigned low, unsigned width)
{
    return word >> low & ((1u << width) - 1);
}

/* gfx90a and gfx94x share one register file between VGPRs and AccVGPRs; rsrc3 says where the
   accumulation half begins. */
static bool file_unified(uint32_t gfx_target_version)
{
    return gfx_target_version == 90010 || gfx_target_version / 100 == 904 ||
           gfx_target_version / 100 == 905;
}

struct kernel_registers kernel_descriptor_registers(const struct kernel_descriptor *descriptor,
                                                    uint32_t gfx_target_version)
{
    uint32_t vgpr_granules = bits(descriptor->compute_pgm_rsrc1, 0, 6) + 1;
    uint32_t sgpr_field = bits(descriptor->compute_pgm_rsrc1, 6, 4);
    bool wave32 = bits(descriptor->kernel_code_properties, 10, 1);
    uint32_t accum_offset = (bits(descriptor->compute_pgm_rsrc3, 0, 6) + 1) * 4;
    struct kernel_registers registers = {0};
    /* From gfx10 on a wave always owns 128 SGPRs and the field is reserved. */
    registers.sgpr_count = gfx_target_version >= 100000 ? 128 : (sgpr_field / 2 + 1) * 16;
    if (file_unified(gfx_target_version)) {
        uint32_t total = vgpr_granules * 8;
        registers.arch_vgpr_count = accum_offset < total ? accum_offset : total;
        registers.accum_vgpr_count = total - registers.arch_vgpr_count;
        return registers;
    }
    registers.arch_vgpr_count = vgpr_granules * (wave32 ? 8 : 4);
    if (gfx_target_version == 90008) /* a second file of the same size */
        registers.accum_vgpr_count = registers.arch_vgpr_count;
    return registers;
}
