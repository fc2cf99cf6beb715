#include "wave/lds_atomics.h"

#include "wave/atomic_value.h"
#include "wave/lanes.h"

/* One group's waves never run at the same time: plain loads and stores are atomic here. */
ALWAYS_INLINE uint64_t exchange(uint8_t *host, struct atomic_op op, uint64_t data, uint64_t compare)
{
    uint64_t old = 0, new;
    memcpy(&old, host, op.bytes == 8 ? 8 : 4);
    new = atomic_value(&op, old, data, compare);
    memcpy(host, &new, op.bytes == 8 ? 8 : 4);
    return old;
}

ALWAYS_INLINE void lane_apply(const struct lds_span *s, const struct lds_operands *o, unsigned lane,
                              uint32_t offset, bool inside, struct atomic_op op)
{
    const unsigned words = op.bytes / 4;
    const uint64_t data = o->data ? lane_value(o->data, lane, words) : 0;
    const uint64_t other = o->other ? lane_value(o->other, lane, words) : 0;
    /* ds_cmpst compares with its first operand and writes the second. */
    const bool swapped = op.kind == ATOMIC_CMPSWAP;
    uint64_t old = 0;
    if (inside)
        old = exchange(s->lds + offset, op, swapped ? other : data, swapped ? data : other);
    if (o->old)
        lane_value_put(o->old, lane, words, old);
}

/* All active lanes' elements lie inside; `offsets` is none of the operands' rows. */
ALWAYS_INLINE void lanes_apply(const struct lds_span *s, const struct lds_operands *o,
                               const uint32_t *offsets, struct atomic_op op)
{
    if (!~s->lanes)
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            lane_apply(s, o, lane, offsets[lane], true, op);
    else
        for (uint64_t left = s->lanes; left; left &= left - 1)
            lane_apply(s, o, (unsigned)__builtin_ctzll(left), offsets[__builtin_ctzll(left)], true,
                       op);
}

/* Loops of their own, and for each one with a result and one without. */
#define OFTEN(X)                                                                                   \
    X(ADD, UINT, 4)                                                                                \
    X(ADD, UINT, 8)                                                                                \
    X(ADD, FLOAT, 4)                                                                               \
    X(ADD, FLOAT, 8)                                                                               \
    X(SUB, UINT, 4)                                                                                \
    X(MIN, INT, 4)                                                                                 \
    X(MAX, INT, 4)                                                                                 \
    X(MIN, UINT, 4)                                                                                \
    X(MAX, UINT, 4)                                                                                \
    X(MIN, FLOAT, 4)                                                                               \
    X(MAX, FLOAT, 4)                                                                               \
    X(MIN, UINT, 8)                                                                                \
    X(MAX, UINT, 8)                                                                                \
    X(AND, UINT, 4)                                                                                \
    X(OR, UINT, 4)                                                                                 \
    X(XOR, UINT, 4)                                                                                \
    X(OR, UINT, 8)                                                                                 \
    X(INC, UINT, 4)                                                                                \
    X(SWAP, UINT, 4)                                                                               \
    X(SWAP, UINT, 8)                                                                               \
    X(CMPSWAP, UINT, 4)                                                                            \
    X(CMPSWAP, UINT, 8)

#define DEFINE_LOOP(name, of, size)                                                                \
    static void loop_##name##_##of##_##size(const struct lds_span *s,                              \
                                            const struct lds_operands *o, const uint32_t *offsets) \
    {                                                                                              \
        static const struct atomic_op op = {ATOMIC_##name, ATOMIC_##of, size};                     \
        const lane_row *other = ATOMIC_##name == ATOMIC_CMPSWAP ? o->other : NULL;                 \
        if (o->old)                                                                                \
            lanes_apply(s, &(struct lds_operands){o->data, other, o->old}, offsets, op);           \
        else                                                                                       \
            lanes_apply(s, &(struct lds_operands){o->data, other, NULL}, offsets, op);             \
    }
OFTEN(DEFINE_LOOP)

static bool loop_find(const struct lds_span *s, const struct lds_operands *o,
                      const uint32_t *offsets, const struct atomic_op *op)
{
    switch (ATOMIC_KEY(op->kind, op->type, op->bytes)) {
#define CASE(name, of, size)                                                                       \
    case ATOMIC_KEY(ATOMIC_##name, ATOMIC_##of, size):                                             \
        loop_##name##_##of##_##size(s, o, offsets);                                                \
        return true;
        OFTEN(CASE)
    default:
        return false;
    }
}

void lds_atomic(const struct lds_span *s, const struct lds_operands *o, const struct atomic_op *op)
{
    lane_row offsets;
    if (lds_rows_offsets(s, op->bytes, offsets) && o->data && loop_find(s, o, offsets, op))
        return;
    for (uint64_t left = s->lanes; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        const bool inside = (uint64_t)offsets[lane] + op->bytes <= s->lds_bytes;
        lane_apply(s, o, lane, offsets[lane], inside, *op);
    }
}
