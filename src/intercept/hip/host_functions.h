/* Which function of the program launches which kernel: what compiled programs register with HIP.
 * Internal to intercept. */
#ifndef INTERCEPT_HIP_HOST_FUNCTIONS_H
#define INTERCEPT_HIP_HOST_FUNCTIONS_H

#include <rocprofiler-sdk/callback_tracing.h>

#include "intercept/table/table.h"

typedef rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t
    host_function_data_t;

/* Wrappers of HIP's compiler table; to be put around those of HIP_COMPILER_API. */
extern const struct table_wrappers table_wrappers_host_functions;

/* The function that launches kernels of that name, which may end in ".kd", with no ids in it. Of
 * several with one name the first that was registered. False: none was. Any thread. */
bool host_function_find(const char *kernel_name, host_function_data_t *found);

#endif
