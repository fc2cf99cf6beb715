/*
 * SDMA rings, gfx9 packets. One packet a turn; a copy or fill that is larger than a slice keeps
 * its progress and continues in the queue's next turn.
 */
#include <string.h>

#include "cp/internal.h"

enum {
    PACKET_DWORDS_MAX = 16,
    SLICE_BYTES = 1 << 20, /* about 0.1 ms of memcpy: what another queue may have to wait */
    SLICE_ROWS = 4096,     /* the same for narrow rows: about 50 ns each */
    PACKETS_PER_TURN = 16
};

enum {
    OP_NOP = 0,
    OP_COPY = 1,
    OP_WRITE = 2,
    OP_FENCE = 5,
    OP_TRAP = 6,
    OP_POLL_REGMEM = 8,
    OP_ATOMIC = 10,
    OP_CONST_FILL = 11,
    OP_TIMESTAMP = 13
};
enum { COPY_LINEAR = 0, COPY_LINEAR_RECT = 4 };

struct sdma_packet {
    uint32_t word[PACKET_DWORDS_MAX];
    uint32_t dwords;
};

/* STEP_MORE: done, go to the next packet. Other values as everywhere. */
typedef enum step sdma_op_fn(struct cp_queue *queue, struct sdma_packet *packet);

static uint64_t pair(const uint32_t *words)
{
    return (uint64_t)words[1] << 32 | words[0];
}

static enum step sdma_fault(struct cp_queue *queue, const char *what)
{
    return queue_fault(queue, &queue->device->access, what);
}

static enum step sdma_invalid(struct cp_queue *queue, const struct sdma_packet *packet)
{
    return queue_error(queue, QUEUE_ERROR_PACKET,
                       "SDMA packet %08x (operation %u, sub-operation %u) at ring byte %llu",
                       packet->word[0], packet->word[0] & 0xff, packet->word[0] >> 8 & 0xff,
                       (unsigned long long)queue->sdma.read_bytes);
}

static enum step op_nop(struct cp_queue *queue, struct sdma_packet *packet)
{
    (void)queue;
    packet->dwords = 1 + (packet->word[0] >> 16 & 0x3fff);
    return STEP_MORE;
}

static uint64_t slice_of(uint64_t left)
{
    return left < SLICE_BYTES ? left : SLICE_BYTES;
}

static enum step slice_end(struct cp_queue *queue, uint64_t done, uint64_t total)
{
    queue->sdma.progress += done;
    if (queue->sdma.progress < total)
        return STEP_SLICE;
    queue->sdma.progress = 0;
    return STEP_MORE;
}

static enum step copy_linear(struct cp_queue *queue, const struct sdma_packet *packet)
{
    uint64_t size_bytes = (uint64_t)(packet->word[1] & 0x3fffffff) + 1;
    uint64_t at = queue->sdma.progress, slice = slice_of(size_bytes - at);
    if (!access_copy(&queue->device->access, pair(packet->word + 5) + at,
                     pair(packet->word + 3) + at, slice))
        return sdma_fault(queue, "SDMA copy");
    return slice_end(queue, slice, size_bytes);
}

/* One side of a sub-window copy: first element's address, and the distances in bytes. */
struct window {
    uint64_t base, pitch_bytes, slice_bytes;
};

static struct window window_of(const uint32_t *words, uint32_t element_shift)
{
    uint64_t pitch = (words[3] >> 13) + 1, slice = (uint64_t)(words[4] & 0xfffffff) + 1;
    uint64_t x = words[2] & 0x3fff, y = words[2] >> 16 & 0x3fff, z = words[3] & 0x7ff;
    return (struct window){
        .base = pair(words) + ((x + y * pitch + z * slice) << element_shift),
        .pitch_bytes = pitch << element_shift,
        .slice_bytes = slice << element_shift,
    };
}

static enum step copy_rect(struct cp_queue *queue, const struct sdma_packet *packet)
{
    uint32_t shift = packet->word[0] >> 29;
    struct window from = window_of(packet->word + 1, shift);
    struct window to = window_of(packet->word + 6, shift);
    uint64_t width = (uint64_t)((packet->word[11] & 0x3fff) + 1) << shift;
    uint64_t rows = (packet->word[11] >> 16 & 0x3fff) + 1;
    uint64_t total = rows * ((packet->word[12] & 0x7ff) + 1);
    uint64_t first = queue->sdma.progress, turn = SLICE_BYTES / width + 1;
    if (turn > SLICE_ROWS)
        turn = SLICE_ROWS;
    uint64_t last = total - first < turn ? total : first + turn;

