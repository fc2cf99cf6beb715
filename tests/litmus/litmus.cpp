// Litmus tests of memory as the GPU's waves, further processes and the host see it: who sees a new
// value must see all of it, and what was written before. Each test counts the new values that its
// readers saw, because a test whose parties never ran at the same time has shown nothing.
// usage: litmus [PLACES [WANTED [LIMIT_MS]]]; places: "all" or some of "blocks,streams,devices,..."
#include "shapes.h"

#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

enum Place { BLOCKS, STREAMS, DEVICES, PROCESSES, HOST, PLACES };
static const char *const place_names[] = {"blocks", "streams", "devices", "processes", "host"};
static const char *const shape_names[] = {"torn_2",      "torn_4", "torn_8", "torn_16",
                                          "LL",          "LL128",  "MP",     "store_buffer",
                                          "load_buffer", "IRIW"};
static const char *const pattern_names[] = {"contiguous", "shifted", "scattered", "partial"};

static unsigned parties_of(Shape shape)
{
    return shape == IRIW ? 4 : 2;
}

// True when all have arrived in the round, false when it takes too long.
BOTH bool meet(Shared *s, unsigned parties, unsigned party, unsigned round, unsigned long long end)
{
    s->arrived[party].value = round;
    for (unsigned p = 0; p < parties; p++)
        while (s->arrived[p].value < round)
            if (now_ms() > end)
                return false;
    return true;
}

__device__ void write_wave(Shared *s, const Test &t, unsigned lane, unsigned long long end)
{
    for (unsigned k = 1; !s->stop.value && now_ms() < end; k++)
        put(s, t, lane, k);
}

__device__ void read_wave(Shared *s, const Test &t, unsigned lane, unsigned long long end)
{
    unsigned last = 0;
    Counts counts = {};
    bool more = true;
    while (more && now_ms() < end) {
        Seen seen = get(s, t, lane);
        counts.wrong += !seen.whole;
        if (t.shape == LL128) // the flag, in the line's last lane, promises the others' data
            counts.wrong += (int)(seen.value - __shfl(seen.newest, lane | 7)) < 0;
        counts.fresh += seen.value != last;
        last = seen.value;
        more = __any(counts.fresh < t.wanted);
    }
    s->stop.value = 1;
    atomicAdd(&s->counts.fresh, counts.fresh);
    atomicAdd(&s->counts.wrong, counts.wrong);
}

__device__ void play_wave(Shared *s, const Test &t, unsigned party, unsigned lane,
                          unsigned long long end)
{
    for (unsigned round = 0; round < t.rounds(); round++) {
        if (!meet(s, t.shape == IRIW ? 4 : 2, party, round + 2, end))
            return;
        for (volatile unsigned wait = 0; wait < (round * (party + 3)) % 7; wait = wait + 1)
            ;
        s->seen[party][round][lane] = 4 | round_play(s, t.shape, party, round, lane);
    }
}

__global__ void party_kernel(Shared *s, Test t, unsigned first)
{
    unsigned lane = threadIdx.x, party = first + blockIdx.x;
    unsigned long long end = now_ms() + t.limit_ms;
    if (!lane_takes_part(t.pattern, lane) || !meet(s, t.shape == IRIW ? 4 : 2, party, 1, end))
        return;
    if (t.shape >= STORE_BUFFER)
        play_wave(s, t, party, lane, end);
    else if (party == 0)
        write_wave(s, t, lane, end);
    else
        read_wave(s, t, lane, end);
}

// The same on the host: stores of the lanes upwards, loads downwards, as a wave does.
static void host_write(Shared *s, const Test &t, unsigned long long end)
{
    for (unsigned k = 1; !s->stop.value && now_ms() < end; k++)
        for (unsigned lane = 0; lane < LANES; lane++)
            put(s, t, lane, k);
}

static void host_read(Shared *s, const Test &t, unsigned long long end)
{
    unsigned last[LANES] = {}, line = 0;
    Counts counts = {};
    while (counts.fresh < (unsigned long long)t.wanted * LANES && now_ms() < end) {
        for (unsigned lane = LANES; lane-- > 0;) {
            if (!lane_takes_part(t.pattern, lane))
                continue;
            Seen seen = get(s, t, lane);
            line = lane % 8 == 7 ? seen.newest : line;
            counts.wrong += !seen.whole || (t.shape == LL128 && (int)(seen.value - line) < 0);
            counts.fresh += seen.value != last[lane];
            last[lane] = seen.value;
        }
    }
    s->stop.value = 1;
    s->counts.fresh += counts.fresh;
    s->counts.wrong += counts.wrong;
}

