/* HIP, for runtimes.c. */
#ifndef INTERCEPT_HIP_RUNTIME_H
#define INTERCEPT_HIP_RUNTIME_H

#include "model/runtime.h"

extern const struct runtime_ops hip_runtime_ops;

#endif
