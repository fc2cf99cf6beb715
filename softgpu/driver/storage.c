#include "driver/storage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/host_memory.h"
#include "driver/real.h"

#define HEAP_UNIT_BYTES (UINT64_C(2) << 20)
#define RECORD_MAGIC    UINT64_C(0x6d656d2d636f7263) /* "croc-mem" */
enum { RECORD_BYTES = 4096 };

/* What an exporter writes behind the memory, for whoever gets the descriptor. */
struct record {
    uint64_t magic;
    uint64_t offset, size_bytes;
    uint32_t gpu_id, vram, coherence;
    uint32_t flags_said;
    struct storage_metadata metadata;
};

static uint64_t record_position(const struct storage *storage)
{
    return storage->offset + storage->size_bytes;
}

/* Where the next memory may begin, if that of `size_bytes` bytes at `offset` stays where it is. */
static uint64_t place_end(uint64_t offset, uint64_t size_bytes)
{
    return (offset + size_bytes + RECORD_BYTES + HEAP_UNIT_BYTES - 1) & ~(HEAP_UNIT_BYTES - 1);
}

/* What lies between the two offsets, or NULL. */
static const struct storage *heap_find(const struct driver *driver, uint64_t start, uint64_t end)
{
    const struct storage *storage = driver->heap;
    while (storage &&
           (storage->offset >= end || place_end(storage->offset, storage->size_bytes) <= start))
        storage = storage->heap_next;
    return storage;
}

/* The first gap behind what was placed last, or else from the heap's begin on: an offset is used
 * again as late as can be, so that hardly a stale mapping of freed memory sees another one's data.
 * 0: there is none. */
static uint64_t heap_place(struct driver *driver, uint64_t size_bytes)
{
    uint64_t at = driver->heap_next;
    for (int laps = driver->heap_is_reused, most = laps + 2; laps < most;) {
        if (size_bytes > DEVICE_FILE_BYTES || place_end(at, size_bytes) > DEVICE_FILE_BYTES) {
            at = DEVICE_OFFSET_HEAP;
            laps++;
            continue;
        }
        const struct storage *other =
            laps > 0 ? heap_find(driver, at, place_end(at, size_bytes)) : NULL;
        if (!other) {
            driver->heap_is_reused = laps > 0;
            return at;
        }
        at = place_end(other->offset, other->size_bytes);
    }
    return 0;
}

/* Places memory in the device file. Under driver.lock. */
static int heap_reserve(struct driver *driver, struct gpu *gpu, struct storage *storage)
{
    if (storage->vram && storage->size_bytes > gpu->model->vram_bytes - gpu->vram_used_bytes)
        return -ENOMEM;
    storage->offset = heap_place(driver, storage->size_bytes);
    if (!storage->offset)
        return -ENOMEM;
    driver->heap_next = place_end(storage->offset, storage->size_bytes);
    storage->heap_next = driver->heap;
    storage->heap_link = &driver->heap;
    if (driver->heap)
        driver->heap->heap_link = &storage->heap_next;
    driver->heap = storage;
    if (storage->vram)
        gpu->vram_used_bytes += storage->size_bytes;
    return 0;
}

/* Under driver.lock; its pages have gone. */
static void heap_release(struct storage *storage)
{
    *storage->heap_link = storage->heap_next;
    if (storage->heap_next)
        storage->heap_next->heap_link = storage->heap_link;
}

int storage_create(struct driver *driver, struct gpu *gpu, uint32_t alloc_flags,
                   uint64_t size_bytes, struct storage **out)
{
    struct storage *storage = calloc(1, sizeof *storage);
    if (!storage)
        return -ENOMEM;
    storage->refs = 1;
    storage->file = driver->file;
    storage->vram = alloc_flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM;
    storage->coherence = alloc_flags & KFD_COHERENCE_FLAGS;
    storage->gpu_id = gpu->gpu_id;
    storage->size_bytes = size_bytes;
    storage_reap(driver);
    pthread_mutex_lock(&driver->lock);
    int status = heap_reserve(driver, gpu, storage);
    pthread_mutex_unlock(&driver->lock);
    if (status)
        free(storage);
    else
        *out = storage;
    return status;
}

