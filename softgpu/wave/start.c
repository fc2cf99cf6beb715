/* What groups and waves begin with. */
#include <string.h>

#include "perf/sampling.h"
#include "wave/group.h"
#include "wave/host_levels.h"
#include "wave/line_log.h"

static void set_system_sgprs(struct wave *wave, const struct launch *launch)
{
    const struct workgroup *group = wave->group;
    unsigned at = launch->rsrc2 >> RSRC2_USER_SGPR_SHIFT & 31;
    static const uint32_t id_bits[3] = {RSRC2_ID_X, RSRC2_ID_Y, RSRC2_ID_Z};
    for (int axis = 0; axis < 3; axis++) {
        if (launch->rsrc2 & id_bits[axis])
            wave->s[at++] = group->id[axis];
    }
    if (launch->rsrc2 & RSRC2_GROUP_INFO)
        wave->s[at++] = group->wave_count << 12 | wave->wave_in_group << 6;
    if (launch->rsrc2 & RSRC2_SCRATCH_OFFSET)
        wave->s[at] = 0; /* every wave's private memory starts at its own base */
}

/* Whole cache lines of zeros. Registers of a wave are a few kilobytes, where memset() would take
 * the host's string instructions, which start slowly: the barriers keep the loops what they are. */
typedef uint64_t zero_avx512_vector __attribute__((vector_size(64), aligned(64), may_alias));
typedef uint64_t zero_avx2_vector __attribute__((vector_size(32), aligned(32), may_alias));
typedef zero_avx2_vector zero_portable_vector;
#define DEFINE_ZERO(level, options)                                                                \
    options static __attribute__((noinline)) void zero_##level(void *at, size_t bytes)             \
    {                                                                                              \
        enum { LINE = 64, LINE_VECTORS = LINE / sizeof(zero_##level##_vector) };                   \
        const zero_##level##_vector zero = {0};                                                    \
        zero_##level##_vector *to = at, *end = to + bytes / sizeof zero;                           \
        for (size_t fours = bytes / LINE / 4; fours > 0; fours--) {                                \
            for (int n = 0; n < 4 * LINE_VECTORS; n++)                                             \
                to[n] = zero;                                                                      \
            to += 4 * LINE_VECTORS;                                                                \
            __asm__ volatile("" ::: "memory");                                                     \
        }                                                                                          \
        for (; to < end; to++) {                                                                   \
            *to = zero;                                                                            \
            __asm__ volatile("" ::: "memory");                                                     \
        }                                                                                          \
    }
DEFINE_LEVELS(DEFINE_ZERO)

ALWAYS_INLINE void row_fill(uint32_t *row, uint32_t value)
{
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        row[lane] = value;
}

/* A wave all of whose items differ in x alone. */
ALWAYS_INLINE void line_of_items(lane_row *v, uint32_t axes, uint32_t x, uint32_t y, uint32_t z,
                                 bool packed)
{
    uint32_t seen_y = axes > 0 ? y : 0, seen_z = axes > 1 ? z : 0;
    uint32_t first = packed ? x | seen_y << 10 | seen_z << 20 : x;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        v[0][lane] = first + lane;
    if (!packed && axes > 0)
        row_fill(v[1], seen_y);
    if (!packed && axes > 1)
        row_fill(v[2], seen_z);
}

#define DEFINE_LEVEL(level, options)                                                               \
    options static void line_##level(lane_row *v, uint32_t axes, uint32_t x, uint32_t y,           \
                                     uint32_t z, bool packed)                                      \
    {                                                                                              \
        line_of_items(v, axes, x, y, z, packed);                                                   \
    }
DEFINE_LEVELS(DEFINE_LEVEL)

/* Work-item ids: x fastest. Partial groups count within what is left of the grid. */
static uint64_t set_work_items(struct wave *wave, const struct launch *launch,
                               const uint32_t size[3], bool packed)
{
    uint32_t axes = launch->rsrc2 >> RSRC2_ITEM_ID_SHIFT & 3;
    uint32_t total = size[0] * size[1] * size[2], first = wave->wave_in_group * WAVE_LANES;
    uint32_t x = first, y = 0, z = 0;
    if (first >= size[0]) { /* divisions cost more than all else here */
        x = first % size[0];
        y = first / size[0] % size[1];
        z = first / size[0] / size[1];
    }
    if (x + WAVE_LANES <= size[0]) { /* the whole wave in one line: most kernels */
        CALL_LEVEL(line, wave->v, axes, x, y, z, packed);
        return ~0ull;
    }
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++) {
        uint32_t seen_y = axes > 0 ? y : 0, seen_z = axes > 1 ? z : 0;
        wave->v[0][lane] = packed ? x | seen_y << 10 | seen_z << 20 : x;
        if (!packed && axes > 0)
            wave->v[1][lane] = seen_y;
        if (!packed && axes > 1)
            wave->v[2][lane] = seen_z;
        if (++x < size[0])
            continue;
        x = 0;
        if (++y < size[1])
            continue;
        y = 0;
        z++;
    }
    return total - first >= WAVE_LANES ? ~0ull : (1ull << (total - first)) - 1;
}

