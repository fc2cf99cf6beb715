/*
 * A program that looks at the file tree through the C library while libcrocgpu is preloaded (the
 * test's environment does that, with two gfx90a). Plain C without a test library: what a program
 * sees, it sees here.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <linux/kfd_ioctl.h>

#include "driver/test/preloaded.h"

#define NODES "/sys/devices/virtual/kfd/kfd/topology/nodes"
#define CLASS "/sys/class/kfd/kfd/topology/nodes"

static int version_ask(int fd)
{
    struct kfd_ioctl_get_version_args version = {0};
    return ioctl(fd, AMDKFD_IOC_GET_VERSION, &version) == 0 ? (int)version.major_version : -1;
}

static void files(void)
{
    char text[4096] = "";
    FILE *file = fopen(NODES "/1/properties", "r");
    CHECK(file && fread(text, 1, sizeof text - 1, file) > 100);
    CHECK(strstr(text, "gfx_target_version 90010\n"));
    if (file)
        fclose(file);
    int fd = open(CLASS "/2/gpu_id", O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, sizeof text) > 1);
    CHECK(write(fd, "x", 1) < 0);
    close(fd);
    CHECK(open(NODES "/3/gpu_id", O_RDONLY) < 0 && errno == ENOENT);
    CHECK(open(NODES "/1/gpu_id", O_RDWR) < 0 && errno == EACCES);
    CHECK(open(NODES "/1/gpu_id", O_RDONLY | O_CREAT | O_EXCL, 0600) < 0 && errno == EEXIST);
    fd = open(NODES "/1/gpu_id", O_RDONLY | O_CREAT, 0600); /* it is there */
    CHECK(fd >= 0 && read(fd, text, sizeof text) > 1);
    close(fd);
    CHECK(access(NODES "/2", R_OK | X_OK) == 0);
    CHECK(access(NODES "/3", F_OK) != 0 && errno == ENOENT);
    CHECK(open("/sys", O_RDONLY | O_DIRECTORY) >= 0 || errno == ENOENT); /* the machine's own */
    CHECK(access("/dev/null", W_OK) == 0);
}

static void kinds(void)
{
    struct stat info;
    char path[PATH_MAX] = "";
    CHECK(stat("/dev/kfd", &info) == 0 && S_ISCHR(info.st_mode));
    CHECK(stat("/dev/dri/renderD129", &info) == 0 && S_ISCHR(info.st_mode));
    CHECK(stat("/dev/dri/renderD130", &info) != 0 && errno == ENOENT);
    CHECK(stat(NODES, &info) == 0 && S_ISDIR(info.st_mode));
    CHECK(getxattr(NODES, "system.posix_acl_access", NULL, 0) < 0 && errno == ENODATA);
    CHECK(lstat("/sys/class/kfd/kfd", &info) == 0 && S_ISLNK(info.st_mode));
    CHECK(fstatat(AT_FDCWD, CLASS "/0/name", &info, 0) == 0 && S_ISREG(info.st_mode));
    struct statx extended;
    CHECK(statx(AT_FDCWD, NODES "/1", 0, STATX_TYPE, &extended) == 0 && S_ISDIR(extended.stx_mode));
    CHECK(readlink("/sys/class/kfd/kfd", path, sizeof path) > 0);
    CHECK(strcmp(path, "/sys/devices/virtual/kfd/kfd") == 0);
    CHECK(readlink(NODES, path, sizeof path) < 0 && errno == EINVAL);
    CHECK(realpath(CLASS "/../nodes/1", path) && strcmp(path, NODES "/1") == 0);
}

static int dots_away(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* 0: there is no such line. */
static unsigned long long property_of(const char *path, const char *name)
{
    FILE *file = fopen(path, "r");
    char line[128];
    unsigned long long value = 0;
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)) && line[strlen(name)] == ' ')
            value = strtoull(line + strlen(name), NULL, 10);
    CHECK(file && fclose(file) == 0);
    return value;
}

/* Two GPUs of one kind are linked by XGMI, and the same hive's. */
static void hives(void)
{
    unsigned long long one = property_of(NODES "/1/properties", "hive_id");
    CHECK(one != 0 && property_of(NODES "/2/properties", "hive_id") == one);
    CHECK(property_of(NODES "/0/properties", "hive_id") == 0);
}

/* In KiB and bytes: 16 in lines of 64 in each CU, and 8 MiB in lines of 128 (MI200's data sheet).
 */
