// A program that is its own tool, in C++, and does at one PLACE of the tool what one DEED says:
//   ends DEED PLACE
// It pushes the external id 1 on the thread that initialises it, 2 on another one that aborts, and
// says what is pushed on the thread that finalises it.
// late, late_flush: a call of another thread returns while the tool is finalised, which flushes or not.
// Places: configure, initialize, enter and exit (of a call), buffer, finalize, main, handler.
#include <rocprofiler-sdk-roctx/roctx.h>
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{
enum { WORKER_MARKS = 10000 };

std::string                   deed, place;
std::atomic<unsigned>         records{0};
std::atomic<bool>             is_inside{false}, may_return{false}, has_returned{false};
std::atomic<bool>             is_finalized{false};
thread_local bool             is_late{false};
rocprofiler_context_id_t      context{};
rocprofiler_buffer_id_t       buffer{};
rocprofiler_client_finalize_t finalizer;
rocprofiler_client_id_t      *client;

// One line at once, also while the process falls apart.
void say(const char *what, unsigned number)
{
    char line[100];
    int  length = snprintf(line, sizeof line, "%s %u\n", what, number);
    if (write(STDOUT_FILENO, line, static_cast<size_t>(length)) < 0)
        _exit(99);
}

struct Witness
{
    std::vector<std::string> names{20, "longer than a string keeps in itself, so on the heap"};
    ~Witness() { say("destroyed", static_cast<unsigned>(names.size())); }
};

Witness &witness()
{
    static Witness the_one;
    return the_one;
}

void fork_a_child()
{
    pid_t child = fork();
    if (child == 0)
        exit(9);
    int status = -1;
    waitpid(child, &status, 0);
    say("child", static_cast<unsigned>(WEXITSTATUS(status)));
}

// Outlives the thread that made it.
void *work(void *)
{
    for (int i = 0; i < WORKER_MARKS; i++)
        roctxMark("worker");
    return nullptr;
}

void end_thread()
{
    pthread_t worker;
    if (pthread_create(&worker, nullptr, work, nullptr) == 0)
        pthread_detach(worker);
    pthread_exit(nullptr);
}

void exit_on_two_threads()
{
    std::thread{[] { exit(4); }}.detach();
    exit(4);
}

rocprofiler_thread_id_t own_id()
{
    rocprofiler_thread_id_t id = 0;
    rocprofiler_get_thread_id(&id);
    return id;
}

void push(uint64_t value)
{
    rocprofiler_user_data_t id{};
    id.value = value;
    rocprofiler_push_external_correlation_id(context, own_id(), id);
}

void wait_for(const std::atomic<bool> &what)
{
    while (!what)
        usleep(1000);
}

// Its record comes when contexts have been stopped.
void call_late()
{
    std::thread{[] {
        is_late = true;
        roctxMark("late");
        has_returned = true;
    }}.detach();
    wait_for(is_inside);
}

void abort_on_another_thread()
{
    std::thread{[] {
        push(2);
        abort();
    }}.join();
}

bool ends_the_process()
{
    return deed == "throw" || deed == "exit" || deed == "quick_exit" || deed == "abort";
}

// At its place, and once only: what ends the process must not depend on being done twice.
void act(const char *where)
{
    static std::atomic<bool> done{false};
    if (place != where || done.exchange(true))
        return;
    if (deed == "throw")
        throw std::runtime_error{"thrown by the tool"};
    else if (deed == "exit")
        exit(5);
    else if (deed == "quick_exit")
        quick_exit(5);
    else if (deed == "abort")
        abort();
    else if (deed == "late" || deed == "late_flush")
        call_late();
    else if (deed == "abort_elsewhere")
        abort_on_another_thread();
    else if (deed == "raise")
        raise(SIGTERM);
    else if (deed == "pthread_exit")
        end_thread();
    else if (deed == "finalize")
        finalizer(*client);
    else if (deed == "fork")
        fork_a_child();
    else if (deed == "exits")
        exit_on_two_threads();
    else if (deed == "force")
        say("force", rocprofiler_force_configure(rocprofiler_configure));
    else
        say("nothing", 0);
}

void on_buffer(rocprofiler_context_id_t, rocprofiler_buffer_id_t, rocprofiler_record_header_t **,
               size_t count, void *, uint64_t)
{
    act("buffer");
    if (is_finalized)
        say("after the finaliser", static_cast<unsigned>(count));
    records += static_cast<unsigned>(count);
}

void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *, void *)
{
    act(record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER ? "enter" : "exit");
    if (is_late && record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        is_inside = true;
        wait_for(may_return);
    }
}

int tool_init(rocprofiler_client_finalize_t finalize, void *)
{
    finalizer = finalize;
    witness();
    int status = rocprofiler_create_context(&context);
    status |= rocprofiler_create_buffer(context, 4096, 0, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                        on_buffer, nullptr, &buffer);
    status |= rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, nullptr, 0, buffer);
    status |= rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, nullptr, 0, on_call, nullptr);
    status |= rocprofiler_start_context(context);
    push(1);
    act("initialize");
    return status;
}

void tool_fini(void *)
{
    say(witness().names.size() == 20 ? "finalize" : "finalize too late for", records);
    rocprofiler_user_data_t popped{};
    rocprofiler_pop_external_correlation_id(context, own_id(), &popped);
    say("pushed", static_cast<unsigned>(popped.value));
    act("finalize");
    if (is_inside) {
        may_return = true;
        wait_for(has_returned);
        if (deed == "late_flush")
            rocprofiler_flush_buffer(buffer);
        say("records", records);
    }
    is_finalized = true;
}

void on_signal(int)
{
    act("handler");
}

} // namespace

extern "C" rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t result{sizeof result, tool_init, tool_fini, nullptr};
    client = client_id;
    act("configure");
    return &result;
}

int main(int argc, char **argv)
{
    deed  = argc > 1 ? argv[1] : "";
    place = argc > 2 ? argv[2] : "";
    for (int i = 0; i < 3; i++)
        try {
            roctxMark("program");
        } catch (const std::exception &) {
            say("caught by the program", 0);
        }
    rocprofiler_flush_buffer(buffer);
    while (place == "buffer" && ends_the_process())
        pause(); // or this thread's end and that one are a race
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    act("main");
    return 0;
}
