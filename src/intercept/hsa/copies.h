/* Asynchronous copies; the wrappers are reached through hsa_service_copies. */
#ifndef INTERCEPT_HSA_COPIES_H
#define INTERCEPT_HSA_COPIES_H

/* Gives the signals of finished copies back to the runtime, which still lives. */
void copies_release(void);

#endif
