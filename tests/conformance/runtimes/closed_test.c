/*
 * Libraries that are closed: a plug-in that uses HIP. One mode a process:
 *   closed_test unseen | kept | places
 */
#include "recorder.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *plugin_open(struct hip *hip)
{
    void *library = dlopen(DOUBLE_FOLDER "/copy0/libamdhip64.so.7", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    hip->start = (double_hip_start_fn)dlsym(library, "double_hip_start");
    hip->function = (double_hip_function_fn)dlsym(library, "double_hip_function");
    hip->compiler_function = (double_hip_function_fn)dlsym(library, "double_hip_compiler_function");
    return library;
}

/* Closed. Whatever was unmapped stays so: the next library goes elsewhere, and who still looks
 * there faults. */
static void plugin_close(void *library, const struct hip *hip)
{
    enum { PAGE_BYTES = 4096, PAGES = 64 };
    Dl_info info;
    assert_int_not_equal(dladdr((void *)hip->start, &info), 0);
    char *base = info.dli_fbase;
    dlclose(library);
    for (int i = 0; i < PAGES; i++)
        mmap(base + (size_t)i * PAGE_BYTES, PAGE_BYTES, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* Closed before a tool comes, it is unmapped, and its tables with it. Once it is traced it stays,
 * and however often it is opened it is one library. */
static void unseen_mode(void **state)
{
    (void)state;
    struct hip plugin;
    void *library = plugin_open(&plugin);
    REGISTERS(NO_TOOLS, plugin.start());
    plugin_close(library, &plugin);
    assert_null(dlopen(DOUBLE_FOLDER "/copy0/libamdhip64.so.7", RTLD_NOW | RTLD_NOLOAD));
    recorder_start();
    struct hip other = hip_load(1);
    REGISTERS(SUCCESS, other.start());
    hip_is_traced(&other, 1);
    for (unsigned i = 0; i < 5; i++) {
        call_count = 0;
        library = plugin_open(&plugin);
        REGISTERS(SUCCESS, plugin.start());
        hip_is_traced(&plugin, 0);
        plugin_close(library, &plugin);
        call_count = 0;
        hip_is_traced(&other, 1);
    }
}

static ncclResult_t any_function(void)
{
    return ncclSuccess;
}

static unsigned initializations(void)
{
    unsigned found = 0;
    for (unsigned i = 0; i < call_count; i++)
        found += calls[i].record.kind == ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION &&
                 calls[i].record.operation == ROCPROFILER_RUNTIME_INITIALIZATION_HIP;
    return found;
}

/* The same where the engine has been given the tables, and keeps them because a tool may come yet.
 * Libraries before and behind it stay, and are traced. */
static void kept_mode(void **state)
{
    (void)state;
    enum { ALL_REDUCE = ROCPROFILER_RCCL_API_ID_ncclAllReduce };
    static uint64_t rccl[100] = {sizeof rccl};
    struct hip plugin, other = hip_load(1);
    setenv("ROCPROFILER_REGISTER_FORCE_LOAD", "1", 1);
    rccl[1 + ALL_REDUCE] = (uintptr_t)any_function;
    REGISTERS(SUCCESS, offer("rccl", rccl));
    void *library = plugin_open(&plugin);
    REGISTERS(SUCCESS, plugin.start());
    REGISTERS(SUCCESS, other.start());
    plugin_close(library, &plugin);
    recorder_start();
    assert_int_equal(initializations(), 1);
    assert_int_not_equal(rccl[1 + ALL_REDUCE], (uintptr_t)any_function);
    hip_is_traced(&other, 1);
    call_count = 0;
    plugin_open(&plugin);
    REGISTERS(SUCCESS, plugin.start());
    assert_int_equal(initializations(), 1);
    hip_is_traced(&plugin, 0);
}

/* A plug-in that was opened again and again while no tool was there leaves no trace: who comes when
 * all places were taken finds one. */
static void places_mode(void **state)
{
    (void)state;
    enum { TIMES = 64, CREATE = ROCPROFILER_ROCJPEG_API_ID_rocJpegCreate };
    static uint64_t rccl[TIMES][2], decode[TIMES][2], jpeg[10] = {sizeof jpeg};
    setenv("ROCPROFILER_REGISTER_FORCE_LOAD", "1", 1);
    for (unsigned i = 0; i < TIMES; i++) {
        struct hip plugin;
        void *library = plugin_open(&plugin);
        rccl[i][0] = decode[i][0] = sizeof rccl[i];
        REGISTERS(SUCCESS, offer("rccl", rccl[i]));
        REGISTERS(SUCCESS, offer("rocdecode", decode[i]));
        REGISTERS(SUCCESS, plugin.start());
        plugin_close(library, &plugin);
    }
    recorder_start();
    jpeg[1 + CREATE] = (uintptr_t)any_function;
    REGISTERS(SUCCESS, offer("rocjpeg", jpeg));
    assert_int_not_equal(jpeg[1 + CREATE], (uintptr_t)any_function);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest modes[] = {MODE(unseen), MODE(kept), MODE(places)};
    return modes_run(argc, argv, modes, COUNT(modes));
}
