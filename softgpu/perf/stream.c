/*
 * Groups of a series (wave/series.h) whose accesses of vectors are whole blocks, each as far behind
 * the one of the group before. What else they ask for is the same in all of them, scalars and
 * instructions: as long as these caches have seen nothing else since such a group found all of it
 * there, the next one would, and leave them as they are. Likewise translations of pages. So what is
 * left of a group is its blocks, which pass the L1 and the L2 in their order.
 */
#include "perf/memory_inside.h"

/* ---- what it is ---- */

static bool is_still(const struct perf_line_access *access)
{
    return access->kind == ACCESS_SCALAR_READ || access->kind == ACCESS_FETCH;
}

static bool is_plain_block(const struct perf_line_access *access)
{
    return !(entry_says(access) & plain_mask()) && is_block(access) && !is_other(access->line_va);
}

static void block_count(struct perf_stream *stream, const struct perf_line_access *access)
{
    enum { ALL = ACCESS_FIRST | ACCESS_COALESCED };
    const bool writes = access->kind == ACCESS_WRITE;
    stream->tags += access->tags * BLOCK_LINES;
    stream->coalesced += (access->flags & ALL) == ALL;
    stream->read_lanes += writes ? 0 : access->lanes;
    stream->write_lanes += writes ? access->lanes : 0;
    stream->writes += writes ? BLOCK_LINES : 0;
}

/* Those of its accesses that do not move go behind the others. False: there are too many, or others
 * than these. */
struct still {
    uint32_t count;
    struct perf_line_access of[STREAM_STILL];
};
static bool access_sort(struct perf_stream *stream, const struct perf_line_access *access,
                        bool moves, struct still *still)
{
    if (moves) {
        block_count(stream, access);
        return is_plain_block(access);
    }
    if (!is_still(access) || still->count == STREAM_STILL)
        return false;
    stream->scalars += access->kind == ACCESS_SCALAR_READ;
    still->of[still->count++] = *access;
    return true;
}

static bool accesses_sort(struct perf_moves *moves, struct still *still)
{
    const struct perf_line_access *access = moves->accesses;
    still->count = 0;
    for (uint32_t n = 0; n < moves->count; n++)
        for (const struct perf_line_access *end = moves->accesses + moves->each[n].end;
             access < end; access++)
            if (!access_sort(&moves->stream, access, moves->each[n].step != 0, still))
                return false;
    return true;
}

/* The same ones as those that were seen last have their number. */
static uint64_t still_number(struct streams *streams, const struct still *still)
{
    const size_t bytes = still->count * sizeof still->of[0];
    if (streams->still_number && streams->still_count == still->count &&
        memcmp(streams->still, still->of, bytes) == 0)
        return streams->still_number;
    memcpy(streams->still, still->of, bytes);
    streams->still_count = still->count;
    return streams->still_number = ++streams->numbers;
}

static void stream_find(struct streams *streams, struct perf_moves *moves)
{
    struct still still;
    moves->stream.is_known = true;
    if (accesses_sort(moves, &still))
        moves->stream.still = still_number(streams, &still);
}

/* ---- pages ---- */

/* Pages one after another, as accesses that move touch them now. False: they are too many. */
struct page_row {
    uint32_t count;
    uint64_t of[STREAM_PAGES_ROW];
};
static bool pages_find(const struct perf_moves *moves, struct page_row *row)
{
    const struct perf_line_access *access = moves->accesses;
    uint64_t last = UINT64_MAX;
    row->count = 0;
    for (uint32_t n = 0; n < moves->count; n++) {
        const struct perf_line_access *end = moves->accesses + moves->each[n].end;
        for (access = moves->each[n].step ? access : end; access < end; access++) {
            const uint64_t page = access->line_va >> TRANSLATION_SHIFT;
            if (page == last)
                continue;
            if (row->count == STREAM_PAGES_ROW)
                return false;
            row->of[row->count++] = last = page;
        }
    }
    return true;
}

/* Each of a row's pages once. Returns how many there are; more than STREAM_PAGES: too many. */
static uint32_t pages_once(const struct page_row *row, bool backwards, uint64_t *pages)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < row->count; i++) {
        const uint64_t page = row->of[backwards ? row->count - 1 - i : i];
        uint32_t n = 0;
        while (n < count && pages[n] != page)
            n++;
        if (n == STREAM_PAGES)
            return STREAM_PAGES + 1;
        pages[n] = page;
        count = n < count ? count : n + 1;
    }
    return count;
}

/* The pages that its accesses touch now become those that were seen last. False: they are too many.
 */
