/* Scalar memory: loads, buffer loads, stores, atomics, time, cache control. */
#include <string.h>

#include "core/time_source.h"
#include "isa_ops.h"
#include "mem/single_copy.h"
#include "perf/clock.h"
#include "wave/access.h"
#include "wave/group.h"
#include "wave/host_levels.h"
#include "wave/line_log.h"
#include "wave/time_note.h"

#define EXEC_FN(name) static const struct inst *exec_##name(struct wave *w, const struct inst *i)

enum { SMEM_DWORDS = 2 }; /* of every encoding's length, so far */

/* A buffer descriptor's fields that bound an access. */
struct scalar_buffer {
    uint64_t base, size_bytes;
};

static struct scalar_buffer scalar_buffer_read(const struct wave *w, const struct operand *srsrc)
{
    const uint32_t *words = &w->s[srsrc->index];
    uint32_t stride = words[1] >> 16 & 0x3fff;
    return (struct scalar_buffer){whole_dwords(words[0] | (uint64_t)(words[1] & 0xffff) << 32),
                                  stride ? (uint64_t)stride * words[2] : words[2]};
}

static uint64_t scalar_offset(const struct wave *w, const struct inst *i)
{
    uint64_t offset = whole_dwords((uint64_t)(int64_t)i->offset);
    return i->flags & IF_SOFFSET ? offset + whole_dwords(w->s[i->src[2].index]) : offset;
}

static uint64_t scalar_address(const struct wave *w, const struct inst *i)
{
    uint64_t base;
    if (__builtin_expect(i->src[0].kind == OPND_SREG, 1))
        memcpy(&base, &w->s[i->src[0].index], sizeof base);
    else
        base = wave_source_scalar(w, &i->src[0]);
    return whole_dwords(base) + scalar_offset(w, i);
}

EXEC_FN(LOAD)
{
    uint64_t va = scalar_address(w, i);
    uint32_t size = i->dst.dwords * 4u;
    const void *host = vm_translate_element(w->group->reader, va, size, VM_READ);
    if (__builtin_expect(!host, 0))
        return wave_fault(w, i, FAULT_MEMORY_READ, va);
    bool watched = time_scalar_watched(w->group, va, size);
    single_read(&w->s[i->dst.index], host, size);
    if (__builtin_expect(watched, 0))
        access_log_scalar(w, i, va, size);
    return inst_next(i);
}

/* As single_read() does it where the address is a multiple of 8, without its search for pieces. */
ALWAYS_INLINE void scalar_read(uint32_t *to, const uint8_t *from, uint32_t dwords)
{
    if (dwords == 1) {
        to[0] = single_load_32(from);
        return;
    }
    uint32_t odd = (uintptr_t)from % 16 != 0 || dwords == 2 ? 2 : 0, left = dwords;
    if (odd) {
        uint64_t value = single_load_64(from + 4 * (left - 2));
        memcpy(to + left - 2, &value, sizeof value);
        left -= 2;
    }
    for (; left > odd; left -= 4) {
        quad value = single_load_quad(from + 4 * (left - 4));
        memcpy(to + left - 4, &value, sizeof value);
    }
    if (odd && dwords > 2) {
        uint64_t value = single_load_64(from);
        memcpy(to, &value, sizeof value);
    }
}

/* What counters want of a load: mostly one line that was read before. */
ALWAYS_INLINE void lines_count(struct wave *w, const struct inst *i, uint64_t va, uint32_t size,
                               uint64_t mapping)
{
    enum { LINE_BYTES = 64 };
    const bool one_line = va % LINE_BYTES + size <= LINE_BYTES;
    const uint64_t line_va = va - va % LINE_BYTES;
    if (!one_line || !line_log_scalar_has(&w->group->accesses, line_va, mapping))
        access_log_scalar_lines(w, i, va, size);
}

/*
 * Nearly all scalar loads: the address is a pair's and a constant's sum in the mapping that was
 * looked up last, and nobody looks at it but for modelled time, in one block. The others are
 * exec_LOAD's, which this one has not begun then. `dwords` is a constant at every call.
 */
