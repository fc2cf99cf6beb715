/*
 * ROCtracer 4.1: callbacks around the runtimes' API calls, and records of what calls and devices
 * did, written to memory pools.
 *
 * Every function may be called at any time, from any thread, also from a callback of this library
 * unless it says otherwise. Functions that return a status leave the reason of a failure in
 * roctracer_error_string() of the calling thread.
 */
#ifndef ROCTRACER_H_
#define ROCTRACER_H_

#ifndef ROCTRACER_CALL
#define ROCTRACER_CALL
#endif
#ifndef ROCTRACER_EXPORT_DECORATOR
#define ROCTRACER_EXPORT_DECORATOR __attribute__((visibility("default")))
#endif
#ifndef ROCTRACER_IMPORT_DECORATOR
#define ROCTRACER_IMPORT_DECORATOR
#endif
#define ROCTRACER_EXPORT ROCTRACER_EXPORT_DECORATOR ROCTRACER_CALL
#define ROCTRACER_IMPORT ROCTRACER_IMPORT_DECORATOR ROCTRACER_CALL

/* ROCTRACER_EXPORTS is defined only while the library itself is compiled. */
#ifndef ROCTRACER
#ifdef ROCTRACER_EXPORTS
#define ROCTRACER_API ROCTRACER_EXPORT
#else
#define ROCTRACER_API ROCTRACER_IMPORT
#endif
#endif

#include <stddef.h>
#include <stdint.h>

#include "ext/prof_protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version (chapters 3.1, 3.2) --------------------------------------------------------------
 */

/** Marks functions that dlvsym() finds under "ROCTRACER_4.1". All are there under "ROCTRACER_4.0"
 * too. */
#define ROCTRACER_VERSION_4_1

#define ROCTRACER_VERSION_MAJOR 4
#define ROCTRACER_VERSION_MINOR 1

/** Of the installed library. A client fits when the major numbers are equal and its minor number is
 * not larger. Work before anything else was called. */
ROCTRACER_API uint32_t roctracer_version_major(void) ROCTRACER_VERSION_4_1;
ROCTRACER_API uint32_t roctracer_version_minor(void) ROCTRACER_VERSION_4_1;

/* ---- status (3.3) -----------------------------------------------------------------------------
 */

typedef enum {
    ROCTRACER_STATUS_SUCCESS = 0,
    ROCTRACER_STATUS_ERROR = -1, /**< none of the others */
    ROCTRACER_STATUS_ERROR_INVALID_DOMAIN_ID = -2,
    ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT = -3,
    ROCTRACER_STATUS_ERROR_DEFAULT_POOL_UNDEFINED = -4,
    ROCTRACER_STATUS_ERROR_DEFAULT_POOL_ALREADY_DEFINED = -5,
    ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION = -6,
    /** A pop without a push of an external correlation id. */
    ROCTRACER_STATUS_ERROR_MISMATCHED_EXTERNAL_CORRELATION_ID = -7,
    ROCTRACER_STATUS_ERROR_NOT_IMPLEMENTED = -8,
    /* Of older versions; not returned any more. */
    ROCTRACER_STATUS_UNINIT = 2,
    ROCTRACER_STATUS_BREAK = 3,
    ROCTRACER_STATUS_BAD_DOMAIN = ROCTRACER_STATUS_ERROR_INVALID_DOMAIN_ID,
    ROCTRACER_STATUS_BAD_PARAMETER = ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT,
    ROCTRACER_STATUS_HIP_API_ERR = 6,
    ROCTRACER_STATUS_HIP_OPS_ERR = 7,
    ROCTRACER_STATUS_HCC_OPS_ERR = ROCTRACER_STATUS_HIP_OPS_ERR,
    ROCTRACER_STATUS_HSA_ERR = 7,
    ROCTRACER_STATUS_ROCTX_ERR = 8,
} roctracer_status_t;

/** Why the latest failed call of this thread failed; "" when none has. The message stays until the
 * next failure. The caller owns the string: free(). NULL when there is no memory for it. */
ROCTRACER_API const char *roctracer_error_string(void) ROCTRACER_VERSION_4_1;

