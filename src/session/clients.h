/* The tools of this process, from their configuration on. Private to session. */
#ifndef SESSION_CLIENTS_H
#define SESSION_CLIENTS_H

#include "session/discover.h"

#include <rocprofiler-sdk/experimental/registration.h>
#include <stdatomic.h>

enum { CLIENTS_MAX = DISCOVER_TOOLS_MAX };

enum client_state {
    CLIENT_ABSENT,     /* takes no part */
    CLIENT_CONFIGURED, /* its initialize has not returned yet */
    CLIENT_LIVE,
    CLIENT_ENDING,
    CLIENT_ENDED,
};

/* Written by the one thread that configures it; constant afterwards, unless noted. */
struct client {
    rocprofiler_client_id_t id; /* the tool holds a pointer to it */
    uint32_t handle;            /* what id.handle must still be: a tool may not change it */
    /* Writers: configuration; whoever ends the tool (compare-exchange, then release). */
    _Atomic int state;
    _Atomic(const void *) ender; /* the thread that ends it, see endings.c */
    rocprofiler_configure_func_t configure;
    rocprofiler_tool_configure_result_t result;
    rocprofiler_tool_configure_attach_result_t attach; /* zeroes: it knows nothing of attaching */
    bool came_by_attach;                               /* into a process that was running */
    bool selected;         /* for the next attachment; under attach.c's exclusion */
    _Atomic bool attached; /* writers: attach.c, a tool's own detach (compare-exchange) */
};

/* NULL: past the last. Clients are never freed and never moved. */
struct client *client_at(uint32_t index);
struct client *client_of(rocprofiler_configure_func_t configure); /* the latest; NULL: none */
uint32_t clients_count(void);
bool session_has_tools(void);

/* Called by one thread at a time, which may configure (session_configuring()). NULL: there are too
 * many. */
struct client *client_add(rocprofiler_configure_func_t configure);
/* Asks the tool what it is. One that takes no part is not initialised. */
void client_configure(struct client *client, bool to_attach);
/* Runs its initialize. False: it is dropped, with its contexts. */
bool client_initialize(struct client *client, rocprofiler_client_finalize_t finalize);
const char *client_name(const struct client *client);

#endif
