#include <rocprofiler-sdk-rocattach/rocattach.h>

#include "image.h"
#include "session.h"

#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { ATTACHMENTS_MAX = 1024, TREE_MAX = 1024 };

/* Processes that a tool is in, or on its way into. Guarded by the lock, which is not held while
 * anything is done to one of them. */
static struct attachment {
    pid_t pid;  /* 0: free */
    pid_t root; /* it was attached as a member of this one's tree; 0: by itself */
    bool busy;  /* a thread of ours is at it */
} attachments[ATTACHMENTS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static struct attachment *attachment_find(pid_t pid)
{
    for (int i = 0; i < ATTACHMENTS_MAX; i++)
        if (attachments[i].pid == pid)
            return &attachments[i];
    return NULL;
}

/* A process that has ended took its attachment with it. Another may have its number by now, which
 * then seems to be attached until it is detached. */
static bool attachment_add(pid_t pid, pid_t root)
{
    pthread_mutex_lock(&lock);
    struct attachment *known = attachment_find(pid);
    struct attachment *added = known ? NULL : attachment_find(0);
    if (added)
        *added = (struct attachment){pid, root, true};
    pthread_mutex_unlock(&lock);
    if (!added)
        log_error("rocattach", "process %d: %s", (int)pid,
                  known ? "a tool is attached already" : "too many processes are attached");
    return added != NULL;
}

static bool attachment_take(pid_t pid)
{
    pthread_mutex_lock(&lock);
    struct attachment *known = attachment_find(pid);
    bool taken = known && !known->busy;
    if (taken)
        known->busy = true;
    pthread_mutex_unlock(&lock);
    return taken;
}

static void attachment_settle(pid_t pid, bool stays)
{
    pthread_mutex_lock(&lock);
    struct attachment *known = attachment_find(pid);
    if (known && stays)
        known->busy = false;
    else if (known)
        *known = (struct attachment){0};
    pthread_mutex_unlock(&lock);
}

/* ---- the environment that goes along: a count, then names and values with their zeros */

struct buffer {
    char *bytes;
    size_t size;
};

extern char **environ;

static bool goes_along(const char *entry)
{
    static const char *const stay[] = {
        "ROCP_TOOL_LIBRARIES=", "ROCP_TOOL_ATTACH=", "ROCPROFILER_REGISTER_LIBRARY=",
        "ROCPROF_ATTACH_TOOL_LIBRARY="};
    for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++)
        if (!strncmp(entry, stay[i], strlen(stay[i])))
            return false;
    return !strncmp(entry, "ROCP", 4) && strchr(entry, '=');
}

static bool environment_build(struct buffer *buffer)
{
    uint32_t count = 0;
    buffer->size = sizeof count;
    for (char **entry = environ; entry && *entry; entry++)
        buffer->size += goes_along(*entry) ? strlen(*entry) + 1 : 0;
    buffer->bytes = malloc(buffer->size);
    char *at = buffer->bytes ? buffer->bytes + sizeof count : NULL;
    for (char **entry = environ; at && entry && *entry; entry++) {
        if (!goes_along(*entry))
            continue;
        strcpy(at, *entry);
        *strchr(at, '=') = 0;
        at += strlen(*entry) + 1;
        count++;
    }
    if (buffer->bytes)
        memcpy(buffer->bytes, &count, sizeof count);
    return buffer->bytes != NULL;
}

/* ---- one process */

/* Tools that are named by a path must be there as the process sees files. */
static bool tools_are_visible(pid_t pid, const char *tools)
{
    char seen[IMAGE_PATH_BYTES + 32];
    bool visible = true;
    char *copy = strdup(tools), *rest = copy, *path;
    while (visible && (path = strsep(&rest, ":"))) {
        snprintf(seen, sizeof seen, "/proc/%d/root%s", (int)pid, path);
        visible = path[0] != '/' || access(seen, R_OK) == 0;
        if (!visible)
            log_error("rocattach", "process %d does not see %s", (int)pid, path);
    }
    free(copy);
    return visible;
}

