// Traced calls that their callbacks leave: by an exception, by longjmp, for another
// stack (not with the thread: ROCr catches what ends threads, and that ends the process). What the
// program then calls belongs to nothing that is over, and every call begins and ends once, where
// anybody can know of it.
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <pthread.h>
#include <set>
#include <stdexcept>
#include <ucontext.h>
#include <vector>

#include <hsa/hsa.h>

#include "check.hpp"

namespace
{
enum {
    AGENTS = ROCPROFILER_HSA_CORE_API_ID_hsa_iterate_agents,
    QUESTION = ROCPROFILER_HSA_CORE_API_ID_hsa_system_get_info
};

struct call {
    int operation;
    uint64_t internal, ancestor;
    unsigned exits;
};

std::mutex lock;
std::vector<call> calls; // in the order of their beginnings
std::multiset<uint64_t> retired;
rocprofiler_context_id_t context{};
rocprofiler_buffer_id_t buffer{};

void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *, void *)
{
    std::lock_guard<std::mutex> guard{lock};
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        calls.push_back({static_cast<int>(record.operation), record.correlation_id.internal,
                         record.correlation_id.ancestor, 0});
    else
        for (auto &one : calls)
            one.exits += one.internal == record.correlation_id.internal;
}

void on_records(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
                rocprofiler_record_header_t **headers, size_t count, void *, uint64_t)
{
    std::lock_guard<std::mutex> guard{lock};
    for (size_t i = 0; i < count; i++)
        retired.insert(static_cast<rocprofiler_buffer_tracing_correlation_id_retirement_record_t *>(
                           headers[i]->payload)
                           ->internal_correlation_id);
}

int initialize(rocprofiler_client_finalize_t, void *)
{
    const rocprofiler_tracing_operation_t operations[] = {AGENTS, QUESTION};
    int status = rocprofiler_create_context(&context);
    status |=
        rocprofiler_create_buffer(context, 1 << 16, 1 << 15, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                  on_records, nullptr, &buffer);
    status |= rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API, operations, 2, on_call, nullptr);
    status |= rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, nullptr, 0, buffer);
    return status | rocprofiler_start_context(context);
}

call last()
{
    std::lock_guard<std::mutex> guard{lock};
    return calls.back();
}

__attribute__((noinline)) void ask()
{
    uint16_t major;
    hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
}

// The stack that the left call had is somebody else's now.
__attribute__((noinline)) int ask_from_below(int depth)
{
    volatile unsigned char room[512];
    memset(const_cast<unsigned char *>(room), 0xa5, sizeof room);
    if (depth > 0)
        return ask_from_below(depth - 1) + room[depth];
    ask();
    return room[0];
}

hsa_status_t iterate(hsa_status_t (*callback)(hsa_agent_t, void *), void *data = nullptr)
{
    return hsa_iterate_agents(callback, data);
}

// ---- exceptions

hsa_status_t throwing(hsa_agent_t, void *)
{
    throw std::runtime_error("from a callback");
}

hsa_status_t catches_inside(hsa_agent_t, void *)
{
    uint64_t outer = last().internal;
    try {
        iterate(throwing);
    } catch (const std::runtime_error &) {
    }
    CHECK(last().ancestor == outer && last().exits == 1);
    ask();
    CHECK(last().ancestor == outer);
    ask_from_below(20);
    CHECK(last().ancestor == outer);
    return HSA_STATUS_INFO_BREAK;
}

void exceptions()
{
    for (int depth : {0, 1, 5, 20}) {
        bool caught = false;
        try {
            iterate(throwing);
        } catch (const std::runtime_error &) {
            caught = true;
        }
        CHECK(caught && last().exits == 1);
        ask_from_below(depth);
        CHECK(last().ancestor == 0);
    }
    iterate(catches_inside);
    ask();
    CHECK(last().ancestor == 0);
}

// ---- longjmp

sigjmp_buf way_out;

hsa_status_t jumps(hsa_agent_t, void *)
{
    siglongjmp(way_out, 1);
}

// From far enough below its caller.
__attribute__((noinline)) void leave_by_jump()
{
    volatile char room[256];
    room[0] = 0;
    if (sigsetjmp(way_out, 1) == 0)
        iterate(jumps);
    room[1] = room[0];
}

hsa_status_t jumps_inside(hsa_agent_t, void *)
{
    uint64_t outer = last().internal;
    leave_by_jump();
    ask();
    CHECK(last().ancestor == outer);
    return HSA_STATUS_INFO_BREAK;
}

