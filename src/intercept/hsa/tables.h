/*
 * The runtime's API tables as arrays of slots. Which function sits in which slot depends on the
 * runtime's generation (data/api/hsa_*.api); a slot is only touched when the table, by its own
 * stated size, has it.
 */
#ifndef INTERCEPT_HSA_TABLES_H
#define INTERCEPT_HSA_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "hsa_functions.h"

enum hsa_table {
#define X(table, place, ...) HSA_TABLE_##table = place,
    HSA_TABLES(X)
#undef X
        HSA_TABLE_COUNT
};

enum hsa_function {
#define X(name, ...) HSA_FN_##name,
    HSA_FUNCTIONS(X)
#undef X
        HSA_FN_COUNT
};

struct hsa_tables {
    struct {
        void **slots; /* NULL: the runtime has no such table */
        uint32_t count;
        uint32_t major, step;
    } table[HSA_TABLE_COUNT];
};

/* False when it does not look like a root table of any known generation. */
bool hsa_tables_read(struct hsa_tables *tables, void *api_table);

/* NULL when this runtime has no such function. */
void **hsa_tables_slot(const struct hsa_tables *tables, enum hsa_function function);

#endif
