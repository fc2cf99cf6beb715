#include "session.h"

#include "base/wait.h"
#include "borrow.h"
#include "helper.h"
#include "image.h"

#include "base/log.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DONE_SECONDS = 120, LEAVE_SECONDS = 10, NAP_NS = 1000000 };

/* What is needed of libc there. */
struct functions {
    uint64_t mmap, munmap, pthread_create, pthread_self, pthread_detach, dlopen, dlsym, dlerror,
        gettid;
};

struct process {
    pid_t pid;
    struct borrowed thread;
    struct functions functions;
    char library[IMAGE_PATH_BYTES]; /* rocprofiler-register, as the process opens it */
    uint64_t code, data;            /* mappings there; 0: none */
    size_t code_size, data_size;
};

static bool functions_find(struct process *process, const struct image *libc)
{
    static const struct {
        const char *name;
        size_t offset;
    } names[] = {
#define NAME(name) {#name, offsetof(struct functions, name)}
        NAME(mmap),   NAME(munmap), NAME(pthread_create), NAME(pthread_self), NAME(pthread_detach),
        NAME(dlopen), NAME(dlsym),  NAME(dlerror),        NAME(gettid),
#undef NAME
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint64_t address = image_symbol(process->thread.memory, libc, names[i].name);
        if (!address) {
            log_error("rocattach", "process %d: its C library has no %s", (int)process->pid,
                      names[i].name);
            return false;
        }
        memcpy((char *)&process->functions + names[i].offset, &address, sizeof address);
    }
    return true;
}

/* A library whose file was replaced since, as by an upgrade, is at no path any more; the loader has
 * it by its name all the same. */
static void library_name(const struct image *image, char name[IMAGE_PATH_BYTES])
{
    static const char gone[] = " (deleted)";
    size_t length = strlen(image->path), tail = sizeof gone - 1;
    bool is_gone = length > tail && strcmp(image->path + length - tail, gone) == 0;
    snprintf(name, IMAGE_PATH_BYTES, "%s", is_gone ? "librocprofiler-register.so.0" : image->path);
}

/* Finds the rocprofiler-register that the process has, else the one beside this library, which the
 * process must see, too. */
static bool library_find(struct process *process)
{
    struct image image;
    char seen[IMAGE_PATH_BYTES + 32];
    Dl_info self;
    if (image_find(process->pid, "librocprofiler-register.so", &image)) {
        library_name(&image, process->library);
        return true;
    }
    if (!dladdr((const void *)&session_call, &self) || !self.dli_fname)
        return false;
    char *own = realpath(self.dli_fname, NULL);
    char *slash = own ? strrchr(own, '/') : NULL;
    if (slash)
        snprintf(process->library, sizeof process->library, "%.*s/librocprofiler-register.so.0",
                 (int)(slash - own), own);
    free(own);
    snprintf(seen, sizeof seen, "/proc/%d/root%s", (int)process->pid, process->library);
    if (slash && access(seen, R_OK) == 0)
        return true;
    log_error("rocattach", "process %d does not see %s", (int)process->pid, process->library);
    return false;
}

static rocattach_status_t memory_reopen(struct process *process)
{
    if (process->thread.memory >= 0)
        close(process->thread.memory);
    process->thread.memory = memory_open(process->pid, true);
    if (process->thread.memory >= 0)
        return ROCATTACH_STATUS_SUCCESS;
    return errno == ENOENT || errno == ESRCH
               ? ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND
               : ROCATTACH_STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED;
}

/* To be called while a thread of the process is stopped: before, it may still be another program,
 * or not have its libraries. */
static rocattach_status_t process_read(struct process *process)
{
    struct image libc;
    rocattach_status_t status = memory_reopen(process);
    if (status != ROCATTACH_STATUS_SUCCESS)
        return status;
    if (!image_find(process->pid, "libc.so.6", &libc)) {
        log_error("rocattach", "process %d has no C library of glibc", (int)process->pid);
        return ROCATTACH_STATUS_ERROR_NOT_SUPPORTED;
    }
    if (!functions_find(process, &libc))
        return ROCATTACH_STATUS_ERROR_NOT_SUPPORTED;
    process->thread.signal_return = image_signal_return(process->thread.memory, &libc);
    return process->thread.signal_return && library_find(process) ? ROCATTACH_STATUS_SUCCESS
                                                                  : ROCATTACH_STATUS_ERROR;
}

