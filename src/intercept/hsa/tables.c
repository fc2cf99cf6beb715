#include "intercept/hsa/tables.h"

#include <stddef.h>
#include <string.h>

/* Every table begins with its version; `minor` is the table's size in bytes. */
struct table_version {
    uint32_t major, minor, step, reserved;
};

enum { TABLE_BYTES_MAX = 65536 };

static const struct function_place {
    uint8_t table;
    int16_t slot1, slot2;
} places[HSA_FN_COUNT] = {
#define X(name, table, slot1, slot2) [HSA_FN_##name] = {HSA_TABLE_##table, slot1, slot2},
    HSA_FUNCTIONS(X)
#undef X
};

/* Of tables of major version 1. Releases between 5.2 and 6.0 inserted slots without changing the
   major version: unless the size is the one that we know, only what lies before the first insertion
   is sure to be where we think. */
static const struct {
    uint32_t slots_known, slots_stable;
} first_generation[HSA_TABLE_COUNT] = {
#define X(table, place, known, stable) [place] = {known, stable},
    HSA_TABLES(X)
#undef X
};

static uint32_t slots_of(const struct table_version *version)
{
    if (version->minor < sizeof *version || version->minor > TABLE_BYTES_MAX)
        return 0;
    return (uint32_t)((version->minor - sizeof *version) / sizeof(void *));
}

bool hsa_tables_read(struct hsa_tables *tables, void *api_table)
{
    struct table_version *root = api_table;
    void **members = (void **)(void *)(root + 1);
    memset(tables, 0, sizeof *tables);
    if (!root || root->major == 0 || slots_of(root) <= HSA_TABLE_CORE)
        return false;
    for (uint32_t i = 0; i < HSA_TABLE_COUNT && i < slots_of(root); i++) {
        struct table_version *version = members[i];
        if (!version)
            continue;
        tables->table[i].slots = (void **)(void *)(version + 1);
        tables->table[i].count = slots_of(version);
        tables->table[i].major = version->major;
        tables->table[i].step = version->step;
    }
    return tables->table[HSA_TABLE_CORE].count > 0;
}

void **hsa_tables_slot(const struct hsa_tables *tables, enum hsa_function function)
{
    const struct function_place *place = &places[function];
    uint32_t t = place->table;
    uint32_t count = tables->table[t].count;
    bool first = tables->table[t].major == 1;
    int slot = first ? place->slot1 : place->slot2;
    if (first && count != first_generation[t].slots_known &&
        count > first_generation[t].slots_stable)
        count = first_generation[t].slots_stable;
    return slot >= 0 && (uint32_t)slot < count ? &tables->table[t].slots[slot] : NULL;
}
