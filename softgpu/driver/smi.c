#include "driver/smi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "driver/driver.h"
#include "driver/kfd.h"
#include "driver/kfd_abi.h"
#include "driver/real.h"

enum {
    LINE_BYTES = KFD_SMI_EVENT_MSG_SIZE + 32,
    FILE_LOW = 1000, /* our ends stay out of the way of the program's numbers */
    QUEUE_BYTES = 16384,
    SMI_EVENT_DROPPED = 14, /* newer than Debian 12's header */
    PAGE_SHIFT = 12,
};

static int out_of_the_way(int file)
{
    int moved = fcntl(file, F_DUPFD_CLOEXEC, FILE_LOW);
    if (moved < 0)
        return file;
    close(file);
    return moved;
}

/* The program writes masks of eight bytes whenever it likes; the last one counts. False: it has
 * closed its end. */
static bool client_refresh(struct smi_client *client)
{
    uint64_t mask;
    ssize_t got;
    while ((got = recv(client->file, &mask, sizeof mask, MSG_DONTWAIT)) == (ssize_t)sizeof mask)
        client->mask = mask;
    if (got != 0 && (got > 0 || errno == EAGAIN || errno == EINTR))
        return true;
    close(client->file);
    *client = (struct smi_client){0};
    return false;
}

static struct smi_client *client_new(struct smi *smi)
{
    for (int i = 0; i < SMI_CLIENTS_MAX; i++)
        if (smi->clients[i].file == 0 || !client_refresh(&smi->clients[i]))
            return &smi->clients[i];
    return NULL;
}

/* Each socket has a number of its own in the kernel's file system of sockets. */
static uint64_t inode_of(int file)
{
    struct stat info;
    return real_fstat(file, &info) == 0 && S_ISSOCK(info.st_mode) ? info.st_ino : 0;
}

int kfd_smi_open(struct driver *driver, void *user)
{
    struct kfd_ioctl_smi_events_args *args = user;
    int ends[2];
    if (!driver_gpu(driver, args->gpuid))
        return -EINVAL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &(int){QUEUE_BYTES}, sizeof(int));
    pthread_mutex_lock(&driver->smi.lock);
    struct smi_client *client = client_new(&driver->smi);
    if (client) {
        *client = (struct smi_client){.file = out_of_the_way(ends[1]), .gpu_id = args->gpuid};
        client->inode = inode_of(client->file);
    }
    pthread_mutex_unlock(&driver->smi.lock);
    if (!client) {
        close(ends[0]);
        close(ends[1]);
        return -ENFILE;
    }
    args->anon_fd = (uint32_t)ends[0];
    return 0;
}

void smi_forget(struct smi *smi)
{
    for (int i = 0; i < SMI_CLIENTS_MAX; i++)
        if (smi->clients[i].file != 0 && inode_of(smi->clients[i].file) == smi->clients[i].inode)
            close(smi->clients[i].file);
}

/* As in the kernel, a line that does not fit is lost, and how many were is told when one fits. */
static bool line_send(struct smi_client *client, const char *line, size_t length)
{
    return send(client->file, line, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length;
}

static void client_tell(struct smi_client *client, const char *line, size_t length)
{
    char lost[LINE_BYTES];
    if (client->dropped) {
        int bytes = snprintf(lost, sizeof lost, "%x %llu -%d %u\n", SMI_EVENT_DROPPED,
                             (unsigned long long)clock_now_ns(), getpid(), client->dropped);
        if (line_send(client, lost, (size_t)bytes))
            client->dropped = 0;
    }
    if (client->dropped || !line_send(client, line, length))
        client->dropped++;
}

__attribute__((format(printf, 4, 5))) static void tell(struct driver *driver, uint32_t gpu_id,
                                                       int event, const char *format, ...)
{
    char line[LINE_BYTES];
    int head = snprintf(line, sizeof line, "%x %llu -%d ", event,
                        (unsigned long long)clock_now_ns(), getpid());
    va_list values;
    va_start(values, format);
    int length = head + vsnprintf(line + head, sizeof line - (size_t)head, format, values);
    va_end(values);
    uint64_t bit = KFD_SMI_EVENT_MASK_FROM_INDEX(event);
    pthread_mutex_lock(&driver->smi.lock);
    for (int i = 0; i < SMI_CLIENTS_MAX; i++) {
        struct smi_client *client = &driver->smi.clients[i];
        if (client->file != 0 && client->gpu_id == gpu_id && client_refresh(client) &&
            (client->mask & bit))
            client_tell(client, line, (size_t)length);
    }
    pthread_mutex_unlock(&driver->smi.lock);
}

void smi_migrated(struct driver *driver, uint32_t from, uint32_t to, uint64_t start, uint64_t end,
                  uint32_t prefetch, uint32_t preferred)
{
    uint32_t gpu_id = to ? to : from;
    unsigned long first = start >> PAGE_SHIFT, count = (end - start) >> PAGE_SHIFT;
    tell(driver, gpu_id, KFD_SMI_EVENT_MIGRATE_START, "@%lx(%lx) %x->%x %x:%x %d\n", first, count,
         from, to, prefetch, preferred, KFD_MIGRATE_TRIGGER_PREFETCH);
    tell(driver, gpu_id, KFD_SMI_EVENT_MIGRATE_END, "@%lx(%lx) %x->%x %d %d\n", first, count, from,
         to, KFD_MIGRATE_TRIGGER_PREFETCH, 0);
}

void smi_unmapped(struct driver *driver, uint32_t gpu_id, uint64_t start, uint64_t end)
{
    tell(driver, gpu_id, KFD_SMI_EVENT_UNMAP_FROM_GPU, "@%lx(%lx) %x %d\n",
         (unsigned long)(start >> PAGE_SHIFT), (unsigned long)((end - start) >> PAGE_SHIFT), gpu_id,
         KFD_SVM_UNMAP_TRIGGER_UNMAP_FROM_CPU);
}

void smi_page_faulted(struct driver *driver, uint32_t gpu_id, uint64_t va, bool writes)
{
    const unsigned long page = va >> PAGE_SHIFT;
    tell(driver, gpu_id, KFD_SMI_EVENT_PAGE_FAULT_START, "@%lx(%x) %c\n", page, gpu_id,
         writes ? 'W' : 'R');
    tell(driver, gpu_id, KFD_SMI_EVENT_PAGE_FAULT_END, "@%lx(%x) %c\n", page, gpu_id, 'U');
}
