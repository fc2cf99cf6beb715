/*
 * Page faults of GPUs whose waves wait for them (XNACK): they find the program's own memory where
 * neither a buffer nor shared virtual memory is, and are told as the kernel's driver tells them,
 * for a part of 2 MB once, until the program unmaps it.
 */
#ifndef DRIVER_PAGE_FAULTS_H
#define DRIVER_PAGE_FAULTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/process_memory.h"

struct driver;
struct vm_fault;
struct vm_range;

struct page_faults {
    struct process_memory memory;
    pthread_mutex_t lock; /* of what follows; leaf, and who holds it calls no allocator */
    uint64_t *parts;      /* that were told: number and GPU, hashed; a mapping of its own */
    size_t used, room;    /* `used`: gone ones, too */
    /* Writers: under the lock. Reader: munmap() by the program (relaxed: who unmaps memory knows of
     * its faults what it has been told in some order). */
    _Atomic bool any;
};

void page_faults_init(struct page_faults *faults);
void page_faults_free(struct page_faults *faults);

/* A vm_fault_fn, of a struct gpu. */
bool page_fault_find(void *gpu, const struct vm_fault *fault, struct vm_range *out);
/* The program has unmapped this: what is there next is told anew. Any thread, signal handlers too;
 * errno is left alone. */
void page_faults_forget(struct driver *driver, uint64_t start, uint64_t end);

#endif
