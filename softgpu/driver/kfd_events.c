#include <errno.h>
#include <stdlib.h>

#include "driver/kfd.h"
#include "driver/kfd_abi.h"
#include "driver/uaccess.h"

/* What the kernel answers (its mmap type for event pages); nobody maps it on a discrete GPU. */
#define EVENT_PAGE_KNOWN (2ull << 62)

int kfd_event_create(struct driver *driver, void *args)
{
    struct kfd_ioctl_create_event_args *event = args;
    int status =
        event_create(&driver->events, event->event_type, event->auto_reset, &event->event_id);
    if (status)
        return status;
    event->event_trigger_data = event->event_id;
    event->event_slot_index = event->event_id;
    /* The thunk names its page's buffer with the first event only, but gives an event a mailbox
     * only when the answer is not 0; without a mailbox no completion ever raises the event. */
    if (event->event_type == KFD_IOC_EVENT_SIGNAL && !event->event_page_offset)
        event->event_page_offset = EVENT_PAGE_KNOWN;
    return 0;
}

int kfd_event_destroy(struct driver *driver, void *args)
{
    return event_destroy(&driver->events, ((struct kfd_ioctl_destroy_event_args *)args)->event_id);
}

int kfd_event_set(struct driver *driver, void *args)
{
    return event_set(&driver->events, ((struct kfd_ioctl_set_event_args *)args)->event_id);
}

int kfd_event_reset(struct driver *driver, void *args)
{
    return event_reset(&driver->events, ((struct kfd_ioctl_reset_event_args *)args)->event_id);
}

static int wait_and_report(struct driver *driver, struct kfd_ioctl_wait_events_args *wait,
                           struct kfd_event_data *data)
{
    size_t size_bytes = wait->num_events * sizeof *data;
    int status = user_read(data, wait->events_ptr, size_bytes);
    if (status)
        return status;
    status = events_wait(&driver->events, data, wait->num_events, wait->wait_for_all,
                         wait->timeout >= UINT32_MAX - 1 ? UINT32_MAX : wait->timeout,
                         &wait->wait_result);
    if (status)
        return status;
    return user_write(wait->events_ptr, data, size_bytes);
}

int kfd_events_wait(struct driver *driver, void *args)
{
    enum { ON_STACK = 64 };
    struct kfd_ioctl_wait_events_args *wait = args;
    struct kfd_event_data few[ON_STACK], *data = few;
    wait->wait_result = KFD_IOC_WAIT_RESULT_FAIL;
    if (wait->num_events == 0 || wait->num_events > KFD_SIGNAL_EVENT_LIMIT)
        return -EINVAL;
    if (wait->num_events > ON_STACK)
        data = malloc(wait->num_events * sizeof *data);
    if (!data)
        return -ENOMEM;
    int status = wait_and_report(driver, wait, data);
    if (data != few)
        free(data);
    return status;
}