// From below nobody can tell whether the call is over, but its id is one that was given, and the
// first call that is not from below ends that.
void jumps_out()
{
    leave_by_jump();
    ask();
    CHECK(last().ancestor == 0);
    leave_by_jump();
    uint64_t left = last().internal;
    ask_from_below(20);
    CHECK(last().ancestor == 0 || last().ancestor == left);
    ask();
    CHECK(last().ancestor == 0);
    iterate(jumps_inside);
    ask();
    CHECK(last().ancestor == 0);
}

// An exception passes where a jump has left a call.
hsa_status_t jumps_and_throws(hsa_agent_t, void *)
{
    leave_by_jump();
    ask_from_below(3);
    throw std::runtime_error("after a jump");
}

void both()
{
    size_t first = calls.size();
    try {
        iterate(jumps_and_throws);
    } catch (const std::runtime_error &) {
    }
    CHECK(calls[first].exits == 1);
    ask_from_below(20);
    CHECK(last().ancestor == 0);
}

// ---- other stacks

ucontext_t main_stack, other_stack;
constexpr size_t STACK_BYTES = 1 << 17;
std::vector<char> room(STACK_BYTES);

hsa_status_t goes_elsewhere(hsa_agent_t, void *)
{
    swapcontext(&other_stack, &main_stack);
    return HSA_STATUS_INFO_BREAK;
}

void on_other_stack()
{
    iterate(goes_elsewhere);
}

void coroutines()
{
    getcontext(&other_stack);
    other_stack.uc_stack.ss_sp = room.data();
    other_stack.uc_stack.ss_size = room.size();
    other_stack.uc_link = &main_stack;
    makecontext(&other_stack, on_other_stack, 0);
    swapcontext(&main_stack, &other_stack);
    size_t begun = calls.size() - 1;
    CHECK(calls[begun].exits == 0);
    ask_from_below(20);
    CHECK(last().ancestor == 0);
    swapcontext(&main_stack, &other_stack);
    CHECK(calls[begun].exits == 1);
    ask();
    CHECK(last().ancestor == 0);
}

void on_signal(int)
{
    iterate(jumps);
}

hsa_status_t is_interrupted(hsa_agent_t, void *)
{
    uint64_t outer = last().internal;
    if (sigsetjmp(way_out, 1) == 0)
        raise(SIGUSR1);
    CHECK(last().ancestor == outer);
    ask();
    CHECK(last().ancestor == outer);
    return HSA_STATUS_INFO_BREAK;
}

void signal_stack_use(void *memory)
{
    stack_t stack{};
    stack.ss_sp = memory;
    stack.ss_size = STACK_BYTES;
    sigaltstack(&stack, nullptr);
    iterate(is_interrupted);
    ask();
    CHECK(last().ancestor == 0);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
}

void *signal_stack_of_thread(void *memory)
{
    signal_stack_use(memory);
    return nullptr;
}

// One below the stack that it interrupts, and one above.
void signal_stacks()
{
    static char memory[4 * STACK_BYTES] __attribute__((aligned(4096)));
    struct sigaction action {
    };
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, nullptr);
    signal_stack_use(memory);
    pthread_t one;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory, 3 * STACK_BYTES);
    CHECK(pthread_create(&one, &attributes, signal_stack_of_thread, memory + 3 * STACK_BYTES) == 0);
    pthread_join(one, nullptr);
}

// ---- depth

hsa_status_t goes_deeper(hsa_agent_t, void *left)
{
    uint64_t outer = last().internal;
    ask();
    CHECK(last().ancestor == outer);
    int remaining = *static_cast<int *>(left) - 1;
    if (remaining > 0) {
        size_t next = calls.size();
        iterate(goes_deeper, &remaining);
        CHECK(calls[next].ancestor == outer && calls[next].exits == 1);
        ask();
        CHECK(last().ancestor == outer);
    }
    return HSA_STATUS_INFO_BREAK;
}

void depth()
{
    for (int levels : {1, 23, 24, 25, 26, 60}) {
        iterate(goes_deeper, &levels);
        ask();
        CHECK(last().ancestor == 0);
    }
}

// Every id retires once, those of calls that ended unseen too.
void retirement()
{
    rocprofiler_flush_buffer(buffer);
    std::set<uint64_t> given;
    for (const auto &one : calls) {
        CHECK(retired.count(one.internal) == 1);
        given.insert(one.internal);
    }
    CHECK(given.size() == calls.size());
}

} // namespace

extern "C" rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *)
{
    static rocprofiler_tool_configure_result_t result{sizeof result, initialize, nullptr, nullptr};
    return &result;
}

int main()
{
    CHECK(hsa_init() == HSA_STATUS_SUCCESS);
    exceptions();
    jumps_out();
    both();
    coroutines();
    signal_stacks();
    depth();
    retirement();
    hsa_shut_down();
    return failures != 0;
}
