/* What runtimes have under way, asked of all that were ever installed. Any thread, no lock. */
#ifndef RUNTIME_WORK_H
#define RUNTIME_WORK_H

#include "model/runtime.h"

/* To be called when an instance of the row was installed: from then on the row is asked. */
void runtime_work_begin(const struct runtime_row *row);

/* As in struct runtime_ops. */
void runtimes_work_collect(void);
bool runtimes_work_wait(void);
void runtimes_work_drain(void);
void runtimes_objects_unload(void);
void runtimes_objects_announce(void (*tell)(int32_t operation, void *payload, void *data),
                               void *data);

#endif
