/* Where the values of registers and of blocks' counters lie. Nothing below calls out. */
#include "perf/internal.h"

uint32_t *storage_at(struct perf *perf, uint32_t offset, uint32_t xcc, uint32_t se_unit)
{
    return storage_of(perf, register_find(offset), xcc, se_unit);
}

uint32_t block_units(const struct perf *perf, enum block block)
{
    switch (perf_blocks[block].axis) {
    case AXIS_XCC:
        return 1;
    case AXIS_SE:
        return perf->se_units;
    case AXIS_CU:
        return perf->units;
    case AXIS_ENGINE:
        return perf->engine_count;
    default:
        return perf->model->tcc_channels;
    }
}

void xccs_add(struct perf *perf, enum perf_source source, uint64_t value)
{
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
        perf->xcc[xcc][source - SRC_XCC_FIRST] += value;
}
