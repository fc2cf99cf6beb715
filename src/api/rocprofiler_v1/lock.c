/*
 * One profiler for a GPU on the machine: a byte of a file is locked for each GPU that a context or
 * a pool of this process is open for. The kernel gives it back when the process ends, however that
 * happens, and tells who has it.
 */
#include "api/rocprofiler_v1/internal.h"
#include "base/fork_lock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODES_MAX = 1024 };

static struct {
    pthread_mutex_t lock;
    int file; /* -1: not open */
    pid_t process;
    uint32_t held[NODES_MAX];
    bool is_unavailable;
} locks = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};
FORK_LOCK(locks_kept, locks.lock)

/* Under the lock. A child of a fork has none of its parent's locks. */
static bool file_open(void)
{
    char path[512];
    const char *folder = secure_getenv("CROCPROF_LOCK_DIR");
    if (locks.process != getpid()) {
        if (locks.file >= 0)
            close(locks.file); /* this gives back none of the parent's locks */
        locks.file = -1;
        memset(locks.held, 0, sizeof locks.held);
    }
    locks.process = getpid();
    if (locks.file >= 0 || locks.is_unavailable)
        return locks.file >= 0;
    snprintf(path, sizeof path, "%s/rocprofiler_v1.lock", folder && *folder ? folder : "/tmp");
    locks.file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (locks.file < 0 && errno == ENOENT) {
        locks.file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (locks.file >= 0)
            fchmod(locks.file, 0666); /* whatever the umask says: the file is everybody's */
    }
    if (locks.file >= 0)
        return true;
    log_warning("rocprofiler", "%s: %s: other profilers of the same GPU are not noticed", path,
                strerror(errno));
    locks.is_unavailable = true;
    return false;
}

static int byte_lock(short kind, uint32_t node)
{
    struct flock range = {.l_type = kind, .l_whence = SEEK_SET, .l_start = node, .l_len = 1};
    return fcntl(locks.file, F_SETLK, &range);
}

static void holder_name(pid_t process, char *name, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)process);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(name, (int)size, file))
        snprintf(name, size, "unknown");
    name[strcspn(name, "\n")] = 0;
    if (file)
        fclose(file);
}

static void holder_report(uint32_t node)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = node, .l_len = 1};
    char name[64] = "unknown";
    if (fcntl(locks.file, F_GETLK, &range) == 0 && range.l_type != F_UNLCK && range.l_pid > 0)
        holder_name(range.l_pid, name, sizeof name);
    else
        range.l_pid = 0;
    fail(HSA_STATUS_ERROR, "GPU %u is being profiled by another process, %d (%s)", node,
         (int)range.l_pid, name);
}

bool machine_lock(const struct gpu *gpu)
{
    uint32_t node = gpu->node % NODES_MAX;
    bool held = true;
    pthread_mutex_lock(&locks.lock);
    if (file_open() && locks.held[node] == 0 && byte_lock(F_WRLCK, node) != 0) {
        held = errno != EACCES && errno != EAGAIN; /* another error: the file system has no locks */
        if (!held)
            holder_report(node);
    }
    if (held)
        locks.held[node]++;
    pthread_mutex_unlock(&locks.lock);
    return held;
}

void machine_unlock(const struct gpu *gpu)
{
    uint32_t node = gpu->node % NODES_MAX;
    pthread_mutex_lock(&locks.lock);
    if (locks.process == getpid() && locks.held[node] > 0 && --locks.held[node] == 0 &&
        locks.file >= 0)
        byte_lock(F_UNLCK, node);
    pthread_mutex_unlock(&locks.lock);
}
