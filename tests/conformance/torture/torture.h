/* The parts of the dispatch torture. Failures print what was expected, and the seed, and end it. */
#ifndef CONFORMANCE_TORTURE_H
#define CONFORMANCE_TORTURE_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern uint64_t torture_seed;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s (seed %llu)\n", __FILE__, __LINE__, #condition,             \
                    (unsigned long long)torture_seed);                                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
#define HSA(call) EXPECT((call) == HSA_STATUS_SUCCESS)

/* Of one thread; xorshift. */
struct dice {
    uint64_t state;
};
static inline uint32_t dice_roll(struct dice *dice, uint32_t sides)
{
    dice->state ^= dice->state << 13;
    dice->state ^= dice->state >> 7;
    dice->state ^= dice->state << 17;
    return (uint32_t)(dice->state >> 20) % sides;
}

/* ---- device.c */
enum { LENGTHS = 4, MEMORY_BYTES = 1 << 16 };
extern hsa_agent_t device_gpu, device_cpu;
extern uint64_t device_kernel;            /* kernel object */
extern void *device_arguments[LENGTHS];   /* of kernels from short to long */
extern void *device_memory, *host_memory; /* MEMORY_BYTES, both see both */
void device_open(const char *object_file);
void device_close(void);

/* ---- oracle.c: numbers of dispatches, and where each must show up */
enum { NUMBERS = 1 << 18, CONTEXTS = 6 };

/* A context's state, as far as is known from outside. */
struct switch_state {
    _Atomic uint32_t changes; /* odd: it is just being started or stopped */
    _Atomic bool on;
};
extern struct switch_state oracle_switches[CONTEXTS];

void oracle_round(void);            /* begins: no number was used */
uint32_t oracle_number(void);       /* another one; the packet is about to be written */
uint32_t oracle_numbers(void);      /* how many were used */
bool oracle_has_numbers(void);      /* many are left */
void oracle_ended(uint32_t number); /* the program knows that it has ended; at most once */
/* It comes after `before` in a queue with one producer; NUMBERS: nothing. */
void oracle_follows(uint32_t number, uint32_t before, bool barrier);
/* A context has seen it; times 0: no times are known. */
void oracle_seen(uint32_t number, uint32_t context, uint64_t start_ns, uint64_t end_ns,
                 uint64_t dispatch_id);
/* Everything has ended and was delivered. `lossy`: contexts that may have lost some. */
void oracle_check(uint32_t lossy);

/* How a dispatch carries its number, 18 bits. */
static inline uint32_t number_grid(uint32_t number)
{
    return 1 + (number & 63);
}
static inline uint32_t number_group_bytes(uint32_t number)
{
    return (number >> 6) * 16;
}
static inline uint32_t number_of(uint32_t grid, uint32_t group_bytes)
{
    return (grid - 1) | group_bytes / 16 << 6;
}

/* ---- tool.c */
void tool_round(struct dice *dice,
                bool quiet);         /* contexts on or off; quiet: callbacks do nothing */
void tool_toggle(struct dice *dice); /* starts or stops one of them */
void tool_flush(void);               /* delivers what has ended */
uint32_t tool_lossy(void);           /* checks the counts of losses, too */
void tool_finalize(void);            /* the tool has enough, in the middle of all */

#endif
