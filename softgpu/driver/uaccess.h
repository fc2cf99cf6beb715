/*
 * Copies between the driver and memory the program named. A bad pointer gives -EFAULT, as in the
 * kernel, and never a signal in the program.
 */
#ifndef DRIVER_UACCESS_H
#define DRIVER_UACCESS_H

#include <stddef.h>
#include <stdint.h>

int user_read(void *to, uint64_t user, size_t size_bytes);
int user_write(uint64_t user, const void *from, size_t size_bytes);

#endif
