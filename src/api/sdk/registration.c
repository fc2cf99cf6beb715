#include "session/engine.h"

#include <dlfcn.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <rocprofiler-sdk/registration.h>

/* A program that is its own tool links this library: the reference makes the linker export the
 * program's rocprofiler_configure, so that it is found without -rdynamic. Never called from here.
 */
#pragma weak rocprofiler_configure
__attribute__((used)) static const rocprofiler_configure_func_t program_tool =
    rocprofiler_configure;

rocprofiler_status_t rocprofiler_is_initialized(int *status)
{
    if (!status)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    *status = crocprof_engine()->session_initialized_status();
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_is_finalized(int *status)
{
    if (!status)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    *status = crocprof_engine()->session_finalized_status();
    return ROCPROFILER_STATUS_SUCCESS;
}

/* Runtimes that started while no tool was there have left their tables with rocprofiler-register.
 */
static void registered_tables_collect(void)
{
    void *library = dlopen("librocprofiler-register.so.0", RTLD_NOLOAD | RTLD_LAZY);
    if (!library)
        return;
    int (*deliver)(void) =
        (int (*)(void))dlsym(library, "rocprofiler_register_invoke_nonpropagated_registrations");
    if (deliver)
        deliver();
    dlclose(library);
}

rocprofiler_status_t rocprofiler_force_configure(rocprofiler_configure_func_t configure_func)
{
    crocprof_engine()->runtime_arm();
    rocprofiler_status_t status = crocprof_engine()->session_force_configure(configure_func);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        registered_tables_collect();
    return status;
}

/* What rocprofiler-register calls for each runtime; not in any installed header. */
ROCPROFILER_PUBLIC_API int rocprofiler_set_api_table(const char *name, uint64_t lib_version,
                                                     uint64_t lib_instance, void **tables,
                                                     uint64_t num_tables);

int rocprofiler_set_api_table(const char *name, uint64_t lib_version, uint64_t lib_instance,
                              void **tables, uint64_t num_tables)
{
    return crocprof_engine()->runtime_offer(name, lib_version, lib_instance, tables, num_tables);
}

rocprofiler_status_t
rocprofiler_at_intercept_table_registration(rocprofiler_intercept_library_cb_t callback, int libs,
                                            void *data)
{
    return crocprof_engine()->runtime_tables_watch(callback, libs, data);
}
