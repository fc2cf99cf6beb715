/* The end of a runtime. Internal to this folder. */
#ifndef INTERCEPT_HSA_LIFECYCLE_H
#define INTERCEPT_HSA_LIFECYCLE_H

#include "intercept/hsa/instance.h"

/* The runtime that this thread is shutting down, from inside of that; NULL: none. */
struct hsa_instance *lifecycle_leaving(void);

#endif