/* Registers hold whatever the last wave left on hardware; zero keeps runs alike. Row 0 has the
 * items' numbers anyway. */
static void registers_start(struct wave *wave, const struct launch *launch)
{
    CALL_LEVEL(zero, wave->v + 1, (launch->vgpr_count - 1) * sizeof(lane_row));
    if (launch->accum_offset == VGPR_ROWS && launch->agpr_count > 0) /* a file of their own */
        CALL_LEVEL(zero, wave->a, launch->agpr_count * sizeof(lane_row));
    memcpy(wave->s, launch->user_sgprs, sizeof launch->user_sgprs);
    set_system_sgprs(wave, launch);
}

static void wave_start(struct workgroup *group, uint32_t number, const struct gpu_model *model,
                       const uint32_t size[3])
{
    const struct launch *launch = group->launch;
    struct wave *wave = &group->waves[number];
    CALL_LEVEL(zero, wave, sizeof *wave);
    wave->v = group->registers + (size_t)number * WAVE_ROWS;
    wave->a = wave->v + launch->accum_offset;
    wave->vgpr_count = launch->vgpr_count;
    wave->agpr_count = launch->agpr_count;
    wave->sgpr_count = launch->sgpr_count;
    wave->group = group;
    wave->wave_in_group = number;
    wave->scratch_bytes = launch->scratch_bytes;
    wave->scratch_stride = launch->scratch_stride;
    if (group->scratch)
        wave->scratch = group->scratch + (size_t)number * WAVE_LANES * launch->scratch_stride;
    registers_start(wave, launch);
    wave->s64[SREG_EXEC / 2] = set_work_items(wave, launch, size, model->packed_work_item_id);
    wave->mode = launch->mode;
    wave->fp_state_32 = launch->fp_state_32;
    wave->fp_state_64 = launch->fp_state_64;
    wave->stop = WAVE_SLICE;
}

/* What counters want to know of a group. */
void group_wanted_clear(struct workgroup *group)
{
    line_log_clear(&group->accesses);
    fetch_log_clear(&group->fetches);
    group->lds_counts = (struct perf_lds){0};
}

