/*
 * An atomic instruction of a wave. Lanes that meet in one place are one access there: the L2 does a
 * request's lanes one behind the other, and programs whose lanes draw numbers rely on nobody's
 * coming between (decision 0010). It takes the host one locked instruction instead of 64, too.
 */
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "wave/atomic_apply.h"
#include "wave/lanes.h"

/* Which of a wave's places are `at`. */
typedef uint64_t meeting_fn(uint8_t *const host[WAVE_LANES], const uint8_t *at);

#ifdef __x86_64__
__attribute__((target("avx512f"))) static uint64_t meeting_avx512(uint8_t *const host[WAVE_LANES],
                                                                  const uint8_t *at)
{
    const __m512i place = _mm512_set1_epi64((long long)(uintptr_t)at);
    uint64_t lanes = 0;
    for (unsigned n = 0; n < WAVE_LANES; n += 8)
        lanes |= (uint64_t)_mm512_cmpeq_epi64_mask(_mm512_loadu_si512(host + n), place) << n;
    return lanes;
}
__attribute__((target("avx2"))) static uint64_t meeting_avx2(uint8_t *const host[WAVE_LANES],
                                                             const uint8_t *at)
{
    const __m256i place = _mm256_set1_epi64x((long long)(uintptr_t)at);
    uint64_t lanes = 0;
    for (unsigned n = 0; n < WAVE_LANES; n += 4) {
        const __m256i these = _mm256_loadu_si256((const __m256i *)(host + n));
        const __m256d equal = _mm256_castsi256_pd(_mm256_cmpeq_epi64(these, place));
        lanes |= (uint64_t)(unsigned)_mm256_movemask_pd(equal) << n;
    }
    return lanes;
}
#endif
static uint64_t meeting_portable(uint8_t *const host[WAVE_LANES], const uint8_t *at)
{
    uint64_t lanes = 0;
    for (unsigned n = 0; n < WAVE_LANES; n++)
        lanes |= (uint64_t)(host[n] == at) << n;
    return lanes;
}

/* What an instruction reads and writes beside memory; `old` may be among its data. */
struct operands {
    const lane_row *data;
    lane_row *old; /* NULL: nothing returns */
};

ALWAYS_INLINE uint64_t lane_compare(const struct operands *o, unsigned lane, struct atomic_op op)
{
    const unsigned words = op.bytes / 4;
    return op.kind == ATOMIC_CMPSWAP ? lane_value(o->data + words, lane, words) : 0;
}

/* What a lane leaves of what it finds. */
ALWAYS_INLINE uint64_t lane_leaves(const struct operands *o, unsigned lane, uint64_t found,
                                   struct atomic_op op)
{
    const uint64_t data = lane_value(o->data, lane, op.bytes / 4);
    const uint64_t left = atomic_value(&op, found, data, lane_compare(o, lane, op));
    return op.bytes == 8 ? left : (uint32_t)left;
}

/* From what the first one finds to what the last one leaves. */
ALWAYS_INLINE uint64_t lanes_leave(const struct operands *o, uint64_t lanes, uint64_t found,
                                   struct atomic_op op)
{
    for (uint64_t left = lanes; left; left &= left - 1)
        found = lane_leaves(o, (unsigned)__builtin_ctzll(left), found, op);
    return found;
}

/* Their sum is added, whatever else is there; all else is tried until nobody came between. */
#define DEFINE_MEET(name, word)                                                                    \
    ALWAYS_INLINE uint64_t name(const struct operands *o, uint64_t lanes, word *host,              \
                                struct atomic_op op)                                               \
    {                                                                                              \
        if (op.kind == ATOMIC_ADD && op.type == ATOMIC_UINT)                                       \
            return __atomic_fetch_add(host, (word)lanes_leave(o, lanes, 0, op), __ATOMIC_ACQ_REL); \
        word old = __atomic_load_n(host, __ATOMIC_ACQUIRE), new;                                   \
        do {                                                                                       \
            new = (word)lanes_leave(o, lanes, old, op);                                            \
        } while (!__atomic_compare_exchange_n(host, &old, new, false, __ATOMIC_ACQ_REL,            \
                                              __ATOMIC_ACQUIRE));                                  \
        return old;                                                                                \
    }
DEFINE_MEET(meet_32, uint32_t)
DEFINE_MEET(meet_64, uint64_t)

