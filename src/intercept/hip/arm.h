/* The HIP side of interception, for session. */
#ifndef INTERCEPT_HIP_ARM_H
#define INTERCEPT_HIP_ARM_H

#include <stdbool.h>

/*
 * Hooks the HIP library of this process, if it is mapped and offers callbacks (HIP up to 5.2; later
 * ones announce themselves or are hooked elsewhere). Costs nothing further until HIP is used: at
 * the first HIP call `ready` runs, once, on that thread and before the call is traced; it must let
 * tools configure. After that only configured operations stay hooked. Call as early as possible,
 * and again when HIP may have been loaded since: repeated calls are harmless. True when hooked.
 */
bool intercept_hip_arm(void (*ready)(void));

/* The library has offered its tables, where calls are seen from now on: its tracer callback, if it
 * is hooked, must not report them a second time. */
void intercept_hip_disarm(void);

#endif
