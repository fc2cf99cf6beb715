/*
 * Tools that come into a program which runs already. rocprofiler_register_attach() and
 * rocprofiler_register_detach() are called inside of the process, usually on behalf of a debugger
 * outside (librocprofiler-sdk-rocattach). No installed header declares them, as in other
 * implementations.
 */
#include "register.h"

#include "base/environment.h"
#include "base/log.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A buffer says how many pairs it holds but not how long it is: these bounds keep one that is
 * not what it seems from being read for ever. */
enum { PAIRS_MAX = 4096, TEXT_BYTES_MAX = 1 << 17 };

/* True while somebody attaches or detaches; another one has to wait, and is told so. Writers: who
 * attaches or detaches (exchange; release at its end). */
static atomic_bool busy;

/* ---- the environment that the attacher brings: a 32-bit count of pairs, then for each its name
 * and its value, both with a terminating zero */

struct pairs {
    uint32_t count;
    struct environment_variable *variables; /* room for one more, so that no pairs are no failure */
};

static const char *text_next(const char **at)
{
    const char *text = *at;
    size_t length = strnlen(text, TEXT_BYTES_MAX);
    *at += length + 1;
    return length < TEXT_BYTES_MAX ? text : NULL;
}

static bool name_is_valid(const char *name)
{
    return name && *name && !strchr(name, '=');
}

/* The pairs point into the buffer. False: it is not valid, or there is no memory. */
static bool pairs_read(struct pairs *pairs, const char *buffer)
{
    memcpy(&pairs->count, buffer, sizeof pairs->count);
    if (pairs->count > PAIRS_MAX)
        return false;
    pairs->variables = calloc((size_t)pairs->count + 1, sizeof *pairs->variables);
    const char *at = buffer + sizeof pairs->count;
    for (uint32_t i = 0; pairs->variables && i < pairs->count; i++) {
        const char *name = text_next(&at);
        const char *value = name ? text_next(&at) : NULL;
        if (!name_is_valid(name) || !value)
            return false;
        pairs->variables[i] = (struct environment_variable){name, value};
    }
    return pairs->variables != NULL;
}

/* The values that the variables have now, for pairs_apply to bring back. */
static bool pairs_save(struct pairs *saved, const struct pairs *pairs)
{
    saved->count = pairs->count;
    saved->variables = calloc((size_t)pairs->count + 1, sizeof *saved->variables);
    for (uint32_t i = 0; saved->variables && i < pairs->count; i++) {
        const char *value = getenv(pairs->variables[i].name);
        saved->variables[i].name = pairs->variables[i].name;
        saved->variables[i].value = value ? strdup(value) : NULL;
        if (value && !saved->variables[i].value)
            return false;
    }
    return saved->variables != NULL;
}

static void saved_free(struct pairs *saved)
{
    for (uint32_t i = 0; saved->variables && i < saved->count; i++)
        free((char *)saved->variables[i].value);
    free(saved->variables);
}

/* ---- attach, detach */

typedef int (*profiler_load_t)(const char *libraries);
typedef int (*profiler_call_t)(void);

/* Only the status is handed on: the profiler logs its own messages. Its success is 0. */
static rocprofiler_register_error_code_t profiler_attach(const char *libraries)
{
    profiler_load_t load =
        (profiler_load_t)register_profiler_function("rocprofiler_load_attachment_tool");
    profiler_call_t attach = (profiler_call_t)register_profiler_function("rocprofiler_attach");
    if (!load || !attach)
        return ROCP_REG_NO_TOOLS;
    if (load(libraries) != 0)
        return ROCP_REG_ROCPROFILER_ERROR;
    register_tool_is_here();
    register_deliver(); /* tables that the profiler refuses go untraced, and it says so */
    return attach() == 0 ? ROCP_REG_SUCCESS : ROCP_REG_ROCPROFILER_ERROR;
}

static rocprofiler_register_error_code_t attach_with(const struct pairs *pairs,
                                                     const char *libraries)
{
    static const struct environment_variable attached = {"ROCPROFILER_REGISTER_TOOL_ATTACHED", "1"};
    rocprofiler_register_error_code_t status = ROCP_REG_ROCPROFILER_ERROR;
    struct pairs saved = {0};
    if (pairs_save(&saved, pairs) && environment_change(pairs->variables, pairs->count)) {
        status = profiler_attach(libraries);
        /* HIP of newer releases looks for this variable before it does what only tools need. */
        if (status == ROCP_REG_SUCCESS)
            environment_change(&attached, 1);
        else
            environment_change(saved.variables, saved.count);
    }
    saved_free(&saved);
    return status;
}

/* False: this thread, or another, attaches or detaches already. */
static bool enter(rocprofiler_register_error_code_t *status)
{
    if (!register_enter()) {
        *status = ROCP_REG_DEADLOCK;
        return false;
    }
    if (!atomic_exchange_explicit(&busy, true, memory_order_acquire))
        return true;
    log_warning("register", "another thread is attaching or detaching a tool just now");
    *status = ROCP_REG_ROCPROFILER_ERROR;
    register_leave();
    return false;
}

static void leave(void)
{
    atomic_store_explicit(&busy, false, memory_order_release);
    register_leave();
}

/* Attachers call both through ptrace, on a thread of the program that waits meanwhile. */
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t
rocprofiler_register_attach(const char *environment_buffer, const char *tool_lib_path);
ROCPROFILER_REGISTER_PUBLIC_API rocprofiler_register_error_code_t rocprofiler_register_detach(void);

rocprofiler_register_error_code_t rocprofiler_register_attach(const char *environment_buffer,
                                                              const char *tool_lib_path)
{
    rocprofiler_register_error_code_t status = ROCP_REG_INVALID_ARGUMENT;
    struct pairs pairs = {0};
    if (!tool_lib_path || !*tool_lib_path)
        return ROCP_REG_INVALID_ARGUMENT;
    if (!environment_flag("ROCPROFILER_REGISTER_ENABLED", true)) {
        log_error("register", "ROCPROFILER_REGISTER_ENABLED=0: nothing can be attached");
        return ROCP_REG_ATTACHMENT_NOT_AVAILABLE;
    }
    if (!enter(&status))
        return status;
    if (!environment_buffer || pairs_read(&pairs, environment_buffer))
        status = attach_with(&pairs, tool_lib_path);
    else
        log_error("register", "the environment that came with the attachment is not valid");
    free(pairs.variables);
    leave();
    return status;
}

rocprofiler_register_error_code_t rocprofiler_register_detach(void)
{
    rocprofiler_register_error_code_t status;
    if (!enter(&status))
        return status;
    /* The profiler is not loaded for this: a process without one has nothing to detach. */
    profiler_call_t detach = (profiler_call_t)dlsym(RTLD_DEFAULT, "rocprofiler_detach");
    if (!detach)
        status = ROCP_REG_NO_TOOLS;
    else
        status = detach() == 0 ? ROCP_REG_SUCCESS : ROCP_REG_ROCPROFILER_ERROR;
    leave();
    return status;
}

/* ---- a thread to lend: attachers look for its name. It never holds a lock. */

static void *wait_for_ever(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "rocp-bg-attach");
    for (;;)
        pause();
    return NULL;
}

static void listener_start(void)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, wait_for_ever, NULL) == 0)
        pthread_detach(thread);
    else
        log_warning("register", "ROCP_TOOL_ATTACH: no thread can be made for attachers");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void register_listener_start_if_asked(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (environment_flag("ROCP_TOOL_ATTACH", false))
        pthread_once(&once, listener_start);
}
