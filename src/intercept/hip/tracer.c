/*
 * HIP 5.3 and later without rocprofiler-register (Debian's): hipRegisterTracerCallback.
 *
 * The library asks one callback of ours at every call, with a structure on its stack that begins
 * with hip_api_data_t and ends with two function pointers. Answering 0 makes it fill the arguments
 * and call those at entry and exit. Where all that lies is known for the releases of
 * data/api/hip_tracer_*.list and some others (release.c); the rest are left alone. The first call
 * proves the place of the functions, and if it does not, is the last.
 */
#include "base/wait.h"
#include "intercept/hip/library.h"

#include <stdatomic.h>
#include <string.h>

#include "base/log.h"
#include "intercept/hip/arm.h"
#include "intercept/hip/calls.h"
#include "intercept/hip/release.h"
#include "intercept/hip/tracer.h"

/* hip_api_data_t ends with a pointer to a word of the tool's. */
enum { PHASE_DATA_BYTES = sizeof(void *) };

enum { DOMAIN_OPERATIONS = 2, DOMAIN_API = 3, ANSWER_YES = 0, ANSWER_NO = 1 };

typedef void (*phase_fn)(uint32_t id, void *data);

static struct {
    void (*tracer_register)(void *callback);
    const char *(*api_name)(uint32_t id);
    int (*latest_error)(void);
} hip;

static const struct library_symbol symbols[] = {
    {"hipRegisterTracerCallback", &hip.tracer_register},
    {"hipApiName", &hip.api_name},
};

/* What the latest call returned. Since 6.0 hipPeekAtLastError tells of the latest failure instead.
 */
static const struct library_symbol latest_error_until_5 = {"hipPeekAtLastError", &hip.latest_error};
static const struct library_symbol latest_error_since_6 = {"hipExtGetLastError", &hip.latest_error};

/* Written before the callback is registered. */
static struct hip_release release;

/* A time and a word lie between the data and the functions. */
static void phases_store(void *data, phase_fn enter, phase_fn leave)
{
    char *place = (char *)data + release.data_size_bytes + 2 * sizeof(uint64_t);
    memcpy(place, &enter, sizeof enter);
    memcpy(place + sizeof enter, &leave, sizeof leave);
}

static void arguments_read(uint32_t id, const void *data, rocprofiler_hip_api_args_t *to)
{
    const struct hip_tracer_function *function = id < HIP_IDS_MAX ? release.functions[id] : NULL;
    for (uint16_t i = 0; function && i < function->count; i++) {
        const struct hip_tracer_copy *copy = &hip_tracer_copies[function->first + i];
        memcpy((char *)to + copy->to, (const char *)data + copy->from, copy->size_bytes);
    }
}

enum { PROOF_NONE, PROOF_ASKED, PROOF_GIVEN, PROOF_REFUSED };
/* Has the library called on_enter for what we stored? Writers and readers: any thread that calls,
 * relaxed: a late view only asks once more. */
static _Atomic int proof;

static void on_enter(uint32_t id, void *data)
{
    struct hip_call *call = hip_call_innermost();
    if (atomic_load_explicit(&proof, memory_order_relaxed) != PROOF_GIVEN)
        atomic_store_explicit(&proof, PROOF_GIVEN, memory_order_relaxed);
    if (call)
        hip_call_enter(call, id, data);
}

static void on_exit_phase(uint32_t id, void *data)
{
    (void)id;
    (void)data;
    hip_call_close();
}

static bool proof_answered(void *unused)
{
    (void)unused;
    return atomic_load_explicit(&proof, memory_order_relaxed) != PROOF_ASKED;
}

/* Another thread's first call is on its way to on_enter: a moment, and nothing is lost. */
static bool proof_wait(void)
{
    wait_until(proof_answered, NULL, 40 * WAIT_NS_PER_MS, 50 * WAIT_NS_PER_US);
    return atomic_load_explicit(&proof, memory_order_relaxed) == PROOF_GIVEN;
}

