#include "events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "out/spool.h"

enum {
    CHUNK_EVENTS = 1 << 18, /* 12 MB */
    CHUNK_FIRST = 1 << 10,
    MERGE_BYTES = 8 << 20, /* the buffers of all runs */
    BUFFER_EVENTS_MIN = 64,
};

void events_open(struct events *events, const char *directory)
{
    *events = (struct events){.directory = directory, .file = -1};
}

static bool is_before(const struct event *a, const struct event *b)
{
    if (a->location != b->location)
        return a->location < b->location;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns;
    return a->correlation_id < b->correlation_id;
}

static int compare(const void *a, const void *b)
{
    return is_before(a, b) ? -1 : is_before(b, a);
}

/* Stable and linear: events of one location nearly have their order already. */
static bool locations_part(const struct event *from, struct event *to, size_t count)
{
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++)
        last = from[i].location > last ? from[i].location : last;
    size_t *begin = calloc((size_t)last + 2, sizeof *begin);
    if (!begin)
        return false;
    for (size_t i = 0; i < count; i++)
        begin[from[i].location + 1]++;
    for (uint32_t i = 0; i <= last; i++)
        begin[i + 1] += begin[i];
    for (size_t i = 0; i < count; i++)
        to[begin[from[i].location]++] = from[i];
    free(begin);
    return true;
}

/* False: they are too far from their order, and some have been moved. */
static bool nearly_sorted_sort(struct event *events, size_t count)
{
    size_t budget = 16 * count + 64;
    for (size_t i = 1; i < count; i++) {
        if (!is_before(&events[i], &events[i - 1]))
            continue;
        struct event moving = events[i];
        size_t at = i;
        for (; at > 0 && is_before(&moving, &events[at - 1]) && budget > 0; at--, budget--)
            events[at] = events[at - 1];
        events[at] = moving;
        if (budget == 0)
            return false;
    }
    return true;
}

static void chunk_sort(struct events *events)
{
    struct event *parted = malloc(events->room * sizeof *parted);
    if (parted && locations_part(events->chunk, parted, events->count)) {
        free(events->chunk);
        events->chunk = parted;
        if (nearly_sorted_sort(parted, events->count))
            return;
    } else {
        free(parted);
    }
    qsort(events->chunk, events->count, sizeof *events->chunk, compare);
}

static int bytes_write(int file, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t wrote = write(file, (const char *)bytes + done, size - done);
        if (wrote < 0 && errno != EINTR)
            return -errno;
        done += wrote < 0 ? 0 : (size_t)wrote;
    }
    return 0;
}

static struct events_run *run_add(struct events *events)
{
    if (events->run_count == events->run_room) {
        size_t room = events->run_room ? 2 * events->run_room : 16;
        void *moved = realloc(events->runs, room * sizeof *events->runs);
        if (!moved)
            return NULL;
        events->runs = moved;
        events->run_room = room;
    }
    return &events->runs[events->run_count++];
}

/* Sorts what is in memory and puts it into the file. */
static void chunk_spill(struct events *events)
{
    if (events->file < 0) {
        events->file = spool_file_create(events->directory);
        if (events->file < 0) {
            events->status = events->file;
            return;
        }
    }
    chunk_sort(events);
    uint64_t at = 0;
    for (size_t i = 0; i < events->run_count; i++)
        at += events->runs[i].left;
    struct events_run *run = run_add(events);
    if (!run) {
        events->status = -ENOMEM;
        return;
    }
    *run = (struct events_run){.at = at, .left = events->count};
    events->status = bytes_write(events->file, events->chunk, events->count * sizeof(struct event));
    events->count = 0;
}

static bool room_make(struct events *events)
{
    if (events->count < events->room)
        return true;
    size_t room = events->room ? 4 * events->room : CHUNK_FIRST;
    if (events->room < CHUNK_EVENTS) {
        void *moved = realloc(events->chunk, room * sizeof *events->chunk);
        if (moved) {
            events->chunk = moved;
            events->room = room;
            return true;
        }
        if (!events->room) {
            events->status = -ENOMEM;
            return false;
        }
    }
    chunk_spill(events);
    return events->status == 0;
}

