/* Names and code of kernels, found once for each. */
#include "api/rocprofiler_v1/internal.h"

#include <dlfcn.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <stdlib.h>
#include <string.h>

/* Kernel ids grow from 1: two levels of tables, so that a dispatch takes no lock. */
enum { CHUNK_KERNELS = 1024, CHUNKS_MAX = 4096 };

/* Writers: whoever needs one first (compare-exchange, release). Readers: dispatches (acquire). */
struct known_kernel {
    struct kernel_facts facts;
    uint64_t id;
};
typedef _Atomic(const struct known_kernel *) facts_slot;
static _Atomic(facts_slot *) chunks[CHUNKS_MAX]; /* writers and readers: as of the slots in them */

typedef char *(*demangle_fn)(const char *mangled, char *buffer, size_t *length, int *status);

/* No C++ runtime is linked for this: it is in the process wherever a C++ program is. */
static demangle_fn demangler(void)
{
    demangle_fn function;
    *(void **)&function = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    void *library = function ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (library)
        *(void **)&function = dlsym(library, "__cxa_demangle");
    return function;
}

static char *name_make(const char *symbol)
{
    size_t length = strlen(symbol);
    int status = -1;
    if (length > 3 && !strcmp(symbol + length - 3, ".kd"))
        length -= 3;
    char *plain = strndup(symbol, length);
    demangle_fn demangle = plain && !strncmp(plain, "_Z", 2) ? demangler() : NULL;
    char *pretty = demangle ? demangle(plain, NULL, NULL, &status) : NULL;
    if (status != 0 || !pretty)
        return plain;
    free(plain);
    return pretty;
}

static const amd_kernel_code_t *code_find(uint64_t kernel_object)
{
    const struct hsa_calls *hsa = hsa_calls();
    hsa_ven_amd_loader_1_00_pfn_t loader;
    const void *code = NULL;
    memset(&loader, 0, sizeof loader);
    if (!hsa || hsa->extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof loader, &loader) !=
                    HSA_STATUS_SUCCESS)
        return NULL;
    if (!loader.hsa_ven_amd_loader_query_host_address ||
        loader.hsa_ven_amd_loader_query_host_address((const void *)(uintptr_t)kernel_object,
                                                     &code) != HSA_STATUS_SUCCESS)
        return NULL;
    return code;
}

static facts_slot *slot_of(uint64_t kernel_id)
{
    uint64_t chunk = kernel_id / CHUNK_KERNELS;
    if (chunk >= CHUNKS_MAX)
        return NULL;
    facts_slot *slots = atomic_load_explicit(&chunks[chunk], memory_order_acquire);
    if (!slots) {
        facts_slot *fresh = calloc(CHUNK_KERNELS, sizeof *fresh);
        if (!fresh)
            return NULL;
        if (atomic_compare_exchange_strong_explicit(&chunks[chunk], &slots, fresh,
                                                    memory_order_acq_rel, memory_order_acquire))
            slots = fresh;
        else
            free(fresh);
    }
    return &slots[kernel_id % CHUNK_KERNELS];
}

/* A program mostly submits the kernel that it submitted before. */
static __thread const struct known_kernel *last __attribute__((tls_model("initial-exec")));

/* NULL: the runtime does not know it, or there is no memory. */
static struct known_kernel *known_make(uint64_t kernel_id, uint64_t kernel_object)
{
    const char *symbol = engine->hsa_facts->kernel_name(kernel_id);
    struct known_kernel *known = symbol ? calloc(1, sizeof *known) : NULL;
    char *name = known ? name_make(symbol) : NULL;
    if (!name) {
        free(known);
        return NULL;
    }
    *known = (struct known_kernel){{name, code_find(kernel_object)}, kernel_id};
    return known;
}

struct kernel_facts kernel_facts(uint64_t kernel_id, uint64_t kernel_object)
{
    static const struct kernel_facts unknown = {.name = ""};
    if (last && last->id == kernel_id)
        return last->facts;
    facts_slot *slot = slot_of(kernel_id);
    const struct known_kernel *known =
        slot ? atomic_load_explicit(slot, memory_order_acquire) : NULL;
    struct known_kernel *fresh = slot && !known ? known_make(kernel_id, kernel_object) : NULL;
    if (fresh && atomic_compare_exchange_strong_explicit(slot, &known, fresh, memory_order_acq_rel,
                                                         memory_order_acquire)) {
        known = fresh;
    } else if (fresh) {
        free((char *)fresh->facts.name);
        free(fresh);
    }
    if (known)
        last = known;
    return known ? known->facts : unknown;
}
