/* Interception of the marker library (roctx). */
#ifndef INTERCEPT_MARKER_MARKER_H
#define INTERCEPT_MARKER_MARKER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Puts wrappers into the slots that somebody configured: api_tables are the core, control and name
 * tables, each beginning with its size. False: nothing was put there. Called by session, once for
 * each copy of the library; only the first copy is traced, because a wrapper knows one next
 * function.
 */
bool intercept_marker_install(void **api_tables, uint64_t runtime_version);

#endif
