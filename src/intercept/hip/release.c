/*
 * Releases are told by three things, none of which starts the runtime, as asking for its version
 * would: the file's name (libamdhip64.so.6.4.43484), which wheels leave out; the newest version
 * among the library's symbols (hip_6.4), which the release is no older than; and the numbers of its
 * functions. New functions got new numbers at the end, mostly, so a library has all numbers of one
 * list and some of the next, or all of them.
 */
#include "intercept/hip/release.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

struct version {
    int major, minor; /* 0: unknown */
};

/* Returns a negative number, 0 or a positive one, as strcmp() does. */
static int version_compare(struct version a, struct version b)
{
    return a.major != b.major ? a.major - b.major : a.minor - b.minor;
}

static struct version version_of_name(const void *code)
{
    struct version version = {0};
    Dl_info library;

    if (dladdr(code, &library) == 0)
        return version;
    char *path = realpath(library.dli_fname, NULL);
    const char *suffix = path ? strstr(path, ".so.") : NULL;
    if (!suffix || sscanf(suffix, ".so.%d.%d", &version.major, &version.minor) != 2)
        version = (struct version){0};
    free(path);
    return version;
}

/* The dynamic linker has made addresses of these, other than of most entries. */
static uintptr_t dynamic_find(const struct link_map *map, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry->d_un.d_ptr;
    return 0;
}

/* Not relocated in libraries whose dynamic section is read-only. */
static const char *dynamic_address(const struct link_map *map, ElfW(Sxword) tag)
{
    uintptr_t value = dynamic_find(map, tag);
    return (const char *)(value != 0 && value < map->l_addr ? value + map->l_addr : value);
}

static struct version version_of_symbols(const void *code)
{
    struct version newest = {0};
    struct link_map *map = NULL;
    Dl_info library;

    if (dladdr1(code, &library, (void **)&map, RTLD_DL_LINKMAP) == 0 || !map)
        return newest;
    const char *at = dynamic_address(map, DT_VERDEF), *texts = dynamic_address(map, DT_STRTAB);
    uint64_t count = at && texts ? dynamic_find(map, DT_VERDEFNUM) : 0;
    for (uint64_t i = 0; i < count; i++) {
        const ElfW(Verdef) *definition = (const ElfW(Verdef) *)(const void *)at;
        const ElfW(Verdaux) *name = (const ElfW(Verdaux) *)(const void *)(at + definition->vd_aux);
        struct version version;
        if (sscanf(texts + name->vda_name, "hip_%d.%d", &version.major, &version.minor) == 2 &&
            version_compare(version, newest) > 0)
            newest = version;
        at += definition->vd_next;
    }
    return newest;
}

typedef const char *(*name_fn)(uint32_t id);

static const char *name_of(name_fn name, uint32_t id)
{
    const char *text = name(id);
    return !text || strcmp(text, "unknown") == 0 ? "" : text;
}

/* How a library numbers its functions, beside a list. */
enum numbers { NUMBERS_OTHER, NUMBERS_MORE, NUMBERS_SAME };

static enum numbers numbers_compare(const struct hip_tracer_release *list, name_fn name)
{
    enum numbers numbers = NUMBERS_SAME;
    for (uint32_t id = 1; id < HIP_IDS_MAX; id++) {
        const char *listed = id < list->function_count ? hip_tracer_name(list, id) : "";
        const char *own = name_of(name, id);
        if (*listed != 0 && strcmp(own, listed) != 0)
            return NUMBERS_OTHER;
        if (*listed == 0 && *own != 0)
            numbers = NUMBERS_MORE;
    }
    return numbers;
}

static struct version version_of_list(const struct hip_tracer_release *list)
{
    return (struct version){list->major, list->minor};
}

/* The library is one of these, or between them; lists are in order of release. */
struct range {
    const struct hip_tracer_release *first, *last; /* both are NULL: unknown */
};

static struct range range_of_numbers(name_fn name, enum numbers wanted)
{
    struct range range = {NULL, NULL};
    for (uint32_t i = 0; i < hip_tracer_release_count; i++) {
        if (numbers_compare(&hip_tracer_releases[i], name) != wanted)
            continue;
        if (!range.first)
            range.first = &hip_tracer_releases[i];
        range.last = &hip_tracer_releases[i];
    }
    return range;
}

static const struct hip_tracer_release *list_after(const struct hip_tracer_release *list)
{
    return list + 1 < hip_tracer_releases + hip_tracer_release_count ? list + 1 : NULL;
}

