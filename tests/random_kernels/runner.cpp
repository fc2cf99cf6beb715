// runner IN_SEED: reads lines "LABEL HOST.so GPU.co" from stdin; runs each GPU program and compares
// all it wrote, bit by bit, with what the host's version of it wrote. One line an answer.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "hsa_kernel.h"

enum { IN_WORDS = 4096, UNIFORM_WORDS = 16, ATOMS = 16, SCRATCH_BYTES = 97 };

struct Host {
    void (*run)(const uint32_t *, const uint32_t *, uint64_t *, uint64_t *, uint8_t *);
    uint32_t threads, groups, words;
    const char *const *names;
};
struct Memory {
    std::vector<uint32_t> in, uniform;
    std::vector<uint64_t> out, atoms;
    std::vector<uint8_t> scratch;
};

static uint32_t draw(uint64_t &state)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint32_t x = (uint32_t)(state >> 32);
    static const uint32_t borders[] = {0,          1,          0xffffffff, 0x80000000,
                                       0x7fffffff, 0x3f800000, 0x7f800000, 0x7fc00000,
                                       0x00800000, 0x00000fff, 0x3c00bc00, 0x7c000001,
                                       0x7fff8000, 0x80007fff, 0xfff0fff1, 0x00400040};
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint32_t how = (uint32_t)(state >> 40);
    if (how % 4 == 0)
        return borders[how / 4 % 16];
    return how % 4 == 1 ? x >> how / 4 % 32 : x;
}

static Memory memory_make(const Host &host, uint64_t seed)
{
    Memory m;
    const size_t threads = (size_t)host.threads * host.groups;
    uint64_t state = seed * 2 + 1;
    m.in.resize(IN_WORDS);
    m.uniform.resize(UNIFORM_WORDS);
    for (auto &x : m.in)
        x = draw(state);
    for (auto &x : m.uniform)
        x = draw(state);
    m.out.assign(threads * host.words, 0xabababababababab);
    m.atoms.assign(ATOMS, 0x1234567887654321);
    m.scratch.resize(threads * SCRATCH_BYTES + 64);
    for (auto &x : m.scratch)
        x = (uint8_t)draw(state);
    return m;
}

// A vector's twin that the GPU sees, copied there and back.
template <class T> struct Twin {
    std::vector<T> &values;
    T *gpu;
    explicit Twin(std::vector<T> &v)
        : values(v), gpu((T *)hsa_kernel_memory_new(v.size() * sizeof(T)))
    {
        if (gpu)
            std::memcpy(gpu, v.data(), v.size() * sizeof(T));
    }
    ~Twin()
    {
        hsa_kernel_memory_free(gpu);
    }
    void back()
    {
        std::memcpy(values.data(), gpu, values.size() * sizeof(T));
    }
};

static bool gpu_run(const Host &host, const std::string &label, const char *object, Memory &m)
{
    Twin<uint32_t> in(m.in), uniform(m.uniform);
    Twin<uint64_t> out(m.out), atoms(m.atoms);
    Twin<uint8_t> scratch(m.scratch);
    void *const arguments[] = {in.gpu, uniform.gpu, out.gpu, atoms.gpu, scratch.gpu};
    const hsa_kernel_work work = {object,           "program",   arguments,
                                  sizeof arguments, host.groups, host.threads};
    if (!in.gpu || !uniform.gpu || !out.gpu || !atoms.gpu || !scratch.gpu ||
        !hsa_kernel_run(&work)) {
        std::printf("%s: %s\n", label.c_str(), hsa_kernel_error());
        return false;
    }
    out.back();
    atoms.back();
    scratch.back();
    return true;
}

static bool compare(const Host &host, const std::string &label, const Memory &gpu,
                    const Memory &cpu)
{
    char where[128];
    for (size_t i = 0; i < cpu.out.size(); i++) {
        if (gpu.out[i] == cpu.out[i])
            continue;
        std::printf("%s: thread %zu of group %zu, %s: GPU %016lx, host %016lx\n", label.c_str(),
                    i / host.words % host.threads, i / host.words / host.threads,
                    host.names[i % host.words], gpu.out[i], cpu.out[i]);
        return false;
    }
    for (size_t i = 0; i < cpu.atoms.size(); i++) {
        if (gpu.atoms[i] == cpu.atoms[i])
            continue;
        std::printf("%s: atoms[%zu]: GPU %016lx, host %016lx\n", label.c_str(), i, gpu.atoms[i],
                    cpu.atoms[i]);
        return false;
    }
    for (size_t i = 0; i < cpu.scratch.size(); i++) {
        if (gpu.scratch[i] == cpu.scratch[i])
            continue;
        std::snprintf(where, sizeof where, "thread %zu, byte %zu of its scratch", i / SCRATCH_BYTES,
                      i % SCRATCH_BYTES);
        std::printf("%s: %s: GPU %02x, host %02x\n", label.c_str(), where, gpu.scratch[i],
                    cpu.scratch[i]);
        return false;
    }
    return true;
}

static bool host_open(const char *path, Host &host)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::printf("%s\n", dlerror());
        return false;
    }
    host.run = (decltype(host.run))dlsym(library, "program");
    host.threads = *(const uint32_t *)dlsym(library, "program_threads");
    host.groups = *(const uint32_t *)dlsym(library, "program_groups");
    host.words = *(const uint32_t *)dlsym(library, "program_words");
    host.names = (const char *const *)dlsym(library, "program_names");
    return true;
}

int main(int argc, char **argv)
{
    const uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1;
    std::string label, library, object;
    size_t wrong = 0;
    if (!hsa_kernel_open()) {
        std::printf("%s\n", hsa_kernel_error());
        return 1;
    }
    while (std::cin >> label >> library >> object) {
        Host host;
        if (!host_open(library.c_str(), host)) {
            wrong++;
            continue;
        }
        Memory gpu = memory_make(host, seed), cpu = gpu;
        host.run(cpu.in.data(), cpu.uniform.data(), cpu.out.data(), cpu.atoms.data(),
                 cpu.scratch.data());
        const bool same =
            gpu_run(host, label, object.c_str(), gpu) && compare(host, label, gpu, cpu);
        wrong += !same;
        if (same)
            std::printf("%s: same\n", label.c_str());
        std::fflush(stdout);
    }
    hsa_kernel_close();
    return wrong != 0;
}
