/*
 * Which kernel a launch named, for device operations that do not say it themselves: HIP 5.2 gives
 * them no names. Any thread, but none that runs the program.
 */
#ifndef ROCTRACER_TOOL_LAUNCHES_H
#define ROCTRACER_TOOL_LAUNCHES_H

#include <roctracer/roctracer.h>

/* A call of HIP, with its kernel's name; others are no launches. The latest 32768 are kept. */
void launches_note(const roctracer_record_t *call);

/* Fills in what is known: HIP dispatches without a name. The names live as long as the process. */
void launches_name(roctracer_record_t *operations, uint32_t count);

#endif
