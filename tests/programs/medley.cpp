// Something of everything that a profiler records, chosen by a seed: threads with streams of their own, kernels of several sizes,
// copies and fills of all kinds, allocations, events, graphs, markers that nest, overlap and have odd texts; and a forked child that
// does the same by another seed.
//
//     medley SEED [STEPS]
#include "common.h"

#include <atomic>
#include <random>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <rocprofiler-sdk-roctx/roctx.h>

namespace
{

enum { THREADS = 3, STREAMS = 2, EVENTS = 2, WORDS = 1 << 14, NAMES = 12 };
std::atomic<size_t> wrong{0};

__global__ void add_one(unsigned *data, unsigned count)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        data[i] += 1;
}

template <typename T>
__global__ void tabled(T *data, T factor)
{
    __shared__ T table[256];
    table[threadIdx.x % 256] = data[threadIdx.x] * factor;
    __syncthreads();
    data[blockIdx.x * blockDim.x + threadIdx.x] += table[255 - threadIdx.x % 256];
}

std::string marker_text(std::mt19937 &chance)
{
    static const char *const texts[NAMES] = {
        "plain", "a \"quoted\" one", "two\nlines", "semi;colon, comma", "tab\there\r", "back\\slash \\n", "<script>&amp;</script>",
        "\xc3\xa4\xc3\xb6\xc3\xbc \xe6\xbc\xa2 \xf0\x9f\x90\x8a", "bell\a and \x1b[31mred", "100 %s %n {} $(x) `y`", " blanks ", "'single'"};
    unsigned which = chance() % (NAMES + 2);
    return which < NAMES ? texts[which] : which == NAMES ? std::string(chance() % 5000 + 1, 'x') : "step " + std::to_string(chance() % 50);
}

struct worker {
    std::mt19937 chance;
    hipStream_t stream[STREAMS];
    hipEvent_t event[EVENTS];
    unsigned *device, *other, *pinned, host[WORDS];
    std::vector<roctx_range_id_t> ranges;
    unsigned depth = 0;
    bool is_recorded[EVENTS] = {};

