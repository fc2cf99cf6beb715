/* What L2 channels wait for: memory, and links to memory elsewhere. */
#include "perf/bounds_inside.h"
#include "perf/transfers.h"

enum {
    MEMORY_READ_CYCLES = 300, /* from L2 and back, when nobody else asks */
    MEMORY_WRITE_CYCLES = 270,
    REQUEST_BYTES = 64,
    PER_MILLE = 1000,
    BUSIEST_PER_MILLE = 975 /* queues do not grow without end */
};

/*
 * What a request of memory waits for others. Below saturation: a queue in front of a server that
 * takes as long for each, and is busy for so long of `elapsed` cycles. Where memory or a link is
 * what the dispatch waits for, `waited` cycles of its waves are spent in that queue.
 */
static uint64_t queue_cycles(const struct perf *perf, const struct dispatch_sample *sample,
                             const struct dispatch_cycles *cycles, uint64_t elapsed,
                             uint64_t waited)
{
    const struct home_sample *longest = &sample->homes[longest_home(cycles)];
    uint64_t busy = less(share(PER_MILLE, cycles->homes[HOME_OWN], elapsed), BUSIEST_PER_MILLE);
    uint64_t one = transfers_memory_cycles(perf->model, REQUEST_BYTES * channels_of(perf));
    uint64_t requests = longest->reads + longest->writes;
    return share(one, busy, 2 * (PER_MILLE - busy)) + (requests ? waited / requests : 0);
}

static bool any_work(const struct channel_work *work, uint64_t channels)
{
    uint64_t any = 0;
    for (size_t i = 0; i < channels; i++)
        any |= work[i].reads | work[i].writes;
    return any != 0;
}

#define CHANNEL(name) totals[SRC_##name - SRC_CHANNEL_FIRST]

/* A channel waits for memory or a link. Writes to the host are posted: nobody waits for the link
 * to take them (rocprofiler-compute's runs of an MI250 show none). */
static void stalls_add(uint64_t *totals, enum memory_home home, const struct home_sample *moved,
                       uint64_t cycles, const struct memory_waits *waits)
{
    uint64_t of_reads = share(cycles, moved->reads, moved->reads + moved->writes);
    uint64_t of_writes = home == HOME_HOST ? 0 : cycles - of_reads;
    CHANNEL(TCC_TAG_WAIT) += waits_part(of_reads + of_writes, waits->tags);
    of_reads = waits_part(of_reads, waits->reads);
    of_writes = waits_part(of_writes, waits->writes);
    CHANNEL(EA_READ_STALL) += of_reads;
    CHANNEL(EA_WRITE_STALL) += of_writes;
    CHANNEL(EA_READ_HOST_STALL) += home == HOME_HOST ? of_reads : 0;
    CHANNEL(EA_READ_PEER_STALL) += home == HOME_PEER ? of_reads : 0;
    CHANNEL(EA_WRITE_PEER_STALL) += home == HOME_PEER ? of_writes : 0;
}

/* Channels wait in proportion to what they have to do: those that the model of the caches sees. How
 * long all takes does not depend on where mappings lie, which is another place where a profiler has
 * memory of its own. */
void channels_add(struct perf *perf, const struct running_dispatch *dispatch,
                  const struct dispatch_cycles *cycles, uint64_t elapsed, uint64_t stalled,
                  uint64_t waited, const struct memory_waits *waits)
{
    const struct dispatch_sample *sample = dispatch->sample;
    enum memory_home longest = longest_home(cycles);
    if (!sample->touched && !any_work(dispatch->work, channels_of(perf)))
        return;
    uint64_t queued = queue_cycles(perf, sample, cycles, elapsed, waited), most = 0;
    for (size_t i = 0; i < channels_of(perf); i++)
        most = greater(most, sample->placed[i]);
    for (size_t i = 0; i < channels_of(perf); i++) {
        const struct channel_work *work = &dispatch->work[i];
        uint64_t *totals = perf->channel[i], touches = sample->placed[i];
        if (!touches && !work->reads && !work->writes)
            continue; /* of a small dispatch most */
        uint64_t waiting = share(stalled, touches, most);
        uint64_t requests = share(cycles->requests, touches, sample->touched);
        CHANNEL(TCC_BUSY) += less(requests, elapsed - stalled) + waiting;
        stalls_add(totals, longest, &sample->homes[longest], waiting, waits);
        CHANNEL(EA_READ_LEVEL) +=
            work->reads * (MEMORY_READ_CYCLES + queued) + work->read_link_cycles;
        CHANNEL(EA_WRITE_LEVEL) +=
            work->writes * (MEMORY_WRITE_CYCLES + queued) + work->write_link_cycles;
        CHANNEL(EA_ATOMIC_LEVEL) +=
            work->atomics * (MEMORY_WRITE_CYCLES + queued) + work->atomic_link_cycles;
    }
}

#undef CHANNEL
