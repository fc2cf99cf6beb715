/*
 * Notices stores to doorbell pages without polling: userfaultfd write protection. A store to a
 * protected page wakes a small thread that lifts the protection and kicks the command processor.
 * The page then stays open for a while, so that a program which launches back to back never
 * faults. Where the kernel forbids userfaultfd, arming says so and the command processor polls.
 */
#ifndef DRIVER_DOORBELL_H
#define DRIVER_DOORBELL_H

#include <stddef.h>
#include <stdint.h>

struct doorbell_watch;

/* `rung` is called from the watch's thread with no lock held. Never fails: without userfaultfd the
 * watch exists and notices nothing. NULL when memory is out. */
struct doorbell_watch *doorbell_watch_create(void (*rung)(void *arg), void *arg);
/* The program's own mapping of a doorbell page. */
void doorbell_watch_add(struct doorbell_watch *watch, void *page, size_t size_bytes);
void doorbell_watch_remove(struct doorbell_watch *watch, void *page);
/* See cp_driver_ops.doorbell_arm. */
uint64_t doorbell_watch_arm(struct doorbell_watch *watch);
/* Runs in a forked child, where the thread is gone and the descriptor belongs to the parent's
 * memory. */
void doorbell_watch_forget(struct doorbell_watch *watch);

#endif
