/*
 * The output plugin. Its functions are called one at a time, by whatever thread; the lock that sees
 * to it is held by nothing that a program's thread waits for while it traces.
 */
#ifndef ROCTRACER_TOOL_PLUGIN_H
#define ROCTRACER_TOOL_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>

#include <roctracer/roctracer.h>

/*
 * Loads and initialises. A name without '/' is looked for beside the tool, in the folders
 * (separated by ':', NULL for none) and then as dlopen does. False, with a message: the plugin
 * cannot be loaded, lacks a function, or does not want.
 */
bool plugin_open(const char *name, const char *folders);

/* Both do nothing without an open plugin. Errors of the plugin are counted and reported. */
void plugin_callback_write(const roctracer_record_t *record, const void *data);
void plugin_activity_write(const roctracer_record_t *begin, const roctracer_record_t *end);

/* Called around a fork: none of the plugin's functions is half done in the child, which has no
 * plugin until it opens one. */
void plugin_fork_prepare(void);
void plugin_fork_parent(void);
void plugin_fork_child(void);

/* Finalises; later writes do nothing. The library stays loaded: a thread may still be inside. */
void plugin_close(void);

#endif