static void host_party(Shared *s, Test t, unsigned party)
{
    unsigned long long end = now_ms() + t.limit_ms;
    unsigned parties = parties_of(t.shape);
    if (!meet(s, parties, party, 1, end))
        return;
    if (t.shape < STORE_BUFFER) {
        party == 0 ? host_write(s, t, end) : host_read(s, t, end);
        return;
    }
    for (unsigned round = 0; round < t.rounds(); round++) {
        if (!meet(s, parties, party, round + 2, end))
            return;
        for (unsigned lane = 0; lane < LANES; lane++)
            s->seen[party][round][lane] = 4 | round_play(s, t.shape, party, round, lane);
    }
}

// Outcomes of the rounds: the forbidden one is wrong; that each party was first now and then shows
// that they met.
static void judge_rounds(Shared *s, const Test &t)
{
    unsigned a = t.shape == IRIW ? 2 : 0, b = a + 1;
    for (unsigned i = 0; i < ROUNDS * LANES; i++) {
        unsigned p = (&s->seen[a][0][0])[i], q = (&s->seen[b][0][0])[i];
        if (!(p & q & 4))
            continue;
        p &= 3, q &= 3;
        unsigned forbidden = t.shape == STORE_BUFFER ? 0 : 1; // IRIW: first new, second old, both
        s->counts.wrong += p == forbidden && q == forbidden;
        s->counts.fresh += p != 0 || q != 0;
        s->counts.other_first += p == 1 && q == 0;
        s->counts.own_first += p == 0 && q == 1;
    }
}

// Parties of this process: all, or those whose number has this parity.
struct Stage {
    Place place;
    Shared *shared;
    int devices;
    hipStream_t streams[PARTIES_MAX];
};

static void stage_start(const Stage &stage, const Test &t, unsigned party)
{
    int device = stage.place == DEVICES ? party % stage.devices : 0;
    HIP_CHECK(hipSetDevice(device));
    party_kernel<<<1, LANES, 0, stage.streams[party]>>>(stage.shared, t, party);
    HIP_CHECK(hipGetLastError());
}

static void stage_run(const Stage &stage, const Test &t, unsigned parity)
{
    std::vector<std::thread> threads;
    unsigned parties = parties_of(t.shape);
    if (stage.place == BLOCKS) {
        party_kernel<<<parties, LANES>>>(stage.shared, t, 0);
        HIP_CHECK(hipGetLastError());
    }
    for (unsigned party = 0; party < parties && stage.place != BLOCKS; party++) {
        bool on_host = stage.place == HOST && party % 2 == t.host_parity;
        if (on_host)
            threads.emplace_back(host_party, stage.shared, t, party);
        else if (stage.place != PROCESSES || party % 2 == parity)
            stage_start(stage, t, party);
    }
    for (auto &thread : threads)
        thread.join();
    for (int device = 0; device < stage.devices; device++) {
        HIP_CHECK(hipSetDevice(device));
        HIP_CHECK(hipDeviceSynchronize());
    }
    HIP_CHECK(hipSetDevice(0));
}

static void streams_create(Stage *stage)
{
    for (int party = 0; party < PARTIES_MAX && stage->place != BLOCKS; party++) {
        HIP_CHECK(hipSetDevice(stage->place == DEVICES ? party % stage->devices : 0));
        HIP_CHECK(hipStreamCreateWithFlags(&stage->streams[party], hipStreamNonBlocking));
    }
    for (int device = 1; device < stage->devices && stage->place == DEVICES; device++) {
        HIP_CHECK(hipSetDevice(device));
        HIP_CHECK(hipDeviceEnablePeerAccess(0, 0));
    }
    HIP_CHECK(hipSetDevice(0));
}

static void streams_destroy(const Stage &stage)
{
    for (hipStream_t stream : stage.streams)
        if (stream)
            HIP_CHECK(hipStreamDestroy(stream));
}

// The other process takes part when it is told a test, until the pipe ends.
struct Order {
    bool open;
    hipIpcMemHandle_t handle;
    Test test;
};

static int partner(int in, int out)
{
    Stage stage = {PROCESSES, nullptr, 1, {}};
    Order order;
    streams_create(&stage);
    while (read(in, &order, sizeof order) == (ssize_t)sizeof order) {
        if (order.open &&
            hipIpcOpenMemHandle((void **)&stage.shared, order.handle, 1) != hipSuccess)
            HIP_CHECK(hipIpcOpenMemHandle((void **)&stage.shared, order.handle, 0));
        if (!order.open)
            stage_run(stage, order.test, 1);
        if (write(out, "d", 1) != 1)
            return 1;
    }
    return 0;
}

