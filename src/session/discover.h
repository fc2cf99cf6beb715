/* Finding tools: who exports rocprofiler_configure. Private to session. */
#ifndef SESSION_DISCOVER_H
#define SESSION_DISCOVER_H

#include <rocprofiler-sdk/registration.h>
#include <stdbool.h>
#include <stdint.h>

enum { DISCOVER_TOOLS_MAX = 64 };

struct tool_list {
    rocprofiler_configure_func_t tools[DISCOVER_TOOLS_MAX]; /* unique, in order of priority */
    uint32_t count;
};

/* Loads the libraries of ROCP_TOOL_LIBRARIES and looks through everything that is mapped. `forced`
 * comes first; NULL: none. */
void discover_tools(struct tool_list *list, rocprofiler_configure_func_t forced);

/* Cheap, loads nothing: would discover_tools find any? */
bool discover_any(void);

#endif
