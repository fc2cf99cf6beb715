#include "intercept/hsa/replay_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "intercept/hsa/replay_kept.h"

enum { REGIONS_FIRST = 64, PIECE_BYTES = 1 << 20, RESTORE_TRIES = 3, COPY_ALIGNMENT = 256 };

struct region {
    uintptr_t address;
    size_t bytes;
    uint64_t device;
    bool shared; /* written by others than its device, too */
};

/* What of a snapshot's memory a copy is of. */
struct saved {
    struct region region;
    void *copy;
};

struct replay_snapshot {
    struct replay_snapshot *next; /* of those there are; under the lock */
    struct replay_copies copies;
    char *device_copies, *host_copies; /* blocks: copies of each kind of memory, one by one */
    void *piece;                       /* watched memory passes through it; in the device's block */
    size_t count;
    int host;         /* /proc/self/mem */
    int cancel_state; /* of the thread that is busy */
    /* Under the lock: why it may not be restored any more, and whether its memory is being read or
     * written just now. */
    enum replay_status status;
    bool busy;
    struct saved saved[];
};

/* Under one lock, which calls nobody: the regions by address, and the snapshots. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t idle; /* a snapshot is no longer busy */
    struct region *regions;
    size_t count, room;
    struct replay_snapshot *snapshots;
    bool is_partial; /* a region could not be noted */
} known = {.lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER};

static const char *const texts[REPLAY_STATUS_COUNT] = {
    [REPLAY_FINE] = "it can be repeated",
    [REPLAY_NO_ROOM] = "no room for copies of the memory that it may write",
    [REPLAY_NOT_WHOLE] = "it may write memory that is not known",
    [REPLAY_UNREADABLE] = "memory that it may write cannot be read",
    [REPLAY_CHANGED] = "it writes memory that the host or another device uses as well",
    [REPLAY_FREED] = "memory that it may write was freed meanwhile",
    [REPLAY_BROKEN] = "memory that it wrote could not be restored",
};

const char *replay_status_text(enum replay_status status)
{
    return (unsigned)status < REPLAY_STATUS_COUNT ? texts[status] : "unknown";
}

/* ---- children of fork(): what is known is their parent's, and so is who is busy */

static void fork_prepare(void)
{
    pthread_mutex_lock(&known.lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&known.lock);
}

static void fork_child(void)
{
    for (struct replay_snapshot *s = known.snapshots; s; s = s->next) {
        s->status = REPLAY_FREED;
        s->busy = false;
    }
    known.count = 0;
    known.is_partial = true;
    pthread_cond_init(&known.idle, NULL);
    pthread_mutex_unlock(&known.lock);
}