void group_start(struct workgroup *group, const struct gpu_model *model, uint64_t index)
{
    const struct launch *launch = group->launch;
    uint32_t size[3];
    uint64_t rest = index;
    group->index = index;
    for (int axis = 0; axis < 3; axis++) {
        bool within = rest < launch->groups[axis]; /* spares two divisions, mostly */
        group->id[axis] = (uint32_t)(within ? rest : rest % launch->groups[axis]);
        rest = within ? 0 : rest / launch->groups[axis];
        uint32_t left = launch->grid[axis] - group->id[axis] * launch->size[axis];
        size[axis] = left < launch->size[axis] ? left : launch->size[axis];
    }
    group->work_items = size[0] * size[1] * size[2];
    group->wave_count = (group->work_items + WAVE_LANES - 1) / WAVE_LANES;
    group->waves_live = group->wave_count;
    group->waves_at_barrier = 0;
    group->turns_in_step = 0;
    group->slices = 0;
    group->is_alike = false;
    group->alike_end = 0;
    group->consumed = 0;
    group->lds_bytes = launch->lds_bytes;
    if (launch->lds_bytes)
        memset(group->lds, 0, launch->lds_bytes);
    group_wanted_clear(group);
    group->steps.count = group->steps.lost = 0;
    group->flat_lds_insts = group->flat_lds_only = 0;
    for (uint32_t i = 0; i < group->wave_count; i++)
        wave_start(group, i, model, size);
}

/* Groups that begin as the one before did. */

/* Rows that hold work-items' numbers. */
static uint32_t item_rows(const struct launch *launch, const struct gpu_model *model)
{
    uint32_t axes = launch->rsrc2 >> RSRC2_ITEM_ID_SHIFT & 3;
    return model->packed_work_item_id ? 1 : 1 + (axes > 0) + (axes > 1);
}

/* Of the first registers, those that waves begin with as 0 or as items' numbers. */
static uint64_t rows_declared(const struct launch *launch)
{
    enum { BITS = 64 };
    return launch->vgpr_count < BITS ? (UINT64_C(1) << launch->vgpr_count) - 1 : ~UINT64_C(0);
}

