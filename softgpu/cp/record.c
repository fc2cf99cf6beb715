/* CROCGPU_PM4_LOG: what PM4 was executed, as text that `crocgpu pm4` reads. Processes of one
 * program may share the file, so that whole lines are added to it, and nothing is taken away. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cp/pm4_ops.h"

/* Out of the way of programs that close low numbers. */
enum { FILE_NUMBER_MIN = 900 };

/* The packet processor's thread's own. */
static struct {
    int file; /* -1: none */
    bool looked;
    char *text; /* of this turn */
    size_t length, room;
} record = {.file = -1};

static void record_open(void)
{
    const char *path = secure_getenv("CROCGPU_PM4_LOG");
    record.looked = true;
    if (!path || !*path)
        return;
    int low = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (low < 0) {
        log_warning("crocgpu", "CROCGPU_PM4_LOG: %s: %s", path, strerror(errno));
        return;
    }
    record.file = fcntl(low, F_DUPFD_CLOEXEC, FILE_NUMBER_MIN);
    if (record.file < 0)
        record.file = low; /* fewer descriptors allowed than that */
    else
        close(low);
}

bool pm4_is_recorded(void)
{
    if (!record.looked)
        record_open();
    return record.file >= 0;
}

/* No more is written: what came after a gap would be misread. */
static void record_stop(int error)
{
    log_warning("crocgpu", "CROCGPU_PM4_LOG: %s; what is executed from here on is not in it",
                strerror(error));
    close(record.file);
    record.file = -1;
}

static bool room_make(size_t bytes)
{
    if (record.room - record.length >= bytes)
        return true;
    size_t room = 2 * (record.length + bytes);
    char *text = realloc(record.text, room);
    if (!text)
        return false;
    record.text = text;
    record.room = room;
    return true;
}

void pm4_record(const struct cp_queue *queue, const uint32_t *dwords, uint32_t count)
{
    enum { HEAD_BYTES = 40, DWORD_BYTES = 9 };
    perf_registers_release(queue->device->perf);
    if (record.file < 0)
        return;
    if (!room_make(HEAD_BYTES + (size_t)count * DWORD_BYTES)) {
        record_stop(ENOMEM);
        return;
    }
    char *at = record.text + record.length;
    at += sprintf(at, "gpu%u.queue%u:", queue->config.gpu_id, queue->config.queue_id);
    for (uint32_t i = 0; i < count; i++)
        at += sprintf(at, " %08x", dwords[i]);
    *at++ = '\n';
    record.length = (size_t)(at - record.text);
}

void pm4_record_write(void)
{
    size_t done = 0;
    while (record.file >= 0 && done < record.length) {
        ssize_t written = write(record.file, record.text + done, record.length - done);
        if (written > 0)
            done += (size_t)written;
        else if (written == 0 || errno != EINTR)
            record_stop(written == 0 ? EIO : errno);
    }
    record.length = 0;
}

void pm4_record_after_fork_child(void)
{
    record.text = NULL; /* not freed: the parent's thread may have been in the middle of it */
    record.length = record.room = 0;
}
