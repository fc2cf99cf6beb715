// rccl_sweep DEVICES FIRST COUNT: random collectives of RCCL, one to three for each seed, on
// several GPUs of one process, against the host. Every result is exact, so any other bit is a
// failure.
#include "rccl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLLECTIVES_MAX = 3, ARRAY_BYTES = COLLECTIVES_MAX * RCCL_COLLECTIVE_BYTES_MAX };

#define HIP_CALLS(X)                                                                               \
    X(hipSetDevice, int)                                                                           \
    X(hipMalloc, void **, size_t)                                                                  \
    X(hipMemcpy, void *, const void *, size_t, int)                                                \
    X(hipStreamCreate, void **)                                                                    \
    X(hipStreamSynchronize, void *)                                                                \
    X(hipStreamBeginCapture, void *, int)                                                          \
    X(hipStreamEndCapture, void *, void **)                                                        \
    X(hipGraphInstantiate, void **, void *, void **, char *, size_t)                               \
    X(hipGraphLaunch, void *, void *)                                                              \
    X(hipGraphExecDestroy, void *)                                                                 \
    X(hipGraphDestroy, void *)
// As RCCL has them, with its types as numbers and communicators and streams as pointers.
#define RCCL_CALLS(X)                                                                              \
    X(ncclCommInitAll, void **, int, const int *)                                                  \
    X(ncclCommDestroy, void *)                                                                     \
    X(ncclGroupStart, void)                                                                        \
    X(ncclGroupEnd, void)                                                                          \
    X(ncclRedOpCreatePreMulSum, int *, void *, int, int, void *)                                   \
    X(ncclRedOpDestroy, int, void *)                                                               \
    X(ncclAllReduce, const void *, void *, size_t, int, int, void *, void *)                       \
    X(ncclReduce, const void *, void *, size_t, int, int, int, void *, void *)                     \
    X(ncclBroadcast, const void *, void *, size_t, int, int, void *, void *)                       \
    X(ncclAllGather, const void *, void *, size_t, int, void *, void *)                            \
    X(ncclReduceScatter, const void *, void *, size_t, int, int, void *, void *)                   \
    X(ncclAllToAll, const void *, void *, size_t, int, void *, void *)                             \
    X(ncclAllToAllv, const void *, const size_t *, const size_t *, void *, const size_t *,         \
      const size_t *, int, void *, void *)                                                         \
    X(ncclGather, const void *, void *, size_t, int, int, void *, void *)                          \
    X(ncclScatter, const void *, void *, size_t, int, int, void *, void *)                         \
    X(ncclSend, const void *, size_t, int, int, void *, void *)                                    \
    X(ncclRecv, void *, size_t, int, int, void *, void *)

#define CALL_FIELD(name, ...)     int (*name)(__VA_ARGS__);
#define CALL_FIND_HIP(name, ...)  calls.name = (int (*)(__VA_ARGS__))sweep_hip_function(#name);
#define CALL_FIND_RCCL(name, ...) calls.name = (int (*)(__VA_ARGS__))sweep_function(library, #name);
#define CALL(name, ...)           call_check(calls.name(__VA_ARGS__), #name)

static struct {
    HIP_CALLS(CALL_FIELD)
    RCCL_CALLS(CALL_FIELD)
} calls;

enum { GROUP_EACH, GROUP_ALL, THREADS, GRAPH, LAUNCHES };
static const char *const LAUNCH_NAMES[LAUNCHES] = {"a group each", "one group", "threads", "graph"};

enum { SEND_SIDE, RECEIVE_SIDE, SIDES };

// What the sides of each rank hold before.
static unsigned char *before[SIDES][RCCL_DEVICES_MAX];

typedef struct rank {
    void *communicator, *stream, *graph, *graph_run;
    unsigned char *device[SIDES];
} rank_t;

typedef struct case_of {
    sweep_random_t random;
    int seed, devices, launch, count;
    rank_t *ranks;
    rccl_collective_t collectives[COLLECTIVES_MAX];
    size_t bytes; // of each side
} case_t;

