/* Finding tools and configuring them. Private to session and its engine table. */
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

/* Device work that has ended already is reported: a flush must find what the program has waited
 * for. Not from a buffer callback, for which the reporting thread may wait. */
void session_work_collect(void);

/* Waits for the work submitted so far and reports it; false: nothing moved for seconds. Not on a
 * delivery thread, which completions may wait for. */
bool session_work_wait(void);

rocprofiler_status_t session_force_configure(rocprofiler_configure_func_t configure);
bool session_is_wanted(void); /* tools or subscriptions: calls are to be seen */

/* `tell` runs when tools are there, on the thread that configured them: one for the process. Who
 * sets it later than that looks itself. */
void session_when_ready(void (*tell)(void));

/* What records need before anybody is configured: the clock. Idempotent. */
void session_records_prepare(void);
#endif
