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
 * are then put back. The functions of a second copy of the runtime stay as they are. False, with a
 * message, when the table cannot be used; that runtime then runs untraced.
 */
bool intercept_hsa_install(void *api_table, uint64_t runtime_version);

/* More was configured since: wrappers for that, too, into the table that was installed last, if its
 * runtime lives. */
void intercept_hsa_refresh(void);
void intercept_hsa_forget(void); /* the runtime goes, its table with it */

#endif
