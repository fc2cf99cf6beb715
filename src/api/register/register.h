/* What the files of librocprofiler-register share. */
#ifndef REGISTER_REGISTER_H
#define REGISTER_REGISTER_H

#include <rocprofiler-register/rocprofiler-register.h>
#include <stdbool.h>

/* This thread is inside of the profiler on our account: calling us again would wait for itself. */
bool register_enter(void);
void register_leave(void);

/* A function of the profiler; it is loaded when it is not there yet. NULL, with a message. */
void *register_profiler_function(const char *name);

/* From now on there is a tool, which no environment variable and no global symbol tells of. */
void register_tool_is_here(void);

/* Hands tables to the profiler that came before there was a tool. Between enter and leave. */
rocprofiler_register_error_code_t register_deliver(void);

/* ROCP_TOOL_ATTACH: attachers find a thread that may run their calls. */
void register_listener_start_if_asked(void);

#endif
