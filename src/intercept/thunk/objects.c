#include "intercept/thunk/objects.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "intercept/thunk/calls.h"

#if defined(__x86_64__)
enum { RELOCATION_SLOT = R_X86_64_JUMP_SLOT, RELOCATION_GLOBAL = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { RELOCATION_SLOT = R_AARCH64_JUMP_SLOT, RELOCATION_GLOBAL = R_AARCH64_GLOB_DAT };
#endif

static const char thunk_name[] = "libhsakmt.so", runtime_name[] = "libhsa-runtime64.so";

/* One loaded object, as far as we read it. */
struct object {
    const struct dl_phdr_info *info;
    const char *strings;
    const ElfW(Sym) * symbols;
    const ElfW(Rela) * tables[2]; /* data's and functions' relocations */
    size_t counts[2];
    uintptr_t relro_begin, relro_end; /* pages that are read-only once it is relocated */
    bool is_open;                     /* they are writable now */
    bool is_concerned;                /* it is the thunk, or needs it */
    bool is_runtime;
    struct thunk_visit *visit;
};

static bool starts_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* The linker has made addresses of these values, but for objects that it did not load. */
static uintptr_t address(const struct object *object, ElfW(Addr) value)
{
    return value < object->info->dlpi_addr ? object->info->dlpi_addr + value : value;
}

static const ElfW(Phdr) * header_find(const struct dl_phdr_info *info, ElfW(Word) type)
{
    for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == type)
            return &info->dlpi_phdr[i];
    return NULL;
}

static bool object_contains(const struct object *object, uintptr_t value)
{
    const struct dl_phdr_info *info = object->info;
    for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && value >= begin && value - begin < header->p_memsz)
            return true;
    }
    return false;
}

/* ---- reading */

static void names_read(struct object *object, const ElfW(Dyn) * dynamic)
{
    for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
        if (d->d_tag != DT_NEEDED && d->d_tag != DT_SONAME)
            continue;
        const char *name = object->strings + d->d_un.d_val;
        object->is_concerned |= starts_with(name, thunk_name);
        object->is_runtime |= d->d_tag == DT_SONAME && starts_with(name, runtime_name);
    }
}

static void tables_read(struct object *object, const ElfW(Dyn) * dynamic)
{
    bool has_rela_slots = true;
    for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB)
            object->strings = (const char *)address(object, d->d_un.d_ptr);
        else if (d->d_tag == DT_SYMTAB)
            object->symbols = (const ElfW(Sym) *)address(object, d->d_un.d_ptr);
        else if (d->d_tag == DT_RELA)
            object->tables[0] = (const ElfW(Rela) *)address(object, d->d_un.d_ptr);
        else if (d->d_tag == DT_RELASZ)
            object->counts[0] = d->d_un.d_val / sizeof(ElfW(Rela));
        else if (d->d_tag == DT_JMPREL)
            object->tables[1] = (const ElfW(Rela) *)address(object, d->d_un.d_ptr);
        else if (d->d_tag == DT_PLTRELSZ)
            object->counts[1] = d->d_un.d_val / sizeof(ElfW(Rela));
        else if (d->d_tag == DT_PLTREL)
            has_rela_slots = d->d_un.d_val == DT_RELA;
    }
    if (!has_rela_slots)
        object->tables[1] = NULL;
}

/* False: there is nothing in it for us. */
static bool object_read(struct object *object)
{
    const ElfW(Phdr) *dynamic = header_find(object->info, PT_DYNAMIC);
    const ElfW(Phdr) *relro = header_find(object->info, PT_GNU_RELRO);
    if (!dynamic)
        return false;
    const ElfW(Dyn) *entries = (const ElfW(Dyn) *)(object->info->dlpi_addr + dynamic->p_vaddr);
    tables_read(object, entries);
    if (!object->strings || !object->symbols)
        return false;
    names_read(object, entries);
    if (relro) { /* whole pages, as the linker has it */
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t begin = object->info->dlpi_addr + relro->p_vaddr;
        object->relro_begin = begin & ~(page - 1);
        object->relro_end = (begin + relro->p_memsz) & ~(page - 1);
    }
    return object->is_concerned;
}

/* ---- rerouting */

