#include "attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <rocprofiler-sdk-rocattach/rocattach.h>

#include "base/wait.h"
#include "cli/refuse.h"
#include "launch/launch.h"

struct attach {
    void *library;
    rocattach_status_t (*attach)(int pid), (*attach_tree)(int pid), (*detach)(int pid),
        (*detach_tree)(int pid);
};

/* ---- the library */

#define FIND(member, name)                                                                         \
    *(void **)&attach->member = attach->library ? dlsym(attach->library, name) : NULL

struct attach *attach_open(void)
{
    const char *named = getenv("ROCPROF_ATTACH_LIBRARY");
    char path[PATH_MAX] = "";
    struct attach *attach = calloc(1, sizeof *attach);
    if (!named || !*named)
        named = launch_library_find("librocprofiler-sdk-rocattach.so.1", path) == 0 ? path : "";
    if (attach)
        attach->library = *named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!attach || !attach->library) {
        refuse(EXIT_NOT_STARTED, "librocprofiler-sdk-rocattach.so.1, which attaches, is not there");
        attach_close(attach);
        return NULL;
    }
    FIND(attach, "rocattach_attach");
    FIND(attach_tree, "rocattach_attach_tree");
    FIND(detach, "rocattach_detach");
    FIND(detach_tree, "rocattach_detach_tree");
    if (attach->attach && attach->attach_tree && attach->detach && attach->detach_tree)
        return attach;
    refuse(EXIT_NOT_STARTED, "%s attaches to nothing", named);
    attach_close(attach);
    return NULL;
}

void attach_close(struct attach *attach)
{
    if (attach && attach->library)
        dlclose(attach->library);
    free(attach);
}

static int status_tell(const struct target *target, rocattach_status_t status)
{
    static const struct {
        rocattach_status_t status;
        const char *why;
    } reasons[] = {
        {ROCATTACH_STATUS_ERROR, "a profiler is there already, or could not be loaded"},
        {ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT, "the profiler is there already, or it does not "
                                                  "see the profiler's files"},
        {ROCATTACH_STATUS_ERROR_NOT_SUPPORTED, "processes of this kind cannot be attached to"},
        {ROCATTACH_STATUS_ERROR_PTRACE_ERROR, "it could not be stopped, or another tracer has it"},
        {ROCATTACH_STATUS_ERROR_PTRACE_OPERATION_NOT_PERMITTED,
         "you may not trace it (same user, kernel.yama.ptrace_scope=0, CAP_SYS_PTRACE, and no "
         "debugger)"},
        {ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND, "it has ended"},
    };
    const char *why = "it could not be attached to";
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].status == status)
            why = reasons[i].why;
    return refuse(EXIT_NOT_STARTED, "process %d: %s", (int)target->pid, why);
}

/* What an earlier attachment has left in the process is overwritten: nothing said is empty. */
static int environment_put(const struct settings *settings)
{
    for (int id = 0; id < OPTION_COUNT; id++)
        if (options_table[id].variable && !settings->value[id] &&
            setenv(options_table[id].variable, "", 1) != 0)
            return -errno;
    return settings_to_environment(settings);
}

int attach_begin(struct attach *attach, const struct target *target,
                 const struct settings *settings, bool children)
{
    char tool[PATH_MAX], number[16];
    snprintf(number, sizeof number, "%d", (int)target->pid);
    if (launch_library_find("libcrocprof-tool.so", tool) != 0)
        return refuse(EXIT_NOT_STARTED, "libcrocprof-tool.so is not where crocprof was installed");
    if (environment_put(settings) != 0 || setenv("ROCPROF_ATTACH_TOOL_LIBRARY", tool, 1) != 0 ||
        setenv("ROCPROF_ATTACH_PID", number, 1) != 0)
        return refuse(EXIT_NOT_STARTED, "environment: %s", strerror(errno));
    unsetenv("ROCP_TOOL_ATTACH"); /* is meant for the process, not for us */
    rocattach_status_t status =
        children ? attach->attach_tree(target->pid) : attach->attach(target->pid);
    return status == ROCATTACH_STATUS_SUCCESS ? 0 : status_tell(target, status);
}

int attach_end(struct attach *attach, const struct target *target, bool children)
{
    rocattach_status_t status =
        children ? attach->detach_tree(target->pid) : attach->detach(target->pid);
    if (status == ROCATTACH_STATUS_SUCCESS || target_has_ended(target))
        return 0;
    return status_tell(target, status);
}

/* ---- waiting */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static sigset_t ending_set(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        sigaddset(&set, ending[i]);
    return set;
}

void attach_signals_hold(void)
{
    sigset_t set = ending_set();
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Reading a terminal from the background would stop us. */
static bool input_is_ours(void)
{
    return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* True when a line has come; *open turns false at the end of the input. */
static bool line_has_come(bool *open)
{
    char bytes[256];
    ssize_t length = read(STDIN_FILENO, bytes, sizeof bytes);
    *open = length > 0;
    return length > 0 && memchr(bytes, '\n', (size_t)length);
}

static int time_left_ms(uint64_t until_ns)
{
    uint64_t now_ns = wait_now_ns();
    if (until_ns == WAIT_FOREVER)
        return -1;
    uint64_t left_ms = until_ns > now_ns ? (until_ns - now_ns + 999999) / 1000000 : 0;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

static enum attach_why events_wait(const struct target *target, int signals, uint64_t until_ns)
{
    bool open = input_is_ours();
    for (;;) {
        struct pollfd files[] = {{signals, POLLIN, 0},
                                 {target->handle, POLLIN, 0},
                                 {open ? STDIN_FILENO : -1, POLLIN, 0}};
        int left_ms = time_left_ms(until_ns);
        if (poll(files, 3, left_ms) < 0 && errno != EINTR)
            return ATTACH_ASKED;
        if (files[0].revents)
            return ATTACH_ASKED;
        if (files[1].revents)
            return ATTACH_ENDED;
        if (files[2].revents && line_has_come(&open))
            return ATTACH_ASKED;
        if (time_left_ms(until_ns) == 0)
            return ATTACH_TIME;
    }
}

enum attach_why attach_wait(const struct target *target, uint64_t duration_ms)
{
    sigset_t set = ending_set();
    int signals = signalfd(-1, &set, SFD_CLOEXEC);
    uint64_t until_ns = duration_ms ? wait_now_ns() + duration_ms * 1000000 : WAIT_FOREVER;
    enum attach_why why = events_wait(target, signals, until_ns);
    if (signals >= 0)
        close(signals);
    return why;
}
