// Collectives of RCCL as the host sees them: kinds, types and operations, random ones, and what is
// to come of them.
#pragma once

#include "sweep.h"

enum { RCCL_DEVICES_MAX = 8, RCCL_TYPES = 12 };
enum { RCCL_SCALAR = 3 };                     // what RCCL_PREMULSUM multiplies by
enum { RCCL_COLLECTIVE_BYTES_MAX = 5 << 20 }; // of each side

typedef struct rccl_type {
    const char *name;
    size_t size;
    bool is_signed;
    int exponent_bits, mantissa_bits; // 0: whole numbers
} rccl_type_t;

enum {
    RCCL_SUM, // as in ncclRedOp_t
    RCCL_PRODUCT,
    RCCL_MAXIMUM,
    RCCL_MINIMUM,
    RCCL_AVERAGE,
    RCCL_PREMULSUM, // each rank makes its own
    RCCL_OPERATIONS
};

typedef struct rccl_kind {
    const char *name;
    bool reduces, can_be_in_place;
    bool sends_to_each, receives_from_each; // `count` elements for each rank
    bool root_receives;                     // nobody else does
} rccl_kind_t;

enum {
    RCCL_ALL_REDUCE,
    RCCL_REDUCE,
    RCCL_BROADCAST,
    RCCL_ALL_GATHER,
    RCCL_REDUCE_SCATTER,
    RCCL_ALL_TO_ALL,
    RCCL_ALL_TO_ALL_V,
    RCCL_GATHER,
    RCCL_SCATTER,
    RCCL_SEND_RECEIVE,
    RCCL_KINDS
};

extern const rccl_type_t RCCL_TYPE_ROWS[RCCL_TYPES]; // in the order of ncclDataType_t
extern const rccl_kind_t RCCL_KIND_ROWS[RCCL_KINDS];
extern const char *const RCCL_OPERATION_NAMES[RCCL_OPERATIONS];

typedef struct rccl_collective {
    int kind, type, operation, root, devices;
    bool in_place;
    size_t count;
    size_t base, bytes;                 // its part of each side
    size_t send_offset, receive_offset; // in it, bytes
    uint64_t seed;                      // of its numbers
    uint64_t limit;                     // how large they get
    int premulsum[RCCL_DEVICES_MAX];    // each rank's operation
    // AllToAllv: sent[from][to], received[to][from], and where they lie, in elements
    size_t sent[RCCL_DEVICES_MAX][RCCL_DEVICES_MAX];
    size_t send_at[RCCL_DEVICES_MAX][RCCL_DEVICES_MAX];
    size_t received[RCCL_DEVICES_MAX][RCCL_DEVICES_MAX];
    size_t receive_at[RCCL_DEVICES_MAX][RCCL_DEVICES_MAX];
} rccl_collective_t;

// A random one, whose part of the sides begins at `base`.
void rccl_choose(rccl_collective_t *it, sweep_random_t *random, int devices, size_t base);
const rccl_type_t *rccl_type_of(const rccl_collective_t *it);
const rccl_kind_t *rccl_kind_of(const rccl_collective_t *it);
// Where a rank's numbers begin on their side.
size_t rccl_send_place(const rccl_collective_t *it, int rank);
size_t rccl_receive_place(const rccl_collective_t *it, int rank);
uint64_t rccl_scalar_bits(const rccl_collective_t *it);
// Puts what a rank sends into its send side.
void rccl_input_make(const rccl_collective_t *it, int rank, unsigned char *side);
// Puts what a rank is to receive into a copy of the side that it receives on; `sent` are all ranks'
// send sides. Nothing else may change.
void rccl_output_expect(const rccl_collective_t *it, unsigned char *const *sent, int rank,
                        unsigned char *expected);