/* A read lock on the record, which belongs to the open file and so to all its descriptors. */
static int record_lock(int fd, uint64_t position)
{
    struct flock lock = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = (off_t)position, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &lock) == 0 ? 0 : -errno;
}

static bool record_locked(const struct driver *driver, uint64_t position)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)position, .l_len = 1};
    return fcntl(driver->file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static void reclaim(struct driver *driver, struct storage *storage)
{
    struct gpu *gpu = driver_gpu(driver, storage->gpu_id);
    if (storage->foreign) {
        close(storage->file);
    } else {
        fallocate(driver->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)storage->offset,
                  (off_t)(storage->size_bytes + RECORD_BYTES));
        pthread_mutex_lock(&driver->lock);
        heap_release(storage);
        if (storage->vram && gpu)
            gpu->vram_used_bytes -= storage->size_bytes;
        pthread_mutex_unlock(&driver->lock);
    }
    free(storage);
}

/* Takes one storage that nobody holds any more, here or elsewhere, out of the exported ones. */
static struct storage *exported_take_free(struct driver *driver)
{
    pthread_mutex_lock(&driver->lock);
    struct storage **at = &driver->exported;
    while (*at && ((*at)->refs > 0 || record_locked(driver, record_position(*at))))
        at = &(*at)->next;
    struct storage *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&driver->lock);
    return found;
}

void storage_reap(struct driver *driver)
{
    struct storage *storage;
    while ((storage = exported_take_free(driver)))
        reclaim(driver, storage);
}

/* Under driver.lock. */
static void imported_remove(struct driver *driver, const struct storage *storage)
{
    struct storage **at = &driver->imported;
    while (*at && *at != storage)
        at = &(*at)->next;
    if (*at)
        *at = storage->next;
}

void storage_release(struct driver *driver, struct storage *storage)
{
    pthread_mutex_lock(&driver->lock);
    bool last = --storage->refs == 0, listed = storage->exported && !storage->foreign;
    if (last && storage->foreign)
        imported_remove(driver, storage);
    pthread_mutex_unlock(&driver->lock);
    if (last && !listed)
        reclaim(driver, storage);
    if (last)
        storage_reap(driver);
}

/* Changes a part of the record. By a view of its page: write() that far behind in a file is beyond
 * a limit of file sizes that the program may have, and sends it SIGXFSZ. */
static int record_put(const struct storage *storage, size_t at, const void *from, size_t size_bytes)
{
    _Static_assert(sizeof(struct record) <= RECORD_BYTES, "one page");
    uint8_t *page = real_mmap(NULL, RECORD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, storage->file,
                              (off_t)record_position(storage));
    if (page == MAP_FAILED)
        return -errno;
    memcpy(page + at, from, size_bytes);
    host_unmap(page, RECORD_BYTES);
    return 0;
}

static int record_write(struct driver *driver, struct storage *storage)
{
    struct record record = {.magic = RECORD_MAGIC,
                            .offset = storage->offset,
                            .size_bytes = storage->size_bytes,
                            .gpu_id = storage->gpu_id,
                            .vram = storage->vram,
                            .coherence = storage->coherence};
    int status = record_put(storage, 0, &record, sizeof record);
    if (status)
        return status;
    pthread_mutex_lock(&driver->lock);
    if (!storage->exported) {
        storage->exported = true;
        storage->next = driver->exported;
        driver->exported = storage;
    }
    pthread_mutex_unlock(&driver->lock);
    return 0;
}

int storage_export(struct driver *driver, struct storage *storage, int flags, int *out)
{
    char path[32];
    int status = storage->foreign || storage->exported ? 0 : record_write(driver, storage);
    if (status)
        return status;
    snprintf(path, sizeof path, "/proc/self/fd/%d", storage->file);
    int fd = real_open(path, O_RDWR | (flags & O_CLOEXEC), 0);
    if (fd < 0)
        return -errno;
    uint64_t position = record_position(storage);
    if (real_lseek(fd, (off_t)position, SEEK_SET) < 0)
        status = -errno;
    if (!status)
        status = record_lock(fd, position);
    if (status)
        close(fd);
    else
        *out = fd;
    return status;
}

