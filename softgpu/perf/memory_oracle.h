/*
 * A second model of the caches, for memory_test.c: it looks at every line of a set, one by one, and
 * is written from README.md.
 */
#ifndef PERF_MEMORY_ORACLE_H
#define PERF_MEMORY_ORACLE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "perf/internal.h"

enum {
    LINE = 64, /* of an access, and a sector of the L2 */
    CHANNEL_BLOCK = 256,
    PAGE = 2 << 20,
    PAGES = 32, /* translations of a unit */
    SHARED_WAYS = 4,
    SCALAR_BYTES = 16 << 10,
    CODE_BYTES = 32 << 10,
    CYCLES_SHARED = 32,
    CYCLES_HIT = 300,
    CYCLES_MISS = 600,
    CYCLES_WRITE = 280,
    CYCLES_MEMORY_READ = 300,
    CYCLES_MEMORY_WRITE = 270,
    CYCLES_HOST = 1000, /* that memory elsewhere takes longer */
    CYCLES_PEER = 500,
    DUPLICATES = 30 /* of a line that is on its way to a shared cache */
};

struct line {
    uint64_t number, used; /* when; 0: the line is empty */
    bool valid[2];         /* sectors */
    uint64_t dirty[2];     /* their bytes */
    uint64_t va;           /* of the one that brought it in */
};

struct table {
    uint32_t sets, ways, line_bytes;
    struct line *lines;
};

struct unit {
    struct table l1, scalar, code; /* the last two: of each first unit of two */
    uint64_t on_way[2];            /* the same: duplicates that they have room for */
    uint64_t page[PAGES], page_used[PAGES];
    uint64_t sources[SRC_CU_COUNT];
};

struct l2 {
    struct table table;
    uint64_t sources[SRC_CHANNEL_COUNT];
    uint64_t reads, writes, atomics;          /* of memory, since the dispatch began */
    uint64_t read_far, write_far, atomic_far; /* cycles that it was elsewhere for */
};

struct oracle {
    const struct gpu_model *model;
    uint32_t unit_count;
    uint64_t now;
    uint64_t
        before; /* what the group has asked an L2 for last, if it was a line's first half that */
    bool before_hit; /* a vector L1 reads, and what came of it */
    struct unit *units;
    struct l2 *channels;
};

/* The first unit of those with the same scalar and instruction cache. */
static uint32_t shares_with(const struct gpu_model *model, uint32_t at)
{
    static const uint8_t threes[16] = {0, 0, 0, 3, 3, 3, 6, 6, 8, 8, 8, 11, 11, 11, 14, 14};
    bool old = model->gen == GPU_GFX906 || model->gen == GPU_GFX908;
    return old ? at / 16 * 16 + threes[at % 16] : at / 2 * 2;
}

static struct table table_make(uint32_t bytes, uint32_t line_bytes, uint32_t ways)
{
    struct table table = {bytes / line_bytes / ways, ways, line_bytes, NULL};
    table.lines = calloc((size_t)table.sets * ways, sizeof *table.lines);
    return table;
}

static void table_empty(const struct table *table)
{
    memset(table->lines, 0, (size_t)table->sets * table->ways * sizeof *table->lines);
}

static uint32_t channel_count(const struct oracle *oracle)
{
    return oracle->model->xcc_count * oracle->model->tcc_channels;
}

static void oracle_make(struct oracle *oracle, const struct gpu_model *model)
{
    *oracle = (struct oracle){.model = model, .before = UINT64_MAX};
    oracle->unit_count = model->se_count * model->sh_per_se * model->cu_per_sh;
    oracle->units = calloc((size_t)model->xcc_count * oracle->unit_count, sizeof *oracle->units);
    oracle->channels = calloc(channel_count(oracle), sizeof *oracle->channels);
    for (uint32_t i = 0; i < model->xcc_count * oracle->unit_count; i++) {
        struct unit *unit = &oracle->units[i];
        unit->l1 = table_make(model->tcp_bytes, model->tcp_line_bytes, model->tcp_ways);
        unit->scalar = table_make(SCALAR_BYTES, LINE, SHARED_WAYS);
        unit->code = table_make(CODE_BYTES, LINE, SHARED_WAYS);
    }
    for (uint32_t i = 0; i < channel_count(oracle); i++)
        oracle->channels[i].table = table_make(model->tcc_bytes / model->tcc_channels,
                                               model->tcc_line_bytes, model->tcc_ways);
}

