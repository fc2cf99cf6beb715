/* Calls of the kernel driver's library, libhsakmt. */
#ifndef INTERCEPT_THUNK_FOLLOW_H
#define INTERCEPT_THUNK_FOLLOW_H

#include "model/runtime.h"

extern const struct runtime_ops thunk_runtime_ops;

#endif
