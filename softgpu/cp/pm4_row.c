/*
 * Rows of packets: a counted kernel is programmed by dozens of packets that set one register each,
 * and its values are read by a hundred that choose a unit or store what a counter of it holds. What
 * such a packet asks for takes some instructions, so nothing is done for each that need be done
 * only once for the row. What a row cannot do, pm4.c does, and says what is wrong with it.
 */
#include "cp/pm4_ops.h"
#include "gfx90a_regs.h" /* generated */

enum { SET_DWORDS = 3, COPY_DWORDS = 6, UCONFIG_SPACE = 0xc000, VALUE_BYTES = 8 };

/* Of COPY_DATA: which sources are registers, which targets memory, and that it is 64 bits. */
enum { SOURCES = 1 << 0 | 1 << 4, TARGETS = 1 << 1 | 1 << 2 | 1 << 5, WIDE = 1 << 16 };

/* Memory that values go to, as the row has found it: what is mapped stays so for the turn. */
struct target {
    uint64_t va, starts; /* where a value may start: so many addresses from `va` on */
    uint8_t *host;
};

struct row {
    struct cp_queue *queue;
    struct perf *perf;
    uint32_t xcc_mask, first_xcc;
    uint32_t control; /* of a COPY_DATA that was a counter's; 0: none was */
    struct target target;
};

static bool target_move(struct row *row, uint64_t va)
{
    struct target *target = &row->target;
    uint64_t bytes = UINT64_MAX;
    target->va = va;
    target->host = access_run(&row->queue->device->access, va, VM_WRITE, &bytes);
    target->starts = target->host && bytes >= VALUE_BYTES ? bytes - VALUE_BYTES + 1 : 0;
    return target->starts > 0;
}

/* Whether it copies a register of 64 bits to memory: mostly as the one before. */
static inline bool control_is_of_value(struct row *row, uint32_t control)
{
    if (__builtin_expect(control == row->control, 1))
        return true;
    if (!(control & WIDE) || !(SOURCES >> (control & 0xf) & 1) ||
        !(TARGETS >> (control >> 8 & 0xf) & 1))
        return false;
    row->control = control;
    return true;
}

/* A counter's value goes to memory. */
static inline bool value_copy(struct row *row, const uint32_t *packet)
{
    uint64_t va = ((uint64_t)packet[5] << 32 | packet[4]) & ~7ull, value;
    if (!control_is_of_value(row, packet[1]))
        return false;
    if (va - row->target.va >= row->target.starts && !target_move(row, va))
        return false;
    if (!perf_counter_read(row->perf, row->first_xcc, packet[2], &value))
        return false;
    uint64_t *host = (uint64_t *)(void *)(row->target.host + (va - row->target.va));
    __atomic_store_n(host, value, __ATOMIC_RELEASE); /* as access_store64() */
    return true;
}

static inline bool register_set(struct row *row, const uint32_t *packet)
{
    uint32_t reg = UCONFIG_SPACE + (packet[1] & 0xffff);
    if (reg != REG_GFX90A_GRBM_GFX_INDEX && perf_trace_register(reg))
        return false;
    return perf_reg_write(row->perf, row->xcc_mask, reg, packet[2]);
}

/* The packet's dwords; 0: it is none of a row's. */
static inline uint32_t row_packet(struct row *row, const uint32_t *packet, uint32_t left)
{
    uint32_t header = __atomic_load_n(packet, __ATOMIC_RELAXED); /* others may write there */
    if (header == PM4_SET_UCONFIG_ONE && left >= SET_DWORDS)
        return register_set(row, packet) ? SET_DWORDS : 0;
    if (header == PM4_COPY_DATA && left >= COPY_DWORDS)
        return value_copy(row, packet) ? COPY_DWORDS : 0;
    return 0;
}

uint32_t pm4_row(struct cp_queue *queue, const uint32_t *words, uint32_t dwords, int packets_max,
                 int *packets)
{
    struct row row = {.queue = queue, .perf = queue->device->perf, .xcc_mask = pm4_xcc_mask(queue)};
    const uint32_t *at = words, *end = words + dwords;
    uint32_t step = 1;
    int done = 0;
    row.first_xcc = row.xcc_mask ? (uint32_t)__builtin_ctz(row.xcc_mask) : 0;
    perf_registers_hold(row.perf);
    for (; done < packets_max && at < end; done++, at += step) {
        step = row_packet(&row, at, (uint32_t)(end - at));
        if (!step)
            break;
    }
    *packets = done;
    return (uint32_t)(at - words);
}