static rocattach_status_t process_check(pid_t pid)
{
    if (pid <= 0 || pid == getpid())
        return ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT;
    if (kill(pid, 0) != 0)
        return errno == EPERM ? ROCATTACH_STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED
                              : ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND;
    return ROCATTACH_STATUS_SUCCESS;
}

static rocattach_status_t tool_put(pid_t pid, const char *tools)
{
    struct buffer environment;
    bool answered;
    if (!environment_build(&environment))
        return ROCATTACH_STATUS_ERROR;
    rocattach_status_t status = session_call(pid, "rocprofiler_register_attach", environment.bytes,
                                             environment.size, tools, &answered);
    free(environment.bytes);
    return status;
}

static rocattach_status_t attach(pid_t pid, pid_t root)
{
    const char *tools = getauxval(AT_SECURE) ? NULL : getenv("ROCPROF_ATTACH_TOOL_LIBRARY");
    rocattach_status_t status = process_check(pid);
    if (status != ROCATTACH_STATUS_SUCCESS)
        return status;
    if (!tools || !*tools) {
        log_error("rocattach", "ROCPROF_ATTACH_TOOL_LIBRARY names no tool");
        return ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT;
    }
    if (!tools_are_visible(pid, tools) || !attachment_add(pid, root))
        return ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT;
    status = tool_put(pid, tools);
    attachment_settle(pid, status == ROCATTACH_STATUS_SUCCESS);
    return status;
}

/* A process that could not be asked, because a debugger has it or none of its threads waits, still
 * has the tool: it can be detached later. One that is gone, or has answered, is done with: where
 * the tool has left by itself the answer is an error, too. */
static rocattach_status_t detach(pid_t pid)
{
    static const char nothing[4];
    bool answered;
    if (pid <= 0 || !attachment_take(pid))
        return ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT;
    rocattach_status_t status =
        session_call(pid, "rocprofiler_register_detach", nothing, sizeof nothing, "", &answered);
    attachment_settle(pid, !answered && status != ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND);
    return status;
}

#ifdef __x86_64__
static const bool supported = true;
#else
static const bool supported = false;
#endif

rocattach_status_t rocattach_attach(int pid)
{
    return supported ? attach(pid, 0) : ROCATTACH_STATUS_ERROR_NOT_SUPPORTED;
}

/* ---- several */

static size_t attached_list(pid_t *pids, size_t room, pid_t root, bool everybody)
{
    size_t count = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < ATTACHMENTS_MAX && count < room; i++)
        if (attachments[i].pid && (everybody || attachments[i].root == root))
            pids[count++] = attachments[i].pid;
    pthread_mutex_unlock(&lock);
    return count;
}

static rocattach_status_t detach_all(pid_t root, bool everybody)
{
    static pid_t none[1];
    pid_t *pids = calloc(ATTACHMENTS_MAX, sizeof *pids);
    size_t count = attached_list(pids ? pids : none, pids ? ATTACHMENTS_MAX : 0, root, everybody);
    rocattach_status_t last = count == 0 && !everybody ? ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT
                                                       : ROCATTACH_STATUS_SUCCESS;
    for (size_t i = 0; i < count; i++) {
        rocattach_status_t status = detach(pids[i]);
        if (status != ROCATTACH_STATUS_SUCCESS)
            last = status;
    }
    free(pids);
    return last;
}

rocattach_status_t rocattach_detach(int pid)
{
    return pid == 0 ? detach_all(0, true) : detach(pid);
}

rocattach_status_t rocattach_detach_tree(int pid)
{
    return pid > 0 ? detach_all(pid, false) : ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT;
}

struct tree {
    size_t count;
    pid_t pids[TREE_MAX];
};

static void children_add(struct tree *tree, pid_t pid, const char *task)
{
    char path[320];
    int child;
    snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, task);
    FILE *file = fopen(path, "re");
    while (file && tree->count < TREE_MAX && fscanf(file, "%d", &child) == 1)
        tree->pids[tree->count++] = child;
    if (file)
        fclose(file);
}

