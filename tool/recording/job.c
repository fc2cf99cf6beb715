#include "job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct job_entry {
    struct merge_part part;
    struct job_activity activity;
};

struct job {
    struct texts texts, guids;
    struct clocks first; /* whose clock counts */
    struct job_entry **entries;
    unsigned count;
};

struct job *job_create(void)
{
    return calloc(1, sizeof(struct job));
}

void job_destroy(struct job *job)
{
    if (!job)
        return;
    for (unsigned i = 0; i < job->count; i++)
        free(job->entries[i]);
    free(job->entries);
    texts_free(&job->texts);
    texts_free(&job->guids);
    free(job);
}

static const char *keep(struct job *job, const char *text)
{
    const char *kept = texts_keep(&job->texts, text ? text : "");
    return kept ? kept : "";
}

int job_part_begin(struct job *job, const char *path, struct recording *recording,
                   const struct recording_part *part, struct alignment *alignment)
{
    bool is_new = false;
    texts_id(&job->guids, part->guid, &is_new);
    if (!is_new)
        return -EEXIST;
    struct job_entry **grown = realloc(job->entries, (job->count + 1) * sizeof(struct job_entry *));
    struct job_entry *entry = calloc(1, sizeof *entry);
    job->entries = grown ? grown : job->entries;
    if (!grown || !entry) {
        free(entry);
        return -ENOMEM;
    }
    struct clocks clocks = clocks_read(&job->texts, recording_database(recording), part);
    if (job->count == 0)
        job->first = clocks;
    *alignment = clocks_alignment(&job->first, &clocks);
    entry->part = (struct merge_part){.path = keep(job, path),
                                      .hostname = keep(job, part->hostname),
                                      .command = keep(job, part->command),
                                      .pid = part->pid,
                                      .rank = part->rank,
                                      .ranks = part->ranks,
                                      .shift_ns = alignment->shift_ns,
                                      .drift = alignment->drift,
                                      .first_ns = INT64_MAX,
                                      .last_ns = INT64_MIN};
    grown[job->count++] = entry;
    return 0;
}

/* ---- activity */

/* Half as many stretches, of twice the time. */
static void activity_widen(struct job_activity *activity)
{
    float *const kinds[] = {activity->kernels_ns, activity->calls_ns, activity->copies_ns};
    int64_t first = activity->first >> 1;
    uint32_t odd = (uint32_t)(activity->first & 1);
    uint32_t count = (activity->count + odd + 1) / 2;
    for (int kind = 0; kind < 3; kind++) {
        float halved[JOB_STRETCHES] = {0};
        for (uint32_t i = 0; i < activity->count; i++)
            halved[(i + odd) / 2] += kinds[kind][i];
        memcpy(kinds[kind], halved, sizeof halved);
    }
    activity->first = first;
    activity->count = count;
    activity->width_bits++;
}

/* Makes room for that time in front. */
static void activity_move(struct job_activity *activity, uint32_t by)
{
    float *const kinds[] = {activity->kernels_ns, activity->calls_ns, activity->copies_ns};
    for (int kind = 0; kind < 3; kind++) {
        memmove(kinds[kind] + by, kinds[kind], (JOB_STRETCHES - by) * sizeof(float));
        memset(kinds[kind], 0, by * sizeof(float));
    }
    activity->first -= by;
    activity->count += by;
}

static void activity_cover(struct job_activity *activity, int64_t begin_ns, int64_t end_ns)
{
    if (activity->count == 0) {
        activity->width_bits = 10;
        activity->first = begin_ns >> activity->width_bits;
        activity->count = 1;
    }
    for (;;) {
        int64_t first = begin_ns >> activity->width_bits, last = end_ns >> activity->width_bits;
        first = first < activity->first ? first : activity->first;
        int64_t known = activity->first + activity->count - 1;
        last = last > known ? last : known;
        if (last - first < JOB_STRETCHES) {
            if (first < activity->first)
                activity_move(activity, (uint32_t)(activity->first - first));
            activity->count = (uint32_t)(last - first + 1);
            return;
        }
        activity_widen(activity);
    }
}

static void activity_add(struct job_activity *activity, float *of, int64_t begin_ns, int64_t end_ns)
{
    activity_cover(activity, begin_ns, end_ns);
    while (begin_ns < end_ns) {
        int64_t at = begin_ns >> activity->width_bits;
        /* The last moment of the stretch: what comes behind need not be a time. */
        int64_t last_ns = begin_ns | (((int64_t)1 << activity->width_bits) - 1);
        int64_t until_ns = end_ns <= last_ns ? end_ns : last_ns + 1;
        of[at - activity->first] += (float)(until_ns - begin_ns);
        begin_ns = until_ns;
    }
}

void job_activity_level(struct job *job)
{
    uint32_t width_bits = 0;
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (unsigned i = 0; i < job->count; i++) {
        const struct job_entry *entry = job->entries[i];
        if (!entry->activity.count)
            continue;
        width_bits =
            entry->activity.width_bits > width_bits ? entry->activity.width_bits : width_bits;
        first_ns = entry->part.first_ns < first_ns ? entry->part.first_ns : first_ns;
        last_ns = entry->part.last_ns > last_ns ? entry->part.last_ns : last_ns;
    }
    while (first_ns < last_ns &&
           (last_ns >> width_bits) - (first_ns >> width_bits) >= JOB_STRETCHES)
        width_bits++;
    for (unsigned i = 0; i < job->count; i++)
        while (job->entries[i]->activity.count && job->entries[i]->activity.width_bits < width_bits)
            activity_widen(&job->entries[i]->activity);
}

/* ---- rows */

static void span_add(struct job_entry *entry, float *of, uint64_t start_ns, uint64_t end_ns)
{
    int64_t begin = (int64_t)start_ns, end = (int64_t)end_ns;
    if (end < begin || begin <= 0)
        return; /* a time that nobody knew */
    entry->part.first_ns = begin < entry->part.first_ns ? begin : entry->part.first_ns;
    entry->part.last_ns = end > entry->part.last_ns ? end : entry->part.last_ns;
    activity_add(&entry->activity, of, begin, end);
}

void job_row(struct job *job, enum out_table_id table, const void *row)
{
    struct job_entry *entry = job->entries[job->count - 1];
    if (table == OUT_KERNEL_TRACE) {
        const struct out_dispatch_row *dispatch = row;
        entry->part.kernels++;
        entry->part.kernel_ns += (int64_t)(dispatch->end_ns - dispatch->start_ns);
        entry->part.modelled_ns += (int64_t)dispatch->modelled_ns;
        entry->part.modelled += dispatch->modelled_ns != 0;
        span_add(entry, entry->activity.kernels_ns, dispatch->start_ns, dispatch->end_ns);
    } else if (table == OUT_MEMORY_COPY) {
        const struct out_copy_row *copy = row;
        span_add(entry, entry->activity.copies_ns, copy->start_ns, copy->end_ns);
    } else if (out_is_call(table)) {
        const struct out_api_row *call = row;
        entry->part.calls++;
        span_add(entry, entry->activity.calls_ns, call->start_ns, call->end_ns);
    }
}

void job_part_end(struct job *job)
{
    struct merge_part *part = &job->entries[job->count - 1]->part;
    if (part->first_ns > part->last_ns)
        part->first_ns = part->last_ns = 0;
}

unsigned job_part_count(const struct job *job)
{
    return job->count;
}

const struct merge_part *job_part(const struct job *job, unsigned index)
{
    return &job->entries[index]->part;
}

const struct job_activity *job_activity(const struct job *job, unsigned index)
{
    return &job->entries[index]->activity;
}