/* Between two lists by its version; both ends are NULL when it is not. */
static struct range range_around(struct version version)
{
    for (uint32_t i = 1; i < hip_tracer_release_count; i++) {
        const struct hip_tracer_release *next = &hip_tracer_releases[i];
        if (version_compare(version_of_list(next - 1), version) < 0 &&
            version_compare(version, version_of_list(next)) < 0)
            return (struct range){next - 1, next};
    }
    return (struct range){NULL, NULL};
}

static const struct hip_tracer_release *list_of(struct version version)
{
    for (uint32_t i = 0; i < hip_tracer_release_count; i++)
        if (version_compare(version_of_list(&hip_tracer_releases[i]), version) == 0)
            return &hip_tracer_releases[i];
    return NULL;
}

/* The file's name says the release. Numbers of a list are more certain than a name that no list
 * has, within a major version: nothing else changed there but a function or two. */
static struct range range_of_named(struct version version, name_fn name)
{
    const struct hip_tracer_release *list = list_of(version);
    struct range same = range_of_numbers(name, NUMBERS_SAME);
    if (list)
        return numbers_compare(list, name) == NUMBERS_OTHER ? (struct range){NULL, NULL}
                                                            : (struct range){list, list};
    return same.last && same.last->major == version.major ? same : range_around(version);
}

/* The file's name does not say the release. Who has all of a list and more, but not all of the
 * next, is between them; behind the last list there is no telling. `least`: of the symbols. */
static struct range range_of_nameless(struct version least, name_fn name)
{
    static const struct range unknown = {NULL, NULL};
    struct range same = range_of_numbers(name, NUMBERS_SAME);
    struct range more = range_of_numbers(name, NUMBERS_MORE);
    if (same.last)
        return least.major <= same.last->major ? same : unknown;
    more.first = more.last;
    more.last = more.first ? list_after(more.first) : NULL;
    return more.last && version_compare(least, version_of_list(more.last)) <= 0 ? more : unknown;
}

static bool range_has_size(const struct range *range)
{
    if (!range->first)
        return false;
    for (const struct hip_tracer_release *list = range->first; list <= range->last; list++)
        if (list->data_size_bytes != range->first->data_size_bytes)
            return false;
    return true;
}

static const struct hip_tracer_function *function_named(const struct hip_tracer_release *list,
                                                        const char *name)
{
    for (uint32_t id = 1; id < list->function_count; id++)
        if (strcmp(hip_tracer_name(list, id), name) == 0)
            return hip_tracer_function(list, id);
    return NULL;
}

/* Equal functions of several lists are one in memory. NULL: no list of the range has it, or they
 * disagree. */
static const struct hip_tracer_function *function_agreed(const struct range *range,
                                                         const char *name)
{
    const struct hip_tracer_function *agreed = NULL;
    for (const struct hip_tracer_release *list = range->first; list <= range->last; list++) {
        const struct hip_tracer_function *function = function_named(list, name);
        if (function && agreed && function != agreed)
            return NULL;
        agreed = function ? function : agreed;
    }
    return agreed;
}

static uint32_t functions_take(const struct range *range, name_fn name, struct hip_release *release)
{
    uint32_t without = 0;
    for (uint32_t id = 1; id < HIP_IDS_MAX; id++) {
        const char *own = name_of(name, id);
        release->functions[id] = *own != 0 ? function_agreed(range, own) : NULL;
        without += *own != 0 && !release->functions[id];
    }
    return without;
}

static void unknown_tell(struct version named, struct version least)
{
    if (named.major != 0)
        log_warning("intercept",
                    "HIP %d.%d is of a release whose tracer interface is unknown: its calls are "
                    "only traced when it offers tables",
                    named.major, named.minor);
    else
        log_warning("intercept",
                    "a HIP library whose file name says no version has a tracer interface that is "
                    "unknown: its calls are only traced when it offers tables (its symbols are of "
                    "%d.%d)",
                    least.major, least.minor);
}

bool hip_release_find(const void *code, const char *(*name)(uint32_t id),
                      struct hip_release *release)
{
    struct version named = version_of_name(code), least = version_of_symbols(code);
    struct range range =
        named.major != 0 ? range_of_named(named, name) : range_of_nameless(least, name);

    if (!range_has_size(&range)) {
        unknown_tell(named, least);
        return false;
    }
    uint32_t without = functions_take(&range, name, release);
    release->data_size_bytes = range.first->data_size_bytes;
    release->major = range.first->major;
    if (range.first != range.last || without > 0)
        log_info("intercept",
                 "HIP is read as of release %d.%d to %d.%d: %u functions have no "
                 "arguments",
                 range.first->major, range.first->minor, range.last->major, range.last->minor,
                 without);
    return true;
}
