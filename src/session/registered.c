/*
 * Tables that runtimes left with librocprofiler-register: ours, or AMD's, in whose place ours may
 * not be. AMD's hands tables on only when it has seen a tool, and ROCtracer is none.
 */
#include "session/runtimes.h"

#include "base/environment.h"
#include "session/clients.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Two threads must not change the environment at once; who comes second has nothing to add. Writer:
 * who collects (exchange, acquire; release at the end). */
static atomic_bool busy;
static __thread bool collecting;

/* With these two variables AMD's library gives what it has to rocprofiler_set_api_table. They are
 * set only meanwhile: with them it would abort in a child process that cannot open this file. */
static void deliver_with(int (*deliver)(void), const char *engine_path)
{
    const char *force = getenv("ROCPROFILER_REGISTER_FORCE_LOAD");
    const char *library = getenv("ROCPROFILER_REGISTER_LIBRARY");
    const struct environment_variable before[] = {{"ROCPROFILER_REGISTER_FORCE_LOAD", force},
                                                  {"ROCPROFILER_REGISTER_LIBRARY", library}};
    const struct environment_variable now[] = {
        {"ROCPROFILER_REGISTER_FORCE_LOAD", "1"},
        {"ROCPROFILER_REGISTER_LIBRARY", library && *library ? library : engine_path}};
    if (!environment_change(now, 2))
        return;
    collecting = true;
    deliver();
    collecting = false;
    environment_change(before, 2);
}

void runtime_registered_collect(void)
{
    Dl_info self;
    void *library = dlopen("librocprofiler-register.so.0", RTLD_NOLOAD | RTLD_LAZY);
    if (!library)
        return;
    int (*deliver)(void) =
        (int (*)(void))dlsym(library, "rocprofiler_register_invoke_nonpropagated_registrations");
    if (deliver && dladdr((const void *)&runtime_registered_collect, &self) &&
        !atomic_exchange_explicit(&busy, true, memory_order_acquire)) {
        deliver_with(deliver, self.dli_fname);
        atomic_store_explicit(&busy, false, memory_order_release);
    }
    dlclose(library);
}

/* What a register library calls that finds no librocprofiler-sdk, or finds this one first. A table
 * is kept, or traced, in any case; but only when there is a tool may the runtime hear of success,
 * for then ROCr leaves out the libraries of HSA_TOOLS_LIB. */
__attribute__((visibility("default"))) int
rocprofiler_set_api_table(const char *name, uint64_t lib_version, uint64_t lib_instance,
                          void **tables, uint64_t num_tables);

int rocprofiler_set_api_table(const char *name, uint64_t lib_version, uint64_t lib_instance,
                              void **tables, uint64_t num_tables)
{
    int status = runtime_offer(name, lib_version, lib_instance, tables, num_tables);
    if (status != ROCPROFILER_STATUS_SUCCESS || collecting || session_has_tools())
        return status;
    return ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE;
}
