/* Runs of decoded instructions that are executed as code of the host (translate/). */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "isa_ops.h"
#include "translate/series.h"
#include "translate/translate.h"
#include "wave/code_internal.h"
#include "wave/fetch_path.h"
#include "wave/flat_rows.h"

struct translated_code {
    struct translated_code *next;
    void *code;
    size_t bytes;
    uint32_t path_count;
    struct fetch_path *paths[]; /* of its runs, or NULL */
};

/* The page's runs while they are found. */
struct page_runs {
    inst_exec_fn *stub;
    struct inst *slots;
    /* Somebody goes on there, so that a run begins there, too; branches there from behind it: no
     * run goes on across it, for a loop is worth one of its own. */
    bool target[PAGE_DWORDS], loop[PAGE_DWORDS];
    struct x86 x;
    uint64_t va; /* of the page */
    uint32_t count;
    struct run_start {
        uint16_t slot;
        size_t offset;
        struct fetch_path *path; /* or NULL */
    } starts[PAGE_DWORDS];
};

void page_note_fresh(struct code *code, struct page_copy *copy)
{
    if (!copy)
        return;
    copy->fresh++;
    atomic_fetch_add_explicit(&code->fresh, 1, memory_order_relaxed);
}

void page_untranslate(struct code_region *region, uint32_t page)
{
    struct page_copy *copy = region->copies[page];
    struct inst *slots = region->slots + (size_t)page * PAGE_DWORDS;
    if (!copy)
        return;
    for (uint32_t n = 0; n < copy->head_count; n++)
        slot_publish(&slots[copy->heads[n].slot], copy->heads[n].plain);
    free(copy->heads);
    copy->heads = NULL;
    copy->head_count = 0;
}

void page_copy_free(struct page_copy *copy)
{
    if (copy)
        free(copy->heads);
    free(copy);
}

void translated_free(struct code *code)
{
    while (code->translated) {
        struct translated_code *next = code->translated->next;
        translated_unmap(code->translated->code, code->translated->bytes);
        for (uint32_t n = 0; n < code->translated->path_count; n++)
            fetch_path_free(code->translated->paths[n]);
        free(code->translated);
        code->translated = next;
    }
}

/* The slot is an instruction that was executed, and lies in the page as a whole. */
static bool slot_is_decoded(const struct page_runs *runs, uint32_t at)
{
    const struct inst *slot = &runs->slots[at];
    return slot->exec && slot->exec != runs->stub && at + slot->dwords <= PAGE_DWORDS;
}

/* Of an executed branch by an offset. Slots are counted from the page's first one. */
static void target_note(struct page_runs *runs, const struct inst *slot, int64_t from)
{
    if (!slot->exec || slot->exec == runs->stub || slot->klass != CLASS_BRANCH ||
        slot->format != FMT_SOPP)
        return;
    const int64_t to = from + 1 + slot->offset;
    if (to < 0 || to >= PAGE_DWORDS)
        return;
    runs->target[to] = true;
    runs->loop[to] |= to <= from;
}

/* Where somebody branches to, from pages nearby, too, into which loops go on; and where waves go on
 * that have waited, behind a barrier or in step: in the midst of a run they would be interpreted up
 * to the next one. */
static void targets_find(struct page_runs *runs, const struct code_region *region, uint32_t page)
{
    enum { NEAR_PAGES = 4 };
    const uint32_t first = page < NEAR_PAGES ? 0 : page - NEAR_PAGES;
    for (uint32_t other = first; other <= page + NEAR_PAGES; other++) {
        const int64_t start = ((int64_t)other - page) * PAGE_DWORDS;
        if (other >= region->page_count || !region->copies[other])
            continue;
        for (uint32_t at = 0; at < PAGE_DWORDS; at++)
            target_note(runs, &runs->slots[start + at], start + at);
    }
    for (uint32_t at = 0; at < PAGE_DWORDS; at++) {
        const struct inst *slot = &runs->slots[at];
        if (!slot_is_decoded(runs, at))
            continue;
        runs->target[at] |= __atomic_load_n(&slot->held, __ATOMIC_RELAXED);
        if (slot->op == OP_S_BARRIER && at + 1 < PAGE_DWORDS)
            runs->target[at + 1] = true;
    }
}

/* Where a run goes on behind the branch: at its target, if what follows it has never been executed,
 * or not while the branch was taken many times. That is another run's begin then. */
static uint32_t branch_way(struct page_runs *runs, uint32_t at)
{
    struct inst *slot = &runs->slots[at];
    const uint32_t next = at + slot->dwords;
    if (slot->klass != CLASS_BRANCH || slot->format != FMT_SOPP || slot->offset <= 0 ||
        (next < PAGE_DWORDS && slot_is_decoded(runs, next) && !branch_was_taken(slot)))
        return next;
    const uint32_t target = next + (uint32_t)slot->offset;
    if (target >= PAGE_DWORDS || !slot_is_decoded(runs, target))
        return next;
    branch_settle(slot);
    if (next < PAGE_DWORDS)
        runs->target[next] = true;
    return target;
}

/* Instructions from the slot on that may be one run. Where branches come in another one begins: few
 * are crossed, or code would be there many times; but programs' ends are short. */