typedef struct rank_thread {
    pthread_t thread;
    const case_t *of;
    int rank;
} rank_thread_t;

// What runs in a rank's thread ends the process, too, while the others wait for it.
static void call_check(int status, const char *name)
{
    if (status == 0)
        return;
    printf("%s: error %d\n", name, status);
    fflush(stdout);
    _Exit(1);
}

static void collective_call(const rccl_collective_t *it, rank_t *ranks, int rank)
{
    void *comm = ranks[rank].communicator, *stream = ranks[rank].stream;
    const void *send = ranks[rank].device[SEND_SIDE] + rccl_send_place(it, rank);
    void *receive =
        ranks[rank].device[it->in_place ? SEND_SIDE : RECEIVE_SIDE] + rccl_receive_place(it, rank);
    const size_t count = it->count;
    const int type = it->type, root = it->root, next = (rank + 1) % it->devices;
    const int previous = (rank + it->devices - 1) % it->devices;
    const int operation = it->operation == RCCL_PREMULSUM ? it->premulsum[rank] : it->operation;
    switch (it->kind) {
    case RCCL_ALL_REDUCE:
        return CALL(ncclAllReduce, send, receive, count, type, operation, comm, stream);
    case RCCL_REDUCE:
        return CALL(ncclReduce, send, receive, count, type, operation, root, comm, stream);
    case RCCL_BROADCAST:
        return CALL(ncclBroadcast, send, receive, count, type, root, comm, stream);
    case RCCL_ALL_GATHER:
        return CALL(ncclAllGather, send, receive, count, type, comm, stream);
    case RCCL_REDUCE_SCATTER:
        return CALL(ncclReduceScatter, send, receive, count, type, operation, comm, stream);
    case RCCL_ALL_TO_ALL:
        return CALL(ncclAllToAll, send, receive, count, type, comm, stream);
    case RCCL_ALL_TO_ALL_V:
        return CALL(ncclAllToAllv, send, it->sent[rank], it->send_at[rank], receive,
                    it->received[rank], it->receive_at[rank], type, comm, stream);
    case RCCL_GATHER:
        return CALL(ncclGather, send, receive, count, type, root, comm, stream);
    case RCCL_SCATTER:
        return CALL(ncclScatter, send, receive, count, type, root, comm, stream);
    default:
        CALL(ncclGroupStart);
        CALL(ncclSend, send, count, type, next, comm, stream);
        CALL(ncclRecv, receive, count, type, previous, comm, stream);
        CALL(ncclGroupEnd);
    }
}

static void *rank_thread_run(void *argument)
{
    const rank_thread_t *thread = argument;
    const case_t *it = thread->of;
    CALL(hipSetDevice, thread->rank);
    for (int k = 0; k < it->count; k++)
        collective_call(&it->collectives[k], it->ranks, thread->rank);
    CALL(hipStreamSynchronize, it->ranks[thread->rank].stream);
    return NULL;
}

static void threads_launch(const case_t *it)
{
    rank_thread_t threads[RCCL_DEVICES_MAX];
    for (int rank = 0; rank < it->devices; rank++) {
        threads[rank] = (rank_thread_t){.of = it, .rank = rank};
        call_check(pthread_create(&threads[rank].thread, NULL, rank_thread_run, &threads[rank]),
                   "pthread_create");
    }
    for (int rank = 0; rank < it->devices; rank++)
        pthread_join(threads[rank].thread, NULL);
}

static void groups_launch(const case_t *it)
{
    for (int k = 0; k < it->count; k++) {
        if (k == 0 || it->launch == GROUP_EACH)
            CALL(ncclGroupStart);
        for (int rank = 0; rank < it->devices; rank++) {
            CALL(hipSetDevice, rank);
            collective_call(&it->collectives[k], it->ranks, rank);
        }
        if (k == it->count - 1 || it->launch == GROUP_EACH)
            CALL(ncclGroupEnd);
    }
}

