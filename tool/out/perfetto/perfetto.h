/*
 * A trace file in Perfetto's format. All functions but perfetto_close() tolerate NULL, and after an
 * error they go on and write nothing: the first error is what perfetto_status() and
 * perfetto_close() return. Texts are copied. One thread at a time.
 */
#ifndef OUT_PERFETTO_PERFETTO_H
#define OUT_PERFETTO_PERFETTO_H

#include <stdint.h>

struct perfetto;

/* Creates or truncates the file. NULL with *status = -errno. */
struct perfetto *perfetto_create(const char *path, int *status);
/* Writes what is left and frees. 0 or -errno. */
int perfetto_close(struct perfetto *trace);
/* Writes what is there so far. */
void perfetto_flush(struct perfetto *trace);
/* 0, or -errno of the first error. */
int perfetto_status(const struct perfetto *trace);

/* Where slices lie. The value names the track, in this trace only. */
typedef uint64_t perfetto_track;

perfetto_track perfetto_process(struct perfetto *trace, uint32_t pid, const char *name);
/* Shown beside the process's name, instead of the label before. */
void perfetto_process_label(struct perfetto *trace, perfetto_track process, uint32_t pid,
                            const char *label);
/* process: its track, by which readers of traces find whose thread it is. name: NULL for none. */
perfetto_track perfetto_thread(struct perfetto *trace, perfetto_track process, uint32_t pid,
                               uint32_t tid, const char *name);
/* A track of its own, shown below its parent (0: none). */
perfetto_track perfetto_child(struct perfetto *trace, perfetto_track parent, const char *name);

/* A track of values. unit: NULL for none. */
perfetto_track perfetto_counter(struct perfetto *trace, perfetto_track parent, const char *name,
                                const char *unit);

/* Texts that recur are written once and then named by a number. The same text gives the same
 * number; 0: no memory. */
typedef uint32_t perfetto_text;

perfetto_text perfetto_name(struct perfetto *trace, const char *name);
perfetto_text perfetto_category(struct perfetto *trace, const char *name);
perfetto_text perfetto_note_name(struct perfetto *trace, const char *name);

/* A value shown with a slice: the text if there is one, else the number. */
struct perfetto_note {
    perfetto_text name;
    uint64_t number;
    const char *text;
};

struct perfetto_event {
    perfetto_track track;
    perfetto_text name, category;
    uint64_t begin_ns, end_ns;
    uint64_t flow_id; /* events of one flow are joined by arrows in the order of time; 0: none */
    int flow_ends;    /* the last one of its flow */
    const struct perfetto_note *notes;
    uint32_t note_count;
};

/* [begin_ns, end_ns]; slices of one track must nest. */
void perfetto_slice(struct perfetto *trace, const struct perfetto_event *event);
/* Two halves of a slice, where only one is known at a time; begin uses begin_ns, end end_ns. */
void perfetto_begin(struct perfetto *trace, const struct perfetto_event *event);
void perfetto_end(struct perfetto *trace, perfetto_track track, uint64_t end_ns);
/* A moment, at begin_ns. */
void perfetto_instant(struct perfetto *trace, const struct perfetto_event *event);
/* The value of a counter's track from then on. */
void perfetto_value(struct perfetto *trace, perfetto_track track, uint64_t at_ns, double value);

#endif
