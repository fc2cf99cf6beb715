/*
 * Shared virtual memory: ranges of the program's own memory with attributes, of which access
 * rights decide what is in a GPU's page table (at the same address, XNACK being off). Everything
 * else (location, prefetch, granularity) is kept and reported back; a modelled GPU has nothing to
 * migrate.
 */
#ifndef DRIVER_SVM_H
#define DRIVER_SVM_H

#include <stdint.h>

struct driver;

/* Takes [start, end) out of every GPU's page table and forgets its attributes: the program now
 * uses these addresses for something else. */
void svm_forget(struct driver *driver, uint64_t start, uint64_t end);
/* The same of memory that is about to be unmapped: quick where there is no shared virtual memory.
 * Not for a thread that reads page tables. */
void svm_unmapped(struct driver *driver, uint64_t start, uint64_t end);

#endif
