#include "intercept/marker/marker.h"

#include <stdatomic.h>
#include <stddef.h>

#include <rocprofiler-sdk-roctx/api_trace.h>
#include <rocprofiler-sdk/marker.h>

#include "base/log.h"
#include "model/trace.h"

#include "marker_wrappers.inc"

static const struct slot {
    unsigned table;
    size_t offset;
    enum trace_domain domain;
    int32_t operation;
    void *wrapper;
    void **next;
} slots[] = {
#define X(table, type, member, domain, operation, function)                                        \
    {table,     offsetof(type, member),   domain,                                                  \
     operation, (void *)&wrap_##function, (void **)&next_##function},
    MARKER_FUNCTIONS(X)
#undef X
};

/* A table says how long it is: one from an older library may lack the last slots. */
static void **slot_find(const struct slot *slot, void **api_tables)
{
    char *table = api_tables[slot->table];
    uint64_t size_bytes = *(const uint64_t *)(const void *)table;
    return slot->offset + sizeof(void *) <= size_bytes ? (void **)(void *)(table + slot->offset)
                                                       : NULL;
}

bool intercept_marker_install(void **api_tables, uint64_t runtime_version)
{
    static atomic_flag installed = ATOMIC_FLAG_INIT; /* session offers from any thread */
    (void)runtime_version;
    if (atomic_flag_test_and_set(&installed)) {
        log_warning("marker", "a second copy of the marker library is not traced");
        return false;
    }
    bool any = false;
    for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        void **slot = slot_find(&slots[i], api_tables);
        if (!slot || !*slot || !trace_is_configured(slots[i].domain, slots[i].operation))
            continue;
        *slots[i].next = *slot;
        *slot = slots[i].wrapper;
        any = true;
    }
    return any;
}
