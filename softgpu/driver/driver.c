#include "driver/driver.h"
#include "driver/kfd_abi.h"
#include "driver/uaccess.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "driver/host_cpu.h"
#include "driver/real.h"
#include "driver/size_limit.h"
#include "driver/svm.h"
#include "driver/sysfs.h"
#include "driver/topology.h"

static struct {
    pthread_once_t once;
    const struct gpu_model *model[GPU_DEVICES_MAX];
    int count;
    struct vtree tree;
} machine = {.once = PTHREAD_ONCE_INIT};

/* Serialises starting; a forked child starts again. */
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
/* Writer: driver_start under start_lock, release; the fork handler. Readers: every interposed
 * call, acquire. */
static _Atomic(struct driver *) running;

static void machine_read(void)
{
    const char *text = getenv("CROCGPU_DEVICES"), *bad = NULL;
    int count = gpu_models_parse(text, machine.model, &bad);
    if (count < 0) {
        log_error("driver",
                  "CROCGPU_DEVICES=%s: cannot use \"%s\"; known: gfx90a, gfx906, gfx908, "
                  "gfx942, as in gfx90a*2,gfx942 (%d at most). No GPU is shown",
                  text, bad, GPU_DEVICES_MAX);
        return;
    }
    vtree_init(&machine.tree);
    int status = topology_fill(&machine.tree, machine.model, count);
    if (!status)
        status = sysfs_fill(&machine.tree, machine.model, count);
    if (!status)
        status = host_cpu_fill(&machine.tree, "/sys/devices/system");
    if (status)
        log_error("driver", "no topology: %s. No GPU is shown", strerror(-status));
    else
        machine.count = count;
}

const struct vtree *driver_tree(void)
{
    pthread_once(&machine.once, machine_read);
    return machine.count ? &machine.tree : NULL;
}

const struct gpu_model *driver_model_of_minor(uint32_t minor)
{
    driver_tree();
    for (int i = 0; i < machine.count; i++)
        if (topology_render_minor(i) == minor)
            return machine.model[i];
    return NULL;
}

const struct gpu_model *driver_model_of_number(int gpu)
{
    driver_tree();
    return gpu >= 0 && gpu < machine.count ? machine.model[gpu] : NULL;
}

struct gpu *driver_gpu(struct driver *driver, uint32_t gpu_id)
{
    for (int i = 0; i < driver->gpu_count; i++)
        if (driver->gpu[i].gpu_id == gpu_id)
            return &driver->gpu[i];
    return NULL;
}

/* What the command processor may ask of us; its threads call these with no lock held. */

static void on_event_raise(void *arg, uint32_t event_id)
{
    struct driver *driver = arg;
    event_set(&driver->events, event_id);
}

static void on_memory_fault(void *arg, uint32_t gpu_id, uint64_t va, uint32_t access)
{
    struct driver *driver = arg;
    struct gpu *gpu = driver_gpu(driver, gpu_id);
    struct vm_reader reader;
    struct vm_range range;
    bool present = false;
    if (gpu) {
        vm_reader_register(gpu->vm, &reader);
        vm_reader_enter(&reader);
        present = vm_range_find_for(&reader, va, access, &range);
        vm_reader_leave(&reader);
        vm_reader_unregister(&reader);
    }
    struct kfd_hsa_memory_exception_data fault = {
        .failure = {.NotPresent = !present,
                    .ReadOnly = present && (access & VM_WRITE) && !(range.flags & VM_WRITE),
                    .NoExecute = present && (access & VM_EXEC) && !(range.flags & VM_EXEC)},
        .va = va & ~UINT64_C(4095), /* the hardware reports pages */
        .gpu_id = gpu_id,
    };
    log_debug("driver", "GPU %u: memory fault at 0x%llx, access %u", gpu_id, (unsigned long long)va,
              access);
    if (events_memory_fault(&driver->events, &fault) == 0)
        log_error("driver", "GPU %u: memory fault at 0x%llx, and the program watches for none",
                  gpu_id, (unsigned long long)va);
}