    for (uint64_t row = first; row < last; row++) {
        uint64_t y = row % rows, z = row / rows;
        if (!access_copy(&queue->device->access, to.base + y * to.pitch_bytes + z * to.slice_bytes,
                         from.base + y * from.pitch_bytes + z * from.slice_bytes, width))
            return sdma_fault(queue, "SDMA sub-window copy");
    }
    return slice_end(queue, last - first, total);
}

static enum step op_copy(struct cp_queue *queue, struct sdma_packet *packet)
{
    uint32_t sub_op = packet->word[0] >> 8 & 0xff;
    bool broadcast = packet->word[0] >> 27 & 1;
    if (sub_op == COPY_LINEAR && !broadcast) {
        packet->dwords = 7;
        return copy_linear(queue, packet);
    }
    if (sub_op == COPY_LINEAR_RECT) {
        packet->dwords = 13;
        return copy_rect(queue, packet);
    }
    return sdma_invalid(queue, packet);
}

static bool ring_read(struct cp_queue *queue, uint64_t at_bytes, uint32_t *words, uint32_t dwords);

/* The data follow in the ring. */
static enum step op_write(struct cp_queue *queue, struct sdma_packet *packet)
{
    uint32_t count = (packet->word[3] & 0xfffff) + 1, word;
    uint64_t to = pair(packet->word + 1);
    if (packet->word[0] >> 8 & 0xff)
        return sdma_invalid(queue, packet);
    packet->dwords = 4 + count;
    for (uint32_t i = 0; i < count; i++) {
        if (!ring_read(queue, queue->sdma.read_bytes + 16 + 4ull * i, &word, 1) ||
            !access_fill32(&queue->device->access, to + 4ull * i, word, 4))
            return sdma_fault(queue, "SDMA write");
    }
    return STEP_MORE;
}

static enum step op_fence(struct cp_queue *queue, struct sdma_packet *packet)
{
    packet->dwords = 4;
    if (!access_store32(&queue->device->access, pair(packet->word + 1) & ~3ull, packet->word[3]))
        return sdma_fault(queue, "SDMA fence");
    return STEP_MORE;
}

static enum step op_trap(struct cp_queue *queue, struct sdma_packet *packet)
{
    packet->dwords = 2;
    queue_raise(queue, packet->word[1] & 0xfffffff);
    return STEP_MORE;
}

/* Without bit 31 it polls a register. The only such packet that user space sends is the flush of
 * the host data path, and host memory is always coherent here. */
static enum step op_poll(struct cp_queue *queue, struct sdma_packet *packet)
{
    uint32_t value;
    packet->dwords = 6;
    if (packet->word[0] >> 8 & 0xff)
        return sdma_invalid(queue, packet);
    if (!(packet->word[0] >> 31))
        return STEP_MORE;
    if (!access_load32(&queue->device->access, pair(packet->word + 1) & ~3ull, &value))
        return sdma_fault(queue, "SDMA poll");
    bool open = access_compare(packet->word[0] >> 28 & 7, value & packet->word[4], packet->word[3]);
    return open ? STEP_MORE : STEP_BLOCKED;
}

static enum step op_atomic(struct cp_queue *queue, struct sdma_packet *packet)
{
    uint32_t op = packet->word[0] >> 25;
    bool loop = packet->word[0] >> 16 & 1;
    uint64_t compare = pair(packet->word + 5), old;
    packet->dwords = 8;
    switch (access_atomic(&queue->device->access, op, pair(packet->word + 1),
                          pair(packet->word + 3), compare, &old)) {
    case ATOMIC_UNKNOWN:
        return sdma_invalid(queue, packet);
    case ATOMIC_FAULT:
        return sdma_fault(queue, "SDMA atomic");
    case ATOMIC_DONE:
        break;
    }
    uint64_t expected = op & 0x20 ? compare : (uint32_t)compare;
    return loop && old != expected ? STEP_BLOCKED : STEP_MORE;
}

