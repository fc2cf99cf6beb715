#include "wave/code_internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/log.h"
#include "core/host_memory.h"
#include "isa/decode.h"
#include "wave/group.h"

static const struct inst *decode_stub(struct wave *wave, const struct inst *inst);

_Static_assert(offsetof(struct inst, exec) == 0, "slot_fill() copies what lies behind exec");

int code_create(enum gpu_gen gen, const struct code_handlers *handlers, struct code **out)
{
    struct code *code = calloc(1, sizeof *code);
    if (!code)
        return -ENOMEM;
    code->gen = gen;
    code->handlers = handlers;
    code->stub = decode_stub;
    pthread_mutex_init(&code->lock, NULL);
    *out = code;
    return 0;
}

static void region_free_copies(struct code_region *region)
{
    for (uint32_t page = 0; region->copies && page < region->page_count; page++)
        page_copy_free(region->copies[page]);
    free(region->copies);
}

static size_t region_slot_bytes(const struct code_region *region)
{
    return ((size_t)region->page_count + 1) * PAGE_DWORDS * sizeof(struct inst);
}

void code_destroy(struct code *code)
{
    struct code_region *region = atomic_load_explicit(&code->regions, memory_order_relaxed);
    while (region) {
        struct code_region *next = region->next;
        host_unmap(region->slots, region_slot_bytes(region));
        region_free_copies(region);
        free(region);
        region = next;
    }
    translated_free(code);
    pthread_mutex_destroy(&code->lock);
    free(code);
}

static uint32_t page_of(const struct code_region *region, uint64_t va)
{
    return (uint32_t)((va - region->start_va) / (PAGE_DWORDS * 4));
}

static struct code_region *region_find(struct code *code, uint64_t va)
{
    struct code_region *region = atomic_load_explicit(&code->regions, memory_order_acquire);
    while (region && !(va >= region->start_va && va < region->end_va))
        region = region->next;
    return region;
}

static struct code_region *region_of_slot(struct code *code, const struct inst *slot)
{
    struct code_region *region = atomic_load_explicit(&code->regions, memory_order_acquire);
    while (region && !(slot >= region->slots &&
                       slot < region->slots + (region->page_count + 1) * PAGE_DWORDS))
        region = region->next;
    return region;
}

static void slot_arm(struct inst *slot)
{
    if (!slot->exec)
        slot_publish(slot, decode_stub);
}

/* Where memory has the page's dwords, and how many; NULL when part of it is not mapped. */
static const uint32_t *page_memory(const struct code_region *region, struct vm_reader *reader,
                                   uint32_t page, uint32_t *count)
{
    uint64_t va = region->start_va + (uint64_t)page * PAGE_DWORDS * 4;
    uint64_t left = (region->end_va - va) / 4;
    *count = left < PAGE_DWORDS ? (uint32_t)left : PAGE_DWORDS;
    return vm_translate(reader, va, 4 * *count, VM_READ);
}

/* Under the lock. */
static bool page_arm(struct code_region *region, struct vm_reader *reader, uint32_t page)
{
    if (region->copies[page])
        return true;
    struct page_copy *copy = calloc(1, sizeof *copy);
    if (!copy)
        return false;
    uint32_t count;
    const uint32_t *memory = page_memory(region, reader, page, &count);
    if (memory)
        memcpy(copy->words, memory, count * sizeof *memory);
    copy->first = PAGE_DWORDS;
    struct inst *slot = region->slots + (size_t)page * PAGE_DWORDS;
    /* A run that crosses into the next page lands on one of its first slots. */
    for (uint32_t i = 0; i < PAGE_DWORDS + 4; i++)
        slot_arm(&slot[i]);
    __atomic_store_n(&region->copies[page], copy, __ATOMIC_RELEASE); /* pairs with region_get() */
    return true;
}

static struct code_region *region_create(uint64_t start_va, uint64_t end_va)
{
    struct code_region *region = calloc(1, sizeof *region);
    if (!region)
        return NULL;
    region->start_va = start_va;
    region->end_va = end_va;
    region->page_count = (uint32_t)((end_va - start_va + PAGE_DWORDS * 4 - 1) / (PAGE_DWORDS * 4));
    region->copies = calloc(region->page_count + 1, sizeof *region->copies);
    region->slots = mmap(NULL, region_slot_bytes(region), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region->copies && region->slots != MAP_FAILED)
        return region;
    if (region->slots != MAP_FAILED)
        host_unmap(region->slots, region_slot_bytes(region));
    region_free_copies(region);
    free(region);
    return NULL;
}

/* A region is a 4 KiB-aligned window around `va`, at most 64 MiB of the mapped range. Reserving a
 * slot costs no memory until its page runs. */
