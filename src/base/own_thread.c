#include "base/own_thread.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/proc_stat.h"
#include "base/wait.h"

/* No program's threads are called so by themselves: file names have no slash. */
#define PREFIX "crocprof/"
enum { NAME_BYTES = 16, WATCH_NS = 20000000 };

int own_thread_create(pthread_t *thread, void *(*run)(void *), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void faults_unblock(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    sigset_t unblocked;
    sigemptyset(&unblocked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigaddset(&unblocked, faults[i]);
    pthread_sigmask(SIG_UNBLOCK, &unblocked, NULL);
}

/* A fault that somebody sends to the process may come to this thread as to any other: not before
 * handlers can know it. */
void own_thread_name(const char *what)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, PREFIX "%s", what);
    prctl(PR_SET_NAME, name);
    faults_unblock();
}

bool own_thread_is_current(void)
{
    char name[NAME_BYTES] = "";
    prctl(PR_GET_NAME, name);
    return !strncmp(name, PREFIX, strlen(PREFIX));
}

/* ---- the main thread has called pthread_exit() */

static bool is_zombie(const char *task)
{
    char path[64], content[128];
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", task);
    const char *state = proc_stat_read(path, content, sizeof content);
    return state && (*state == 'Z' || *state == 'X');
}

static bool is_ours(const char *task)
{
    char path[64], name[NAME_BYTES] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", task);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, name, sizeof name - 1);
    if (file >= 0)
        close(file);
    return length > 0 && !strncmp(name, PREFIX, strlen(PREFIX));
}

static bool program_has_no_threads(void *unused)
{
    (void)unused;
    DIR *tasks = opendir("/proc/self/task");
    bool found = !tasks; /* nobody knows: better to believe that there is one */
    struct dirent *task;
    while (!found && (task = readdir(tasks)))
        found = task->d_name[0] != '.' && !is_ours(task->d_name) && !is_zombie(task->d_name);
    if (tasks)
        closedir(tasks);
    return !found;
}

static void *watch(void *unused)
{
    (void)unused;
    own_thread_name("last");
    wait_until(program_has_no_threads, NULL, WAIT_FOREVER, WATCH_NS);
    exit(0);
}

static bool main_has_ended(void)
{
    char task[24];
    snprintf(task, sizeof task, "%d", (int)getpid());
    return syscall(SYS_gettid) == getpid() || is_zombie(task);
}

void own_thread_program_thread_ends(void)
{
    static _Atomic pid_t watched; /* a forked child watches for itself; relaxed, one exchange */
    pthread_t thread;
    if (atomic_load_explicit(&watched, memory_order_seq_cst) == getpid() || !main_has_ended() ||
        atomic_exchange_explicit(&watched, getpid(), memory_order_seq_cst) == getpid())
        return;
    if (own_thread_create(&thread, watch, NULL) == 0)
        pthread_detach(thread);
}
