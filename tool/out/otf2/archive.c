#include "archive.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum attribute {
    ATTRIBUTE_CATEGORY,
    ATTRIBUTE_CORRELATION,
    ATTRIBUTE_DISPATCH,
    ATTRIBUTE_BYTES,
    ATTRIBUTE_MODELLED,
    ATTRIBUTE_HANDLE
};
static const struct {
    const char *name;
    OTF2_Type type;
} attributes[] = {[ATTRIBUTE_CATEGORY] = {"category", OTF2_TYPE_STRING},
                  [ATTRIBUTE_CORRELATION] = {"correlation_id", OTF2_TYPE_UINT64},
                  [ATTRIBUTE_DISPATCH] = {"dispatch_id", OTF2_TYPE_UINT64},
                  [ATTRIBUTE_BYTES] = {"bytes", OTF2_TYPE_UINT64},
                  [ATTRIBUTE_MODELLED] = {"modelled_ns", OTF2_TYPE_UINT64},
                  [ATTRIBUTE_HANDLE] = {"hip_event_handle", OTF2_TYPE_UINT64}};
enum { ATTRIBUTES = sizeof attributes / sizeof attributes[0] };
/* Groups of locations are the processes, then their agents. */
enum {
    LANES_MAX = 512
}; /* of one location: what overlaps with as many others is on the last one */

static const struct {
    const char *category; /* as rocprofv3 calls it */
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
    enum attribute value; /* what an event's value is; 0: it has none */
} kinds[TRACE_KINDS] = {
    [TRACE_HIP] = {"hip_api", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_HIP, 0},
    [TRACE_HSA] = {"hsa_api", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_HIP, 0},
    [TRACE_MARKER] = {"marker_api", OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER, 0},
    [TRACE_RCCL] = {"rccl_api", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_HIP, 0},
    [TRACE_ROCDECODE] = {"rocdecode_api", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER, 0},
    [TRACE_ROCJPEG] = {"rocjpeg_api", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER, 0},
    [TRACE_HIPFILE] = {"hipfile_api", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER, 0},
    [TRACE_ROCSHMEM] = {"rocshmem_api", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER, 0},
    [TRACE_OMPT] = {"ompt", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_OPENMP, 0},
    [TRACE_KERNEL] = {"kernel_dispatch", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_HIP,
                      ATTRIBUTE_DISPATCH},
    [TRACE_COPY] = {"memory_copy", OTF2_REGION_ROLE_DATA_TRANSFER, OTF2_PARADIGM_HIP,
                    ATTRIBUTE_BYTES},
    [TRACE_ALLOCATION] = {"memory_allocation", OTF2_REGION_ROLE_ALLOCATE, OTF2_PARADIGM_HIP,
                          ATTRIBUTE_BYTES},
    [TRACE_SCRATCH] = {"scratch_memory", OTF2_REGION_ROLE_ALLOCATE, OTF2_PARADIGM_HIP,
                       ATTRIBUTE_BYTES},
    [TRACE_KFD] = {"kfd", OTF2_REGION_ROLE_ARTIFICIAL, OTF2_PARADIGM_HIP, 0},
    [TRACE_EVENT] = {"hip_event", OTF2_REGION_ROLE_ARTIFICIAL, OTF2_PARADIGM_HIP, ATTRIBUTE_HANDLE},
};

/* A location of the archive. */
struct lane {
    uint32_t name, location;
    uint64_t events;
    OTF2_EvtWriter *writer;
    struct open_region {
        uint64_t end_ns;
        uint32_t region;
    } * open; /* a stack */
    uint32_t depth, room;
};

struct archive {
    const struct otf2_library *otf2;
    struct trace *trace;
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *definitions;
    OTF2_AttributeList *attributes;
    uint32_t categories[TRACE_KINDS]; /* texts */
    struct lane *lanes;
    uint32_t lane_count, first_lane; /* first_lane: of the location that is being written */
    int status;
    char message[200]; /* of the library's first error */
};

