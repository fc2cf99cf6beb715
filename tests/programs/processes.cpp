// One process becomes two, or another one: what each did is its own, once, and complete.
// usage: processes fork CALLS CHILD_CALLS exit|_exit|quick_exit|abort|term|exec
//        processes before CHILDREN LAUNCHES   children start HIP themselves, after fork
//        processes storm THREADS CHILDREN CALLS   forks while threads make calls
//        processes raw CALLS                  a child that no handler of fork() knows of, which exits
//        processes exec HOW LAUNCHES PROGRAM [ARGUMENT...]
//        processes exec_fails HOW LAUNCHES FILE
//        processes vfork LAUNCHES PROGRAM
//        processes daemon CALLS DAEMON_CALLS
#include "common.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <fcntl.h>
#include <vector>

enum { STATUS = 23 };

__global__ void add_one(uint32_t *data, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i]++;
}

// No synchronisation: the last ones may not have begun.
static void launches_make(int launches)
{
    const size_t count = 4096;
    uint32_t *data;
    HIP_CHECK(hipMalloc(&data, count * sizeof(uint32_t)));
    for (int n = 0; n < launches; n++)
        add_one<<<groups(count, 64), 64>>>(data, count);
}

// Calls that need no device: a child can make them with what it has of its parent's runtime.
static void calls_make(int calls)
{
    for (int n = 0; n < calls; n++)
        (void)hipPeekAtLastError();
}

static int status_of(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void end(const char *way)
{
    if (strcmp(way, "_exit") == 0)
        _exit(STATUS);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(STATUS);
    if (strcmp(way, "abort") == 0)
        abort();
    if (strcmp(way, "term") == 0)
        raise(SIGTERM);
    if (strcmp(way, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    exit(STATUS);
}

// Both at once: the parent makes the second half of its calls while the child makes its own.
static int fork_mode(char **argv)
{
    int calls = atoi(argv[2]), child_calls = atoi(argv[3]);
    int count = 0;
    HIP_CHECK(hipGetDeviceCount(&count));
    calls_make(calls / 2);
    pid_t child = fork();
    if (child == 0) {
        calls_make(child_calls);
        end(argv[4]);
    }
    calls_make(calls - calls / 2);
    printf("parent %d child %d\n", (int)getpid(), (int)child);
    printf("status %d\n", status_of(child));
    return 0;
}

static int before_mode(char **argv)
{
    std::vector<pid_t> children;
    for (int n = 0; n < atoi(argv[2]); n++) {
        children.push_back(fork());
        if (children.back() == 0) {
            launches_make(atoi(argv[3]));
            _exit(STATUS); // as Python's multiprocessing does
        }
    }
    int wrong = 0;
    for (pid_t child : children)
        wrong += status_of(child) != STATUS;
    launches_make(atoi(argv[3]));
    return wrong;
}

// HSA's, because HIP 5.2 takes a lock for its callbacks in every call, which a child may inherit locked.
static void hsa_calls_make(int calls)
{
    typedef int (*get_info_fn)(int what, void *value);
    static const get_info_fn get_info = (get_info_fn)dlsym(RTLD_DEFAULT, "hsa_system_get_info");
    uint16_t major;
    for (int n = 0; n < calls; n++)
        get_info(0, &major);
}

static int storm_mode(char **argv)
{
    std::atomic<bool> stop{false};
    std::atomic<long> made{0};
    std::vector<std::thread> threads;
    int count = 0, wrong = 0;
    HIP_CHECK(hipGetDeviceCount(&count));
    for (int n = 0; n < atoi(argv[2]); n++)
        threads.emplace_back([&] {
            for (; !stop; made += 100) {
                hsa_calls_make(100);
                usleep(100);
            }
        });
    for (int n = 0; n < atoi(argv[3]); n++) {
        pid_t child = fork();
        if (child == 0) {
            hsa_calls_make(atoi(argv[4]));
            end(n % 2 ? "_exit" : "term");
        }
        wrong += status_of(child) != (n % 2 ? STATUS : -SIGTERM);
    }
    stop = true;
    for (std::thread &thread : threads)
        thread.join();
    printf("parent %d made %ld\n", (int)getpid(), made.load());
    return wrong;
}

static int raw_mode(char **argv)
{
    int count = 0;
    HIP_CHECK(hipGetDeviceCount(&count));
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        calls_make(atoi(argv[2])); // more than the buffers hold
        exit(STATUS);
    }
    int status = status_of((pid_t)child);
    calls_make(10);
    return status != STATUS;
}

static void exec_by(const char *how, char **program)
{
    extern char **environ;
    char *one = program[1], *two = one ? program[2] : NULL, *three = two ? program[3] : NULL;
    if (strcmp(how, "execve") == 0)
        execve(program[0], program, environ);
    else if (strcmp(how, "execv") == 0)
        execv(program[0], program);
    else if (strcmp(how, "execvp") == 0)
        execvp(program[0], program);
    else if (strcmp(how, "execvpe") == 0)
        execvpe(program[0], program, environ);
    else if (strcmp(how, "execl") == 0)
        execl(program[0], program[0], one, two, three, (char *)NULL);
    else if (strcmp(how, "execlp") == 0)
        execlp(program[0], program[0], one, two, three, (char *)NULL);
    else if (strcmp(how, "execle") == 0)
        execle(program[0], program[0], one, two, three, (char *)NULL, environ);
    else if (strcmp(how, "fexecve") == 0)
        fexecve(open(program[0], O_RDONLY | O_CLOEXEC), program, environ);
    else if (strcmp(how, "execveat") == 0)
        execveat(AT_FDCWD, program[0], program, environ, 0);
    else if (strcmp(how, "handler") == 0) { // as daemons start anew
        static char **again;
        again = program;
        signal(SIGHUP, [](int) { execv(again[0], again); });
        raise(SIGHUP);
    }
}

static int exec_mode(char **argv, bool fails)
{
    launches_make(atoi(argv[3]));
    exec_by(argv[2], argv + 4);
    if (fails)
        launches_make(atoi(argv[3]));
    return fails ? STATUS : 1;
}

static int vfork_mode(char **argv)
{
    launches_make(atoi(argv[2]));
    pid_t child = vfork();
    if (child == 0) {
        execv(argv[3], argv + 3);
        _exit(127);
    }
    int status = status_of(child);
    launches_make(atoi(argv[2]));
    return status;
}

static int daemon_mode(char **argv)
{
    int count = 0;
    HIP_CHECK(hipGetDeviceCount(&count));
    calls_make(atoi(argv[2]));
    if (daemon(1, 1) != 0) // the standard output stays: who reads it knows when the daemon ends
        return 1;
    calls_make(atoi(argv[3]));
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 2 ? argv[1] : "";
    if (strcmp(mode, "fork") == 0 && argc == 5)
        return fork_mode(argv);
    if (strcmp(mode, "before") == 0 && argc == 4)
        return before_mode(argv);
    if (strcmp(mode, "daemon") == 0 && argc == 4)
        return daemon_mode(argv);
    if (strcmp(mode, "storm") == 0 && argc == 5)
        return storm_mode(argv);
    if (strcmp(mode, "raw") == 0 && argc == 3)
        return raw_mode(argv);
    if (strcmp(mode, "exec") == 0 && argc > 4)
        return exec_mode(argv, false);
    if (strcmp(mode, "exec_fails") == 0 && argc == 5)
        return exec_mode(argv, true);
    if (strcmp(mode, "vfork") == 0 && argc == 4)
        return vfork_mode(argv);
    return 2;
}
