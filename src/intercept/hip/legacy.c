/*
 * HIP up to 5.2: hipRegisterActivityCallback and hipRegisterApiCallback.
 *
 * A traced call makes the library call us four times on the calling thread: activity (argument
 * NULL: give me a hip_api_data_t, or NULL for "not interested"), API with phase 0, API with phase
 * 1, activity with our argument. Calls nest.
 */
#include "intercept/hip/legacy.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "intercept/hip/arm.h"

enum { OPERATIONS_MAX = 1024, NESTING_MAX = 16, ALIGN_BYTES = 64 };

typedef void (*api_callback_fn)(uint32_t domain, uint32_t id, const void *data, void *argument);
typedef void *(*activity_callback_fn)(uint32_t id, void *record, const void *data, void *argument);

/* The library's functions; written by arm before any callback can run. */
static struct {
    int (*api_register)(uint32_t id, void *callback, void *argument);
    int (*api_remove)(uint32_t id);
    int (*activity_register)(uint32_t id, void *callback, void *argument);
    int (*activity_remove)(uint32_t id);
    const char *(*api_name)(uint32_t id);
    int (*peek_error)(void);
} hip;

static const struct {
    const char *name;
    void *target;
} hip_symbols[] = {
    {"hipRegisterApiCallback", &hip.api_register},
    {"hipRemoveApiCallback", &hip.api_remove},
    {"hipRegisterActivityCallback", &hip.activity_register},
    {"hipRemoveActivityCallback", &hip.activity_remove},
    {"hipApiName", &hip.api_name},
    {"hipPeekAtLastError", &hip.peek_error},
};

/* The library's id -> ours; NULL: unknown to the SDK. Written by arm. */
static const struct hip_operation *operation_of[OPERATIONS_MAX];
static uint32_t id_count;
static bool arguments_known;

static void (*ready_callback)(void);
static pthread_once_t ready_once = PTHREAD_ONCE_INIT;

struct call {
    struct trace_frame frame;
    rocprofiler_callback_tracing_hip_api_data_t payload;
    void *data; /* hip_api_data_t */
    bool traced;
};

/* One thread's calls that are open. */
struct calls {
    uint32_t depth;
    bool busy; /* inside one of our own calls into HIP */
    struct call call[NESTING_MAX];
};

static pthread_key_t calls_key;
static __thread struct calls *thread_calls;

