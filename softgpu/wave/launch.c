/* From a kernel descriptor and a dispatch packet to the registers of the first instruction. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/amd_hsa_queue.h>

#include "base/log.h"
#include "wave/group.h"

/* Byte offsets in the 64-byte kernel descriptor; amd_kernel_code_t has the same ones. */
enum {
    KD_ENTRY_OFFSET = 16,
    KD_RSRC3 = 44,
    KD_RSRC1 = 48,
    KD_RSRC2 = 52,
    KD_PROPERTIES = 56,
    KD_BYTES = 64
};
enum { /* kernel_code_properties: user SGPRs in this order */
       PROPERTY_PRIVATE_BUFFER = 1 << 0,
       PROPERTY_DISPATCH_PTR = 1 << 1,
       PROPERTY_QUEUE_PTR = 1 << 2,
       PROPERTY_KERNARG_PTR = 1 << 3,
       PROPERTY_DISPATCH_ID = 1 << 4,
       PROPERTY_FLAT_SCRATCH = 1 << 5,
       PROPERTY_PRIVATE_SIZE = 1 << 6
};
enum { SCRATCH_GRANULE_BYTES = 16, GROUP_SIZE_MAX = 1024 };
enum { LDS_GRANULE_BYTES = 512, LDS_SLACK_BYTES = 64 };

static uint32_t read_u32(const uint8_t *bytes, size_t offset)
{
    uint32_t value;
    memcpy(&value, bytes + offset, sizeof value);
    return value;
}

static int fault_at(struct dispatch_result *fault, uint64_t va)
{
    fault->fault = FAULT_MEMORY_READ;
    fault->fault_va = va;
    return -EFAULT;
}

static int launch_geometry(struct launch *launch, const hsa_kernel_dispatch_packet_t *packet)
{
    const uint32_t size[3] = {packet->workgroup_size_x, packet->workgroup_size_y,
                              packet->workgroup_size_z};
    const uint32_t grid[3] = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z};
    uint64_t items = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (size[axis] == 0)
            return -EINVAL;
        launch->size[axis] = size[axis];
        launch->grid[axis] = grid[axis];
        launch->groups[axis] = grid[axis] / size[axis] + (grid[axis] % size[axis] != 0);
        items *= size[axis];
    }
    if (items > GROUP_SIZE_MAX)
        return -EINVAL;
    launch->waves_per_group = (uint32_t)(items + WAVE_LANES - 1) / WAVE_LANES;
    return 0;
}

static void launch_registers(struct launch *launch, const struct gpu_model *model)
{
    uint32_t granules = launch->rsrc1 & 0x3f;
    launch->mode = (launch->rsrc1 >> 12 & 0xff) | (launch->rsrc1 >> 21 & 1) << 8 |
                   (launch->rsrc1 >> 23 & 1) << 9 | (launch->rsrc1 >> 26 & 1) << 23;
    launch->sgpr_count = ((launch->rsrc1 >> 6 & 15) + 1) * 8;
    launch->vgpr_count = (granules + 1) * (model->unified_vgprs ? 8 : 4);
    launch->accum_offset = VGPR_ROWS;
    launch->agpr_count = model->has_acc_vgprs ? launch->vgpr_count : 0;
    if (model->unified_vgprs) {
        uint32_t offset = ((launch->rsrc3 & 0x3f) + 1) * 4;
        launch->agpr_count = launch->vgpr_count > offset ? launch->vgpr_count - offset : 0;
    }
}

static unsigned push64(uint32_t *s, unsigned at, uint64_t value)
{
    s[at] = (uint32_t)value;
    s[at + 1] = (uint32_t)(value >> 32);
    return at + 2;
}

/* The scratch descriptor: base SCRATCH_VA, swizzled over the lanes, 64 lanes, no bound. */
static unsigned push_private_buffer(uint32_t *s, unsigned at)
{
    s[at] = (uint32_t)SCRATCH_VA;
    s[at + 1] = (uint32_t)(SCRATCH_VA >> 32) | 1u << 31;
    s[at + 2] = ~0u;
    s[at + 3] = 1u << 23 | 3u << 21 | 4u << 15 | 7u << 12;
    return at + 4;
}

static void set_user_sgprs(struct launch *launch, const struct dispatch_request *request)
{
    uint32_t wanted = launch->properties, *s = launch->user_sgprs;
    unsigned at = 0;
    if (wanted & PROPERTY_PRIVATE_BUFFER)
        at = push_private_buffer(s, at);
    if (wanted & PROPERTY_DISPATCH_PTR)
        at = push64(s, at, request->packet_va);
    if (wanted & PROPERTY_QUEUE_PTR)
        at = push64(s, at, request->amd_queue_va);
    if (wanted & PROPERTY_KERNARG_PTR)
        at = push64(s, at, (uint64_t)(uintptr_t)request->packet.kernarg_address);
    if (wanted & PROPERTY_DISPATCH_ID)
        at = push64(s, at, request->dispatch_id);
    if (wanted & PROPERTY_FLAT_SCRATCH)
        at = push64(s, at, SCRATCH_VA);
    if (wanted & PROPERTY_PRIVATE_SIZE)
        s[at] = launch->scratch_bytes;
}

/* What all waves begin with. */
static void launch_state(struct launch *launch, const struct dispatch_request *request)
{
    struct wave wave;
    set_user_sgprs(launch, request);
    valu_mode_set(&wave, launch->mode);
    launch->fp_state_32 = wave.fp_state_32;
    launch->fp_state_64 = wave.fp_state_64;
}

