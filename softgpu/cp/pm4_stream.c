/* Where a PM4 stream stands: nested buffers, and the predicates on what comes next. */
#include "cp/pm4_ops.h"

void pm4_start(struct pm4_stream *stream, uint64_t va, uint32_t dwords)
{
    stream->depth = 0;
    pm4_enter(stream, va, dwords);
}

void pm4_replace(struct pm4_stream *stream, uint64_t va, uint32_t dwords)
{
    uint32_t top = stream->depth - 1;
    stream->level[top].va = va;
    stream->level[top].dwords_left = dwords;
    stream->level[top].pred_dwords_left = 0;
}

bool pm4_enter(struct pm4_stream *stream, uint64_t va, uint32_t dwords)
{
    if (stream->depth == PM4_LEVELS_MAX)
        return false;
    stream->depth++;
    pm4_replace(stream, va, dwords);
    return true;
}

uint32_t pm4_xcc_mask(const struct cp_queue *queue)
{
    const struct pm4_stream *stream = &queue->pm4;
    uint32_t mask = (1u << queue->device->model->xcc_count) - 1;
    for (uint32_t i = 0; i < stream->depth; i++)
        if (stream->level[i].pred_dwords_left)
            mask &= stream->level[i].pred_mask;
    return mask;
}

void pm4_skip(struct pm4_stream *stream, uint32_t dwords)
{
    uint32_t top = stream->depth - 1;
    uint32_t left = stream->level[top].dwords_left, pred = stream->level[top].pred_dwords_left;
    if (dwords > left)
        dwords = left;
    stream->level[top].va += 4ull * dwords;
    stream->level[top].dwords_left = left - dwords;
    stream->level[top].pred_dwords_left = pred > dwords ? pred - dwords : 0;
}
