#include "cp/pm4_ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gfx90a_regs.h" /* generated */

/* First register of each SET_* space: the packets carry offsets from it. */
enum {
    CONFIG_SPACE = 0x2000,
    SH_SPACE = 0x2c00,
    CONTEXT_SPACE = 0xa000,
    UCONFIG_SPACE = 0xc000,
    REGISTER_MASK = 0x3ffff
};

enum { EVENT_TYPE_MASK = 0x3f, EVENT_CS_PARTIAL_FLUSH = 7 };

static uint64_t pair(const uint32_t *words)
{
    return (uint64_t)words[1] << 32 | words[0];
}

static enum step packet_fault(struct cp_queue *queue, const struct pm4_packet *packet)
{
    return queue_fault(queue, &queue->device->access, packet->name);
}

static enum step packet_invalid(struct cp_queue *queue, const struct pm4_packet *packet,
                                const char *what, uint32_t value)
{
    return queue_error(queue, QUEUE_ERROR_VENDOR_PACKET, "PM4 %s at 0x%llx: %s %u", packet->name,
                       (unsigned long long)packet->va, what, value);
}

/* Registers that exist in no table read as 0 and lose what is written; said once per register. */
static void register_unknown(struct cp_queue *queue, const struct pm4_packet *packet, uint32_t reg)
{
    struct cp_device *device = queue->device;
    perf_registers_release(device->perf);
    for (uint32_t i = 0; i < device->unknown_count; i++)
        if (device->unknown[i] == reg)
            return;
    if (device->unknown_count == UNKNOWN_REGISTERS_MAX)
        return;
    device->unknown[device->unknown_count++] = reg;
    log_warning("cp", "PM4 %s at 0x%llx: register 0x%x is not modelled, it reads as 0",
                packet->name, (unsigned long long)packet->va, reg);
}

static bool memory_store(struct access *access, uint64_t va, const char *from, size_t size_bytes)
{
    enum { PAGE_BYTES = 4096 };
    while (size_bytes) {
        uint32_t room = PAGE_BYTES - va % PAGE_BYTES;
        uint32_t part = size_bytes < room ? (uint32_t)size_bytes : room;
        void *to = access_pointer(access, va, part, VM_WRITE);
        if (!to)
            return false;
        memcpy(to, from, part);
        va += part;
        from += part;
        size_bytes -= part;
    }
    return true;
}

/* What thread traces have written so far goes to memory. */
static void traces_store(struct cp_queue *queue)
{
    struct perf_trace_chunk chunk;
    perf_registers_release(queue->device->perf);
    while (perf_trace_take(queue->device->perf, &chunk)) {
        if (!memory_store(&queue->device->access, chunk.va, chunk.bytes, chunk.size_bytes))
            perf_trace_fault(queue->device->perf, &chunk);
        free(chunk.bytes);
    }
}

static void reg_write(struct cp_queue *queue, const struct pm4_packet *packet, uint32_t reg,
                      uint32_t value)
{
    if (reg == REG_GFX90A_COMPUTE_PERFCOUNT_ENABLE)
        queue->is_counted = value & 1;
    if (!perf_reg_write(queue->device->perf, pm4_xcc_mask(queue), reg, value))
        register_unknown(queue, packet, reg);
    if (perf_trace_register(reg))
        traces_store(queue);
}

static uint32_t first_xcc(const struct cp_queue *queue)
{
    uint32_t mask = pm4_xcc_mask(queue);
    return mask ? (uint32_t)__builtin_ctz(mask) : 0;
}

static bool reg_read(struct cp_queue *queue, const struct pm4_packet *packet, uint32_t reg,
                     uint32_t *value)
{
    uint32_t xcc = first_xcc(queue);
    *value = 0;
    if (perf_trace_register(reg))
        traces_store(queue);
    if (perf_reg_read(queue->device->perf, xcc, reg, value))
        return true;
    register_unknown(queue, packet, reg);
    return false;
}

/* Both halves of a counter at once; false: it is something else. */
static bool counter_read(struct cp_queue *queue, uint32_t reg, uint64_t *value)
{
    return perf_counter_read(queue->device->perf, first_xcc(queue), reg, value);
}

/* The register that COPY_DATA names. Behind the device's network (bit 32) bits 30 and 31 say which
 * base die's. */
