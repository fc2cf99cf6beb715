/* Hostile and good values for every type that the SDK's functions take. Pointers are NULL or point
 * to memory that is large enough: no library survives others. */
#ifndef CONFORMANCE_VALUES_H
#define CONFORMANCE_VALUES_H

#include <crocprof/flush.h>
#include <crocprof/plan.h>
#include <crocprof/quality.h>
#include <rocprofiler-sdk/experimental/counters.h>
#include <rocprofiler-sdk/experimental/registration.h>
#include <rocprofiler-sdk/experimental/thread_trace.h>
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <rocprofiler-sdk/internal_threading.h>
#include <rocprofiler-sdk/ompt.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <rocprofiler-sdk/spm.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t random_state = 88172645463325252u;

static inline uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static inline bool one_in(unsigned n)
{
    return random_next() % n == 0;
}

static inline uint64_t any_number(void)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     7,
                                     63,
                                     64,
                                     4095,
                                     4096,
                                     65535,
                                     INT32_MAX,
                                     UINT32_MAX,
                                     (uint64_t)UINT32_MAX + 1,
                                     INT64_MAX,
                                     (uint64_t)INT64_MAX + 1,
                                     UINT64_MAX - 1,
                                     UINT64_MAX};
    uint64_t choice = random_next() % 24;
    return choice < sizeof edges / sizeof edges[0] ? edges[choice]
           : choice < 20                           ? random_next() % 100
                                                   : random_next();
}

/* Handles that the library gave out; they stay here when they become stale. */
enum { HANDLES_MAX = 64 };
struct handles {
    uint64_t values[HANDLES_MAX];
    unsigned count;
};
static struct handles contexts, buffers, threads, counters, configs, agents, decoders;

static inline void handle_keep(struct handles *handles, uint64_t value)
{
    unsigned at = handles->count < HANDLES_MAX ? handles->count++ : random_next() % HANDLES_MAX;
    handles->values[at] = value;
}

static inline uint64_t handle_of(const struct handles *handles)
{
    if (handles->count == 0 || one_in(3))
        return any_number();
    uint64_t value = handles->values[random_next() % handles->count];
    return one_in(8) ? value + random_next() % 3 - 1 : value;
}

#define HANDLE(type, from) ((type){.handle = handle_of(&from)})
#define CONTEXT            HANDLE(rocprofiler_context_id_t, contexts)
#define BUFFER             HANDLE(rocprofiler_buffer_id_t, buffers)
#define THREAD             HANDLE(rocprofiler_callback_thread_t, threads)
#define COUNTER            HANDLE(rocprofiler_counter_id_t, counters)
#define CONFIG             HANDLE(rocprofiler_counter_config_id_t, configs)
#define AGENT              HANDLE(rocprofiler_agent_id_t, agents)
#define DECODER            HANDLE(rocprofiler_thread_trace_decoder_id_t, decoders)
#define NUMBER             any_number()
#define KIND               ((uint32_t)(one_in(4) ? any_number() : random_next() % 40))
#define OPERATION          ((int32_t)(one_in(4) ? any_number() : random_next() % 600))
#define FLAGS              ((int)any_number())
#define USER_DATA          ((rocprofiler_user_data_t){.value = any_number()})
#define TID                (one_in(2) ? (uint64_t)syscall(SYS_gettid) : any_number())

/* A megabyte of addresses would be a test of memory, not of arguments; counts stay within this. */
enum { SCRATCH_BYTES = 16384 };
static _Alignas(64) unsigned char scratch[SCRATCH_BYTES];

static inline void *zeroed(void)
{
    return one_in(4) ? NULL : memset(scratch, 0, sizeof scratch);
}

static inline void *garbage(void)
{
    for (size_t i = 0; i < sizeof scratch; i += 8) {
        uint64_t value = any_number();
        memcpy(scratch + i, &value, 8);
    }
    return one_in(4) ? NULL : scratch;
}

/* A count that fits the scratch memory, for arrays that the library reads. */
#define COUNT (random_next() % 64)

static inline const char *text(void)
{
    static char longest[5000];
    memset(longest, 'A', sizeof longest - 1);
    static const char *const texts[] = {NULL,
                                        "",
                                        "SQ_WAVES",
                                        "SQ_WAVES+1",
                                        "reduce(SQ_WAVES,sum)",
                                        "((((",
                                        "%s%n",
                                        "\xff\xfe",
                                        "reduce(SQ_WAVES,",
                                        "rocprofiler-sdk:\n  counters: [",
                                        "hsa",
                                        "hip",
                                        "roctx",
                                        longest};
    return texts[random_next() % (sizeof texts / sizeof texts[0])];
}

static inline size_t text_length(void)
{
    return one_in(2) ? 0 : random_next() % 9; /* the shorter ones are cut, none is overrun */
}

#endif
