/* The life of tools in a process: they are configured, come later, go; work is waited for. */
#ifndef SESSION_FRONT_PROCESS_H
#define SESSION_FRONT_PROCESS_H

#include <rocprofiler-sdk/registration.h>
#include <stdbool.h>

rocprofiler_status_t session_force_configure(rocprofiler_configure_func_t configure);
int session_initialized_status(void); /* 0, -1, 1 as the SDK reports them */
int session_finalized_status(void);

/* Reports device work that has ended already: a flush must find what the program has waited for.
 * Not to be called from a buffer callback, for which the reporting thread may wait. */
void session_work_collect(void);

/* Waits for the work submitted so far and reports it; false: nothing moved for seconds. Not to be
 * called on a delivery thread, which completions may wait for. */
bool session_work_wait(void);

/*
 * Tools that come into a program which runs already, go, and come again. One attachment at a time;
 * each may bring several tools. All three: CONFIGURATION_LOCKED while another thread is at it,
 * FINALIZED at the process's end.
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

/* True while this thread configures a tool that was attached. */
bool attach_configuring_here(void);

#endif
