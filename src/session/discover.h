/* Finding tools: who exports rocprofiler_configure. Private to session. */
#ifndef SESSION_DISCOVER_H
#define SESSION_DISCOVER_H

#include <rocprofiler-sdk/experimental/registration.h>
#include <stdbool.h>
#include <stdint.h>

enum { DISCOVER_TOOLS_MAX = 64 };

struct tool_list {
    rocprofiler_configure_func_t tools[DISCOVER_TOOLS_MAX]; /* unique, in order of priority */
    uint32_t count;
};

enum discover_scope {
    DISCOVER_EVERYWHERE, /* whatever is mapped */
    DISCOVER_ANNOUNCED,  /* only when the global scope has a tool, as rocprofiler-register looks */
};

/* Loads the libraries of ROCP_TOOL_LIBRARIES and looks through what is mapped. `forced` comes
 * first; NULL: none. */
void discover_tools(struct tool_list *list, rocprofiler_configure_func_t forced,
                    enum discover_scope scope);

/* Loads the libraries of a list with colons and takes the tools out of them. What cannot be loaded,
 * or is no tool, gets a message that begins with `origin`. */
void discover_libraries(struct tool_list *list, const char *paths, const char *origin);

/* The rocprofiler_configure_attach of the library that `configure` is from; NULL: it has none. */
rocprofiler_configure_attach_func_t discover_attach(rocprofiler_configure_func_t configure);

/* Cheap, loads nothing: would discover_tools find any? */
bool discover_any(void);

#endif
