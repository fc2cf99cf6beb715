// Makes HIP calls on several threads and streams, with markers, and prints each: "call THREAD NAME"
// before a call, "marker THREAD OPERATION ID MESSAGE" before a marker, "kernel NAME" for a launch,
// "copy KIND" for a copy. usage: sequence MODULE_FILE
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <roctracer/roctx.h>

enum { THREADS = 3, LAUNCHES = 5, COUNT = 1000 };

static std::mutex output;

static void say(const std::string &line)
{
    std::lock_guard<std::mutex> lock(output);
    std::printf("%s\n", line.c_str());
}

static std::string thread_id()
{
    return std::to_string(syscall(SYS_gettid));
}

#define CALL(function, ...)                                                                        \
    (say("call " + thread_id() + " " #function), HIP_CHECK_STATUS(function(__VA_ARGS__)))
#define HIP_CHECK_STATUS(status)                                                                   \
    ((status) == hipSuccess ? (void)0 : (std::fprintf(stderr, "line %d\n", __LINE__), exit(2)))

static void marker(int operation, uint64_t id, const char *message)
{
    say("marker " + thread_id() + " " + std::to_string(operation) + " " + std::to_string(id) + " " +
        message);
}

namespace space
{
template <typename T> __global__ void add_one(T *data, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] += 1;
}
} // namespace space

static void launch(uint32_t *data, hipStream_t stream)
{
    say("call " + thread_id() + " __hipPushCallConfiguration");
    say("call " + thread_id() + " __hipPopCallConfiguration");
    say("call " + thread_id() + " hipLaunchKernel");
    say("kernel add_one");
    space::add_one<uint32_t><<<groups(COUNT, 64), 64, 0, stream>>>(data, (size_t)COUNT);
}

static void worker(int number)
{
    uint32_t *data;
    hipStream_t stream;
    std::vector<uint32_t> host(COUNT, 7);
    std::string name = "worker \"" + std::to_string(number) + "\"";
    marker(1, 0, name.c_str());
    roctxRangePush(name.c_str());
    CALL(hipStreamCreate, &stream);
    CALL(hipMalloc, (void **)&data, COUNT * sizeof(uint32_t));
    say("copy HostToDevice");
    CALL(hipMemcpy, data, host.data(), COUNT * sizeof(uint32_t), hipMemcpyHostToDevice);
    for (int i = 0; i < LAUNCHES; i++)
        launch(data, stream);
    CALL(hipStreamSynchronize, stream);
    say("copy DeviceToHost");
    CALL(hipMemcpy, host.data(), data, COUNT * sizeof(uint32_t), hipMemcpyDeviceToHost);
    CALL(hipFree, data);
    CALL(hipStreamDestroy, stream);
    marker(2, 0, "");
    roctxRangePop();
    for (uint32_t value : host)
        if (value != 7 + LAUNCHES)
            exit(3);
}

static void module_launch(const char *path)
{
    hipModule_t module;
    hipFunction_t function;
    uint32_t *data;
    CALL(hipModuleLoad, &module, path);
    CALL(hipModuleGetFunction, &function, module, "fill");
    CALL(hipMalloc, (void **)&data, COUNT * sizeof(uint32_t));
    void *arguments[] = {&data};
    say("kernel fill");
    CALL(hipModuleLaunchKernel, function, 4, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr);
    CALL(hipDeviceSynchronize);
    CALL(hipFree, data);
    CALL(hipModuleUnload, module);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    marker(3, 1, "all of it");
    roctx_range_id_t all = roctxRangeStart("all of it");
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(worker, i);
    for (auto &thread : threads)
        thread.join();
    module_launch(argv[1]);
    marker(0, 0, "nearly done");
    roctxMark("nearly done");
    marker(4, all, "");
    roctxRangeStop(all);
    marker(2, 0, "");
    roctxRangePop(); // one too many
    return 0;
}
