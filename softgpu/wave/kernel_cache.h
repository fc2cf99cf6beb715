/* For tests: what the assembler made of a kernel's text, kept in a folder from one process to the
 * next. Tests run the same kernels on each level of the host, translated, and under sanitizers. */
#ifndef WAVE_KERNEL_CACHE_H
#define WAVE_KERNEL_CACHE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The folder is CROC_KERNEL_CACHE; without it nothing is kept. Returns the code's bytes, -1: it is
 * not there. Processes may share the folder: files appear in it as a whole. */
ssize_t kernel_cache_find(const char *cpu, const char *text, uint8_t *code, size_t capacity);
void kernel_cache_keep(const char *cpu, const char *text, const uint8_t *code, size_t bytes);

#endif