/* ---- on the borrowed thread */

/* A call succeeded if the system call in it did, whose result is seen from here; libc may use
 * either of two. */
static const long mmap_calls[2] = {SYS_mmap, SYS_mmap}, munmap_calls[2] = {SYS_munmap, SYS_munmap},
                  clone_calls[2] = {SYS_clone3, SYS_clone};

static rocattach_status_t map(struct process *process, size_t size, int rights, uint64_t *address)
{
    const uint64_t arguments[6] = {
        0, size, (uint64_t)rights, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0};
    rocattach_status_t status =
        borrow_call(&process->thread, process->functions.mmap, arguments, mmap_calls, address);
    if (status == ROCATTACH_STATUS_SUCCESS && *address >= (uint64_t)-4095) {
        *address = 0;
        log_error("rocattach", "process %d gives no memory", (int)process->pid);
        status = ROCATTACH_STATUS_ERROR;
    }
    return status;
}

static void unmap(struct process *process, uint64_t address, size_t size)
{
    const uint64_t arguments[6] = {address, size};
    uint64_t result;
    if (address)
        borrow_call(&process->thread, process->functions.munmap, arguments, munmap_calls, &result);
}

static rocattach_status_t helper_start(struct process *process)
{
    const uint64_t arguments[6] = {process->data + offsetof(struct helper_task, thread), 0,
                                   process->code, process->data};
    uint64_t result = 0;
    rocattach_status_t status = borrow_call(&process->thread, process->functions.pthread_create,
                                            arguments, clone_calls, &result);
    if (status == ROCATTACH_STATUS_SUCCESS && (int64_t)result <= 0) {
        log_error("rocattach", "process %d makes no thread: %s", (int)process->pid,
                  strerror((int)-(int64_t)result));
        status = ROCATTACH_STATUS_ERROR;
    }
    return status;
}

/* ---- what the helper is given: the task, then the texts that it points to */

struct task_text {
    const void *bytes;
    size_t size;
    size_t offset; /* of the pointer in the task */
};

static bool task_write(struct process *process, const struct task_text *texts, size_t count)
{
    struct helper_task task = {.tid = 0};
    const struct functions *f = &process->functions;
    uint64_t at = process->data + sizeof task;
    task.open = (__typeof__(task.open))(uintptr_t)f->dlopen;
    task.symbol = (__typeof__(task.symbol))(uintptr_t)f->dlsym;
    task.error = (__typeof__(task.error))(uintptr_t)f->dlerror;
    task.thread_id = (__typeof__(task.thread_id))(uintptr_t)f->gettid;
    task.self = (__typeof__(task.self))(uintptr_t)f->pthread_self;
    task.detach = (__typeof__(task.detach))(uintptr_t)f->pthread_detach;
    for (size_t i = 0; i < count; i++) {
        memcpy((char *)&task + texts[i].offset, &at, sizeof at);
        if (!memory_write(process->thread.memory, at, texts[i].bytes, texts[i].size))
            return false;
        at += texts[i].size;
    }
    return memory_write(process->thread.memory, process->data, &task, sizeof task);
}

static rocattach_status_t start(struct process *process, const struct task_text *texts,
                                size_t count)
{
    const void *code = helper_code(&process->code_size);
    process->data_size = sizeof(struct helper_task);
    for (size_t i = 0; i < count; i++)
        process->data_size += texts[i].size;
    rocattach_status_t status =
        map(process, process->data_size, PROT_READ | PROT_WRITE, &process->data);
    if (status == ROCATTACH_STATUS_SUCCESS)
        status = map(process, process->code_size, PROT_READ | PROT_EXEC, &process->code);
    if (status == ROCATTACH_STATUS_SUCCESS &&
        (!task_write(process, texts, count) ||
         !memory_write(process->thread.memory, process->code, code, process->code_size)))
        status = ROCATTACH_STATUS_ERROR_PTRACE_ERROR;
    return status == ROCATTACH_STATUS_SUCCESS ? helper_start(process) : status;
}

/* ---- waiting */

