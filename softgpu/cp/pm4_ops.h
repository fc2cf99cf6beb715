/* PM4 packet handlers, one per line of data/pm4/gfx9.pm4; pm4.c calls them. */
#ifndef CP_PM4_OPS_H
#define CP_PM4_OPS_H

#include "cp/internal.h"

struct pm4_packet {
    const char *name;
    uint64_t va; /* of the header */
    const uint32_t *body;
    uint32_t body_dwords;
};
/* STEP_MORE: done. STEP_WAIT, STEP_BLOCKED: call again later. STEP_ERROR. */
typedef enum step pm4_op_fn(struct cp_queue *queue, const struct pm4_packet *packet);

pm4_op_fn pm4_op_NOP, pm4_op_ATOMIC_MEM, pm4_op_REG_RMW, pm4_op_COND_EXEC, pm4_op_PRED_EXEC,
    pm4_op_WRITE_DATA, pm4_op_WAIT_REG_MEM, pm4_op_INDIRECT_BUFFER, pm4_op_COPY_DATA,
    pm4_op_PFP_SYNC_ME, pm4_op_EVENT_WRITE, pm4_op_RELEASE_MEM, pm4_op_DMA_DATA, pm4_op_ACQUIRE_MEM,
    pm4_op_SET_CONFIG_REG, pm4_op_SET_CONTEXT_REG, pm4_op_SET_SH_REG, pm4_op_SET_UCONFIG_REG;

/* pm4_stream.c: where the stream goes on. */
/* Continues in another buffer; false: nested too deep. */
bool pm4_enter(struct pm4_stream *stream, uint64_t va, uint32_t dwords);
/* Continues elsewhere on the same level; pm4.c then steps over the calling packet's dwords. */
void pm4_replace(struct pm4_stream *stream, uint64_t va, uint32_t dwords);
/* Steps over dwords of a level, or of the innermost buffer. */
static inline void pm4_skip_at(struct pm4_stream *stream, uint32_t level, uint32_t dwords)
{
    uint32_t left = stream->level[level].dwords_left, pred = stream->level[level].pred_dwords_left;
    if (dwords > left)
        dwords = left;
    stream->level[level].va += 4ull * dwords;
    stream->level[level].dwords_left = left - dwords;
    stream->level[level].pred_dwords_left = pred > dwords ? pred - dwords : 0;
}
static inline void pm4_skip(struct pm4_stream *stream, uint32_t dwords)
{
    pm4_skip_at(stream, stream->depth - 1, dwords);
}
/* XCCs that execute the current packet. */
static inline uint32_t pm4_xcc_mask(const struct cp_queue *queue)
{
    const struct pm4_stream *stream = &queue->pm4;
    uint32_t mask = (1u << queue->device->model->xcc_count) - 1;
    for (uint32_t i = 0; i < stream->depth; i++)
        if (stream->level[i].pred_dwords_left)
            mask &= stream->level[i].pred_mask;
    return mask;
}

/* pm4_row.c: packets that set registers and read counters, of `words`, from the first one on:
 * returns the dwords of those done, and in `packets` how many these are. What comes then, if it is
 * not the end, is for the packets' own handlers. Keeps the registers' lock. */
uint32_t pm4_row(struct cp_queue *queue, const uint32_t *words, uint32_t dwords, int packets_max,
                 int *packets);
enum { PM4_SET_UCONFIG_ONE = 0xc0017900u, PM4_COPY_DATA = 0xc0044000u };
static inline bool pm4_row_begins(uint32_t header)
{
    return header == PM4_SET_UCONFIG_ONE || header == PM4_COPY_DATA;
}

/* record.c: whether CROCGPU_PM4_LOG asks for executed packets to be written down, and that. */
bool pm4_is_recorded(void);
void pm4_record(const struct cp_queue *queue, const uint32_t *dwords, uint32_t count);
void pm4_record_write(void); /* at a turn's end: what was written down goes to the file */

#endif
