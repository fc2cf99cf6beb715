/*
 * System management events: what the kernel driver tells whoever asks about page migrations and
 * mappings, as lines of text on a file per GPU. Here the file is one end of a socket pair, so that
 * read, poll and close of the program need no interposition.
 */
#ifndef DRIVER_SMI_H
#define DRIVER_SMI_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct driver;

enum { SMI_CLIENTS_MAX = 32 };

struct smi {
    pthread_mutex_t lock; /* leaf */
    struct smi_client {
        int file;       /* our end; 0: free slot */
        uint64_t inode; /* of our end */
        uint32_t gpu_id;
        uint64_t mask;    /* bit n - 1: event n is wanted */
        uint32_t dropped; /* lines that did not fit and were not told yet */
    } clients[SMI_CLIENTS_MAX];
};

int kfd_smi_open(struct driver *driver, void *args);

/* Runs in a forked child: the files are the parent's. */
void smi_forget(struct smi *smi);

/* Pages of [start, end) now live at `to`: a gpu_id, or 0 for the program's own memory. */
void smi_migrated(struct driver *driver, uint32_t from, uint32_t to, uint64_t start, uint64_t end,
                  uint32_t prefetch, uint32_t preferred);
/* A wave of the GPU waited for the page at `va`, which is mapped where it is. */
void smi_page_faulted(struct driver *driver, uint32_t gpu_id, uint64_t va, bool writes);
/* The program unmapped memory that was in the GPU's page table. */
void smi_unmapped(struct driver *driver, uint32_t gpu_id, uint64_t start, uint64_t end);

#endif
