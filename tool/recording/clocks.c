#include "clocks.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>

static const char *keep(struct texts *texts, const char *text)
{
    const char *kept = texts_keep(texts, text ? text : "");
    return kept ? kept : "";
}

/* The milliseconds in a guid of version 7, which was made when the process began. */
static int64_t guid_world_ns(const char *guid)
{
    uint64_t value = 0;
    int digits = 0;
    for (; *guid && digits < 12; guid++)
        if (*guid != '-') {
            const char *hex = "0123456789abcdef", *found = strchr(hex, *guid);
            value = value << 4 | (uint64_t)(found ? found - hex : 0);
            digits++;
        }
    return (int64_t)value * 1000000;
}

/* Four times: the world's and the record's, at the begin and at the end. */
static void pairs_take(struct clocks *clocks, struct texts *texts, sqlite3_stmt *row)
{
    int64_t value[4];
    for (int i = 0; i < 4; i++)
        value[i] = sqlite3_column_int64(row, 1 + i);
    clocks->boot = keep(texts, (const char *)sqlite3_column_text(row, 0));
    clocks->world_ns = value[0];
    clocks->record_ns = value[1];
    if (value[3] > value[1]) /* the world's clock may be set, but not by much */
        clocks->rate = (double)(value[2] - value[0]) / (double)(value[3] - value[1]);
    if (fabs(clocks->rate - 1) > 1e-3)
        clocks->rate = 1;
}

struct clocks clocks_read(struct texts *texts, struct sqlite3 *database,
                          const struct recording_part *part)
{
    struct clocks clocks = {keep(texts, ""),
                            keep(texts, part->hostname),
                            keep(texts, part->machine_id),
                            guid_world_ns(part->guid),
                            part->init_ns,
                            1};
    sqlite3_stmt *select = NULL;
    sqlite3_prepare_v2(database,
                       "SELECT json_extract(?1, '$.crocprof_boot'), json_extract(?1, "
                       "'$.crocprof_clock[0]'), json_extract(?1, '$.crocprof_clock[1]'), "
                       "json_extract(?1, '$.crocprof_clock[2]'), json_extract(?1, "
                       "'$.crocprof_clock[3]') WHERE json_valid(?1)",
                       -1, &select, NULL);
    sqlite3_bind_text(select, 1, part->extdata, -1, SQLITE_STATIC);
    if (sqlite3_step(select) == SQLITE_ROW && sqlite3_column_type(select, 1) != SQLITE_NULL)
        pairs_take(&clocks, texts, select);
    sqlite3_finalize(select);
    return clocks;
}

/* One machine, since it was last started, has one clock. */
static bool is_same_clock(const struct clocks *a, const struct clocks *b)
{
    enum { NEAR_NS = 1000000000 };
    int64_t apart = (a->world_ns - a->record_ns) - (b->world_ns - b->record_ns);
    if (a->boot[0] && b->boot[0])
        return strcmp(a->boot, b->boot) == 0;
    return strcmp(a->machine_id, b->machine_id) == 0 && strcmp(a->hostname, b->hostname) == 0 &&
           apart > -NEAR_NS && apart < NEAR_NS;
}

struct alignment clocks_alignment(const struct clocks *first, const struct clocks *clocks)
{
    struct alignment alignment = {0, 0, 0};
    if (is_same_clock(first, clocks))
        return alignment;
    double world_ns = (double)(clocks->world_ns - first->world_ns);
    alignment.base_ns = clocks->record_ns;
    alignment.shift_ns = first->record_ns + (int64_t)(world_ns / first->rate) - clocks->record_ns;
    alignment.drift = clocks->rate / first->rate - 1;
    return alignment;
}