static bool slot_open(struct object *object, const void *slot)
{
    uintptr_t at = (uintptr_t)slot;
    if (object->is_open || at < object->relro_begin || at >= object->relro_end)
        return true;
    object->is_open = mprotect((void *)object->relro_begin, object->relro_end - object->relro_begin,
                               PROT_READ | PROT_WRITE) == 0;
    return object->is_open;
}

static void object_close(struct object *object)
{
    if (object->is_open)
        mprotect((void *)object->relro_begin, object->relro_end - object->relro_begin, PROT_READ);
}

/* What the linker would bind the name to. */
static void *function_resolve(const struct object *object, const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    void *handle = function || !*object->info->dlpi_name
                       ? NULL
                       : dlopen(object->info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) {
        function = dlsym(handle, name);
        dlclose(handle);
    }
    return function;
}

/* A wrapper may be called as long as the process lives. */
static bool library_pin(const void *function)
{
    Dl_info library;
    if (!dladdr(function, &library))
        return false; /* no function of anybody's */
    dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    return true;
}

/* An address inside of the object itself is that of a function not bound yet, or of the object's
 * own. NULL: nothing we could call. */
static void *slot_function(const struct object *object, void *value, const char *name)
{
    return value && object_contains(object, (uintptr_t)value) ? function_resolve(object, name)
                                                              : value;
}

static void slot_reroute(struct object *object, _Atomic(void *) *slot, int32_t function,
                         const char *name)
{
    void *value = atomic_load_explicit(slot, memory_order_relaxed);
    void *wrapper = thunk_wrapper(function), *known = thunk_next(function);
    if (value == wrapper || !(value = slot_function(object, value, name)))
        return;
    if (known && known != value) {
        object->visit->foreign_count++;
        return;
    }
    if (!known && !library_pin(value))
        return;
    if (!slot_open(object, (const void *)slot)) {
        object->visit->refused++;
        return;
    }
    thunk_next_set(function, value);
    atomic_store_explicit(slot, wrapper, memory_order_release);
    object->visit->rerouted++;
}

static void relocation_visit(struct object *object, const ElfW(Rela) * relocation)
{
    static const char prefix[] = "hsaKmt";
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(relocation->r_info)];
    if (type != RELOCATION_SLOT && type != RELOCATION_GLOBAL)
        return;
    const char *name = object->strings + symbol->st_name;
    int32_t function = starts_with(name, prefix) ? thunk_function_find(name) : -1;
    if (function < 0)
        return;
    uintptr_t slot = object->info->dlpi_addr + relocation->r_offset;
    object->visit->import_count++;
    if (thunk_function_is_wanted(function) && slot % sizeof(void *) == 0)
        slot_reroute(object, (_Atomic(void *) *)slot, function, name);
}

static int object_visit(struct dl_phdr_info *info, size_t size, void *visit)
{
    struct object object = {.info = info, .visit = visit};
    bool is_concerned = object_read(&object);
    (void)size;
    object.visit->has_runtime |= object.is_runtime;
    for (int t = 0; is_concerned && t < 2; t++)
        for (size_t i = 0; object.tables[t] && i < object.counts[t]; i++)
            relocation_visit(&object, &object.tables[t][i]);
    object_close(&object);
    return 0;
}

/* ---- the linker's lock
 *
 * An object that another thread is loading must be left alone: the linker writes to its slots, and
 * to the protection of their pages. There is no function that takes the linker's lock, but one that
 * calls back with it held: dlsym runs the resolver of an indirect function that it finds. Nobody
 * else ever asks for this one. Calls nest: the lock is recursive.
 */

/* Volatile: dlsym is declared as a function that calls nobody back. */
static __thread struct thunk_visit *volatile visit_wanted;

static void visit_done(void) {}

/* `used`: clang does not count what the attribute `ifunc` names. */
__attribute__((used)) static void (*visit_resolve(void))(void)
{
    struct thunk_visit *visit = visit_wanted;
    if (visit)
        dl_iterate_phdr(object_visit, visit);
    visit_wanted = NULL;
    return visit_done;
}

__attribute__((visibility("default"), ifunc("visit_resolve"))) void crocprof_thunk_visit(void);

bool thunk_objects_visit(struct thunk_visit *visit)
{
    *visit = (struct thunk_visit){0};
    visit_wanted = visit;
    dlsym(RTLD_DEFAULT, "crocprof_thunk_visit");
    bool visited = !visit_wanted;
    visit_wanted = NULL;
    return visited;
}