    explicit worker(unsigned seed) : chance(seed)
    {
        for (hipStream_t &one : stream)
            HIP_CHECK(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
        for (hipEvent_t &one : event)
            HIP_CHECK(hipEventCreate(&one));
        HIP_CHECK(hipMalloc(&device, WORDS * sizeof *device));
        HIP_CHECK(hipMalloc(&other, WORDS * sizeof *other));
        HIP_CHECK(hipHostMalloc((void **)&pinned, WORDS * sizeof *pinned, 0));
        HIP_CHECK(hipMemset(device, 0, WORDS * sizeof *device));
    }

    hipStream_t any_stream()
    {
        return stream[chance() % STREAMS];
    }

    void launch()
    {
        unsigned groups = chance() % 7 + 1, group = 64 * (chance() % 4 + 1);
        if (chance() % 2)
            add_one<<<groups, group, 0, any_stream()>>>(device, WORDS);
        else if (chance() % 2)
            tabled<float><<<groups, 256, 0, any_stream()>>>((float *)other, 2.0f);
        else
            tabled<unsigned><<<dim3(groups, 1, 1), dim3(256, 1, 1), 0, any_stream()>>>(other, 3u);
    }

    void copy()
    {
        size_t bytes = (chance() % WORDS + 1) * sizeof *device;
        hipStream_t on = any_stream();
        switch (chance() % 7) {
        case 0:
            HIP_CHECK(hipMemcpy(host, device, bytes, hipMemcpyDeviceToHost));
            break;
        case 1:
            HIP_CHECK(hipMemcpy(other, host, bytes, hipMemcpyHostToDevice));
            break;
        case 2:
            HIP_CHECK(hipMemcpyAsync(pinned, device, bytes, hipMemcpyDeviceToHost, on));
            break;
        case 3:
            HIP_CHECK(hipMemcpyAsync(other, pinned, bytes, hipMemcpyHostToDevice, on));
            break;
        case 4:
            HIP_CHECK(hipMemcpyAsync(other, device, bytes, hipMemcpyDeviceToDevice, on));
            break;
        case 5:
            HIP_CHECK(hipMemsetAsync(other, 7, bytes, on));
            break;
        default:
            HIP_CHECK(hipMemcpy2D(host, 256, device, 512, 200, 20, hipMemcpyDeviceToHost));
        }
    }

    void allocate()
    {
        void *memory;
        HIP_CHECK(hipMalloc(&memory, chance() % 3000000 + 1));
        HIP_CHECK(hipFree(memory));
    }

    void mark()
    {
        std::string text = marker_text(chance);
        unsigned what = chance() % 5;
        if (what == 0)
            roctxMark(text.c_str());
        else if (what == 1)
            ranges.push_back(roctxRangeStart(text.c_str()));
        else if (what == 2 && !ranges.empty()) {
            size_t at = chance() % ranges.size();
            roctxRangeStop(ranges[at]);
            ranges.erase(ranges.begin() + (long)at);
        } else if (what == 3 && depth > 0)
            depth--, roctxRangePop();
        else
            depth++, roctxRangePush(text.c_str());
    }

    void event_use()
    {
        unsigned which = chance() % EVENTS;
        if (is_recorded[which] && chance() % 2)
            HIP_CHECK(hipStreamWaitEvent(any_stream(), event[which], 0));
        else
            HIP_CHECK(hipEventRecord(event[which], any_stream()));
        is_recorded[which] = true;
    }

    void graph()
    {
        hipGraph_t captured;
        hipGraphExec_t made;
        hipStream_t on = any_stream();
        HIP_CHECK(hipStreamBeginCapture(on, hipStreamCaptureModeThreadLocal));
        for (unsigned i = chance() % 3 + 1; i-- > 0;)
            add_one<<<2, 64, 0, on>>>(device, 128);
        HIP_CHECK(hipStreamEndCapture(on, &captured));
        HIP_CHECK(hipGraphInstantiate(&made, captured, nullptr, nullptr, 0));
        for (unsigned i = chance() % 3 + 1; i-- > 0;)
            HIP_CHECK(hipGraphLaunch(made, on));
        HIP_CHECK(hipStreamSynchronize(on));
        HIP_CHECK(hipGraphExecDestroy(made));
        HIP_CHECK(hipGraphDestroy(captured));
    }

    void step(bool may_capture)
    {
        switch (chance() % 12) {
        case 0:
        case 1:
        case 2:
            launch();
            break;
        case 3:
        case 4:
            copy();
            break;
        case 5:
            allocate();
            break;
        case 6:
        case 7:
        case 8:
            mark();
            break;
        case 9:
        case 10:
            event_use();
            break;
        default:
            if (may_capture)
                graph();
        }
    }

    void end()
    {
        for (; depth > 0; depth--)
            roctxRangePop();
        for (roctx_range_id_t range : ranges)
            roctxRangeStop(range);
        HIP_CHECK(hipDeviceSynchronize());
        HIP_CHECK(hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost));
        for (unsigned i = 128; i < WORDS; i++)
            wrong += host[i] > 100000;
    }
};

void work(unsigned seed, unsigned steps, bool may_capture)
{
    worker *me = new worker(seed);
    for (unsigned i = 0; i < steps; i++)
        me->step(may_capture);
    me->end();
    delete me;
}

void everything(unsigned seed, unsigned steps)
{
    std::vector<std::thread> threads;
    work(seed, steps, true); // alone: a capture of one thread forbids others' synchronous calls on some releases
    for (unsigned i = 1; i <= THREADS; i++)
        threads.emplace_back(work, seed * 100 + i, steps, false);
    for (std::thread &thread : threads)
        thread.join();
}

} // namespace

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? (unsigned)std::atoi(argv[1]) : 1, steps = argc > 2 ? (unsigned)std::atoi(argv[2]) : 60;
    pid_t child = fork();
    if (child == 0) {
        everything(seed + 1000, steps / 2);
        return verdict("medley", wrong);
    }
    everything(seed, steps);
    int status = 0;
    waitpid(child, &status, 0);
    return verdict("medley", wrong + (status != 0));
}
