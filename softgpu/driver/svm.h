/*
 * Shared virtual memory: ranges of the program's own memory with attributes, of which access
 * rights decide what is in a GPU's page table, at the same address. Where waves wait for page
 * faults (XNACK) everything else of the program's memory is found by these, too, unless a GPU's
 * rights were taken away. Everything else (location, prefetch, granularity) is kept and reported
 * back; a modelled GPU has nothing to migrate.
 */
#ifndef DRIVER_SVM_H
#define DRIVER_SVM_H

#include <stdbool.h>
#include <stdint.h>

struct driver;

void svm_locks_init(struct driver *driver);

/* Takes [start, end) out of every GPU's page table and forgets its attributes: the program now
 * uses these addresses for something else. */
void svm_forget(struct driver *driver, uint64_t start, uint64_t end);
/* The same of memory that is about to be unmapped: nothing is waited for where none of it is shared
 * virtual memory, since allocators unmap their own inside calls of malloc() and free(), which this
 * library does under its locks and while it reads page tables. Keeps errno. */
void svm_unmapped(struct driver *driver, uint64_t start, uint64_t end);

/* Cuts [low, high) to the gap between ranges around `va`. False: it is in one, whose rights the
 * page tables have. For readers of these. */
bool svm_gap_find(struct driver *driver, uint64_t va, uint64_t *low, uint64_t *high);

#endif
