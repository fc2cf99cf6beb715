/* Records in their public layout. Times of API records are ticks until delivery (record_finish). */
#include "session/record.h"
#include "base/clock_pairs.h"
#include "session/internal.h"

#include <rocprofiler-sdk/buffer_tracing.h>
#include <string.h>

/* All API records begin alike, which the hot path relies on. */
_Static_assert(offsetof(api_record, operation) == offsetof(api_record, kind) + 4 &&
                   offsetof(api_record, kind) % 8 == 0,
               "kind and operation are one word");
#define SAME_LAYOUT(type)                                                                          \
    _Static_assert(offsetof(type, kind) == offsetof(api_record, kind) &&                           \
                       offsetof(type, operation) == offsetof(api_record, operation) &&             \
                       offsetof(type, correlation_id) == offsetof(api_record, correlation_id) &&   \
                       offsetof(type, start_timestamp) == offsetof(api_record, start_timestamp) && \
                       offsetof(type, end_timestamp) == offsetof(api_record, end_timestamp) &&     \
                       offsetof(type, thread_id) == offsetof(api_record, thread_id),               \
                   #type)
SAME_LAYOUT(rocprofiler_buffer_tracing_hip_api_record_t);
SAME_LAYOUT(rocprofiler_buffer_tracing_hip_api_ext_record_t);
SAME_LAYOUT(rocprofiler_buffer_tracing_marker_api_record_t);
SAME_LAYOUT(rocprofiler_buffer_tracing_rccl_api_record_t);
SAME_LAYOUT(rocprofiler_buffer_tracing_rocdecode_api_record_t);
SAME_LAYOUT(rocprofiler_buffer_tracing_rocjpeg_api_record_t);
SAME_LAYOUT(rocprofiler_buffer_tracing_rocshmem_api_record_t);
SAME_LAYOUT(rocprofiler_buffer_tracing_hipfile_api_record_t);
#define SAME_PLACE(type)                                                                           \
    offsetof(type, args) == offsetof(rocprofiler_buffer_tracing_hip_api_ext_record_t, args)
_Static_assert(SAME_PLACE(rocprofiler_buffer_tracing_rocdecode_api_ext_record_t) &&
                   SAME_PLACE(rocprofiler_buffer_tracing_rocshmem_api_ext_record_t) &&
                   SAME_PLACE(rocprofiler_buffer_tracing_hipfile_api_ext_record_t),
               "arguments stand at one place");
SAME_LAYOUT(rocprofiler_buffer_tracing_ompt_record_t);
_Static_assert(sizeof(api_record) == 64, "one cache line");
_Static_assert(offsetof(api_record, end_timestamp) ==
                   offsetof(api_record, start_timestamp) + sizeof(uint64_t),
               "times are a pair");
_Static_assert(sizeof(struct tracebuf_item) == sizeof(rocprofiler_record_header_t) &&
                   offsetof(struct tracebuf_item, payload) ==
                       offsetof(rocprofiler_record_header_t, payload),
               "tracebuf hands out public headers");

static api_record *api_record_put(struct thread *thread, const struct trace_frame *frame,
                                  struct tracebuf *buffer, uint32_t kind, size_t size_bytes,
                                  rocprofiler_user_data_t external, uint64_t end_ticks)
{
    api_record *record = tracebuf_reserve_sized(
        buffer, thread, tracebuf_tag(ROCPROFILER_BUFFER_CATEGORY_TRACING, kind), size_bytes);
    if (__builtin_expect(!record, 0))
        return NULL;
    record->kind = (rocprofiler_buffer_tracing_kind_t)kind;
    record->operation = frame->operation;
    record->correlation_id.internal = frame->internal;
    record->correlation_id.external = external;
    record->correlation_id.ancestor = frame->ancestor;
    record->start_timestamp = frame->start_ticks;
    record->end_timestamp = end_ticks;
    record->thread_id = session_of(thread)->tid;
    return record;
}

void record_plain_prepare(struct trace_set *set)
{
    uint32_t kind = domains[set->domain].buffer_kind;
    set->lease_offset = (uint32_t)tracebuf_lease_offset(set->subscribers[0].buffer);
    set->record_word =
        tracebuf_word(tracebuf_tag(ROCPROFILER_BUFFER_CATEGORY_TRACING, kind), sizeof(api_record)) |
        TRACEBUF_WORD_LENT;
    set->record_kind_offset = kind - trace_what((enum trace_domain)set->domain, 0);
}

/* The ..._EXT record is the plain one with arguments and return value behind it, as they stand in
 * the callback payload after its size word. */
static void args_record_put(struct thread *thread, const struct trace_frame *frame,
                            const struct trace_subscriber *s, rocprofiler_user_data_t external,
                            uint64_t end_ticks)
{
    size_t args_bytes = *(const uint64_t *)frame->payload - sizeof(uint64_t);
    size_t bytes = offsetof(rocprofiler_buffer_tracing_hip_api_ext_record_t, args) + args_bytes;
    api_record *record =
        api_record_put(thread, frame, s->args_buffer, domains[frame->set->domain].args_kind, bytes,
                       external, end_ticks);
    if (!record)
        return;
    memcpy((char *)record + offsetof(rocprofiler_buffer_tracing_hip_api_ext_record_t, args),
           (const char *)frame->payload + sizeof(uint64_t), args_bytes);
    tracebuf_commit(thread);
}

void record_api(struct thread *thread, const struct trace_frame *frame,
                const struct trace_subscriber *s, rocprofiler_user_data_t external,
                uint64_t end_ticks)
{
    if (s->buffer &&
        api_record_put(thread, frame, s->buffer, domains[frame->set->domain].buffer_kind,
                       sizeof(api_record), external, end_ticks))
        tracebuf_commit(thread);
    if (s->args_buffer && frame->payload)
        args_record_put(thread, frame, s, external, end_ticks);
}

/* ---- delivery */

static bool kind_has_ticks[ROCPROFILER_BUFFER_TRACING_LAST];

void record_init(void)
{
    for (int d = 0; d < TRACE_DOMAIN_COUNT; d++) {
        kind_has_ticks[domains[d].buffer_kind] |= domains[d].is_api;
        kind_has_ticks[domains[d].args_kind] |= domains[d].is_api;
    }
    kind_has_ticks[ROCPROFILER_BUFFER_TRACING_NONE] = false;
}

static bool has_ticks(uint64_t tag)
{
    uint32_t category = (uint32_t)tag, kind = (uint32_t)(tag >> 32);
    return category == ROCPROFILER_BUFFER_CATEGORY_TRACING &&
           kind < ROCPROFILER_BUFFER_TRACING_LAST && kind_has_ticks[kind];
}

size_t record_finish(const struct tracebuf_run *run, struct clock_segment *segment,
                     bool is_producer, void *arg)
{
    (void)arg;
    if (!clock_uses_tsc || !has_ticks(run->tag))
        return run->count;
    return clock_pairs_to_ns(segment, run->at + offsetof(api_record, start_timestamp),
                             run->stride_bytes, run->count, !is_producer);
}

void *record_copy(struct thread *thread, struct tracebuf *buffer, uint32_t tag, const void *record,
                  size_t size_bytes)
{
    bool sized = size_bytes >= sizeof(uint64_t) && *(const uint64_t *)record == size_bytes;
    size_t skipped = sized ? sizeof(uint64_t) : 0;
    char *room = sized ? tracebuf_reserve_sized(buffer, thread, tag, size_bytes)
                       : tracebuf_reserve(buffer, thread, tag, size_bytes);
    if (room)
        memcpy(room + skipped, (const char *)record + skipped, size_bytes - skipped);
    return room;
}

bool trace_buffer_put(struct tracebuf *buffer, uint32_t category, uint32_t kind,
                      const void *payload, size_t size)
{
    struct thread *thread = thread_self();
    if (!thread || !buffer ||
        !record_copy(thread, buffer, tracebuf_tag(category, kind), payload, size))
        return false;
    tracebuf_commit(thread);
    return true;
}

/* So many of them at once as the thread's lease has room for. */
static inline __attribute__((always_inline)) size_t run_put(struct thread *thread,
                                                            struct tracebuf *buffer, uint32_t tag,
                                                            const char *payloads, size_t size,
                                                            size_t count)
{
    uint64_t word = tracebuf_word(tag, size);
    size_t stride = sizeof word + tracebuf_round(size);
    unsigned char *at;
    count = tracebuf_reserve_run(buffer, thread, stride, count, &at);
    for (size_t i = 0; i < count; i++, at += stride)
        memcpy(tracebuf_word_put(at, word), payloads + i * size, size);
    if (count)
        tracebuf_commit(thread);
    return count;
}

void trace_buffer_put_many(struct tracebuf *buffer, uint32_t category, uint32_t kind,
                           const void *payloads, size_t size, size_t count)
{
    enum { VALUE_BYTES = sizeof(rocprofiler_counter_record_t) }; /* known, so copied inline */
    struct thread *thread = thread_self();
    uint32_t tag = tracebuf_tag(category, kind);
    const char *payload = payloads;
    while (thread && buffer && count) {
        size_t done = size == VALUE_BYTES
                          ? run_put(thread, buffer, tag, payload, VALUE_BYTES, count)
                          : run_put(thread, buffer, tag, payload, size, count);
        if (!done) { /* which takes the next lease, or is dropped */
            if (record_copy(thread, buffer, tag, payload, size))
                tracebuf_commit(thread);
            done = 1;
        }
        payload += done * size;
        count -= done;
    }
}