static void oracle_free(struct oracle *oracle)
{
    for (uint32_t i = 0; i < oracle->model->xcc_count * oracle->unit_count; i++) {
        free(oracle->units[i].l1.lines);
        free(oracle->units[i].scalar.lines);
        free(oracle->units[i].code.lines);
    }
    for (uint32_t i = 0; i < channel_count(oracle); i++)
        free(oracle->channels[i].table.lines);
    free(oracle->units);
    free(oracle->channels);
}

static struct line *line_find(const struct table *table, uint64_t address)
{
    uint64_t number = address / table->line_bytes;
    struct line *set = table->lines + number % table->sets * table->ways;
    for (uint32_t way = 0; way < table->ways; way++)
        if (set[way].used && set[way].number == number)
            return &set[way];
    return NULL;
}

/* The one that was not used for longest; an empty one has never been. */
static struct line *line_oldest(const struct table *table, uint64_t address)
{
    struct line *set = table->lines + address / table->line_bytes % table->sets * table->ways;
    struct line *oldest = set;
    for (uint32_t way = 1; way < table->ways; way++)
        if (set[way].used < oldest->used)
            oldest = &set[way];
    return oldest;
}

static void line_forget(const struct table *table, uint64_t address)
{
    struct line *line = line_find(table, address);
    if (line)
        *line = (struct line){0};
}

#define COUNT(l2, name, more) ((l2)->sources[SRC_##name - SRC_CHANNEL_FIRST] += (more))

/* What an address says of its memory: two bits for its type (RW, NC, UC, CC), two for where it is
 * (its own, the host's, another GPU's). */
static uint64_t type_of(uint64_t va)
{
    return va >> 56 & 3;
}

static uint64_t distance_of(uint64_t va)
{
    const uint64_t distances[4] = {0, CYCLES_HOST, CYCLES_PEER};
    return distances[va >> 58 & 3];
}

static void memory_read(struct l2 *l2, uint64_t va, uint64_t count)
{
    uint64_t distance = distance_of(va);
    COUNT(l2, EA_READ_HOST, distance == CYCLES_HOST ? count : 0);
    COUNT(l2, EA_READ_PEER, distance == CYCLES_PEER ? count : 0);
    l2->reads += count;
    l2->read_far += count * distance;
}

static void memory_write(struct l2 *l2, uint64_t va, uint64_t count)
{
    uint64_t distance = distance_of(va);
    COUNT(l2, EA_WRITE_HOST, distance == CYCLES_HOST ? count : 0);
    COUNT(l2, EA_WRITE_PEER, distance == CYCLES_PEER ? count : 0);
    l2->writes += count;
    l2->write_far += count * distance;
}

/* Each sector with a dirty byte goes to memory, whole when both of its halves have one. */
static bool line_clean(struct l2 *l2, struct line *line)
{
    bool was_dirty = line->dirty[0] || line->dirty[1];
    for (int i = 0; i < 2; i++) {
        bool low = line->dirty[i] & UINT32_MAX, high = line->dirty[i] >> 32;
        COUNT(l2, EA_WRITE_64, low && high);
        COUNT(l2, EA_WRITE_32, low != high);
        memory_write(l2, line->va, low || high);
        line->dirty[i] = 0;
    }
    return was_dirty;
}

struct request {
    enum perf_access_kind kind;
    bool is_scalar; /* from a scalar or an instruction cache */
    uint64_t type;  /* what the L2 takes its memory for */
    uint64_t va;
    bool sector[2]; /* of the line, that are wanted */
    uint64_t bytes; /* that are written, of the sector at `va` */
    uint64_t conflicts;
};

/* Uncached: what is asked is asked of memory. Atomics are done where the memory is, half a sector
 * at a time and lanes at one address one by one; those of the GPU's own are read and written. */
