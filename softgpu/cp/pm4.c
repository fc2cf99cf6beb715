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

/* Memory of the stream as a turn has found it: what is mapped now stays so until it is over. */
struct window {
    uint64_t va, bytes;
    const char *host;
    bool is_recorded; /* the turn's packets are written down */
};

static inline bool window_has(const struct window *window, uint64_t va, uint64_t bytes)
{
    return va - window->va < window->bytes && bytes <= window->bytes - (va - window->va);
}

/* The dwords at `va`, if so many follow; NULL is a fault. Of the `left` dwords that the stream has
 * there as many as lie in one mapping are found at once. */
static const uint32_t *window_move(struct window *window, struct cp_queue *queue, uint64_t va,
                                   uint32_t dwords, uint32_t left)
{
    struct access *access = &queue->device->access;
    uint64_t bytes = 4 * (uint64_t)dwords, run = 4 * (uint64_t)left;
    window->bytes = 0;
    window->host = access_run(access, va, VM_READ, &run);
    if (!window->host || run < bytes)
        return access_pointer(access, va, (uint32_t)bytes, VM_READ); /* says where it faults */
    window->va = va;
    window->bytes = run;
    return (const void *)window->host;
}

static inline const uint32_t *window_dwords(struct window *window, struct cp_queue *queue,
                                            uint64_t va, uint32_t dwords, uint32_t left)
{
    if (__builtin_expect(window_has(window, va, 4 * (uint64_t)dwords), 1))
        return (const void *)(window->host + (va - window->va));
    return window_move(window, queue, va, dwords, left);
}

static bool packet_is_sound(const struct pm4_packet *packet, uint32_t opcode, uint32_t left)
{
    return packet->body_dwords >= packets[opcode].body_min &&
           packet->body_dwords <= packets[opcode].body_max && packet->body_dwords < left;
}

static enum step packet_refuse(struct cp_queue *queue, const struct pm4_packet *packet,
                               uint32_t header, uint32_t left)
{
    if (!packet->name)
        return queue_error(queue, QUEUE_ERROR_VENDOR_PACKET,
                           "PM4 packet with unknown opcode 0x%02x (%08x) at 0x%llx",
                           header >> 8 & 0xff, header, (unsigned long long)packet->va);
    return queue_error(queue, QUEUE_ERROR_VENDOR_PACKET,
                       "PM4 %s at 0x%llx: %u dwords of body, %u dwords left in the buffer",
                       packet->name, (unsigned long long)packet->va, packet->body_dwords, left - 1);
}

/* Runs one type-3 packet. INDIRECT_BUFFER enters another level, so the packet is stepped over on
 * the level it came from. */
static enum step packet_run(struct cp_queue *queue, struct window *window, uint64_t va,
                            uint32_t header, uint32_t left)
{
    struct pm4_stream *stream = &queue->pm4;
    uint32_t opcode = header >> 8 & 0xff, body = body_dwords(header);
    struct pm4_packet packet = {.name = packets[opcode].name, .va = va, .body_dwords = body};
    if (!packet.name || !packet_is_sound(&packet, opcode, left))
        return packet_refuse(queue, &packet, header, left);
    const uint32_t *words = window_dwords(window, queue, va, body + 1, left);
    if (!words)
        return queue_fault(queue, &queue->device->access, packet.name);
    uint32_t top = stream->depth - 1;
    packet.body = words + 1;
    registers_prepare(queue, packets[opcode].run);
    enum step step = packets[opcode].run(queue, &packet);
    if (step != STEP_MORE)
        return step;
    if (window->is_recorded)
        pm4_record(queue, words, body + 1);
    pm4_skip_at(stream, top, body + 1);
    return STEP_MORE;
}

/* The packets of a row that stand at `words`, `left` dwords from the end of their buffer; 0: none
 * does, or they are written down or predicated, one by one. */
static int row_run(struct cp_queue *queue, const struct window *window, const uint32_t *words,
                   uint32_t left, int packets_max)
{
    struct pm4_stream *stream = &queue->pm4;
    uint32_t top = stream->depth - 1;
    uint64_t mapped = (window->bytes - (stream->level[top].va - window->va)) / 4;
    int done = 0;
    if (window->is_recorded || stream->level[top].pred_dwords_left)
        return 0;
    pm4_skip_at(stream, top,
                pm4_row(queue, words, mapped < left ? (uint32_t)mapped : left, packets_max, &done));
    return done;
}

/* One packet, or a row of them; takes them off `packets_left`. */
static enum step stream_step(struct cp_queue *queue, struct window *window, int *packets_left)
{
    struct pm4_stream *stream = &queue->pm4;
    while (stream->depth && stream->level[stream->depth - 1].dwords_left == 0)
        stream->depth--;
    if (stream->depth == 0)
        return STEP_IDLE;

    uint64_t va = stream->level[stream->depth - 1].va;
    uint32_t left = stream->level[stream->depth - 1].dwords_left;
    const uint32_t *words = window_dwords(window, queue, va, 1, left);
    if (!words)
        return queue_fault(queue, &queue->device->access, "PM4 stream");
    uint32_t header = __atomic_load_n(words, __ATOMIC_RELAXED); /* others may write there */
    int row = pm4_row_begins(header) ? row_run(queue, window, words, left, *packets_left) : 0;
    *packets_left -= row ? row : 1;
    if (row)
        return STEP_MORE;
    if (header == TYPE2_FILLER) {
        pm4_skip(stream, 1);
        return STEP_MORE;
    }
    if (header >> 30 != TYPE3)
        return queue_error(queue, QUEUE_ERROR_VENDOR_PACKET, "PM4 header %08x at 0x%llx", header,
                           (unsigned long long)va);
    return packet_run(queue, window, va, header, left);
}

enum step pm4_step(struct cp_queue *queue)
{
    struct window window = {.is_recorded = pm4_is_recorded()};
    enum step step = STEP_MORE;
    engine_settle(queue->device->engine); /* what ended before is counted before */
    for (int left = PACKETS_PER_TURN; left > 0 && step == STEP_MORE;)
        step = stream_step(queue, &window, &left);
    perf_registers_release(queue->device->perf);
    if (window.is_recorded)
        pm4_record_write();
    return step;
}