static unsigned candidates(struct page_runs *runs, uint32_t at,
                           const struct inst *insts[TRANSLATE_RUN_MAX])
{
    enum { JOINS_MAX = 3 };
    unsigned count = 0, joins = 0;
    while (count < TRANSLATE_RUN_MAX && at < PAGE_DWORDS && slot_is_decoded(runs, at) &&
           !(count && runs->loop[at]) && translate_knows(&runs->slots[at])) {
        joins += count && runs->target[at] && runs->slots[at].op != OP_S_ENDPGM;
        if (joins > JOINS_MAX)
            break;
        insts[count++] = &runs->slots[at];
        at = branch_way(runs, at);
    }
    return count;
}

static void series_keep(struct fetch_path *path, const struct series *series)
{
    if (!path || !series->whole)
        return;
    path->series = malloc(sizeof *series);
    if (path->series)
        *path->series = *series;
}

/* Translates what begins at the slot; returns the slot to go on with. */
static uint32_t run_translate(struct page_runs *runs, uint32_t at)
{
    const struct inst *insts[TRANSLATE_RUN_MAX];
    unsigned count = candidates(runs, at, insts);
    size_t offset = runs->x.count;
    struct series series = {.whole = 0};
    const struct translate_memory memory = {flat_span, &series};
    unsigned taken = count < TRANSLATE_RUN_MIN
                         ? 0
                         : translate_run(&runs->x, insts, count, insts[0]->exec, &memory);
    if (!taken)
        return at + 1;
    struct fetch_path *path = fetch_path_create(insts, taken, runs->va + 4 * (uint64_t)at);
    series_keep(path, &series);
    runs->starts[runs->count++] = (struct run_start){(uint16_t)at, offset, path};
    const uint32_t end = (uint32_t)(insts[taken - 1] - runs->slots) + insts[taken - 1]->dwords;
    do
        at += runs->slots[at].dwords;
    while (at < end && !runs->target[at] && slot_is_decoded(runs, at));
    return at;
}

/* Keeps the code and what it fetches for as long as the device lives. */
static uint8_t *code_keep(struct code *code, struct page_runs *runs)
{
    struct translated_code *kept = malloc(sizeof *kept + runs->count * sizeof(struct fetch_path *));
    void *bytes = kept ? translated_map(&runs->x) : NULL;
    if (!bytes) {
        free(kept);
        return NULL;
    }
    *kept = (struct translated_code){
        .next = code->translated, .code = bytes, .bytes = runs->x.count, .path_count = runs->count};
    for (uint32_t n = 0; n < runs->count; n++)
        kept->paths[n] = runs->starts[n].path;
    code->translated = kept;
    return bytes;
}

static void run_publish(struct inst *slot, struct fetch_path *path, inst_exec_fn *exec,
                        uint8_t *bytes)
{
    if (path)
        path->exec = exec;
    if (path && path->series) {
        uint8_t *entry = bytes + path->series->offset;
        memcpy(&path->series->exec, &entry, sizeof path->series->exec);
    }
    __atomic_store_n(&slot->path, path, __ATOMIC_RELAXED);
    slot_publish(slot, exec);
}

static void runs_publish(struct code *code, struct page_copy *copy, struct page_runs *runs)
{
    struct run_head *heads = malloc(runs->count * sizeof *heads);
    uint8_t *bytes = heads ? code_keep(code, runs) : NULL;
    if (!bytes) {
        free(heads);
        for (uint32_t n = 0; n < runs->count; n++)
            fetch_path_free(runs->starts[n].path);
        log_debug("wave", "%s: a page of code is not translated",
                  runs->x.failed ? "out of memory or registers" : "no executable memory");
        return;
    }
    copy->heads = heads;
    copy->head_count = runs->count;
    for (uint32_t n = 0; n < runs->count; n++) {
        struct inst *slot = &runs->slots[runs->starts[n].slot];
        uint8_t *entry = bytes + runs->starts[n].offset;
        inst_exec_fn *exec;
        memcpy(&exec, &entry, sizeof exec);
        heads[n] = (struct run_head){runs->starts[n].slot, slot->exec};
        run_publish(slot, runs->starts[n].path, exec, bytes);
    }
}

static void page_translate(struct code *code, struct code_region *region, uint32_t page)
{
    struct page_copy *copy = region->copies[page];
    struct page_runs *runs = calloc(1, sizeof *runs);
    copy->fresh = 0;
    if (!runs)
        return;
    page_untranslate(region, page);
    runs->stub = code->stub;
    runs->slots = region->slots + (size_t)page * PAGE_DWORDS;
    runs->va = region->start_va + (uint64_t)page * PAGE_DWORDS * 4;
    targets_find(runs, region, page);
    for (uint32_t at = 0; at < PAGE_DWORDS;)
        at = slot_is_decoded(runs, at) ? run_translate(runs, at) : at + 1;
    if (runs->count)
        runs_publish(code, copy, runs);
    x86_free(&runs->x);
    free(runs);
}

bool code_is_fresh(const struct code *code)
{
    return atomic_load_explicit(&code->fresh, memory_order_relaxed) != 0;
}

void code_translate(struct code *code)
{
    if (!code_is_fresh(code))
        return;
    pthread_mutex_lock(&code->lock);
    atomic_store_explicit(&code->fresh, 0, memory_order_relaxed);
    struct code_region *region = atomic_load_explicit(&code->regions, memory_order_relaxed);
    for (; region; region = region->next)
        for (uint32_t page = 0; page < region->page_count; page++)
            if (region->copies[page] && region->copies[page]->fresh)
                page_translate(code, region, page);
    pthread_mutex_unlock(&code->lock);
}