/* The library tells each error where it happens and again on its way; the first one says most. */
static OTF2_ErrorCode error_take(void *data, const char *file, uint64_t line, const char *function,
                                 OTF2_ErrorCode code, const char *format, va_list arguments)
{
    struct archive *archive = data;
    (void)file;
    (void)line;
    (void)function;
    if (!archive->message[0] && (int)code != OTF2_SUCCESS) {
        int length = snprintf(archive->message, sizeof archive->message,
                              "%s: ", archive->otf2->Error_GetDescription(code));
        if (length > 0 && (size_t)length < sizeof archive->message)
            vsnprintf(archive->message + length, sizeof archive->message - (size_t)length, format,
                      arguments);
    }
    return code;
}

static void check(struct archive *archive, OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS && archive->status == 0)
        archive->status = code == OTF2_ERROR_ENOSPC             ? -ENOSPC
                          : code == OTF2_ERROR_MEM_ALLOC_FAILED ? -ENOMEM
                                                                : -EIO;
}

static uint32_t text(struct archive *archive, const char *name)
{
    bool is_new;
    uint32_t id = texts_id(&archive->trace->texts, name, &is_new);
    if (id == 0 && archive->status == 0)
        archive->status = -ENOMEM;
    return id;
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct lane *lane_add(struct archive *archive, uint32_t location)
{
    uint32_t count = archive->lane_count, number = count - archive->first_lane;
    char name[200];
    if ((count & (count - 1)) == 0) {
        void *moved = realloc(archive->lanes, (count ? 2 * count : 1) * sizeof *archive->lanes);
        if (!moved) {
            archive->status = -ENOMEM;
            return NULL;
        }
        archive->lanes = moved;
    }
    const struct trace_location *of = &archive->trace->locations[location];
    struct lane *lane = &archive->lanes[archive->lane_count++];
    *lane = (struct lane){.name = of->name, .location = location};
    if (number > 0) {
        const char *first = "";
        for (uint32_t i = 0; i < archive->trace->texts.capacity; i++)
            if (archive->trace->texts.slots[i].text &&
                archive->trace->texts.slots[i].id == of->name)
                first = archive->trace->texts.slots[i].text;
        snprintf(name, sizeof name, "%s (%u)", first, number + 1);
        lane->name = text(archive, name);
    }
    lane->writer = archive->otf2->Archive_GetEvtWriter(archive->archive, count);
    if (!lane->writer && archive->status == 0)
        archive->status = -EIO;
    return lane;
}

static void lane_leave(struct archive *archive, struct lane *lane, uint64_t until_ns)
{
    while (lane->depth > 0 && lane->open[lane->depth - 1].end_ns <= until_ns) {
        const struct open_region *region = &lane->open[--lane->depth];
        check(archive,
              archive->otf2->EvtWriter_Leave(lane->writer, NULL, region->end_ns, region->region));
        lane->events++;
    }
}

static bool lane_fits(const struct lane *lane, const struct event *event)
{
    return lane->depth == 0 || lane->open[lane->depth - 1].end_ns >= event->end_ns;
}

/* The first lane of the location in which the event nests. */
static struct lane *lane_find(struct archive *archive, const struct event *event)
{
    for (uint32_t i = archive->first_lane; i < archive->lane_count; i++) {
        struct lane *lane = &archive->lanes[i];
        lane_leave(archive, lane, event->begin_ns);
        if (lane_fits(lane, event))
            return lane;
    }
    if (archive->lane_count - archive->first_lane < LANES_MAX)
        return lane_add(archive, event->location);
    return &archive->lanes[archive->lane_count - 1];
}

static void region_enter(struct archive *archive, struct lane *lane, const struct event *event)
{
    const struct trace_region *region = &archive->trace->regions[event->what];
    const struct otf2_library *otf2 = archive->otf2;
    uint64_t end_ns = event->end_ns;
    if (lane->depth > 0 && lane->open[lane->depth - 1].end_ns < end_ns)
        end_ns = lane->open[lane->depth - 1].end_ns; /* only where there are no more lanes */
    if (lane->depth == lane->room) {
        uint32_t room = lane->room ? 2 * lane->room : 16;
        void *moved = realloc(lane->open, room * sizeof *lane->open);
        if (!moved) {
            archive->status = -ENOMEM;
            return;
        }
        lane->open = moved;
        lane->room = room;
    }
    otf2->AttributeList_AddStringRef(archive->attributes, ATTRIBUTE_CATEGORY,
                                     archive->categories[region->kind]);
    otf2->AttributeList_AddUint64(archive->attributes, ATTRIBUTE_CORRELATION,
                                  event->correlation_id);
    if (kinds[region->kind].value)
        otf2->AttributeList_AddUint64(archive->attributes, kinds[region->kind].value, event->value);
    if (event->modelled_ns)
        otf2->AttributeList_AddUint64(archive->attributes, ATTRIBUTE_MODELLED, event->modelled_ns);
    check(archive,
          otf2->EvtWriter_Enter(lane->writer, archive->attributes, event->begin_ns, event->what));
    lane->events++;
    lane->open[lane->depth++] = (struct open_region){end_ns, event->what};
}

static void metric_put(struct archive *archive, struct lane *lane, const struct event *event)
{
    const OTF2_Type type = OTF2_TYPE_DOUBLE;
    OTF2_MetricValue value = {.unsigned_int = event->value}; /* the bits of a double */
    check(archive, archive->otf2->EvtWriter_Metric(lane->writer, NULL, event->begin_ns,
                                                   event->what & ~TRACE_METRIC, 1, &type, &value));
    lane->events++;
}

/* Nothing more comes for the location. */
static void lanes_finish(struct archive *archive)
{
    for (uint32_t i = archive->first_lane; i < archive->lane_count; i++) {
        struct lane *lane = &archive->lanes[i];
        lane_leave(archive, lane, UINT64_MAX);
        free(lane->open);
        lane->open = NULL;
        if (lane->writer)
            check(archive, archive->otf2->Archive_CloseEvtWriter(archive->archive, lane->writer));
        lane->writer = NULL;
    }
    archive->first_lane = archive->lane_count;
}

static void events_write(struct archive *archive)
{
    struct event event;
    uint32_t location = 0;
    check(archive, archive->otf2->Archive_OpenEvtFiles(archive->archive));
    while (archive->status == 0 && events_next(&archive->trace->events, &event)) {
        if (event.location != location)
            lanes_finish(archive);
        location = event.location;
        struct lane *lane = event.what & TRACE_METRIC && archive->first_lane < archive->lane_count
                                ? &archive->lanes[archive->first_lane]
                                : lane_find(archive, &event);
        if (!lane || !lane->writer)
            break;
        if (event.what & TRACE_METRIC) {
            lane_leave(archive, lane, event.begin_ns);
            metric_put(archive, lane, &event);
        } else {
            region_enter(archive, lane, &event);
        }
    }
    lanes_finish(archive);
    if (archive->status == 0)
        archive->status = archive->trace->events.status;
    check(archive, archive->otf2->Archive_CloseEvtFiles(archive->archive));
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* Readers want a file of definitions for each location, be it empty. */
static void local_definitions_write(struct archive *archive)
{
    const struct otf2_library *otf2 = archive->otf2;
    check(archive, otf2->Archive_OpenDefFiles(archive->archive));
    for (uint32_t i = 0; i < archive->lane_count && archive->status == 0; i++) {
        OTF2_DefWriter *writer = otf2->Archive_GetDefWriter(archive->archive, i);
        if (writer)
            check(archive, otf2->Archive_CloseDefWriter(archive->archive, writer));
        else
            archive->status = -EIO;
    }
    check(archive, otf2->Archive_CloseDefFiles(archive->archive));
}

static void clock_write(struct archive *archive)
{
    const struct trace *trace = archive->trace;
    uint64_t now_ns = clock_now_ns(), real_ns = clock_read_ns(CLOCK_REALTIME);
    bool is_empty = trace->first_ns > trace->last_ns;
    uint64_t first_ns = is_empty ? now_ns : trace->first_ns;
    check(archive, archive->otf2->GlobalDefWriter_WriteClockProperties(
                       archive->definitions, 1000000000, first_ns,
                       is_empty ? 0 : trace->last_ns - first_ns, real_ns - (now_ns - first_ns)));
}

static void strings_write(struct archive *archive)
{
    const struct texts *texts = &archive->trace->texts;
    for (uint32_t i = 0; i < texts->capacity; i++)
        if (texts->slots[i].text)
            check(archive, archive->otf2->GlobalDefWriter_WriteString(
                               archive->definitions, texts->slots[i].id, texts->slots[i].text));
}

static void attributes_write(struct archive *archive)
{
    for (uint32_t i = 0; i < ATTRIBUTES; i++)
        check(archive, archive->otf2->GlobalDefWriter_WriteAttribute(
                           archive->definitions, i, text(archive, attributes[i].name),
                           text(archive, ""), attributes[i].type));
}

static void regions_write(struct archive *archive)
{
    const struct trace *trace = archive->trace;
    uint32_t none = text(archive, "");
    for (uint32_t i = 0; i < trace->region_count; i++) {
        const struct trace_region *region = &trace->regions[i];
        check(archive, archive->otf2->GlobalDefWriter_WriteRegion(
                           archive->definitions, i, region->name, region->name,
                           archive->categories[region->kind], kinds[region->kind].role,
                           kinds[region->kind].paradigm, OTF2_REGION_FLAG_NONE, none, 0, 0));
    }
}

static void metrics_write(struct archive *archive)
{
    const struct otf2_library *otf2 = archive->otf2;
    for (uint32_t i = 0; i < archive->trace->metric_count; i++) {
        const struct trace_metric *metric = &archive->trace->metrics[i];
        const OTF2_MetricMemberRef member = i;
        check(archive, otf2->GlobalDefWriter_WriteMetricMember(
                           archive->definitions, i, metric->name, metric->description,
                           OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_DOUBLE,
                           OTF2_BASE_DECIMAL, 0, text(archive, "#")));
        check(archive, otf2->GlobalDefWriter_WriteMetricClass(archive->definitions, i, 1, &member,
                                                              OTF2_METRIC_ASYNCHRONOUS,
                                                              OTF2_RECORDER_KIND_GPU));
    }
}

/* Of an agent of the process, or the process itself. */
static uint32_t group_of(const struct trace *trace, const struct trace_location *location)
{
    for (uint32_t i = 0; i < trace->agent_count; i++)
        if (trace->agents[i].node == location->node &&
            trace->agents[i].process == location->process)
            return trace->process_count + i;
    return location->process;
}

/* The first process of the same machine. */
static uint32_t first_of(const struct trace *trace, uint32_t process)
{
    uint32_t first = 0;
    while (trace->processes[first].host != trace->processes[process].host)
        first++;
    return first;
}

/* Machines are numbered in the order of their first processes, without gaps. */
static uint32_t node_of(const struct trace *trace, uint32_t process)
{
    uint32_t first = first_of(trace, process), number = 0;
    for (uint32_t i = 0; i < first; i++)
        number += first_of(trace, i) == i;
    return number;
}

static void groups_write(struct archive *archive)
{
    const struct otf2_library *otf2 = archive->otf2;
    const struct trace *trace = archive->trace;
    OTF2_GlobalDefWriter *to = archive->definitions;
    for (uint32_t i = 0; i < trace->process_count; i++)
        if (first_of(trace, i) == i)
            check(archive, otf2->GlobalDefWriter_WriteSystemTreeNode(
                               to, node_of(trace, i), trace->processes[i].host,
                               text(archive, "node"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t i = 0; i < trace->process_count; i++)
        check(archive, otf2->GlobalDefWriter_WriteLocationGroup(
                           to, i, trace->processes[i].name, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                           node_of(trace, i), OTF2_UNDEFINED_LOCATION_GROUP));
    for (uint32_t i = 0; i < trace->agent_count; i++)
        check(archive, otf2->GlobalDefWriter_WriteLocationGroup(
                           to, trace->process_count + i, trace->agents[i].name,
                           OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
                           node_of(trace, trace->agents[i].process), trace->agents[i].process));
}

/* Machines, below them processes with their threads, and agents with their queues. */
static void places_write(struct archive *archive)
{
    const struct otf2_library *otf2 = archive->otf2;
    const struct trace *trace = archive->trace;
    OTF2_GlobalDefWriter *to = archive->definitions;
    groups_write(archive);
    for (uint32_t i = 0; i < archive->lane_count; i++) {
        const struct lane *lane = &archive->lanes[i];
        uint32_t group = group_of(trace, &trace->locations[lane->location]);
        check(archive, otf2->GlobalDefWriter_WriteLocation(
                           to, i, lane->name,
                           group < trace->process_count ? OTF2_LOCATION_TYPE_CPU_THREAD
                                                        : OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
                           lane->events, group));
    }
}

/* Strings come first, and whatever follows must have none that are new. */
static void definitions_write(struct archive *archive)
{
    static const char *const more[] = {"", "#", "node"};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        text(archive, more[i]);
    for (int i = 0; i < ATTRIBUTES; i++)
        text(archive, attributes[i].name);
    archive->definitions = archive->otf2->Archive_GetGlobalDefWriter(archive->archive);
    if (!archive->definitions || archive->status != 0) {
        archive->status = archive->status ? archive->status : -EIO;
        return;
    }
    clock_write(archive);
    strings_write(archive);
    attributes_write(archive);
    regions_write(archive);
    metrics_write(archive);
    places_write(archive);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static OTF2_FlushType flush_always(void *data, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool is_last)
{
    (void)data;
    (void)type;
    (void)location;
    (void)caller;
    (void)is_last;
    return OTF2_FLUSH;
}

/* The library writes what it has when it gets no further memory, by itself only after 128 MB. So a
 * file of events gets one piece; definitions, which are few, get what they want. */
struct piece {
    struct piece *next;
    max_align_t bytes[];
};

static void *piece_allocate(void *data, OTF2_FileType type, OTF2_LocationRef location,
                            void **of_buffer, uint64_t size)
{
    (void)data;
    (void)location;
    if (type == OTF2_FILETYPE_EVENTS && *of_buffer)
        return NULL;
    struct piece *piece = malloc(sizeof *piece + size);
    if (!piece)
        return NULL;
    piece->next = *of_buffer;
    *of_buffer = piece;
    return piece->bytes;
}

static void pieces_free(void *data, OTF2_FileType type, OTF2_LocationRef location, void **of_buffer,
                        bool is_last)
{
    (void)data;
    (void)type;
    (void)location;
    (void)is_last;
    for (struct piece *piece = *of_buffer, *next; piece; piece = next) {
        next = piece->next;
        free(piece);
    }
    *of_buffer = NULL;
}

static void archive_fill(struct archive *archive)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = flush_always};
    static const OTF2_MemoryCallbacks memory = {piece_allocate, pieces_free};
    const struct otf2_library *otf2 = archive->otf2;
    for (uint32_t kind = 0; kind < TRACE_KINDS; kind++)
        archive->categories[kind] = text(archive, kinds[kind].category);
    archive->attributes = otf2->AttributeList_New();
    if (!archive->attributes)
        archive->status = -ENOMEM;
    check(archive, otf2->Archive_SetFlushCallbacks(archive->archive, &flush, NULL));
    check(archive, otf2->Archive_SetMemoryCallbacks(archive->archive, &memory, NULL));
    check(archive, otf2->Archive_SetSerialCollectiveCallbacks(archive->archive));
    check(archive, otf2->Archive_SetCreator(archive->archive, "crocprof"));
    if (archive->status == 0)
        events_write(archive);
    if (archive->status == 0)
        local_definitions_write(archive);
    if (archive->status == 0)
        definitions_write(archive);
    otf2->AttributeList_Delete(archive->attributes);
}

int archive_write(const struct otf2_library *library, const char *directory, const char *name,
                  struct trace *trace, char *error, size_t error_size)
{
    struct archive archive = {.otf2 = library, .trace = trace, .status = trace->status};
    /* The library may be the program's, too, whose handler comes back afterwards. */
    OTF2_ErrorCallback before = library->Error_RegisterCallback(error_take, &archive);
    if (archive.status == 0)
        archive.status = events_sort(&trace->events);
    if (archive.status == 0) {
        archive.archive = library->Archive_Open(
            directory, name, OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
            OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
        archive.status = archive.archive ? 0 : -EIO;
    }
    if (archive.archive) {
        archive_fill(&archive);
        check(&archive, library->Archive_Close(archive.archive));
    }
    library->Error_RegisterCallback(before, NULL);
    free(archive.lanes);
    if (archive.status != 0)
        snprintf(error, error_size, "%s",
                 archive.message[0] ? archive.message : strerror(-archive.status));
    return archive.status;
}
