#include "runtime/work.h"

#include <stdatomic.h>

/* A bit for each row. Writers: whoever installs (release, after the tables). Readers: any
 * (acquire), also one that ends the process while a thread holds any lock. */
static _Atomic uint32_t begun;
_Static_assert(RUNTIME_KINDS <= 32, "a bit for each");

void runtime_work_begin(const struct runtime_row *row)
{
    atomic_fetch_or_explicit(&begun, 1u << (row - runtime_rows), memory_order_release);
}

static const struct runtime_ops *ops_of(uint32_t kind)
{
    static const struct runtime_ops none;
    uint32_t now = atomic_load_explicit(&begun, memory_order_acquire);
    return now >> kind & 1 && runtime_rows[kind].ops ? runtime_rows[kind].ops : &none;
}

void runtimes_work_collect(void)
{
    for (uint32_t kind = 0; kind < RUNTIME_KINDS; kind++)
        if (ops_of(kind)->work_collect)
            ops_of(kind)->work_collect();
}

bool runtimes_work_wait(void)
{
    bool complete = true;
    for (uint32_t kind = 0; kind < RUNTIME_KINDS; kind++)
        if (ops_of(kind)->work_wait)
            complete &= ops_of(kind)->work_wait();
    return complete;
}

void runtimes_work_drain(void)
{
    for (uint32_t kind = 0; kind < RUNTIME_KINDS; kind++)
        if (ops_of(kind)->work_drain)
            ops_of(kind)->work_drain();
}

void runtimes_objects_unload(void)
{
    for (uint32_t kind = 0; kind < RUNTIME_KINDS; kind++)
        if (ops_of(kind)->objects_unload)
            ops_of(kind)->objects_unload();
}

void runtimes_objects_announce(void (*tell)(int32_t operation, void *payload, void *data),
                               void *data)
{
    for (uint32_t kind = 0; kind < RUNTIME_KINDS; kind++)
        if (ops_of(kind)->objects_announce)
            ops_of(kind)->objects_announce(tell, data);
}