ALWAYS_INLINE const struct inst *load_plain(struct wave *w, const struct inst *i, uint32_t dwords)
{
    struct workgroup *group = w->group;
    uint32_t size = 4 * dwords;
    uint64_t base;
    memcpy(&base, &w->s[i->src[0].index], sizeof base);
    uint64_t va = whole_dwords(base) + whole_dwords((uint64_t)(int64_t)i->offset);
    const struct vm_range *way = vm_way(group->reader, va);
    uint64_t at = va - way->start, length = way->end - way->start;
    if (__builtin_expect(at >= length || size > length - at || !(way->flags & VM_READ), 0))
        return exec_LOAD(w, i);
    const uint8_t *host = way->host + at;
    if (__builtin_expect(dwords > 1 && (uintptr_t)host % 8 != 0, 0))
        return exec_LOAD(w, i);
    const bool sampled = time_scalar_sampled_in(group, va, size, way->start);
    if (__builtin_expect(sampled && va % SAMPLE_BLOCK_BYTES + size > SAMPLE_BLOCK_BYTES, 0))
        return exec_LOAD(w, i);
    if (__builtin_expect(group->wants & PERF_WANT_MEMORY, 0))
        lines_count(w, i, va, size, way->start);
    scalar_read(&w->s[i->dst.index], host, dwords);
    if (__builtin_expect(sampled, 0) && !time_note_repeated(group, va, size))
        time_note_block(group, i, va, time_origin_scalar_in(group, va, way->start), size);
    return i + SMEM_DWORDS;
}

