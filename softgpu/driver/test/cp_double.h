/* What tests let the command processor say that executes nothing. */
#ifndef DRIVER_TEST_CP_DOUBLE_H
#define DRIVER_TEST_CP_DOUBLE_H

#include "cp/cp.h"

/* A queue has met a memory fault. */
void cp_double_memory_fault(struct cp *cp, uint32_t gpu_id, uint64_t va, uint32_t access);

#endif
