/* Another process's memory and the libraries in it. */
#ifndef ROCATTACH_IMAGE_H
#define ROCATTACH_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { IMAGE_PATH_BYTES = 4096 };

struct image {
    uint64_t base;                  /* of its first page; 0: not there */
    char path[IMAGE_PATH_BYTES];    /* as the process sees it */
    uint64_t text_start, text_size; /* its first executable mapping */
};

/* Opens /proc/PID/mem. -1: it cannot, and errno says why. */
int memory_open(pid_t pid, bool writable);
/* False: not all of it could be read. */
bool memory_read(int memory, uint64_t address, void *to, size_t size);
bool memory_write(int memory, uint64_t address, const void *from, size_t size);

/* The first mapped library whose file name begins with `name`. False: there is none. */
bool image_find(pid_t pid, const char *name, struct image *image);

/* The address of a function that the library defines; 0: it does not. */
uint64_t image_symbol(int memory, const struct image *image, const char *name);

/* The address of its code that returns from a signal handler; 0: there is none. */
uint64_t image_signal_return(int memory, const struct image *image);

#endif
