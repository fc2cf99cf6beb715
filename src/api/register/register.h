/* What the files of librocprofiler-register share. */
#ifndef REGISTER_REGISTER_H
#define REGISTER_REGISTER_H

#include <rocprofiler-register/rocprofiler-register.h>
#include <stdbool.h>

/* Marks this thread as inside of the profiler on our account: a call of ours from there would wait
 * for itself. False: it is marked already. */
bool register_enter(void);
void register_leave(void);

/* A function of the profiler, which is loaded when it is not there yet. NULL: there is none, and a
 * message says why. */
void *register_profiler_function(const char *name);

/* From now on there is a tool, which no environment variable and no global symbol tells of. */
void register_tool_is_here(void);

/* Hands the tables that came before there was a tool to the profiler. To be called between
 * register_enter() and register_leave(). */
rocprofiler_register_error_code_t register_deliver(void);

/* With ROCP_TOOL_ATTACH set, makes the thread that attachers may borrow for their calls. */
void register_listener_start_if_asked(void);

#endif