#define LOADS_PLAIN(X) X(1) X(2) X(4) X(8) X(16)
#define DEFINE_LOAD_PLAIN(dwords)                                                                  \
    EXEC_FN(LOAD_##dwords)                                                                         \
    {                                                                                              \
        return load_plain(w, i, dwords);                                                           \
    }
LOADS_PLAIN(DEFINE_LOAD_PLAIN)

static inst_exec_fn *load_handler(const struct inst *inst)
{
    bool plain = inst->src[0].kind == OPND_SREG && !(inst->flags & IF_SOFFSET) &&
                 inst->dwords == SMEM_DWORDS;
#define CASE_LOAD_PLAIN(n)                                                                         \
    case n:                                                                                        \
        return plain ? exec_LOAD_##n : exec_LOAD;
    switch (inst->dst.dwords) {
        LOADS_PLAIN(CASE_LOAD_PLAIN)
    default:
        return exec_LOAD;
    }
}

/* Dwords beyond the buffer read as zero. */
EXEC_FN(BUFFER_LOAD)
{
    struct scalar_buffer buffer = scalar_buffer_read(w, &i->src[0]);
    uint64_t offset = scalar_offset(w, i), va = buffer.base + offset;
    uint32_t inside = 0, size = i->dst.dwords * 4u;
    if (offset < buffer.size_bytes)
        inside =
            buffer.size_bytes - offset < size ? (uint32_t)(buffer.size_bytes - offset) & ~3u : size;
    const void *host = inside ? vm_translate_element(w->group->reader, va, inside, VM_READ) : NULL;
    if (inside && !host)
        return wave_fault(w, i, FAULT_MEMORY_READ, va);
    memset(&w->s[i->dst.index], 0, size);
    if (inside) {
        single_read(&w->s[i->dst.index], host, inside);
        access_log_scalar(w, i, va, inside);
    }
    return inst_next(i);
}

static uint32_t stored_bytes(const struct inst *i)
{
    return i->src[1].dwords * 4u;
}

static const struct inst *scalar_store(struct wave *w, const struct inst *i, uint64_t va)
{
    uint32_t size = stored_bytes(i);
    void *host = vm_translate_element(w->group->reader, va, size, VM_WRITE);
    if (!host)
        return wave_fault(w, i, FAULT_MEMORY_WRITE, va);
    single_write(host, &w->s[i->src[1].index], size);
    w->stores_pending = true;
    return inst_next(i);
}

EXEC_FN(STORE)
{
    return scalar_store(w, i, scalar_address(w, i));
}

EXEC_FN(BUFFER_STORE)
{
    struct scalar_buffer buffer = scalar_buffer_read(w, &i->src[0]);
    uint64_t offset = scalar_offset(w, i);
    if (offset + stored_bytes(i) > buffer.size_bytes)
        return inst_next(i);
    return scalar_store(w, i, buffer.base + offset);
}

static const struct inst *scalar_atomic(struct wave *w, const struct inst *i, uint64_t va)
{
    struct atomic_op op = inst_atomic(i);
    void *host = vm_translate(w->group->reader, va, op.bytes, VM_READ | VM_WRITE);
    if (!host)
        return wave_fault(w, i, FAULT_MEMORY_WRITE, va);
    uint64_t data[2] = {0}, old;
    memcpy(data, &w->s[i->src[1].index], i->src[1].dwords * 4u);
    atomic_split_compare(&op, data);
    const bool refused = w->group->launch->few_host_atomics &&
                         atomic_refused(i, vm_range_at(w->group->reader, va)->flags);
    old = refused ? 0 : atomic_apply(&op, host, data[0], data[1]);
    if (i->flags & IF_GLC)
        memcpy(&w->s[i->dst.index], &old, op.bytes);
    return inst_next(i);
}

/* The same operations as the vector atomics, on one address. */
EXEC_FN(ATOMIC)
{
    return scalar_atomic(w, i, scalar_address(w, i));
}

/* One that ends outside of the buffer does nothing and returns 0, as a vector's lane does. */
EXEC_FN(BUFFER_ATOMIC)
{
    struct scalar_buffer buffer = scalar_buffer_read(w, &i->src[0]);
    uint64_t offset = scalar_offset(w, i);
    uint32_t size = inst_atomic(i).bytes;
    if (size <= buffer.size_bytes && offset <= buffer.size_bytes - size)
        return scalar_atomic(w, i, buffer.base + offset);
    if (i->flags & IF_GLC)
        memset(&w->s[i->dst.index], 0, size);
    return inst_next(i);
}

/* Modelled: what the wave itself has taken since its kernel began. */
static uint64_t modelled_cycles(const struct wave *w, const struct gpu_model *model,
                                uint64_t begin_ticks)
{
    struct clock_wave own = {0};
    for (uint32_t t = 0; t < TALLY_COUNT; t++)
        clock_wave_add(&own, clock_costs_of(model->gen), (enum inst_tally)t, w->counts[t]);
    return cycles_of_ticks(model, begin_ticks) + CYCLES_PER_LAUNCH + own.issue_cycles +
           clock_wave_load_wait(&own) + clock_wave_other_wait(&own);
}

/* Shader clock: the constant-rate clock scaled to the engine's frequency. */
EXEC_FN(MEMTIME)
{
    const struct gpu_model *model = engine_model(w->group->engine);
    uint64_t begin_ticks = dispatch_begin_ticks(w->group->dispatch), cycles, ticks;
    if (begin_ticks) {
        cycles = modelled_cycles(w, model, begin_ticks);
        ticks = ticks_of_cycles(model, cycles);
    } else {
        ticks = gpu_clock_ticks();
        cycles = cycles_of_ticks(model, ticks);
    }
    memcpy(&w->s[i->dst.index], i->op == OP_S_MEMTIME ? &cycles : &ticks, sizeof ticks);
    return inst_next(i);
}

EXEC_FN(NOTHING)
{
    (void)w; /* host memory is coherent: no cache to write back or invalidate */
    return inst_next(i);
}

inst_exec_fn *smem_handler(struct inst *inst)
{
    switch (inst->op) {
    case OP_S_MEMTIME:
    case OP_S_MEMREALTIME:
        return exec_MEMTIME;
    case OP_S_DCACHE_INV:
    case OP_S_DCACHE_WB:
    case OP_S_DCACHE_INV_VOL:
    case OP_S_DCACHE_WB_VOL:
    case OP_S_DCACHE_DISCARD:
    case OP_S_DCACHE_DISCARD_X2:
    case OP_S_ATC_PROBE:
    case OP_S_ATC_PROBE_BUFFER:
        return exec_NOTHING;
    case OP_S_SCRATCH_LOAD_DWORD:
    case OP_S_SCRATCH_LOAD_DWORDX2:
    case OP_S_SCRATCH_LOAD_DWORDX4:
    case OP_S_SCRATCH_STORE_DWORD:
    case OP_S_SCRATCH_STORE_DWORDX2:
    case OP_S_SCRATCH_STORE_DWORDX4:
        return NULL;
    default:
        break;
    }
    bool buffer = inst->src[0].dwords == 4;
    if (inst->flags & IF_ATOMIC) {
        inst_exec_fn *atomic = buffer ? exec_BUFFER_ATOMIC : exec_ATOMIC;
        return inst_keep_atomic(inst) ? atomic : NULL;
    }
    if (inst->flags & IF_LOAD)
        return buffer ? exec_BUFFER_LOAD : load_handler(inst);
    if (inst->flags & IF_STORE)
        return buffer ? exec_BUFFER_STORE : exec_STORE;
    return NULL;
}
