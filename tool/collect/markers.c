#include "markers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-sdk/marker.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "open_ranges.h"

/* Arrays only grow. One lock: markers are rare beside what they mark. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct marker *done;
static size_t done_count, done_capacity;
static char **messages; /* hash set, linear probing, at most half full */
static size_t message_count, message_capacity;

/* Of the thread that writes markers along the way. All under the lock. */
static pthread_cond_t many = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static bool (*on_many)(void);
static bool is_asked, is_emptied; /* `on_many` was called; and there is somebody who empties */

void markers_fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

void markers_fork_parent(void)
{
    pthread_mutex_unlock(&lock);
}

/* Conditions may have waiters that the child does not have. */
void markers_fork_child(void)
{
    done_count = 0;
    open_ranges_forget();
    many = room = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    is_asked = is_emptied = false;
    pthread_mutex_unlock(&lock);
}

static void *room_for_one(void *array, size_t count, size_t *capacity, size_t size_bytes)
{
    if (count < *capacity)
        return array;
    size_t wanted = *capacity ? 2 * *capacity : 64;
    void *grown = realloc(array, wanted * size_bytes);
    if (grown)
        *capacity = wanted;
    return grown;
}

static size_t hash(const char *text)
{
    uint64_t value = 0xcbf29ce484222325u; /* FNV-1a */
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * 0x100000001b3u;
    return (size_t)(value ^ value >> 32);
}

static char **message_slot(char **table, size_t capacity, const char *text)
{
    size_t at = hash(text) & (capacity - 1);
    while (table[at] && strcmp(table[at], text) != 0)
        at = (at + 1) & (capacity - 1);
    return &table[at];
}

static bool messages_grow(void)
{
    size_t capacity = message_capacity ? 2 * message_capacity : 256;
    char **table = calloc(capacity, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < message_capacity; i++)
        if (messages[i])
            *message_slot(table, capacity, messages[i]) = messages[i];
    free(messages);
    messages = table;
    message_capacity = capacity;
    return true;
}

static const char *message_keep(const char *text)
{
    text = text ? text : "(null)";
    if (2 * (message_count + 1) > message_capacity && !messages_grow())
        return "(out of memory)";
    char **slot = message_slot(messages, message_capacity, text);
    if (!*slot) {
        *slot = strdup(text);
        message_count += *slot != NULL;
    }
    return *slot ? *slot : "(out of memory)";
}

static void done_add(const struct marker *marker)
{
    if (marker->is_hidden)
        return;
    struct marker *grown = room_for_one(done, done_count, &done_capacity, sizeof *done);
    if (!grown)
        return;
    done = grown;
    done[done_count++] = *marker;
}

/* Ranges of a thread are nested, and ids are unique. */
static void open_end(struct range_key key, uint64_t end_ns)
{
    struct marker marker;
    if (!open_ranges_end(key, &marker))
        return;
    marker.end_ns = end_ns;
    done_add(&marker);
}

void markers_on_many(bool (*begin)(void))
{
    on_many = begin;
}

void markers_wait(void)
{
    pthread_mutex_lock(&lock);
    while (done_count < MARKERS_MANY)
        pthread_cond_wait(&many, &lock);
    pthread_mutex_unlock(&lock);
}

void markers_nobody_empties(void)
{
    pthread_mutex_lock(&lock);
    is_emptied = false;
    pthread_cond_broadcast(&room);
    pthread_mutex_unlock(&lock);
}

void markers_somebody_empties(bool is_there)
{
    pthread_mutex_lock(&lock);
    is_asked = is_emptied = is_there;
    pthread_mutex_unlock(&lock);
}

/* Under the lock, which is given up meanwhile. */
static void many_tell(void)
{
    bool begins = on_many && !is_asked;
    if (done_count < MARKERS_MANY)
        return;
    if (begins) {
        is_asked = true;
        pthread_mutex_unlock(&lock);
        bool has_begun = on_many();
        pthread_mutex_lock(&lock);
        is_emptied = has_begun;
    }
    if (done_count % MARKERS_MANY == 0)
        pthread_cond_signal(&many);
    while (is_emptied && done_count >= MARKERS_MAX)
        pthread_cond_wait(&room, &lock);
}

