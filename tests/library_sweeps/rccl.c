#include "rccl.h"

#include <math.h>
#include <string.h>

enum { COUNT_BITS_MAX = 16, OFFSET_MAX = 31, GUARD_BYTES = 256, PAGE_BYTES = 4096 };

const rccl_type_t RCCL_TYPE_ROWS[RCCL_TYPES] = {
    {"i8", 1, true, 0, 0},   {"u8", 1, false, 0, 0},    {"i32", 4, true, 0, 0},
    {"u32", 4, false, 0, 0}, {"i64", 8, true, 0, 0},    {"u64", 8, false, 0, 0},
    {"f16", 2, true, 5, 10}, {"f32", 4, true, 8, 23},   {"f64", 8, true, 11, 52},
    {"bf16", 2, true, 8, 7}, {"f8e4m3", 1, true, 4, 3}, {"f8e5m2", 1, true, 5, 2},
};

const char *const RCCL_OPERATION_NAMES[RCCL_OPERATIONS] = {"sum", "prod", "max",
                                                           "min", "avg",  "premulsum"};

const rccl_kind_t RCCL_KIND_ROWS[RCCL_KINDS] = {
    [RCCL_ALL_REDUCE] = {"AllReduce", .reduces = true, .can_be_in_place = true},
    [RCCL_REDUCE] = {"Reduce", .reduces = true, .can_be_in_place = true, .root_receives = true},
    [RCCL_BROADCAST] = {"Broadcast", .can_be_in_place = true},
    [RCCL_ALL_GATHER] = {"AllGather", .can_be_in_place = true, .receives_from_each = true},
    [RCCL_REDUCE_SCATTER] = {"ReduceScatter", .reduces = true, .can_be_in_place = true,
                             .sends_to_each = true},
    [RCCL_ALL_TO_ALL] = {"AllToAll", .sends_to_each = true, .receives_from_each = true},
    [RCCL_ALL_TO_ALL_V] = {"AllToAllv", .sends_to_each = true, .receives_from_each = true},
    [RCCL_GATHER] = {"Gather", .receives_from_each = true, .root_receives = true},
    [RCCL_SCATTER] = {"Scatter", .sends_to_each = true},
    [RCCL_SEND_RECEIVE] = {"Send/Recv"}, // around the ring
};

static size_t between(sweep_random_t *random, size_t low, size_t high)
{
    return (size_t)sweep_random_between(random, (int)low, (int)high);
}

static bool one_of(sweep_random_t *random, size_t many)
{
    return between(random, 1, many) == 1;
}

const rccl_type_t *rccl_type_of(const rccl_collective_t *it)
{
    return &RCCL_TYPE_ROWS[it->type];
}

const rccl_kind_t *rccl_kind_of(const rccl_collective_t *it)
{
    return &RCCL_KIND_ROWS[it->kind];
}

static bool is_float(const rccl_collective_t *it)
{
    return rccl_type_of(it)->exponent_bits > 0;
}

// How large numbers may be so that every sum of all ranks is exact, whatever its order, and
// averages of whole numbers do not depend on how their sums wrap around.
static uint64_t numbers_limit(const rccl_collective_t *it)
{
    const uint64_t devices = (uint64_t)it->devices;
    if (!is_float(it))
        return 120 / devices;
    const uint64_t exact = UINT64_C(2) << rccl_type_of(it)->mantissa_bits;
    const bool chosen = it->operation == RCCL_MAXIMUM || it->operation == RCCL_MINIMUM;
    return chosen ? exact : exact / (RCCL_SCALAR * devices);
}

static void operation_choose(sweep_random_t *random, rccl_collective_t *it)
{
    it->operation = (int)between(random, RCCL_SUM, RCCL_PREMULSUM);
    // RCCL's own sums of them are wrong (README.md).
    if (is_float(it) && rccl_type_of(it)->size == 1)
        it->operation = one_of(random, 2) ? RCCL_MAXIMUM : RCCL_MINIMUM;
    // A third is no float.
    if (it->operation == RCCL_AVERAGE && is_float(it) && (it->devices & (it->devices - 1)))
        it->operation = RCCL_SUM;
    it->limit = numbers_limit(it);
}