struct Partner {
    pid_t pid;
    int out, in;
};

static Partner partner_start()
{
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        std::exit(2);
    pid_t pid = fork(); // before either process has touched HIP
    close(pid == 0 ? there[1] : there[0]);
    close(pid == 0 ? back[0] : back[1]);
    if (pid == 0)
        _exit(partner(there[0], back[1]));
    return {pid, there[1], back[0]};
}

static void partner_tell(const Partner &partner, const Order &order)
{
    if (write(partner.out, &order, sizeof order) != (ssize_t)sizeof order)
        std::exit(2);
}

static void partner_wait(const Partner &partner)
{
    char done;
    if (read(partner.in, &done, 1) != 1)
        std::exit(2);
}

// 0: as it must be.
static size_t test_run(const Stage &stage, const Partner &partner, const Test &t)
{
    static Shared host;
    Shared *seen = stage.place == HOST ? stage.shared : &host;
    HIP_CHECK(hipMemset(stage.shared, 0, sizeof(Shared)));
    HIP_CHECK(hipDeviceSynchronize());
    if (stage.place == PROCESSES)
        partner_tell(partner, {false, {}, t});
    stage_run(stage, t, 0);
    if (stage.place == PROCESSES)
        partner_wait(partner);
    if (seen == &host)
        HIP_CHECK(hipMemcpy(&host, stage.shared, sizeof host, hipMemcpyDeviceToHost));
    if (t.shape >= STORE_BUFFER)
        judge_rounds(seen, t);
    Counts c = seen->counts;
    bool met = c.fresh >= 64;
    std::printf("%-10s %-13s %-11s %9llu new, %llu wrong", place_names[stage.place],
                shape_names[t.shape], pattern_names[t.pattern], c.fresh, c.wrong);
    if (t.shape >= STORE_BUFFER)
        std::printf(", %llu and %llu first", c.own_first, c.other_first);
    std::printf("%s\n", met ? "" : ": THE PARTIES NEVER MET");
    return c.wrong + !met;
}

static size_t shape_run(const Stage &stage, const Partner &partner, Test t)
{
    size_t wrong = 0;
    bool patterns = t.shape <= TORN_16 && stage.place == BLOCKS; // the same code elsewhere
    for (int pattern = CONTIGUOUS; pattern <= (patterns ? PARTIAL : CONTIGUOUS); pattern++) {
        t.pattern = (Pattern)pattern;
        wrong += test_run(stage, partner, t);
    }
    t.host_parity = 1; // the host wrote what the device read, and now the other way
    return stage.place == HOST ? wrong + test_run(stage, partner, t) : wrong;
}

static size_t place_run(Stage &stage, const Partner &partner, unsigned wanted, unsigned limit_ms)
{
    size_t wrong = 0;
    if (stage.place == HOST)
        HIP_CHECK(hipHostMalloc((void **)&stage.shared, sizeof(Shared), hipHostMallocCoherent));
    else
        HIP_CHECK(hipMalloc((void **)&stage.shared, sizeof(Shared)));
    Order order = {true, {}, {}};
    if (stage.place == PROCESSES) {
        HIP_CHECK(hipIpcGetMemHandle(&order.handle, stage.shared));
        partner_tell(partner, order);
        partner_wait(partner);
    }
    streams_create(&stage);
    for (int shape = TORN_2; shape <= IRIW; shape++)
        wrong += shape_run(stage, partner, {(Shape)shape, CONTIGUOUS, wanted, limit_ms, 0});
    streams_destroy(stage);
    return wrong;
}

static bool place_wanted(const char *places, int place)
{
    return !std::strcmp(places, "all") || std::strstr(places, place_names[place]);
}

int main(int argc, char **argv)
{
    const char *places = argc > 1 ? argv[1] : "all";
    unsigned wanted = argc > 2 ? std::atoi(argv[2]) : 100;
    unsigned limit_ms = argc > 3 ? std::atoi(argv[3]) : 20000;
    size_t wrong = 0;
    int devices = 0, status = 1;
    setenv("GPU_MAX_HW_QUEUES", "8", 1); // parties that wait for each other may not share one
    Partner partner = partner_start();
    HIP_CHECK(hipGetDeviceCount(&devices));
    for (int place = BLOCKS; place < PLACES; place++) {
        Stage stage = {(Place)place, nullptr, devices, {}};
        if (place_wanted(places, place) && (place != DEVICES || devices > 1))
            wrong += place_run(stage, partner, wanted, limit_ms);
    }
    close(partner.out);
    waitpid(partner.pid, &status, 0);
    return verdict("litmus", wrong + (status != 0));
}