static void l2_bypass(struct l2 *l2, const struct request *request)
{
    bool low = request->bytes & UINT32_MAX, high = request->bytes >> 32;
    bool is_atomic = request->kind == ACCESS_ATOMIC, far = distance_of(request->va) > 0;
    bool reads = request->kind == ACCESS_READ || (is_atomic && !far);
    bool both = request->sector[0] && request->sector[1] && !is_atomic;
    COUNT(l2, TCC_MISS, 1);
    if (reads) {
        COUNT(l2, EA_READ_64, !both);
        COUNT(l2, EA_READ_128, both);
        COUNT(l2, EA_READ_UNCACHED, both ? 128 / 32 : 64 / 32);
        memory_read(l2, request->va, 1);
    }
    if (is_atomic && far) {
        uint64_t count = low + high + request->conflicts;
        COUNT(l2, EA_ATOMIC, count);
        COUNT(l2, EA_WRITE_32, count);
        COUNT(l2, EA_WRITE_UNCACHED, count);
        memory_write(l2, request->va, count);
        l2->atomics += count;
        l2->atomic_far += count * distance_of(request->va);
    } else if (request->kind != ACCESS_READ) {
        COUNT(l2, EA_WRITE_64, low && high);
        COUNT(l2, EA_WRITE_32, !(low && high));
        COUNT(l2, EA_WRITE_UNCACHED, 1);
        memory_write(l2, request->va, 1);
    }
}

static void l2_types(struct l2 *l2, const struct request *request)
{
    uint64_t type = request->type;
    COUNT(l2, TCC_READ, request->kind == ACCESS_READ);
    COUNT(l2, TCC_WRITE, request->kind == ACCESS_WRITE);
    COUNT(l2, TCC_ATOMIC, request->kind == ACCESS_ATOMIC);
    COUNT(l2, TCC_RW, type == MEMORY_RW);
    COUNT(l2, TCC_NC, type == MEMORY_NC);
    COUNT(l2, TCC_UC, type == MEMORY_UC);
    COUNT(l2, TCC_CC, type == MEMORY_CC);
}

/* A gfx942's L2: each bit from 8 on that chooses channel or set is turned by those above, of which
 * the first, the fourth and so on belong to the first, the fourth and so on here, too. */
static uint64_t block_of(const struct gpu_model *model, uint64_t va)
{
    uint64_t block = va / CHANNEL_BLOCK;
    if (model->gen != GPU_GFX942)
        return block;
    for (int bit = 0; bit < 10; bit++)
        for (int above = 18 + bit % 3; above < 56; above += 3)
            block ^= (va >> above & 1) << bit;
    return block;
}

/* Halves of a line that an L1 of shorter lines reads one after another. */
static bool is_second_half(const struct oracle *oracle, const struct request *request)
{
    const struct gpu_model *model = oracle->model;
    bool vector = request->kind == ACCESS_READ && !request->is_scalar;
    return vector && model->tcp_line_bytes == LINE && model->tcc_line_bytes == 2 * LINE &&
           request->va % (2 * LINE) && oracle->before == request->va - LINE;
}

/* What the first half's request was counted as is what both are worth. */
static void second_half_count(struct oracle *oracle, struct l2 *l2, bool hit)
{
    COUNT(l2, TCC_HIT, -(uint64_t)(oracle->before_hit && !hit));
    COUNT(l2, TCC_MISS, oracle->before_hit && !hit);
}

static void hit_count(struct oracle *oracle, struct l2 *l2, const struct request *request,
                      bool joins, bool hit)
{
    COUNT(l2, TCC_HIT, hit && !joins);
    COUNT(l2, TCC_MISS, !hit && !joins);
    if (joins)
        second_half_count(oracle, l2, hit);
    if (request->kind == ACCESS_READ && !request->is_scalar && request->va >> 56 == 0)
        oracle->before = request->va;
    oracle->before_hit = hit;
}

