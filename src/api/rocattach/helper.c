#include "helper.h"

#include <dlfcn.h>

/* The code has a section of its own, so the linker knows where it begins and ends. */
extern const char __start_rocattach_helper[] __attribute__((visibility("hidden")));
extern const char __stop_rocattach_helper[] __attribute__((visibility("hidden")));

__attribute__((section("rocattach_helper"), used, noinline)) static void *helper(void *argument)
{
    struct helper_task *task = argument;
    task->tid = task->thread_id();
    task->detach(task->self());
    void *library = task->open(task->library, RTLD_NOW | RTLD_GLOBAL);
    int (*call)(const char *, const char *) = NULL;
    if (library)
        *(void **)&call = task->symbol(library, task->function);
    /* The text is gone with this thread. Volatile, so that no call of strcpy() becomes of it. */
    const char *text = call ? NULL : task->error();
    volatile char *kept = task->error_text;
    for (int i = 0; text && text[i] && i + 1 < HELPER_ERROR_BYTES; i++)
        kept[i] = text[i];
    if (call)
        task->status = call(task->environment, task->tool);
    else
        task->status = library ? HELPER_NO_FUNCTION : HELPER_NO_LIBRARY;
    atomic_store_explicit(&task->done, 1, memory_order_release);
    return NULL;
}

const void *helper_code(size_t *size)
{
    *size = (size_t)(__stop_rocattach_helper - __start_rocattach_helper);
    return __start_rocattach_helper;
}