static uint32_t register_at(const uint32_t *words)
{
    enum { NETWORK = 1 };
    const uint32_t base_die = words[1] & NETWORK ? 3u << 30 : 0;
    return words[0] & (REGISTER_MASK | base_die);
}

static enum step set_registers(struct cp_queue *queue, const struct pm4_packet *packet,
                               uint32_t space)
{
    uint32_t reg = space + (packet->body[0] & 0xffff);
    for (uint32_t i = 1; i < packet->body_dwords; i++)
        reg_write(queue, packet, reg + i - 1, packet->body[i]);
    return STEP_MORE;
}

enum step pm4_op_SET_CONFIG_REG(struct cp_queue *queue, const struct pm4_packet *packet)
{
    return set_registers(queue, packet, CONFIG_SPACE);
}

enum step pm4_op_SET_CONTEXT_REG(struct cp_queue *queue, const struct pm4_packet *packet)
{
    return set_registers(queue, packet, CONTEXT_SPACE);
}

enum step pm4_op_SET_SH_REG(struct cp_queue *queue, const struct pm4_packet *packet)
{
    return set_registers(queue, packet, SH_SPACE);
}

enum step pm4_op_SET_UCONFIG_REG(struct cp_queue *queue, const struct pm4_packet *packet)
{
    return set_registers(queue, packet, UCONFIG_SPACE);
}

enum step pm4_op_NOP(struct cp_queue *queue, const struct pm4_packet *packet)
{
    (void)queue;
    (void)packet;
    return STEP_MORE;
}

/* Data caches exist only as counter models here: memory is always coherent. Code is decoded once,
 * which is an instruction cache. */
enum step pm4_op_ACQUIRE_MEM(struct cp_queue *queue, const struct pm4_packet *packet)
{
    enum { INSTRUCTION_CACHE = 1 << 29 };
    if (packet->body[0] & INSTRUCTION_CACHE)
        engine_code_invalidate(queue->device->engine);
    return STEP_MORE;
}

/* There is one micro engine. */
enum step pm4_op_PFP_SYNC_ME(struct cp_queue *queue, const struct pm4_packet *packet)
{
    return pm4_op_NOP(queue, packet);
}

static bool dispatches_running(struct cp_queue *queue)
{
    /* acquire, pairs with dispatch_done(): the counters of finished work are in; what was late
     * pm4_step() has settled. */
    return atomic_load_explicit(&queue->running, memory_order_acquire) != 0;
}

enum step pm4_op_EVENT_WRITE(struct cp_queue *queue, const struct pm4_packet *packet)
{
    uint32_t type = packet->body[0] & EVENT_TYPE_MASK;
    if (type == EVENT_CS_PARTIAL_FLUSH && dispatches_running(queue))
        return STEP_WAIT;
    return STEP_MORE;
}

enum step pm4_op_RELEASE_MEM(struct cp_queue *queue, const struct pm4_packet *packet)
{
    enum { DATA_NONE, DATA_32, DATA_64, DATA_GPU_CLOCK, DATA_SYSTEM_CLOCK };
    struct access *access = &queue->device->access;
    uint32_t data_select = packet->body[1] >> 29, interrupt = packet->body[1] >> 24 & 7;
    uint64_t va = pair(packet->body + 2), data = packet->body[4];
    bool written = true;

    if (dispatches_running(queue))
        return STEP_WAIT;
    if (packet->body_dwords > 5)
        data |= (uint64_t)packet->body[5] << 32;
    if (data_select == DATA_32)
        written = access_store32(access, va, (uint32_t)data);
    else if (data_select == DATA_64)
        written = access_store64(access, va, data);
    else if (data_select == DATA_GPU_CLOCK || data_select == DATA_SYSTEM_CLOCK)
        written = access_store64(access, va, gpu_clock_ticks());
    else if (data_select != DATA_NONE)
        return packet_invalid(queue, packet, "data select", data_select);
    if (!written)
        return packet_fault(queue, packet);
    if (interrupt && packet->body_dwords > 6)
        queue_raise(queue, packet->body[6]);
    return STEP_MORE;
}