static bool l2_request(struct oracle *oracle, uint32_t xcc, const struct request *request)
{
    uint32_t channels = oracle->model->tcc_channels;
    uint64_t block = block_of(oracle->model, request->va);
    bool joins = is_second_half(oracle, request);
    uint64_t local = block / channels * CHANNEL_BLOCK + request->va % CHANNEL_BLOCK;
    struct l2 *l2 = &oracle->channels[xcc * channels + block % channels];
    oracle->before = UINT64_MAX;
    if (!joins)
        l2_types(l2, request);
    if (request->type == MEMORY_UC) {
        l2_bypass(l2, request);
        return false;
    }
    struct line *line = line_find(&l2->table, local);
    bool hit = line, is_write = request->kind == ACCESS_WRITE;
    int fetched = 0;
    if (!line) {
        line = line_oldest(&l2->table, local);
        COUNT(l2, TCC_EVICT, line->used > 0);
        COUNT(l2, TCC_EVICT_DIRTY, line_clean(l2, line));
        *line = (struct line){.number = local / l2->table.line_bytes, .va = request->va};
    }
    line->used = ++oracle->now;
    for (int i = 0; i < 2 && !is_write; i++)
        if (request->sector[i] && !line->valid[i]) {
            line->valid[i] = true;
            fetched++;
        }
    hit &= !fetched;
    memory_read(l2, request->va, fetched > 0);
    COUNT(l2, EA_READ_64, fetched == 1);
    COUNT(l2, EA_READ_128, fetched == 2);
    hit_count(oracle, l2, request, joins, hit);
    uint64_t *dirty = &line->dirty[local % l2->table.line_bytes / LINE];
    *dirty |= request->bytes;
    if (*dirty == UINT64_MAX) /* nothing of it is missing */
        line->valid[dirty - line->dirty] = true;
    return hit;
}

/* A first-level cache of these lines asks for all of its line, which may be half of one in L2. */
static void sectors_of(const struct oracle *oracle, uint32_t line_bytes, struct request *request)
{
    bool all = line_bytes == 2 * LINE;
    uint64_t half = request->va % oracle->model->tcc_line_bytes / LINE;
    request->sector[0] = all || half == 0;
    request->sector[1] = all || half == 1;
}

/* What a read costs behind its first-level cache; 0: it hits there. */
static uint64_t first_read(struct oracle *oracle, uint32_t xcc, const struct table *table,
                           uint64_t va, enum perf_access_kind kind)
{
    struct line *line = line_find(table, va);
    bool is_scalar = kind != ACCESS_READ;
    struct request request = {.kind = ACCESS_READ, .is_scalar = is_scalar, .va = va};
    request.type = type_of(va);
    if (kind == ACCESS_SCALAR_READ && oracle->model->gen != GPU_GFX942)
        request.type = MEMORY_NC;
    bool hit = line;
    if (!hit) {
        line = line_oldest(table, va);
        *line = (struct line){.number = va / table->line_bytes};
    }
    line->used = ++oracle->now;
    if (hit)
        return 0;
    sectors_of(oracle, table->line_bytes, &request);
    return l2_request(oracle, xcc, &request) ? CYCLES_HIT : CYCLES_MISS + distance_of(va);
}

static bool page_missed(struct oracle *oracle, struct unit *unit, uint64_t va)
{
    int oldest = 0, at = -1;
    for (int i = 0; i < PAGES; i++) {
        if (unit->page_used[i] && unit->page[i] == va / PAGE)
            at = i;
        if (unit->page_used[i] < unit->page_used[oldest])
            oldest = i;
    }
    bool missed = at < 0;
    at = missed ? oldest : at;
    unit->page[at] = va / PAGE;
    unit->page_used[at] = ++oracle->now;
    return missed;
}

#define ADD(name, more) (unit->sources[SRC_##name] += (more))

static void address_unit(struct oracle *oracle, struct unit *unit,
                         const struct perf_line_access *line)
{
    bool glc = line->flags & ACCESS_GLC, coalesced = line->flags & ACCESS_COALESCED;
    bool is_buffer = line->flags & ACCESS_BUFFER;
    ADD(TCP_READ_LANES, line->kind == ACCESS_READ ? line->lanes : 0);
    ADD(TCP_WRITE_LANES, line->kind == ACCESS_WRITE ? line->lanes : 0);
    ADD(TCP_ATOMIC_RET_LANES, line->kind == ACCESS_ATOMIC && glc ? line->lanes : 0);
    ADD(TCP_ATOMIC_NORET_LANES, line->kind == ACCESS_ATOMIC && !glc ? line->lanes : 0);
    if (line->flags & ACCESS_NOWHERE)
        return;
    bool missed = page_missed(oracle, unit, line->line_va);
    ADD(UTCL1_MISS, missed);
    ADD(UTCL1_HIT, line->tags - missed);
    ADD(TCP_TAGS, line->tags);
    ADD(TA_COALESCED, coalesced && line->flags & ACCESS_FIRST);
    ADD(TCP_BUFFER_TAGS, is_buffer ? line->tags : 0);
    ADD(TCP_BUFFER_READ_COALESCED,
        is_buffer && coalesced && line->kind == ACCESS_READ ? line->tags : 0);
    ADD(TCP_BUFFER_WRITE_COALESCED,
        is_buffer && coalesced && line->kind == ACCESS_WRITE ? line->tags : 0);
}