static void all_to_all_v_choose(sweep_random_t *random, rccl_collective_t *it)
{
    for (int from = 0; from < it->devices; from++) {
        for (int to = 0; to < it->devices; to++) {
            it->sent[from][to] = one_of(random, 4) ? 0 : between(random, 0, it->count);
            it->received[to][from] = it->sent[from][to];
        }
    }
    for (int rank = 0; rank < it->devices; rank++) {
        for (int other = 1; other < it->devices; other++) {
            it->send_at[rank][other] = it->send_at[rank][other - 1] + it->sent[rank][other - 1];
            it->receive_at[rank][other] =
                it->receive_at[rank][other - 1] + it->received[rank][other - 1];
        }
    }
}

static size_t offset_choose(sweep_random_t *random, const rccl_collective_t *it)
{
    return GUARD_BYTES +
           (one_of(random, 2) ? 0 : between(random, 0, OFFSET_MAX) * rccl_type_of(it)->size);
}

void rccl_choose(rccl_collective_t *it, sweep_random_t *random, int devices, size_t base)
{
    *it = (rccl_collective_t){.devices = devices, .base = base};
    it->seed = sweep_random_next(random);
    it->kind = (int)between(random, 0, RCCL_KINDS - 1);
    it->type = (int)between(random, 0, RCCL_TYPES - 1);
    it->root = (int)between(random, 0, (size_t)it->devices - 1);
    it->count = between(random, 1, (size_t)1 << between(random, 0, COUNT_BITS_MAX));
    it->in_place = rccl_kind_of(it)->can_be_in_place && one_of(random, 2);
    it->send_offset = offset_choose(random, it);
    it->receive_offset = offset_choose(random, it);
    if (rccl_kind_of(it)->reduces)
        operation_choose(random, it);
    all_to_all_v_choose(random, it);
    const size_t elements = it->count * (size_t)it->devices + 2 * (OFFSET_MAX + 1);
    const size_t pages = (GUARD_BYTES + elements * rccl_type_of(it)->size) / PAGE_BYTES + 1;
    it->bytes = pages * PAGE_BYTES;
}

size_t rccl_send_place(const rccl_collective_t *it, int rank)
{
    const size_t block = it->count * rccl_type_of(it)->size;
    const bool inside = it->in_place && it->kind == RCCL_ALL_GATHER;
    return it->base + it->send_offset + (inside ? (size_t)rank * block : 0);
}

size_t rccl_receive_place(const rccl_collective_t *it, int rank)
{
    const size_t block = it->count * rccl_type_of(it)->size;
    if (!it->in_place)
        return it->base + it->receive_offset;
    return it->base + it->send_offset +
           (it->kind == RCCL_REDUCE_SCATTER ? (size_t)rank * block : 0);
}

// A small whole number's bits. The 8-bit types are taken for OCP's: where they are AMD's older ones
// the same bits are half of the number, which maximum and minimum do not mind.
static uint64_t float_bits(const rccl_type_t *type, double number)
{
    if (number == 0)
        return 0;
    int exponent;
    const double fraction = frexp(fabs(number), &exponent);
    const uint64_t sign = number < 0;
    const int biased = exponent - 1 + (1 << (type->exponent_bits - 1)) - 1;
    const uint64_t mantissa = (uint64_t)ldexp(2 * fraction - 1, type->mantissa_bits);
    return (sign << type->exponent_bits | (uint64_t)biased) << type->mantissa_bits | mantissa;
}

static uint64_t element_bits(const rccl_collective_t *it, uint64_t number)
{
    return is_float(it) ? float_bits(rccl_type_of(it), (double)(int64_t)number) : number;
}

uint64_t rccl_scalar_bits(const rccl_collective_t *it)
{
    return element_bits(it, RCCL_SCALAR);
}

static uint64_t random_bits(const rccl_collective_t *it, int rank, size_t index)
{
    sweep_random_t random = {.state = it->seed + ((uint64_t)rank << 40) + index};
    return sweep_random_next(&random);
}