static bool record_read(int fd, struct record *record)
{
    off_t position = real_lseek(fd, 0, SEEK_CUR);
    return position > 0 && pread(fd, record, sizeof *record, position) == sizeof *record &&
           record->magic == RECORD_MAGIC && record->size_bytes > 0 &&
           record->offset + record->size_bytes == (uint64_t)position &&
           record->metadata.size_bytes <= METADATA_BYTES_MAX;
}

bool storage_dmabuf_place(int fd, uint64_t *place, uint64_t *size_bytes)
{
    struct record record;
    int saved = errno;
    bool found = record_read(fd, &record);
    errno = saved;
    if (!found)
        return false;
    *place = record.offset;
    *size_bytes = record.size_bytes;
    return true;
}

static int import_own(struct driver *driver, const struct record *record, struct storage **out)
{
    int status = -EINVAL;
    pthread_mutex_lock(&driver->lock);
    for (struct storage *s = driver->exported; s && status; s = s->next) {
        if (s->offset != record->offset)
            continue;
        s->refs++;
        *out = s;
        status = 0;
    }
    pthread_mutex_unlock(&driver->lock);
    return status;
}

/* Under driver.lock: the same memory, which has come before. */
static struct storage *imported_find(const struct driver *driver, const struct storage *like)
{
    struct storage *storage = driver->imported;
    while (storage && (storage->device != like->device || storage->inode != like->inode ||
                       storage->offset != like->offset))
        storage = storage->next;
    return storage;
}

/* Takes a new one, unless the memory has come before. Returns what stands for it. */
static struct storage *imported_enter(struct driver *driver, struct storage *storage)
{
    pthread_mutex_lock(&driver->lock);
    struct storage *known = imported_find(driver, storage);
    if (known) {
        known->refs++;
    } else {
        storage->next = driver->imported;
        driver->imported = storage;
    }
    pthread_mutex_unlock(&driver->lock);
    if (!known)
        return storage;
    close(storage->file);
    free(storage);
    return known;
}

static int import_foreign(struct driver *driver, int fd, const struct record *record,
                          struct storage **out)
{
    struct stat info;
    struct storage *storage = real_fstat(fd, &info) == 0 ? calloc(1, sizeof *storage) : NULL;
    if (!storage)
        return -ENOMEM;
    *storage = (struct storage){.device = info.st_dev,
                                .inode = info.st_ino,
                                .refs = 1,
                                .file = fcntl(fd, F_DUPFD_CLOEXEC, FILE_NUMBER_MIN),
                                .foreign = true,
                                .vram = record->vram,
                                .coherence = record->coherence & KFD_COHERENCE_FLAGS,
                                .gpu_id = record->gpu_id,
                                .offset = record->offset,
                                .size_bytes = record->size_bytes};
    if (storage->file < 0)
        storage->file = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (storage->file < 0) {
        free(storage);
        return -errno;
    }
    *out = imported_enter(driver, storage);
    return 0;
}

int storage_import(struct driver *driver, int fd, struct storage **out)
{
    struct record record;
    if (!record_read(fd, &record) || !driver_gpu(driver, record.gpu_id))
        return -EINVAL;
    if (driver_of_fd(fd) == driver)
        return import_own(driver, &record, out);
    return import_foreign(driver, fd, &record, out);
}

/* A name holds the process and the place of the record in its first two words, then the
 * descriptor's number in that process, and the file's inode number as a check. */
enum { POSITION_BITS = 38, POSITION_UNIT_BYTES = 4096 };

int storage_publish(struct driver *driver, struct storage *storage, struct storage_name *name)
{
    if (storage->foreign) /* only its owner lends it */
        return -EINVAL;
    int status = storage->exported ? 0 : record_write(driver, storage);
    if (status)
        return status;
    uint64_t where =
        (uint64_t)getpid() << POSITION_BITS | record_position(storage) / POSITION_UNIT_BYTES;
    *name = (struct storage_name){{(uint32_t)where, (uint32_t)(where >> 32),
                                   (uint32_t)storage->file, (uint32_t)driver->file_ino}};
    return 0;
}