/* Each lane finds what the one before it left. */
ALWAYS_INLINE void lanes_meet(const struct operands *o, uint64_t lanes, void *host,
                              struct atomic_op op)
{
    uint64_t found = op.bytes == 8 ? meet_64(o, lanes, host, op) : meet_32(o, lanes, host, op);
    for (uint64_t left = o->old ? lanes : 0; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        const uint64_t leaves = lane_leaves(o, lane, found, op);
        lane_value_put(o->old, lane, op.bytes / 4, found);
        found = leaves;
    }
}

ALWAYS_INLINE void lane_alone(const struct operands *o, unsigned lane, void *host,
                              struct atomic_op op)
{
    const unsigned words = op.bytes / 4;
    uint64_t found = 0;
    if (host)
        found = apply(op, host, lane_value(o->data, lane, words), lane_compare(o, lane, op));
    if (o->old)
        lane_value_put(o->old, lane, words, found);
}

/* Places are looked at as long as the first lane that is left meets others: where it is alone most
 * others are, and a look takes 15 ns. Minima and the like are left out, which mostly change nothing
 * and are loads then. Returns those that are left. */
ALWAYS_INLINE uint64_t lanes_that_meet(const struct lane_pointers *p, const struct operands *o,
                                       meeting_fn *meeting, struct atomic_op op)
{
    uint64_t left = p->lanes;
    while (!may_keep(op) && left & (left - 1)) {
        uint8_t *host = p->host[__builtin_ctzll(left)];
        const uint64_t lanes = meeting(p->host, host) & left;
        if (!host || !(lanes & (lanes - 1)))
            break;
        lanes_meet(o, lanes, host, op);
        left &= ~lanes;
    }
    return left;
}

ALWAYS_INLINE void lanes_apply(const struct lane_pointers *p, const struct operands *o,
                               meeting_fn *meeting, struct atomic_op op)
{
    fence_before(op);
    for (uint64_t left = lanes_that_meet(p, o, meeting, op); left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctzll(left);
        lane_alone(o, lane, p->host[lane], op);
    }
}

/* What programs do most has a loop of its own; the others are found out lane by lane. */
#define OFTEN(X)                                                                                   \
    X(ADD, UINT, 4)                                                                                \
    X(ADD, UINT, 8)                                                                                \
    X(ADD, FLOAT, 4)                                                                               \
    X(ADD, FLOAT, 8)                                                                               \
    X(ADD, PK_F16, 4)                                                                              \
    X(SUB, UINT, 4)                                                                                \
    X(MIN, INT, 4)                                                                                 \
    X(MAX, INT, 4)                                                                                 \
    X(MIN, UINT, 4)                                                                                \
    X(MAX, UINT, 4)                                                                                \
    X(MIN, UINT, 8)                                                                                \
    X(MAX, UINT, 8)                                                                                \
    X(OR, UINT, 4)                                                                                 \
    X(OR, UINT, 8)                                                                                 \
    X(INC, UINT, 4)                                                                                \
    X(DEC, UINT, 4)                                                                                \
    X(AND, UINT, 4)                                                                                \
    X(SWAP, UINT, 4)                                                                               \
    X(CMPSWAP, UINT, 4)                                                                            \
    X(CMPSWAP, UINT, 8)

static meeting_fn *meeting_of_host(void)
{
#ifdef __x86_64__
    if (host_level != LEVEL_PORTABLE)
        return host_level == LEVEL_AVX512 ? meeting_avx512 : meeting_avx2;
#endif
    return meeting_portable;
}

void lanes_atomic(const struct lane_pointers *p, const lane_row *data, lane_row *old,
                  const struct atomic_op *op)
{
    const struct operands operands = {data, old};
    meeting_fn *meeting = meeting_of_host();
    switch (ATOMIC_KEY(op->kind, op->type, op->bytes)) {
#define CASE(name, of, size)                                                                       \
    case ATOMIC_KEY(ATOMIC_##name, ATOMIC_##of, size):                                             \
        lanes_apply(p, &operands, meeting, (struct atomic_op){ATOMIC_##name, ATOMIC_##of, size});  \
        break;
        OFTEN(CASE)
    default:
        lanes_apply(p, &operands, meeting, *op);
        break;
    }
}