static bool is_there(pid_t pid, pid_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)pid, (int)tid);
    return access(path, F_OK) == 0;
}

struct task_wait {
    const struct process *process;
    struct helper_task *task;
    bool gone; /* the process is */
};

static bool task_ended(void *argument)
{
    struct task_wait *wait = argument;
    const struct process *process = wait->process;
    wait->gone =
        !memory_read(process->thread.memory, process->data, wait->task, sizeof *wait->task) ||
        !is_there(process->pid, process->pid);
    return wait->gone || wait->task->done;
}

static rocattach_status_t done_wait(struct process *process, struct helper_task *task)
{
    struct task_wait wait = {.process = process, .task = task};
    if (wait_until(task_ended, &wait, DONE_SECONDS * WAIT_NS_PER_S, NAP_NS))
        /* once more, for what was read before `done` may be older than that */
        return wait.gone || !memory_read(process->thread.memory, process->data, task, sizeof *task)
                   ? ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND
                   : ROCATTACH_STATUS_SUCCESS;
    log_error("rocattach", "process %d: the tool has not returned for %d s", (int)process->pid,
              DONE_SECONDS);
    return ROCATTACH_STATUS_ERROR;
}

static rocattach_status_t outcome(const struct process *process, const struct helper_task *task,
                                  const char *function)
{
    if (task->status == 0)
        return ROCATTACH_STATUS_SUCCESS;
    if (task->status > 0) {
        log_error("rocattach", "process %d: %s answers %d; its own messages say more",
                  (int)process->pid, function, task->status);
    } else {
        log_error("rocattach", "process %d: %s", (int)process->pid, task->error_text);
    }
    return ROCATTACH_STATUS_ERROR;
}

struct helper_thread {
    pid_t pid, tid;
};

static bool helper_left(void *argument)
{
    const struct helper_thread *helper = argument;
    return !is_there(helper->pid, helper->tid);
}

/* The helper's memory goes only when the helper has left its code. */
static void clean(struct process *process, pid_t tid)
{
    struct helper_thread helper = {process->pid, tid};
    if (!wait_until(helper_left, &helper, LEAVE_SECONDS * WAIT_NS_PER_S, NAP_NS) ||
        borrow_begin(&process->thread, process->pid) != ROCATTACH_STATUS_SUCCESS)
        return;
    unmap(process, process->code, process->code_size);
    unmap(process, process->data, process->data_size);
    borrow_end(&process->thread);
}

static rocattach_status_t task_start(struct process *process, const char *function,
                                     const void *environment, size_t environment_size,
                                     const char *tool)
{
    rocattach_status_t status = memory_reopen(process); /* is it there, and may we? */
    if (status == ROCATTACH_STATUS_SUCCESS)
        status = borrow_begin(&process->thread, process->pid);
    if (status != ROCATTACH_STATUS_SUCCESS)
        return status;
    status = process_read(process);
    const struct task_text texts[] = {
        {environment, environment_size, offsetof(struct helper_task, environment)},
        {tool, strlen(tool) + 1, offsetof(struct helper_task, tool)},
        {function, strlen(function) + 1, offsetof(struct helper_task, function)},
        {process->library, strlen(process->library) + 1, offsetof(struct helper_task, library)},
    };
    if (status == ROCATTACH_STATUS_SUCCESS)
        status = start(process, texts, sizeof texts / sizeof texts[0]);
    borrow_end(&process->thread);
    return status;
}

rocattach_status_t session_call(pid_t pid, const char *function, const void *environment,
                                size_t environment_size, const char *tool, bool *answered)
{
    struct process *process = calloc(1, sizeof *process);
    struct helper_task task;
    *answered = false;
    if (!process)
        return ROCATTACH_STATUS_ERROR;
    process->pid = pid;
    process->thread.memory = -1;
    rocattach_status_t status = task_start(process, function, environment, environment_size, tool);
    if (status == ROCATTACH_STATUS_SUCCESS)
        status = done_wait(process, &task);
    if (status == ROCATTACH_STATUS_SUCCESS) {
        *answered = true;
        status = outcome(process, &task, function);
        clean(process, task.tid);
    }
    if (process->thread.memory >= 0)
        close(process->thread.memory);
    free(process);
    return status;
}
