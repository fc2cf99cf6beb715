#include "session/discover.h"

#include "base/log.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

static const char symbol_name[] = "rocprofiler_configure";

/* ---- one mapped object: its own definition, through the hash table the loader uses. That takes a
 * few dozen nanoseconds an object; upstream reads all section headers from disk (18-270 ms). */

struct dynamic_tables {
    const uint32_t *gnu_hash, *sysv_hash; /* linkers make either or both */
    const ElfW(Sym) * symbols;
    const char *strings;
};

/* glibc relocates these pointers in place, other loaders (and the vDSO) leave offsets. */
static const void *absolute(ElfW(Addr) base, ElfW(Addr) value)
{
    return (const void *)(value < base ? base + value : value);
}

static bool tables_read(const struct dl_phdr_info *object, struct dynamic_tables *tables)
{
    memset(tables, 0, sizeof *tables);
    const ElfW(Dyn) *entry = NULL;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        const void *at = absolute(object->dlpi_addr, entry->d_un.d_ptr);
        if (entry->d_tag == DT_GNU_HASH)
            tables->gnu_hash = at;
        else if (entry->d_tag == DT_HASH)
            tables->sysv_hash = at;
        else if (entry->d_tag == DT_SYMTAB)
            tables->symbols = at;
        else if (entry->d_tag == DT_STRTAB)
            tables->strings = at;
    }
    return (tables->gnu_hash || tables->sysv_hash) && tables->symbols && tables->strings;
}

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static bool symbol_is(const struct dynamic_tables *t, uint32_t index, const char *name)
{
    const ElfW(Sym) *symbol = &t->symbols[index];
    return symbol->st_shndx != SHN_UNDEF && strcmp(t->strings + symbol->st_name, name) == 0;
}

/* Format: bucket count, first hashed symbol, bloom size, bloom shift, bloom words, buckets, chains.
 */
static const ElfW(Sym) * gnu_hash_find(const struct dynamic_tables *t, const char *name)
{
    uint32_t hash = gnu_hash_of(name);
    uint32_t bucket_count = t->gnu_hash[0], first = t->gnu_hash[1], bloom_count = t->gnu_hash[2];
    const ElfW(Addr) *bloom = (const void *)&t->gnu_hash[4];
    const uint32_t *buckets = (const void *)&bloom[bloom_count];
    const uint32_t *chains = &buckets[bucket_count];
    const unsigned bits = 8 * sizeof bloom[0];
    if (bucket_count == 0 || bloom_count == 0)
        return NULL;
    ElfW(Addr) word = bloom[hash / bits % bloom_count];
    if (!(word >> hash % bits & 1) || !(word >> (hash >> t->gnu_hash[3]) % bits & 1))
        return NULL;
    uint32_t index = buckets[hash % bucket_count];
    if (index < first)
        return NULL;
    for (;; index++) {
        uint32_t chain = chains[index - first];
        if ((chain | 1) == (hash | 1) && symbol_is(t, index, name))
            return &t->symbols[index];
        if (chain & 1)
            return NULL;
    }
}

static uint32_t sysv_hash_of(const char *name)
{
    uint32_t hash = 0;
    for (; *name; name++) {
        hash = (hash << 4) + (unsigned char)*name;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    return hash;
}

/* Format: bucket count, chain count, buckets, chains. */
static const ElfW(Sym) * sysv_hash_find(const struct dynamic_tables *t, const char *name)
{
    uint32_t bucket_count = t->sysv_hash[0];
    const uint32_t *buckets = &t->sysv_hash[2], *chains = &buckets[bucket_count];
    uint32_t index = bucket_count ? buckets[sysv_hash_of(name) % bucket_count] : 0;
    while (index && !symbol_is(t, index, name))
        index = chains[index];
    return index ? &t->symbols[index] : NULL;
}

static void *object_symbol(const struct dl_phdr_info *object)
{
    struct dynamic_tables tables;
    if (!tables_read(object, &tables))
        return NULL;
    const ElfW(Sym) *symbol = tables.gnu_hash ? gnu_hash_find(&tables, symbol_name)
                                              : sysv_hash_find(&tables, symbol_name);
    return symbol ? (void *)(object->dlpi_addr + symbol->st_value) : NULL;
}

/* ---- the list */

static void list_add(struct tool_list *list, void *address)
{
    rocprofiler_configure_func_t tool = (rocprofiler_configure_func_t)address;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->tools[i] == tool)
            return;
    if (!tool)
        return;
    if (list->count == DISCOVER_TOOLS_MAX) {
        log_warning("session", "more than %d tools in the process: the others are ignored",
                    DISCOVER_TOOLS_MAX);
        return;
    }
    list->tools[list->count++] = tool;
}

static int object_add(struct dl_phdr_info *object, size_t size, void *list)
{
    (void)size;
    list_add(list, object_symbol(object));
    return 0;
}

static int object_any(struct dl_phdr_info *object, size_t size, void *data)
{
    (void)size;
    (void)data;
    return object_symbol(object) != NULL;
}

static void library_add(struct tool_list *list, const char *path, const char *origin)
{
    void *library = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    if (!library)
        library = dlopen(path, RTLD_LOCAL | RTLD_LAZY);
    if (!library) {
        log_error("session", "%s: %s", origin, dlerror());
        return;
    }
    void *symbol = dlsym(library, symbol_name);
    if (!symbol)
        log_error("session", "%s: %s does not define %s", origin, path, symbol_name);
    list_add(list, symbol);
}

void discover_libraries(struct tool_list *list, const char *paths, const char *origin)
{
    char *copy = paths ? strdup(paths) : NULL;
    char *rest = copy, *path;
    while ((path = strsep(&rest, ":")))
        if (*path)
            library_add(list, path, origin);
    free(copy);
}

/* A program that runs with more rights than its user takes no libraries from the user. */
static const char *libraries_of_environment(void)
{
    return secure_getenv("ROCP_TOOL_LIBRARIES");
}

/* RTLD_DEFAULT also finds a tool that merely brought us along as its own dependency. */
static bool announced_to_all(void)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    bool found = program && dlsym(program, symbol_name);
    if (program)
        dlclose(program);
    return found;
}

void discover_tools(struct tool_list *list, rocprofiler_configure_func_t forced,
                    enum discover_scope scope)
{
    list->count = 0;
    list_add(list, (void *)forced);
    discover_libraries(list, libraries_of_environment(), "ROCP_TOOL_LIBRARIES");
    if (scope == DISCOVER_ANNOUNCED && !announced_to_all())
        return;
    /* What the global scope resolves to comes first, then every other definition in link order. */
    list_add(list, dlsym(RTLD_DEFAULT, symbol_name));
    dl_iterate_phdr(object_add, list);
}

static const void *base_of(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* The first one found may be another library's, which ours depends on or which comes before. */
rocprofiler_configure_attach_func_t discover_attach(rocprofiler_configure_func_t configure)
{
    Dl_info owner;
    if (!dladdr((void *)configure, &owner) || !owner.dli_fname)
        return NULL;
    void *library = dlopen(owner.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
    void *symbol = dlsym(library ? library : RTLD_DEFAULT, "rocprofiler_configure_attach");
    if (library)
        dlclose(library);
    return base_of(symbol) == owner.dli_fbase ? (rocprofiler_configure_attach_func_t)symbol : NULL;
}

bool discover_any(void)
{
    const char *libraries = libraries_of_environment();
    return (libraries && *libraries) || dl_iterate_phdr(object_any, NULL) != 0;
}
