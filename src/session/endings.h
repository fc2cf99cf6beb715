/* Who ends the tools and the process, and who waits for it. Private to session. */
#ifndef SESSION_ENDINGS_H
#define SESSION_ENDINGS_H

#include "session/session.h"

/* Ends everything, once: work in flight is waited for, contexts stop, buffers are delivered, tools
 * are told, threads end. Any thread may call it, from a buffer callback too. */
void session_finalize(void);

/* Ends one tool, once; whoever comes while another thread does it waits for that. */
struct client;
void client_finalize(struct client *client);

/* What a tool's initialize is given. */
void client_finalize_request(rocprofiler_client_id_t id);

/* Registers session_finalize for the process's end, once. */
void session_exit_watch(void);

/* From now on abort() and signals that would end the process end the session first. Idempotent. */
void session_endings_watch(void);

/* Does the same in a forked child whose parent had done it, as soon as the child records. */
void session_endings_renew(void);

void endings_on_fork_child(void);

#endif
