#include "driver/doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/wait.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

/* Protecting again right after a fault made the writer, not yet scheduled, fault once more: 40 to
 * 80 ms per packet. 2 ms is far beyond the time a woken thread needs to retry its store. */
#define HOLD_NS UINT64_C(2000000)
/* While a page is open nobody notices its stores: the command processor looks this often. */
#define HOLD_POLL_NS UINT64_C(50000)
enum { PAGES_MAX = 64 };

struct watched_page {
    void *start;
    size_t size_bytes;
    bool armed;
};

struct doorbell_watch {
    int fd; /* userfaultfd, or -1 */
    void (*rung)(void *arg);
    void *arg;
    pthread_mutex_t lock; /* pages and last_fault_ns; held over UFFDIO ioctls, which do not block */
    struct watched_page page[PAGES_MAX];
    int count;
    uint64_t last_fault_ns;
};

static int protect(struct doorbell_watch *watch, struct watched_page *page, bool on)
{
    struct uffdio_writeprotect change = {
        .range = {.start = (uintptr_t)page->start, .len = page->size_bytes},
        .mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : 0, /* without WP: wakes the faulting thread */
    };
    if (ioctl(watch->fd, UFFDIO_WRITEPROTECT, &change) != 0)
        return -errno;
    page->armed = on;
    return 0;
}

static void page_rang(struct doorbell_watch *watch, uintptr_t address)
{
    pthread_mutex_lock(&watch->lock);
    watch->last_fault_ns = wait_now_ns();
    for (int i = 0; i < watch->count; i++) {
        struct watched_page *page = &watch->page[i];
        if (address - (uintptr_t)page->start < page->size_bytes)
            protect(watch, page, false);
    }
    pthread_mutex_unlock(&watch->lock);
    watch->rung(watch->arg);
}

static void *watch_run(void *arg)
{
    struct doorbell_watch *watch = arg;
    pthread_setname_np(pthread_self(), "crocgpu-bell");
    for (;;) {
        struct uffd_msg message;
        ssize_t got = read(watch->fd, &message, sizeof message);
        if (got == (ssize_t)sizeof message && message.event == UFFD_EVENT_PAGEFAULT)
            page_rang(watch, message.arg.pagefault.address);
        else if (got < 0 && errno != EINTR && errno != EAGAIN)
            return NULL; /* the descriptor was closed under us: arming fails from now on */
    }
}

static int uffd_open(void)
{
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (fd < 0)
        return -errno;
    struct uffdio_api api = {
        .api = UFFD_API,
        .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM,
    };
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 900); /* out of the way of programs closing low ones */
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    if (ioctl(fd, UFFDIO_API, &api) == 0)
        return fd;
    int status = -errno;
    close(fd);
    return status;
}

/* All signals blocked: the program's handlers must not run on our threads. */
static int thread_start(struct doorbell_watch *watch)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, watch_run, watch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return -error;
    pthread_detach(thread);
    return 0;
}

struct doorbell_watch *doorbell_watch_create(void (*rung)(void *arg), void *arg)
{
    struct doorbell_watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    watch->rung = rung;
    watch->arg = arg;
    pthread_mutex_init(&watch->lock, NULL);
    const char *mode = getenv("CROCGPU_DOORBELL");
    const bool polls = mode && strcmp(mode, "poll") == 0;
    if (mode && *mode && !polls)
        log_warning("softgpu", "CROCGPU_DOORBELL=%s is not poll; using userfaultfd", mode);
    watch->fd = polls ? -EPERM : uffd_open();
    if (watch->fd >= 0 && thread_start(watch) != 0) {
        close(watch->fd);
        watch->fd = -EAGAIN;
    }
    if (watch->fd < 0) {
        log_info("driver", "doorbells are polled, no userfaultfd: %s", strerror(-watch->fd));
        watch->fd = -1;
    }
    return watch;
}

void doorbell_watch_add(struct doorbell_watch *watch, void *start, size_t size_bytes)
{
    struct uffdio_register range = {
        .range = {.start = (uintptr_t)start, .len = size_bytes},
        .mode = UFFDIO_REGISTER_MODE_WP,
    };
    pthread_mutex_lock(&watch->lock);
    if (watch->fd >= 0 && watch->count < PAGES_MAX &&
        ioctl(watch->fd, UFFDIO_REGISTER, &range) == 0) {
        watch->page[watch->count++] = (struct watched_page){start, size_bytes, false};
    } else if (watch->fd >= 0) {
        /* One page that cannot be watched makes sleeping without a limit wrong for all. */
        log_info("driver", "doorbells are polled: page %p cannot be watched: %s", start,
                 strerror(errno));
        for (int i = 0; i < watch->count; i++)
            protect(watch, &watch->page[i], false);
        watch->count = 0;
        watch->fd = -1; /* left open: the thread still reads it */
    }
    pthread_mutex_unlock(&watch->lock);
}

void doorbell_watch_remove(struct doorbell_watch *watch, void *start)
{
    pthread_mutex_lock(&watch->lock);
    for (int i = 0; i < watch->count; i++) {
        if (watch->page[i].start != start)
            continue;
        protect(watch, &watch->page[i], false);
        watch->page[i] = watch->page[--watch->count];
        break;
    }
    pthread_mutex_unlock(&watch->lock);
}

uint64_t doorbell_watch_arm(struct doorbell_watch *watch)
{
    uint64_t sleep_ns = UINT64_MAX;
    pthread_mutex_lock(&watch->lock);
    uint64_t since_ns = wait_now_ns() - watch->last_fault_ns;
    if (watch->fd < 0)
        sleep_ns = 0;
    else if (since_ns < HOLD_NS)
        sleep_ns = HOLD_POLL_NS;
    for (int i = 0; i < watch->count && sleep_ns == UINT64_MAX; i++)
        if (!watch->page[i].armed && protect(watch, &watch->page[i], true) != 0)
            sleep_ns = 0;
    pthread_mutex_unlock(&watch->lock);
    return sleep_ns;
}

/* All files without a name share one inode; what tells them apart is what the kernel calls them.
 * Where /proc is missing the descriptor stays open, which costs a number. */
static bool is_userfaultfd(int fd)
{
    char path[32], name[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, name, sizeof name - 1);
    name[length > 0 ? length : 0] = 0;
    return strcmp(name, "anon_inode:[userfaultfd]") == 0;
}

void doorbell_watch_forget(struct doorbell_watch *watch)
{
    if (watch && watch->fd >= 0 && is_userfaultfd(watch->fd))
        close(watch->fd);
    free(watch);
}
