/*
 * What the device did for HIP, as HIP itself reports it when it is over: kernels, copies, barriers.
 *
 * Up to 5.2 the library is asked for each sort by hipEnableActivityCallback; later ones ask the
 * tracer callback. Either way a record of the tracing interface comes, whose layout has never
 * changed; that of 5.2 has neither kernel names nor sizes, so they are taken from the calls
 * (launches.c, transfers.c).
 */
#include "base/log.h"
#include "base/wait.h"
#include "intercept/hip/arm.h"
#include "intercept/hip/calls.h"
#include "intercept/hip/library.h"
#include <stdatomic.h>
#include <string.h>

enum { OPERATION_DISPATCH, OPERATION_COPY, OPERATION_BARRIER, OPERATION_COUNT };

struct hip_record {
    uint32_t domain, kind, operation;
    uint64_t correlation, begin_ns, end_ns;
    int32_t device;
    uint64_t queue;
    union {
        uint64_t bytes;
        const char *kernel_name;
    };
};
_Static_assert(sizeof(struct hip_record) == 64, "activity_record_t");

static struct {
    void (*init)(void *id_callback, void *operation_callback, void *argument);
    bool (*enable)(uint32_t operation, bool enable);
} legacy;

static const struct library_symbol legacy_symbols[] = {
    {"hipInitActivityCallback", &legacy.init},
    {"hipEnableActivityCallback", &legacy.enable},
};

bool operation_is_wanted(uint32_t operation)
{
    return operation < OPERATION_COUNT &&
           trace_set_load(TRACE_HIP_OPERATION, (int32_t)operation) != NULL;
}

/* Commands that will be reported, and that were. Writers: calling threads, HIP's thread (relaxed: a
   hint for those who wait). */
static _Atomic uint64_t begun, over;

void operation_begins(void)
{
    atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
}

static bool operations_over(void)
{
    return atomic_load_explicit(&over, memory_order_relaxed) >=
           atomic_load_explicit(&begun, memory_order_relaxed);
}

/* True: something was reported since `seen`, or nothing is left to report. */
static bool operations_moved(void *seen)
{
    return atomic_load_explicit(&over, memory_order_relaxed) != *(const uint64_t *)seen ||
           operations_over();
}

/* HIP lets the program go on before it reports; its thread is late by as long as it has to wait for
   a processor. What still runs on the device cannot be told from that: a while without any report
   is the end of it. */
void intercept_hip_operations_settle(void)
{
    enum { STALL_NS = 75 * WAIT_NS_PER_MS, STEP_NS = 100 * WAIT_NS_PER_US };
    bool moves = true;

    while (!operations_over() && moves) {
        uint64_t seen = atomic_load_explicit(&over, memory_order_relaxed);
        moves = wait_until(operations_moved, &seen, STALL_NS, STEP_NS);
    }
    if (moves)
        return;
    log_debug("intercept", "HIP has reported %llu of %llu commands",
              (unsigned long long)atomic_load_explicit(&over, memory_order_seq_cst),
              (unsigned long long)atomic_load_explicit(&begun, memory_order_seq_cst));
}

/* A name of C++ templates can be longer than a whole buffer, which would lose the record. */
enum { NAME_BYTES_MAX = 32 << 10 };

/* Tools take it for granted that a kernel has a name. */
static const char unknown_kernel[] = "unknown kernel";

static void report(uint32_t operation, const struct hip_record *record, const char *kernel_name)
{
    if (operation != OPERATION_DISPATCH)
        kernel_name = NULL;
    else if (!kernel_name)
        kernel_name = unknown_kernel;
    struct trace_report out = {
        .correlation = record->correlation,
        .start_ns = record->begin_ns,
        .end_ns = record->end_ns,
        .queue = record->queue,
        .bytes = operation == OPERATION_DISPATCH ? 0 : record->bytes,
        .kind = record->kind,
        .device = (uint32_t)record->device,
        .operation = (int32_t)operation,
        .name_size = kernel_name ? (uint32_t)strnlen(kernel_name, NAME_BYTES_MAX - 1) + 1 : 0,
    };

    trace_report(TRACE_HIP_OPERATION, &out, kernel_name);
    atomic_fetch_add_explicit(&over, 1, memory_order_relaxed);
}

