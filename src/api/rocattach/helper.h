/* The helper thread's code and what it is given. Both are copied into another process: the code
 * uses nothing but its argument. */
#ifndef ROCATTACH_HELPER_H
#define ROCATTACH_HELPER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { HELPER_NO_LIBRARY = -1, HELPER_NO_FUNCTION = -2 };

/* The pointers are valid in the other process. */
enum { HELPER_ERROR_BYTES = 512 };

struct helper_task {
    void *(*open)(const char *path, int mode);
    void *(*symbol)(void *library, const char *name);
    char *(*error)(void);
    pid_t (*thread_id)(void);
    unsigned long (*self)(void);
    int (*detach)(unsigned long thread);
    const char *library, *function, *environment, *tool;
    unsigned long thread;                /* room for pthread_create's result */
    char error_text[HELPER_ERROR_BYTES]; /* why the library cannot be opened; ends with a zero */
    int32_t tid;
    int32_t status;
    _Atomic uint32_t done; /* writer: the helper (release), after all else */
};

/* Where the code is in this process. */
const void *helper_code(size_t *size);

#endif