static void caches(void)
{
    CHECK(property_of(NODES "/1/caches/0/properties", "size") == 16);
    CHECK(property_of(NODES "/1/caches/0/properties", "cache_line_size") == 64);
    CHECK(property_of(NODES "/1/caches/3/properties", "size") == 8192);
    CHECK(property_of(NODES "/1/caches/3/properties", "cache_line_size") == 128);
}

static void directories(void)
{
    DIR *dir = opendir(NODES);
    CHECK(dir);
    int entries = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        entries += entry->d_type == DT_DIR;
    CHECK(entries == 5); /* . .. 0 1 2 */
    int fd = dir ? dirfd(dir) : -1;
    CHECK(fd >= 0 && faccessat(fd, "1/properties", R_OK, 0) == 0);
    CHECK(!fopen(NODES "/0/gpu_id", "r+") && errno == EACCES); /* nobody writes there */
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC); /* as the C library's own: an exec must not keep it */
    struct stat info;
    CHECK(fstat(fd, &info) == 0 && S_ISDIR(info.st_mode));
    int file = openat(fd, "0/gpu_id", O_RDONLY);
    char digit = 0;
    CHECK(file >= 0 && read(file, &digit, 1) == 1 && digit == '0');
    close(file);
    if (dir)
        closedir(dir);
    fd = open(CLASS "/1", O_RDONLY | O_DIRECTORY);
    dir = fdopendir(fd);
    CHECK(dir && readdir(dir));
    if (dir)
        closedir(dir);
    struct dirent **list;
    int count = scandir(NODES, &list, dots_away, alphasort);
    CHECK(count == 3 && strcmp(list[2]->d_name, "2") == 0);
    while (count > 0)
        free(list[--count]);
    CHECK(!opendir(NODES "/1/name") && errno == ENOTDIR);
    dir = opendir("/");
    CHECK(dir && readdir(dir) && closedir(dir) == 0);
}

/* The older call finds what readdir finds, in our tree and elsewhere. */
static void directories_reentrant(void)
{
    const char *const paths[] = {NODES, "/etc"};
    for (int i = 0; i < 2; i++) {
        DIR *one = opendir(paths[i]), *two = opendir(paths[i]);
        struct dirent entry, *found = &entry, *wanted = NULL;
        do {
            wanted = readdir(one);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
            CHECK(readdir_r(two, &entry, &found) == 0);
#pragma GCC diagnostic pop
            CHECK(!wanted == !found);
            CHECK(!wanted || !found || !strcmp(wanted->d_name, found->d_name));
        } while (wanted && found);
        closedir(one);
        closedir(two);
    }
}

/* Writer: main thread. Reader: the thread that lists; relaxed, nothing hangs on the order. */
static atomic_bool enough;

static void *lister(void *arg)
{
    while (!atomic_load_explicit(&enough, memory_order_relaxed)) {
        DIR *dir = opendir(NODES);
        if (dir)
            closedir(dir);
    }
    return arg;
}

/* A child of a program that is just listing directories lists its own. */
static void forked_while_listing(void)
{
    pthread_t thread;
    int bad = 0;
    CHECK(pthread_create(&thread, NULL, lister, NULL) == 0);
    for (int i = 0; i < 300; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            alarm(20); /* ends what waits for a lock that nobody will give back */
            DIR *dir = opendir(NODES);
            _exit(dir && readdir(dir) && closedir(dir) == 0 ? 0 : 1);
        }
        waitpid(child, &status, 0);
        bad += status != 0;
    }
    atomic_store_explicit(&enough, true, memory_order_relaxed);
    pthread_join(thread, NULL);
    CHECK(bad == 0);
}

/* Puts a file of the program's own under every number that is ours, forks, and looks. */
static int numbers_stay_the_programs(void)
{
    enum { OURS_FIRST = 900, OURS_LAST = 1100 };
    bool taken[OURS_LAST] = {false};
    struct kfd_ioctl_smi_events_args smi = {0};
    struct kfd_process_device_apertures apertures[2] = {0};
    struct kfd_ioctl_get_process_apertures_new_args list = {
        .kfd_process_device_apertures_ptr = (uintptr_t)apertures, .num_of_nodes = 2};
    int device = open("/dev/kfd", O_RDWR), own = open("/etc/passwd", O_RDONLY), status = -1;
    int numbers = 0;
    ioctl(device, AMDKFD_IOC_GET_PROCESS_APERTURES_NEW, &list);
    smi.gpuid = apertures[0].gpu_id;
    if (ioctl(device, AMDKFD_IOC_SMI_EVENTS, &smi) != 0)
        return 2;
    for (int fd = OURS_FIRST; fd < OURS_LAST; fd++) {
        taken[fd] = fcntl(fd, F_GETFD) >= 0;
        numbers += taken[fd];
        if (taken[fd])
            dup2(own, fd);
    }
    if (fork() == 0) {
        for (int fd = OURS_FIRST; fd < OURS_LAST; fd++)
            if (taken[fd] && fcntl(fd, F_GETFD) < 0)
                _exit(3);
        _exit(0);
    }
    wait(&status);
    return numbers >= 2 && WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}

