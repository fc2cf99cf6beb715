#include "cp/access.h"

#include <stdatomic.h>
#include <string.h>

#include "mem/single_copy.h"

enum { SINGLE_COPY_BYTES = 64 };

static bool access_failed(struct access *access, uint64_t va, uint32_t kind)
{
    access->fault_va = va;
    access->fault_kind = kind;
    return false;
}

void *access_pointer(struct access *access, uint64_t va, uint32_t size_bytes, uint32_t kind)
{
    void *host = vm_translate(&access->reader, va, size_bytes, kind);
    if (!host)
        access_failed(access, va, kind);
    return host;
}

void *access_word(struct access *access, uint64_t va, uint32_t size_bytes, uint32_t kind)
{
    if (va % size_bytes == 0)
        return access_pointer(access, va, size_bytes, kind);
    access_failed(access, va, kind);
    return NULL;
}

#define ACCESS_WORD(bits)                                                                          \
    bool access_load##bits(struct access *access, uint64_t va, uint##bits##_t *value)              \
    {                                                                                              \
        _Atomic uint##bits##_t *host = access_word(access, va, bits / 8, VM_READ);                 \
        if (!host)                                                                                 \
            return false;                                                                          \
        *value = atomic_load_explicit(host, memory_order_acquire);                                 \
        return true;                                                                               \
    }                                                                                              \
    bool access_store##bits(struct access *access, uint64_t va, uint##bits##_t value)              \
    {                                                                                              \
        _Atomic uint##bits##_t *host = access_word(access, va, bits / 8, VM_WRITE);                \
        if (!host)                                                                                 \
            return false;                                                                          \
        atomic_store_explicit(host, value, memory_order_release);                                  \
        return true;                                                                               \
    }
ACCESS_WORD(32)
ACCESS_WORD(64)

void *access_run(struct access *access, uint64_t va, uint32_t kind, uint64_t *run_bytes)
{
    struct vm_range range;
    if (!vm_range_find_for(&access->reader, va, kind, &range) || (range.flags & kind) != kind) {
        access_failed(access, va, kind);
        return NULL;
    }
    uint64_t left = range.end - va;
    if (left < *run_bytes)
        *run_bytes = left;
    return range.host + (va - range.start);
}

bool access_read(struct access *access, uint64_t va, void *to, uint32_t size_bytes)
{
    uint8_t *out = to;
    while (size_bytes) {
        uint64_t run = size_bytes;
        const uint8_t *host = access_run(access, va, VM_READ, &run);
        if (!host)
            return false;
        memcpy(out, host, run);
        out += run;
        va += run;
        size_bytes -= (uint32_t)run;
    }
    return true;
}

/* Flags and what lies beside them are whole, and in order; programs do copy overlapping ranges. */
static void run_copy(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    uint8_t value[SINGLE_COPY_BYTES];
    if (bytes > sizeof value) {
        memmove(to, from, bytes);
        return;
    }
    single_read(value, from, (uint32_t)bytes);
    single_write(to, value, (uint32_t)bytes);
}

bool access_copy(struct access *access, uint64_t to, uint64_t from, uint64_t size_bytes)
{
    while (size_bytes) {
        uint64_t run = size_bytes;
        const uint8_t *source = access_run(access, from, VM_READ, &run);
        uint8_t *target = source ? access_run(access, to, VM_WRITE, &run) : NULL;
        if (!target)
            return false;
        run_copy(target, source, run);
        to += run;
        from += run;
        size_bytes -= run;
    }
    return true;
}

static void fill_run(uint8_t *host, uint32_t pattern, uint64_t run_bytes)
{
    for (uint64_t at = 0; at + 4 <= run_bytes; at += 4)
        memcpy(host + at, &pattern, 4);
    memcpy(host + (run_bytes & ~3ull), &pattern, run_bytes & 3);
}

bool access_fill32(struct access *access, uint64_t to, uint32_t pattern, uint64_t size_bytes)
{
    while (size_bytes) {
        uint64_t run = size_bytes;
        uint8_t *host = access_run(access, to, VM_WRITE, &run);
        if (!host)
            return false;
        fill_run(host, pattern, run);
        to += run;
        size_bytes -= run;
    }
    return true;
}