/* Only the first call's thread asks until the proof is there. */
static bool proof_ask(void)
{
    static __thread bool asked;
    int now = atomic_load_explicit(&proof, memory_order_relaxed);
    int none = PROOF_NONE;

    if (now == PROOF_GIVEN)
        return true;
    if (now == PROOF_ASKED && asked) {
        log_warning("intercept", "HIP does not call back as expected: HIP calls are not traced");
        atomic_store_explicit(&proof, PROOF_REFUSED, memory_order_relaxed);
        hip_call_close();
    }
    asked = atomic_compare_exchange_strong_explicit(&proof, &none, PROOF_ASKED,
                                                    memory_order_seq_cst, memory_order_seq_cst);
    return asked || proof_wait();
}

/* Writer: who installs wrappers in HIP's tables. Readers: calls, relaxed: a library offers its
   tables before its first call. */
static _Atomic bool disarmed;

void tracer_disarm(void)
{
    atomic_store_explicit(&disarmed, true, memory_order_relaxed);
}

/* Calls are seen here: the layout is known, and no tables were offered. Written before the callback
   is registered. */
static bool calls_known;

static bool any_operation_is_wanted(void)
{
    return operation_is_wanted(0) || operation_is_wanted(1) || operation_is_wanted(2);
}

/* A call that is seen in a table: the library still has to know its correlation id, which it hands
 * on to the work that the call causes. Without functions to call it fills no arguments. */
static int on_table_call(void *data)
{
    uint64_t correlation = any_operation_is_wanted() ? trace_correlation_current() : 0;
    if (correlation == 0)
        return ANSWER_NO;
    memcpy(data, &correlation, sizeof correlation);
    phases_store(data, NULL, NULL);
    return ANSWER_YES;
}

static int on_call(uint32_t id, void *data)
{
    if (!calls_known || !data)
        return ANSWER_NO;
    if (atomic_load_explicit(&disarmed, memory_order_relaxed))
        return on_table_call(data);
    const struct hip_interest interest = hip_call_interest(id);
    if (interest.mask == 0 || !proof_ask())
        return ANSWER_NO;
    struct hip_call *call = hip_call_open(&interest);
    if (!call)
        return ANSWER_NO;
    hip_data_correlate(data, call); /* the library hands it on to the work that the call causes */
    phases_store(data, on_enter, on_exit_phase);
    return ANSWER_YES;
}

/* NULL instead of a record asks whether the operation is wanted. From ROCm 7 on, 1 tells once more
   that one which was wanted has begun. */
static int on_operation(uint32_t operation, const void *record)
{
    enum { BEGUN = 1 };

    if (!operation_is_wanted(operation))
        return ANSWER_NO;
    if (!record)
        operation_begins();
    else if ((uintptr_t)record != BEGUN)
        operation_finished(operation, record);
    return ANSWER_YES;
}

static int on_report(uint32_t domain, uint32_t id, void *data)
{
    if (domain == DOMAIN_OPERATIONS)
        return on_operation(id, data);
    return domain == DOMAIN_API ? on_call(id, data) : ANSWER_NO;
}

static const char *function_name(uint32_t id)
{
    return library_function_name(hip.api_name, id);
}

bool tracer_arm(void (*ready)(void))
{
    if (!library_symbols_find(symbols, sizeof symbols / sizeof symbols[0]))
        return false;
    library_initialise((void *)hip.api_name);
    calls_known =
        hip_release_find((const void *)hip.api_name, function_name, &release) &&
        library_symbols_find(release.major < 6 ? &latest_error_until_5 : &latest_error_since_6, 1);
    const struct hip_calls_setup setup = {
        .api_name = function_name,
        .result = hip.latest_error,
        .ready = ready,
        .arguments = calls_known ? arguments_read : NULL,
        .phase_data_offset = calls_known ? release.data_size_bytes - PHASE_DATA_BYTES : 0,
    };
    /* finished work is reported alike by every release */
    if (hip_calls_prepare(&setup) == 0)
        return false;
    hip.tracer_register((void *)on_report);
    return true;
}
