/* Asynchronous copies; the wrappers are reached through hsa_service_copies. */
#ifndef INTERCEPT_HSA_COPIES_H
#define INTERCEPT_HSA_COPIES_H

struct hsa_instance;

/* Gives the signals of finished copies back to the runtime, which still lives. */
void copies_release(const struct hsa_instance *runtime);

#endif
