/* What code.c, which decodes, and code_translate.c share. */
#ifndef WAVE_CODE_INTERNAL_H
#define WAVE_CODE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "wave/code.h"

enum { PAGE_DWORDS = 1024, REGION_PAGES_MAX = 16384 };
#define REGION_BYTES_MAX ((uint64_t)REGION_PAGES_MAX * PAGE_DWORDS * 4)

/* A page's dwords. Invariant: those of a decoded slot are the ones it was decoded from, and lie
 * from `first` on and before `end`: comparing these with memory finds what was rewritten. */
struct page_copy {
    uint32_t first, end;
    uint32_t words[PAGE_DWORDS];
    /* What code_translate.c keeps. */
    uint32_t fresh; /* slots that were decoded since the page was last translated */
    uint32_t head_count;
    struct run_head {
        uint16_t slot;
        inst_exec_fn *plain; /* its handler alone */
    } * heads;
};

/*
 * Decoded slots of one window of GPU memory. Slots are reserved, not committed: a page's slots get
 * the decoding stub when the page is first entered. One page more than the window holds is
 * reserved, so that running off its end meets a stub too.
 */
struct code_region {
    struct code_region *next;
    uint64_t start_va, end_va;
    uint32_t page_count;
    struct inst *slots;
    struct page_copy **copies; /* per page, NULL until it is armed */
};

struct code {
    enum gpu_gen gen;
    const struct code_handlers *handlers;
    inst_exec_fn *stub;   /* of slots that were not executed yet */
    pthread_mutex_t lock; /* arming, decoding, the region list's changes */
    /* Written under the lock, read without: release on insert, acquire on walk. Regions are never
     * freed before the device, because waves hold pointers into them. */
    _Atomic(struct code_region *) regions;
    uint64_t vm_generation; /* of the page table at the last full check; under the lock */
    /* Slots that were decoded since code was last translated: written under the lock, read without
     * as a hint, both relaxed. */
    _Atomic uint32_t fresh;
    struct translated_code
        *translated; /* all there ever was: waves may be inside; under the lock */
};

/* Release: whoever loads this exec in the run loop must see the fields behind it. */
static inline void slot_publish(struct inst *slot, inst_exec_fn *exec)
{
    __atomic_store_n(&slot->exec, exec, __ATOMIC_RELEASE);
}

/* code_translate.c; all under the lock. */
/* A slot of the page was decoded. */
void page_note_fresh(struct code *code, struct page_copy *copy);
/* Its slots have their own handlers again. */
void page_untranslate(struct code_region *region, uint32_t page);
void page_copy_free(struct page_copy *copy);
void translated_free(struct code *code);

#endif