static void fork_watch(void)
{
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- what there is */

/* The first region at the address or behind it. */
static size_t place_of(uintptr_t address)
{
    size_t low = 0, high = known.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (known.regions[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct region *region_at(uintptr_t address)
{
    size_t at = place_of(address);
    return at < known.count && known.regions[at].address == address ? &known.regions[at] : NULL;
}

static bool room_make(void)
{
    size_t room = known.room ? 2 * known.room : REGIONS_FIRST;
    if (known.count < known.room)
        return true;
    struct region *regions = realloc(known.regions, room * sizeof *regions);
    if (!regions)
        return false;
    known.regions = regions;
    known.room = room;
    return true;
}

/* NULL: it is none of the snapshot's, or was left out of it. */
static struct saved *saved_of(struct replay_snapshot *snapshot, uintptr_t address)
{
    for (size_t i = 0; i < snapshot->count; i++)
        if (snapshot->saved[i].region.address == address && snapshot->saved[i].region.bytes > 0)
            return &snapshot->saved[i];
    return NULL;
}

static struct replay_snapshot *busy_with(uintptr_t address)
{
    for (struct replay_snapshot *s = known.snapshots; s; s = s->next)
        if (s->busy && saved_of(s, address))
            return s;
    return NULL;
}

/* Under the lock, which it leaves while copies of the region are under way. The thread is the
 * program's, and would be cancelled with the lock. */
static void copies_wait(uintptr_t address)
{
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    while (busy_with(address))
        pthread_cond_wait(&known.idle, &known.lock);
    pthread_setcancelstate(cancel_state, NULL);
}

/* No copies begin afterwards. Under the lock, as above. */
static void snapshots_end(uintptr_t address, enum replay_status status)
{
    copies_wait(address);
    for (struct replay_snapshot *s = known.snapshots; s; s = s->next)
        if (s->status == REPLAY_FINE && saved_of(s, address))
            s->status = status;
}

/* No kernel uses memory that is given back: snapshots go on without it. Other threads of a program
 * get, lock and give back some all the time. Under the lock, as above. */
static void snapshots_leave_out(uintptr_t address)
{
    copies_wait(address);
    for (struct replay_snapshot *s = known.snapshots; s; s = s->next) {
        struct saved *saved = saved_of(s, address);
        if (saved)
            saved->region.bytes = 0;
    }
}

bool replay_memory_add(uint64_t device, uintptr_t address, size_t bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fork_watch);
    pthread_mutex_lock(&known.lock);
    const struct region *same = region_at(address);
    if (same && same->bytes == bytes && same->device == device && device == REPLAY_HOST) {
        pthread_mutex_unlock(&known.lock); /* registered twice */
        return true;
    }
    snapshots_end(address, REPLAY_FREED); /* it must have been, and we were not told */
    bool fits = room_make();
    if (fits && bytes > 0) {
        struct region *place = region_at(address);
        if (!place) {
            place = &known.regions[place_of(address)];
            memmove(place + 1, place,
                    (size_t)(known.regions + known.count - place) * sizeof *place);
            known.count++;
        }
        *place = (struct region){.address = address, .bytes = bytes, .device = device};
    }
    known.is_partial |= !fits;
    pthread_mutex_unlock(&known.lock);
    return fits;
}

void replay_memory_share(uintptr_t address)
{
    pthread_mutex_lock(&known.lock);
    struct region *region = region_at(address);
    if (region && !region->shared) {
        region->shared = true;
        snapshots_end(address, REPLAY_CHANGED);
    }
    pthread_mutex_unlock(&known.lock);
}

void replay_memory_reach(uintptr_t address, uint64_t device)
{
    pthread_mutex_lock(&known.lock);
    const struct region *region = region_at(address);
    bool is_new = region && region->device != REPLAY_HOST && region->device != device;
    pthread_mutex_unlock(&known.lock);
    if (is_new)
        replay_memory_share(address);
}

void replay_memory_unknown(void)
{
    pthread_mutex_lock(&known.lock);
    known.is_partial = true;
    for (struct replay_snapshot *s = known.snapshots; s; s = s->next)
        if (s->status == REPLAY_FINE)
            s->status = REPLAY_NOT_WHOLE;
    pthread_mutex_unlock(&known.lock);
}

/* Under the lock, which it may leave meanwhile. */
static void region_remove(uintptr_t address)
{
    snapshots_leave_out(address);
    struct region *region = region_at(address);
    if (!region)
        return;
    known.count--;
    memmove(region, region + 1, (size_t)(known.regions + known.count - region) * sizeof *region);
}

void replay_memory_remove(uintptr_t address)
{
    pthread_mutex_lock(&known.lock);
    region_remove(address);
    pthread_mutex_unlock(&known.lock);
}

void replay_memory_remove_range(uintptr_t address, size_t bytes)
{
    pthread_mutex_lock(&known.lock);
    for (size_t at = place_of(address);
         at < known.count && known.regions[at].address - address < bytes; at = place_of(address))
        region_remove(known.regions[at].address);
    pthread_mutex_unlock(&known.lock);
}

/* ---- a snapshot */

static bool is_reachable(const struct region *region, uint64_t device)
{
    return region->device == device || region->device == REPLAY_HOST || region->shared;
}

/* Ours to write between the passes, unless it was left out. */
static bool is_restored(const struct region *region)
{
    return region->device != REPLAY_HOST && !region->shared && region->bytes > 0;
}

/* The host's memory may be unmapped under us, or not be ours to look at: the kernel reads it. */
static bool host_read(int file, char *to, uintptr_t from, size_t bytes)
{
    while (bytes > 0) {
        ssize_t got = pread(file, to, bytes, (off_t)from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        from += (size_t)got;
        bytes -= (size_t)got;
    }
    return true;
}

static bool region_read(const struct replay_snapshot *snapshot, const struct region *region,
                        size_t offset, void *to, size_t bytes)
{
    const struct replay_copies *copies = &snapshot->copies;
    uintptr_t from = region->address + offset;
    if (region->device == REPLAY_HOST)
        return host_read(snapshot->host, to, from, bytes);
    return copies->save(copies->data, to, (const void *)from, bytes);
}

static void *host_get(void *unused, size_t bytes)
{
    (void)unused;
    return malloc(bytes);
}

static void host_put(void *unused, void *memory)
{
    (void)unused;
    free(memory);
}

static const struct replay_copies host_copies = {.get = host_get, .put = host_put};

/* Which regions it is of, known to who removes them from now on. NULL: no memory, or not whole. */
static struct replay_snapshot *snapshot_list(uint64_t device, enum replay_status *status)
{
    pthread_mutex_lock(&known.lock);
    struct replay_snapshot *snapshot =
        calloc(1, sizeof *snapshot + known.count * sizeof snapshot->saved[0]);
    *status = known.is_partial ? REPLAY_NOT_WHOLE : snapshot ? REPLAY_FINE : REPLAY_NO_ROOM;
    if (*status != REPLAY_FINE) {
        pthread_mutex_unlock(&known.lock);
        free(snapshot);
        return NULL;
    }
    for (size_t i = 0; i < known.count; i++)
        if (is_reachable(&known.regions[i], device))
            snapshot->saved[snapshot->count++].region = known.regions[i];
    snapshot->next = known.snapshots;
    known.snapshots = snapshot;
    pthread_mutex_unlock(&known.lock);
    return snapshot;
}

static bool fits(const struct replay_snapshot *snapshot, size_t bytes_max)
{
    size_t left = bytes_max;
    for (size_t i = 0; i < snapshot->count; i++) {
        if (snapshot->saved[i].region.bytes > left)
            return false;
        left -= snapshot->saved[i].region.bytes;
    }
    return true;
}

static size_t copy_bytes(const struct region *region)
{
    return (region->bytes + COPY_ALIGNMENT - 1) / COPY_ALIGNMENT * COPY_ALIGNMENT;
}

/* Their places one behind the other, from `first` on; NULL: only how many bytes they take. */
static size_t copies_place(struct replay_snapshot *snapshot, bool of_host, char *first)
{
    size_t bytes = 0;
    for (size_t i = 0; i < snapshot->count; i++) {
        struct saved *saved = &snapshot->saved[i];
        if (saved->region.bytes == 0 || (saved->region.device == REPLAY_HOST) != of_host)
            continue;
        saved->copy = first ? first + bytes : NULL;
        bytes += copy_bytes(&saved->region);
    }
    return bytes;
}

/* What it needs, before anything is copied. */
static enum replay_status memory_get(struct replay_snapshot *snapshot, size_t bytes_max)
{
    if (!fits(snapshot, bytes_max))
        return REPLAY_NO_ROOM;
    size_t device = PIECE_BYTES + copies_place(snapshot, false, NULL);
    size_t host = copies_place(snapshot, true, NULL);
    snapshot->device_copies = replay_kept_get(&snapshot->copies, device);
    snapshot->host_copies = host > 0 ? replay_kept_get(&host_copies, host) : NULL;
    if (!snapshot->device_copies || (host > 0 && !snapshot->host_copies))
        return REPLAY_NO_ROOM;
    snapshot->piece = snapshot->device_copies;
    copies_place(snapshot, false, snapshot->device_copies + PIECE_BYTES);
    copies_place(snapshot, true, snapshot->host_copies);
    snapshot->host = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    return snapshot->host < 0 ? REPLAY_UNREADABLE : REPLAY_FINE;
}

static enum replay_status region_save(const struct replay_snapshot *snapshot, struct saved *saved)
{
    if (saved->region.bytes == 0 ||
        region_read(snapshot, &saved->region, 0, saved->copy, saved->region.bytes))
        return REPLAY_FINE;
    if (saved->region.device != REPLAY_HOST)
        return REPLAY_UNREADABLE;
    saved->region.bytes = 0; /* managed memory may be unmapped without our being told */
    return REPLAY_FINE;
}

/* What others may write comes last, so that there is little time for it until the pass begins. */
static enum replay_status regions_save(struct replay_snapshot *snapshot)
{
    enum replay_status status = REPLAY_FINE;
    for (int watched = 0; watched <= 1; watched++)
        for (size_t i = 0; i < snapshot->count && status == REPLAY_FINE; i++)
            if (is_restored(&snapshot->saved[i].region) == !watched)
                status = region_save(snapshot, &snapshot->saved[i]);
    return status;
}

static enum replay_status region_compare(const struct replay_snapshot *snapshot,
                                         const struct saved *saved)
{
    size_t bytes = PIECE_BYTES;
    for (size_t done = 0; done < saved->region.bytes; done += bytes) {
        size_t left = saved->region.bytes - done;
        bytes = left < PIECE_BYTES ? left : PIECE_BYTES;
        if (!region_read(snapshot, &saved->region, done, snapshot->piece, bytes))
            return REPLAY_UNREADABLE;
        if (memcmp(snapshot->piece, (const char *)saved->copy + done, bytes) != 0)
            return REPLAY_CHANGED;
    }
    return REPLAY_FINE;
}

static enum replay_status watched_compare(const struct replay_snapshot *snapshot)
{
    enum replay_status status = REPLAY_FINE;
    for (size_t i = 0; i < snapshot->count && status == REPLAY_FINE; i++)
        if (!is_restored(&snapshot->saved[i].region))
            status = region_compare(snapshot, &snapshot->saved[i]);
    return status;
}

/* Tried again, because a part of what the pass wrote is no state of the program's. */
static bool region_restore(const struct replay_snapshot *snapshot, const struct saved *saved)
{
    const struct replay_copies *copies = &snapshot->copies;
    for (int tries = 0; tries < RESTORE_TRIES; tries++)
        if (copies->restore(copies->data, (void *)saved->region.address, saved->copy,
                            saved->region.bytes))
            return true;
    return false;
}

/* Nothing has been written yet when the first one fails. */
static enum replay_status regions_restore(const struct replay_snapshot *snapshot)
{
    bool has_written = false;
    for (size_t i = 0; i < snapshot->count; i++) {
        if (!is_restored(&snapshot->saved[i].region))
            continue;
        if (!region_restore(snapshot, &snapshot->saved[i]))
            return has_written ? REPLAY_BROKEN : REPLAY_UNREADABLE;
        has_written = true;
    }
    return REPLAY_FINE;
}

/* Others may have written it while memory was put back, when no pass ran: that is nothing that a
 * pass has done. Read again where it is less than what was put back. What cannot be read is found
 * out behind the next pass. */
static void watched_renew(const struct replay_snapshot *snapshot)
{
    size_t restored = 0, watched = 0;
    for (size_t i = 0; i < snapshot->count; i++)
        *(is_restored(&snapshot->saved[i].region) ? &restored : &watched) +=
            snapshot->saved[i].region.bytes;
    for (size_t i = 0; i < snapshot->count && watched < restored; i++) {
        const struct saved *saved = &snapshot->saved[i];
        if (saved->region.bytes > 0 && !is_restored(&saved->region))
            region_read(snapshot, &saved->region, 0, saved->copy, saved->region.bytes);
    }
}

/* FINE: until busy_end nobody who gives memory back goes on, and this thread cannot be cancelled,
 * which would leave them waiting. Otherwise somebody has ended the snapshot. */
static enum replay_status busy_begin(struct replay_snapshot *snapshot)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &snapshot->cancel_state);
    pthread_mutex_lock(&known.lock);
    enum replay_status status = snapshot->status;
    snapshot->busy = status == REPLAY_FINE;
    pthread_mutex_unlock(&known.lock);
    if (status != REPLAY_FINE)
        pthread_setcancelstate(snapshot->cancel_state, NULL);
    return status;
}

static enum replay_status busy_end(struct replay_snapshot *snapshot, enum replay_status status)
{
    pthread_mutex_lock(&known.lock);
    snapshot->busy = false;
    if (snapshot->status == REPLAY_FINE) /* others may have ended it meanwhile */
        snapshot->status = status;
    pthread_cond_broadcast(&known.idle);
    pthread_mutex_unlock(&known.lock);
    pthread_setcancelstate(snapshot->cancel_state, NULL);
    return status;
}

struct replay_snapshot *replay_snapshot_take(uint64_t device, size_t bytes_max,
                                             const struct replay_copies *copies,
                                             enum replay_status *status)
{
    struct replay_snapshot *snapshot = snapshot_list(device, status);
    if (!snapshot)
        return NULL;
    snapshot->copies = *copies;
    snapshot->host = -1;
    *status = busy_begin(snapshot);
    if (*status == REPLAY_FINE) {
        *status = memory_get(snapshot, bytes_max);
        if (*status == REPLAY_FINE)
            *status = regions_save(snapshot);
        *status = busy_end(snapshot, *status);
    }
    if (*status == REPLAY_FINE)
        return snapshot;
    replay_snapshot_free(snapshot);
    return NULL;
}

enum replay_status replay_snapshot_restore(struct replay_snapshot *snapshot)
{
    enum replay_status status = busy_begin(snapshot);
    if (status != REPLAY_FINE)
        return status;
    status = watched_compare(snapshot);
    if (status == REPLAY_FINE)
        status = regions_restore(snapshot);
    if (status == REPLAY_FINE)
        watched_renew(snapshot);
    return busy_end(snapshot, status);
}

void replay_snapshot_free(struct replay_snapshot *snapshot)
{
    if (!snapshot)
        return;
    pthread_mutex_lock(&known.lock);
    struct replay_snapshot **link = &known.snapshots;
    while (*link != snapshot)
        link = &(*link)->next;
    *link = snapshot->next;
    pthread_mutex_unlock(&known.lock);
    replay_kept_put(snapshot->device_copies);
    replay_kept_put(snapshot->host_copies);
    if (snapshot->host >= 0)
        close(snapshot->host);
    free(snapshot);
}
