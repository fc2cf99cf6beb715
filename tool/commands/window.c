#include "window.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/refuse.h"

/* Recordings that are read as one. */
struct together_span {
    struct recording *const *recordings;
    unsigned count;
    int64_t first_ns, last_ns;
};

bool window_is_whole(const struct window *window)
{
    return !window->begin && !window->end && !window->begin_marker && !window->end_marker;
}

static void span_find(struct together_span *span)
{
    span->first_ns = span->last_ns = 0;
    for (unsigned i = 0; i < span->count; i++) {
        int64_t first_ns, last_ns;
        recording_span(span->recordings[i], &first_ns, &last_ns);
        if (first_ns == 0 && last_ns == 0)
            continue; /* nothing was recorded */
        bool is_first = span->first_ns == 0 && span->last_ns == 0;
        span->first_ns = is_first || first_ns < span->first_ns ? first_ns : span->first_ns;
        span->last_ns = is_first || last_ns > span->last_ns ? last_ns : span->last_ns;
    }
}

/* False: it is neither. */
static bool time_read(const char *text, const struct together_span *span, int64_t *time_ns)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || !(value >= 0))
        return false;
    if (strcmp(end, "%") == 0)
        *time_ns =
            span->first_ns + (int64_t)((double)(span->last_ns - span->first_ns) * value / 100);
    else
        *time_ns = strtoll(text, &end, 10);
    return *end == 0 || strcmp(end, "%") == 0;
}

/* How often the marker is there in a process, and when. */
static int marker_count(struct recording *recording, const struct recording_part *part,
                        const char *marker, int64_t *time_ns)
{
#define MESSAGE                                                                                    \
    " WHERE length(E.extdata) > 2 AND json_valid(E.extdata) AND json_extract(E.extdata, "          \
    "'$.message') = ?1"
    static const char sql[] =
        "SELECT count(*), min(t) FROM (SELECT R.start t FROM \"rocpd_region{S}\" R JOIN "
        "\"rocpd_event{S}\" E ON E.id = R.event_id" MESSAGE
        " UNION ALL SELECT R.timestamp FROM \"rocpd_sample{S}\" R JOIN \"rocpd_event{S}\" E ON "
        "E.id = R.event_id" MESSAGE ")";
#undef MESSAGE
    char error[PATH_MAX + 200];
    int count = 0;
    sqlite3_stmt *select = recording_prepare(recording, part, sql, error, sizeof error);
    sqlite3_bind_text(select, 1, marker, -1, SQLITE_STATIC);
    if (select && sqlite3_step(select) == SQLITE_ROW && (count = sqlite3_column_int(select, 0)) > 0)
        *time_ns = sqlite3_column_int64(select, 1);
    sqlite3_finalize(select);
    return count;
}

static int marker_find(const struct together_span *span, const char *marker, int64_t *time_ns)
{
    const char *path = recording_path(span->recordings[0]);
    int count = 0;
    for (unsigned i = 0; i < span->count; i++)
        for (unsigned j = 0; j < recording_part_count(span->recordings[i]); j++)
            count += marker_count(span->recordings[i], recording_part(span->recordings[i], j),
                                  marker, time_ns);
    if (count == 1)
        return 0;
    const char *others = span->count > 1 ? " and others" : "";
    if (count == 0)
        return refuse(EXIT_USAGE, "%s%s: there is no marker %s", path, others, marker);
    return refuse(EXIT_USAGE, "%s%s: the marker %s is there %d times", path, others, marker, count);
}

int window_read(const struct window *window, struct recording *const *recordings, unsigned count,
                struct recording_ask *ask)
{
    struct together_span span = {recordings, count, 0, 0};
    const char *begin = window->begin, *end = window->end;
    int status = 0;
    if (window_is_whole(window) || count == 0)
        return 0;
    if ((begin && strchr(begin, '%')) || (end && strchr(end, '%')))
        span_find(&span);
    ask->is_within = window->is_within;
    ask->begin_ns = INT64_MIN;
    ask->end_ns = INT64_MAX;
    if (begin && !time_read(begin, &span, &ask->begin_ns))
        return refuse(EXIT_USAGE, "--begin: %s is neither nanoseconds nor a percentage", begin);
    if (end && !time_read(end, &span, &ask->end_ns))
        return refuse(EXIT_USAGE, "--end: %s is neither nanoseconds nor a percentage", end);
    if (window->begin_marker)
        status = marker_find(&span, window->begin_marker, &ask->begin_ns);
    if (status == 0 && window->end_marker)
        status = marker_find(&span, window->end_marker, &ask->end_ns);
    bool has_marker = window->begin_marker || window->end_marker;
    if (status == 0 &&
        (ask->begin_ns > ask->end_ns || (has_marker && ask->begin_ns == ask->end_ns)))
        status =
            refuse(EXIT_USAGE, "%s: the end comes before the start", recording_path(recordings[0]));
    return status;
}
