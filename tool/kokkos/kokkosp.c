/*
 * Functions that Kokkos calls in a library of tools, as its profiling interface names them. What
 * begins and ends in one thread, one inside of the other, is pushed and popped, so that GPU kernels
 * can be called by it; what may overlap is started and stopped.
 */
#include <rocprofiler-sdk-roctx/roctx.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SPACE_NAME_BYTES = 64 };

/* Of a memory space, handed over by value. */
struct kokkosp_space {
    char name[SPACE_NAME_BYTES];
};

static void range_push(const char *name)
{
    roctxRangePushA(name ? name : "");
}

/* ---- kernels: Kokkos hands the number back at their end */

static _Atomic uint64_t next_id = 1; /* Writers: any thread, by additions; relaxed: only unique. */

static void kernel_begin(const char *name, uint64_t *id)
{
    if (id)
        *id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
    range_push(name);
}

#define KERNEL(kind)                                                                               \
    EXPORT void kokkosp_begin_##kind(const char *name, uint32_t device, uint64_t *id);             \
    EXPORT void kokkosp_end_##kind(uint64_t id);                                                   \
    void kokkosp_begin_##kind(const char *name, uint32_t device, uint64_t *id)                     \
    {                                                                                              \
        (void)device;                                                                              \
        kernel_begin(name, id);                                                                    \
    }                                                                                              \
    void kokkosp_end_##kind(uint64_t id)                                                           \
    {                                                                                              \
        (void)id;                                                                                  \
        roctxRangePop();                                                                           \
    }
KERNEL(parallel_for)
KERNEL(parallel_reduce)
KERNEL(parallel_scan)
KERNEL(fence)

/* ---- regions and copies */

EXPORT void kokkosp_push_profile_region(const char *name);
EXPORT void kokkosp_pop_profile_region(void);
EXPORT void kokkosp_begin_deep_copy(struct kokkosp_space to, const char *to_name, const void *to_at,
                                    struct kokkosp_space from, const char *from_name,
                                    const void *from_at, uint64_t size);
EXPORT void kokkosp_end_deep_copy(void);
EXPORT void kokkosp_profile_event(const char *name);

void kokkosp_push_profile_region(const char *name)
{
    range_push(name);
}

void kokkosp_pop_profile_region(void)
{
    roctxRangePop();
}

void kokkosp_begin_deep_copy(struct kokkosp_space to, const char *to_name, const void *to_at,
                             struct kokkosp_space from, const char *from_name, const void *from_at,
                             uint64_t size)
{
    char *text = NULL;
    (void)to_at;
    (void)from_at;
    if (asprintf(&text, "Kokkos::deep_copy %.64s[%s] <- %.64s[%s] %llu bytes", to.name,
                 to_name ? to_name : "", from.name, from_name ? from_name : "",
                 (unsigned long long)size) < 0)
        text = NULL;
    roctxRangePushA(text ? text : "Kokkos::deep_copy");
    free(text);
}

void kokkosp_end_deep_copy(void)
{
    roctxRangePop();
}

void kokkosp_profile_event(const char *name)
{
    roctxMarkA(name ? name : "");
}

/* ---- sections: made once, started and stopped again and again, in any order */

/* A section belongs to whoever made it; Kokkos does not use one from two threads at once. */
struct section {
    roctx_range_id_t range;
    char name[];
};

/* A number is a place here; that of a section which was destroyed is another's then. Under the
 * lock, like the next ones. */
static struct section **sections;
static uint32_t section_count, section_capacity;
static uint32_t *spare; /* as much room as there are places */
static uint32_t spare_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. False: no memory. */
static bool sections_grow(void)
{
    uint32_t wanted = section_capacity ? 2 * section_capacity : 64;
    struct section **more = realloc(sections, wanted * sizeof *more);
    sections = more ? more : sections;
    uint32_t *more_spare = more ? realloc(spare, wanted * sizeof *more_spare) : NULL;
    if (!more_spare)
        return false;
    spare = more_spare;
    section_capacity = wanted;
    return true;
}

/* UINT32_MAX: no memory. */
static uint32_t section_enter(struct section *section)
{
    uint32_t number = UINT32_MAX;
    pthread_mutex_lock(&lock);
    if (spare_count > 0)
        number = spare[--spare_count];
    else if (section_count < section_capacity || sections_grow())
        number = section_count++;
    if (number != UINT32_MAX)
        sections[number] = section;
    pthread_mutex_unlock(&lock);
    return number;
}

/* NULL: there is none of this number. */
static struct section *section_find(uint32_t number)
{
    pthread_mutex_lock(&lock);
    struct section *found = number < section_count ? sections[number] : NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

static struct section *section_leave(uint32_t number)
{
    pthread_mutex_lock(&lock);
    struct section *found = number < section_count ? sections[number] : NULL;
    if (found) {
        sections[number] = NULL;
        spare[spare_count++] = number;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

EXPORT void kokkosp_create_profile_section(const char *name, uint32_t *id);
EXPORT void kokkosp_destroy_profile_section(uint32_t id);
EXPORT void kokkosp_start_profile_section(uint32_t id);
EXPORT void kokkosp_stop_profile_section(uint32_t id);

void kokkosp_create_profile_section(const char *name, uint32_t *id)
{
    uint32_t number = UINT32_MAX;
    name = name ? name : "";
    struct section *section = id ? calloc(1, sizeof *section + strlen(name) + 1) : NULL;
    if (section) {
        strcpy(section->name, name);
        number = section_enter(section);
    }
    if (number == UINT32_MAX)
        free(section);
    if (id)
        *id = number;
}

void kokkosp_destroy_profile_section(uint32_t id)
{
    free(section_leave(id));
}

void kokkosp_start_profile_section(uint32_t id)
{
    struct section *section = section_find(id);
    if (section)
        section->range = roctxRangeStartA(section->name);
}

void kokkosp_stop_profile_section(uint32_t id)
{
    const struct section *section = section_find(id);
    if (section)
        roctxRangeStop(section->range);
}

/* ---- the library itself */

/* Kokkos' question whether it shall fence around kernels: with fences they would not overlap. */
struct kokkosp_settings {
    _Bool requires_global_fencing;
    _Bool padding[255];
};

EXPORT void kokkosp_request_tool_settings(uint32_t count, struct kokkosp_settings *settings);
EXPORT void kokkosp_init_library(int sequence, uint64_t version, uint32_t device_count,
                                 void *devices);
EXPORT void kokkosp_finalize_library(void);

void kokkosp_request_tool_settings(uint32_t count, struct kokkosp_settings *settings)
{
    if (count > 0 && settings)
        settings->requires_global_fencing = 0;
}

void kokkosp_init_library(int sequence, uint64_t version, uint32_t device_count, void *devices)
{
    (void)sequence;
    (void)version;
    (void)device_count;
    (void)devices;
    roctxMarkA("Kokkos: begins");
}

void kokkosp_finalize_library(void)
{
    roctxMarkA("Kokkos: ends");
}
