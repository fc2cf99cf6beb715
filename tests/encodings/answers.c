/*
 * What the software GPU makes of encodings: reads lines of a generation's number and one to three
 * dwords in hexadecimal, and answers each with a line of the mnemonic and "executes", "faults" or
 * "unknown": decoded and with a handler, decoded without one, not decoded.
 */
#include <stdio.h>
#include <stdlib.h>

#include "isa/decode.h"
#include "wave/group.h"

static void answer(enum gpu_gen gen, const uint32_t *words, size_t count)
{
    struct inst inst, illegal = {.op = OP_INVALID};
    inst_exec_fn *none = wave_handlers.find(&illegal);
    if (isa_decode(gen, words, count, &inst) != (int)count) {
        printf("- unknown\n");
        return;
    }
    printf("%s %s\n", isa_op_names[inst.op],
           wave_handlers.find(&inst) == none ? "faults" : "executes");
}

int main(void)
{
    char line[128];
    while (fgets(line, sizeof line, stdin)) {
        uint32_t words[3];
        char *at = line;
        unsigned gen = (unsigned)strtoul(at, &at, 10);
        size_t count = 0;
        for (char *end = at; count < 3; count++, at = end) {
            words[count] = (uint32_t)strtoul(at, &end, 16);
            if (end == at)
                break;
        }
        if (gen >= GPU_GEN_COUNT || count == 0)
            return 2;
        answer((enum gpu_gen)gen, words, count);
    }
    return 0;
}