static void numbers_taken_over(void)
{
    int status = -1;
    if (fork() == 0)
        _exit(numbers_stay_the_programs());
    wait(&status);
    CHECK(status == 0);
}

static void descriptors(void)
{
    int fd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0 && version_ask(fd) == 1);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    int kept = open("/dev/kfd", O_RDWR); /* what an exec'd program is to have */
    CHECK(kept >= 0 && fcntl(kept, F_GETFD) == 0);
    close(kept);
    int copy = dup(fd);
    close(fd);
    CHECK(version_ask(copy) == 1);
    int other = open("/etc/passwd", O_RDONLY); /* takes the number of fd */
    CHECK(other == fd && version_ask(other) == -1);
    CHECK(ioctl(copy, AMDKFD_IO(0xee)) < 0 && errno == EINVAL);
    CHECK(ioctl(copy, AMDKFD_IOC_GET_VERSION, NULL) < 0 && errno == EFAULT);
    close(other);
    close(copy);
    CHECK(version_ask(copy) == -1 && errno == EBADF);
}

static void small_file_limit(void)
{
    if (fork() == 0) {
        struct rlimit limit;
        getrlimit(RLIMIT_FSIZE, &limit);
        char text[64];
        limit.rlim_cur = 0;
        setrlimit(RLIMIT_FSIZE, &limit);
        int fd = open("/dev/kfd", O_RDWR);
        int file = open("/sys/class/kfd/kfd/topology/generation_id", O_RDONLY);
        _exit(fd >= 0 && version_ask(fd) == 1 && read(file, text, sizeof text) > 0 ? 0 : 1);
    }
    int status = -1;
    wait(&status);
    CHECK(status == 0);
}

static void forked_child(void)
{
    int fd = open("/dev/kfd", O_RDWR);
    if (fork() == 0) {
        if (version_ask(fd) != -1) /* the parent's device is not the child's */
            _exit(2);
        int own = open("/dev/kfd", O_RDWR);
        _exit(own >= 0 && version_ask(own) == 1 ? 0 : 1);
    }
    int status = -1;
    wait(&status);
    CHECK(status == 0);
    CHECK(version_ask(fd) == 1);
    close(fd);
}

static void every_descriptor_closed(void)
{
    if (fork() == 0) {
        for (int fd = 3; fd < 2000; fd++)
            close(fd);
        int fd = open("/dev/kfd", O_RDWR);
        _exit(fd >= 0 && version_ask(fd) == 1 ? 0 : 1);
    }
    int status = -1;
    wait(&status);
    CHECK(status == 0);
}

static void *reader(void *arg)
{
    (void)arg;
    long bad = 0;
    for (int i = 0; i < 200; i++) {
        char text[4096];
        int device = open("/dev/kfd", O_RDWR), file = open(NODES "/2/properties", O_RDONLY);
        DIR *dir = opendir(CLASS);
        bad += device < 0 || version_ask(device) != 1;
        bad += file < 0 || read(file, text, sizeof text) < 100;
        bad += !dir || !readdir(dir);
        if (dir)
            closedir(dir);
        close(device);
        close(file);
    }
    return (void *)bad;
}

static void many_threads(void)
{
    pthread_t thread[8];
    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&thread[i], NULL, reader, NULL) == 0);
    for (int i = 0; i < 8; i++) {
        void *bad;
        pthread_join(thread[i], &bad);
        CHECK(!bad);
    }
}

int main(void)
{
    files();
    kinds();
    hives();
    caches();
    directories();
    directories_reentrant();
    forked_while_listing();
    numbers_taken_over();
    every_descriptor_closed();
    small_file_limit();
    descriptors();
    forked_child();
    many_threads();
    printf("%d failures\n", failures);
    return failures != 0;
}