static struct code_region *region_add(struct code *code, struct vm_reader *reader, uint64_t va)
{
    struct vm_range range;
    if (!vm_range_find(reader, va, &range) || (range.flags & (VM_READ | VM_FAULTED)) != VM_READ)
        return NULL;
    uint64_t start = range.start & ~3ull, end = range.end;
    if (end - start > REGION_BYTES_MAX) {
        uint64_t window = (va - start) / REGION_BYTES_MAX;
        start += window * REGION_BYTES_MAX;
        end = end - start > REGION_BYTES_MAX ? start + REGION_BYTES_MAX : end;
    }
    struct code_region *region = region_create(start, end);
    if (!region)
        return NULL;
    region->next = atomic_load_explicit(&code->regions, memory_order_relaxed);
    atomic_store_explicit(&code->regions, region, memory_order_release);
    return region;
}

static struct code_region *region_get(struct code *code, struct vm_reader *reader, uint64_t va)
{
    struct code_region *region = region_find(code, va);
    if (region && __atomic_load_n(&region->copies[page_of(region, va)], __ATOMIC_ACQUIRE))
        return region;
    pthread_mutex_lock(&code->lock);
    region = region_find(code, va);
    if (!region)
        region = region_add(code, reader, va);
    if (region && !page_arm(region, reader, page_of(region, va)))
        region = NULL;
    pthread_mutex_unlock(&code->lock);
    return region;
}

bool code_enter(struct code *code, struct vm_reader *reader, struct wave *wave, uint64_t va)
{
    if (va & 3 || !vm_translate(reader, va, 4, VM_READ))
        return false;
    struct code_region *region = region_get(code, reader, va);
    if (!region)
        return false;
    wave->code = region->slots;
    wave->code_va = region->start_va;
    wave->pc = region->slots + (va - region->start_va) / 4;
    return true;
}

const struct inst *wave_jump(struct wave *wave, const struct inst *inst, uint64_t va)
{
    struct workgroup *group = wave->group;
    if (!code_enter(engine_code(group->engine), group->reader, wave, va))
        return wave_fault(wave, inst, FAULT_MEMORY_EXEC, va);
    return wave->pc;
}

/* A page that another one branches into has one more place where runs begin. */
static void target_note_fresh(struct code *code, struct code_region *region, uint64_t at,
                              const struct inst *decoded)
{
    const uint64_t target = at + 1 + (uint64_t)(int64_t)decoded->offset,
                   page = target / PAGE_DWORDS;
    if (page < region->page_count && page != at / PAGE_DWORDS)
        page_note_fresh(code, region->copies[page]);
}

/*
 * A branch may leave the armed pages: its target gets a stub of its own. One that leaves the window
 * gets the handler that goes by address.
 */
static inst_exec_fn *branch_handler(const struct code_handlers *handlers,
                                    struct code_region *region, const struct inst *slot,
                                    struct inst *decoded)
{
    int64_t target = (slot - region->slots) + 1 + (int64_t)decoded->offset;
    if (target < 0 || target >= (int64_t)region->page_count * PAGE_DWORDS)
        return handlers->far_branch;
    slot_arm(&region->slots[target]);
    return handlers->find(decoded);
}

static void copy_note(struct page_copy *copy, uint32_t at, uint32_t word)
{
    if (!copy)
        return;
    copy->words[at] = word;
    copy->first = at < copy->first ? at : copy->first;
    copy->end = at >= copy->end ? at + 1 : copy->end;
}

static void slot_fill(struct code *code, struct code_region *region, struct inst *slot,
                      struct inst *decoded)
{
    const struct code_handlers *handlers = code->handlers;
    uint64_t at = (uint64_t)(slot - region->slots);
    for (uint64_t i = at; i < at + decoded->dwords; i++)
        if (i / PAGE_DWORDS < region->page_count)
            copy_note(region->copies[i / PAGE_DWORDS], i % PAGE_DWORDS, decoded->raw[i - at]);
    bool near = decoded->klass == CLASS_BRANCH && decoded->format == FMT_SOPP;
    inst_exec_fn *exec =
        near ? branch_handler(handlers, region, slot, decoded) : handlers->find(decoded);
    /* Others load exec, the first member, meanwhile: it changes last, and only atomically. */
    memcpy((char *)slot + sizeof slot->exec, (const char *)decoded + sizeof slot->exec,
           sizeof *slot - sizeof slot->exec);
    slot_publish(slot, exec);
    page_note_fresh(code, region->copies[at / PAGE_DWORDS]);
    if (near)
        target_note_fresh(code, region, at, decoded);
}

void code_hold(struct code *code, const struct inst *inst)
{
    pthread_mutex_lock(&code->lock);
    struct code_region *region = region_of_slot(code, inst);
    __atomic_store_n((uint8_t *)(uintptr_t)&inst->held, 1, __ATOMIC_RELAXED);
    if (region)
        page_note_fresh(code, region->copies[(size_t)(inst - region->slots) / PAGE_DWORDS]);
    pthread_mutex_unlock(&code->lock);
}

