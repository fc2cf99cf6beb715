// Exceptions that leave a callback, which the header does not allow: the program ends as after one
// that nobody catches, at once, and not with our frames half done or by a hang.
#include <atomic>
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>

#include <hsa/hsa.h>
#include <roctracer/roctracer.h>
#include <roctracer/roctracer_hsa.h>

#include "ways.h"

extern "C" { // last: its words are macros
#include <cmocka.h>
}

namespace {

constexpr uint32_t OP = HSA_API_ID_hsa_system_get_info;

std::atomic<bool> thrown;
activity_api_phase_t throwing_phase = ACTIVITY_API_PHASE_ENTER;

void on_call(uint32_t, uint32_t, const void *data, void *)
{
    const auto *call = static_cast<const hsa_api_data_t *>(data);
    if (call->phase == throwing_phase && !thrown.exchange(true))
        throw std::runtime_error("from a callback");
}

void on_records(const char *, const char *, void *) {}

void on_records_that_throws(const char *, const char *, void *)
{
    thrown = true;
    throw std::runtime_error("from a pool");
}

void call()
{
    uint16_t major;
    hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
}

void pool_open(roctracer_buffer_callback_t callback)
{
    roctracer_properties_t properties = {};
    properties.buffer_size = 4096;
    properties.buffer_callback_fun = callback;
    DONE(roctracer_open_pool(&properties));
    DONE(roctracer_enable_op_activity(ACTIVITY_DOMAIN_HSA_API, OP));
}

[[noreturn]] void end_as_it_should()
{
    _exit(thrown ? STATUS : 1);
}

// Were the program to get the exception, it would go on here.
int through_a_call(activity_api_phase_t phase)
{
    std::set_terminate(end_as_it_should);
    throwing_phase = phase;
    pool_open(on_records);
    DONE(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, OP, on_call, nullptr));
    try {
        call();
    } catch (const std::runtime_error &) {
        std::fprintf(stderr, "the program got it\n");
    }
    return 1;
}

int thrown_at_the_begin_of_a_call()
{
    return through_a_call(ACTIVITY_API_PHASE_ENTER);
}

int thrown_at_the_end_of_a_call()
{
    return through_a_call(ACTIVITY_API_PHASE_EXIT);
}

int thrown_in_a_pool()
{
    std::set_terminate(end_as_it_should);
    pool_open(on_records_that_throws);
    call();
    roctracer_flush_activity();
    return 1;
}

} // namespace

#define WAYS(X)                                                                                    \
    X(thrown_at_the_begin_of_a_call)                                                               \
    X(thrown_at_the_end_of_a_call)                                                                 \
    X(thrown_in_a_pool)

WAYS_MAIN("roctracer/exceptions", hsa_init() == HSA_STATUS_SUCCESS, hsa_shut_down())
