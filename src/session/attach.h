/* Tools that come into a program which runs already, go, and come again. Private to session and its
 * engine table. One attachment at a time; each may bring several tools. */
#ifndef SESSION_ATTACH_H
#define SESSION_ATTACH_H

#include <rocprofiler-sdk/rocprofiler.h>
#include <stdbool.h>

/* All three: CONFIGURATION_LOCKED while another thread is at it, FINALIZED at the process's end.
 *
 * Loads and configures the tools of a list with colons, for the next session_attach. A tool that
 * was loaded before is only chosen. SERVICE_ALREADY_CONFIGURED: one is attached. NOT_AVAILABLE: no
 * tool takes part. */
rocprofiler_status_t session_attach_load(const char *libraries);

/* Begins an attachment with the tools chosen last. NOT_AVAILABLE: there are none, or all refuse. */
rocprofiler_status_t session_attach(void);

/* Ends it: contexts stop, work in flight is waited for, buffers are delivered, tools are told.
 * NOT_AVAILABLE: none was attached. */
rocprofiler_status_t session_detach(void);

#endif
