/* Finding tools and configuring them. Private to session. */
#ifndef SESSION_LIFECYCLE_H
#define SESSION_LIFECYCLE_H

#include "session/session.h"

/* Finds and configures tools, once; later calls wait until that is done. One from inside of a
 * tool's configure or initialize returns at once. True: this call did it. */
bool session_initialize(void);

/* The same for a program that runs already: libraries that happen to export the function of a tool
 * are left alone, unless the program's linker would have found it. */
void session_initialize_for_attach(void);

/* Configures and initialises one more tool. The thread must be allowed to configure, see attach.c.
 * False: it takes no part, or everything ends. */
struct client;
bool session_client_join(struct client *client, bool to_attach);

bool session_is_wanted(void); /* tools or subscriptions: calls are to be seen */

/* `tell` runs when tools are there, on the thread that configured them: one for the process. Who
 * sets it later than that looks itself. */
void session_when_ready(void (*tell)(void));

/* What records need before anybody is configured: the clock. Idempotent. */
void session_records_prepare(void);
#endif
