/* What the runtimes look up of the host's own processor, where the machine does not say it. */
#ifndef DRIVER_HOST_CPU_H
#define DRIVER_HOST_CPU_H

#include "driver/vtree.h"

/* `system` is /sys/devices/system, or what stands for it in a test. Adds nothing where the machine
 * tells its caches. Returns 0 or a negative errno. */
int host_cpu_fill(struct vtree *tree, const char *system);

#endif
