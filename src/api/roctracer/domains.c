/* What each domain has, and what it is called. */
#include "api/roctracer/internal.h"

#include <stdatomic.h>
#include <string.h>

#include "base/log.h"

/* While there is no HIP, the domain has every number that a HIP may have. */
static struct operations hip_functions(void)
{
    uint32_t end = engine->hip_facts->function_end();
    return (struct operations){1, end ? end : HIP_FUNCTIONS_MAX};
}

static uint32_t hip_operation_end(void)
{
    uint32_t end = engine->hip_facts->function_end();
    return end ? end : engine->hip_facts->listed_end();
}

roctracer_status_t domain_operations(uint32_t domain, struct operations *operations)
{
    *operations = (struct operations){0, 0};
    switch (domain) {
    case ACTIVITY_DOMAIN_HSA_API:
        operations->end = HSA_API_ID_NUMBER;
        return ROCTRACER_STATUS_SUCCESS;
    case ACTIVITY_DOMAIN_HSA_OPS:
        operations->end = HSA_OP_ID_NUMBER;
        return ROCTRACER_STATUS_SUCCESS;
    case ACTIVITY_DOMAIN_HIP_OPS:
        operations->end = HIP_OPERATIONS;
        return ROCTRACER_STATUS_SUCCESS;
    case ACTIVITY_DOMAIN_HIP_API:
        *operations = hip_functions();
        return ROCTRACER_STATUS_SUCCESS;
    case ACTIVITY_DOMAIN_EXT_API: /* records, but nothing to enable */
        return ROCTRACER_STATUS_SUCCESS;
    case ACTIVITY_DOMAIN_ROCTX:
        operations->end = ROCTX_API_ID_NUMBER;
        return ROCTRACER_STATUS_SUCCESS;
    case ACTIVITY_DOMAIN_HSA_EVT:
        operations->end = HSA_EVT_ID_NUMBER;
        return ROCTRACER_STATUS_SUCCESS;
    case ACTIVITY_DOMAIN_KFD_API:
        operations->end = KFD_API_ID_NUMBER;
        return ROCTRACER_STATUS_SUCCESS;
    default:
        return fail(ROCTRACER_STATUS_ERROR_INVALID_DOMAIN_ID, "%u is no domain", domain);
    }
}

roctracer_status_t operation_check(uint32_t domain, uint32_t op)
{
    struct operations operations;
    roctracer_status_t status = domain_operations(domain, &operations);
    if (status != ROCTRACER_STATUS_SUCCESS)
        return status;
    uint32_t end = domain == ACTIVITY_DOMAIN_HIP_API ? hip_operation_end() : operations.end;
    if (op >= end) /* 0 is let through, though it is no function of HIP's */
        return fail(ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT, "domain %u has no operation %u",
                    domain, op);
    return ROCTRACER_STATUS_SUCCESS;
}

/* ---- names */

static const char *const hsa_operation_names[] = {"DISPATCH", "COPY", "BARRIER", "PCSAMPLE"};
static const char *const hsa_event_names[] = {"ALLOCATE", "DEVICE",  "MEMCOPY",
                                              "SUBMIT",   "KSYMBOL", "CODEOBJ"};