static enum step op_fill(struct cp_queue *queue, struct sdma_packet *packet)
{
    static const uint32_t spread[] = {0x01010101, 0x00010001, 1}; /* byte, half word, word */
    uint32_t size = packet->word[0] >> 30;
    packet->dwords = 5;
    if (size > 2)
        return sdma_invalid(queue, packet);
    uint32_t mask = size == 2 ? UINT32_MAX : (1u << (8 << size)) - 1;
    uint32_t pattern = (packet->word[3] & mask) * spread[size];
    uint64_t unit = 1ull << size;
    uint64_t total = ((packet->word[4] & 0x3fffffff) & ~(unit - 1)) + unit;
    uint64_t at = queue->sdma.progress, slice = slice_of(total - at);
    if (!access_fill32(&queue->device->access, pair(packet->word + 1) + at, pattern, slice))
        return sdma_fault(queue, "SDMA fill");
    return slice_end(queue, slice, total);
}

static enum step op_timestamp(struct cp_queue *queue, struct sdma_packet *packet)
{
    uint32_t sub_op = packet->word[0] >> 8 & 0xff;
    packet->dwords = 3;
    if (sub_op != 1 && sub_op != 2) /* get local, get global: one clock here */
        return sdma_invalid(queue, packet);
    if (!access_store64(&queue->device->access, pair(packet->word + 1) & ~7ull, gpu_clock_ticks()))
        return sdma_fault(queue, "SDMA time stamp");
    return STEP_MORE;
}

static sdma_op_fn *const operations[256] = {
    [OP_NOP] = op_nop,       [OP_COPY] = op_copy,       [OP_WRITE] = op_write,
    [OP_FENCE] = op_fence,   [OP_TRAP] = op_trap,       [OP_POLL_REGMEM] = op_poll,
    [OP_ATOMIC] = op_atomic, [OP_CONST_FILL] = op_fill, [OP_TIMESTAMP] = op_timestamp,
};

/* Packets may wrap around the ring's end. */
static bool ring_read(struct cp_queue *queue, uint64_t at_bytes, uint32_t *words, uint32_t dwords)
{
    uint64_t ring_bytes = queue->config.ring_bytes, offset = at_bytes & (ring_bytes - 1);
    uint32_t size_bytes = 4 * dwords, first = size_bytes;
    if (first > ring_bytes - offset)
        first = (uint32_t)(ring_bytes - offset);
    struct access *access = &queue->device->access;
    return access_read(access, queue->config.ring_va + offset, words, first) &&
           access_read(access, queue->config.ring_va, (uint8_t *)words + first, size_bytes - first);
}

static enum step packet_next(struct cp_queue *queue)
{
    struct sdma_state *sdma = &queue->sdma;
    struct access *access = &queue->device->access;
    struct sdma_packet packet = {.dwords = 1};
    uint64_t write_bytes;
    if (!access_load64(access, queue->config.write_pointer_va, &write_bytes))
        return sdma_fault(queue, "SDMA write pointer");
    uint64_t left = write_bytes - sdma->read_bytes;
    if (left == 0)
        return STEP_IDLE;
    if (left > queue->config.ring_bytes)
        return queue_error(queue, QUEUE_ERROR_PACKET, "SDMA write pointer %llu, read pointer %llu",
                           (unsigned long long)write_bytes, (unsigned long long)sdma->read_bytes);
    uint32_t dwords = left / 4 < PACKET_DWORDS_MAX ? (uint32_t)(left / 4) : PACKET_DWORDS_MAX;
    if (!ring_read(queue, sdma->read_bytes, packet.word, dwords))
        return sdma_fault(queue, "SDMA ring");
    sdma_op_fn *run = operations[packet.word[0] & 0xff];
    if (!run)
        return sdma_invalid(queue, &packet);
    enum step step = run(queue, &packet);
    if (step != STEP_MORE)
        return step;
    const uint64_t ring_bytes = queue->config.ring_bytes, laps = sdma->read_bytes / ring_bytes;
    sdma->read_bytes += 4ull * packet.dwords;
    perf_engine_work(queue->device->perf, queue->config.sdma_engine, 1, run == op_trap,
                     (uint32_t)(sdma->read_bytes / ring_bytes - laps));
    if (!access_store64(access, queue->config.read_pointer_va, sdma->read_bytes))
        return sdma_fault(queue, "SDMA read pointer");
    return STEP_MORE;
}

enum step sdma_step(struct cp_queue *queue)
{
    for (int turn = 0; turn < PACKETS_PER_TURN; turn++) {
        enum step step = packet_next(queue);
        if (step == STEP_SLICE)
            return STEP_MORE;
        if (step != STEP_MORE)
            return step;
    }
    return STEP_MORE;
}
