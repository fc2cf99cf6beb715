// ways DIRECTORY WAY: launches KERNELS kernels, sets MARKS markers and asks HSA as often, then ends
// in that way. matrix_test.py has the list of ways, and what must be on disk afterwards.
//   MATRIX_THREADS     that share the markers; they have ended by then
//   MATRIX_DELAY_US    before the end, and in children
//   MATRIX_AWAIT       "_FILE" of the report: how far that is when another thread ends the process
//   MATRIX_NOISE       threads that go on tracing until the end, what the tools here do not count;
//   MATRIX_NOISE_HSA   with calls of HSA's, too
//   MATRIX_RUN, _ROOT  what runs a program where the loader is another one (scripts/debian_run.sh)
#include <rocprofiler-sdk-roctx/roctx.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
#include "../conformance/counting/gpu.h"
}

namespace
{
enum { KERNELS = 7, MARKS = 100, LATER = 30, MANY = 40000, STATUS = 23 };

const char *program, *directory;

int number_of(const char *variable)
{
    const char *value = getenv(variable);
    return value ? atoi(value) : 0;
}

void delay()
{
    usleep(static_cast<useconds_t>(number_of("MATRIX_DELAY_US")));
}

void marks(int count)
{
    uint16_t minor;
    for (int i = 0; i < count; i++) {
        roctxMark("matrix");
        hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &minor);
    }
}

void work()
{
    int threads = number_of("MATRIX_THREADS");
    std::vector<std::thread> workers;
    gpus_open(directory);
    for (int i = 0; i < KERNELS; i++)
        gpu_run(&gpus[0], 1);
    for (int i = 0; i < threads; i++)
        workers.emplace_back(marks, MARKS / (threads + 1));
    marks(MARKS - threads * (MARKS / (threads + 1)));
    for (std::thread &worker : workers)
        worker.join();
}

void make_noise(bool with_hsa)
{
    uint16_t major;
    for (;;) {
        roctxRangePush("noise");
        if (with_hsa)
            hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
        roctxRangePop();
        usleep(100);
    }
}

void noise_start()
{
    for (int i = 0; i < number_of("MATRIX_NOISE"); i++)
        std::thread{make_noise, number_of("MATRIX_NOISE_HSA") != 0}.detach();
}

void by_exit()
{
    exit(STATUS);
}

void by_exit_now()
{
    _exit(STATUS);
}

void by_quick_exit()
{
    quick_exit(STATUS);
}

void by_exit_of_thread()
{
    std::thread{by_exit}.detach();
    for (;;)
        pause();
}

// HSA's threads would keep the process, so the last of the program's ends it.
void by_pthread_exit()
{
    std::thread{[] {
        usleep(20000);
        marks(LATER);
        by_exit();
    }}.detach();
    pthread_exit(nullptr);
}

void by_exec()
{
    const char *run = getenv("MATRIX_RUN");
    if (run)
        execl(run, run, getenv("MATRIX_ROOT"), program, directory, "exit", nullptr);
    execl(program, program, directory, "exit", nullptr);
}

// A report that takes its time, and a thread that ends the process, or becomes another program,
// while it is made.
std::atomic<bool> exiting;

void report_await()
{
    enum { LIMIT = 20000 };
    const char *file = getenv("MATRIX_AWAIT");
    std::string path = std::to_string(getpid()) + (file ? file : "");
    for (int i = 0; i < (file ? LIMIT : 20) && (!file || access(path.c_str(), F_OK) != 0); i++)
        usleep(100);
}

void race_with_exit(void (*other)())
{
    marks(MANY);
    atexit([] { exiting = true; });
    std::thread{[other] {
        while (!exiting)
            usleep(100);
        report_await();
        delay();
        other();
    }}.detach();
    by_exit();
}

void by_two_exits()
{
    race_with_exit(by_exit);
}

void by_exit_and_exit_now()
{
    race_with_exit(by_exit_now);
}

void by_exit_and_signal()
{
    race_with_exit([] { pthread_kill(pthread_self(), SIGTERM); });
}

void by_exit_and_exec()
{
    race_with_exit([] { execl("/bin/true", "true", nullptr); });
}

// So many that tools write long before the end.
void by_kill_of_many()
{
    for (int i = 0; i < 5; i++)
        marks(MANY);
    delay();
    raise(SIGKILL);
}

