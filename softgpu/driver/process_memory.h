/*
 * Which addresses are the program's own memory: what a page fault of a GPU finds when waves wait
 * for page faults (XNACK). The kernel says so, in the list of the process's mappings, which is read
 * when an address is not in the last one, or no longer there. What has other rights since, or was
 * mapped in the place of something else, has those of before until then.
 */
#ifndef DRIVER_PROCESS_MEMORY_H
#define DRIVER_PROCESS_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_area {
    uint64_t start, end;
    bool writable;
};

/* Nothing is allocated by the C library or waited for under the lock: the program may be inside its
 * allocator while a GPU's page faults are looked up. */
struct process_memory {
    pthread_mutex_t lock;
    struct process_area *areas; /* readable; sorted, disjoint; a mapping of its own */
    size_t count, room;
};

void process_memory_init(struct process_memory *memory);
void process_memory_free(struct process_memory *memory);

/* The part of [low, high) around `va` that is there, and of one kind. False: `va` is not the
 * program's, cannot be read, or belongs to a device. Any thread; errno is left alone. */
bool process_memory_find(struct process_memory *memory, uint64_t va, uint64_t low, uint64_t high,
                         struct process_area *out);

#endif
