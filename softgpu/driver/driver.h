/*
 * The state of the modelled kernel driver in this process, as the kernel would keep it per open
 * process: devices, buffer objects, queues and events. One instance; made when the program first
 * opens /dev/kfd, forgotten in a forked child (which opens again, as on hardware).
 */
#ifndef DRIVER_DRIVER_H
#define DRIVER_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "core/device.h"
#include "cp/cp.h"
#include "driver/doorbell.h"
#include "driver/events.h"
#include "driver/page_faults.h"
#include "driver/smi.h"
#include "driver/vtree.h"
#include "mem/vm.h"

/*
 * Layout of the one sparse memory file that plays /dev/kfd and every render node, so that mmap,
 * munmap, dup and close of the program need no interposition. Each GPU's doorbell page starts at
 * a multiple of 4 GiB, because the 5.2 thunk masks the first queue's offset with
 * 0xffffffff00000000.
 */
#define DEVICE_OFFSET_MMIO     UINT64_C(0x10000)
#define DEVICE_OFFSET_DOORBELL (UINT64_C(1) << 32) /* times GPU number + 1 */
#define DEVICE_OFFSET_HEAP     (UINT64_C(1) << 37)
#define DEVICE_FILE_BYTES      (UINT64_C(1) << 50)
/* Our descriptors lie high, because programs that turn into daemons close low numbers in bulk. */
enum { FILE_NUMBER_MIN = 900 };
enum { DOORBELL_PAGE_BYTES = 8192, DOORBELLS_PER_PAGE = DOORBELL_PAGE_BYTES / 8 };

struct buffer;
struct svm_range;
struct storage;

struct gpu {
    struct driver *driver;
    uint32_t gpu_id;
    const struct gpu_model *model;
    struct vm *vm;
    struct cp_device *cp;
    uint64_t vram_used_bytes;     /* under driver.lock */
    volatile uint64_t *doorbells; /* our own mapping of the page; NULL until the first queue */
};

struct queue {
    bool used;
    bool busy; /* one thread is making, changing or destroying it: `config` is its own */
    struct cp_queue_config config;
};

struct driver {
    int gpu_count;
    struct gpu gpu[GPU_DEVICES_MAX];
    int file; /* the memory file, at a high number, close-on-exec */
    dev_t file_dev;
    ino_t file_ino;
    struct cp *cp;
    struct doorbell_watch *watch;
    struct events events;
    struct smi smi;
    struct page_faults page_faults;

    pthread_mutex_t lock;    /* all below; never held while calling cp_* or waiting */
    pthread_cond_t released; /* a buffer or a queue is busy no more, or gone */
    uint32_t runtimes;       /* that want to be told of exceptions */
    bool has_xnack;          /* waves wait for page faults, which find the program's memory */
    struct buffer **buffers; /* by handle - 1 */
    size_t buffer_slots;
    struct storage *heap;                    /* what has its place in the memory file */
    uint64_t heap_next;                      /* offset in it, behind what was placed last */
    bool heap_is_reused;                     /* that began anew: not all behind it is free */
    struct storage *exported;                /* what descriptors were given out for */
    struct storage *imported;                /* of other processes */
    struct queue queues[DOORBELLS_PER_PAGE]; /* by queue id; 0 stays unused */
    pthread_mutex_t svm_lock; /* serialises SVM changes; may be held while vm_* wait */
    struct svm_range *svm;
    /* Beside svm_lock: taken to link ranges, and to read where they are. Held for moments: nothing
     * is allocated, freed or waited for under it. */
    pthread_mutex_t svm_links_lock;
    /* Whether there may be any. Writers: under svm_lock. Reader: munmap() by the program (relaxed:
     * who unmaps memory knows of its attributes what it has told, or been told in some order). */
    _Atomic bool has_svm;
};

/* The tree that the interposed calls serve; NULL when CROCGPU_DEVICES is wrong (said once). */
const struct vtree *driver_tree(void);
/* A new description of the device file for open(); -1 with errno. Starts the driver. */
int driver_open(int flags);
/* The same, for a render node; the file position of the description tells which one it plays. */
int driver_open_render(uint32_t minor, int flags);
uint32_t driver_render_minor_of_fd(int fd);
/* The driver when the program has opened it, else NULL: nothing is started. */
struct driver *driver_running(void);
/* The driver when `fd` is a description of its device file, else NULL. */
struct driver *driver_of_fd(int fd);
/* `info` is what the kernel says of the descriptor. One of a render node becomes a device. */
void driver_stat(int fd, struct stat *info);
struct gpu *driver_gpu(struct driver *driver, uint32_t gpu_id);
/* The GPU behind a render-node minor number, before the driver runs; NULL when there is none. */
const struct gpu_model *driver_model_of_minor(uint32_t minor);
const struct gpu_model *driver_model_of_number(int gpu);

#endif
