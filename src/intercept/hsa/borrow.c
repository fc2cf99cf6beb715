#include "intercept/hsa/borrow.h"

#include <stddef.h>

#include "base/wait.h"

/*
 * Signals that are lent just now stand in sets of four, found by address; a full set means that the
 * dispatch uses a signal of our own. A lending's word holds the signal's address, a number that
 * tells its uses apart, and the state:
 *
 *   FREE -> LENT               borrow_begin, the submitting thread
 *   LENT -> FREE               borrow_end, the completion thread, which has read the times
 *   LENT -> KEEPING -> FREE    borrow_settle, whoever uses the signal next: times are in the loan
 *
 * Each step is a compare-and-swap, or a store of the one who holds KEEPING; releases pair with the
 * acquires of who finds FREE: the signal's times are read then, and may be overwritten.
 */
enum { FREE, LENT, KEEPING, STATE_BITS = 2, STATE_MASK = 3 };
enum { ALIGNMENT_BITS = 6, ADDRESS_BITS = 48, USE_SHIFT = ADDRESS_BITS - ALIGNMENT_BITS + 2 };
enum { WAYS = 4, SETS = 4096, SET_SHIFT = 7 };

struct lending {
    _Atomic uint64_t word; /* writers and readers: see the steps above */
    struct loan *loan;     /* the submitter writes it before LENT; read in KEEPING */
    uint64_t uses;         /* who holds KEEPING */
};

static struct lending lendings[SETS][WAYS];
/* Words that are not FREE. Counted up relaxed: borrow_begin's caller rings the doorbell after it,
 * and the signal's next use comes after the kernel. Counted down by who has read the signal for the
 * last time (release); pairs with borrow_any (acquire), after which the signal's memory may go. */
static _Atomic uint32_t lent_count;
/* Odd while the completion thread looks at signals' memory: it counts (seq_cst) and then looks at
 * the word again; borrow_forget changes the word and then reads this (seq_cst). One of the two sees
 * the other. */
static _Atomic uint32_t looks;
static uint32_t ended_since_asking; /* loans; completion thread only */

static uint64_t address_part(const amd_signal_t *signal)
{
    return (uint64_t)(uintptr_t)signal >> ALIGNMENT_BITS << STATE_BITS;
}

static amd_signal_t *signal_of(uint64_t word)
{
    uint64_t part = word & ((UINT64_C(1) << USE_SHIFT) - 1) & ~(uint64_t)STATE_MASK;
    return (amd_signal_t *)(uintptr_t)(part >> STATE_BITS << ALIGNMENT_BITS);
}

static struct lending *set_of(const amd_signal_t *signal)
{
    return lendings[((uintptr_t)signal >> SET_SHIFT) % SETS];
}

static bool can_be_lent(const amd_signal_t *signal)
{
    uintptr_t address = (uintptr_t)signal;
    return signal->kind == AMD_SIGNAL_KIND_USER && (address & ((1u << ALIGNMENT_BITS) - 1)) == 0 &&
           address >> ADDRESS_BITS == 0 && __atomic_load_n(&signal->value, __ATOMIC_RELAXED) == 1;
}

static uint64_t end_ticks_load(const amd_signal_t *signal)
{
    return __atomic_load_n(&signal->end_ts, __ATOMIC_ACQUIRE);
}

uint64_t borrow_cycles(const amd_signal_t *signal)
{
    uint64_t low = __atomic_load_n(&signal->reserved3[0], __ATOMIC_RELAXED);
    return low | (uint64_t)__atomic_load_n(&signal->reserved3[1], __ATOMIC_RELAXED) << 32;
}

static void times_read(struct borrow_times *times, const amd_signal_t *signal)
{
    times->end_ticks = end_ticks_load(signal); /* first: the start is written before it */
    times->start_ticks = __atomic_load_n(&signal->start_ts, __ATOMIC_RELAXED);
    times->cycles = borrow_cycles(signal);
}

bool borrow_any(void)
{
    return atomic_load_explicit(&lent_count, memory_order_acquire) != 0;
}

static void lending_free(struct lending *lending)
{
    atomic_fetch_sub_explicit(&lent_count, 1, memory_order_release);
    atomic_store_explicit(&lending->word, FREE, memory_order_release);
}