/* The runtime names a word and an event in the area where a queue would be saved. */
static bool on_queue_exceptions(void *arg, uint64_t area_va, uint64_t exceptions)
{
    struct driver *driver = arg;
    struct kfd_save_area_header header;
    uint64_t told;
    if (user_read(&header, area_va, sizeof header) != 0 || header.error_word_va == 0 ||
        user_read(&told, header.error_word_va, sizeof told) != 0)
        return false;
    told |= exceptions;
    if (user_write(header.error_word_va, &told, sizeof told) != 0)
        return false;
    event_set(&driver->events, header.error_event_id);
    return true;
}

static bool on_waiters_called(void *arg)
{
    struct driver *driver = arg;
    return events_called(&driver->events);
}

static uint64_t on_doorbell_arm(void *arg)
{
    struct driver *driver = arg;
    return doorbell_watch_arm(driver->watch);
}

static void on_doorbell_rung(void *arg)
{
    struct driver *driver = arg;
    cp_kick(driver->cp);
}

static const struct cp_driver_ops cp_ops = {
    .event_raise = on_event_raise,
    .waiters_called = on_waiters_called,
    .memory_fault = on_memory_fault,
    .queue_exceptions = on_queue_exceptions,
    .doorbell_arm = on_doorbell_arm,
};

static int file_grow(int fd)
{
    struct size_limit limit;
    errno = 0;
    size_limit_begin(&limit, DEVICE_FILE_BYTES);
    int status = ftruncate(fd, (off_t)DEVICE_FILE_BYTES) == 0 ? 0 : -errno;
    size_limit_end(&limit);
    return status;
}

static int file_create(struct driver *driver)
{
    int low = memfd_create("crocgpu", MFD_CLOEXEC);
    if (low < 0)
        return -errno;
    int fd = fcntl(low, F_DUPFD_CLOEXEC, FILE_NUMBER_MIN);
    if (fd < 0)
        fd = low; /* fewer descriptors allowed than that */
    else
        close(low);
    int status = file_grow(fd);
    struct stat info;
    if (!status && real_fstat(fd, &info) != 0)
        status = -errno;
    if (status) {
        close(fd);
        log_error("driver", "no device file: %s%s", strerror(-status),
                  status == -EFBIG ? " (hard limit of RLIMIT_FSIZE)" : "");
        return status;
    }
    driver->file = fd;
    driver->file_dev = info.st_dev;
    driver->file_ino = info.st_ino;
    return 0;
}

static int gpus_create(struct driver *driver)
{
    int status = 0;
    for (int i = 0; i < machine.count && !status; i++) {
        struct gpu *gpu = &driver->gpu[i];
        gpu->driver = driver;
        gpu->gpu_id = topology_gpu_id(i);
        gpu->model = machine.model[i];
        status = vm_create(&gpu->vm);
        if (!status)
            status = cp_device_create(driver->cp, gpu->gpu_id, gpu->model, gpu->vm, &gpu->cp);
        driver->gpu_count = i + 1;
    }
    return status;
}

static void driver_free(struct driver *driver)
{
    for (int i = 0; i < driver->gpu_count; i++) {
        if (driver->gpu[i].cp)
            cp_device_destroy(driver->gpu[i].cp);
        vm_destroy(driver->gpu[i].vm);
    }
    if (driver->cp)
        cp_destroy(driver->cp);
    if (driver->file >= 0)
        close(driver->file);
    page_faults_free(&driver->page_faults);
    free(driver); /* the watch stays: its thread cannot be stopped, and it is tiny */
}

static int driver_create(struct driver **out)
{
    if (!driver_tree())
        return -ENODEV;
    struct driver *driver = calloc(1, sizeof *driver);
    if (!driver)
        return -ENOMEM;
    driver->file = -1;
    driver->heap_next = DEVICE_OFFSET_HEAP;
    pthread_mutex_init(&driver->lock, NULL);
    pthread_cond_init(&driver->released, NULL);
    svm_locks_init(driver);
    page_faults_init(&driver->page_faults);
    pthread_mutex_init(&driver->smi.lock, NULL);
    /* A thread that is about to wait has most likely just submitted something, so the command
     * processor is woken to look. */
    events_init(&driver->events, on_doorbell_rung, driver);
    int status = file_create(driver);
    if (!status)
        status = cp_create(&cp_ops, driver, &driver->cp);
    if (!status) {
        driver->watch = doorbell_watch_create(on_doorbell_rung, driver);
        status = driver->watch ? gpus_create(driver) : -ENOMEM;
    }
    if (status) {
        driver_free(driver);
        return status;
    }
    *out = driver;
    return 0;
}