static bool is_paused(const rocprofiler_context_id_t *collecting)
{
    int is_active = 1;
    if (collecting)
        rocprofiler_context_is_active(*collecting, &is_active);
    return !is_active;
}

/* ENTER of what begins, so that its own cost is inside; ENTER of what ends, so that it is not. An
 * id is known at EXIT only: user_data carries the start there. */
void markers_callback(rocprofiler_callback_tracing_record_t record,
                      rocprofiler_user_data_t *user_data, void *data)
{
    const rocprofiler_callback_tracing_marker_api_data_t *call = record.payload;
    bool enter = record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
    rocprofiler_timestamp_t now = 0;
    rocprofiler_get_timestamp(&now);
    struct marker marker = {.thread_id = record.thread_id,
                            .correlation_id = record.correlation_id.internal,
                            .parent_id = record.correlation_id.ancestor,
                            .is_hidden = is_paused(data),
                            .start_ns = now,
                            .end_ns = now};
    pthread_mutex_lock(&lock);
    switch (record.operation) {
    case ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA:
        marker.message = message_keep(call->args.roctxMarkA.message);
        if (enter)
            done_add(&marker);
        break;
    case ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA:
        marker.message = message_keep(call->args.roctxRangePushA.message);
        if (enter)
            open_ranges_add((struct range_key){0, record.thread_id}, &marker);
        break;
    case ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop:
        if (enter)
            open_end((struct range_key){0, record.thread_id}, now);
        break;
    case ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStartA:
        marker.message = message_keep(call->args.roctxRangeStartA.message);
        marker.start_ns = enter ? now : user_data->value;
        user_data->value = marker.start_ns;
        if (!enter)
            open_ranges_add((struct range_key){call->retval.roctx_range_id_t_retval, 0}, &marker);
        break;
    case ROCPROFILER_MARKER_CORE_API_ID_roctxRangeStop:
        if (enter && call->args.roctxRangeStop.id != 0)
            open_end((struct range_key){call->args.roctxRangeStop.id, 0}, now);
        break;
    default: /* roctxGetThreadId marks nothing */
        break;
    }
    many_tell();
    pthread_mutex_unlock(&lock);
}

void markers_control(const char *function, const rocprofiler_callback_tracing_record_t *record,
                     rocprofiler_user_data_t *user_data)
{
    rocprofiler_timestamp_t now = 0;
    rocprofiler_get_timestamp(&now);
    if (record->phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        user_data->value = now;
        return;
    }
    pthread_mutex_lock(&lock);
    const struct marker marker = {.message = message_keep(function),
                                  .is_control = true,
                                  .thread_id = record->thread_id,
                                  .correlation_id = record->correlation_id.internal,
                                  .parent_id = record->correlation_id.ancestor,
                                  .start_ns = user_data->value,
                                  .end_ns = now};
    done_add(&marker);
    many_tell();
    pthread_mutex_unlock(&lock);
}

const char *markers_current(uint64_t thread_id)
{
    pthread_mutex_lock(&lock);
    const struct marker *newest = open_ranges_newest((struct range_key){0, thread_id});
    const char *message = newest ? newest->message : NULL;
    pthread_mutex_unlock(&lock);
    return message;
}

void markers_each(void (*visit)(const struct marker *marker))
{
    rocprofiler_timestamp_t now = 0;
    struct range_key key;
    rocprofiler_get_timestamp(&now);
    pthread_mutex_lock(&lock);
    while (open_ranges_any(&key))
        open_end(key, now);
    open_ranges_forget();
    pthread_mutex_unlock(&lock);
    markers_done_each(visit);
}

/* Takes the array away first: `visit` runs without the lock. */
void markers_done_each(void (*visit)(const struct marker *marker))
{
    pthread_mutex_lock(&lock);
    struct marker *markers = done;
    size_t count = done_count;
    done = NULL;
    done_count = done_capacity = 0;
    pthread_cond_broadcast(&room);
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < count; i++)
        visit(&markers[i]);
    free(markers);
}