/* False: the signal stays lent, or somebody else is at it. */
static bool lending_settle(struct lending *lending, const amd_signal_t *signal, bool running_too)
{
    uint64_t word = atomic_load_explicit(&lending->word, memory_order_acquire);
    if ((word & STATE_MASK) == FREE || signal_of(word) != signal)
        return true;
    if ((word & STATE_MASK) == KEEPING || (!running_too && end_ticks_load(signal) == 0))
        return false;
    uint64_t keeping = (word & ~(uint64_t)STATE_MASK) | KEEPING;
    if (!atomic_compare_exchange_strong_explicit(&lending->word, &word, keeping,
                                                 memory_order_seq_cst, memory_order_seq_cst))
        return (word & STATE_MASK) == FREE; /* ended meanwhile */
    struct loan *loan = lending->loan;
    times_read(&loan->times, signal);
    atomic_store_explicit(&loan->kept, true, memory_order_release); /* the loan is gone */
    lending_free(lending);
    return true;
}

static bool settle(const amd_signal_t *signal, bool running_too)
{
    struct lending *set = set_of(signal);
    bool settled = true;
    for (int i = 0; i < WAYS; i++)
        settled &= lending_settle(&set[i], signal, running_too);
    return settled;
}

bool borrow_settle(amd_signal_t *signal)
{
    return !signal || !borrow_any() || settle(signal, false);
}

void borrow_forget(amd_signal_t *signal)
{
    if (!signal || !borrow_any())
        return;
    settle(signal, true);
    uint32_t look = atomic_load_explicit(&looks, memory_order_seq_cst);
    for (unsigned turn = 0;
         look % 2 == 1 && atomic_load_explicit(&looks, memory_order_seq_cst) == look;)
        wait_step(&turn);
}

void borrow_asking(void)
{
    atomic_store_explicit(&looks, atomic_load_explicit(&looks, memory_order_relaxed) + 1,
                          memory_order_seq_cst);
}

void borrow_asked(void)
{
    atomic_store_explicit(&looks, atomic_load_explicit(&looks, memory_order_relaxed) + 1,
                          memory_order_release);
    if (ended_since_asking > 0)
        atomic_fetch_sub_explicit(&lent_count, ended_since_asking, memory_order_release);
    ended_since_asking = 0;
}

/* A way that was free may be taken by another thread: both try the next. */
static bool way_take(struct lending *lending, struct loan *loan, const amd_signal_t *signal)
{
    uint64_t free = FREE;
    if (!atomic_compare_exchange_strong_explicit(&lending->word, &free,
                                                 address_part(signal) | KEEPING,
                                                 memory_order_acquire, memory_order_relaxed))
        return false;
    loan->lending = lending;
    loan->word = lending->uses++ << USE_SHIFT | address_part(signal) | LENT;
    atomic_store_explicit(&loan->kept, false, memory_order_relaxed);
    lending->loan = loan;
    atomic_fetch_add_explicit(&lent_count, 1, memory_order_relaxed);
    atomic_store_explicit(&lending->word, loan->word, memory_order_release);
    return true;
}

bool borrow_begin(struct loan *loan, amd_signal_t *signal)
{
    if (!can_be_lent(signal) || !settle(signal, false))
        return false;
    struct lending *set = set_of(signal);
    __atomic_store_n(&signal->start_ts, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&signal->end_ts, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < WAYS; i++)
        if (way_take(&set[i], loan, signal))
            return true;
    return false;
}

/* The value counts too: a queue without time stamps still ends its kernels. */
static bool signal_ended(const amd_signal_t *signal)
{
    return end_ticks_load(signal) != 0 || __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) < 1;
}

bool borrow_end(struct loan *loan)
{
    struct lending *lending = loan->lending;
    const amd_signal_t *signal = signal_of(loan->word);
    struct borrow_times times;
    uint64_t word = loan->word;
    bool ended = false;
    if (atomic_load_explicit(&loan->kept, memory_order_acquire))
        return true;
    if (atomic_load_explicit(&lending->word, memory_order_seq_cst) == word &&
        signal_ended(signal)) {
        times_read(&times, signal);
        /* Fails when somebody is keeping the times: the next look finds them in the loan. */
        ended = atomic_compare_exchange_strong_explicit(&lending->word, &word, FREE,
                                                        memory_order_acq_rel, memory_order_relaxed);
    }
    if (!ended)
        return false;
    loan->times = times;
    ended_since_asking++;
    return true;
}

void borrow_cancel(struct loan *loan)
{
    uint64_t word = loan->word;
    if (atomic_compare_exchange_strong_explicit(&loan->lending->word, &word, FREE,
                                                memory_order_acq_rel, memory_order_relaxed)) {
        atomic_fetch_sub_explicit(&lent_count, 1, memory_order_release);
        return;
    }
    for (unsigned turn = 0; !atomic_load_explicit(&loan->kept, memory_order_acquire);)
        wait_step(&turn);
}
