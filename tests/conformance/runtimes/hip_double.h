/* What the double HIP library exports; tests find it with dlsym. */
#ifndef CONFORMANCE_MOCK_HIP_H
#define CONFORMANCE_MOCK_HIP_H

enum { DOUBLE_HIP_VERSION = 70002 };

/* Registers both tables anew; returns the runtime table's rocprofiler_register_error_code_t. */
typedef int (*double_hip_start_fn)(void);
/* What the program's call of the function reaches. */
typedef void *(*double_hip_function_fn)(int operation);
/* Slots of the runtime table that hold the library's own function. */
typedef int (*double_hip_untouched_fn)(void);

#endif
