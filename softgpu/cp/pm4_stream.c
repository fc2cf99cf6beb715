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