/* Requests by what their memory is, RW not among them. */
static void unit_types(struct unit *unit, const struct perf_line_access *line)
{
    uint64_t type = type_of(line->line_va);
    bool read = line->kind == ACCESS_READ, write = line->kind == ACCESS_WRITE;
    bool atomic = line->kind == ACCESS_ATOMIC;
    ADD(TCP_NC_READ, type == MEMORY_NC && read);
    ADD(TCP_NC_WRITE, type == MEMORY_NC && write);
    ADD(TCP_NC_ATOMIC, type == MEMORY_NC && atomic);
    ADD(TCP_UC_READ, type == MEMORY_UC && read);
    ADD(TCP_UC_WRITE, type == MEMORY_UC && write);
    ADD(TCP_UC_ATOMIC, type == MEMORY_UC && atomic);
    ADD(TCP_CC_READ, type == MEMORY_CC && read);
    ADD(TCP_CC_WRITE, type == MEMORY_CC && write);
    ADD(TCP_CC_ATOMIC, type == MEMORY_CC && atomic);
}

static void vector_read(struct oracle *oracle, uint32_t xcc, struct unit *unit,
                        const struct perf_line_access *line)
{
    if (line->flags & ACCESS_GLC)
        line_forget(&unit->l1, line->line_va);
    uint64_t cycles = first_read(oracle, xcc, &unit->l1, line->line_va, ACCESS_READ);
    ADD(TCP_READ_MISS, cycles > 0);
    if (cycles)
        unit_types(unit, line);
    ADD(TCP_READ_LATENCY, cycles);
}

static void vector_modify(struct oracle *oracle, uint32_t xcc, struct unit *unit,
                          const struct perf_line_access *line)
{
    bool is_atomic = line->kind == ACCESS_ATOMIC, returns = is_atomic && line->flags & ACCESS_GLC;
    struct request request = {
        .kind = line->kind, .va = line->line_va, .conflicts = line->conflicts};
    request.type = type_of(line->line_va);
    request.bytes = (uint64_t)line->bytes_mask_hi << 32 | line->bytes_mask_lo;
    sectors_of(oracle, LINE, &request);
    if (is_atomic)
        line_forget(&unit->l1, line->line_va);
    uint64_t hit = l2_request(oracle, xcc, &request);
    uint64_t missed = CYCLES_MISS + distance_of(line->line_va);
    uint64_t cycles = is_atomic ? (hit ? CYCLES_HIT : missed) + line->conflicts : CYCLES_WRITE;
    unit_types(unit, line);
    ADD(TCP_WRITE, !is_atomic);
    ADD(TCP_ATOMIC_RET, returns);
    ADD(TCP_ATOMIC_NORET, is_atomic && !returns);
    ADD(TCP_READ_LATENCY, returns ? cycles : 0);
    ADD(TCP_WRITE_LATENCY, returns ? 0 : cycles);
}

/* A line of memory, or of code. */
static void oracle_line(struct oracle *oracle, uint32_t xcc, uint32_t at,
                        const struct perf_line_access *line)
{
    struct unit *units = oracle->units + (size_t)xcc * oracle->unit_count, *unit = &units[at];
    uint64_t cycles;
    if (line->kind <= ACCESS_ATOMIC)
        address_unit(oracle, unit, line);
    if (line->flags & ACCESS_NOWHERE)
        return;
    switch ((enum perf_access_kind)line->kind) {
    case ACCESS_READ:
        vector_read(oracle, xcc, unit, line);
        break;
    case ACCESS_WRITE:
    case ACCESS_ATOMIC:
        vector_modify(oracle, xcc, unit, line);
        break;
    case ACCESS_SCALAR_READ:
        cycles = first_read(oracle, xcc, &units[shares_with(oracle->model, at)].scalar,
                            line->line_va, ACCESS_SCALAR_READ);
        ADD(SQC_HIT, !cycles);
        ADD(SQC_MISS, cycles > 0);
        ADD(SQC_LATENCY, CYCLES_SHARED + cycles);
        break;
    case ACCESS_FETCH:
        cycles = first_read(oracle, xcc, &units[shares_with(oracle->model, at)].code, line->line_va,
                            ACCESS_FETCH);
        ADD(ICACHE_MISS, cycles > 0);
        ADD(ICACHE_HIT, -(uint64_t)(cycles > 0)); /* of all fetches: oracle_fetches() */
        ADD(IFETCH_LATENCY, cycles);
        break;
    case ACCESS_INVALIDATE:
        table_empty(&unit->l1);
        break;
    }
}