static void graphs_launch(const case_t *it)
{
    enum { CAPTURE_RELAXED = 2 };
    for (int rank = 0; rank < it->devices; rank++) {
        CALL(hipSetDevice, rank);
        CALL(hipStreamBeginCapture, it->ranks[rank].stream, CAPTURE_RELAXED);
    }
    groups_launch(it);
    for (int rank = 0; rank < it->devices; rank++) {
        rank_t *to = &it->ranks[rank];
        CALL(hipSetDevice, rank);
        CALL(hipStreamEndCapture, to->stream, &to->graph);
        CALL(hipGraphInstantiate, &to->graph_run, to->graph, NULL, NULL, 0);
    }
    for (int rank = 0; rank < it->devices; rank++) {
        CALL(hipSetDevice, rank);
        CALL(hipGraphLaunch, it->ranks[rank].graph_run, it->ranks[rank].stream);
    }
}

static void case_launch(const case_t *it)
{
    if (it->launch == THREADS)
        threads_launch(it);
    else if (it->launch == GRAPH)
        graphs_launch(it);
    else
        groups_launch(it);
    for (int rank = 0; rank < it->devices; rank++) {
        CALL(hipSetDevice, rank);
        CALL(hipStreamSynchronize, it->ranks[rank].stream);
        if (it->launch != GRAPH)
            continue;
        CALL(hipGraphExecDestroy, it->ranks[rank].graph_run);
        CALL(hipGraphDestroy, it->ranks[rank].graph);
    }
}

// The two sides differ in what lies around their numbers, so that too long a copy shows.
static void rank_prepare(case_t *it, int rank)
{
    rank_t *to = &it->ranks[rank];
    CALL(hipSetDevice, rank);
    memset(before[SEND_SIDE][rank], 0x5a, it->bytes);
    memset(before[RECEIVE_SIDE][rank], 0xc3, it->bytes);
    for (int k = 0; k < it->count; k++) {
        rccl_collective_t *collective = &it->collectives[k];
        uint64_t scalar = rccl_scalar_bits(collective);
        rccl_input_make(collective, rank, before[SEND_SIDE][rank]);
        if (collective->operation == RCCL_PREMULSUM)
            CALL(ncclRedOpCreatePreMulSum, &collective->premulsum[rank], &scalar, collective->type,
                 1, to->communicator);
    }
    for (int side = 0; side < SIDES; side++)
        CALL(hipMemcpy, to->device[side], before[side][rank], it->bytes, 1);
}

static void operations_destroy(const case_t *it, int rank)
{
    for (int k = 0; k < it->count; k++) {
        if (it->collectives[k].operation == RCCL_PREMULSUM)
            CALL(ncclRedOpDestroy, it->collectives[k].premulsum[rank],
                 it->ranks[rank].communicator);
    }
}

static bool side_wrong(const case_t *it, int rank, int side)
{
    static unsigned char expected[ARRAY_BYTES], after[ARRAY_BYTES];
    size_t wrong = 0, first = 0, last = 0;
    memcpy(expected, before[side][rank], it->bytes);
    for (int k = 0; k < it->count; k++) {
        if (it->collectives[k].in_place == (side == SEND_SIDE))
            rccl_output_expect(&it->collectives[k], before[SEND_SIDE], rank, expected);
    }
    CALL(hipSetDevice, rank);
    CALL(hipMemcpy, after, it->ranks[rank].device[side], it->bytes, 2);
    for (size_t i = 0; i < it->bytes; i++) {
        if (after[i] == expected[i])
            continue;
        first = wrong++ ? first : i;
        last = i;
    }
    if (wrong)
        printf("  rank %d, %s side: %zu bytes are wrong, %zu (0x%02x, not 0x%02x) to %zu\n", rank,
               side == SEND_SIDE ? "send" : "receive", wrong, first, after[first], expected[first],
               last);
    return wrong != 0;
}