/* The process, then its descendants, generation after generation. */
static void tree_read(struct tree *tree, pid_t root)
{
    tree->count = 1;
    tree->pids[0] = root;
    for (size_t i = 0; i < tree->count; i++) {
        char path[32];
        snprintf(path, sizeof path, "/proc/%d/task", (int)tree->pids[i]);
        DIR *tasks = opendir(path);
        for (struct dirent *entry; tasks && (entry = readdir(tasks));)
            if (entry->d_name[0] != '.')
                children_add(tree, tree->pids[i], entry->d_name);
        if (tasks)
            closedir(tasks);
    }
}

static bool uses_a_gpu(pid_t pid)
{
    struct image image;
    return image_find(pid, "libhsa-runtime64.so", &image) ||
           image_find(pid, "libamdhip64.so", &image) ||
           image_find(pid, "librocprofiler-register.so", &image);
}

rocattach_status_t rocattach_attach_tree(int pid)
{
    struct tree *tree = calloc(1, sizeof *tree);
    rocattach_status_t last = supported ? process_check(pid) : ROCATTACH_STATUS_ERROR_NOT_SUPPORTED;
    if (!tree)
        last = ROCATTACH_STATUS_ERROR;
    if (last == ROCATTACH_STATUS_SUCCESS) {
        tree_read(tree, pid);
        last = attach(pid, pid);
    }
    for (size_t i = 1; last == ROCATTACH_STATUS_SUCCESS && i < tree->count; i++)
        if (!uses_a_gpu(tree->pids[i]))
            tree->pids[i] = 0;
    bool rooted = last == ROCATTACH_STATUS_SUCCESS;
    for (size_t i = 1; rooted && i < tree->count; i++) {
        rocattach_status_t status =
            tree->pids[i] ? attach(tree->pids[i], pid) : ROCATTACH_STATUS_SUCCESS;
        if (status != ROCATTACH_STATUS_SUCCESS)
            last = status;
    }
    free(tree);
    return last;
}

/* ---- information */

rocattach_status_t rocattach_get_version(uint32_t *major, uint32_t *minor, uint32_t *patch)
{
    if (major)
        *major = ROCATTACH_VERSION_MAJOR;
    if (minor)
        *minor = ROCATTACH_VERSION_MINOR;
    if (patch)
        *patch = ROCATTACH_VERSION_PATCH;
    return ROCATTACH_STATUS_SUCCESS;
}

rocattach_status_t rocattach_get_version_triplet(rocattach_version_triplet_t *info)
{
    return info ? rocattach_get_version(&info->major, &info->minor, &info->patch)
                : ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT;
}

static const struct {
    const char *name, *text;
} statuses[ROCATTACH_STATUS_LAST] = {
#define STATUS(name, text) [ROCATTACH_STATUS_##name] = {"ROCATTACH_STATUS_" #name, text}
    STATUS(SUCCESS, "done"),
    STATUS(ERROR, "the process, or the tool in it, would not"),
    STATUS(ERROR_INVALID_ARGUMENT, "an argument is not valid"),
    STATUS(ERROR_NOT_SUPPORTED, "processes of this kind cannot be attached to"),
    STATUS(ERROR_PTRACE_ERROR, "ptrace failed"),
    STATUS(ERROR_PTRACE_OPERATION_NOT_PERMITTED, "this process may not be traced by this user"),
    STATUS(ERROR_PTRACE_PROCESS_NOT_FOUND, "there is no such process"),
#undef STATUS
};

const char *rocattach_get_status_name(rocattach_status_t status)
{
    return (unsigned)status < ROCATTACH_STATUS_LAST ? statuses[status].name : NULL;
}

const char *rocattach_get_status_string(rocattach_status_t status)
{
    return (unsigned)status < ROCATTACH_STATUS_LAST ? statuses[status].text : NULL;
}