int storage_find(struct driver *driver, const struct storage_name *name, struct storage **out)
{
    char path[64];
    struct stat info;
    uint64_t where = name->words[0] | (uint64_t)name->words[1] << 32;
    uint64_t position = (where & ((UINT64_C(1) << POSITION_BITS) - 1)) * POSITION_UNIT_BYTES;
    snprintf(path, sizeof path, "/proc/%u/fd/%u", (unsigned)(where >> POSITION_BITS),
             name->words[2]);
    /* Looked at before it is opened: opening a device or a pipe can have effects of its own. */
    if (real_stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        (uint32_t)info.st_ino != name->words[3])
        return -EINVAL;
    int fd = real_open(path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return -EINVAL;
    /* Locked first: what is there then stays, or was gone before. */
    int status =
        real_fstat(fd, &info) == 0 && (uint32_t)info.st_ino == name->words[3] ? 0 : -EINVAL;
    if (!status && real_lseek(fd, (off_t)position, SEEK_SET) < 0)
        status = -EINVAL;
    if (!status)
        status = record_lock(fd, position);
    if (!status)
        status = storage_import(driver, fd, out);
    close(fd);
    return status;
}

int storage_metadata_read(const struct storage *storage, struct storage_metadata *metadata)
{
    off_t at = (off_t)(record_position(storage) + offsetof(struct record, metadata));
    if (pread(storage->file, metadata, sizeof *metadata, at) != sizeof *metadata ||
        metadata->size_bytes > METADATA_BYTES_MAX)
        return -EIO;
    return 0;
}

int storage_metadata_write(struct driver *driver, struct storage *storage,
                           const struct storage_metadata *metadata)
{
    int status = storage->foreign || storage->exported ? 0 : record_write(driver, storage);
    return status
               ? status
               : record_put(storage, offsetof(struct record, metadata), metadata, sizeof *metadata);
}

int storage_flags_say(const struct storage *storage, uint32_t flags)
{
    return record_put(storage, offsetof(struct record, flags_said), &flags, sizeof flags);
}

uint32_t storage_flags_said(const struct storage *storage)
{
    const off_t at = (off_t)(record_position(storage) + offsetof(struct record, flags_said));
    uint32_t flags;
    return pread(storage->file, &flags, sizeof flags, at) == sizeof flags ? flags : 0;
}

int storage_map(const struct storage *storage, uint8_t **out)
{
    void *host = real_mmap(NULL, storage->size_bytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_NORESERVE, storage->file, (off_t)storage->offset);
    if (host == MAP_FAILED)
        return -errno;
    madvise(host, storage->size_bytes, MADV_DONTFORK);
    *out = host;
    return 0;
}

void *storage_foreign_map(const struct storage *storage, void *address, size_t size_bytes,
                          int rights, int flags, uint64_t offset)
{
    const uint64_t within = offset & ((UINT64_C(1) << STORAGE_SIZE_BITS) - 1);
    if (!storage || !storage->foreign || within > storage->size_bytes ||
        size_bytes > storage->size_bytes - within) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    return real_mmap(address, size_bytes, rights, flags, storage->file,
                     (off_t)(storage->offset + within));
}

int storage_view_take(struct driver *driver, struct storage *storage, uint8_t **host)
{
    int status = 0;
    pthread_mutex_lock(&driver->lock);
    if (!storage->views)
        status = storage_map(storage, &storage->view);
    if (!status) {
        storage->views++;
        *host = storage->view;
    }
    pthread_mutex_unlock(&driver->lock);
    return status;
}

void storage_view_release(struct driver *driver, struct storage *storage)
{
    pthread_mutex_lock(&driver->lock);
    uint8_t *unused = --storage->views ? NULL : storage->view;
    pthread_mutex_unlock(&driver->lock);
    if (unused)
        host_unmap(unused, storage->size_bytes);
}
