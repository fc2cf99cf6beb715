#include "perf/transfers.h"

enum { EFFICIENCY_PERCENT = 85 };

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* `bytes` at so many in each of `cycles`. */
static uint64_t cycles_of(uint64_t bytes, uint64_t cycles, uint64_t bytes_at_peak)
{
    if (!bytes || !bytes_at_peak)
        return 0;
    return (uint64_t)((unsigned __int128)bytes * cycles * 100 /
                      (bytes_at_peak * EFFICIENCY_PERCENT));
}

uint64_t transfers_memory_cycles(const struct gpu_model *model, uint64_t bytes)
{
    return cycles_of(bytes, model->sclk_mhz,
                     (uint64_t)model->memory_bytes_per_mclk * model->mclk_mhz);
}

/* Memory, or the cache in front of it, which all passes. */
static uint64_t own_cycles(const struct dispatch_sample *sample)
{
    const struct gpu_model *model = sample->model;
    const struct home_sample *own = &sample->homes[HOME_OWN];
    uint64_t bytes = own->read_bytes + own->write_bytes;
    return greater(transfers_memory_cycles(model, bytes - sample->side_bytes),
                   cycles_of(bytes, 1, model->side_bytes_per_sclk));
}

/* A link carries both directions at once. */
uint64_t transfers_cycles(const struct dispatch_sample *sample, enum memory_home home)
{
    const struct gpu_model *model = sample->model;
    const struct home_sample *moved = &sample->homes[home];
    if (home == HOME_OWN)
        return own_cycles(sample);
    return cycles_of(greater(moved->read_bytes, moved->write_bytes), model->sclk_mhz,
                     home == HOME_HOST ? model->host_mb_per_s : model->peer_mb_per_s);
}
