/*
 * PM4 command streams: fetches packets from nested indirect buffers and hands each to its handler.
 * A handler that must wait returns STEP_WAIT or STEP_BLOCKED and is called again with the same
 * packet in the queue's next turn, so a waiting stream never holds up another queue.
 */
#include "cp/pm4_ops.h"

#include "pm4_gfx9.h" /* generated: PM4_PACKET_LIST */

enum { PACKETS_PER_TURN = 256, TYPE3 = 3, TYPE2_FILLER = 0x80000000u, NOP_ONE_DWORD = 0x3fff };

#define PACKET(name, opcode, low, high) [opcode] = {#name, pm4_op_##name, low, high},
static const struct {
    const char *name;
    pm4_op_fn *run;
    uint32_t body_min, body_max;
} packets[256] = {PM4_PACKET_LIST(PACKET)};
#undef PACKET

static uint32_t body_dwords(uint32_t header)
{
    uint32_t count = header >> 16 & 0x3fff;
    return count == NOP_ONE_DWORD ? 0 : count + 1;
}

/* A counted kernel is programmed by some hundred packets of one register each: those in a row share
 * the lock. What else they do is to store a value. */
static void registers_prepare(const struct cp_queue *queue, pm4_op_fn *run)
{
    if (run == pm4_op_SET_UCONFIG_REG || run == pm4_op_COPY_DATA)
        perf_registers_hold(queue->device->perf);
    else
        perf_registers_release(queue->device->perf);
}

/* Runs one type-3 packet. INDIRECT_BUFFER enters another level, so the packet is stepped over on
 * the level it came from. */
static enum step packet_run(struct cp_queue *queue, uint64_t va, uint32_t header, uint32_t left)
{
    struct pm4_stream *stream = &queue->pm4;
    uint32_t opcode = header >> 8 & 0xff, body = body_dwords(header);
    const char *name = packets[opcode].name;
    if (!name)
        return queue_error(queue, QUEUE_ERROR_VENDOR_PACKET,
                           "PM4 packet with unknown opcode 0x%02x (%08x) at 0x%llx", opcode, header,
                           (unsigned long long)va);
    if (body < packets[opcode].body_min || body > packets[opcode].body_max || body >= left)
        return queue_error(queue, QUEUE_ERROR_VENDOR_PACKET,
                           "PM4 %s at 0x%llx: %u dwords of body, %u dwords left in the buffer",
                           name, (unsigned long long)va, body, left - 1);
    const uint32_t *words = access_pointer(&queue->device->access, va, 4 * (body + 1), VM_READ);
    if (!words)
        return queue_fault(queue, &queue->device->access, name);
    uint32_t top = stream->depth - 1;
    registers_prepare(queue, packets[opcode].run);
    struct pm4_packet packet = {.name = name, .va = va, .body = words + 1, .body_dwords = body};
    enum step step = packets[opcode].run(queue, &packet);
    if (step != STEP_MORE)
        return step;
    pm4_record(queue, words, body + 1);
    uint32_t depth = stream->depth;
    stream->depth = top + 1;
    pm4_skip(stream, body + 1);
    stream->depth = depth;
    return STEP_MORE;
}

static enum step stream_step(struct cp_queue *queue)
{
    struct pm4_stream *stream = &queue->pm4;
    while (stream->depth && stream->level[stream->depth - 1].dwords_left == 0)
        stream->depth--;
    if (stream->depth == 0)
        return STEP_IDLE;

    uint64_t va = stream->level[stream->depth - 1].va;
    uint32_t left = stream->level[stream->depth - 1].dwords_left, header;
    if (!access_load32(&queue->device->access, va, &header))
        return queue_fault(queue, &queue->device->access, "PM4 stream");
    if (header == TYPE2_FILLER) {
        pm4_skip(stream, 1);
        return STEP_MORE;
    }
    if (header >> 30 != TYPE3)
        return queue_error(queue, QUEUE_ERROR_VENDOR_PACKET, "PM4 header %08x at 0x%llx", header,
                           (unsigned long long)va);
    return packet_run(queue, va, header, left);
}

enum step pm4_step(struct cp_queue *queue)
{
    enum step step = STEP_MORE;
    for (int turn = 0; turn < PACKETS_PER_TURN && step == STEP_MORE; turn++)
        step = stream_step(queue);
    perf_registers_release(queue->device->perf);
    return step;
}