/* A row, and what a wave begins with in its scalar state, by whole vectors. */
#define DEFINE_COPY(level, options)                                                                \
    ALWAYS_INLINE options void copy_##level(void *to, const void *from, size_t bytes)              \
    {                                                                                              \
        zero_##level##_vector *vectors = to;                                                       \
        const zero_##level##_vector *old = from;                                                   \
        _Pragma("GCC unroll 32") for (size_t n = 0; n < bytes / sizeof *vectors; n++)              \
        {                                                                                          \
            vectors[n] = old[n];                                                                   \
            __asm__ volatile("" ::: "memory");                                                     \
        }                                                                                          \
    }                                                                                              \
    /* All registers, the first ones of which have items' numbers. */                              \
    options static void registers_alike_##level(struct wave *wave, const struct wave_first *first, \
                                                uint32_t items, uint32_t rows)                     \
    {                                                                                              \
        enum { ROW = sizeof(lane_row) / sizeof(zero_##level##_vector) };                           \
        const zero_##level##_vector zero = {0};                                                    \
        zero_##level##_vector *to = (zero_##level##_vector *)(void *)wave->v[items];               \
        for (uint32_t n = 0; n < items; n++)                                                       \
            copy_##level(wave->v[n], first->items[n], sizeof(lane_row));                           \
        for (rows -= items; rows > 1; rows -= 2, to += 2 * ROW) {                                  \
            _Pragma("GCC unroll 32") for (int n = 0; n < 2 * ROW; n++) to[n] = zero;               \
            __asm__ volatile("" ::: "memory");                                                     \
        }                                                                                          \
        _Pragma("GCC unroll 16") for (int n = 0; rows && n < ROW; n++) to[n] = zero;               \
    }                                                                                              \
    /* Those alone that the wave before has written. */                                            \
    ALWAYS_INLINE options void rows_alike_##level(                                                 \
        struct wave *wave, const struct wave_first *first, uint32_t items, uint64_t written)       \
    {                                                                                              \
        static const lane_row zeros;                                                               \
        for (; written; written &= written - 1) {                                                  \
            const uint32_t n = (uint32_t)__builtin_ctzll(written);                                 \
            copy_##level(wave->v[n], n < items ? first->items[n] : zeros, sizeof(lane_row));       \
        }                                                                                          \
    }
DEFINE_LEVELS(DEFINE_COPY)

/* As registers_start() leaves it. */
#define DEFINE_ALIKE(level, options)                                                               \
    options static __attribute__((noinline)) void waves_alike_##level(struct workgroup *group)     \
    {                                                                                              \
        const struct launch *launch = group->launch;                                               \
        const struct wave_first *first = group->firsts;                                            \
        const uint64_t declared = rows_declared(launch);                                           \
        for (struct wave *wave = group->waves, *end = wave + group->wave_count; wave < end;        \
             wave++, first++) {                                                                    \
            if (__builtin_expect(wave->mode != launch->mode, 0)) /* and the thread's, where it is  \
                                                                    the wave that ran last */      \
                valu_mode_set(wave, launch->mode);                                                 \
            const bool is_known = wave_whole(wave) != 0;                                           \
            const uint64_t written = wave->whole_rows & declared;                                  \
            copy_##level(wave, first, WAVE_FIRST_BYTES);                                           \
            if (is_known) {                                                                        \
                rows_alike_##level(wave, first, group->item_rows, written);                        \
            } else {                                                                               \
                registers_alike_##level(wave, first, group->item_rows, launch->vgpr_count);        \
                if (launch->accum_offset == VGPR_ROWS && launch->agpr_count > 0)                   \
                    zero_##level(wave->a, launch->agpr_count * sizeof(lane_row));                  \
            }                                                                                      \
            if (launch->id_x)                                                                      \
                wave->s[launch->id_x - 1] = group->id[0];                                          \
        }                                                                                          \
    }
DEFINE_LEVELS(DEFINE_ALIKE)

/* Of groups behind this one, the first that would not be alike: another size, or others beside it
 * in its unit (groups_beside()), or one that is sampled. */
static uint64_t alike_end(const struct workgroup *group, uint64_t group_total, uint64_t end)
{
    const struct launch *launch = group->launch;
    const uint64_t units = launch->units, unit = group->index % units, more = group_total % units;
    const uint64_t row_end = group->index - group->id[0] + launch->grid[0] / launch->size[0];
    const uint64_t beside_end = group->index - unit + (unit < more ? more : units);
    end = row_end < end ? row_end : end;
    if (more && group_total / units < launch->capacity && beside_end < end)
        end = beside_end;
    return launch->sample_limit ? sample_next(group->index, group_total, units, end) : end;
}

void group_remember(struct workgroup *group, const struct gpu_model *model, uint64_t group_total,
                    uint64_t end)
{
    if (group->wants & PERF_WANT_TRACE || group->is_sampled || group->index + 1 >= end)
        return;
    end = alike_end(group, group_total, end);
    if (group->index + 1 >= end)
        return;
    group->alike_end = end;
    group->item_rows = item_rows(group->launch, model);
    for (uint32_t i = 0; i < group->wave_count; i++) {
        struct wave_first *first = &group->firsts[i];
        memcpy(first->bytes, &group->waves[i], sizeof first->bytes);
        memcpy(first->items, group->waves[i].v, group->item_rows * sizeof(lane_row));
    }
}

static __attribute__((noinline)) void counts_clear(struct workgroup *group)
{
    for (uint32_t i = 0; i < group->wave_count; i++)
        memset(group->waves[i].counts, 0, sizeof group->waves[i].counts);
}

void group_start_alike(struct workgroup *group)
{
    group->index++;
    group->id[0]++;
    group->is_alike = true;
    group->waves_live = group->wave_count;
    group->turns_in_step = 0;
    group->consumed = 0;
    group->sample_limit = group->launch->sample_limit;
    group->blocks.count = group->blocks.noted = group->blocks.run_block = 0;
    group->flat_lds_insts = group->flat_lds_only = 0;
    if (__builtin_expect(group->wants, 0))
        group_wanted_clear(group);
    if (group->lds_bytes)
        memset(group->lds, 0, group->lds_bytes);
    if (!group->is_repeat)
        counts_clear(group);
    CALL_LEVEL(waves_alike, group);
}
