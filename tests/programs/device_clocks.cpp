// Times that a program takes by itself: events around a kernel, and the device's clocks inside.
// Prints the cycles that each work-group saw pass; checks what holds of any clock.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <ctime>
#include <vector>

__global__ void work(unsigned *out, long long *cycles, unsigned steps)
{
    long long begin = clock64();
    unsigned value = threadIdx.x;
    for (unsigned i = 0; i < steps * (blockIdx.x + 1); i++)
        value = value * 1664525u + 1013904223u;
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
}

static double now_ms()
{
    timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

int main()
{
    enum { GROUPS = 4, ITEMS = 64, STEPS = 1000 };
    unsigned *out;
    long long *device_cycles;
    std::vector<long long> cycles(GROUPS);
    hipEvent_t before, after;
    if (hipMalloc((void **)&out, GROUPS * ITEMS * sizeof *out) != hipSuccess ||
        hipMalloc((void **)&device_cycles, GROUPS * sizeof *device_cycles) != hipSuccess ||
        hipEventCreate(&before) != hipSuccess || hipEventCreate(&after) != hipSuccess)
        return 2;
    for (int round = 0; round < 3; round++) {
        float elapsed_ms = -1;
        double begin_ms = now_ms();
        hipEventRecord(before, 0);
        work<<<GROUPS, ITEMS>>>(out, device_cycles, STEPS);
        hipEventRecord(after, 0);
        if (hipEventSynchronize(after) != hipSuccess ||
            hipEventElapsedTime(&elapsed_ms, before, after) != hipSuccess)
            return 3;
        double wall_ms = now_ms() - begin_ms;
        hipMemcpy(cycles.data(), device_cycles, GROUPS * sizeof(long long), hipMemcpyDeviceToHost);
        // No longer than the host waited, no shorter than any work-group ran (1.7 GHz).
        if (elapsed_ms > wall_ms || elapsed_ms < cycles[GROUPS - 1] / 1.7e6 * 0.99) {
            printf("round %d: events %f ms, host %f ms, device %lld cycles\n", round, elapsed_ms,
                   wall_ms, cycles[GROUPS - 1]);
            return 4;
        }
        for (int i = 0; i < GROUPS; i++)
            if (cycles[i] <= 0)
                return 5;
        printf("cycles %lld %lld %lld %lld\n", cycles[0], cycles[1], cycles[2], cycles[3]);
    }
    return 0;
}