/* ---- domains (3.4) ----------------------------------------------------------------------------
 */

typedef activity_domain_t roctracer_domain_t;

/** The name of an operation, owned by the library; NULL when there is no such operation, or, for
 * HIP, when no HIP library is in the process. HIP_OPS: `kind` chooses (a record's kind). */
ROCTRACER_API const char *roctracer_op_string(uint32_t domain, uint32_t op,
                                              uint32_t kind) ROCTRACER_VERSION_4_1;

/** The reverse. `kind` may be NULL. INVALID_DOMAIN_ID for a domain whose operations have no names;
 * INVALID_ARGUMENT for an unknown name or a NULL pointer. */
ROCTRACER_API roctracer_status_t roctracer_op_code(uint32_t domain, const char *str, uint32_t *op,
                                                   uint32_t *kind) ROCTRACER_VERSION_4_1;

/** `properties` has the domain's type: roctracer_ext_properties_t for EXT_API (NULL: no functions),
 * hsa_ops_properties_t for HSA_OPS; others ignore it. INVALID_DOMAIN_ID for ROCTX, KFD_API and what
 * is no domain. */
ROCTRACER_API roctracer_status_t roctracer_set_properties(roctracer_domain_t domain,
                                                          void *properties) ROCTRACER_VERSION_4_1;

/* ---- callbacks (3.5) --------------------------------------------------------------------------
 */

typedef activity_rtapi_callback_t roctracer_rtapi_callback_t;

/**
 * `callback` runs at the beginning and the end of every call of the operation (ROCTX, HSA_EVT: once
 * an event), on the calling thread, with no lock of this library held. A call that has begun ends
 * with the callback it began with, unless that was disabled meanwhile. It may call every
 * function of this library, end the thread or the process, and fork; it must not leave by longjmp
 * or an exception. The library that it is in stays mapped, even when the program closes it; so do
 * those of a pool's functions.
 *
 * INVALID_DOMAIN_ID, also for KFD_API, which cannot be traced; INVALID_ARGUMENT for an operation
 * the domain does not have, or a NULL callback. OPS domains and EXT_API have no calls: SUCCESS
 * without effect.
 */
ROCTRACER_API roctracer_status_t roctracer_enable_op_callback(activity_domain_t domain, uint32_t op,
                                                              activity_rtapi_callback_t callback,
                                                              void *arg) ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_enable_domain_callback(
    activity_domain_t domain, activity_rtapi_callback_t callback, void *arg) ROCTRACER_VERSION_4_1;

/** Returns when no other thread is inside of the callback any more, but does not wait longer than a
 * tenth of a second for one that takes its time. */
ROCTRACER_API roctracer_status_t roctracer_disable_op_callback(activity_domain_t domain,
                                                               uint32_t op) ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_disable_domain_callback(activity_domain_t domain)
    ROCTRACER_VERSION_4_1;

/* ---- records and pools (3.6) ------------------------------------------------------------------
 */

typedef activity_record_t roctracer_record_t;

/** Steps through the records a pool callback got: *next is the following record or the end. */
ROCTRACER_API roctracer_status_t roctracer_next_record(
    const activity_record_t *record, const activity_record_t **next) ROCTRACER_VERSION_4_1;

/**
 * Memory for a pool. *ptr NULL: allocate `size` bytes and store the address; not NULL and `size`
 * not 0: change the size, contents kept; not NULL and `size` 0: free. Leaving *ptr NULL means that
 * there is no memory.
 */
typedef void (*roctracer_allocator_t)(char **ptr, size_t size, void *arg);

/** Records from `begin` up to `end`, valid during the call together with the names they point to.
 * Runs on the pool's own thread, never twice at a time for one pool. */
typedef void (*roctracer_buffer_callback_t)(const char *begin, const char *end, void *arg);

typedef struct {
    uint32_t mode;      /**< not used */
    size_t buffer_size; /**< bytes; at least two records */
    /** NULL: malloc and its relatives */
    roctracer_allocator_t alloc_fun;
    void *alloc_arg;
    /** When the buffer is full or flushed. NULL: records are thrown away. */
    roctracer_buffer_callback_t buffer_callback_fun;
    void *buffer_callback_arg;
} roctracer_properties_t;

