/* Asynchronous copies; the wrappers are reached through hsa_service_copies. */
#ifndef INTERCEPT_HSA_COPIES_H
#define INTERCEPT_HSA_COPIES_H

struct hsa_instance;

/* Gives the signals of finished copies back to the runtime, which still lives. */
void copies_release(const struct hsa_instance *runtime);

/* The runtime has gone, with the signals of the copies in flight: they have failed. Nothing of that
 * runtime's may be looked at when this is called (completion_hold()), until the end of that. */
void copies_abandon(const struct hsa_instance *runtime);
/* To be called after the hold has ended. */
void copies_abandoned(const struct hsa_instance *runtime);

#endif