/* A program may have closed our descriptor, and opened another file that got the number. */
static bool file_is_ours(const struct driver *driver, int fd)
{
    struct stat info;
    return real_fstat(fd, &info) == 0 && info.st_ino == driver->file_ino &&
           info.st_dev == driver->file_dev;
}

/* A forked child has neither the GPU threads nor the buffers (MADV_DONTFORK). It forgets the
 * parent's driver, which may have been in any state at the fork, and starts its own on the next
 * open. What the parent's state occupied stays allocated in the child. */
static void after_fork_child(void)
{
    struct driver *parent = atomic_load_explicit(&running, memory_order_relaxed);
    pthread_mutex_init(&start_lock, NULL);
    atomic_store_explicit(&running, NULL, memory_order_relaxed);
    if (!parent)
        return;
    if (file_is_ours(parent, parent->file))
        close(parent->file);
    smi_forget(&parent->smi);
    doorbell_watch_forget(parent->watch);
    cp_after_fork_child(parent->cp);
}

static int driver_start(struct driver **out)
{
    static bool fork_handled;
    struct driver *driver = atomic_load_explicit(&running, memory_order_acquire);
    int status = 0;
    if (!driver) {
        pthread_mutex_lock(&start_lock);
        driver = atomic_load_explicit(&running, memory_order_relaxed);
        if (!driver && !fork_handled)
            status = -pthread_atfork(NULL, NULL, after_fork_child);
        fork_handled = fork_handled || status == 0;
        if (!driver && !status)
            status = driver_create(&driver);
        if (!status)
            atomic_store_explicit(&running, driver, memory_order_release);
        pthread_mutex_unlock(&start_lock);
    }
    *out = driver;
    return status;
}

int driver_open(int flags)
{
    struct driver *driver;
    int status = driver_start(&driver);
    if (status) {
        errno = -status;
        return -1;
    }
    /* A description of its own, as open() of a device gives; without /proc a duplicate does. */
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", driver->file);
    int fd = real_open(path, O_RDWR | (flags & O_CLOEXEC), 0);
    if (fd < 0)
        fd = fcntl(driver->file, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 3);
    if (fd < 0 || driver_of_fd(fd) == driver)
        return fd;
    close(fd); /* the program closed our descriptor, and the number means another file now */
    errno = EBADF;
    return -1;
}

struct driver *driver_running(void)
{
    return atomic_load_explicit(&running, memory_order_acquire);
}

struct driver *driver_of_fd(int fd)
{
    struct driver *driver = driver_running();
    return driver && file_is_ours(driver, fd) ? driver : NULL;
}

void driver_stat(int fd, struct stat *info)
{
    const struct driver *driver = driver_running();
    if (!driver || info->st_ino != driver->file_ino || info->st_dev != driver->file_dev)
        return;
    uint32_t minor_number = driver_render_minor_of_fd(fd);
    info->st_mode = S_IFCHR | 0666;
    info->st_size = 0;
    info->st_blocks = 0;
    info->st_rdev =
        minor_number ? makedev(TOPOLOGY_DRM_MAJOR, minor_number) : makedev(TOPOLOGY_KFD_MAJOR, 0);
}

int driver_open_render(uint32_t minor, int flags)
{
    int fd = driver_open(flags);
    if (fd >= 0)
        real_lseek(fd, (off_t)minor, SEEK_SET);
    return fd;
}

uint32_t driver_render_minor_of_fd(int fd)
{
    off_t position = real_lseek(fd, 0, SEEK_CUR);
    return position > 0 ? (uint32_t)position : 0;
}