void operation_finished(uint32_t operation, const void *record)
{
    const struct hip_record *from = record;
    if (operation < OPERATION_COUNT && from)
        report(operation, from, operation == OPERATION_DISPATCH ? from->kernel_name : NULL);
}

/* ---- up to 5.2
 *
 * The library numbers its commands and tells the number when one is born, on the calling thread,
 * and when it is over; which call it was for is remembered here. A number comes again only after
 * BIRTHS others: by then the command is over, or its record carries no call. */

enum { BIRTHS = 1 << 16 };
static struct birth {
    /* Writer: the calling thread, `call` first (release). Reader: HIP's thread (acquire). */
    _Atomic uint64_t command; /* its number + 1 */
    _Atomic uint64_t call;
    _Atomic(const char *) kernel_name;
    _Atomic uint64_t bytes;
} births[BIRTHS];

static void on_command(uint64_t command)
{
    const struct hip_call *call = hip_call_innermost();
    struct birth *birth = &births[command % BIRTHS];
    operation_begins();
    atomic_store_explicit(&birth->call, call ? call->correlation : 0, memory_order_relaxed);
    atomic_store_explicit(&birth->kernel_name, call ? call->kernel_name : NULL,
                          memory_order_relaxed);
    atomic_store_explicit(&birth->bytes, call ? call->bytes : 0, memory_order_relaxed);
    atomic_store_explicit(&birth->command, command + 1, memory_order_release);
}

/* NULL: too long ago. */
static const struct birth *birth_of(uint64_t command)
{
    const struct birth *birth = &births[command % BIRTHS];
    return atomic_load_explicit(&birth->command, memory_order_acquire) == command + 1 ? birth
                                                                                      : NULL;
}

/* These releases call everything that is no kernel a copy. The numbers are OpenCL's. */
static uint32_t operation_of_command(uint32_t kind)
{
    enum { INTERNAL_MARKER = 0, KERNEL = 0x11f0, TASK = 0x11f1, MARKER = 0x11fe, BARRIER = 0x1205 };

    if (kind == KERNEL || kind == TASK)
        return OPERATION_DISPATCH;
    return kind == INTERNAL_MARKER || kind == MARKER || kind == BARRIER ? OPERATION_BARRIER
                                                                        : OPERATION_COPY;
}

/* True of commands that move bytes from one place to another, which fills do not. */
static bool command_copies(uint32_t kind)
{
    enum { FILL = 0x1207 };

    return operation_of_command(kind) == OPERATION_COPY && kind != FILL;
}

static void on_legacy_operation(uint32_t operation, void *from, void *argument)
{
    struct hip_record record;
    (void)operation;
    (void)argument;
    if (!from)
        return;
    memcpy(&record, from, sizeof record);
    const struct birth *birth = birth_of(record.correlation);
    record.correlation = birth ? atomic_load_explicit(&birth->call, memory_order_relaxed) : 0;
    if (command_copies(record.kind) && record.bytes == 0 && birth)
        record.bytes = atomic_load_explicit(&birth->bytes, memory_order_relaxed);
    report(operation_of_command(record.kind), &record,
           birth ? atomic_load_explicit(&birth->kernel_name, memory_order_relaxed) : NULL);
}

void legacy_operations_arm(void)
{
    if (library_symbols_find(legacy_symbols, sizeof legacy_symbols / sizeof legacy_symbols[0]))
        legacy.init((void *)on_command, (void *)on_legacy_operation, NULL);
    else
        legacy.enable = NULL;
}

void intercept_hip_operations_refresh(void)
{
    if (!legacy.enable)
        return;
    legacy.enable(OPERATION_DISPATCH, operation_is_wanted(OPERATION_DISPATCH));
    legacy.enable(OPERATION_COPY,
                  operation_is_wanted(OPERATION_COPY) || operation_is_wanted(OPERATION_BARRIER));
}

const char *intercept_hip_command_name(uint32_t kind)
{
    const char *(*name_get)(uint32_t kind) = NULL;
    const struct library_symbol symbol = {"hipGetCmdName", &name_get};

    return library_symbols_find(&symbol, 1) ? name_get(kind) : NULL;
}
