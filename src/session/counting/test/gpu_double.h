/*
 * The GPU of counting_test.c and front_test.c: memory that counts its allocations, and a small
 * packet processor that "runs" command buffers, filling results with a function of the place that
 * was read.
 */
#ifndef SESSION_COUNTING_TEST_GPU_DOUBLE_H
#define SESSION_COUNTING_TEST_GPU_DOUBLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/aql/vendor.h"
#include "gpu/pmc.h"
#include "model/counting.h"

static int live_allocations, refuse_memory;

static void *gpu_allocate(uint64_t agent, size_t bytes)
{
    (void)agent;
    if (refuse_memory)
        return NULL;
    void *memory = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
    memset(memory, 0, bytes);
    live_allocations++;
    return memory;
}

static void gpu_release(void *memory)
{
    live_allocations--;
    free(memory);
}

static const struct counting_memory_ops gpu_memory = {.allocate = gpu_allocate,
                                                      .release = gpu_release};

/* What a counter register holds: its select value, weighted by where it is. */
static uint64_t register_value(uint32_t select, uint32_t engine, uint32_t instance)
{
    return (select & 0x3ff) * 1000000ull + engine * 1000ull + instance;
}

static uint32_t selects[0x10000]; /* by register; the tests program all instances alike */

/* The select register of the counter whose value register this is. */
static uint32_t select_of(uint32_t value_register, int *is_high)
{
    static const struct gpu_geometry geometry = {1, 8, 1, 104, 14};
    struct gpu_target target;
    uint32_t count;
    assert_int_equal(gpu_target_find("gfx90a", &geometry, &target), 0);
    const struct gpu_block *blocks = gpu_blocks(&target, &count);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < blocks[i].counters; k++) {
            const struct gpu_counter_registers *r = &gpu_block_registers(&target, &blocks[i])[k];
            *is_high = value_register == r->high;
            if (*is_high || value_register == r->low)
                return selects[r->select];
        }
    }
    fail_msg("no counter has register %05x", value_register);
    return 0;
}

static void gpu_run(const struct aql_pm4_packet *packet)
{
    const uint32_t *dwords =
        (const uint32_t *)(uintptr_t)(packet->indirect_buffer[1] |
                                      (uint64_t)packet->indirect_buffer[2] << 32);
    uint32_t count = packet->indirect_buffer[3] & 0xfffff, index = 0;
    assert_int_equal(packet->format, AQL_FORMAT_PM4_IB);
    for (uint32_t at = 0; at < count;) {
        const uint32_t *body = dwords + at + 1;
        uint32_t opcode = dwords[at] >> 8 & 0xff;
        at += (dwords[at] >> 16 & 0x3fff) + 2;
        if (opcode == PM4_SET_UCONFIG_REG) {
            selects[PM4_UCONFIG_START + body[0]] = body[1];
            if (body[0] == 0x200) /* GRBM_GFX_INDEX */
                index = body[1];
        } else if (opcode == PM4_COPY_DATA) {
            uint32_t engine = index & 1u << 31 ? 0 : index >> 16 & 0xff;
            uint32_t instance = index & 1u << 30 ? 0 : index & 0xff;
            int is_high;
            uint32_t select = select_of(body[1], &is_high) & 0x3ff;
            uint64_t value = register_value(select, engine, instance);
            *(uint32_t *)(uintptr_t)(body[3] | (uint64_t)body[4] << 32) =
                (uint32_t)(is_high ? value >> 32 : value);
        }
    }
}

#endif
