/* sample FILE: a small trace whose content decode_test.py knows from the same description. */
#include <stdio.h>

#include "out/perfetto/lanes.h"
#include "out/perfetto/perfetto.h"

static void thread_slices(struct perfetto *trace, perfetto_track thread)
{
    const struct perfetto_note notes[] = {
        {perfetto_note_name(trace, "size_bytes"), 4096, NULL},
        {perfetto_note_name(trace, "arguments"), 0, "say \"x\"\n\xc3\xa9"},
    };
    struct perfetto_event inner = {.track = thread,
                                   .name = perfetto_name(trace, "inner"),
                                   .category = perfetto_category(trace, "api"),
                                   .begin_ns = 1200,
                                   .end_ns = 1300,
                                   .flow_id = 77,
                                   .notes = notes,
                                   .note_count = 2};
    struct perfetto_event outer = inner;
    outer.name = perfetto_name(trace, "outer");
    outer.begin_ns = 1000;
    outer.end_ns = 2000;
    outer.flow_id = 0;
    outer.note_count = 0;
    perfetto_slice(trace, &inner); /* a call ends before the one around it */
    perfetto_slice(trace, &outer);
    outer.begin_ns = 1500;
    outer.name = perfetto_name(trace, "moment");
    perfetto_instant(trace, &outer);
}

static void queue_slices(struct perfetto *trace, perfetto_track process)
{
    struct lanes lanes = {.parent = process, .name = "queue"};
    static const struct {
        const char *name;
        uint64_t begin_ns, end_ns, flow_id;
    } ranges[] = {{"a", 3000, 4000, 77}, {"b", 3500, 4500, 0}, {"c", 4000, 5000, 0}};
    for (int i = 0; i < 3; i++) {
        struct perfetto_event event = {.name = perfetto_name(trace, ranges[i].name),
                                       .category = perfetto_category(trace, "gpu"),
                                       .begin_ns = ranges[i].begin_ns,
                                       .end_ns = ranges[i].end_ns,
                                       .flow_id = ranges[i].flow_id,
                                       .flow_ends = 1};
        event.track = lanes_track(&lanes, trace, event.begin_ns, event.end_ns);
        perfetto_slice(trace, &event);
    }
    lanes_free(&lanes);
}

int main(int argc, char **argv)
{
    int status = 0;
    struct perfetto *trace = argc == 2 ? perfetto_create(argv[1], &status) : NULL;
    if (!trace)
        return 2;
    perfetto_track process = perfetto_process(trace, 10, "program");
    thread_slices(trace, perfetto_thread(trace, process, 10, 11, "worker"));
    queue_slices(trace, process);
    perfetto_track power = perfetto_counter(trace, process, "power", "W");
    perfetto_value(trace, power, 20, -3);
    perfetto_value(trace, power, 10, 0.25);
    return perfetto_close(trace) != 0;
}
