/*
 * Functions that Kokkos calls in a library of tools, as its profiling interface names them. What
 * begins and ends in one thread, one inside of the other, is pushed and popped, so that GPU kernels
 * can be called by it; what may overlap is started and stopped.
 */
#include <rocprofiler-sdk-roctx/roctx.h>

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

enum { TEXT_BYTES = 512, SECTIONS_MAX = 4096, SPACE_NAME_BYTES = 64 };

/* Of a memory space, handed over by value. */
struct kokkosp_space {
    char name[SPACE_NAME_BYTES];
};

static void range_push(const char *what, const char *name)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof text, "%s%s", what, name ? name : "");
    roctxRangePushA(text);
}

/* ---- kernels: Kokkos hands the number back at their end */

static _Atomic uint64_t next_id = 1; /* Writers: any thread, by additions; relaxed: only unique. */

static void kernel_begin(const char *name, uint64_t *id)
{
    if (id)
        *id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
    range_push("", name);
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
    range_push("", name);
}

void kokkosp_pop_profile_region(void)
{
    roctxRangePop();
}

void kokkosp_begin_deep_copy(struct kokkosp_space to, const char *to_name, const void *to_at,
                             struct kokkosp_space from, const char *from_name, const void *from_at,
                             uint64_t size)
{
    char text[TEXT_BYTES];
    (void)to_at;
    (void)from_at;
    snprintf(text, sizeof text, "Kokkos::deep_copy %.64s[%s] <- %.64s[%s] %llu bytes", to.name,
             to_name ? to_name : "", from.name, from_name ? from_name : "",
             (unsigned long long)size);
    roctxRangePushA(text);
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
static struct {
    char name[TEXT_BYTES];
    roctx_range_id_t range;
} sections[SECTIONS_MAX];
static _Atomic uint32_t section_count; /* Writers: any thread, by additions; relaxed. */

EXPORT void kokkosp_create_profile_section(const char *name, uint32_t *id);
EXPORT void kokkosp_destroy_profile_section(uint32_t id);
EXPORT void kokkosp_start_profile_section(uint32_t id);
EXPORT void kokkosp_stop_profile_section(uint32_t id);

void kokkosp_create_profile_section(const char *name, uint32_t *id)
{
    uint32_t number = atomic_fetch_add_explicit(&section_count, 1, memory_order_relaxed);
    if (id)
        *id = number;
    if (number < SECTIONS_MAX)
        snprintf(sections[number].name, TEXT_BYTES, "%s", name ? name : "");
}

void kokkosp_destroy_profile_section(uint32_t id)
{
    (void)id;
}

void kokkosp_start_profile_section(uint32_t id)
{
    if (id < SECTIONS_MAX)
        sections[id].range = roctxRangeStartA(sections[id].name);
}

void kokkosp_stop_profile_section(uint32_t id)
{
    if (id < SECTIONS_MAX)
        roctxRangeStop(sections[id].range);
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