static bool stream_pages(struct streams *streams, struct perf_moves *moves)
{
    struct page_row row;
    if (!pages_find(moves, &row))
        return false;
    const size_t bytes = row.count * sizeof row.of[0];
    if (!streams->pages_number || streams->row_count != row.count ||
        memcmp(streams->row, row.of, bytes) != 0) {
        streams->pages_number = 0;
        streams->page_count = pages_once(&row, false, streams->first_pages);
        if (streams->page_count > STREAM_PAGES)
            return false;
        pages_once(&row, true, streams->last_pages);
        memcpy(streams->row, row.of, bytes);
        streams->row_count = row.count;
        streams->pages_number = ++streams->numbers;
    }
    moves->stream.pages = streams->pages_number;
    return true;
}

/* Each page is looked for when it is touched first. Those of one group are never replaced by its
 * others, so that all that is left is the order of their last uses. Returns how many were missing.
 */
static uint32_t pages_touch(const struct streams *streams, struct translations *utcl1)
{
    uint32_t missing = 0;
    for (uint32_t n = 0; n < streams->page_count; n++)
        missing += translation_miss(utcl1, streams->first_pages[n] << TRANSLATION_SHIFT);
    for (uint32_t n = streams->page_count; n-- > 0;)
        translation_miss(utcl1, streams->last_pages[n] << TRANSLATION_SHIFT);
    utcl1->passed = streams->pages_number;
    return missing;
}

static uint32_t each_translate(const struct perf_moves *moves, struct translations *utcl1)
{
    const struct perf_line_access *access = moves->accesses;
    uint32_t missing = 0;
    for (uint32_t n = 0; n < moves->count; n++)
        for (const struct perf_line_access *end = moves->accesses + moves->each[n].end;
             access < end; access++)
            if (moves->each[n].step)
                missing += translation_miss(utcl1, access->line_va);
    utcl1->passed = 0;
    return missing;
}

/* Returns how many translations were missing. */
static uint32_t stream_translate(const struct path *path, struct perf_moves *moves)
{
    struct streams *streams = &path->memory->streams;
    if (moves->stream.pages && moves->stream.pages == path->utcl1->passed)
        return 0;
    if (moves->stream.pages != streams->pages_number || !moves->stream.pages)
        if (!stream_pages(streams, moves))
            return each_translate(moves, path->utcl1);
    return moves->stream.pages == path->utcl1->passed ? 0 : pages_touch(streams, path->utcl1);
}

/* ---- a group ---- */

/* Its sets stand for each other, as they do as long as nothing but whole blocks was read. */
static bool l1_is_united(struct cache *tcp)
{
    const uint64_t blocks = tcp->set_count >> tcp->block_shift;
    for (uint64_t block = 0; block < blocks; block++)
        if (tcp->block_marks[block] != tcp->generation + 1 && !cache_block_begin(tcp, block))
            return false;
    return true;
}

static void stream_count(const struct perf_stream *stream, const struct stream_asked *asked,
                         uint32_t missing, uint64_t block_reads, uint64_t *cu)
{
    cu[SRC_SQC_HIT] += stream->scalars;
    cu[SRC_SQC_LATENCY] += (uint64_t)SCALAR_HIT_CYCLES * stream->scalars;
    cu[SRC_TCP_TAGS] += stream->tags;
    cu[SRC_UTCL1_MISS] += missing;
    cu[SRC_UTCL1_HIT] += stream->tags - missing; /* each was looked up at least once */
    cu[SRC_TA_COALESCED] += stream->coalesced;
    cu[SRC_TCP_READ_LANES] += stream->read_lanes;
    cu[SRC_TCP_WRITE_LANES] += stream->write_lanes;
    cu[SRC_TCP_WRITE] += stream->writes;
    cu[SRC_TCP_WRITE_LATENCY] += (uint64_t)L2_WRITE_CYCLES * stream->writes;
    cu[SRC_TCP_READ_MISS] += block_reads * asked->lacked;
    cu[SRC_TCP_READ_LATENCY] +=
        block_reads * (asked->hits * L2_HIT_CYCLES +
                       (asked->lacked - asked->hits - asked->others) * L2_MISS_CYCLES);
}

bool stream_pass(const struct path *path, struct perf_moves *moves, bool is_next)
{
    struct perf_stream *stream = &moves->stream;
    struct stream_asked asked = {0};
    if (!stream->is_known)
        stream_find(&path->memory->streams, moves);
    if (!stream->still || path->sqc->passed != stream->still || !l1_is_united(path->tcp))
        return false;
    struct perf_line_access *first = moves->accesses;
    for (uint32_t n = 0; n < moves->count; n++) {
        struct perf_line_access *end = moves->accesses + moves->each[n].end;
        if (moves->each[n].step)
            path->memory->level->stream_look(path, first, end,
                                             is_next ? (uint64_t)moves->each[n].step : 0, &asked);
        first = end;
    }
    path->memory->streams.groups++;
    if (asked.crossed >> TRANSLATION_SHIFT)
        stream->pages = 0;
    stream_count(stream, &asked, stream_translate(path, moves), path->block_reads,
                 path->totals->cu);
    return true;
}
