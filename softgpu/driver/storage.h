/*
 * Memory behind buffer objects, which several of them may share: a range of the device file, or of
 * another process's. It is handed to other processes and to libdrm as a descriptor ("dmabuf"),
 * whose file position names a record behind the memory, and which holds a lock on that record for
 * as long as any copy of it is open anywhere: that tells when the memory may go.
 */
#ifndef DRIVER_STORAGE_H
#define DRIVER_STORAGE_H

#include "driver/driver.h"
#include "driver/kfd_abi.h"

enum { METADATA_BYTES_MAX = 256 };

struct storage_metadata { /* the program's own; the driver only keeps it */
    uint64_t flags, tiling;
    uint32_t size_bytes;
    uint8_t bytes[METADATA_BYTES_MAX];
};

struct storage {
    uint32_t refs; /* under driver.lock */
    int file;
    bool foreign; /* of another process: `file` is ours to close */
    bool vram, exported;
    uint32_t coherence; /* of KFD_IOC_ALLOC_MEM_FLAGS_*, those that memory types come from */
    uint32_t gpu_id;    /* whose memory it is, or who allocated it */
    uint64_t offset, size_bytes;
    uint64_t device, inode; /* foreign: of its file */
    /* Where GPUs see it, all at one address of the host: that two of their addresses are one memory
     * shows there. Of so many mappings; under driver.lock. */
    uint8_t *view;
    uint32_t views;
    struct storage *next;                   /* in driver.exported, or driver.imported */
    struct storage *heap_next, **heap_link; /* in driver.heap; not foreign */
};

/* All return 0 or -errno, and take driver.lock themselves. `alloc_flags`: of
 * KFD_IOC_ALLOC_MEM_FLAGS_*, VRAM and those of coherence. */
int storage_create(struct driver *driver, struct gpu *gpu, uint32_t alloc_flags,
                   uint64_t size_bytes, struct storage **storage);
void storage_release(struct driver *driver, struct storage *storage);
/* Frees exported memory whose last holder elsewhere has gone. */
void storage_reap(struct driver *driver);
/* The program's descriptor for it. */
int storage_export(struct driver *driver, struct storage *storage, int flags, int *fd);
/* A name by which another process of the same user finds it while this one has it. */
int storage_publish(struct driver *driver, struct storage *storage, struct storage_name *name);
/* What whoever lends published memory says of it, for whoever gets it; no flags of ours. */
int storage_flags_say(const struct storage *storage, uint32_t flags);
uint32_t storage_flags_said(const struct storage *storage);
int storage_find(struct driver *driver, const struct storage_name *name, struct storage **storage);

/* One more reference to what the descriptor names. */
int storage_import(struct driver *driver, int fd, struct storage **storage);
/* Where in its file the memory of a dmabuf is; false for any other descriptor. */
bool storage_dmabuf_place(int fd, uint64_t *place, uint64_t *size_bytes);
int storage_metadata_read(const struct storage *storage, struct storage_metadata *metadata);
int storage_metadata_write(struct driver *driver, struct storage *storage,
                           const struct storage_metadata *metadata);

/* A host view of it, MADV_DONTFORK: the caller's own. */
int storage_map(const struct storage *storage, uint8_t **host);
/* mmap() of a part of another process's memory, which is not in our file: who hands out offsets
 * for it puts a number of his own above so many bits. MAP_FAILED and errno. */
enum { STORAGE_SIZE_BITS = 40 };
void *storage_foreign_map(const struct storage *storage, void *address, size_t size_bytes,
                          int rights, int flags, uint64_t offset);
/* The GPUs' view, for one more of their mappings; and one less, which is in no vm any more. */
int storage_view_take(struct driver *driver, struct storage *storage, uint8_t **host);
void storage_view_release(struct driver *driver, struct storage *storage);

#endif