bool access_compare(uint32_t function, uint64_t value, uint64_t reference)
{
    switch (function) {
    case 1:
        return value < reference;
    case 2:
        return value <= reference;
    case 3:
        return value == reference;
    case 4:
        return value != reference;
    case 5:
        return value >= reference;
    case 6:
        return value > reference;
    default:
        return true;
    }
}

/* What an atomic stores, given what it found. One body for both widths. */
#define DEFINE_ATOMIC_RESULT(bits)                                                                 \
    static bool atomic_result##bits(uint32_t op, uint##bits##_t old, uint##bits##_t source,        \
                                    uint##bits##_t compare, uint##bits##_t *result)                \
    {                                                                                              \
        switch (op) {                                                                              \
        case 0x07: /* swap */                                                                      \
            *result = source;                                                                      \
            return true;                                                                           \
        case 0x08: /* compare and swap */                                                          \
            *result = old == compare ? source : old;                                               \
            return true;                                                                           \
        case 0x0f:                                                                                 \
            *result = old + source;                                                                \
            return true;                                                                           \
        case 0x10:                                                                                 \
            *result = old - source;                                                                \
            return true;                                                                           \
        case 0x11: /* signed minimum */                                                            \
            *result = (int##bits##_t)old < (int##bits##_t)source ? old : source;                   \
            return true;                                                                           \
        case 0x12:                                                                                 \
            *result = old < source ? old : source;                                                 \
            return true;                                                                           \
        case 0x13: /* signed maximum */                                                            \
            *result = (int##bits##_t)old > (int##bits##_t)source ? old : source;                   \
            return true;                                                                           \
        case 0x14:                                                                                 \
            *result = old > source ? old : source;                                                 \
            return true;                                                                           \
        case 0x15:                                                                                 \
            *result = old & source;                                                                \
            return true;                                                                           \
        case 0x16:                                                                                 \
            *result = old | source;                                                                \
            return true;                                                                           \
        case 0x17:                                                                                 \
            *result = old ^ source;                                                                \
            return true;                                                                           \
        case 0x18: /* increment, wraps to 0 above source */                                        \
            *result = old >= source ? 0 : old + 1;                                                 \
            return true;                                                                           \
        case 0x19: /* decrement, wraps to source */                                                \
            *result = old == 0 || old > source ? source : old - 1;                                 \
            return true;                                                                           \
        default:                                                                                   \
            return false;                                                                          \
        }                                                                                          \
    }                                                                                              \
    static enum atomic_status atomic_run##bits(struct access *access, uint32_t op, uint64_t va,    \
                                               uint64_t source, uint64_t compare, uint64_t *old)   \
    {                                                                                              \
        _Atomic uint##bits##_t *host = access_word(access, va, bits / 8, VM_READ | VM_WRITE);      \
        if (!host)                                                                                 \
            return ATOMIC_FAULT;                                                                   \
        uint##bits##_t found = atomic_load_explicit(host, memory_order_relaxed), result;           \
        do {                                                                                       \
            if (!atomic_result##bits(op, found, (uint##bits##_t)source, (uint##bits##_t)compare,   \
                                     &result))                                                     \
                return ATOMIC_UNKNOWN;                                                             \
        } while (!atomic_compare_exchange_weak_explicit(                                           \
            host, &found, result, memory_order_acq_rel, memory_order_relaxed));                    \
        *old = found;                                                                              \
        return ATOMIC_DONE;                                                                        \
    }

DEFINE_ATOMIC_RESULT(32)
DEFINE_ATOMIC_RESULT(64)

enum atomic_status access_atomic(struct access *access, uint32_t op, uint64_t va, uint64_t source,
                                 uint64_t compare, uint64_t *old)
{
    if (op & 0x20)
        return atomic_run64(access, op & 0x1f, va, source, compare, old);
    return atomic_run32(access, op & 0x1f, va, source, compare, old);
}