static void case_print(const case_t *it)
{
    printf("seed %d: %s\n", it->seed, LAUNCH_NAMES[it->launch]);
    for (int k = 0; k < it->count; k++) {
        const rccl_collective_t *collective = &it->collectives[k];
        printf("  %s of %zu %s%s%s%s, root %d, sent from %zu, received at %zu\n",
               rccl_kind_of(collective)->name, collective->count, rccl_type_of(collective)->name,
               rccl_kind_of(collective)->reduces ? ", " : "",
               rccl_kind_of(collective)->reduces ? RCCL_OPERATION_NAMES[collective->operation] : "",
               collective->in_place ? ", in place" : "", collective->root,
               rccl_send_place(collective, 0), rccl_receive_place(collective, 0));
    }
    fflush(stdout);
}

static bool case_run(rank_t *ranks, int devices, int seed)
{
    case_t it = {.random.state = (uint64_t)seed * 0x2545f4914f6cdd1du, .seed = seed};
    bool wrong = false;
    it.ranks = ranks;
    it.devices = devices;
    it.launch = sweep_random_between(&it.random, 0, LAUNCHES - 1);
    it.count = sweep_random_between(&it.random, 1, 3) == 1
                   ? sweep_random_between(&it.random, 1, COLLECTIVES_MAX)
                   : 1;
    for (int k = 0; k < it.count; k++) {
        rccl_choose(&it.collectives[k], &it.random, devices, it.bytes);
        it.bytes += it.collectives[k].bytes;
    }
    if (getenv("SWEEP_VERBOSE"))
        case_print(&it);
    for (int rank = 0; rank < devices; rank++)
        rank_prepare(&it, rank);
    case_launch(&it);
    for (int rank = 0; rank < devices; rank++) {
        for (int side = 0; side < SIDES; side++)
            wrong |= side_wrong(&it, rank, side);
        operations_destroy(&it, rank);
    }
    if (wrong)
        case_print(&it);
    return !wrong;
}

static void calls_find(void)
{
    static const char *const NAMES[] = {"librccl.so.1", NULL};
    HIP_CALLS(CALL_FIND_HIP)
    void *library = sweep_library(NAMES);
    RCCL_CALLS(CALL_FIND_RCCL)
}

static void ranks_make(rank_t *ranks, int devices)
{
    void *communicators[RCCL_DEVICES_MAX];
    int numbers[RCCL_DEVICES_MAX];
    for (int rank = 0; rank < devices; rank++)
        numbers[rank] = rank;
    CALL(ncclCommInitAll, communicators, devices, numbers);
    for (int rank = 0; rank < devices; rank++) {
        ranks[rank].communicator = communicators[rank];
        CALL(hipSetDevice, rank);
        CALL(hipStreamCreate, &ranks[rank].stream);
        for (int side = 0; side < SIDES; side++) {
            CALL(hipMalloc, (void **)&ranks[rank].device[side], ARRAY_BYTES);
            before[side][rank] = malloc(ARRAY_BYTES);
            if (!before[side][rank])
                abort();
        }
    }
}

int main(int argc, char **argv)
{
    static rank_t ranks[RCCL_DEVICES_MAX];
    const int devices = argc == 4 ? atoi(argv[1]) : 0;
    if (devices < 1 || devices > RCCL_DEVICES_MAX) {
        printf("usage: rccl_sweep DEVICES FIRST COUNT, 1 to %d devices\n", RCCL_DEVICES_MAX);
        return 2;
    }
    calls_find();
    ranks_make(ranks, devices);
    const int first = atoi(argv[2]), count = atoi(argv[3]);
    int wrong = 0;
    for (int seed = first; seed < first + count; seed++)
        wrong += !case_run(ranks, devices, seed);
    for (int rank = 0; rank < devices; rank++)
        CALL(ncclCommDestroy, ranks[rank].communicator);
    printf("%d cases, %d wrong\n", count, wrong);
    return wrong != 0;
}
