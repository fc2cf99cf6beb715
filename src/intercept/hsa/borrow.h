/*
 * The program's own completion signals, left in the packet.
 *
 * A dispatch whose record nobody waits for needs no signal of ours: the device counts the program's
 * signal down and writes the kernel's times into it, and we read them there, some time later. The
 * program then waits exactly as long as it would without us.
 *
 * Later may be too late: the program may use the signal again, or destroy it, as soon as it sees
 * the count. Every such use passes through a wrapper of ours, which calls borrow_settle() first;
 * the times are then kept in the loan. A signal is lent only when its value is 1, which means that
 * nothing else in flight counts it, and its end time is set to 0 before the packet is written, so
 * that a time other than 0 can only be this kernel's.
 *
 * No function here allocates or locks; borrow_cancel() and borrow_forget() may wait for another
 * thread that is between two stores.
 */
#ifndef INTERCEPT_HSA_BORROW_H
#define INTERCEPT_HSA_BORROW_H

#include <hsa/amd_hsa_signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct borrow_times {
    uint64_t start_ticks, end_ticks; /* 0: the program destroyed the signal before the kernel ended
                                        or switched time stamps off */
    uint64_t cycles;                 /* what the device may have left in the reserved words */
};
/* Those words of a signal whose kernel has ended. */
uint64_t borrow_cycles(const amd_signal_t *signal);

/* One signal lent to one kernel. Memory of the caller's, untouched from borrow_begin() until
 * borrow_end() has said true or borrow_cancel() has returned. */
struct loan {
    struct lending *lending; /* where others find it; borrow.c's */
    uint64_t word;
    /* Set (release) by who settles, after the times; read (acquire) by the completion thread. */
    _Atomic bool kept;
    struct borrow_times times;
};

/* The submitting thread, before the packet is written. False: the signal cannot be lent, the
 * dispatch needs a signal of its own. */
bool borrow_begin(struct loan *loan, amd_signal_t *signal);

/* The completion thread: around a row of borrow_end(), with nothing in between that waits. */
void borrow_asking(void);
void borrow_asked(void);

/* The completion thread: true once, when the kernel has ended; the loan is over, its times are. */
bool borrow_end(struct loan *loan);

/* The completion thread: the loan is over without an end. */
void borrow_cancel(struct loan *loan);

/* Any thread, before the program's signal gets another use. False: it is lent to a kernel that
 * still runs, so nobody else must write times into it. NULL is fine. */
bool borrow_settle(amd_signal_t *signal);

/* Any thread, before the signal's memory goes. */
void borrow_forget(amd_signal_t *signal);

/* True while any signal is lent: callers may skip borrow_settle() otherwise. */
bool borrow_any(void);

#endif
