#include "perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "names/texts.h"
#include "out/writer.h"
#include "proto.h"

/* Field numbers of the format, message by message (trace.proto). */
enum trace_field { TRACE_PACKET = 1 };
enum packet_field {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TRACK_DESCRIPTOR = 60,
    PACKET_FIRST_ON_SEQUENCE = 87,
};
enum descriptor_field {
    DESCRIPTOR_UUID = 1,
    DESCRIPTOR_NAME = 2,
    DESCRIPTOR_PROCESS = 3,
    DESCRIPTOR_THREAD = 4,
    DESCRIPTOR_PARENT = 5,
    DESCRIPTOR_COUNTER = 8,
};
enum process_field { PROCESS_PID = 1, PROCESS_NAME = 6, PROCESS_LABELS = 8 };
enum thread_field { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum counter_field { COUNTER_UNIT = 6 };
enum interned_field { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_NOTE = 3 };
enum interned_entry_field { ENTRY_IID = 1, ENTRY_TEXT = 2 };
enum event_field {
    EVENT_CATEGORY = 3,
    EVENT_NOTE = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_VALUE = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
};
enum event_type { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum note_field { NOTE_NAME = 1, NOTE_NUMBER = 3, NOTE_TEXT = 6 };
enum sequence_flag { SEQUENCE_STATE_CLEARED = 1, SEQUENCE_NEEDS_STATE = 2 };

enum { SEQUENCE_ID = 1, INTERNED_KINDS = 4 };

struct perfetto {
    struct proto packet;
    struct texts texts[INTERNED_KINDS]; /* by enum interned_field */
    perfetto_track last_track;
    int memory_status;
    struct writer writer; /* large, therefore last */
};

static size_t packet_begin(struct perfetto *trace)
{
    proto_reset(&trace->packet);
    size_t open = proto_begin(&trace->packet, TRACE_PACKET);
    proto_u64(&trace->packet, PACKET_SEQUENCE_ID, SEQUENCE_ID);
    return open;
}

static void packet_end(struct perfetto *trace, size_t open)
{
    proto_end(&trace->packet, open);
    if (trace->packet.failed)
        trace->memory_status = -ENOMEM;
    else
        writer_bytes(&trace->writer, (const char *)trace->packet.bytes, trace->packet.used);
}

struct perfetto *perfetto_create(const char *path, int *status)
{
    struct perfetto *trace = malloc(sizeof *trace);
    if (!trace) {
        *status = -ENOMEM;
        return NULL;
    }
    trace->packet = (struct proto){0};
    for (int i = 0; i < INTERNED_KINDS; i++)
        trace->texts[i] = (struct texts){0};
    trace->last_track = 0;
    trace->memory_status = 0;
    *status = writer_open(&trace->writer, path);
    if (*status != 0) {
        free(trace);
        return NULL;
    }
    size_t open = packet_begin(trace);
    proto_u64(&trace->packet, PACKET_FIRST_ON_SEQUENCE, 1);
    proto_u64(&trace->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
    packet_end(trace, open);
    return trace;
}

int perfetto_status(const struct perfetto *trace)
{
    if (!trace)
        return -EINVAL;
    return trace->writer.status != 0 ? trace->writer.status : trace->memory_status;
}

void perfetto_flush(struct perfetto *trace)
{
    if (trace)
        writer_flush(&trace->writer);
}

int perfetto_close(struct perfetto *trace)
{
    int status = writer_close(&trace->writer);
    if (status == 0)
        status = trace->memory_status;
    for (int i = 0; i < INTERNED_KINDS; i++)
        texts_free(&trace->texts[i]);
    proto_free(&trace->packet);
    free(trace);
    return status;
}

/* ---- tracks ---------------------------------------------------------------------------------- */

/* A track descriptor that is being written, and the packet around it. */
struct track {
    size_t packet, descriptor;
};

static struct track track_begin(struct perfetto *trace)
{
    struct track track = {.packet = packet_begin(trace)};
    track.descriptor = proto_begin(&trace->packet, PACKET_TRACK_DESCRIPTOR);
    proto_u64(&trace->packet, DESCRIPTOR_UUID, ++trace->last_track);
    return track;
}

static perfetto_track track_end(struct perfetto *trace, const struct track *track)
{
    proto_end(&trace->packet, track->descriptor);
    packet_end(trace, track->packet);
    return trace->last_track;
}

perfetto_track perfetto_process(struct perfetto *trace, uint32_t pid, const char *name)
{
    if (!trace)
        return 0;
    struct proto *packet = &trace->packet;
    struct track track = track_begin(trace);
    size_t process = proto_begin(packet, DESCRIPTOR_PROCESS);
    proto_u64(packet, PROCESS_PID, pid);
    proto_string(packet, PROCESS_NAME, name);
    proto_end(packet, process);
    return track_end(trace, &track);
}

void perfetto_process_label(struct perfetto *trace, perfetto_track process, uint32_t pid,
                            const char *label)
{
    if (!trace)
        return;
    struct proto *packet = &trace->packet;
    size_t open = packet_begin(trace), descriptor = proto_begin(packet, PACKET_TRACK_DESCRIPTOR);
    proto_u64(packet, DESCRIPTOR_UUID, process);
    size_t of_process = proto_begin(packet, DESCRIPTOR_PROCESS);
    proto_u64(packet, PROCESS_PID, pid);
    proto_string(packet, PROCESS_LABELS, label);
    proto_end(packet, of_process);
    proto_end(packet, descriptor);
    packet_end(trace, open);
}

perfetto_track perfetto_thread(struct perfetto *trace, perfetto_track process, uint32_t pid,
                               uint32_t tid, const char *name)
{
    if (!trace)
        return 0;
    struct proto *packet = &trace->packet;
    struct track track = track_begin(trace);
    if (process)
        proto_u64(packet, DESCRIPTOR_PARENT, process);
    size_t thread = proto_begin(packet, DESCRIPTOR_THREAD);
    proto_u64(packet, THREAD_PID, pid);
    proto_u64(packet, THREAD_TID, tid);
    if (name)
        proto_string(packet, THREAD_NAME, name);
    proto_end(packet, thread);
    return track_end(trace, &track);
}

perfetto_track perfetto_child(struct perfetto *trace, perfetto_track parent, const char *name)
{
    if (!trace)
        return 0;
    struct proto *packet = &trace->packet;
    struct track track = track_begin(trace);
    proto_string(packet, DESCRIPTOR_NAME, name);
    if (parent)
        proto_u64(packet, DESCRIPTOR_PARENT, parent);
    return track_end(trace, &track);
}

perfetto_track perfetto_counter(struct perfetto *trace, perfetto_track parent, const char *name,
                                const char *unit)
{
    if (!trace)
        return 0;
    struct proto *packet = &trace->packet;
    struct track track = track_begin(trace);
    proto_string(packet, DESCRIPTOR_NAME, name);
    if (parent)
        proto_u64(packet, DESCRIPTOR_PARENT, parent);
    size_t counter = proto_begin(packet, DESCRIPTOR_COUNTER);
    if (unit)
        proto_string(packet, COUNTER_UNIT, unit);
    proto_end(packet, counter);
    return track_end(trace, &track);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static perfetto_text interned(struct perfetto *trace, enum interned_field kind, const char *text)
{
    bool is_new;
    if (!trace)
        return 0;
    uint32_t id = texts_id(&trace->texts[kind], text, &is_new);
    if (id == 0)
        trace->memory_status = -ENOMEM;
    if (!is_new)
        return id;
    size_t open = packet_begin(trace), data = proto_begin(&trace->packet, PACKET_INTERNED_DATA);
    size_t entry = proto_begin(&trace->packet, kind);
    proto_u64(&trace->packet, ENTRY_IID, id);
    proto_string(&trace->packet, ENTRY_TEXT, text);
    proto_end(&trace->packet, entry);
    proto_end(&trace->packet, data);
    proto_u64(&trace->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
    packet_end(trace, open);
    return id;
}

perfetto_text perfetto_name(struct perfetto *trace, const char *name)
{
    return interned(trace, INTERNED_NAME, name);
}

perfetto_text perfetto_category(struct perfetto *trace, const char *name)
{
    return interned(trace, INTERNED_CATEGORY, name);
}

perfetto_text perfetto_note_name(struct perfetto *trace, const char *name)
{
    return interned(trace, INTERNED_NOTE, name);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* More than an event's packet needs without its notes, and a note without its text. */
enum { EVENT_BYTES = 128, NOTE_BYTES = 8 * PROTO_VARINT_BYTES, SHORT_MESSAGE = 127 };

static size_t event_bytes(const struct perfetto_event *event)
{
    size_t bytes = EVENT_BYTES + event->note_count * NOTE_BYTES;
    for (uint32_t i = 0; i < event->note_count; i++)
        bytes += event->notes[i].text ? strlen(event->notes[i].text) : 0;
    return bytes;
}

/* A number of fewer than eight bytes' varint leaves a message of fewer than 128. */
static uint8_t *number_note_at(uint8_t *at, const struct perfetto_note *note)
{
    uint8_t *body = proto_tag_at(at, EVENT_NOTE, PROTO_DELIMITED) + 1;
    uint8_t *end = proto_u64_at(body, NOTE_NAME, note->name);
    end = proto_u64_at(end, NOTE_NUMBER, note->number);
    body[-1] = (uint8_t)(end - body);
    return end;
}

static uint8_t *text_note_at(uint8_t *at, const struct perfetto_note *note)
{
    uint8_t name[2 * PROTO_VARINT_BYTES], length[PROTO_VARINT_BYTES];
    size_t text = strlen(note->text);
    size_t size = (size_t)(proto_u64_at(name, NOTE_NAME, note->name) - name);
    size_t head = 1 + (size_t)(proto_varint_at(length, text) - length); /* the tag is one byte */
    at = proto_varint_at(proto_tag_at(at, EVENT_NOTE, PROTO_DELIMITED), size + head + text);
    at = proto_u64_at(at, NOTE_NAME, note->name);
    return proto_string_at(at, NOTE_TEXT, note->text, text);
}

static uint8_t *notes_at(uint8_t *at, const struct perfetto_event *event)
{
    for (uint32_t i = 0; i < event->note_count; i++)
        at = event->notes[i].text ? text_note_at(at, &event->notes[i])
                                  : number_note_at(at, &event->notes[i]);
    return at;
}

/* A packet that is being put together at an address; lengths take one byte, nearly always enough.
 */
struct body {
    uint8_t *packet, *event; /* where each begins */
};

static struct body body_begin(uint8_t *at, uint64_t time_ns, bool needs_state)
{
    struct body body = {.packet = proto_tag_at(at, TRACE_PACKET, PROTO_DELIMITED) + 1};
    at = proto_u64_at(body.packet, PACKET_SEQUENCE_ID, SEQUENCE_ID);
    at = proto_u64_at(at, PACKET_TIMESTAMP, time_ns);
    if (needs_state)
        at = proto_u64_at(at, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
    body.event = proto_tag_at(at, PACKET_TRACK_EVENT, PROTO_DELIMITED) + 1;
    return body;
}

/* There is room for the longer spelling of a length, which is not often needed. */
static uint8_t *length_put(uint8_t *begin, uint8_t *end)
{
    uint8_t length[PROTO_VARINT_BYTES];
    size_t size = (size_t)(end - begin);
    if (size <= SHORT_MESSAGE) {
        begin[-1] = (uint8_t)size;
        return end;
    }
    size_t bytes = (size_t)(proto_varint_at(length, size) - length);
    memmove(begin - 1 + bytes, begin, size);
    memcpy(begin - 1, length, bytes);
    return end + bytes - 1;
}

static void body_end(struct perfetto *trace, const struct body *body, uint8_t *end)
{
    end = length_put(body->packet, length_put(body->event, end));
    writer_bytes(&trace->writer, (const char *)trace->packet.bytes,
                 (size_t)(end - trace->packet.bytes));
}

/* Room for a packet; NULL: no memory. */
static uint8_t *body_room(struct perfetto *trace, size_t bytes)
{
    proto_reset(&trace->packet);
    uint8_t *at = proto_room(&trace->packet, bytes);
    if (!at)
        trace->memory_status = -ENOMEM;
    return at;
}

static void event_put(struct perfetto *trace, const struct perfetto_event *event,
                      enum event_type type)
{
    uint8_t *at = body_room(trace, event_bytes(event));
    if (!at)
        return;
    struct body body = body_begin(at, event->begin_ns, true);
    at = body.event;
    if (event->category)
        at = proto_u64_at(at, EVENT_CATEGORY, event->category);
    at = proto_u64_at(notes_at(at, event), EVENT_TYPE, type);
    if (event->name)
        at = proto_u64_at(at, EVENT_NAME, event->name);
    at = proto_u64_at(at, EVENT_TRACK, event->track);
    if (event->flow_id)
        at = proto_fixed64_at(at, event->flow_ends ? EVENT_FLOW_END : EVENT_FLOW, event->flow_id);
    body_end(trace, &body, at);
}

void perfetto_begin(struct perfetto *trace, const struct perfetto_event *event)
{
    if (trace)
        event_put(trace, event, TYPE_BEGIN);
}

void perfetto_end(struct perfetto *trace, perfetto_track track, uint64_t end_ns)
{
    uint8_t *at = trace ? body_room(trace, EVENT_BYTES) : NULL;
    if (!at)
        return;
    struct body body = body_begin(at, end_ns, false);
    at = proto_u64_at(body.event, EVENT_TYPE, TYPE_END);
    body_end(trace, &body, proto_u64_at(at, EVENT_TRACK, track));
}

void perfetto_slice(struct perfetto *trace, const struct perfetto_event *event)
{
    perfetto_begin(trace, event);
    perfetto_end(trace, event->track, event->end_ns);
}

void perfetto_instant(struct perfetto *trace, const struct perfetto_event *event)
{
    if (trace)
        event_put(trace, event, TYPE_INSTANT);
}

void perfetto_value(struct perfetto *trace, perfetto_track track, uint64_t at_ns, double value)
{
    uint64_t bits;
    uint8_t *at = trace ? body_room(trace, EVENT_BYTES) : NULL;
    if (!at)
        return;
    memcpy(&bits, &value, sizeof bits);
    struct body body = body_begin(at, at_ns, false);
    at = proto_u64_at(body.event, EVENT_TYPE, TYPE_COUNTER);
    at = proto_u64_at(at, EVENT_TRACK, track);
    body_end(trace, &body, proto_fixed64_at(at, EVENT_VALUE, bits));
}
