/*
 * ROCtracer and the kernel driver's library, libhsakmt: kfd_api_id_t and kfd_api_data_t
 * (kfd_prof_str.h) of ACTIVITY_DOMAIN_KFD_API.
 *
 * Ids, names and kfd_api_data_t are those of ROCm 4.3's header of this name, the last that had
 * them; functions that came later follow with ids of their own, and phase_data stands behind what
 * there was. ROCtracer of ROCm 4.5 and later, 4.1 included, has no such domain (INVALID_DOMAIN_ID).
 *
 * Callbacks come on the calling thread, with ACTIVITY_API_PHASE_ENTER and _EXIT; the pair has one
 * correlation id, which the activity record of the call carries, too. Calls that the profiler
 * itself causes are not reported. What can be seen are calls through the shared library, as the HSA
 * runtimes of ROCm 5.2 to 6.2 make them, and other programs and libraries that are linked with it.
 * HSA runtimes from ROCm 6.3 on have the library inside: enabling succeeds, one line on standard
 * error says so, and nothing is reported. Functions that a program finds by dlsym are not seen, and
 * neither are calls made before anything of the domain was enabled.
 */
#ifndef ROCTRACER_KFD_H_
#define ROCTRACER_KFD_H_

#include "roctracer.h"

#include "kfd_prof_str.h"

#endif