static enum step copy_source(struct cp_queue *queue, const struct pm4_packet *packet, bool wide,
                             uint64_t *value)
{
    enum { REGISTER, MEMORY, L2, PERF_COUNTER = 4, IMMEDIATE, ATOMIC_RESULT, GPU_CLOCK = 9 };
    uint32_t select = packet->body[0] & 0xf, low, high = 0;
    uint64_t va = pair(packet->body + 1);
    struct access *access = &queue->device->access;

    switch (select) {
    case REGISTER:
    case PERF_COUNTER:
        if (wide && counter_read(queue, register_at(packet->body + 1), value))
            return STEP_MORE;
        reg_read(queue, packet, register_at(packet->body + 1), &low);
        if (wide)
            reg_read(queue, packet, register_at(packet->body + 1) + 1, &high);
        *value = (uint64_t)high << 32 | low;
        return STEP_MORE;
    case MEMORY:
    case L2:
        if (wide)
            return access_load64(access, va & ~7ull, value) ? STEP_MORE
                                                            : packet_fault(queue, packet);
        if (!access_load32(access, va & ~3ull, &low))
            return packet_fault(queue, packet);
        *value = low;
        return STEP_MORE;
    case IMMEDIATE:
        *value = va;
        return STEP_MORE;
    case ATOMIC_RESULT:
        *value = queue->pm4.atomic_result;
        return STEP_MORE;
    case GPU_CLOCK:
        *value = gpu_clock_ticks();
        return STEP_MORE;
    default:
        return packet_invalid(queue, packet, "source select", select);
    }
}

enum step pm4_op_COPY_DATA(struct cp_queue *queue, const struct pm4_packet *packet)
{
    enum { REGISTER, MEMORY_SYNC, L2, PERF_COUNTER = 4, MEMORY };
    uint32_t select = packet->body[0] >> 8 & 0xf, reg = register_at(packet->body + 3);
    bool wide = packet->body[0] >> 16 & 1;
    uint64_t va = pair(packet->body + 3), value = 0;
    struct access *access = &queue->device->access;

    enum step step = copy_source(queue, packet, wide, &value);
    if (step != STEP_MORE)
        return step;
    switch (select) {
    case REGISTER:
    case PERF_COUNTER:
        reg_write(queue, packet, reg, (uint32_t)value);
        if (wide)
            reg_write(queue, packet, reg + 1, (uint32_t)(value >> 32));
        return STEP_MORE;
    case MEMORY_SYNC:
    case L2:
    case MEMORY:
        if (wide ? access_store64(access, va & ~7ull, value)
                 : access_store32(access, va & ~3ull, (uint32_t)value))
            return STEP_MORE;
        return packet_fault(queue, packet);
    default:
        return packet_invalid(queue, packet, "destination select", select);
    }
}

enum step pm4_op_WRITE_DATA(struct cp_queue *queue, const struct pm4_packet *packet)
{
    enum { REGISTER, MEMORY_SYNC, L2, MEMORY = 5 };
    uint32_t select = packet->body[0] >> 8 & 0xf;
    uint32_t increment = packet->body[0] >> 16 & 1 ? 0 : 1;
    uint32_t reg = packet->body[1] & REGISTER_MASK;
    uint64_t va = pair(packet->body + 1) & ~3ull;

    if (select != REGISTER && select != MEMORY_SYNC && select != L2 && select != MEMORY)
        return packet_invalid(queue, packet, "destination select", select);
    for (uint32_t i = 3; i < packet->body_dwords; i++) {
        uint32_t at = (i - 3) * increment;
        if (select == REGISTER)
            reg_write(queue, packet, reg + at, packet->body[i]);
        else if (!access_store32(&queue->device->access, va + 4ull * at, packet->body[i]))
            return packet_fault(queue, packet);
    }
    return STEP_MORE;
}

enum step pm4_op_WAIT_REG_MEM(struct cp_queue *queue, const struct pm4_packet *packet)
{
    uint32_t function = packet->body[0] & 7, operation = packet->body[0] >> 6 & 3, value;
    uint32_t reference = packet->body[3], mask = packet->body[4];
    bool memory = packet->body[0] >> 4 & 1, known = true;
    if (operation == 1) /* write, wait, write: the kernel driver's own */
        return packet_invalid(queue, packet, "operation", operation);
    if (!memory)
        known = reg_read(queue, packet, packet->body[1] & REGISTER_MASK, &value);
    else if (!access_load32(&queue->device->access, pair(packet->body + 1) & ~3ull, &value))
        return packet_fault(queue, packet);
    if (access_compare(function, value & mask, reference))
        return STEP_MORE;
    if (!known) /* nothing will ever change it */
        return packet_invalid(queue, packet, "waits for a register that is not modelled,",
                              packet->body[1] & REGISTER_MASK);
    return STEP_BLOCKED;
}