static void slot_decode(struct code *code, struct vm_reader *reader, struct code_region *region,
                        struct inst *slot, const uint32_t *words, size_t dwords)
{
    struct inst decoded;
    isa_decode(code->gen, words, dwords, &decoded);
    uint64_t at = (uint64_t)(slot - region->slots), last = at + decoded.dwords - 1u;
    pthread_mutex_lock(&code->lock);
    bool ready = page_arm(region, reader, (uint32_t)(at / PAGE_DWORDS));
    if (last / PAGE_DWORDS < region->page_count)
        ready = ready && page_arm(region, reader, (uint32_t)(last / PAGE_DWORDS));
    if (ready && slot->exec == decode_stub)
        slot_fill(code, region, slot, &decoded);
    pthread_mutex_unlock(&code->lock);
}

/*
 * A wave ran straight over the end of its region into memory that is mapped, too: the mapping that
 * the region mirrors was shorter than the one that stands there now, or the next one touches it.
 */
static const struct inst *region_leave(struct wave *wave, const struct inst *inst, uint64_t va)
{
    if (!code_enter(engine_code(wave->group->engine), wave->group->reader, wave, va))
        return wave_fault(wave, inst, FAULT_MEMORY_EXEC, va);
    wave_uncount(wave, inst);
    return wave->pc;
}

/*
 * First execution of a slot: decodes it and returns it again. The run loop counts whatever class
 * the slot has when its handler returned, so this turn, which executed nothing, is taken back.
 */
static const struct inst *decode_stub(struct wave *wave, const struct inst *inst)
{
    struct code *code = engine_code(wave->group->engine);
    struct vm_reader *reader = wave->group->reader;
    struct code_region *region = region_of_slot(code, inst);
    uint64_t at = (uint64_t)(inst - region->slots), va = region->start_va + 4 * at;
    struct vm_range range;
    const uint32_t *words = vm_translate(reader, va, 4, VM_READ);
    if (words && va >= region->end_va)
        return region_leave(wave, inst, va);
    if (!words || !vm_range_find(reader, va, &range))
        return wave_fault(wave, inst, FAULT_MEMORY_EXEC, va);
    uint64_t left = (range.end - va) / 4;
    slot_decode(code, reader, region, region->slots + at, words, left < 4 ? left : 4);
    if (__atomic_load_n(&inst->exec, __ATOMIC_ACQUIRE) == decode_stub)
        return wave_fault(wave, inst, FAULT_MEMORY_EXEC, va); /* out of host memory */
    wave_uncount(wave, inst);
    return inst;
}

bool code_is_stub(inst_exec_fn *exec)
{
    return exec == decode_stub;
}

/* Under the lock, after the page's dwords were found to differ. */
static void page_forget_changed(struct code_region *region, uint32_t page, const uint32_t *words)
{
    uint32_t *copy = region->copies[page]->words;
    struct inst *slot = region->slots + (size_t)page * PAGE_DWORDS;
    page_untranslate(region, page);
    for (uint32_t i = 0; i < PAGE_DWORDS; i++) {
        bool two = i + 1 < PAGE_DWORDS && slot[i].dwords > 1;
        if (copy[i] != words[i] || (two && copy[i + 1] != words[i + 1]))
            slot_publish(&slot[i], decode_stub);
    }
    /* An instruction of the page before may have its second dword here. */
    if (page > 0 && copy[0] != words[0] && slot[-1].exec) {
        page_untranslate(region, page - 1);
        slot_publish(&slot[-1], decode_stub);
    }
    memcpy(copy, words, PAGE_DWORDS * sizeof *copy);
}

static void page_check(struct code_region *region, struct vm_reader *reader, uint32_t page)
{
    const struct page_copy *copy = region->copies[page];
    uint32_t count, words[PAGE_DWORDS];
    const uint32_t *memory =
        copy && copy->first < copy->end ? page_memory(region, reader, page, &count) : NULL;
    if (!memory)
        return;
    uint32_t end = copy->end < count ? copy->end : count;
    if (end <= copy->first || memcmp(copy->words + copy->first, memory + copy->first,
                                     (end - copy->first) * sizeof *memory) == 0)
        return;
    /* It may change on: what is compared with each slot's is what the copy gets. */
    memcpy(words, copy->words, sizeof words);
    memcpy(words, memory, count * sizeof *memory);
    page_forget_changed(region, page, words);
}

static void check_all(struct code *code, struct vm_reader *reader)
{
    struct code_region *region = atomic_load_explicit(&code->regions, memory_order_relaxed);
    for (; region; region = region->next) {
        for (uint32_t page = 0; page < region->page_count; page++)
            page_check(region, reader, page);
    }
    code->vm_generation = reader->generation;
}

void code_revalidate(struct code *code, struct vm_reader *reader)
{
    pthread_mutex_lock(&code->lock);
    check_all(code, reader);
    pthread_mutex_unlock(&code->lock);
}

void code_check(struct code *code, struct vm_reader *reader, uint64_t entry_va)
{
    pthread_mutex_lock(&code->lock);
    struct code_region *region = region_find(code, entry_va);
    if (code->vm_generation != reader->generation)
        check_all(code, reader);
    else if (region)
        page_check(region, reader, page_of(region, entry_va));
    pthread_mutex_unlock(&code->lock);
}
