#include "journal_shapes.h"

#include "process.h"

#define TEXT(type, member)                                                                         \
    {                                                                                              \
        JOURNAL_TEXT, offsetof(type, member), 0, 0                                                 \
    }
#define THING(thing, type, member)                                                                 \
    {                                                                                              \
        thing, offsetof(type, member), 0, 0                                                        \
    }
#define ARRAY(type, member, counter)                                                               \
    {                                                                                              \
        JOURNAL_ARRAY, offsetof(type, member), offsetof(type, counter),                            \
            sizeof(*((type *)0)->member)                                                           \
    }
#define DIMENSION(at) TEXT(struct out_counter, dimensions[at].name)
#define SHAPE(type, ...)                                                                           \
    {                                                                                              \
        sizeof(type),                                                                              \
            sizeof((struct journal_member[]){__VA_ARGS__}) / sizeof(struct journal_member),        \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

const char journal_head[] =
    "rows of a program that was killed; 'crocprof convert -f FORMAT THIS_FILE' reads them\n";
_Static_assert(OUT_DIMENSIONS == 7, "a text for each");
_Static_assert(sizeof journal_head <= JOURNAL_HEAD_BYTES, "room for the sentence");

const struct journal_shape journal_things[JOURNAL_THINGS] = {
    [JOURNAL_CODE_OBJECT] = SHAPE(struct out_code_object, TEXT(struct out_code_object, uri),
                                  TEXT(struct out_code_object, storage)),
    [JOURNAL_KERNEL] =
        SHAPE(struct out_kernel, THING(JOURNAL_CODE_OBJECT, struct out_kernel, code_object),
              TEXT(struct out_kernel, symbol), TEXT(struct out_kernel, name),
              TEXT(struct out_kernel, demangled), TEXT(struct out_kernel, truncated)),
    [JOURNAL_COUNTER] = SHAPE(
        struct out_counter, TEXT(struct out_counter, name), TEXT(struct out_counter, description),
        TEXT(struct out_counter, block), TEXT(struct out_counter, expression), DIMENSION(0),
        DIMENSION(1), DIMENSION(2), DIMENSION(3), DIMENSION(4), DIMENSION(5), DIMENSION(6)),
    [JOURNAL_PROCESS] =
        SHAPE(struct out_process, TEXT(struct out_process, command),
              TEXT(struct out_process, environment), TEXT(struct out_process, hostname),
              TEXT(struct out_process, machine_id), TEXT(struct out_process, extdata)),
};

static const struct journal_shape
    api = SHAPE(struct out_api_row, TEXT(struct out_api_row, domain),
                TEXT(struct out_api_row, function), TEXT(struct out_api_row, message),
                ARRAY(struct out_api_row, arguments, arguments_bytes)),
    dispatch =
        SHAPE(struct out_dispatch_row, TEXT(struct out_dispatch_row, kind),
              TEXT(struct out_dispatch_row, kernel_name), TEXT(struct out_dispatch_row, region),
              THING(JOURNAL_KERNEL, struct out_dispatch_row, kernel)),
    counter = SHAPE(struct out_counter_row, TEXT(struct out_counter_row, dispatch.kind),
                    TEXT(struct out_counter_row, dispatch.kernel_name),
                    TEXT(struct out_counter_row, dispatch.region),
                    THING(JOURNAL_KERNEL, struct out_counter_row, dispatch.kernel),
                    TEXT(struct out_counter_row, counter_name),
                    THING(JOURNAL_COUNTER, struct out_counter_row, counter)),
    copy = SHAPE(struct out_copy_row, TEXT(struct out_copy_row, kind),
                 TEXT(struct out_copy_row, direction)),
    allocation = SHAPE(struct out_allocation_row, TEXT(struct out_allocation_row, kind),
                       TEXT(struct out_allocation_row, operation)),
    scratch = SHAPE(struct out_scratch_row, TEXT(struct out_scratch_row, kind),
                    TEXT(struct out_scratch_row, operation)),
    kfd = SHAPE(struct out_kfd_row, TEXT(struct out_kfd_row, kind),
                TEXT(struct out_kfd_row, operation)),
    graph = SHAPE(struct out_graph_row, TEXT(struct out_graph_row, kind),
                  TEXT(struct out_graph_row, operation)),
    hip_event = SHAPE(struct out_event_row, TEXT(struct out_event_row, kind),
                      TEXT(struct out_event_row, operation)),
    agent = SHAPE(struct out_agent_row, TEXT(struct out_agent_row, type),
                  TEXT(struct out_agent_row, times), TEXT(struct out_agent_row, agent.name),
                  TEXT(struct out_agent_row, agent.vendor_name),
                  TEXT(struct out_agent_row, agent.product_name),
                  TEXT(struct out_agent_row, agent.model_name),
                  ARRAY(struct out_agent_row, agent.mem_banks, agent.mem_banks_count),
                  ARRAY(struct out_agent_row, agent.caches, agent.caches_count),
                  ARRAY(struct out_agent_row, agent.io_links, agent.io_links_count));

_Static_assert(sizeof(struct out_agent_row) <= JOURNAL_WORDS_MAX * 8, "the largest row");

const struct journal_shape *journal_shape_of(enum out_table_id table)
{
    switch ((int)table) {
    case OUT_HIP_API:
    case OUT_HSA_API:
    case OUT_MARKER_API:
    case OUT_RCCL_API:
    case OUT_ROCDECODE_API:
    case OUT_ROCJPEG_API:
    case OUT_HIPFILE_API:
    case OUT_ROCSHMEM_API:
    case OUT_OMPT:
        return &api;
    case OUT_KERNEL_TRACE:
        return &dispatch;
    case OUT_COUNTER_COLLECTION:
        return &counter;
    case OUT_MEMORY_COPY:
        return &copy;
    case OUT_MEMORY_ALLOCATION:
        return &allocation;
    case OUT_SCRATCH_MEMORY:
        return &scratch;
    case OUT_KFD:
        return &kfd;
    case OUT_GRAPH_LAUNCH:
        return &graph;
    case OUT_HIP_EVENT:
        return &hip_event;
    case OUT_AGENT_INFO:
        return &agent;
    default:
        return NULL;
    }
}