enum step pm4_op_ATOMIC_MEM(struct cp_queue *queue, const struct pm4_packet *packet)
{
    enum { COMMAND_LOOP = 1 };
    uint32_t op = packet->body[0] & 0x7f, command = packet->body[0] >> 8 & 0xf;
    uint64_t source = pair(packet->body + 3), compare = pair(packet->body + 5), old;

    switch (
        access_atomic(&queue->device->access, op, pair(packet->body + 1), source, compare, &old)) {
    case ATOMIC_UNKNOWN:
        return packet_invalid(queue, packet, "operation", op);
    case ATOMIC_FAULT:
        return packet_fault(queue, packet);
    case ATOMIC_DONE:
        break;
    }
    queue->pm4.atomic_result = old;
    uint64_t expected = op & 0x20 ? compare : (uint32_t)compare;
    return command == COMMAND_LOOP && old != expected ? STEP_BLOCKED : STEP_MORE;
}

enum step pm4_op_REG_RMW(struct cp_queue *queue, const struct pm4_packet *packet)
{
    uint32_t reg = packet->body[0] & REGISTER_MASK, value;
    reg_read(queue, packet, reg, &value);
    reg_write(queue, packet, reg, (value & packet->body[1]) | packet->body[2]);
    return STEP_MORE;
}

enum step pm4_op_COND_EXEC(struct cp_queue *queue, const struct pm4_packet *packet)
{
    uint32_t value;
    if (!access_load32(&queue->device->access, pair(packet->body) & ~3ull, &value))
        return packet_fault(queue, packet);
    if (value == 0)
        pm4_skip(&queue->pm4, packet->body[3] & 0x3fff);
    return STEP_MORE;
}

/* Each XCC of a partition runs the stream; the next dwords are for the selected ones only. The
 * count starts after this packet, and pm4.c takes this packet's own dwords off it. */
enum step pm4_op_PRED_EXEC(struct cp_queue *queue, const struct pm4_packet *packet)
{
    uint32_t count = packet->body[0] & 0x3fff, mask = packet->body[0] >> 24;
    uint32_t top = queue->pm4.depth - 1;
    if ((mask & pm4_xcc_mask(queue)) == 0) {
        pm4_skip(&queue->pm4, count);
        return STEP_MORE;
    }
    queue->pm4.level[top].pred_mask = mask;
    queue->pm4.level[top].pred_dwords_left = count + packet->body_dwords + 1;
    return STEP_MORE;
}

/* A chained buffer does not come back: it takes the place of the one it is called from. */
enum step pm4_op_INDIRECT_BUFFER(struct cp_queue *queue, const struct pm4_packet *packet)
{
    enum { CHAIN = 1 << 20, SIZE_MASK = CHAIN - 1 };
    uint64_t va = pair(packet->body) & ~3ull;
    uint32_t dwords = packet->body[2] & SIZE_MASK, own_dwords = packet->body_dwords + 1;

    if (packet->body[2] & CHAIN)
        pm4_replace(&queue->pm4, va - 4ull * own_dwords, dwords + own_dwords);
    else if (!pm4_enter(&queue->pm4, va, dwords))
        return packet_invalid(queue, packet, "nested deeper than", PM4_LEVELS_MAX);
    return STEP_MORE;
}

enum step pm4_op_DMA_DATA(struct cp_queue *queue, const struct pm4_packet *packet)
{
    enum { SOURCE_DATA = 2, FROM_REGISTER = 1 << 26, TO_REGISTER = 1 << 27, BYTES = 0x3ffffff };
    struct access *access = &queue->device->access;
    uint32_t source = packet->body[0] >> 29 & 3, target = packet->body[0] >> 20 & 3;
    uint32_t command = packet->body[5], size_bytes = command & BYTES;
    uint64_t from = pair(packet->body + 1), to = pair(packet->body + 3);

    if ((command & (FROM_REGISTER | TO_REGISTER)) || source == 1 || target == 1)
        return packet_invalid(queue, packet, "source or destination is not memory, command",
                              command);
    bool done = source == SOURCE_DATA ? access_fill32(access, to, (uint32_t)from, size_bytes)
                                      : access_copy(access, to, from, size_bytes);
    return done ? STEP_MORE : packet_fault(queue, packet);
}
