// Every sort of HIP work, each call printed before it is made: "call THREAD NAME", and what the device
// is to do for it: "kernel NAME KERNEL", "copy NAME BYTES". usage: operations MODULE_FILE
// [callbacks]
#include "common.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

enum { COUNT = 4096, STREAMS = 3, REPLAYS = 3, THREADS = 2 };
static const size_t BYTES = COUNT * sizeof(uint32_t);

static std::mutex output;
static size_t wrong;

static void say(const std::string &line)
{
    std::lock_guard<std::mutex> lock(output);
    std::printf("%s\n", line.c_str());
}

static void say_call(const char *name)
{
    say("call " + std::to_string(syscall(SYS_gettid)) + " " + name);
}

#define CALL(function, ...) (say_call(#function), check(function(__VA_ARGS__), __LINE__))
#define COPY(bytes, function, ...)                                                                 \
    (say("copy " #function " " + std::to_string(bytes)), CALL(function, __VA_ARGS__))

static void check(hipError_t status, int line)
{
    if (status == hipSuccess)
        return;
    std::fprintf(stderr, "operations.cpp:%d: %s\n", line, hipGetErrorName(status));
    exit(2);
}

__global__ void add_one(uint32_t *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

static void launch(uint32_t *data, hipStream_t stream, bool captured = false)
{
    for (const char *name :
         {"__hipPushCallConfiguration", "__hipPopCallConfiguration", "hipLaunchKernel"})
        say_call(name);
    if (!captured)
        say("kernel hipLaunchKernel add_one");
    add_one<<<COUNT / 64, 64, 0, stream>>>(data);
}

static void copies(uint32_t *a, uint32_t *b, uint32_t *host, hipStream_t stream)
{
    std::vector<uint32_t> other(COUNT);
    COPY(BYTES, hipMemcpy, a, host, BYTES, hipMemcpyHostToDevice);
    COPY(BYTES, hipMemcpy, b, a, BYTES, hipMemcpyDeviceToDevice);
    COPY(BYTES / 2, hipMemcpy, host, b, BYTES / 2, hipMemcpyDeviceToHost);
    COPY(BYTES / 4, hipMemcpy, a, host, BYTES / 4, hipMemcpyDefault);
    COPY(BYTES, hipMemcpyHtoD, a, host, BYTES);
    COPY(BYTES, hipMemcpyDtoD, b, a, BYTES);
    COPY(BYTES, hipMemcpyDtoH, other.data(), b, BYTES);
    COPY(BYTES, hipMemcpyAsync, a, host, BYTES, hipMemcpyHostToDevice, stream);
    COPY(BYTES, hipMemcpyAsync, b, a, BYTES, hipMemcpyDeviceToDevice, stream);
    COPY(BYTES, hipMemcpyAsync, host, b, BYTES, hipMemcpyDeviceToHost, stream);
    CALL(hipStreamSynchronize, stream);
    CALL(hipMemset, a, 0, BYTES);
    CALL(hipMemsetAsync, b, 0, BYTES, stream);
    CALL(hipStreamSynchronize, stream);
}

static void module_launch(const char *path, uint32_t *data)
{
    hipModule_t module;
    hipFunction_t function;
    void *arguments[] = {&data};
    CALL(hipModuleLoad, &module, path);
    CALL(hipModuleGetFunction, &function, module, "fill");
    say("kernel hipModuleLaunchKernel fill");
    CALL(hipModuleLaunchKernel, function, 4, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr);
    CALL(hipDeviceSynchronize);
    CALL(hipModuleUnload, module);
}

static void cooperative_launch(uint32_t *data)
{
    int able = 0;
    void *arguments[] = {&data};
    CALL(hipDeviceGetAttribute, &able, hipDeviceAttributeCooperativeLaunch, 0);
    if (!able)
        return;
    say("kernel hipLaunchCooperativeKernel add_one");
    CALL(hipLaunchCooperativeKernel, (void *)add_one, dim3(COUNT / 64), dim3(64), arguments, 0,
         nullptr);
    CALL(hipDeviceSynchronize);
}

static void graph_launch(uint32_t *data, hipStream_t stream)
{
    hipGraph_t graph;
    hipGraphExec_t executable;
    CALL(hipStreamBeginCapture, stream, hipStreamCaptureModeGlobal);
    launch(data, stream, true);
    launch(data, stream, true);
    CALL(hipStreamEndCapture, stream, &graph);
    CALL(hipGraphInstantiate, &executable, graph, nullptr, nullptr, 0);
    for (int i = 0; i < REPLAYS; i++) {
        say("kernel hipGraphLaunch add_one");
        say("kernel hipGraphLaunch add_one");
        CALL(hipGraphLaunch, executable, stream);
    }
    CALL(hipStreamSynchronize, stream);
    CALL(hipGraphExecDestroy, executable);
    CALL(hipGraphDestroy, graph);
}

static std::atomic<int> called_back;

static void on_stream(hipStream_t, hipError_t, void *amount)
{
    called_back += *(int *)amount;
}

static void callbacks(uint32_t *data, hipStream_t stream)
{
    int one = 1;
    for (int i = 0; i < REPLAYS; i++) {
        launch(data, stream);
        CALL(hipStreamAddCallback, stream, on_stream, &one, 0);
        CALL(hipStreamSynchronize, stream);
    }
    wrong += called_back != REPLAYS;
}

static void worker()
{
    uint32_t *data;
    hipStream_t streams[STREAMS];
    CALL(hipMalloc, (void **)&data, BYTES);
    for (hipStream_t &stream : streams)
        CALL(hipStreamCreate, &stream);
    for (int round = 0; round < 2; round++)
        for (hipStream_t stream : streams)
            launch(data, stream);
    for (hipStream_t stream : streams) {
        CALL(hipStreamSynchronize, stream);
        CALL(hipStreamDestroy, stream);
    }
    CALL(hipFree, data);
}

int main(int argc, char **argv)
{
    uint32_t *a, *b, *host;
    hipStream_t stream;
    if (argc < 2)
        return 2;
    CALL(hipMalloc, (void **)&a, BYTES);
    CALL(hipMalloc, (void **)&b, BYTES);
    CALL(hipHostMalloc, (void **)&host, BYTES, 0);
    CALL(hipStreamCreate, &stream);
    for (int i = 0; i < COUNT; i++)
        host[i] = 7;
    copies(a, b, host, stream);
    for (int i = 0; i < COUNT; i++)
        wrong += host[i] != 7;
    module_launch(argv[1], a);
    cooperative_launch(b);
    graph_launch(b, stream);
    if (argc > 2)
        callbacks(b, stream);
    std::vector<std::thread> threads;
    for (int i = 0; i < THREADS; i++)
        threads.emplace_back(worker);
    for (std::thread &thread : threads)
        thread.join();
    CALL(hipStreamDestroy, stream);
    CALL(hipHostFree, host);
    CALL(hipFree, a);
    CALL(hipFree, b);
    return verdict("operations", wrong);
}