static struct calls *calls_of_thread(void)
{
    if (thread_calls != NULL)
        return thread_calls;
    size_t data_size = (hip_legacy_data_size() + ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
    size_t head_size = (sizeof(struct calls) + ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
    char *room = aligned_alloc(ALIGN_BYTES, head_size + NESTING_MAX * data_size);
    if (room == NULL)
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

static void hooks_prune(void)
{
    uint32_t kept = 0;

    for (uint32_t id = 1; id < id_count; id++) {
        const struct hip_operation *operation = operation_of[id];
        if (operation != NULL && trace_is_configured(operation->domain, operation->operation))
            kept++;
        else
            operation_of[id] = NULL; /* the hook itself stays: see hook_all() */
    }
    log_info("intercept", "HIP callbacks: %u functions traced", kept);
}

/* A tool that calls HIP while it initialises must not wait for itself. */
static __thread bool thread_is_initialising;

static void first_call(void)
{
    thread_is_initialising = true;
    if (ready_callback != NULL)
        ready_callback();
    hooks_prune();
    thread_is_initialising = false;
}

static void *call_begin(uint32_t id)
{
    const struct hip_operation *operation = id < OPERATIONS_MAX ? operation_of[id] : NULL;
    const struct trace_set *set =
        operation ? trace_set_load(operation->domain, operation->operation) : NULL;

    if (set == NULL)
        return NULL;
    struct calls *calls = calls_of_thread();
    if (calls == NULL || calls->busy || calls->depth == NESTING_MAX)
        return NULL;
    struct call *call = &calls->call[calls->depth++];
    call->frame.set = set;
    call->traced = false;
    hip_legacy_phase_set(call->data, 0);
    return call->data;
}

static void call_end(void)
{
    struct calls *calls = thread_calls;

    if (calls == NULL || calls->depth == 0)
        return;
    struct call *call = &calls->call[--calls->depth];
    if (call->traced) /* the library left without phase 1 */
        trace_api_exit(&call->frame);
    call->traced = false;
}

static void *on_activity(uint32_t id, void *record, const void *data, void *argument)
{
    (void)record;
    (void)data;
    if (argument == NULL) {
        if (thread_is_initialising)
            return NULL;
        pthread_once(&ready_once, first_call);
        return call_begin(id);
    }
    call_end();
    return NULL;
}

/* The callback interface does not say what a call returns, but the library stores exactly that as
   the thread's last error before it calls us. */
static hipError_t result_read(struct calls *calls)
{
    calls->busy = true;
    int error = hip.peek_error();
    calls->busy = false;
    return (hipError_t)error;
}

static void call_enter(uint32_t id, struct call *call)
{
    const struct hip_operation *operation = operation_of[id];

    if (operation == NULL)
        return;
    if (trace_set_wants_args(call->frame.set)) {
        memset(&call->payload, 0, sizeof call->payload);
        call->payload.size = sizeof call->payload;
        if (arguments_known)
            hip_legacy_arguments(id, call->data, &call->payload.args);
    }
    trace_api_enter(&call->frame, call->frame.set, operation->domain, operation->operation,
                    &call->payload);
    call->traced = true;
}

static void call_exit(struct calls *calls, struct call *call)
{
    if (!call->traced)
        return;
    if (trace_set_wants_args(call->frame.set))
        call->payload.retval.hipError_t_retval = result_read(calls);
    call->traced = false;
    trace_api_exit(&call->frame);
}

static void on_api(uint32_t domain, uint32_t id, const void *data, void *argument)
{
    struct calls *calls = thread_calls;

    (void)domain;
    (void)argument;
    if (calls == NULL || calls->depth == 0)
        return;
    struct call *call = &calls->call[calls->depth - 1];
    if (call->data != data || id >= OPERATIONS_MAX)
        return;
    if (hip_legacy_phase(data) == 0)
        call_enter(id, call);
    else
        call_exit(calls, call);
}

static int operation_compare(const void *name, const void *operation)
{
    return strcmp(name, ((const struct hip_operation *)operation)->name);
}

/* Ids are matched by name, so that every release's numbering works. */
static void operations_match(void)
{
    arguments_known = true;
    for (uint32_t id = 1; id < OPERATIONS_MAX; id++) {
        const char *name = hip.api_name(id);
        if (name == NULL || strcmp(name, "unknown") == 0)
            continue;
        operation_of[id] = bsearch(name, hip_operations, hip_operation_count,
                                   sizeof hip_operations[0], operation_compare);
        if (operation_of[id] == NULL)
            continue;
        id_count = id + 1;
        arguments_known = arguments_known && hip_legacy_id_matches(id, name);
    }
    if (!arguments_known)
        log_warning("intercept",
                    "this HIP release's argument structures are unknown: HIP calls are "
                    "traced without arguments");
}

/*
 * All at once, before HIP's first call, because who wants what is known only then. Hooks are never
 * taken away: the library removes one by waiting until no thread is inside that function, so a
 * removal from within a callback would wait for itself. What nobody configured costs one call that
 * returns NULL.
 */
static bool hook_all(void)
{
    static char argument; /* its address only has to differ from NULL */

    for (uint32_t id = 1; id < id_count; id++) {
        if (operation_of[id] == NULL)
            continue;
        if (hip.activity_register(id, (void *)(activity_callback_fn)on_activity, &argument) != 0 ||
            hip.api_register(id, (void *)(api_callback_fn)on_api, &argument) != 0)
            return false;
    }
    return id_count > 0;
}

static bool symbols_find(void)
{
    for (size_t i = 0; i < sizeof hip_symbols / sizeof hip_symbols[0]; i++) {
        void *symbol = dlsym(RTLD_DEFAULT, hip_symbols[i].name);
        if (symbol == NULL)
            return false;
        memcpy(hip_symbols[i].target, &symbol, sizeof symbol);
    }
    return true;
}

/*
 * Our constructor may run before HIP's, which would then forget the hooks. Opening a library that
 * is mapped but not yet initialised makes the dynamic linker initialise it now, dependencies first.
 */
static void library_initialise(void)
{
    Dl_info library;
    void *symbol = dlsym(RTLD_DEFAULT, hip_symbols[0].name);

    if (symbol != NULL && dladdr(symbol, &library) != 0)
        dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD); /* and keep it */
}

bool intercept_hip_arm(void (*ready)(void))
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool armed;

    if (!hip_legacy_has_arguments)
        return false;
    pthread_mutex_lock(&lock);
    if (!armed && symbols_find() && pthread_key_create(&calls_key, calls_free) == 0) {
        ready_callback = ready;
        library_initialise();
        operations_match();
        armed = hook_all();
        if (!armed)
            log_warning("intercept", "HIP refuses callbacks: HIP calls are not traced");
    }
    pthread_mutex_unlock(&lock);
    return armed;
}
