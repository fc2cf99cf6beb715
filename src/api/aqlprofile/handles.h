/* Handles of the second interface. Counter packets and traces share one sequence of numbers, so
 * that a handle of the other sort is unknown and never somebody else's. */
#ifndef AQLPROFILE_HANDLES_H
#define AQLPROFILE_HANDLES_H

#include "api/aqlprofile/internal.h"

enum handle_sort { HANDLE_COUNTERS, HANDLE_TRACE };

/* First member of what a handle names. */
struct handle_entry {
    struct handle_entry *next;
    uint64_t number;
    enum handle_sort sort;
};

/* Any thread may call this. The entry stays where it is until it is taken. */
aqlprofile_handle_t handle_publish(struct handle_entry *entry, enum handle_sort sort);
/* NULL: there is no such handle of that sort. */
void *handle_find(aqlprofile_handle_t handle, enum handle_sort sort);
/* As handle_find, but the handle is unknown afterwards and the entry is the caller's. */
void *handle_take(aqlprofile_handle_t handle, enum handle_sort sort);

#endif