// A number that is to be reduced, in two's complement and as wide as it gets. Whole ones may be
// anything and wrap around; no product has a factor of 0, whose sign would depend on the order.
static uint64_t input_number(const rccl_collective_t *it, int rank, size_t index)
{
    static const int FACTORS[] = {-2, -1, 1, 2};
    const rccl_type_t *type = rccl_type_of(it);
    const uint64_t bits = random_bits(it, rank, index);
    const int unused = 64 - 8 * (int)type->size;
    if (is_float(it))
        return it->operation == RCCL_PRODUCT ? (uint64_t)FACTORS[bits % 4]
                                             : bits % (2 * it->limit + 1) - it->limit;
    if (it->operation == RCCL_AVERAGE)
        return bits % (it->limit + 1);
    return type->is_signed ? (uint64_t)((int64_t)(bits << unused) >> unused)
                           : bits << unused >> unused;
}

static uint64_t numbers_reduce(const rccl_collective_t *it, uint64_t a, uint64_t b)
{
    const bool less = rccl_type_of(it)->is_signed ? (int64_t)a < (int64_t)b : a < b;
    switch (it->operation) {
    case RCCL_PRODUCT:
        return a * b;
    case RCCL_MAXIMUM:
        return less ? b : a;
    case RCCL_MINIMUM:
        return less ? a : b;
    default:
        return a + b;
    }
}

static uint64_t reduced_bits(const rccl_collective_t *it, size_t index)
{
    uint64_t number = input_number(it, 0, index);
    for (int rank = 1; rank < it->devices; rank++)
        number = numbers_reduce(it, number, input_number(it, rank, index));
    if (it->operation == RCCL_PREMULSUM)
        number *= RCCL_SCALAR;
    if (it->operation != RCCL_AVERAGE)
        return element_bits(it, number);
    return is_float(it) ? float_bits(rccl_type_of(it), (double)(int64_t)number / it->devices)
                        : number / (uint64_t)it->devices;
}

void rccl_input_make(const rccl_collective_t *it, int rank, unsigned char *side)
{
    const size_t size = rccl_type_of(it)->size;
    const size_t count =
        rccl_kind_of(it)->sends_to_each ? it->count * (size_t)it->devices : it->count;
    unsigned char *to = side + rccl_send_place(it, rank);
    for (size_t i = 0; i < count; i++) {
        // What is only moved may have any bits.
        const uint64_t bits = rccl_kind_of(it)->reduces
                                  ? element_bits(it, input_number(it, rank, i))
                                  : random_bits(it, rank, i);
        memcpy(to + i * size, &bits, size);
    }
}

// Which elements of what a rank sends become which of what another receives.
typedef struct piece {
    size_t first, to, count;
} piece_t;

static piece_t piece_of(const rccl_collective_t *it, int from, int to)
{
    const size_t count = it->count, sender = (size_t)from, receiver = (size_t)to;
    switch (it->kind) {
    case RCCL_BROADCAST:
        return (piece_t){0, 0, from == it->root ? count : 0};
    case RCCL_ALL_GATHER:
    case RCCL_GATHER:
        return (piece_t){0, sender * count, count};
    case RCCL_ALL_TO_ALL:
        return (piece_t){receiver * count, sender * count, count};
    case RCCL_SCATTER:
        return (piece_t){receiver * count, 0, from == it->root ? count : 0};
    case RCCL_SEND_RECEIVE:
        return (piece_t){0, 0, (from + 1) % it->devices == to ? count : 0};
    default:
        return (piece_t){it->send_at[from][to], it->receive_at[to][from], it->sent[from][to]};
    }
}

void rccl_output_expect(const rccl_collective_t *it, unsigned char *const *sent, int rank,
                        unsigned char *expected)
{
    const size_t size = rccl_type_of(it)->size;
    unsigned char *to = expected + rccl_receive_place(it, rank);
    if (rccl_kind_of(it)->root_receives && rank != it->root)
        return;
    if (rccl_kind_of(it)->reduces) {
        const size_t first = it->kind == RCCL_REDUCE_SCATTER ? (size_t)rank * it->count : 0;
        for (size_t i = 0; i < it->count; i++) {
            const uint64_t bits = reduced_bits(it, first + i);
            memcpy(to + i * size, &bits, size);
        }
        return;
    }
    for (int from = 0; from < it->devices; from++) {
        const piece_t piece = piece_of(it, from, rank);
        memcpy(to + piece.to * size, sent[from] + rccl_send_place(it, from) + piece.first * size,
               piece.count * size);
    }
}
