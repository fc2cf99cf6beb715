/*
 * A machine that is played: a kernel's topology with one GPU, an HSA runtime
 * (src/intercept/hsa/test) whose table the library is given, and a HIP 5.7
 * (src/intercept/hip/test). Everything in the process is compiled with it, so that sanitizers see
 * all of it.
 */
#ifndef CONFORMANCE_ROCTRACER_MACHINE_H
#define CONFORMANCE_ROCTRACER_MACHINE_H

#include "intercept/hsa/test/hsa_double.h"
#include "intercept/hsa/wrappers.h"

#include <hsa/hsa_ext_amd.h>
#include <roctracer/roctracer.h>

/* A call as a program makes it: through the runtime's table. */
#define HSA(name) ((__typeof__(hsa_instances[0].real.name))double_function(HSA_FN_##name))

/* Once, before anything else. False, and a line on stderr: something is missing. */
bool machine_start(void);

/* A call of the HIP function with that number, without arguments; the library tells its tracer. */
void machine_hip_call(uint32_t id);
/* A command of that HIP operation, which is over at once. False: nobody wants to know of such. */
bool machine_hip_command(uint32_t operation, uint64_t correlation);
/* A kernel of that name (NULL: none). */
bool machine_hip_kernel(uint64_t correlation, const char *name);

#endif