// A child that ends before its parent, and one that ends after it, which an uncle waits for.
void child(useconds_t nap_us)
{
    usleep(nap_us);
    delay();
    marks(LATER);
    exit(0);
}

void by_fork_first()
{
    pid_t pid = fork();
    if (pid == 0)
        child(0);
    waitpid(pid, nullptr, 0);
    by_exit();
}

void by_fork_last()
{
    if (fork() == 0)
        child(200000);
    by_exit();
}

void by_fork_killed()
{
    pid_t pid = fork();
    if (pid == 0) {
        marks(LATER);
        raise(SIGTERM);
    }
    waitpid(pid, nullptr, 0);
    by_exit();
}

void by_uncaught()
{
    throw std::runtime_error("nobody catches this");
}

hsa_status_t throwing(hsa_agent_t, void *)
{
    throw std::runtime_error("from a callback");
}

void by_exception_through_call()
{
    try {
        hsa_iterate_agents(throwing, nullptr);
    } catch (const std::runtime_error &) {
        marks(LATER);
    }
    by_exit();
}

void by_closed_pipe()
{
    int ends[2];
    if (pipe(ends) == 0 && close(ends[0]) == 0 && dup2(ends[1], STDOUT_FILENO) >= 0)
        while (write(STDOUT_FILENO, "x", 1) == 1)
            ;
}

void by_fault()
{
    volatile int *volatile nowhere = nullptr;
    *nowhere = 1;
}

void leave_work()
{
    uint32_t *flag = gpus[0].memory + 60000;
    *flag = 0;
    gpu_launch(&gpus[0], gpu_queue(&gpus[0]), gpus[0].wait_for, 1, flag);
}

void by_shut_down()
{
    leave_work();
    gpus_abandon();
    by_exit();
}

void by_second_life()
{
    leave_work();
    gpus_abandon();
    work();
    by_exit();
}

void by_exit_with_work()
{
    leave_work();
    by_exit();
}

struct sigaction found;

void chained(int number, siginfo_t *info, void *context)
{
    if (found.sa_flags & SA_SIGINFO)
        found.sa_sigaction(number, info, context);
    else
        signal(number, SIG_DFL); // happens again
}

void chain(int number)
{
    struct sigaction action = {};
    action.sa_sigaction = chained;
    action.sa_flags = SA_SIGINFO;
    sigaction(number, &action, &found);
}

void by_chained_signal()
{
    chain(SIGHUP);
    raise(SIGHUP);
    marks(LATER);
    by_exit();
}

void by_chained_fault()
{
    chain(SIGSEGV);
    by_fault();
}

void by_many_signals()
{
    for (int number : {SIGTERM, SIGHUP, SIGUSR1, SIGINT})
        std::thread{[number] { pthread_kill(pthread_self(), number); }}.detach();
    for (;;)
        pause();
}

const std::map<std::string, std::function<void()>> ways = {
    {"exit", by_exit},
    {"_exit", by_exit_now},
    {"quick_exit", by_quick_exit},
    {"thread", by_exit_of_thread},
    {"pthread_exit", by_pthread_exit},
    {"exec", by_exec},
    {"two_exits", by_two_exits},
    {"exit_and_exit_now", by_exit_and_exit_now},
    {"exit_and_signal", by_exit_and_signal},
    {"exit_and_exec", by_exit_and_exec},
    {"killed", by_kill_of_many},
    {"fork_first", by_fork_first},
    {"fork_last", by_fork_last},
    {"fork_killed", by_fork_killed},
    {"abort", [] { abort(); }},
    {"uncaught", by_uncaught},
    {"through", by_exception_through_call},
    {"pipe", by_closed_pipe},
    {"fault", by_fault},
    {"work", by_exit_with_work},
    {"shut_down", by_shut_down},
    {"second_life", by_second_life},
    {"chained", by_chained_signal},
    {"chained_fault", by_chained_fault},
    {"many", by_many_signals},
};

} // namespace

int main(int argc, char **argv)
{
    program = argv[0];
    directory = argc > 2 ? argv[1] : "";
    std::string way = argc > 2 ? argv[2] : "";
    auto known = ways.find(way);
    if (known == ways.end() && atoi(way.c_str()) == 0)
        return 2;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    work();
    noise_start();
    delay();
    if (known == ways.end()) {
        raise(atoi(way.c_str()));
        return 3;
    }
    known->second();
    return 4;
}
