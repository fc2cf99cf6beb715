/* What the mock HIP library exports; tests find it with dlsym. */
#ifndef CONFORMANCE_MOCK_HIP_H
#define CONFORMANCE_MOCK_HIP_H

enum { MOCK_HIP_VERSION = 70002 };

/* Registers both tables anew; returns the runtime table's rocprofiler_register_error_code_t. */
typedef int (*mock_hip_start_fn)(void);
/* What the program's call of the function reaches. */
typedef void *(*mock_hip_function_fn)(int operation);
/* Slots of the runtime table that hold the library's own function. */
typedef int (*mock_hip_untouched_fn)(void);

#endif
