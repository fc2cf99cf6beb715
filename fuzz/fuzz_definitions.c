/* YAML counter definitions of either schema. */
#include <stdint.h>
#include <stdlib.h>

#include "counters/definition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct definition_set *set = definitions_create();
    uint32_t count;
    setenv("CROC_LOG_LEVEL", "error", 1);
    definitions_load_yaml(set, "fuzz", (const char *)data, size);
    const struct counter_definition *all = definitions_all(set, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!all[i].name || !all[i].architectures || !all[i].block == !all[i].expression)
            abort();
    }
    definitions_destroy(set);
    return 0;
}