typedef void roctracer_pool_t;

/** Makes a pool. `pool` NULL: it becomes the default one, and DEFAULT_POOL_ALREADY_DEFINED when
 * there is one. INVALID_ARGUMENT for properties that are NULL or too small; MEMORY_ALLOCATION. */
ROCTRACER_API roctracer_status_t roctracer_open_pool_expl(
    const roctracer_properties_t *properties, roctracer_pool_t **pool) ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_open_pool(const roctracer_properties_t *properties)
    ROCTRACER_VERSION_4_1;

/**
 * Disables every activity that uses the pool, delivers what it holds and frees it. NULL means the
 * default pool, which is then undefined; SUCCESS without one. From a callback of the pool itself:
 * it is freed when the callback returns. INVALID_ARGUMENT for what is no open pool.
 */
ROCTRACER_API roctracer_status_t roctracer_close_pool_expl(roctracer_pool_t *pool)
    ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_close_pool(void) ROCTRACER_VERSION_4_1;

/** The default pool before the call, or NULL; `pool` not NULL becomes the default. */
ROCTRACER_API roctracer_pool_t *
roctracer_default_pool_expl(roctracer_pool_t *pool) ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_pool_t *roctracer_default_pool(void) ROCTRACER_VERSION_4_1;

/**
 * The operation's records go to `pool`, or to the default pool of this moment (`pool` NULL, and the
 * short forms): DEFAULT_POOL_UNDEFINED when there is none. INVALID_DOMAIN_ID, also for KFD_API;
 * INVALID_ARGUMENT for an operation the domain does not have, as every one of EXT_API, or what is
 * no open pool. ROCTX, HSA_EVT and HSA_OP_ID_RESERVED1 have no records: SUCCESS without effect.
 */
ROCTRACER_API roctracer_status_t roctracer_enable_op_activity_expl(
    activity_domain_t domain, uint32_t op, roctracer_pool_t *pool) ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_enable_op_activity(activity_domain_t domain,
                                                              uint32_t op) ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_enable_domain_activity_expl(
    activity_domain_t domain, roctracer_pool_t *pool) ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_enable_domain_activity(activity_domain_t domain)
    ROCTRACER_VERSION_4_1;

/** Work in flight is still recorded. */
ROCTRACER_API roctracer_status_t roctracer_disable_op_activity(activity_domain_t domain,
                                                               uint32_t op) ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_disable_domain_activity(activity_domain_t domain)
    ROCTRACER_VERSION_4_1;

/**
 * Hands every complete record to the pool's callback and returns afterwards. A record that is just
 * being written stops it; the next flush goes on from there. NULL: the default pool; SUCCESS when
 * there is none. From a pool's callback it only asks for the flush. INVALID_ARGUMENT for what is no
 * open pool. Signal handlers may call it.
 */
ROCTRACER_API roctracer_status_t roctracer_flush_activity_expl(roctracer_pool_t *pool)
    ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_flush_activity(void) ROCTRACER_VERSION_4_1;

/* ---- time (3.7) -------------------------------------------------------------------------------
 */

/** Now, in the nanoseconds of the records. INVALID_ARGUMENT: NULL. */
ROCTRACER_API roctracer_status_t roctracer_get_timestamp(roctracer_timestamp_t *timestamp)
    ROCTRACER_VERSION_4_1;

/* ---- of older versions, for programs that were built against them -----------------------------
 */

/** For every domain that has calls, respectively records. */
ROCTRACER_API roctracer_status_t roctracer_enable_callback(activity_rtapi_callback_t callback,
                                                           void *arg) ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_disable_callback(void) ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_enable_activity_expl(roctracer_pool_t *pool)
    ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_enable_activity(void) ROCTRACER_VERSION_4_1;
ROCTRACER_API roctracer_status_t roctracer_disable_activity(void) ROCTRACER_VERSION_4_1;

#ifdef __cplusplus
}
#endif

#endif
