#include "intercept/hsa/borrow.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

/*
 * Loans stand in sets of four, found by the signal's address; a full set means that the dispatch
 * uses a signal of our own. A loan's word is the signal's address and, in the low bits, the state:
 *
 *   FREE -> LENT                   borrow_begin, the submitting thread
 *   LENT -> FREE                   borrow_end, the completion thread, which has read the times
 *   LENT -> KEEPING -> KEPT        borrow_settle, whoever uses the signal next: times copied
 *   KEPT -> FREE                   borrow_end
 *
 * Only the completion thread frees, so a loan stays its dispatch's until then, and KEEPING belongs
 * to one thread. All steps are compare-and-swap or release stores, loads are acquire: who sees FREE
 * or KEPT knows that the signal's times are read, and may overwrite them.
 */
enum { FREE, LENT, KEEPING, KEPT, STATE_MASK = 63 };
enum { WAYS = 4, SETS = 4096, ADDRESS_BITS = 48, SET_SHIFT = 7 };

struct loan {
    _Atomic uint64_t word;
    struct borrow_times times; /* written in KEEPING, read in KEPT */
};

static struct loan loans[SETS][WAYS];
/* borrow_begin adds, borrow_end and borrow_cancel subtract (relaxed): borrow_begin's caller rings
 * the doorbell after it, and the signal's next user comes after the kernel. */
static _Atomic uint32_t lent_count;
/* The signal whose memory the completion thread looks at, which stores it (seq_cst) and then looks
 * at the loan's word again; borrow_forget changes the word and then reads this (seq_cst). One of
 * the two sees the other. */
static _Atomic(const amd_signal_t *) looked_at;

static uint64_t word_of(const amd_signal_t *signal, unsigned state)
{
    return (uint64_t)(uintptr_t)signal | state;
}

static amd_signal_t *signal_of(uint64_t word)
{
    return (amd_signal_t *)(uintptr_t)(word & ~(uint64_t)STATE_MASK);
}

static struct loan *set_of(const amd_signal_t *signal)
{
    return loans[((uintptr_t)signal >> SET_SHIFT) % SETS];
}

static bool can_be_lent(const amd_signal_t *signal)
{
    uintptr_t address = (uintptr_t)signal;

    return signal->kind == AMD_SIGNAL_KIND_USER && (address & STATE_MASK) == 0 &&
           address >> ADDRESS_BITS == 0 && __atomic_load_n(&signal->value, __ATOMIC_RELAXED) == 1;
}

static uint64_t end_ticks_load(const amd_signal_t *signal)
{
    return __atomic_load_n(&signal->end_ts, __ATOMIC_ACQUIRE);
}

static struct borrow_times times_read(const amd_signal_t *signal)
{
    struct borrow_times times;

    times.end_ticks = end_ticks_load(signal); /* first: the start is written before it */
    times.start_ticks = signal->start_ts;
    return times;
}

bool borrow_any(void)
{
    return atomic_load_explicit(&lent_count, memory_order_relaxed) != 0;
}

/* False: the signal is still lent. */
static bool loan_settle(struct loan *loan, const amd_signal_t *signal, bool unfinished_too)
{
    uint64_t word = atomic_load_explicit(&loan->word, memory_order_acquire);

    if (word == word_of(signal, KEEPING))
        return false;
    if (word != word_of(signal, LENT))
        return true;
    if (!unfinished_too && end_ticks_load(signal) == 0)
        return false;
    if (!atomic_compare_exchange_strong_explicit(&loan->word, &word, word_of(signal, KEEPING),
                                                 memory_order_acquire, memory_order_acquire))
        return (word & STATE_MASK) != KEEPING; /* ended meanwhile, or somebody else keeps it */
    loan->times = times_read(signal);
    atomic_store_explicit(&loan->word, word_of(signal, KEPT), memory_order_release);
    return true;
}

static bool settle(const amd_signal_t *signal, bool unfinished_too)
{
    struct loan *set = set_of(signal);
    bool settled = true;

    for (int i = 0; i < WAYS; i++)
        settled &= loan_settle(&set[i], signal, unfinished_too);
    return settled;
}

void borrow_settle(amd_signal_t *signal)
{
    if (signal != NULL && borrow_any())
        settle(signal, false);
}

void borrow_forget(amd_signal_t *signal)
{
    if (signal == NULL || !borrow_any())
        return;
    settle(signal, true);
    while (atomic_load(&looked_at) == signal)
        sched_yield();
}

struct loan *borrow_begin(amd_signal_t *signal)
{
    if (!can_be_lent(signal) || !settle(signal, false))
        return NULL;
    struct loan *set = set_of(signal);
    signal->start_ts = 0;
    signal->end_ts = 0;
    for (int i = 0; i < WAYS; i++) {
        uint64_t free = FREE;
        if (!atomic_compare_exchange_strong_explicit(&set[i].word, &free, word_of(signal, LENT),
                                                     memory_order_acq_rel, memory_order_relaxed))
            continue;
        atomic_fetch_add_explicit(&lent_count, 1, memory_order_relaxed);
        return &set[i];
    }
    return NULL;
}

/* The value counts too: a queue without time stamps still ends its kernels. */
static bool signal_ended(const amd_signal_t *signal)
{
    return end_ticks_load(signal) != 0 || __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < 1;
}

static bool lent_end(struct loan *loan, uint64_t word, struct borrow_times *times)
{
    const amd_signal_t *signal = signal_of(word);
    bool ended = false;

    atomic_store(&looked_at, signal);
    if (atomic_load(&loan->word) == word && signal_ended(signal)) {
        *times = times_read(signal);
        /* Fails when the times are being kept: the next look takes what is kept. */
        ended = atomic_compare_exchange_strong_explicit(&loan->word, &word, FREE,
                                                        memory_order_acq_rel, memory_order_relaxed);
    }
    atomic_store_explicit(&looked_at, NULL, memory_order_release);
    if (ended)
        atomic_fetch_sub_explicit(&lent_count, 1, memory_order_relaxed);
    return ended;
}

bool borrow_end(struct loan *loan, struct borrow_times *times)
{
    uint64_t word = atomic_load_explicit(&loan->word, memory_order_acquire);

    if ((word & STATE_MASK) == LENT)
        return lent_end(loan, word, times);
    if ((word & STATE_MASK) != KEPT)
        return false;
    *times = loan->times;
    atomic_store_explicit(&loan->word, FREE, memory_order_release);
    atomic_fetch_sub_explicit(&lent_count, 1, memory_order_relaxed);
    return true;
}

void borrow_cancel(struct loan *loan)
{
    uint64_t word = atomic_load_explicit(&loan->word, memory_order_acquire);

    for (;;) {
        while ((word & STATE_MASK) == KEEPING) {
            sched_yield();
            word = atomic_load_explicit(&loan->word, memory_order_acquire);
        }
        if (atomic_compare_exchange_weak_explicit(&loan->word, &word, FREE, memory_order_acq_rel,
                                                  memory_order_acquire))
            break;
    }
    atomic_fetch_sub_explicit(&lent_count, 1, memory_order_relaxed);
}
