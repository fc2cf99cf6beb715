/*
 * A plugin that does what SICK_PLUGIN says: refuse (to start), fail (every write), slow (20 ms a
 * write), exit (ends the program inside of a write), hsa (calls HSA from a write), count (nothing
 * wrong). It writes what it got to SICK_OUTPUT when it is finalised, and ends the process with 99
 * when it is called before it was initialised, or afterwards. Built once more without one of its
 * functions.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <roctracer/roctracer_plugin.h>

static struct {
    unsigned major, minor;
    unsigned long callbacks, records, finalised, overlapping;
} seen;
static atomic_flag inside = ATOMIC_FLAG_INIT; /* the tool must call one function at a time */

static int is(const char *what)
{
    const char *how = getenv("SICK_PLUGIN");
    return how && strcmp(how, what) == 0;
}

static void enter(void)
{
    seen.overlapping += atomic_flag_test_and_set(&inside);
}

static void leave(void)
{
    atomic_flag_clear(&inside);
}

static enum { TO_START, STARTED, OVER } stage; /* the tool calls one function at a time */

static void must_be(int expected)
{
    if (stage != (unsigned)expected)
        _exit(99);
}

static int behave(void)
{
    must_be(STARTED);
    if (is("slow"))
        usleep(20000);
    if (is("exit"))
        exit(77);
    if (is("hsa")) {
        unsigned short major;
        int (*get_info)(int, void *);
        *(void **)&get_info = dlsym(RTLD_DEFAULT, "hsa_system_get_info");
        if (get_info)
            get_info(0 /* HSA_SYSTEM_INFO_VERSION_MAJOR */, &major);
    }
    return is("fail") ? -1 : 0;
}

ROCTRACER_EXPORT int roctracer_plugin_initialize(uint32_t major, uint32_t minor)
{
    must_be(TO_START);
    stage = STARTED;
    seen.major = major;
    seen.minor = minor;
    return is("refuse") ? -1 : 0;
}

#ifndef WITHOUT_FINALIZE
ROCTRACER_EXPORT void roctracer_plugin_finalize(void)
{
    enter();
    must_be(STARTED);
    stage = OVER;
    seen.finalised++;
    const char *path = getenv("SICK_OUTPUT");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        fprintf(file, "version %u.%u callbacks %lu records %lu finalised %lu overlapping %lu\n",
                seen.major, seen.minor, seen.callbacks, seen.records, seen.finalised,
                seen.overlapping);
        fclose(file);
    }
    leave();
}
#endif

ROCTRACER_EXPORT int roctracer_plugin_write_callback_record(const roctracer_record_t *record,
                                                            const void *data)
{
    enter();
    seen.callbacks += record != NULL && data != NULL;
    int status = behave();
    leave();
    return status;
}

ROCTRACER_EXPORT int roctracer_plugin_write_activity_records(const roctracer_record_t *begin,
                                                             const roctracer_record_t *end)
{
    enter();
    while (begin < end) {
        seen.records += begin->op != 2; /* HIP_OP_ID_BARRIER: HIP makes them as it likes */
        if (roctracer_next_record(begin, &begin) != ROCTRACER_STATUS_SUCCESS)
            break;
    }
    int status = behave();
    leave();
    return status;
}
