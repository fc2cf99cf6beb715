/* From finding tools to telling them that it is over. Private to session and its engine table. */
#ifndef SESSION_LIFECYCLE_H
#define SESSION_LIFECYCLE_H

#include "session/session.h"

/* Finds and configures tools, once; later calls return at once. Never inside of a tool's configure
 * or initialize (it returns then, too). True: this call did it. */
bool session_initialize(void);

/* The same for a program that runs already: libraries that happen to export the function of a tool
 * are left alone, unless the program's linker would have found it. */
void session_initialize_for_attach(void);

/* Configures and initialises one more tool. The thread must be allowed to configure, see attach.c.
 * False: it takes no part, or everything ends. */
struct client;
bool session_client_join(struct client *client, bool to_attach);

/* Ends everything, once: work in flight is waited for, contexts stop, buffers are delivered, tools
 * are told, threads end. Any thread; from a buffer callback too. */
void session_finalize(void);

/* Device work that has ended already is reported: a flush must find what the program has waited
 * for. Not from a buffer callback, for which the reporting thread may wait. */
void session_work_collect(void);

/* Waits for the work submitted so far and reports it; false: nothing moved for seconds. Not on a
 * delivery thread, which completions may wait for. */
bool session_work_wait(void);

/* From now on abort() and signals that would end the process end the session first. Idempotent. */
void session_endings_watch(void);

/* The same in a forked child whose parent had come to that, as soon as the child records. */
void session_endings_renew(void);

rocprofiler_status_t session_force_configure(rocprofiler_configure_func_t configure);
int session_initialized_status(void); /* 0, -1, 1 as the SDK reports them */
int session_finalized_status(void);
bool session_has_tools(void);
bool session_is_wanted(void); /* tools or subscriptions: calls are to be seen */

/* What records need before anybody is configured: the clock. Idempotent. */
void session_records_prepare(void);
/* Registers session_finalize for the process's end, once. */
void session_exit_watch(void);

/* 0: none is being configured. */
uint32_t session_current_client(void);

#endif
