#include "intercept/hip/calls.h"
#include "intercept/hip/arm.h"
#include "intercept/hip/launches.h"
#include "intercept/hip/library.h"
#include "intercept/hip/transfers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 16, ALIGN_BYTES = 64 };

/* Written by hip_calls_prepare before any callback can run. */
static struct hip_calls_setup setup;
static pthread_key_t calls_key;
static uint32_t id_end;       /* one more than the largest id that the SDK knows */
static uint32_t function_end; /* one more than the largest id of all */

/* By the library's id: what it calls the function, for good; NULL: no such function. */
static const char *name_of[HIP_IDS_MAX];

/* The library's id -> ours; NULL: unknown to the SDK. */
static const struct hip_operation *operation_of[HIP_IDS_MAX];

static pthread_once_t ready_once = PTHREAD_ONCE_INIT;

/* A tool that calls HIP while it initialises must not wait for itself. */
static __thread bool thread_is_initialising __attribute__((tls_model("initial-exec")));

struct calls {
    uint32_t depth;
    bool busy; /* inside one of our own calls into HIP */
    struct hip_call call[NESTING_MAX];
};

static __thread struct calls *thread_calls __attribute__((tls_model("initial-exec")));

static size_t rounded(size_t size)
{
    return (size + ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
}

static struct calls *calls_of_thread(void)
{
    if (thread_calls)
        return thread_calls;
    size_t data_size = rounded(setup.data_size_bytes);
    size_t head_size = rounded(sizeof(struct calls));
    char *room = aligned_alloc(ALIGN_BYTES, head_size + NESTING_MAX * data_size);
    if (!room)
        return NULL;
    memset(room, 0, head_size + NESTING_MAX * data_size);
    thread_calls = (struct calls *)(void *)room;
    for (uint32_t i = 0; i < NESTING_MAX; i++)
        thread_calls->call[i].data = room + head_size + i * data_size;
    pthread_setspecific(calls_key, thread_calls);
    return thread_calls;
}

static void calls_free(void *calls)
{
    thread_calls = NULL;
    free(calls);
}

static int operation_compare(const void *name, const void *operation)
{
    return strcmp(name, api_texts + ((const struct hip_operation *)operation)->name);
}

const struct hip_operation *hip_operation_find(const char *name)
{
    return bsearch(name, hip_operations, hip_operation_count, sizeof hip_operations[0],
                   operation_compare);
}

/* "" and "unknown": no such function. */
static bool is_name(const char *name)
{
    return name != NULL && *name != 0 && strcmp(name, "unknown") != 0;
}

/* Ids are matched by the functions' names, so that every release's numbering works. */
static void operations_match(void)
{
    for (uint32_t id = 1; id < HIP_IDS_MAX; id++) {
        const char *name = setup.api_name(id);
        operation_of[id] = is_name(name) ? hip_operation_find(name) : NULL;
        if (!is_name(name))
            continue;
        name_of[id] = name;
        function_end = id + 1;
        if (operation_of[id])
            id_end = id + 1;
    }
}

uint32_t hip_calls_prepare(const struct hip_calls_setup *wanted)
{
    setup = *wanted;
    if (pthread_key_create(&calls_key, calls_free) != 0)
        return 0;
    operations_match();
    return id_end;
}

void hip_calls_number(const char *(*api_name)(uint32_t id))
{
    if (setup.api_name)
        return;
    setup.api_name = api_name;
    operations_match();
}

uint32_t intercept_hip_function_end(void)
{
    return function_end;
}

bool intercept_hip_function(uint32_t id, struct hip_function *function)
{
    const char *name = id < function_end ? name_of[id] : NULL;
    if (!name)
        return false;
    const struct hip_operation *operation = operation_of[id];
    *function = (struct hip_function){.name = name, .operation = -1};
    if (operation) {
        function->domain = operation->domain;
        function->operation = operation->operation;
    }
    return true;
}

bool hip_calls_known(uint32_t id)
{
    return id < HIP_IDS_MAX && operation_of[id] != NULL;
}

static void first_call(void)
{
    thread_is_initialising = true;
    if (setup.ready)
        setup.ready();
    thread_is_initialising = false;
}

static const struct trace_set *listeners_of(uint32_t id)
{
    if (thread_is_initialising || id >= HIP_IDS_MAX)
        return NULL;
    pthread_once(&ready_once, first_call);
    const struct hip_operation *operation = operation_of[id];
    return operation ? trace_set_load(operation->domain, operation->operation) : NULL;
}

/* HIP_OP_ID_DISPATCH, HIP_OP_ID_COPY */
enum { OPERATION_DISPATCH = 0, OPERATION_COPY = 1 };

static bool launch_is_watched(int32_t operation)
{
    return setup.kernel_names && launch_names_kernel(operation) &&
           operation_is_wanted(OPERATION_DISPATCH);
}

static bool transfer_is_watched(int32_t operation)
{
    return setup.transfer_sizes && transfer_is_sized(operation) &&
           operation_is_wanted(OPERATION_COPY);
}

struct hip_interest hip_call_interest(uint32_t id)
{
    struct hip_interest interest = {.set = listeners_of(id)};
    const struct hip_operation *operation = id < HIP_IDS_MAX ? operation_of[id] : NULL;
    if (thread_calls && thread_calls->busy)
        return (struct hip_interest){0};
    if (interest.set)
        interest.mask |= HIP_INTEREST_CALL;
    if (!operation || operation->domain != TRACE_HIP_RUNTIME_API)
        return interest;
    if (!thread_is_initialising && hip_stream_is_wanted(operation->operation))
        interest.mask |= HIP_INTEREST_STREAM;
    if (!thread_is_initialising && hip_graph_is_wanted(operation->operation))
        interest.mask |= HIP_INTEREST_GRAPH;
    if (!thread_is_initialising && hip_event_is_wanted(operation->operation))
        interest.mask |= HIP_INTEREST_EVENT;
    if (launch_is_watched(operation->operation) || transfer_is_watched(operation->operation))
        interest.mask |= HIP_INTEREST_WORK;
    return interest;
}

struct hip_call *hip_call_open(const struct hip_interest *interest)
{
    if (interest->mask == 0)
        return NULL;
    struct calls *calls = calls_of_thread();
    if (!calls || calls->busy || calls->depth == NESTING_MAX)
        return NULL;
    struct hip_call *call = &calls->call[calls->depth++];
    call->interest = interest->mask;
    call->frame.set = interest->set;
    call->correlation = interest->set ? trace_correlation_take() : 0;
    call->kernel_name = NULL;
    call->bytes = 0;
    call->entered = false;
    return call;
}

struct hip_call *hip_call_innermost(void)
{
    struct calls *calls = thread_calls;
    return calls && calls->depth > 0 ? &calls->call[calls->depth - 1] : NULL;
}

/* Reads what finished work is reported with. It is read now, because the library must not be asked
 * while it is busy with the launch itself. */
static void work_read(struct hip_call *call, uint32_t id, const void *data)
{
    rocprofiler_hip_api_args_t arguments;
    memset(&arguments, 0, sizeof arguments);
    setup.arguments(id, data, &arguments);
    call->bytes = transfer_bytes(call->operation, &arguments);
    thread_calls->busy = true;
    if (setup.kernel_names)
        call->kernel_name = launch_kernel_name(call->operation, &arguments);
    thread_calls->busy = false;
}

void hip_call_enter(struct hip_call *call, uint32_t id, const void *data)
{
    const struct hip_operation *operation = operation_of[id];
    if (!operation)
        return;
    call->operation = operation->domain == TRACE_HIP_RUNTIME_API ? operation->operation : -1;
    if (call->interest & HIP_INTEREST_WORK)
        work_read(call, id, data);
    if (!call->frame.set || trace_set_wants_args(call->frame.set) ||
        (call->interest & (HIP_INTEREST_STREAM | HIP_INTEREST_GRAPH | HIP_INTEREST_EVENT))) {
        memset(&call->payload, 0, sizeof call->payload);
        call->payload.size = sizeof call->payload;
        if (setup.arguments)
            setup.arguments(id, data, &call->payload.args);
    }
    call->native = (struct hip_native){(void *)(uintptr_t)data, id, setup.phase_data_offset};
    call->frame.native = &call->native;
    if (call->frame.set)
        trace_api_enter_as(&call->frame, call->frame.set, operation->domain, operation->operation,
                           &call->payload, call->correlation);
    call->stream.wanted = call->stream.entered = call->graph.wanted = call->event.wanted = false;
    if (setup.arguments && (call->interest & HIP_INTEREST_STREAM))
        hip_stream_enter(&call->stream, call->operation, &call->payload.args);
    if (setup.arguments && (call->interest & HIP_INTEREST_GRAPH))
        hip_graph_enter(&call->graph, call->operation, &call->payload.args);
    if (setup.arguments && (call->interest & HIP_INTEREST_EVENT))
        hip_event_enter(&call->event, call->operation, &call->payload.args);
    call->entered = true;
}

/* The callback interfaces do not say what a call returns, but the library keeps it per thread. */
static hipError_t result_read(void)
{
    thread_calls->busy = true;
    int error = setup.result();
    thread_calls->busy = false;
    return (hipError_t)error;
}

void hip_call_exit(struct hip_call *call)
{
    if (!call->entered)
        return;
    const struct trace_set *set = call->frame.set;
    bool wants_args = set != NULL && trace_set_wants_args(set);
    if (wants_args || call->stream.wanted || call->graph.wanted || call->event.wanted)
        call->payload.retval.hipError_t_retval = result_read();
    call->entered = false;
    bool succeeded = call->payload.retval.hipError_t_retval == hipSuccess;
    if (call->event.wanted)
        hip_event_exit(&call->event, call->operation, &call->payload.args, succeeded);
    if (call->graph.wanted)
        hip_graph_exit(&call->graph, call->operation, &call->payload.args, succeeded);
    hip_stream_exit(&call->stream, call->operation, &call->payload.args, succeeded);
    if (set)
        trace_api_exit(&call->frame);
}

void hip_call_close(void)
{
    struct hip_call *call = hip_call_innermost();
    if (!call)
        return;
    hip_call_exit(call); /* when the library left without its exit phase */
    thread_calls->depth--;
}
