/* HSA, for runtimes.c. */
#ifndef INTERCEPT_HSA_RUNTIME_H
#define INTERCEPT_HSA_RUNTIME_H

#include "model/runtime.h"

extern const struct runtime_ops hsa_runtime_ops;

#endif
