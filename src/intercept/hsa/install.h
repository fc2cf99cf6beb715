/* The HSA side of interception, for session. */
#ifndef INTERCEPT_HSA_INSTALL_H
#define INTERCEPT_HSA_INSTALL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Puts wrappers into the slots that configured services need. `api_table` is what OnLoad or
 * rocprofiler_set_api_table("hsa") got (HsaApiTable *); tools must have configured their contexts.
 * Agents exist already and HSA functions may be called. `runtime_version` is 0 when unknown. May be
 * called again with the same table, also after its runtime was shut down and started anew: wrappers
 * are then put back. A second runtime's table has wrappers of its own, which call that runtime. A
 * runtime whose agents the topology does not know has its calls traced and nothing that needs
 * agents. False, with a message, when the table cannot be used; that runtime then runs untraced.
 * src/runtime knows the table: whether its wrappers are in, and which, is asked there alone.
 */
bool hsa_install(void *api_table, uint64_t runtime_version);

/* More was configured since: wrappers for that, too, into the tables of runtimes that live. */
void intercept_hsa_refresh(void);

/* The table of the runtime that goes just now: the one that this thread shuts down, or whose code
 * `caller` is in, or the only one. NULL: nobody can tell. */
void *intercept_hsa_leaving(const void *caller);

/* Work of ours on devices is done by this table's runtime; NULL: by any. There may be another one
 * that came first, or it knows no devices. */
bool intercept_hsa_serves_devices(const void *api_table);

#endif
