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
/* Steps over dwords of the innermost buffer. */
void pm4_skip(struct pm4_stream *stream, uint32_t dwords);
/* XCCs that execute the current packet. */
uint32_t pm4_xcc_mask(const struct cp_queue *queue);

/* record.c: writes down an executed packet when CROCGPU_PM4_LOG asks for it. */
void pm4_record(const struct cp_queue *queue, const uint32_t *dwords, uint32_t count);

#endif
