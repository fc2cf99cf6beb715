/* One thread that reads the event files of all GPUs. */
#include "intercept/kfd/smi.h"

#include "base/futex.h"
#include "base/log.h"
#include "base/own_thread.h"
#include "base/thread.h"
#include "topology/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Of the kernel's uAPI; its header cannot be included without libdrm's. */
struct version_args {
    uint32_t major, minor;
};
struct events_args {
    uint32_t gpu_id;
    uint32_t file; /* from the driver */
};
#define IOCTL_VERSION    _IOR('K', 0x01, struct version_args)
#define IOCTL_SMI_EVENTS _IOWR('K', 0x1f, struct events_args)

enum {
    GPUS_MAX = 64,
    TEXT_BYTES = 8192,
    MINOR_NEEDED = 10, /* of version 1: the first with these events */
    DRAIN_MS = 1000,
};

/* The text of a GPU's file that is not yet a whole line. */
struct source {
    size_t used;
    char text[TEXT_BYTES];
};

static struct {
    struct pollfd files[GPUS_MAX + 1]; /* the last one used wakes the thread */
    struct source *sources;
    uint32_t gpu_count;
    int wake; /* eventfd */
    /* Requests to read everything that is there: callers count up, the thread follows (release) and
     * wakes who waits on it. */
    _Atomic uint32_t drain_wanted, drain_done;
    _Atomic bool running;
} reader;

static void lines_report(struct source *source)
{
    char *line = source->text, *newline;
    source->text[source->used] = 0;
    while ((newline = strchr(line, '\n'))) {
        struct smi_event event;
        *newline = 0;
        if (smi_parse(line, &event))
            smi_report(&event);
        else
            log_debug("intercept", "event of the driver not understood: %s", line);
        line = newline + 1;
    }
    source->used = (size_t)(source->text + source->used - line);
    memmove(source->text, line, source->used);
    if (source->used == TEXT_BYTES - 1)
        source->used = 0; /* no line is as long as that */
}

static void source_read(uint32_t gpu)
{
    struct source *source = &reader.sources[gpu];
    ssize_t got;
    while ((got = read(reader.files[gpu].fd, source->text + source->used,
                       TEXT_BYTES - 1 - source->used)) > 0) {
        source->used += (size_t)got;
        lines_report(source);
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR))
        reader.files[gpu].fd = -1; /* the driver has gone */
}

static void *thread_main(void *unused)
{
    (void)unused;
    own_thread_name("kfd");
    for (;;) {
        if (poll(reader.files, reader.gpu_count + 1, -1) < 0 && errno != EINTR)
            return NULL;
        uint64_t count;
        if (read(reader.wake, &count, sizeof count) < 0 && errno != EAGAIN)
            return NULL;
        uint32_t wanted = atomic_load_explicit(&reader.drain_wanted, memory_order_acquire);
        for (uint32_t gpu = 0; gpu < reader.gpu_count; gpu++)
            if (reader.files[gpu].fd >= 0)
                source_read(gpu);
        atomic_store_explicit(&reader.drain_done, wanted, memory_order_release);
        futex_wake_all(&reader.drain_done);
    }
}

static bool driver_is_new_enough(int device)
{
    struct version_args version = {0};
    return ioctl(device, IOCTL_VERSION, &version) == 0 && version.major == 1 &&
           version.minor >= MINOR_NEEDED;
}

static void file_open(int device, uint32_t gpu_id, uint64_t wanted)
{
    struct events_args args = {.gpu_id = gpu_id};
    if (reader.gpu_count == GPUS_MAX || ioctl(device, IOCTL_SMI_EVENTS, &args) != 0)
        return;
    int file = (int)args.file;
    fcntl(file, F_SETFD, FD_CLOEXEC);
    if (write(file, &wanted, sizeof wanted) != (ssize_t)sizeof wanted) {
        close(file);
        return;
    }
    reader.files[reader.gpu_count++] = (struct pollfd){.fd = file, .events = POLLIN};
}

static void files_open(uint64_t wanted)
{
    const struct topology *system = topology_system();
    int device = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    if (device < 0)
        return;
    for (uint32_t i = 0; driver_is_new_enough(device) && i < system->agent_count; i++)
        if (system->agents[i]->gpu_id != 0)
            file_open(device, (uint32_t)system->agents[i]->gpu_id, wanted);
    close(device);
}

static bool thread_start(void)
{
    pthread_t thread;
    thread_creation_notice(false);
    int error = own_thread_create(&thread, thread_main, NULL);
    thread_creation_notice(true);
    if (!error)
        pthread_detach(thread);
    return error == 0;
}

static void on_fork_child(void)
{
    atomic_store_explicit(&reader.running, false,
                          memory_order_seq_cst); /* the thread is the parent's */
}

void intercept_kfd_start(void)
{
    static _Atomic bool started; /* writers: any (exchange); the first one starts the thread */
    uint64_t wanted = smi_events_wanted();
    if (!wanted || atomic_exchange_explicit(&started, true, memory_order_seq_cst))
        return;
    files_open(wanted);
    if (reader.gpu_count == 0) {
        log_warning("intercept", "the kernel driver gives no memory and queue events");
        return;
    }
    reader.sources = calloc(reader.gpu_count, sizeof *reader.sources);
    reader.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    reader.files[reader.gpu_count] = (struct pollfd){.fd = reader.wake, .events = POLLIN};
    if (!reader.sources || reader.wake < 0 || !thread_start())
        log_error("intercept", "the kernel driver's events cannot be read: out of resources");
    else
        atomic_store_explicit(&reader.running, true, memory_order_release);
    pthread_atfork(NULL, NULL, on_fork_child);
}

void intercept_kfd_drain(void)
{
    if (!atomic_load_explicit(&reader.running, memory_order_acquire))
        return;
    uint32_t ticket = atomic_fetch_add_explicit(&reader.drain_wanted, 1, memory_order_seq_cst) + 1;
    uint64_t one = 1;
    if (write(reader.wake, &one, sizeof one) < 0)
        return;
    struct timespec moment = {0, 10000000};
    for (int waited_ms = 0; waited_ms < DRAIN_MS; waited_ms += 10) {
        uint32_t done = atomic_load_explicit(&reader.drain_done, memory_order_acquire);
        if ((int32_t)(done - ticket) >= 0)
            return;
        futex_wait(&reader.drain_done, done, &moment);
    }
}
