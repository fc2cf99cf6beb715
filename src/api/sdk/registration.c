#include "session/front/engine.h"

#include <dlfcn.h>
#include <rocprofiler-sdk/experimental/registration.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <rocprofiler-sdk/registration.h>

/* A program that is its own tool links this library: the reference makes the linker export the
 * program's rocprofiler_configure, so that it is found without -rdynamic. It is never called from
 * here. */
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

rocprofiler_status_t
rocprofiler_iterate_runtime_registration_info(rocprofiler_runtime_registration_info_cb_t callback,
                                              void *data)
{
    if (!callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    void *library = dlopen("librocprofiler-register.so.0", RTLD_NOLOAD | RTLD_LAZY);
    /* Both libraries declare the same structure, so their callback may be ours. */
    int (*iterate)(rocprofiler_runtime_registration_info_cb_t, void *) = NULL;
    if (library)
        *(void **)&iterate = dlsym(library, "rocprofiler_register_iterate_registration_info");
    rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE;
    if (iterate)
        status =
            iterate(callback, data) == 0 ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR;
    if (library)
        dlclose(library);
    return status;
}

rocprofiler_status_t rocprofiler_force_configure(rocprofiler_configure_func_t configure_func)
{
    crocprof_engine()->runtime_arm();
    rocprofiler_status_t status = crocprof_engine()->session_force_configure(configure_func);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        crocprof_engine()->runtime_registered_collect();
    return status;
}

/* rocprofiler-register calls this for each runtime; no installed header has it. */
ROCPROFILER_PUBLIC_API int rocprofiler_set_api_table(const char *name, uint64_t lib_version,
                                                     uint64_t lib_instance, void **tables,
                                                     uint64_t num_tables);

int rocprofiler_set_api_table(const char *name, uint64_t lib_version, uint64_t lib_instance,
                              void **tables, uint64_t num_tables)
{
    return crocprof_engine()->runtime_offer(name, lib_version, lib_instance, tables, num_tables);
}

/* rocprofiler-register calls these to attach and detach; no installed header has them. The path is
 * a list of libraries with colons. */
ROCPROFILER_PUBLIC_API rocprofiler_status_t rocprofiler_load_attachment_tool(const char *path);
ROCPROFILER_PUBLIC_API rocprofiler_status_t rocprofiler_attach(void);
ROCPROFILER_PUBLIC_API rocprofiler_status_t rocprofiler_detach(void);
/* For tools: 1 while one is configured or initialised because it is being attached. */
ROCPROFILER_PUBLIC_API int rocprofiler_is_current_client_attachment(void);

rocprofiler_status_t rocprofiler_load_attachment_tool(const char *path)
{
    rocprofiler_status_t status = crocprof_engine()->session_attach_load(path);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        crocprof_engine()->runtime_registered_collect();
    return status;
}

rocprofiler_status_t rocprofiler_attach(void)
{
    return crocprof_engine()->session_attach();
}

rocprofiler_status_t rocprofiler_detach(void)
{
    return crocprof_engine()->session_detach();
}

int rocprofiler_is_current_client_attachment(void)
{
    return crocprof_engine()->attach_configuring_here();
}

rocprofiler_status_t
rocprofiler_at_intercept_table_registration(rocprofiler_intercept_library_cb_t callback, int libs,
                                            void *data)
{
    return crocprof_engine()->runtime_tables_watch(callback, libs, data);
}