int launch_prepare(struct launch *launch, const struct gpu_model *model, struct vm_reader *reader,
                   const struct dispatch_request *request, struct dispatch_result *fault)
{
    const hsa_kernel_dispatch_packet_t *packet = &request->packet;
    const uint8_t *descriptor = vm_translate(reader, packet->kernel_object, KD_BYTES, VM_READ);
    const amd_queue_t *queue =
        vm_translate(reader, request->amd_queue_va, sizeof(amd_queue_t), VM_READ);
    if (!descriptor)
        return fault_at(fault, packet->kernel_object);
    memset(launch, 0, sizeof *launch);
    if (launch_geometry(launch, packet) < 0)
        return -EINVAL;
    int64_t entry;
    memcpy(&entry, descriptor + KD_ENTRY_OFFSET, sizeof entry);
    launch->gws = request->gws;
    launch->l2_mixes = model->tcc_mixes;
    launch->few_host_atomics = model->few_host_atomics;
    launch->mask = request->units;
    launch->entry_va = packet->kernel_object + (uint64_t)entry;
    launch->packet_va = request->packet_va;
    launch->rsrc1 = read_u32(descriptor, KD_RSRC1);
    launch->rsrc2 = read_u32(descriptor, KD_RSRC2);
    launch->rsrc3 = read_u32(descriptor, KD_RSRC3);
    launch->properties = read_u32(descriptor, KD_PROPERTIES) & 0xffff;
    launch_registers(launch, model);
    if (launch->rsrc2 & RSRC2_ID_X)
        launch->id_x = (launch->rsrc2 >> RSRC2_USER_SGPR_SHIFT & 31) + 1;
    /* What a group gets: programs that run over the end of theirs find memory there on hardware. */
    launch->lds_bytes =
        (packet->group_segment_size + LDS_GRANULE_BYTES - 1) & ~(uint32_t)(LDS_GRANULE_BYTES - 1);
    launch->scratch_bytes = (packet->private_segment_size + SCRATCH_GRANULE_BYTES - 1) &
                            ~(uint32_t)(SCRATCH_GRANULE_BYTES - 1);
    /* An odd number of cache lines: lanes at the same offset fall into different sets. */
    launch->scratch_stride =
        launch->scratch_bytes ? ((launch->scratch_bytes + 63) / 64 | 1) * 64 : 0;
    if (queue) {
        launch->shared_base_hi = queue->group_segment_aperture_base_hi;
        launch->private_base_hi = queue->private_segment_aperture_base_hi;
    }
    launch_state(launch, request);
    launch_occupancy(launch, model);
    return launch->lds_bytes > model->lds_bytes ? -EINVAL : 0;
}

static int reserve_waves(struct workgroup *group, uint32_t count)
{
    if (count <= group->wave_capacity)
        return 0;
    free(group->waves);
    free(group->firsts);
    free(group->registers);
    group->wave_capacity = 0;
    size_t rows = (size_t)count * WAVE_ROWS;
    group->waves = aligned_alloc(64, (count * sizeof(struct wave) + 63) & ~(size_t)63);
    group->registers = aligned_alloc(64, rows * sizeof(lane_row));
    group->firsts = aligned_alloc(64, count * sizeof *group->firsts);
    if (!group->waves || !group->firsts || !group->registers)
        return -ENOMEM;
    group->wave_capacity = count;
    return 0;
}

static int reserve_scratch(struct workgroup *group, uint64_t bytes)
{
    if (bytes <= group->scratch_capacity)
        return 0;
    free(group->scratch);
    group->scratch_capacity = 0;
    group->scratch = aligned_alloc(64, bytes);
    if (!group->scratch)
        return -ENOMEM;
    group->scratch_capacity = bytes;
    return 0;
}

/* LDS has some slack so that the widest access needs one bound check only. */
static int reserve_lds(struct workgroup *group, uint32_t bytes)
{
    if (group->lds && bytes <= group->lds_capacity)
        return 0;
    free(group->lds);
    group->lds = aligned_alloc(64, ((size_t)bytes + LDS_SLACK_BYTES + 63) & ~(size_t)63);
    group->lds_capacity = group->lds ? bytes : 0;
    return group->lds ? 0 : -ENOMEM;
}

int group_reserve(struct workgroup *group, const struct launch *launch)
{
    uint64_t scratch = (uint64_t)launch->waves_per_group * WAVE_LANES * launch->scratch_stride;
    if (reserve_waves(group, launch->waves_per_group) < 0 || reserve_scratch(group, scratch) < 0 ||
        reserve_lds(group, launch->lds_bytes) < 0)
        return -ENOMEM;
    return 0;
}

void group_free(struct workgroup *group)
{
    series_plan_free(group->plan);
    if (!group)
        return;
    free(group->waves);
    free(group->firsts);
    free(group->registers);
    free(group->scratch);
    free(group->lds);
    free(group->accesses.items);
    free(group->blocks.items);
    free(group->steps.items);
    free(group->fetches.lines);
    free(group->lds_patterns);
    free(group);
}

/* Where a group runs follows from its number and its queue's mask alone, so that counters per
 * engine repeat. */
struct unit_place launch_place(const struct launch *launch, const struct gpu_model *model,
                               uint64_t index)
{
    struct unit_place place;
    uint32_t n = (uint32_t)(index % launch->units);
    if (__builtin_expect(launch->is_masked, 0))
        n = unit_mask_find(&launch->mask, n);
    place.xcc = n % model->xcc_count;
    n /= model->xcc_count;
    place.se = n % model->se_count;
    n /= model->se_count;
    place.sh = n % model->sh_per_se;
    n /= model->sh_per_se;
    place.cu = n;
    return place;
}