/* A group's requests of a cache that its unit shares: after its misses, one by one. */
static uint64_t duplicates_of(uint64_t *on_way, bool is_first, uint64_t misses, uint64_t hits)
{
    uint64_t alone = 0, *room = is_first ? on_way : &alone, duplicates = 0;
    for (uint64_t n = 0; n < misses; n++)
        *room += DUPLICATES;
    for (uint64_t n = 0; n < hits && *room; n++, duplicates++)
        --*room;
    return duplicates;
}

/* What a unit has counted of the caches that it shares. */
static void shared_counts_take(const struct unit *unit, uint64_t counts[4])
{
    counts[0] = unit->sources[SRC_SQC_MISS];
    counts[1] = unit->sources[SRC_SQC_HIT];
    counts[2] = unit->sources[SRC_ICACHE_MISS];
    counts[3] = unit->sources[SRC_ICACHE_HIT];
}

/* A group has passed, before which its unit had counted this. */
static void oracle_group_end(struct oracle *oracle, uint32_t xcc, uint32_t at, bool is_first,
                             const uint64_t before[4])
{
    struct unit *units = oracle->units + (size_t)xcc * oracle->unit_count, *unit = &units[at];
    uint64_t *on_way = units[shares_with(oracle->model, at)].on_way, now[4];
    oracle->before = UINT64_MAX;
    shared_counts_take(unit, now);
    ADD(SQC_DUPLICATE, duplicates_of(&on_way[0], is_first, now[0] - before[0], now[1] - before[1]));
    ADD(ICACHE_DUPLICATE,
        duplicates_of(&on_way[1], is_first, now[2] - before[2], now[3] - before[3]));
}

static void oracle_fetches(struct oracle *oracle, uint32_t xcc, uint32_t at, uint64_t count)
{
    struct unit *unit = &oracle->units[(size_t)xcc * oracle->unit_count + at];
    ADD(IFETCH, count);
    ADD(ICACHE_HIT, count);
    ADD(IFETCH_LATENCY, CYCLES_SHARED * count);
}

static void oracle_dispatch_begin(struct oracle *oracle)
{
    for (uint32_t i = 0; i < oracle->model->xcc_count * oracle->unit_count; i++) {
        table_empty(&oracle->units[i].l1);
        table_empty(&oracle->units[i].scalar);
        table_empty(&oracle->units[i].code);
        memset(oracle->units[i].on_way, 0, sizeof oracle->units[i].on_way);
    }
}

static void oracle_dispatch_end(struct oracle *oracle)
{
    for (uint32_t i = 0; i < channel_count(oracle); i++) {
        struct l2 *l2 = &oracle->channels[i];
        for (uint32_t at = 0; at < l2->table.sets * l2->table.ways; at++)
            COUNT(l2, TCC_RELEASE, line_clean(l2, &l2->table.lines[at]));
        COUNT(l2, EA_READ_LEVEL, l2->reads * CYCLES_MEMORY_READ + l2->read_far);
        COUNT(l2, EA_WRITE_LEVEL, l2->writes * CYCLES_MEMORY_WRITE + l2->write_far);
        COUNT(l2, EA_ATOMIC_LEVEL, l2->atomics * CYCLES_MEMORY_WRITE + l2->atomic_far);
        l2->reads = l2->writes = l2->atomics = 0;
        l2->read_far = l2->write_far = l2->atomic_far = 0;
    }
}

static void oracle_session_begin(struct oracle *oracle)
{
    oracle_dispatch_begin(oracle);
    for (uint32_t i = 0; i < oracle->model->xcc_count * oracle->unit_count; i++)
        memset(oracle->units[i].page_used, 0, sizeof oracle->units[i].page_used);
    for (uint32_t i = 0; i < channel_count(oracle); i++)
        table_empty(&oracle->channels[i].table);
}

#undef COUNT
#undef ADD

#endif
