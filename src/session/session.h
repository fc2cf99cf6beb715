/*
 * The engine's private picture of tools, contexts and buffers. What front ends (src/api) call
 * stands in front/.
 *
 * Locks: session_lock (configuration and start/stop) is never held while a tool, a service or a
 * runtime is called. It is a leaf: nothing else is locked under it, but by fork() (lifecycle.c).
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "session/front/buffers.h"
#include "session/front/contexts.h"
#include "session/front/external.h"
#include "session/front/process.h"
#include "session/front/services.h"
#include "session/front/subscriptions.h"

#include <pthread.h>

enum {
    SESSION_CONTEXTS_MAX = 1024,
    OPERATION_WORDS = TRACE_OPERATIONS_MAX / 32,
};

/* Which operations of one kind a context wants. */
struct operation_mask {
    uint32_t words[OPERATION_WORDS];
};

struct callback_service {
    rocprofiler_callback_tracing_cb_t callback; /* NULL: not configured */
    void *data;
    struct operation_mask operations;
};

struct buffer_service {
    struct tracebuf *buffer; /* NULL: not configured */
    struct operation_mask operations;
};

struct request_service {
    rocprofiler_external_correlation_id_request_cb_t callback; /* NULL: not configured */
    void *data;
};

struct attached_service {
    const struct service_ops *ops; /* NULL: not configured */
    void *data;
};

enum context_state { CONTEXT_STOPPED, CONTEXT_STARTING, CONTEXT_ACTIVE, CONTEXT_STOPPING };

/* What a front end without contexts wants: for each operation its subscriber, exchanged at any
 * time. It is told to the hot path as a context that is always started, unless paused. */
struct subscription {
    struct context *context;
    uint64_t domains; /* bit per domain: any of its operations may be wanted some day */
    struct trace_subscriber
        *wanted[TRACE_DOMAIN_COUNT]; /* per operation; NULL: none; session_lock */
};
_Static_assert(TRACE_DOMAIN_COUNT <= 64, "a bit per domain");

/* Services are written while tools initialise and constant afterwards, but for counting, which may
 * be added while the context is stopped; that and `state` under session_lock. */
struct context {
    uint32_t index;
    uint32_t client; /* owner; 0: none */
    bool valid;
    bool resumes; /* runs whenever its tool is attached; under attach.c's exclusion */
    enum context_state state;
    struct callback_service callbacks[ROCPROFILER_CALLBACK_TRACING_LAST];
    struct buffer_service buffers[ROCPROFILER_BUFFER_TRACING_LAST];
    struct request_service requests[ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST];
    struct attached_service services[SERVICE_COUNT];
    struct subscription *subscription; /* NULL: a context of the SDK, or of a front end */
    const char *owner;                 /* of a front end: for messages */
};

extern pthread_mutex_t session_lock;

/* Life of the process: as rocprofiler_is_initialized and rocprofiler_is_finalized report it. */
enum session_stage { STAGE_BEFORE, STAGE_CONFIGURING, STAGE_READY, STAGE_FINALIZING, STAGE_DONE };
enum session_stage session_stage(void);
/* A tool may configure: everywhere while the session begins; for a tool that was attached later on
 * its own thread only, so that nobody else's configuration is unlocked by it. */
bool session_configuring(void);
uint32_t session_current_client(void); /* 0: none is being configured */

/* ---- context_table.c */
/* The new context is not `valid`: no handle leads to it yet. NULL: out of memory. */
struct context *context_new(uint32_t client);
bool context_list(struct context *context); /* under session_lock; false: there are too many */
struct context *context_find(rocprofiler_context_id_t id); /* NULL: unknown or invalid */
struct context *context_at(uint32_t index);                /* NULL: past the last; may be invalid */
rocprofiler_context_id_t context_id(const struct context *context);

/* ---- contexts.c */
/* May be called at any time. `owner` names a front end in messages; NULL: the tool owns it. */
rocprofiler_status_t context_make(uint32_t client, const char *owner, rocprofiler_context_id_t *id);
void contexts_stop(uint32_t client);    /* 0: everybody's */
void contexts_discard(uint32_t client); /* a tool that failed to initialise */
/* Stops those that run, and notes that they are to run again when contexts_resume is called. */
void contexts_suspend(uint32_t client);
void contexts_resume(uint32_t client);
/* The first `room` ids of a tool's contexts; returns how many it has. */
uint64_t contexts_of(uint32_t client, rocprofiler_context_id_t *ids, uint64_t room);
void contexts_on_fork_child(void);

/* ---- subscriptions.c */
static inline const struct subscription_front *front_of(const struct trace_subscriber *subscriber)
{
    return subscriber->front;
}
static inline bool front_listens(const struct trace_subscriber *subscriber)
{
    const struct subscription_front *front = front_of(subscriber);
    return front && front->listener;
}
/* What front/subscriptions.h promises, but that runtimes are not told. */
struct subscription *subscription_new(uint64_t domain_bits);
bool subscription_set(struct subscription *subscription, enum trace_domain domain, int32_t first,
                      int32_t count, const struct trace_subscriber *what);
void subscription_run(struct subscription *subscription, bool runs);
bool subscriptions_exist(void);
void subscriptions_end(void); /* the process ends: nobody is called any more */

/* ---- sets.c; under session_lock, which those that publish give up while they need memory: what
 * they publish is what is true at their end */
/* Publishes who wants these operations of one domain now, which may be nobody any more. */
void sets_publish_operations(enum trace_domain domain, int32_t first, int32_t count);
/* True when starting `context` would give some operation more than TRACE_SUBSCRIBERS_MAX. */
bool sets_would_overflow(const struct context *context);
/* Publishes what the active contexts want of everything that `changed` is interested in. */
void sets_publish(const struct context *changed);

/* Calls look for external ids from now on; once is enough. Takes session_lock. */
void sets_externals_begin(void);

/* ---- buffers.c */
void buffers_flush(uint32_t client); /* 0: everybody's */
/* The client is told nothing more by its buffers, but where it asks for a flush while it ends.
 * Returns when no callback of theirs runs; see tracebuf_mute. */
void buffers_mute(uint32_t client);

/* ---- threads.c */
struct tracebuf_thread *callback_thread_find(rocprofiler_callback_thread_t id); /* NULL: none */
struct tracebuf_thread *callback_thread_default(void); /* created on first use; NULL: cannot */
void thread_callbacks_run(bool created);               /* for thread_creation_hook */

/* ---- external.c */
struct thread;
/* This thread (session_self) finishes in the place of that one, which does nothing more: what that
 * one pushed is this one's, too. 0: a thread that is not known, which has pushed nothing. */
void external_stand_in(struct thread *self, uint32_t tid);
void external_on_thread_begin(struct thread *thread);
void external_on_thread_exit(struct thread *thread);
void external_on_fork_prepare(void);
void external_on_fork_parent(void);
void external_on_fork_child(void);

/* ---- announce.c */
/* Code objects that are loaded already are reported to the tool's active contexts. */
void session_objects_announce(uint32_t client);

/* ---- domains.c: kinds and their relations, from TRACE_DOMAINS */
struct domain {
    uint8_t callback_kind, buffer_kind, args_kind, request_kind; /* 0: that view does not exist */
    bool is_api;                                                 /* records carry ticks */
};
extern const struct domain domains[TRACE_DOMAIN_COUNT] __attribute__((visibility("hidden")));

#endif
