/* Reads what a gfx9 thread trace says of waves and instructions, from AMD's register headers. */
#ifndef CONFORMANCE_ROCPROFILER_V1_TOKENS_H
#define CONFORMANCE_ROCPROFILER_V1_TOKENS_H

#include <stddef.h>
#include <stdint.h>

/* Added to, trace by trace. */
struct tokens {
    uint64_t begun, ended; /* waves */
    uint64_t lanes;        /* of the waves that began */
    uint64_t valu, salu, smem, vmem_read, vmem_write, lds, branch, other;
    uint64_t markers; /* writes of user data */
    uint64_t broken;  /* bytes behind the last whole token */
};

static inline void tokens_instruction(struct tokens *t, uint32_t type)
{
    uint64_t *const counts[32] = {
        [0] = &t->smem,       [1] = &t->salu,    [2] = &t->vmem_read,  [3] = &t->vmem_write,
        [4] = &t->vmem_write, [5] = &t->valu,    [6] = &t->lds,        [7] = &t->salu,
        [12] = &t->branch,    [13] = &t->branch, [14] = &t->vmem_read, [16] = &t->smem,
        [17] = &t->salu,      [18] = &t->valu};
    uint64_t *count = counts[type] ? counts[type] : &t->other;
    ++*count;
}

static inline void tokens_read(struct tokens *t, const void *data, size_t bytes)
{
    static const uint8_t sizes[16] = {2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6};
    const uint8_t *at = data, *end = at + bytes;
    while (at < end) {
        uint64_t token = 0;
        size_t size = sizes[*at & 15];
        if (size > (size_t)(end - at))
            break;
        for (size_t i = 0; i < size; i++)
            token |= (uint64_t)at[i] << (8 * i);
        at += size;
        switch (token & 15) {
        case 2:
            t->markers++;
            break;
        case 3:
            t->begun++;
            t->lanes += token >> 22 & 0x7f;
            break;
        case 6:
            t->ended++;
            break;
        case 10:
            tokens_instruction(t, token >> 11 & 31);
            break;
        default:
            break;
        }
    }
    t->broken += (uint64_t)(end - at);
}

#endif
