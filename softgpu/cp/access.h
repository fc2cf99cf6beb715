/*
 * How the packet processors touch memory: always through the device's page table, and a bad
 * address is remembered instead of raised, because the driver may only be called after the read
 * section is over (vm_unmap waits for readers while it holds the driver's locks).
 */
#ifndef CP_ACCESS_H
#define CP_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "mem/vm.h"

struct access {
    struct vm_reader reader;
    uint64_t fault_va;   /* of the last failed access */
    uint32_t fault_kind; /* VM_READ, VM_WRITE or VM_EXEC */
};

/* NULL is a fault; it is remembered. */
void *access_pointer(struct access *access, uint64_t va, uint32_t size_bytes, uint32_t kind);
/* Host address of `va` and in *run_bytes, which says how many are wanted, how many of them follow
 * there; NULL is a fault. */
void *access_run(struct access *access, uint64_t va, uint32_t kind, uint64_t *run_bytes);
/* The same for one naturally aligned word: a misaligned address is a fault too. */
void *access_word(struct access *access, uint64_t va, uint32_t size_bytes, uint32_t kind);

bool access_read(struct access *access, uint64_t va, void *to, uint32_t size_bytes);
bool access_load32(struct access *access, uint64_t va, uint32_t *value);
bool access_load64(struct access *access, uint64_t va, uint64_t *value);
/* Release stores: everything this thread wrote before is visible to who reads the value. */
bool access_store32(struct access *access, uint64_t va, uint32_t value);
bool access_store64(struct access *access, uint64_t va, uint64_t value);

/* Copies and fills any size across ranges, at host memcpy speed. On a fault the part before the
 * bad page is done, as on the hardware. */
bool access_copy(struct access *access, uint64_t to, uint64_t from, uint64_t size_bytes);
bool access_fill32(struct access *access, uint64_t to, uint32_t pattern, uint64_t size_bytes);

/* L2 atomic operation `op` (the numbering PM4 ATOMIC_MEM and SDMA ATOMIC share: bit 5 64-bit, bit
 * 6 no return value). */
enum atomic_status { ATOMIC_DONE, ATOMIC_FAULT, ATOMIC_UNKNOWN };
enum atomic_status access_atomic(struct access *access, uint32_t op, uint64_t va, uint64_t source,
                                 uint64_t compare, uint64_t *old);

/* Comparison functions of WAIT_REG_MEM and POLL_REGMEM: 0 always, 1 <, 2 <=, 3 ==, 4 !=, 5 >=,
 * 6 >; unsigned. */
bool access_compare(uint32_t function, uint64_t value, uint64_t reference);

#endif