static const char *const marker_names[] = {"roctxMarkA", "roctxRangePushA", "roctxRangePop",
                                           "roctxRangeStartA", "roctxRangeStop"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
_Static_assert(COUNT(hsa_operation_names) == HSA_OP_ID_NUMBER &&
                   COUNT(hsa_event_names) == HSA_EVT_ID_NUMBER &&
                   COUNT(marker_names) == ROCTX_API_ID_NUMBER,
               "every operation has a name");

/* The numbers are HIP's, so it must be there and hooked. */
static bool hip_function(uint32_t id, struct hip_function *function)
{
    engine->runtimes_hook();
    return engine->hip_facts->function(id, function);
}

static const char *name_of(uint32_t domain, uint32_t op, uint32_t kind)
{
    struct hip_function function;
    switch (domain) {
    case ACTIVITY_DOMAIN_HSA_API:
        return op < HSA_CALL_COUNT ? hsa_call_name(op) : NULL;
    case ACTIVITY_DOMAIN_KFD_API:
        return op < KFD_API_ID_NUMBER ? engine->operation_name(TRACE_THUNK_API, (int32_t)op) : NULL;
    case ACTIVITY_DOMAIN_HSA_OPS:
        return op < COUNT(hsa_operation_names) ? hsa_operation_names[op] : NULL;
    case ACTIVITY_DOMAIN_HSA_EVT:
        return op < COUNT(hsa_event_names) ? hsa_event_names[op] : NULL;
    case ACTIVITY_DOMAIN_ROCTX:
        return op < COUNT(marker_names) ? marker_names[op] : NULL;
    case ACTIVITY_DOMAIN_HIP_API:
        return hip_function(op, &function) ? function.name : NULL;
    case ACTIVITY_DOMAIN_HIP_OPS:
        return op < HIP_OPERATIONS ? engine->hip_facts->command_name(kind) : NULL;
    case ACTIVITY_DOMAIN_EXT_API:
        return op < EXT_OPERATIONS ? "EXT_API" : NULL;
    default:
        return NULL;
    }
}

VERSIONS_4_0(roctracer_op_string);
const char *roctracer_op_string(uint32_t domain, uint32_t op, uint32_t kind)
{
    const char *name = name_of(domain, op, kind);
    if (!name)
        fail(ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT,
             "no name for operation %u (kind %u) of domain "
             "%u",
             op, kind, domain);
    return name;
}

/* The end of the range: no operation has that name. */
static uint32_t code_of(uint32_t domain, const struct operations *operations, const char *name)
{
    for (uint32_t op = operations->first; op < operations->end; op++) {
        const char *candidate = name_of(domain, op, 0);
        if (candidate && !strcmp(candidate, name))
            return op;
    }
    return operations->end;
}

/* ---- numbers given out before HIP came */

/* The name that a number was given for: a text that stays. Writer: roctracer_op_code (relaxed: the
 * text is constant). Reader: hip_numbers_compare. */
static _Atomic(const char *) expected[HIP_FUNCTIONS_MAX];

static uint32_t code_expected(const char *name, uint32_t none)
{
    uint32_t id;
    const char *own = engine->hip_facts->listed_function(name, &id);
    if (!own || id >= HIP_FUNCTIONS_MAX)
        return none;
    atomic_store_explicit(&expected[id], own, memory_order_relaxed);
    return id;
}

void hip_numbers_compare(void)
{
    for (uint32_t id = 1; id < HIP_FUNCTIONS_MAX; id++) {
        struct hip_function function;
        const char *name = atomic_exchange_explicit(&expected[id], NULL, memory_order_relaxed);
        if (!name || (engine->hip_facts->function(id, &function) && !strcmp(function.name, name)))
            continue;
        log_warning("roctracer",
                    "before HIP was loaded, the operation of %s was said to be %u; this HIP's is "
                    "another one, or it has none",
                    name, id);
    }
}

/* Command types are named by kind, not by operation. */
static bool has_codes(uint32_t domain)
{
    return domain != ACTIVITY_DOMAIN_HIP_OPS && domain != ACTIVITY_DOMAIN_EXT_API;
}

VERSIONS_4_0(roctracer_op_code);
roctracer_status_t roctracer_op_code(uint32_t domain, const char *str, uint32_t *op, uint32_t *kind)
{
    struct operations operations;
    roctracer_status_t status = domain_operations(domain, &operations);
    if (status != ROCTRACER_STATUS_SUCCESS)
        return status;
    if (!has_codes(domain))
        return fail(ROCTRACER_STATUS_ERROR_INVALID_DOMAIN_ID,
                    "operations of domain %u have no names of their own", domain);
    if (!str || !op)
        return fail(ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT, "op_code: a pointer is NULL");
    engine->runtimes_hook();
    domain_operations(domain, &operations);
    bool is_early = domain == ACTIVITY_DOMAIN_HIP_API && !engine->hip_facts->function_end();
    uint32_t code =
        is_early ? code_expected(str, operations.end) : code_of(domain, &operations, str);
    if (code == operations.end)
        return fail(ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT, "domain %u has no operation \"%s\"",
                    domain, str);
    *op = code;
    if (kind)
        *kind = 0;
    return ROCTRACER_STATUS_SUCCESS;
}