void events_add(struct events *events, const struct event *event)
{
    if (events->status == 0 && room_make(events))
        events->chunk[events->count++] = *event;
}

/* ---- merging --------------------------------------------------------------------------------- */

static bool run_fill(struct events *events, struct events_run *run)
{
    if (run->next < run->buffered)
        return true;
    size_t count = run->left < events->buffer_events ? (size_t)run->left : events->buffer_events;
    size_t size = count * sizeof(struct event), done = 0;
    while (done < size) {
        ssize_t got = pread(events->file, (char *)run->buffer + done, size - done,
                            (off_t)(run->at * sizeof(struct event) + done));
        if (got == 0 || (got < 0 && errno != EINTR)) {
            events->status = got == 0 ? -EIO : -errno;
            return false;
        }
        done += got < 0 ? 0 : (size_t)got;
    }
    run->at += count;
    run->left -= count;
    run->buffered = count;
    run->next = 0;
    return count > 0;
}

static const struct event *first(const struct events_run *run)
{
    return &run->buffer[run->next];
}

static void heap_sink(struct events *events, size_t at)
{
    struct events_run **heap = events->heap;
    for (;;) {
        size_t least = at, left = 2 * at + 1, right = left + 1;
        if (left < events->heap_count && is_before(first(heap[left]), first(heap[least])))
            least = left;
        if (right < events->heap_count && is_before(first(heap[right]), first(heap[least])))
            least = right;
        if (least == at)
            return;
        struct events_run *other = heap[at];
        heap[at] = heap[least];
        heap[least] = other;
        at = least;
    }
}

static int merge_begin(struct events *events)
{
    free(events->chunk);
    events->chunk = NULL;
    events->room = 0;
    events->buffer_events = MERGE_BYTES / sizeof(struct event) / events->run_count;
    if (events->buffer_events < BUFFER_EVENTS_MIN)
        events->buffer_events = BUFFER_EVENTS_MIN;
    events->heap = calloc(events->run_count, sizeof *events->heap);
    for (size_t i = 0; i < events->run_count && events->heap; i++) {
        struct events_run *run = &events->runs[i];
        run->buffer = malloc(events->buffer_events * sizeof *run->buffer);
        if (!run->buffer)
            return -ENOMEM;
        if (run_fill(events, run))
            events->heap[events->heap_count++] = run;
    }
    for (size_t i = events->heap_count; i-- > 0;)
        heap_sink(events, i);
    return events->heap ? events->status : -ENOMEM;
}

int events_sort(struct events *events)
{
    if (events->status == 0 && events->file >= 0 && events->count > 0)
        chunk_spill(events);
    if (events->status != 0)
        return events->status;
    if (events->file >= 0)
        return events->status = merge_begin(events);
    chunk_sort(events);
    events->room = events->count;
    events->count = 0; /* counts what has been taken from here on */
    return 0;
}

bool events_next(struct events *events, struct event *event)
{
    if (events->file < 0) {
        if (events->count == events->room)
            return false;
        *event = events->chunk[events->count++];
        return true;
    }
    if (events->status != 0 || events->heap_count == 0)
        return false;
    struct events_run *run = events->heap[0];
    *event = run->buffer[run->next++];
    if (!run_fill(events, run))
        events->heap[0] = events->heap[--events->heap_count];
    heap_sink(events, 0);
    return true;
}

void events_close(struct events *events)
{
    for (size_t i = 0; i < events->run_count; i++)
        free(events->runs[i].buffer);
    free(events->runs);
    free(events->heap);
    free(events->chunk);
    if (events->file >= 0)
        close(events->file);
    *events = (struct events){.file = -1};
}
